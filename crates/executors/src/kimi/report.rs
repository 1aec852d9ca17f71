//! What the runner says of itself (runners.md 3.9): status, metrics and diagnostic. No text of prompt, answer or vendor.

use serde_json::{Map, Value, json};

use super::RUNTIME_MODEL;
use super::events::Events;
use super::lane::Lane;
use super::ripgrep::Ripgrep;
use crate::common::login::{Kept, LoginMode};
use crate::common::report::members;
use crate::common::sandbox::LANDLOCK;

const COMPATIBILITY: &str = "capability-probed";

/// Which programs may be executed beside the vendor's own.
fn process_exec(is_attested: bool) -> Value {
    json!({"mode": "allowlist", "allowed": ["rg"], "attested": is_attested})
}

fn search_runtime(ripgrep: Option<&Ripgrep>) -> Map<String, Value> {
    members(json!({
        "identity": "ripgrep",
        "version": ripgrep.map(Ripgrep::version),
        "sha256": ripgrep.map(|ripgrep| ripgrep.sha256.to_string()),
        "dependencies_sha256": ripgrep.map(|ripgrep| ripgrep.libraries_sha256.to_string()),
        "copied_per_run": true,
    }))
}

/// What every child is held to.
fn isolation() -> Map<String, Value> {
    members(json!({
        "sandbox": LANDLOCK,
        "isolated_home": true,
        "environment_mode": "allowlist",
        "ambient_home_read": false,
        "terminal": false,
        "web_tools": false,
        "subagents": false,
        "skills": false,
        "hooks": false,
        "services": false,
    }))
}

const fn persistence(mode: LoginMode) -> &'static str {
    match mode {
        LoginMode::Serialized => "serialized-atomic-sync",
        LoginMode::Shared => "shared-generation-atomic-sync",
    }
}

/// What metrics say of a run beside its times and pins.
pub(super) fn metrics(
    lane: Lane,
    mode: LoginMode,
    cli_version: Option<&str>,
    ripgrep: &Ripgrep,
) -> Map<String, Value> {
    let mut metrics = isolation();
    metrics.extend(members(json!({
        "model": RUNTIME_MODEL,
        "runtime_cli_version": cli_version,
        "runtime_cli_compatibility": COMPATIBILITY,
        "process_exec": process_exec(true),
        "search_runtime": search_runtime(Some(ripgrep)),
        "oauth_refresh_persistence": persistence(mode),
        "write_scope": lane.write_scope(),
        "usage_reported": false,
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache_read": 0, "cache_write": 0},
        "provider_cost_usd": null,
    })));
    metrics
}

/// What `check` says beside lanes and efforts.
pub(super) struct Availability<'a> {
    pub(super) reason: Option<&'a str>,
    pub(super) mode: LoginMode,
    pub(super) cli_version: Option<&'a str>,
    pub(super) ripgrep: Option<&'a Ripgrep>,
}

/// Status without lanes.
pub(super) fn status(
    backend: &str,
    efforts: &[String],
    availability: &Availability<'_>,
) -> Map<String, Value> {
    let Availability { reason, mode, cli_version, ripgrep } = availability;
    let is_available = reason.is_none();
    let mut search = search_runtime(*ripgrep);
    let count = ripgrep.map(|ripgrep| ripgrep.libraries.len());
    search.insert("non_system_dependency_count".to_owned(), json!(count));
    let mut of_backend = isolation();
    of_backend.extend(members(json!({
        "available": is_available,
        "reason": reason,
        "efforts": efforts,
        "process_exec": process_exec(is_available),
        "oauth_refresh_persistence": persistence(*mode),
        "builder_write_scope": Lane::Builder.write_scope(),
        "read_only_write_scope": Lane::Scout.write_scope(),
    })));
    members(json!({
        "models": {backend: RUNTIME_MODEL},
        "efforts": efforts,
        "runtime_cli_compatibility": COMPATIBILITY,
        "runtime_cli_version": cli_version,
        "process_exec": process_exec(is_available),
        "search_runtime": search,
        "terminal": false,
        "web_tools": false,
        "subagents": false,
        "skills": false,
        "selected_backend": if is_available { backend } else { "none" },
        "backends": {backend: of_backend},
    }))
}

/// What is known of a run that failed.
pub(super) struct Seen<'a> {
    pub(super) lane: Lane,
    pub(super) ripgrep: &'a Ripgrep,
    pub(super) kept: Option<Kept>,
    pub(super) vendor_exit_code: Option<i32>,
    pub(super) duration_seconds: u64,
    pub(super) stream_bytes: usize,
    pub(super) stderr_bytes: usize,
    pub(super) events: &'a Events,
}

/// A diagnostic without phase, reason, exit code and debug path.
pub(super) fn diagnostic(seen: &Seen<'_>) -> Map<String, Value> {
    let kept = match seen.kept {
        None => "not_attempted",
        Some(Kept::Yes) => "ok",
        Some(Kept::Conflict) => "conflict",
        Some(Kept::No) => "failed",
    };
    members(json!({
        "schema": "delegation_kimi_error_v1",
        "vendor_exit_code": seen.vendor_exit_code,
        "duration_seconds": seen.duration_seconds,
        "oauth_sync": kept,
        "captured_bytes": {"event_stream": seen.stream_bytes, "vendor_stderr": seen.stderr_bytes},
        "event_summary": seen.events.summary(),
        "tool_policy": {
            "allowed": seen.lane.tools(),
            "terminal": false,
            "web_tools": false,
            "subagents": false,
            "skills": false,
            "write_scope": seen.lane.write_scope(),
            "process_exec": process_exec(true),
        },
        "search_runtime": search_runtime(Some(seen.ripgrep)),
    }))
}
