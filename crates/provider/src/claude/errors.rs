//! The classes of claude's errors (providers.md 4.11): by the HTTP status and by its own word for the error; its sentences
//! count only where these two do not tell a used-up quota from a passing limit, and are anchored at their start.

use record::Timestamp;
use record::words::ReasonCode;

use crate::classify::{later, retry_at, status_class};

/// What stands before the words of a server.
const PREFIXES: &[&str] = &["API Error: ", "Request rejected (429) · "];
/// The CLI's and the vendor's words for a plan or a limit on spending that is used up.
const QUOTA_FORMS: &[&str] = &[
    "You have reached your specified API usage limits",
    "You've hit your",
    "You’ve hit your",
    "Claude AI usage limit reached",
    "Claude usage limit reached",
    "Usage limit reached",
    "Credit balance is too low",
];

/// What is known of an error beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs<'a> {
    /// The HTTP status.
    pub(super) status: Option<u16>,
    /// The `error` of the last message that the CLI made up itself.
    pub(super) word: Option<&'a str>,
    pub(super) stop_reason: Option<&'a str>,
    /// Seconds of 1970 at which a limit ends, where an event said that it was reached.
    pub(super) limit_ends_at: Option<u64>,
}

/// The class of an error, and when to come back if that is said.
pub(super) fn classify(text: &str, signs: Signs<'_>) -> (ReasonCode, Option<Timestamp>) {
    let mut said = text;
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| said.strip_prefix(prefix)) {
        said = rest;
    }
    let by_status = signs.status.map_or(ReasonCode::ProviderFailed, status_class);
    let code = match (by_status, signs.word) {
        _ if signs.stop_reason == Some("refusal") => ReasonCode::Refusal,
        (_, Some("billing_error")) => ReasonCode::QuotaExhausted,
        (_, Some("max_output_tokens")) => ReasonCode::IncompleteOutput,
        (ReasonCode::RateLimited, _) | (_, Some("rate_limit"))
            if signs.limit_ends_at.is_some() || QUOTA_FORMS.iter().any(|form| said.starts_with(form)) =>
        {
            ReasonCode::QuotaExhausted
        }
        (ReasonCode::ProviderFailed, Some("rate_limit")) => ReasonCode::RateLimited,
        // A status of its own (403) says that signing in again is of no use.
        (ReasonCode::ProviderFailed, Some("authentication_failed")) if signs.status.is_none() => {
            ReasonCode::AuthenticationRequired
        }
        (by_status, _) => by_status,
    };
    let limited = matches!(code, ReasonCode::RateLimited | ReasonCode::QuotaExhausted);
    (code, limited.then(|| ends_at(said, signs.limit_ends_at)).flatten())
}

fn ends_at(said: &str, limit_ends_at: Option<u64>) -> Option<Timestamp> {
    limit_ends_at
        .or_else(|| said.rsplit_once('|')?.1.trim().parse().ok())
        .and_then(|seconds: u64| later(seconds.checked_mul(1000)?, 0))
        .or_else(|| regained(said))
        .or_else(|| retry_at(said, None))
}

/// `You will regain access on 2026-12-01 at 00:00 UTC.`, or without the time of day.
fn regained(said: &str) -> Option<Timestamp> {
    let (_, when) = said.split_once("You will regain access on ")?;
    let (date, rest) = when.split_at_checked("2026-12-01".len())?;
    let time = rest.strip_prefix(" at ").and_then(|rest| rest.get(.."00:00 UTC".len())?.strip_suffix(" UTC"));
    format!("{date}T{}:00.000000000Z", time.unwrap_or("00:00")).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_its_class() {
        let none = Signs::default();
        let status = |status| Signs { status: Some(status), ..none };
        let word = |word| Signs { word: Some(word), ..none };
        let login = Signs { word: Some("authentication_failed"), ..none };
        for (text, signs, code) in [
            ("Failed to authenticate. API Error: 401 no", status(401), ReasonCode::AuthenticationRequired),
            ("Not logged in · Please run /login", login, ReasonCode::AuthenticationRequired),
            (
                "Failed to authenticate. API Error: 403 no",
                Signs { status: Some(403), ..login },
                ReasonCode::ProviderFailed,
            ),
            ("API Error: Request rejected (429) · slow down", status(429), ReasonCode::RateLimited),
            ("Limit", word("rate_limit"), ReasonCode::RateLimited),
            (
                "API Error: Request rejected (429) · You have reached your specified API usage limits.",
                status(429),
                ReasonCode::QuotaExhausted,
            ),
            ("You've hit your session limit", word("rate_limit"), ReasonCode::QuotaExhausted),
            (
                "Credit balance is too low",
                Signs { status: Some(400), word: Some("billing_error"), ..none },
                ReasonCode::QuotaExhausted,
            ),
            (
                "API Error: more than 128000 output tokens",
                word("max_output_tokens"),
                ReasonCode::IncompleteOutput,
            ),
            (
                "API Error: flagged",
                Signs { stop_reason: Some("refusal"), word: Some("invalid_request"), ..none },
                ReasonCode::Refusal,
            ),
            (
                "API Error: 500 no",
                Signs { status: Some(500), word: Some("server_error"), ..none },
                ReasonCode::ProviderFailed,
            ),
            // A sentence alone makes no class.
            ("You've hit your usage limit. 429 Please run /login", status(500), ReasonCode::ProviderFailed),
            ("The model says: You've hit your limit", status(429), ReasonCode::RateLimited),
            ("", none, ReasonCode::ProviderFailed),
        ] {
            assert_eq!(classify(text, signs), (code, None), "{text}");
        }
    }

    #[test]
    fn stated_times() {
        let limited = Signs { status: Some(429), word: Some("rate_limit"), ..Signs::default() };
        for (text, signs, time) in [
            ("Claude AI usage limit reached|1796083200", limited, "2026-12-01T00:00:00.000000000Z"),
            (
                "API Error: Request rejected (429) · You have reached your specified API usage limits. You will regain access on 2026-12-01 at 06:30 UTC.",
                limited,
                "2026-12-01T06:30:00.000000000Z",
            ),
            (
                "You have reached your specified API usage limits. You will regain access on 2099-01-01. (x)",
                limited,
                "2099-01-01T00:00:00.000000000Z",
            ),
            (
                "No.",
                Signs { limit_ends_at: Some(1_796_083_200), ..limited },
                "2026-12-01T00:00:00.000000000Z",
            ),
            ("Slow down; try again at 2026-12-01T08:00:00Z", limited, "2026-12-01T08:00:00.000000000Z"),
        ] {
            assert_eq!(classify(text, signs).1.map(|time| time.to_string()).as_deref(), Some(time), "{text}");
        }
        for text in [
            "",
            "a|b",
            "x|99999999999999999999",
            "You will regain access on soon",
            "You will regain access on 2026-13-99.",
        ] {
            assert_eq!(classify(text, limited).1, None, "{text}");
        }
    }
}
