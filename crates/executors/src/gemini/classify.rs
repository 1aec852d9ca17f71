//! What a run of the vendor's program came to (runners.md 6).

use std::sync::LazyLock;

use crate::common::child::End;
use crate::common::exit::{Exit, Failure, Phase};
use crate::common::words::{Words, says, words};

/// The failure that its end and its standard error tell; nothing where there is an answer to look at.
pub(super) fn failure(end: End, stderr: &[u8]) -> Option<Failure> {
    let dispatch = |exit, reason| Some(Failure::new(exit, Phase::Dispatch, reason));
    match end {
        End::Exited(0) if says(stderr, &NOTHING_DONE) => dispatch(Exit::Failed, "tool_permission_denied"),
        End::Exited(0) => None,
        End::TimedOut => dispatch(Exit::Temporary, "timeout"),
        End::TooMuchOutput => Some(Failure::extract("output_limit_exceeded")),
        _ if says(stderr, &LOGIN) => dispatch(Exit::Unavailable, "authentication_failed"),
        _ if says(stderr, &RATE) => dispatch(Exit::Temporary, "rate_limited"),
        _ => dispatch(Exit::Failed, "process_exit"),
    }
}

static LOGIN: Words = LazyLock::new(|| {
    words(
        r"\b401\b|unauthori[sz]ed|unauthenticated|authenticat|invalid_grant|\blog(ged)?[ -]?(in|out)\b|\bsign(ed)?[ -]?(in|out)\b",
    )
});
static RATE: Words = LazyLock::new(|| {
    words(r"\b429\b|\brate\b|\brate[ _-]?limit|resource[ _-]?exhausted|quota[ _-]?exceeded")
});
static NOTHING_DONE: Words = LazyLock::new(|| {
    words(
        r"\bno output\b|permission[^\n]*(auto[ -]?denied|automatically denied)|auto[ -]?denied[^\n]*permission",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_decide() {
        for (end, stderr, reason) in [
            (End::Exited(1), "HTTP 401", Some("authentication_failed")),
            (End::Exited(1), "Unauthorized", Some("authentication_failed")),
            (End::Exited(1), "error: invalid_grant", Some("authentication_failed")),
            (End::Exited(1), "please log in, 429", Some("authentication_failed")),
            (End::Exited(1), "You are not logged in", Some("authentication_failed")),
            (End::Exited(1), "HTTP 429", Some("rate_limited")),
            (End::Exited(1), "RESOURCE_EXHAUSTED", Some("rate_limited")),
            (End::Exited(1), "Quota exceeded", Some("rate_limited")),
            (End::Exited(1), "Rate limit", Some("rate_limited")),
            (End::Exited(42), "could not generate; blogging 14290", Some("process_exit")),
            (End::Signalled(9), "", Some("process_exit")),
            (End::TimedOut, "401", Some("timeout")),
            (End::Exited(0), "warning: no output produced", Some("tool_permission_denied")),
            (End::Exited(0), "permission request auto-denied", Some("tool_permission_denied")),
            (End::Exited(0), "HTTP 401", None),
        ] {
            assert_eq!(failure(end, stderr.as_bytes()).map(|failure| failure.reason), reason, "{stderr}");
        }
    }
}
