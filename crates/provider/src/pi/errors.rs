//! The classes of pi's error messages: the server's status, then its body (providers.md 5.7).

use record::Timestamp;
use record::words::ReasonCode;
use serde_json::{Map, Value};

use crate::classify::{leading_status, retry_at, status_class};

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
        Some((429, body)) if is_quota(body) => ReasonCode::QuotaExhausted,
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

/// Whether the body behind a status names a used-up quota by its code or type.
fn is_quota(body: &str) -> bool {
    let Some(error) = error_object(body) else { return false };
    ["code", "type"].iter().any(|name| {
        let word = error.get(*name).and_then(Value::as_str);
        matches!(
            word,
            Some(
                "insufficient_quota"
                    | "quota_exceeded"
                    | "usage_limit_reached"
                    | "billing_hard_limit_reached"
            )
        )
    })
}

/// The message as people want it: the server's sentence instead of the object around it.
pub(super) fn sentence(message: &str) -> String {
    let found = leading_status(message).and_then(|(status, body)| {
        let error = error_object(body)?;
        Some(format!("{status}: {}", error.get("message")?.as_str()?))
    });
    found.unwrap_or_else(|| message.to_owned())
}

/// The object behind a status, or the one named `error` in it.
fn error_object(body: &str) -> Option<Map<String, Value>> {
    let mut object: Map<String, Value> = serde_json::from_str(body.trim_start_matches([':', ' '])).ok()?;
    match object.remove("error") {
        Some(Value::Object(inner)) => Some(inner),
        _ => Some(object),
    }
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
