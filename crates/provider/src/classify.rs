//! What classes of provider errors have in common: HTTP statuses, and times to come back.
//!
//! Only messages of a provider's structured error channel come here, never words of a model (providers.md 10.6).

use std::time::{Duration, SystemTime};

use record::Timestamp;
use record::words::ReasonCode;
use serde_json::{Map, Value};

/// The class of an HTTP status. 403 is no matter of signing in again, and 5xx none of waiting until a known time.
pub(crate) fn status_class(status: u16) -> ReasonCode {
    match status {
        401 => ReasonCode::AuthenticationRequired,
        402 => ReasonCode::QuotaExhausted,
        429 => ReasonCode::RateLimited,
        _ => ReasonCode::ProviderFailed,
    }
}

/// A three-digit status at the start of a text, and what follows it.
pub(crate) fn leading_status(text: &str) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at_checked(3)?;
    let status = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    let separated = !rest.starts_with(|next: char| next.is_alphanumeric());
    (separated && (100..600).contains(&status)).then_some((status, rest))
}

/// The error in the body of a server's answer: the object named `error`, or the whole one.
pub(crate) fn server_error(body: &str) -> Option<Map<String, Value>> {
    let mut object: Map<String, Value> = serde_json::from_str(body).ok()?;
    match object.remove("error") {
        Some(Value::Object(inner)) => Some(inner),
        _ => Some(object),
    }
}

/// Whether a server's error names a used-up quota by its code or type.
pub(crate) fn is_quota(error: &Map<String, Value>) -> bool {
    const WORDS: &[&str] =
        &["insufficient_quota", "quota_exceeded", "usage_limit_reached", "billing_hard_limit_reached"];
    ["code", "type"]
        .iter()
        .any(|name| error.get(*name).and_then(Value::as_str).is_some_and(|word| WORDS.contains(&word)))
}

/// The time so many milliseconds after one in milliseconds of 1970.
pub(crate) fn later(from_millis: u64, span_millis: u64) -> Option<Timestamp> {
    let [from, span] = [from_millis, span_millis].map(Duration::from_millis);
    Timestamp::from_system_time(SystemTime::UNIX_EPOCH.checked_add(from)?.checked_add(span)?).ok()
}

/// When the provider may be asked again, as its message says: an RFC 3339 time in UTC after `try again at` or `resets at`,
/// or a span after `try again in`, counted from the time that the provider gave to the message (milliseconds of 1970).
pub(crate) fn retry_at(message: &str, said_at_millis: Option<u64>) -> Option<Timestamp> {
    let lower = message.to_ascii_lowercase();
    let after =
        |words: &str| lower.find(words).map(|position| message[position + words.len()..].trim_start());
    if let Some(text) = after("try again at ").or_else(|| after("resets at ")).or_else(|| after("reset at "))
    {
        return utc(text);
    }
    let span = span(after("try again in ")?)?;
    later(said_at_millis?, u64::try_from(span.as_millis()).ok()?)
}

/// `2026-12-01T10:00:00Z`, with up to nine fractional digits, in the one form of records.
fn utc(text: &str) -> Option<Timestamp> {
    const SECONDS_LENGTH: usize = "2026-12-01T10:00:00".len();
    let (seconds, rest) = text.split_at_checked(SECONDS_LENGTH)?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, rest) = rest.split_at(digits);
    if digits > 9 || !(rest.starts_with('Z') || rest.starts_with("+00:00")) {
        return None;
    }
    format!("{seconds}.{fraction:0<9}Z").parse().ok()
}

/// `1s`, `11.054s`, `~120 min`, `1h 5m`, `20 seconds`, `500ms`; `None` for anything else.
fn span(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start_matches('~');
    let mut total: Option<Duration> = None;
    loop {
        let number_length = rest
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(number_length);
        let Ok(number) = number.parse::<f64>() else { return total };
        let after = after.trim_start();
        let unit_length =
            after.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_length);
        let seconds = match unit {
            "ms" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return total,
        };
        let part = Duration::try_from_secs_f64(number * seconds).ok()?;
        total = Some(total.unwrap_or_default().checked_add(part)?);
        rest = next.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_stand_at_the_start() {
        assert_eq!(leading_status("401: {}"), Some((401, ": {}")));
        assert_eq!(leading_status("429 {}"), Some((429, " {}")));
        assert_eq!(leading_status("503"), Some((503, "")));
        for text in ["", "40", "4011", "999 x", "a401", "401k plan", "４０１"] {
            assert_eq!(leading_status(text), None, "{text}");
        }
    }

    #[test]
    fn stated_times() {
        let at = |message: &str| retry_at(message, Some(1_796_031_239_890)).map(|time| time.to_string());
        for (message, time) in [
            ("Please try again in 1s. (x)", "2026-11-30T09:34:00.890000000Z"),
            ("Try again in ~120 min.", "2026-11-30T11:33:59.890000000Z"),
            ("try again in 1h 5m 0.5s", "2026-11-30T10:39:00.390000000Z"),
            ("It resets at 2026-12-01T10:00:00Z.", "2026-12-01T10:00:00.000000000Z"),
            ("try again at 2026-12-01T10:00:00.25+00:00", "2026-12-01T10:00:00.250000000Z"),
        ] {
            assert_eq!(at(message).as_deref(), Some(time), "{message}");
        }
        for message in [
            "",
            "try again",
            "try again in a while",
            "try again at 3:05 PM",
            "try again in 1e400s",
            "resets at é",
            "İ try again in 5",
        ] {
            assert_eq!(at(message), None, "{message}");
        }
        assert_eq!(retry_at("try again in 1s", None), None);
    }
}
