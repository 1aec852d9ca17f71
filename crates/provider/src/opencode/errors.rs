//! The classes of opencode's errors: their name, the server's status and the code of its body (providers.md 6.7, 6.8).

use record::Timestamp;
use record::words::ReasonCode;
use serde_json::{Map, Value};

use super::SIGN_IN;
use crate::classify::{is_quota, later, retry_at, server_error, status_class};
use crate::events::text;
use crate::screen;

/// The class of an error, and when to come back if it says so.
pub(super) fn classify(
    error: &Map<String, Value>,
    told_at_millis: Option<u64>,
) -> (ReasonCode, Option<Timestamp>) {
    let data = error.get("data").and_then(Value::as_object);
    let code = match text(error, "name").unwrap_or_default() {
        "ProviderAuthError" | "LoadAPIKeyError" => ReasonCode::AuthenticationRequired,
        "ContentFilterError" => ReasonCode::Refusal,
        "MessageOutputLengthError" => ReasonCode::IncompleteOutput,
        "APIError" => match status(error) {
            Some(429) if data.is_some_and(tells_quota) => ReasonCode::QuotaExhausted,
            Some(status) => status_class(status),
            None => ReasonCode::ProviderFailed,
        },
        _ => ReasonCode::ProviderFailed,
    };
    if !matches!(code, ReasonCode::RateLimited | ReasonCode::QuotaExhausted) {
        return (code, None);
    }
    let header = data.and_then(retry_after_millis).zip(told_at_millis);
    let at = header.and_then(|(span, told_at)| later(told_at, span));
    (code, at.or_else(|| retry_at(text(data?, "message")?, told_at_millis)))
}

/// The error as people want it: status and the server's words, and how to sign in where that helps.
pub(super) fn sentence(error: &Map<String, Value>, code: ReasonCode) -> String {
    let said = error.get("data").and_then(Value::as_object).and_then(|data| text(data, "message"));
    let said = said.filter(|said| !said.trim().is_empty());
    let words = match (status(error), said) {
        (Some(status), Some(said)) => format!("{status}: {said}"),
        (None, Some(said)) => said.to_owned(),
        (status, None) => {
            let name = text(error, "name").unwrap_or_default();
            status.map_or_else(|| name.to_owned(), |status| format!("{status}: {name}"))
        }
    };
    let hint = if code == ReasonCode::AuthenticationRequired { SIGN_IN } else { "" };
    screen::message(&words) + hint
}

fn status(error: &Map<String, Value>) -> Option<u16> {
    error.get("data")?.get("statusCode")?.as_u64()?.try_into().ok()
}

fn tells_quota(data: &Map<String, Value>) -> bool {
    let body = text(data, "responseBody").and_then(server_error);
    body.is_some_and(|body| is_quota(&body) || text(&body, "type") == Some("FreeUsageLimitError"))
}

/// What the server's headers say, in milliseconds; a date is none of the forms that are read.
fn retry_after_millis(data: &Map<String, Value>) -> Option<u64> {
    let headers = data.get("responseHeaders")?.as_object()?;
    let number = |name| text(headers, name)?.trim().parse::<u64>().ok();
    number("retry-after-ms").or_else(|| number("retry-after")?.checked_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_form_has_its_class() {
        for (text, code) in [
            (r#"{"name":"APIError","data":{"statusCode":401}}"#, ReasonCode::AuthenticationRequired),
            (r#"{"name":"APIError","data":{"statusCode":402}}"#, ReasonCode::QuotaExhausted),
            (r#"{"name":"APIError","data":{"statusCode":403}}"#, ReasonCode::ProviderFailed),
            (r#"{"name":"APIError","data":{"statusCode":404}}"#, ReasonCode::ProviderFailed),
            (r#"{"name":"APIError","data":{"statusCode":429}}"#, ReasonCode::RateLimited),
            (
                r#"{"name":"APIError","data":{"statusCode":429,"responseBody":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}"#,
                ReasonCode::QuotaExhausted,
            ),
            (
                r#"{"name":"APIError","data":{"statusCode":429,"responseBody":"{\"type\":\"error\",\"error\":{\"type\":\"FreeUsageLimitError\"}}"}}"#,
                ReasonCode::QuotaExhausted,
            ),
            (
                r#"{"name":"APIError","data":{"statusCode":429,"message":"insufficient_quota","responseBody":"insufficient_quota"}}"#,
                ReasonCode::RateLimited,
            ),
            (r#"{"name":"APIError","data":{"statusCode":503}}"#, ReasonCode::ProviderFailed),
            (r#"{"name":"APIError","data":{"statusCode":99999999}}"#, ReasonCode::ProviderFailed),
            (r#"{"name":"APIError","data":{"message":"Cannot connect, 401"}}"#, ReasonCode::ProviderFailed),
            (r#"{"name":"APIError"}"#, ReasonCode::ProviderFailed),
            (r#"{"name":"ProviderAuthError","data":{"providerID":"x"}}"#, ReasonCode::AuthenticationRequired),
            (r#"{"name":"ContentFilterError"}"#, ReasonCode::Refusal),
            (r#"{"name":"MessageOutputLengthError"}"#, ReasonCode::IncompleteOutput),
            (r#"{"name":"UnknownError","data":{"statusCode":401}}"#, ReasonCode::ProviderFailed),
        ] {
            assert_eq!(classify(&error(text), None), (code, None), "{text}");
        }
    }

    #[test]
    fn a_limit_says_when_to_come_back() {
        let at = |data: &str, told_at| {
            let text = format!(r#"{{"name":"APIError","data":{{"statusCode":429,{data}}}}}"#);
            classify(&error(&text), told_at).1.map(|time| time.to_string())
        };
        let told_at = Some(1_796_031_239_890);
        for (data, expected) in [
            (r#""responseHeaders":{"retry-after":"2"}"#, Some("2026-11-30T09:34:01.890000000Z")),
            (
                r#""responseHeaders":{"retry-after":"9","retry-after-ms":"110"}"#,
                Some("2026-11-30T09:34:00.000000000Z"),
            ),
            (r#""responseHeaders":{"retry-after":"18446744073709551615"}"#, None),
            (r#""responseHeaders":{"retry-after":"Mon, 30 Nov 2026 09:16:01 GMT"}"#, None),
            (r#""message":"Please try again in 1s.""#, Some("2026-11-30T09:34:00.890000000Z")),
            (r#""message":"slow down""#, None),
        ] {
            assert_eq!(at(data, told_at).as_deref(), expected, "{data}");
        }
        assert_eq!(at(r#""responseHeaders":{"retry-after":"2"}"#, None), None);
    }

    #[test]
    fn the_servers_words_are_told() {
        let told = |text: &str, code| sentence(&error(text), code);
        let failed = ReasonCode::ProviderFailed;
        assert_eq!(
            told(r#"{"name":"APIError","data":{"statusCode":500,"message":"busy"}}"#, failed),
            "500: busy"
        );
        assert_eq!(told(r#"{"name":"UnknownError","data":{"message":"odd"}}"#, failed), "odd");
        assert_eq!(told(r#"{"name":"APIError","data":{"statusCode":500}}"#, failed), "500: APIError");
        assert_eq!(told(r#"{"name":"OddError"}"#, failed), "OddError");
        let signed_out = told(r#"{"name":"ProviderAuthError"}"#, ReasonCode::AuthenticationRequired);
        assert_eq!(signed_out, "ProviderAuthError (sign in with `opencode auth login`)");
    }
}
