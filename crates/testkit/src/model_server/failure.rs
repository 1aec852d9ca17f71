//! HTTP errors in the words of each API. The types and codes are what CLIs tell errors apart by.

use serde_json::{Value, json};

use super::conversation::Api;
use super::script::{Failure, RESET_TIME};

/// The status, the body and the `Retry-After` of a failure.
pub(super) fn response(api: Api, failure: Failure) -> (u16, Value, Option<u64>) {
    let retry_after = match failure {
        Failure::RateLimited { retry_after_seconds, .. } => retry_after_seconds,
        _ => None,
    };
    match api {
        Api::Messages if failure == Failure::Overloaded => (529, anthropic(failure), None),
        Api::Messages => (status(failure), anthropic(failure), retry_after),
        Api::Chat | Api::Responses => (status(failure), openai(failure), retry_after),
    }
}

fn status(failure: Failure) -> u16 {
    match failure {
        Failure::ContextOverflow => 400,
        Failure::Unauthorized => 401,
        Failure::Forbidden => 403,
        Failure::ModelNotFound => 404,
        Failure::RateLimited { .. } | Failure::QuotaExhausted => 429,
        Failure::ServerError => 500,
        Failure::Overloaded => 503,
    }
}

/// The error object of both OpenAI APIs.
pub(super) fn openai(failure: Failure) -> Value {
    let (kind, code, message) = match failure {
        Failure::Unauthorized => {
            ("invalid_request_error", Some("invalid_api_key"), "The scripted key is not valid.")
        }
        Failure::Forbidden => {
            ("permission_error", Some("forbidden"), "The scripted key may not use this model.")
        }
        Failure::ModelNotFound => {
            ("invalid_request_error", Some("model_not_found"), "The scripted server has no such model.")
        }
        Failure::RateLimited { .. } => (
            "rate_limit_error",
            Some("rate_limit_exceeded"),
            "Scripted rate limit reached. Please try again later.",
        ),
        Failure::QuotaExhausted => (
            "insufficient_quota",
            Some("insufficient_quota"),
            "The scripted quota is used up; check plan and billing.",
        ),
        Failure::ContextOverflow => (
            "invalid_request_error",
            Some("context_length_exceeded"),
            "The scripted input is longer than the context window of this model.",
        ),
        Failure::ServerError => ("server_error", None, "The scripted server failed."),
        Failure::Overloaded => {
            ("server_error", Some("server_overloaded"), "The scripted server is overloaded.")
        }
    };
    json!({"error": {"message": told(failure, message), "type": kind, "param": null, "code": code}})
}

/// The error object of the Anthropic API; also its error event.
pub(super) fn anthropic(failure: Failure) -> Value {
    let (kind, message) = match failure {
        Failure::Unauthorized => ("authentication_error", "The scripted key is not valid."),
        Failure::Forbidden => ("permission_error", "The scripted key may not use this model."),
        Failure::ModelNotFound => ("not_found_error", "The scripted server has no such model."),
        Failure::RateLimited { .. } => ("rate_limit_error", "Scripted rate limit reached."),
        Failure::QuotaExhausted => {
            ("rate_limit_error", "You have reached your specified API usage limits (scripted).")
        }
        Failure::ContextOverflow => ("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"),
        Failure::ServerError => ("api_error", "The scripted server failed."),
        Failure::Overloaded => ("overloaded_error", "The scripted server is overloaded."),
    };
    let error = json!({"type": kind, "message": told(failure, message)});
    json!({"type": "error", "error": error, "request_id": "req_scripted"})
}

/// The message, with the time at which a limit ends where the failure tells it.
fn told(failure: Failure, message: &str) -> String {
    match failure {
        Failure::RateLimited { tells_reset: true, .. } => {
            format!("Scripted rate limit reached. Try again at {RESET_TIME}.")
        }
        _ => message.to_owned(),
    }
}
