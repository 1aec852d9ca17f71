//! The classes of codex's own error messages (providers.md 3.9). Each form is anchored at the start of the message, since
//! behind it a server's words may follow.

use record::Timestamp;
use record::words::ReasonCode;

use crate::classify::{leading_status, retry_at, status_class};

const FORMS: &[(&str, ReasonCode)] = &[
    ("Quota exceeded.", ReasonCode::QuotaExhausted),
    ("You've hit your usage limit", ReasonCode::QuotaExhausted),
    ("You’ve hit your usage limit", ReasonCode::QuotaExhausted),
    ("Rate limit reached", ReasonCode::RateLimited),
    ("Incomplete response returned, reason: max_output_tokens", ReasonCode::IncompleteOutput),
    ("Incomplete response returned, reason: content_filter", ReasonCode::Refusal),
    ("Missing environment variable:", ReasonCode::AuthenticationRequired),
    ("Your access token could not be refreshed", ReasonCode::AuthenticationRequired),
];

/// The class of the message of a `turn.failed`, and when to come back if it says so.
pub(super) fn classify(message: &str) -> (ReasonCode, Option<Timestamp>) {
    let cause = message.strip_prefix("stream disconnected before completion: ").unwrap_or(message);
    let status = ["unexpected status ", "exceeded retry limit, last status: "]
        .iter()
        .find_map(|form| leading_status(cause.strip_prefix(form)?));
    let code = match status {
        Some((status, _)) => status_class(status),
        None => FORMS
            .iter()
            .find(|(form, _)| cause.starts_with(form))
            .map_or(ReasonCode::ProviderFailed, |(_, code)| *code),
    };
    let limited = matches!(code, ReasonCode::RateLimited | ReasonCode::QuotaExhausted);
    (code, limited.then(|| retry_at(cause, None)).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_its_class() {
        for (message, code) in [
            ("unexpected status 401 Unauthorized: no, url: http://h/v1", ReasonCode::AuthenticationRequired),
            ("unexpected status 403 Forbidden: no, url: http://h/v1", ReasonCode::ProviderFailed),
            ("unexpected status 429 Too Many Requests: slow down", ReasonCode::RateLimited),
            ("unexpected status 503 Service Unavailable: busy", ReasonCode::ProviderFailed),
            ("exceeded retry limit, last status: 429 Too Many Requests", ReasonCode::RateLimited),
            ("exceeded retry limit, last status: 401 Unauthorized", ReasonCode::AuthenticationRequired),
            ("Quota exceeded. Check your plan and billing details.", ReasonCode::QuotaExhausted),
            ("You've hit your usage limit. Try again later.", ReasonCode::QuotaExhausted),
            ("stream disconnected before completion: Rate limit reached for m.", ReasonCode::RateLimited),
            ("Incomplete response returned, reason: max_output_tokens", ReasonCode::IncompleteOutput),
            (
                "stream disconnected before completion: Incomplete response returned, reason: content_filter",
                ReasonCode::Refusal,
            ),
            ("Missing environment variable: `SOME_KEY`.", ReasonCode::AuthenticationRequired),
            ("stream disconnected before completion: error sending request", ReasonCode::ProviderFailed),
            ("Codex ran out of room in the model's context window.", ReasonCode::ProviderFailed),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                ReasonCode::ProviderFailed,
            ),
            // A server's words do not count where the CLI's are expected.
            ("The model says: Quota exceeded. 401 429", ReasonCode::ProviderFailed),
            (
                "unexpected status 500 Internal Server Error: usage limit, 429, unauthorized",
                ReasonCode::ProviderFailed,
            ),
            ("", ReasonCode::ProviderFailed),
        ] {
            assert_eq!(classify(message), (code, None), "{message}");
        }
        let (code, at) = classify("You've hit your usage limit. Try again at 2026-12-01T08:00:00Z.");
        assert_eq!((code, at.is_some()), (ReasonCode::QuotaExhausted, true));
    }
}
