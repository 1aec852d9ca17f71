//! The events of `opencode run --format json` (providers.md 6.2, 6.8).

use serde_json::{Value, json};

/// A conversation id in its shape, out of a UUID.
pub(crate) fn session_id(uuid: &str) -> String {
    format!("ses_{}", uuid.replace('-', ""))
}

pub(crate) fn begin(session: &str) -> Vec<Value> {
    vec![event(session, "step_start", json!({"type": "step-start"}))]
}

pub(crate) fn succeed(session: &str, answer: &str) -> Vec<Value> {
    let tokens =
        json!({"total": 110, "input": 100, "output": 10, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    vec![
        event(session, "text", json!({"type": "text", "text": answer})),
        event(
            session,
            "step_finish",
            json!({"type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0}),
        ),
    ]
}

pub(crate) fn fail(session: &str, message: &str) -> Vec<Value> {
    let error = json!({"name": "UnknownError", "data": {"message": message}});
    vec![json!({"type": "error", "timestamp": 1, "sessionID": session, "error": error})]
}

fn event(session: &str, kind: &str, mut part: Value) -> Value {
    part["sessionID"] = json!(session);
    json!({"type": kind, "timestamp": 1, "sessionID": session, "part": part})
}
