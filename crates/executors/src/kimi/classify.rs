//! Why the vendor's program failed (runners.md 3.8), by what it and its service say: standard error and error events alone.
//!
//! A status number counts only where it is named as one, or stands behind a code of the vendor: any number may stand in a text.
//! Paths say nothing, since the user chose them.

use super::phrases::{holds_word, status_codes, without_paths};
use crate::common::exit::{Exit, Failure, Phase};

type Class = (&'static [&'static str], fn(u16) -> bool, Exit, Phase, &'static str);

/// In this order; the first that matches.
const CLASSES: &[Class] = &[
    (
        &[
            "usage limit",
            "usage-limit",
            "usage_limit",
            "quota exceeded",
            "quota is exceeded",
            "quota exhausted",
            "quota used",
            "quota has been used",
            "quota is used",
            "exceeded your quota",
            "exceeded your current quota",
            "used up your quota",
            "insufficient_quota",
            "exceeded_current_quota",
            "current quota",
        ],
        |_| false,
        Exit::Unavailable,
        Phase::Dispatch,
        "quota_unavailable",
    ),
    (
        // EPERM is what macOS answers, EACCES what Landlock does; the latter by its number or name, since services speak of
        // permissions too.
        &["sandbox", "operation not permitted", "deny", "denied by", "eacces", "os error 13", "errno 13"],
        |_| false,
        Exit::Failed,
        Phase::Sandbox,
        "sandbox_failure",
    ),
    (
        &[
            "subscription",
            "model access",
            "access to the model",
            "access to this model",
            "model is not available",
            "not entitled",
        ],
        |_| false,
        Exit::Unavailable,
        Phase::Dispatch,
        "entitlement_unavailable",
    ),
    (
        &[
            "login",
            "log in",
            "logged out",
            "unauthorized",
            "invalid authentication",
            "invalid_authentication",
            "provider.auth_error",
            "auth.login_required",
            "auth.token_missing",
            "auth.token_unauthorized",
            "no credential",
        ],
        |_| false,
        Exit::Unavailable,
        Phase::Dispatch,
        "authentication_unavailable",
    ),
    (
        &["membership verification", "verify membership", "verify your membership"],
        |status| status == 402,
        Exit::Temporary,
        Phase::Dispatch,
        "membership_verification_temporary",
    ),
    (
        &[
            "overloaded",
            "too many requests",
            "too many concurrent requests",
            "engine_overloaded",
            "provider.rate_limit",
        ],
        |_| false,
        Exit::Temporary,
        Phase::Dispatch,
        "provider_overloaded",
    ),
    (
        &[
            "bad gateway",
            "service unavailable",
            "gateway timeout",
            "gateway time-out",
            "internal server error",
            "econnreset",
            "econnrefused",
            "epipe",
            "enotfound",
            "eai_again",
            "etimedout",
            "socket hang up",
            "connection reset",
            "connection refused",
            "connection closed",
            "connection error",
            "provider.connection_error",
            "fetch failed",
        ],
        |status| (500..=599).contains(&status),
        Exit::Temporary,
        Phase::Dispatch,
        "provider_temporary_failure",
    ),
    (
        &["context canceled", "context cancelled", "deadline exceeded", "context deadline"],
        |_| false,
        Exit::Temporary,
        Phase::Dispatch,
        "provider_timeout",
    ),
];

/// The failure that the words stand for.
pub(super) fn classify(stderr: &str, error_events: &str) -> Failure {
    let words = format!("{stderr}\n{error_events}").to_lowercase();
    let statuses = status_codes(&words);
    let words = without_paths(&words);
    for (phrases, status, exit, phase, reason) in CLASSES {
        if phrases.iter().any(|phrase| holds_word(&words, phrase))
            || statuses.iter().any(|code| status(*code))
        {
            return Failure::new(*exit, *phase, reason);
        }
    }
    Failure::new(Exit::Failed, Phase::Dispatch, "dispatch_unclassified")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_words() {
        for (words, exit, reason) in [
            ("You have reached your usage limit", 69, "quota_unavailable"),
            ("Error: quota exceeded, subscription needed", 69, "quota_unavailable"),
            ("sandbox: deny file-read-data", 70, "sandbox_failure"),
            ("open: Operation not permitted", 70, "sandbox_failure"),
            ("Error: EACCES: permission denied, open '/x'", 70, "sandbox_failure"),
            ("an active subscription is needed; please login", 69, "entitlement_unavailable"),
            ("401 Unauthorized", 69, "authentication_unavailable"),
            ("Invalid Authentication", 69, "authentication_unavailable"),
            ("membership verification failed", 75, "membership_verification_temporary"),
            (r#"{"statusCode": 402}"#, 75, "membership_verification_temporary"),
            ("the engine is overloaded", 75, "provider_overloaded"),
            ("Too many concurrent requests", 75, "provider_overloaded"),
            ("statusCode: 503", 75, "provider_temporary_failure"),
            (r#"{"status_code":529}"#, 75, "provider_temporary_failure"),
            ("502 Bad Gateway", 75, "provider_temporary_failure"),
            ("read ECONNRESET", 75, "provider_temporary_failure"),
            // What Kimi Code 2.1 writes.
            (
                "error: failed to run prompt: provider.auth_error: 401 Invalid Authentication",
                69,
                "authentication_unavailable",
            ),
            (
                "error: provider managed:kimi-code has no credential configured",
                69,
                "authentication_unavailable",
            ),
            (
                "provider.auth_error: 403 You have reached your usage limit for this period",
                69,
                "quota_unavailable",
            ),
            ("provider.api_error: 429 Your account has exceeded its current quota", 69, "quota_unavailable"),
            ("provider.api_error: 402 membership needed", 75, "membership_verification_temporary"),
            ("provider.rate_limit: 429 try later", 75, "provider_overloaded"),
            (
                "provider.api_error: 503 x\nSee log: /tmp/sandbox/login/kimi-code.log",
                75,
                "provider_temporary_failure",
            ),
            ("provider.connection_error: it broke", 75, "provider_temporary_failure"),
            ("rpc: context canceled", 75, "provider_timeout"),
            ("context deadline exceeded", 75, "provider_timeout"),
            ("at line 503 of 402 lines, 429 and 401", 70, "dispatch_unclassified"),
            ("the denylist of blogins", 70, "dispatch_unclassified"),
            ("", 70, "dispatch_unclassified"),
        ] {
            for failure in [classify(words, ""), classify("", words)] {
                assert_eq!((i32::from(failure.exit.code()), failure.reason), (exit, reason), "{words}");
            }
        }
    }
}
