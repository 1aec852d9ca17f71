//! From a script and a conversation to what is sent back.

use std::time::Duration;

use super::conversation::{Conversation, Step};
use super::script::{Failure, Script};
use super::tools::{self, ToolCall};
use crate::limits::DELTA_MAX_BYTES;
use crate::marker::Marker;

/// What happens to one request.
#[derive(Debug)]
pub(super) enum Action {
    /// An HTTP error.
    Fail(Failure),
    /// Nothing at all, until the client goes.
    Hang,
    /// The connection is reset.
    Reset,
    /// An answer, perhaps a broken one.
    Say(Reply),
}

/// An answer of the model, before it is written in the form of an API.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) model: String,
    pub(super) reasoning: Option<String>,
    pub(super) content: Content,
    pub(super) finish: Finish,
    pub(super) fault: Option<Fault>,
    /// Pause before each piece of text.
    pub(super) gap: Duration,
}

#[derive(Debug)]
pub(super) enum Content {
    /// No text.
    Nothing,
    /// Text, in the pieces in which it is streamed.
    Text(Vec<String>),
    /// A tool call.
    Call(ToolCall),
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Filter,
    ToolCall,
}

/// How a stream breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection closes after the first piece.
    Cut,
    /// Nothing more after the first piece.
    Stall,
    /// Something that is not JSON after the first piece.
    Malformed,
    /// The API's own error event instead of an answer.
    ErrorEvent,
}

/// The script in force, and how far the conversation has come with it.
pub(super) struct Chosen {
    script: Script,
    /// What is counted for a flaky script: the marker's own text.
    subject: String,
    tool_results: usize,
}

/// The last marker of the conversation decides; without one the default of the server.
pub(super) fn choose(conversation: &Conversation, default: &Script) -> Result<Chosen, String> {
    let last = conversation.steps.iter().enumerate().rev().find_map(|(index, step)| match step {
        Step::User(text) => Marker::all("script", text).pop().map(|marker| (index, marker)),
        _ => None,
    });
    Ok(match last {
        Some((index, marker)) => Chosen {
            script: Script::from_marker(&marker)?,
            subject: marker.source,
            tool_results: conversation.tool_results_after(index),
        },
        None => Chosen {
            script: default.clone(),
            subject: String::new(),
            tool_results: conversation.tool_results_after(0),
        },
    })
}

impl Chosen {
    /// Decides for a flaky script whether this request goes wrong; `count` returns the number of the request, from 1.
    pub(super) fn settle(mut self, count: impl FnOnce(&str) -> u64) -> Self {
        if let Script::Flaky { times, how } = self.script {
            let fails = count(&self.subject) <= times;
            self.script = if fails { *how } else { Script::Answer { text: None } };
        }
        self
    }
}

/// What to do. A script that is still flaky answers.
pub(super) fn plan(chosen: &Chosen, conversation: &Conversation) -> Action {
    let plain = default_text(conversation, chosen.tool_results);
    let mut reply = Reply {
        model: conversation.model.clone(),
        reasoning: None,
        content: Content::Text(pieces(&plain)),
        finish: Finish::Stop,
        fault: None,
        gap: Duration::ZERO,
    };
    let more_calls = |times: u64| (chosen.tool_results as u64) < times;
    match &chosen.script {
        Script::Answer { text: Some(text) } => reply.content = Content::Text(pieces(text)),
        // A raw response is sent before anything is planned.
        Script::Answer { text: None } | Script::Flaky { .. } | Script::Raw(_) => {}
        Script::Shell { command, times } if more_calls(*times) => {
            reply.call(tools::shell(conversation, command), conversation);
        }
        Script::Write { path, content } if more_calls(1) => {
            reply.call(tools::write(conversation, path, content), conversation);
        }
        Script::Read { path } | Script::Edit { path, .. } if more_calls(1) => {
            reply.call(tools::read(conversation, path), conversation);
        }
        Script::Edit { path, old, new } if more_calls(2) => {
            reply.call(tools::edit(conversation, path, old, new), conversation);
        }
        Script::UnknownTool if more_calls(1) => reply.call(Some(tools::unknown()), conversation),
        Script::Shell { .. }
        | Script::Write { .. }
        | Script::Edit { .. }
        | Script::Read { .. }
        | Script::UnknownTool => {}
        Script::Reasoning => reply.reasoning = Some("Scripted reasoning about the request.".to_owned()),
        Script::Empty => reply.content = Content::Nothing,
        Script::Length => reply.finish = Finish::Length,
        Script::Refusal => {
            reply.content = Content::Nothing;
            reply.finish = Finish::Filter;
        }
        Script::OtherModel { name } => reply.model.clone_from(name),
        Script::ControlCharacters => {
            let text = "escape \u{1b}[31mred\u{1b}[0m bell \u{7} return \rX nul \0 direction \u{202e}abc\u{202c} \
                        joined \u{1f469}\u{200d}\u{1f4bb} c1 \u{9b}31m title \u{1b}]0;t\u{7} end";
            reply.content = Content::Text(pieces(text));
        }
        Script::Slow { deltas, gap } => {
            reply.content = Content::Text((0..*deltas).map(|index| format!("piece {index} ")).collect());
            reply.gap = *gap;
        }
        Script::Huge { bytes } => reply.content = Content::Text(huge(*bytes)),
        Script::Failure(failure) => return Action::Fail(*failure),
        Script::Hang => return Action::Hang,
        Script::Reset => return Action::Reset,
        Script::Stall => reply.fault = Some(Fault::Stall),
        Script::Cut => reply.fault = Some(Fault::Cut),
        Script::Malformed => reply.fault = Some(Fault::Malformed),
        Script::StreamError => reply.fault = Some(Fault::ErrorEvent),
    }
    Action::Say(reply)
}

