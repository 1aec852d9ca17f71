//! What each CLI writes: the event streams of providers.md 3.3, 4.3, 5.2 and 6.2, the object of 2.2, and the
//! worker protocol.

use serde_json::{Value, json};

use crate::{agy, claude, opencode};

/// Whose events are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// `codex exec --json`.
    Codex,
    /// `claude --print --output-format stream-json`.
    Claude,
    /// `pi --mode json`.
    Pi,
    /// `opencode run --format json`.
    Opencode,
    /// `agy --output-format json`.
    Agy,
    /// The worker protocol.
    Worker,
}

/// Speaks one turn.
#[derive(Debug)]
pub(crate) struct Speaker {
    pub(crate) grammar: Grammar,
    pub(crate) session: String,
    /// The model that answers, when it is not the one that was asked for.
    pub(crate) other_model: Option<String>,
    items: u32,
}

impl Grammar {
    /// By the name of the executable.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "codex" => Self::Codex,
            "claude" => Self::Claude,
            "pi" => Self::Pi,
            "opencode" => Self::Opencode,
            "agy" => Self::Agy,
            _ => Self::Worker,
        }
    }

    /// The conversation that the arguments ask for.
    pub(crate) fn asked_session(self, arguments: &[String]) -> Option<String> {
        let words: &[&str] = match self {
            Self::Codex => &["resume"],
            Self::Claude => &["--resume", "--session-id"],
            Self::Pi | Self::Opencode => &["--session"],
            Self::Agy => &["--conversation"],
            Self::Worker => return None,
        };
        let index = arguments.iter().position(|argument| words.contains(&argument.as_str()))?;
        arguments.get(index + 1).cloned()
    }

    /// A conversation id in the grammar's shape, out of a UUID.
    pub(crate) fn new_session(self, uuid: String) -> String {
        if self == Self::Opencode { opencode::session_id(&uuid) } else { uuid }
    }
}

impl Speaker {
    pub(crate) fn new(grammar: Grammar, session: String) -> Self {
        Self { grammar, session, other_model: None, items: 0 }
    }

    /// The events up to the work itself.
    pub(crate) fn begin(&self, brief: &str) -> Vec<Value> {
        match self.grammar {
            Grammar::Codex => vec![
                json!({"type": "thread.started", "thread_id": self.session}),
                json!({"type": "turn.started"}),
            ],
            Grammar::Pi => {
                let message = json!({"role": "user", "content": [{"type": "text", "text": brief.trim()}], "timestamp": 1});
                vec![
                    json!({"type": "session", "version": 3, "id": self.session, "timestamp": "2026-01-01T00:00:00.000Z",
                           "cwd": std::env::current_dir().unwrap_or_default()}),
                    json!({"type": "agent_start"}),
                    json!({"type": "turn_start"}),
                    json!({"type": "message_start", "message": message}),
                    json!({"type": "message_end", "message": message}),
                ]
            }
            Grammar::Claude => claude::begin(&self.session),
            Grammar::Opencode => opencode::begin(&self.session),
            Grammar::Agy => Vec::new(),
            Grammar::Worker => vec![json!({"type": "session", "id": self.session})],
        }
    }

    /// A tool call begins.
    pub(crate) fn begin_tool(&mut self) -> Vec<Value> {
        match self.grammar {
            Grammar::Codex => {
                let id = self.next_item();
                vec![json!({"type": "item.started", "item": {"id": id, "type": "command_execution",
                    "command": "/bin/bash -lc 'true'", "aggregated_output": "", "exit_code": null,
                    "status": "in_progress"}})]
            }
            Grammar::Pi => {
                vec![json!({"type": "tool_execution_start", "toolCallId": "call_1", "toolName": "bash",
                "args": {"command": "true"}})]
            }
            Grammar::Claude => claude::begin_tool(&self.session),
            // They tell of a tool only when it has ended, or not at all.
            Grammar::Opencode | Grammar::Agy => Vec::new(),
            Grammar::Worker => vec![json!({"type": "progress", "text": "running a tool"})],
        }
    }

    /// The answer, and that the turn ended well.
    pub(crate) fn succeed(&mut self, answer: &str) -> Vec<Value> {
        match self.grammar {
            Grammar::Codex => {
                let id = self.next_item();
                vec![
                    json!({"type": "item.completed", "item": {"id": id, "type": "agent_message", "text": answer}}),
                    json!({"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 0,
                        "cache_write_input_tokens": 0, "output_tokens": 10, "reasoning_output_tokens": 0}}),
                ]
            }
            Grammar::Pi => {
                let begun = self.pi_message("pending", json!([]));
                let delta = json!({"type": "text_delta", "contentIndex": 0, "delta": answer});
                let done = self.pi_message("stop", json!([{"type": "text", "text": answer}]));
                let mut events = vec![
                    json!({"type": "message_start", "message": begun}),
                    json!({"type": "message_update", "usage": done["usage"], "assistantMessageEvent": delta}),
                ];
                events.extend(Self::pi_end(&done));
                events
            }
            Grammar::Claude => claude::succeed(&self.session, self.other_model.as_deref(), answer),
            Grammar::Opencode => opencode::succeed(&self.session, answer),
            Grammar::Agy => agy::succeed(&self.session, answer),
            Grammar::Worker => {
                vec![json!({"type": "answer", "text": answer}), json!({"type": "result", "status": "ok"})]
            }
        }
    }

    /// The provider's own error, final.
    pub(crate) fn fail(&self, message: &str) -> Vec<Value> {
        match self.grammar {
            Grammar::Codex => vec![
                json!({"type": "error", "message": message}),
                json!({"type": "turn.failed", "error": {"message": message}}),
            ],
            Grammar::Pi => {
                let mut failed = self.pi_message("error", json!([]));
                failed["errorMessage"] = json!(message);
                let mut events = vec![json!({"type": "message_start", "message": failed})];
                events.extend(Self::pi_end(&failed));
                events
            }
            Grammar::Claude => claude::fail(&self.session, message),
            Grammar::Opencode => opencode::fail(&self.session, message),
            Grammar::Agy => agy::fail(message),
            Grammar::Worker => {
                vec![
                    json!({"type": "result", "status": "error", "code": "provider_failed", "message": message}),
                ]
            }
        }
    }

    fn pi_message(&self, stop_reason: &str, content: Value) -> Value {
        let mut message = json!({"role": "assistant", "content": content, "api": "openai-completions",
            "provider": "fake", "model": "fake-model", "stopReason": stop_reason, "timestamp": 1,
            "usage": {"input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110}});
        if let Some(model) = &self.other_model {
            message["responseModel"] = json!(model);
        }
        message
    }

    fn pi_end(message: &Value) -> [Value; 4] {
        [
            json!({"type": "message_end", "message": message}),
            json!({"type": "turn_end", "message": message, "toolResults": []}),
            json!({"type": "agent_end", "messages": [message], "willRetry": false}),
            json!({"type": "agent_settled", "aborted": false}),
        ]
    }

    fn next_item(&mut self) -> String {
        let id = format!("item_{}", self.items);
        self.items += 1;
        id
    }
}
