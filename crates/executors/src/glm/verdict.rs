//! Whether a stream is an answer, and what a failed process means: the decision orders of runners.md 2.6.

use gates::json::{Json, Object};

use super::GLM;
use super::stream::Stream;
use super::usage::Usage;
use crate::common::exit::{Exit, Failure, Phase};

/// Words on standard error that mean a limit.
const LIMIT_WORDS: &[&str] = &["rate limit", "rate_limit", "rate-limit", "too many requests"];
/// The service's codes for a limit.
const LIMIT_CODES: &[&str] = &["1302", "1305"];

/// An answer and the identity that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) is_attested: bool,
}

/// Reads the answer of a process that ended well.
///
/// # Errors
/// 70 in the phase `extract`, by the first condition that holds.
pub(super) fn answer(stream: &Stream, is_evaluation: bool) -> Result<Answer, Failure> {
    let failure = |reason| Err(Failure::extract(reason));
    if !stream.is_valid {
        return failure("invalid_stream");
    }
    if stream.init_models.is_empty() {
        return failure("missing_init");
    }
    let is_pin = |model: &String| model == GLM.model;
    let mut others = stream.assistant_models.iter().flatten().chain(&stream.result_models);
    let is_other = !is_evaluation && others.any(|model| !is_pin(model));
    if !stream.init_models.iter().all(|model| model.as_ref().is_some_and(is_pin)) || is_other {
        return failure("model_mismatch");
    }
    let Some(result) = &stream.result else { return failure("missing_result") };
    let subtype = result.get("subtype").and_then(Json::as_str);
    let is_error = result.get("is_error").and_then(Json::as_bool) == Some(true);
    if is_error || subtype.is_some_and(|subtype| subtype.starts_with("error")) {
        return failure("result_error");
    }
    let text = text(result, is_evaluation).filter(|_| subtype == Some("success"));
    let Some(text) = text else { return failure("invalid_stream") };
    if text.trim().is_empty() {
        return failure("empty_result");
    }
    let usage = Usage::read(result);
    let is_attested = is_attested(stream, &usage);
    if is_evaluation && !is_attested {
        return failure("strict_identity_evaluation_void");
    }
    if usage.is_contradicted() {
        return failure("model_mismatch");
    }
    Ok(Answer { text, usage, is_attested })
}

fn text(result: &Object, is_evaluation: bool) -> Option<String> {
    let mut members = ["structured_output", "result"].iter().filter_map(|key| result.get(*key));
    let structured = members.find(|value| is_evaluation && value.as_object().is_some());
    match structured {
        Some(value) => serde_json::to_string(value).ok(),
        None => result.get("result").and_then(Json::as_str).map(str::to_owned),
    }
}

fn is_attested(stream: &Stream, usage: &Usage) -> bool {
    let is_pin = |model: &Option<String>| model.as_deref() == Some(GLM.model);
    stream.init_models.iter().all(is_pin)
        && !stream.assistant_models.is_empty()
        && stream.assistant_models.iter().all(is_pin)
        && stream.effective_model().is_some_and(|(model, _)| model == GLM.model)
        && usage.is_attested()
}

/// What a process means that did not end well, and when a quota comes back. Events decide, never the text of the model.
pub(super) fn process_failure(stream: &Stream, stderr: &[u8]) -> (Failure, Option<u64>) {
    let dispatch = |exit, reason| Failure::new(exit, Phase::Dispatch, reason);
    if stream.is_unauthorized {
        return (dispatch(Exit::Unavailable, "authentication_failed"), None);
    }
    match (stream.is_limited, stream.limit_ends_at) {
        (true, Some(end)) => (dispatch(Exit::Temporary, "quota_exhausted"), Some(end)),
        (true, None) => (dispatch(Exit::Temporary, "rate_limited"), None),
        (false, _) if speaks_of_a_limit(stderr) => (dispatch(Exit::Temporary, "rate_limited"), None),
        (false, _) => (dispatch(Exit::Failed, "process_exit"), None),
    }
}

fn speaks_of_a_limit(stderr: &[u8]) -> bool {
    let said = String::from_utf8_lossy(stderr).to_lowercase();
    let mut numbers = said.split(|character: char| !character.is_ascii_alphanumeric());
    LIMIT_WORDS.iter().any(|words| said.contains(words)) || numbers.any(|word| LIMIT_CODES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::speaks_of_a_limit;

    #[test]
    fn a_limit_on_standard_error() {
        for words in ["Rate limit reached", "429 TOO MANY REQUESTS", "code=1302", "{\"code\":\"1305\"}"] {
            assert!(speaks_of_a_limit(words.as_bytes()), "{words}");
        }
        for words in ["", "a limit", "13025", "x1302", "too many files"] {
            assert!(!speaks_of_a_limit(words.as_bytes()), "{words}");
        }
    }
}
