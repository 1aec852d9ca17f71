//! The classes of pi's error messages: the server's status, then its body (providers.md 5.7).

use record::Timestamp;
use record::words::ReasonCode;

use crate::classify::{is_quota, leading_status, retry_at, server_error, status_class};

const FORMS: &[(&str, ReasonCode)] = &[
    ("Provider finish_reason: content_filter", ReasonCode::Refusal),
    ("No API key found for ", ReasonCode::AuthenticationRequired),
    ("No API key for provider", ReasonCode::AuthenticationRequired),
    ("You have hit your ChatGPT usage limit", ReasonCode::QuotaExhausted),
];

/// The class of an error message, and when to come back if it says so.
pub(super) fn classify(
    message: &str,
    raw_stop_reason: Option<&str>,
    said_at_millis: Option<u64>,
) -> (ReasonCode, Option<Timestamp>) {
    let code = match leading_status(message) {
        Some((429, body)) if body_error(body).is_some_and(|error| is_quota(&error)) => {
            ReasonCode::QuotaExhausted
        }
        Some((status, _)) => status_class(status),
        None if matches!(raw_stop_reason, Some("content_filter" | "refusal")) => ReasonCode::Refusal,
        None => FORMS
            .iter()
            .find(|(form, _)| message.starts_with(form))
            .map_or(ReasonCode::ProviderFailed, |(_, code)| *code),
    };
    let limited = matches!(code, ReasonCode::RateLimited | ReasonCode::QuotaExhausted);
    (code, limited.then(|| retry_at(message, said_at_millis)).flatten())
}

/// The message as people want it: the server's sentence instead of the object around it.
pub(super) fn sentence(message: &str) -> String {
    let found = leading_status(message).and_then(|(status, body)| {
        let error = body_error(body)?;
        Some(format!("{status}: {}", error.get("message")?.as_str()?))
    });
    found.unwrap_or_else(|| message.to_owned())
}

/// What the body behind a status tells.
fn body_error(body: &str) -> Option<serde_json::Map<String, serde_json::Value>> {
    server_error(body.trim_start_matches([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_its_class() {
        for (message, code) in [
            (r#"401: {"message":"no","code":"invalid_api_key"}"#, ReasonCode::AuthenticationRequired),
            (r#"403: {"message":"no"}"#, ReasonCode::ProviderFailed),
            (r#"404: {"message":"no model","code":"model_not_found"}"#, ReasonCode::ProviderFailed),
            (r#"429: {"message":"slow","code":"rate_limit_exceeded"}"#, ReasonCode::RateLimited),
            (r#"429: {"message":"x","type":"insufficient_quota"}"#, ReasonCode::QuotaExhausted),
            (r#"429 {"type":"error","error":{"type":"usage_limit_reached"}}"#, ReasonCode::QuotaExhausted),
            (r#"429: {"message":"insufficient_quota"}"#, ReasonCode::RateLimited),
            ("429: insufficient_quota", ReasonCode::RateLimited),
            ("503: {}", ReasonCode::ProviderFailed),
            ("Provider finish_reason: content_filter", ReasonCode::Refusal),
            ("No API key found for the selected model.", ReasonCode::AuthenticationRequired),
            ("Connection error.: connect ECONNREFUSED 127.0.0.1:1", ReasonCode::ProviderFailed),
            ("It said 401: unauthorized, usage limit reached", ReasonCode::ProviderFailed),
        ] {
            assert_eq!(classify(message, None, None), (code, None), "{message}");
        }
        assert_eq!(classify("stopped", Some("content_filter"), None).0, ReasonCode::Refusal);
        let (code, at) =
            classify(r#"429: {"message":"Please try again in 1s."}"#, None, Some(1_796_031_239_890));
        assert_eq!((code, at.is_some()), (ReasonCode::RateLimited, true));
    }

    #[test]
    fn the_servers_sentence_is_told() {
        for (message, told) in [
            (r#"401: {"message":"no key","code":"x"}"#, "401: no key"),
            (r#"429 {"type":"error","error":{"message":"slow"}}"#, "429: slow"),
            (r#"500: {"code":null}"#, r#"500: {"code":null}"#),
            ("terminated", "terminated"),
        ] {
            assert_eq!(sentence(message), told);
        }
    }
}
