//! Reading a response: who answered, whether the answer is whole, what it used (runners.md 5.3).

use gates::json::{Json, parse};
use serde_json::Number;

use super::service::Service;
use crate::common::exit::{Exit, Failure, Phase};

/// Up to here every whole number is one of floating point.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    /// The model as the provider names it, where it does.
    pub(super) reported_model: Option<String>,
    pub(super) usage: Usage,
}

/// The counters that the provider sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) reasoning: Option<u64>,
    pub(super) cache_read: Option<u64>,
}

const INVALID: Failure = Failure::extract("invalid_or_empty_response");

/// The failure that a status stands for; nothing for 200.
pub(super) fn of_status(status: u16) -> Option<Failure> {
    let dispatch = |exit, reason| Some(Failure::new(exit, Phase::Dispatch, reason));
    match status {
        200 => None,
        401 | 403 => dispatch(Exit::Unavailable, "authentication_failed"),
        429 => dispatch(Exit::Temporary, "rate_limited"),
        500..=599 => dispatch(Exit::Temporary, "provider_temporary_failure"),
        _ => dispatch(Exit::Failed, "provider_error"),
    }
}

/// Reads the body of a response with status 200.
pub(super) fn read(service: &Service, aliases: &[String], body: &[u8]) -> Result<Answer, Failure> {
    // JSON forbids the mark and allows readers to pass over it.
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let document = parse(body).map_err(|_| INVALID)?;
    let object = document.as_object().ok_or(INVALID)?;
    let reported_model = match object.get("model") {
        None => None,
        Some(model) => Some(model.as_str().ok_or(INVALID)?.to_owned()),
    };
    if let Some(model) = &reported_model
        && model != service.family.model
        && !aliases.contains(model)
    {
        return Err(Failure::new(Exit::Failed, Phase::Identity, "provider_identity_mismatch"));
    }
    let choice = document.get("choices").and_then(Json::as_array).and_then(<[Json]>::first).ok_or(INVALID)?;
    match choice.get("finish_reason") {
        None | Some(Json::Null) => {}
        Some(Json::String(reason)) if reason == "stop" => {}
        Some(Json::String(reason)) if reason == "length" => return Err(Failure::extract("output_truncated")),
        Some(_) => return Err(INVALID),
    }
    let message = choice.get("message").ok_or(INVALID)?;
    let is_empty = |value: Option<&Json>| match value {
        None | Some(Json::Null) => true,
        Some(Json::Array(calls)) => calls.is_empty(),
        Some(_) => false,
    };
    if !is_empty(message.get("tool_calls")) || !is_empty(message.get("function_call")) {
        return Err(INVALID);
    }
    let usage = usage(service, &document)?;
    let text =
        message.get("content").and_then(Json::as_str).filter(|text| !text.is_empty()).ok_or(INVALID)?;
    Ok(Answer { text: text.to_owned(), reported_model, usage })
}

/// A whole number, however it is written: `7.0` is one.
fn whole(number: &Number) -> Option<u64> {
    let written_otherwise =
        || number.as_f64().filter(|value| (0.0..=EXACT_MAX).contains(value) && value.fract() == 0.0);
    number.as_u64().or_else(|| written_otherwise().map(|value| value as u64))
}

fn usage(service: &Service, document: &Json) -> Result<Usage, Failure> {
    let counter = |path: &[&str]| match document.at(path) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Number(number)) => whole(number).map(Some).ok_or(INVALID),
        Some(_) => Err(INVALID),
    };
    match document.get("usage") {
        None | Some(Json::Null | Json::Object(_)) => {}
        Some(_) => return Err(INVALID),
    }
    counter(&["usage", "total_tokens"])?;
    let mut usage = Usage {
        input: counter(&["usage", "prompt_tokens"])?,
        output: counter(&["usage", "completion_tokens"])?,
        ..Usage::default()
    };
    if service.counts_details {
        usage.reasoning = counter(&["usage", "completion_tokens_details", "reasoning_tokens"])?;
        usage.cache_read = counter(&["usage", "prompt_cache_hit_tokens"])?;
    }
    Ok(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_one_however_it_is_written() {
        let read = |text: &str| whole(&serde_json::from_str(text).expect("a number"));
        for (text, value) in [("7", 7), ("7.0", 7), ("1e3", 1000), ("18446744073709551615", u64::MAX)] {
            assert_eq!(read(text), Some(value), "{text}");
        }
        for text in ["-1", "-1.0", "7.5", "1e23", "99999999999999999999999"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
