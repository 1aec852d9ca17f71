//! The one object that `agy` prints with `--output-format json` (providers.md 2.2, 2.5).

use serde_json::{Value, json};

/// What `agy models` prints.
pub(crate) const MODELS: &str = "fake-model-1\tFake Model 1\n";

pub(crate) fn succeed(session: &str, answer: &str) -> Vec<Value> {
    let usage = json!({"input_tokens": 100, "output_tokens": 10, "thinking_tokens": 0, "cache_read_tokens": 0,
        "total_tokens": 110});
    vec![json!({"conversation_id": session, "status": "SUCCESS", "response": answer, "duration_seconds": 0.5,
        "num_turns": 1, "usage": usage})]
}

/// A failure names no conversation.
pub(crate) fn fail(message: &str) -> Vec<Value> {
    let usage = json!({"input_tokens": 0, "output_tokens": 0, "thinking_tokens": 0, "cache_read_tokens": 0,
        "total_tokens": 0});
    vec![
        json!({"conversation_id": "", "status": "ERROR", "response": "", "error": message, "duration_seconds": 0,
        "num_turns": 0, "usage": usage}),
    ]
}
