//! What the runner says of itself (runners.md 4.5): status, metrics and diagnostic. No text of prompt, answer or vendor.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::limits::TURNS_MAX_COUNT;
use super::{GROK, USAGE_MODEL};
use crate::common::login::LoginMode;
use crate::common::report::members;

const COMPATIBILITY: &str = "capability-probed";
const PERMISSION_MODE: &str = "dontAsk";

/// The pins of every report.
pub(super) fn pins(cli_version: Option<&str>) -> Map<String, Value> {
    members(json!({
        "model": GROK.model,
        "runtime_model": GROK.model,
        "runtime_cli_version": cli_version,
        "runtime_cli_compatibility": COMPATIBILITY,
    }))
}

/// What no lane has.
fn features() -> Map<String, Value> {
    members(json!({"plugins": false, "mcp": false, "terminal": false}))
}

/// What the metrics say of an answer and of the bounds that it was made in.
pub(super) fn metrics(answer: &Answer, sandbox: &str, timeout_seconds: u64) -> Map<String, Value> {
    let content_model = answer.content_model.as_deref();
    let participants: Vec<Value> = answer.participants().iter().map(|one| one.report()).collect();
    let mut metrics = features();
    metrics.extend(members(json!({
        "requested_model": GROK.model,
        "usage_model": USAGE_MODEL,
        "effective_content_model": content_model,
        "exact_model_identity_attested": content_model == Some(GROK.model),
        "usage_participants": participants,
        "target_usage_participant_present": answer.has_usage_model(),
        "sandbox": sandbox,
        "permission_mode": PERMISSION_MODE,
        "isolated_home": true,
        "max_turns": TURNS_MAX_COUNT,
        "timeout_seconds": timeout_seconds,
        "stop_reason": "EndTurn",
        "turns": answer.turns,
        "tokens": answer.tokens(),
        "provider_cost_usd": answer.cost_usd(),
    })));
    metrics
}

/// What `check` says of the one backend.
pub(super) fn backend(
    reason: Option<&str>,
    efforts: &[String],
    mode: LoginMode,
    sandbox: &str,
    timeout_seconds: Option<u64>,
) -> Value {
    let is_shared = mode == LoginMode::Shared;
    let mut backend = features();
    backend.extend(members(json!({
        "available": reason.is_none(),
        "reason": reason,
        "efforts": efforts,
        "sandbox": sandbox,
        "permission_mode": PERMISSION_MODE,
        "max_turns": TURNS_MAX_COUNT,
        "timeout_seconds": timeout_seconds,
        "isolated_home": true,
        "runtime_home_isolated": true,
        "oauth_mode": if is_shared { "shared" } else { "serialized" },
        "oauth_modes": ["serialized", "shared"],
        "grok_home_mode": if is_shared { "shared-generation" } else { "isolated-copy" },
        "credential_state_shared": is_shared,
    })));
    Value::Object(backend)
}
