//! The events of `claude --print --output-format stream-json` (providers.md 4.3, 4.11).

use serde_json::{Value, json};

const MODEL: &str = "fake-model";

pub(crate) fn begin(session: &str) -> Vec<Value> {
    vec![json!({"type": "system", "subtype": "init", "cwd": std::env::current_dir().unwrap_or_default(),
        "session_id": session, "tools": ["Read"], "mcp_servers": [], "model": MODEL, "apiKeySource": "none",
        "claude_code_version": "2.1.332"})]
}

/// A command in the background, which only a notification would end.
pub(crate) fn begin_tool(session: &str) -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "true"}});
    vec![
        message(session, MODEL, call),
        json!({"type": "system", "subtype": "task_started", "task_id": "task_1", "tool_use_id": "toolu_1",
            "description": "true", "is_backgrounded": true, "task_type": "local_bash", "session_id": session}),
    ]
}

pub(crate) fn succeed(session: &str, other_model: Option<&str>, answer: &str) -> Vec<Value> {
    let model = other_model.unwrap_or(MODEL);
    vec![
        message(session, model, json!({"type": "text", "text": answer})),
        result(session, false, "end_turn", answer),
    ]
}

/// An error is called a success too; what it is shows elsewhere.
pub(crate) fn fail(session: &str, text: &str) -> Vec<Value> {
    let mut told = message(session, "<synthetic>", json!({"type": "text", "text": text}));
    told["error"] = json!("server_error");
    vec![told, result(session, true, "stop_sequence", text)]
}

fn message(session: &str, model: &str, block: Value) -> Value {
    json!({"type": "assistant", "session_id": session, "parent_tool_use_id": null,
        "message": {"role": "assistant", "model": model, "content": [block],
            "usage": {"input_tokens": 100, "output_tokens": 10}}})
}

fn result(session: &str, is_error: bool, stop_reason: &str, text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": is_error, "result": text, "session_id": session,
        "stop_reason": stop_reason, "api_error_status": null, "num_turns": 1, "duration_ms": 1000,
        "total_cost_usd": 0.01, "permission_denials": [], "modelUsage": {},
        "usage": {"input_tokens": 100, "output_tokens": 10}})
}
