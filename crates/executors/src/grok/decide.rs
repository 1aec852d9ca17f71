//! What a turn came to (runners.md 4.4).

use std::sync::LazyLock;

use serde_json::Value;

use super::GROK;
use super::answer::Answer;
use crate::common::child::End;
use crate::common::evaluation::Manifest;
use crate::common::exit::{Exit, Failure, Phase};
use crate::common::words::{Words, says, words};

static LOGIN: Words = LazyLock::new(|| {
    words(
        r"\b401\b|unauthori[sz]ed|unauthenticated|authenticat|\blog(ged)?[ -]?(in|out)\b|\bsign(ed)?[ -]?(in|out)\b",
    )
});
static RATE: Words =
    LazyLock::new(|| words(r"\b429\b|\brate\b|\brate[ _-]?limit|\bquota\b|too many requests"));
/// The vendor's words where it does not take a profile of the user.
static PROFILE: Words = LazyLock::new(|| {
    words(
        r"sandbox[^\n]*profile[^\n]*(refus|reject|not supported|unsupported|invalid|unknown|not found|fail|cannot|can not)|(refus|reject|unsupported|invalid|unknown|fail|cannot|can not)[^\n]*sandbox[^\n]*profile",
    )
});

/// The failure of a child that did not end well. The last row that fits decides.
pub(super) fn dispatch(end: End, stderr: &[u8]) -> Option<Failure> {
    let failure = |exit, reason| Failure::new(exit, Phase::Dispatch, reason);
    let mut found = match end {
        End::Exited(0) => return None,
        End::TooMuchOutput => return Some(Failure::extract("output_limit_exceeded")),
        End::TimedOut => failure(Exit::Temporary, "timeout"),
        _ => failure(Exit::Failed, "dispatch_failed"),
    };
    for (words, row) in [
        (&LOGIN, failure(Exit::Unavailable, "authentication_failed")),
        (&RATE, failure(Exit::Temporary, "temporarily_unavailable")),
        (&PROFILE, failure(Exit::Unavailable, "sandbox_profile_refused")),
    ] {
        if says(stderr, words) {
            found = row;
        }
    }
    Some(found)
}

/// Demands an event that a profile of that name is applied and enforced, and none that it is not. Other profiles are those of
/// peers.
pub(super) fn enforced(events: &[u8], profile: &str) -> Result<(), Failure> {
    let text = |event: &Value, names: &[&str]| {
        names.iter().find_map(|name| event.get(name)).and_then(Value::as_str).map(str::to_owned)
    };
    let events = events.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let ours: Vec<Option<bool>> = events
        .filter(|event| text(event, &["event", "type", "kind"]).as_deref() == Some("ProfileApplied"))
        .filter(|event| text(event, &["profile", "profile_name", "name"]).as_deref() == Some(profile))
        .map(|event: Value| event.get("enforced").and_then(Value::as_bool))
        .collect();
    if !ours.is_empty() && ours.iter().all(|is_enforced| *is_enforced == Some(true)) {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, Phase::Sandbox, "sandbox_not_enforced"))
}

/// The text of an answer that may be published.
pub(super) fn text<'a>(answer: &'a Answer, manifest: Option<&Manifest>) -> Result<&'a str, Failure> {
    let identity = |reason| Err(Failure::new(Exit::Failed, Phase::Identity, reason));
    match &answer.content_model {
        Some(model) if model != GROK.model => return identity("provider_identity_mismatch"),
        None if manifest.is_some() => return identity("strict_identity_evaluation_void"),
        _ => {}
    }
    match answer.stop_reason.as_deref() {
        Some("maxturns") => return Err(Failure::extract("max_turns")),
        Some("cancelled" | "canceled") => return Err(Failure::extract("cancelled")),
        Some("endturn") if !answer.text.trim().is_empty() && answer.participants.is_some() => {}
        _ => return Err(Failure::extract("malformed_or_mismatched_output")),
    }
    match manifest {
        Some(manifest) if !manifest.allows_length(&answer.text) => Err(Failure::extract("max_output_chars")),
        _ => Ok(&answer.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_that_fits_decides() {
        for (end, stderr, reason) in [
            (End::Exited(1), "boom 14012", Some("dispatch_failed")),
            (End::Signalled(9), "", Some("dispatch_failed")),
            (End::TimedOut, "", Some("timeout")),
            (End::TimedOut, "HTTP 429", Some("temporarily_unavailable")),
            (End::Exited(1), "HTTP 401", Some("authentication_failed")),
            (End::Exited(1), "please log in", Some("authentication_failed")),
            (End::Exited(1), "401, then 429 Too Many Requests", Some("temporarily_unavailable")),
            (
                End::Exited(1),
                "401 429 error: refusing sandbox profile delegation-kit-x: unsafe endpoint",
                Some("sandbox_profile_refused"),
            ),
            (End::Exited(1), "sandbox profile x is invalid", Some("sandbox_profile_refused")),
            (End::Exited(0), "401", None),
        ] {
            assert_eq!(dispatch(end, stderr.as_bytes()).map(|failure| failure.reason), reason, "{stderr}");
        }
    }

    #[test]
    fn only_the_own_profile_attests() {
        for (events, expected) in [
            ("{\"event\":\"ProfileApplied\",\"profile\":\"own\",\"enforced\":true}\n", true),
            ("x\n{}\n{\"type\":\"ProfileApplied\",\"profile\":\"own\",\"enforced\":true}", true),
            ("{\"event\":\"ProfileApplied\",\"profile\":\"peer\",\"enforced\":true}\n", false),
            ("{\"event\":\"ProfileApplied\",\"profile\":\"own\",\"enforced\":\"true\"}\n", false),
            ("{\"event\":\"ProfileApplied\",\"profile\":\"own\"}\n", false),
            ("{\"event\":\"ProfileFailed\",\"profile\":\"own\",\"enforced\":true}\n", false),
            (
                "{\"event\":\"ProfileApplied\",\"profile\":\"own\",\"enforced\":true}\n{\"event\":\"ProfileApplied\",\"profile\":\"own\",\"enforced\":false}\n",
                false,
            ),
            ("", false),
        ] {
            assert_eq!(enforced(events.as_bytes(), "own").is_ok(), expected, "{events}");
        }
    }
}