impl Reply {
    /// Calls the tool; where the CLI offers none of the kind, the answer says so.
    fn call(&mut self, call: Option<ToolCall>, conversation: &Conversation) {
        match call {
            Some(call) => {
                self.content = Content::Call(call);
                self.finish = Finish::ToolCall;
            }
            None => {
                let names: Vec<&str> = conversation.tools.keys().map(String::as_str).collect();
                let text = format!("Scripted answer: no tool of that kind among [{}].", names.join(", "));
                self.content = Content::Text(pieces(&text));
            }
        }
    }

    /// The whole text.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Content::Text(pieces) => pieces.concat(),
            Content::Nothing | Content::Call(_) => String::new(),
        }
    }

    /// Rough number of output tokens.
    pub(super) fn output_tokens(&self) -> u64 {
        match &self.content {
            Content::Text(pieces) => pieces.iter().map(|piece| piece.len() as u64).sum::<u64>().div_ceil(4),
            Content::Nothing => 0,
            Content::Call(_) => 10,
        }
    }

    /// Rough number of reasoning tokens.
    pub(super) fn reasoning_tokens(&self) -> u64 {
        self.reasoning.as_ref().map_or(0, |text| text.len() as u64 / 4)
    }
}

fn default_text(conversation: &Conversation, tool_results: usize) -> String {
    format!("Scripted answer: turn {}, tool results {tool_results}.", conversation.turn())
}

/// Three pieces of about equal length, none of them empty.
fn pieces(text: &str) -> Vec<String> {
    let step = text.len().div_ceil(3).max(1);
    split(text, step)
}

fn split(mut text: &str, step: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let end = text
            .char_indices()
            .map(|(index, character)| index + character.len_utf8())
            .find(|end| *end >= step)
            .unwrap_or(text.len());
        pieces.push(text[..end].to_owned());
        text = &text[end..];
    }
    pieces
}

fn huge(bytes: u64) -> Vec<String> {
    let block = "0123456789abcdef".repeat(DELTA_MAX_BYTES / 16);
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut pieces = Vec::new();
    while left > 0 {
        let length = left.min(block.len());
        pieces.push(block[..length].to_owned());
        left -= length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model_server::conversation::Api;

    fn conversation(texts: &[&str]) -> Conversation {
        let messages: Vec<_> = texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
        Conversation::read(Api::Chat, &json!({"model": "m", "messages": messages}))
    }

    #[test]
    fn the_last_marker_wins_over_earlier_ones_and_the_default() {
        let unknown = conversation(&["[[script: x]]"]);
        assert!(choose(&unknown, &Script::Cut).is_err());
        let conversation = conversation(&["[[script: empty]]", "[[script: hang]] [[script: 401]]", "go on"]);
        let chosen = choose(&conversation, &Script::Cut).unwrap();
        assert_eq!(chosen.script, Script::Failure(Failure::Unauthorized));
    }

    #[test]
    fn a_flaky_script_answers_after_its_failures() {
        let conversation = conversation(&["[[script: flaky times=1 how=503]]"]);
        let chosen = choose(&conversation, &Script::Empty).unwrap();
        assert_eq!(chosen.settle(|_| 1).script, Script::Failure(Failure::Overloaded));
        let chosen = choose(&conversation, &Script::Empty).unwrap();
        assert_eq!(chosen.settle(|_| 2).script, Script::Answer { text: None });
    }

    #[test]
    fn a_tool_that_is_not_offered_becomes_an_answer_that_says_so() {
        let conversation = conversation(&["[[script: shell ls]]"]);
        let chosen = choose(&conversation, &Script::Empty).unwrap();
        let Action::Say(reply) = plan(&chosen, &conversation) else { panic!("an answer") };
        assert!(reply.text().contains("no tool"));
        assert_eq!(reply.finish, Finish::Stop);
    }

    #[test]
    fn pieces_keep_every_character() {
        for text in ["", "a", "ab", "äöü€𝄞 and more"] {
            assert_eq!(pieces(text).concat(), text);
            assert!(pieces(text).iter().all(|piece| !piece.is_empty()));
        }
        assert_eq!(huge(70_000).concat().len(), 70_000);
    }
}
