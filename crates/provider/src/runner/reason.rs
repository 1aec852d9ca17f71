//! The reasons of diagnostics in the words of outcomes (runners.md 2.6, 3.8, 4.4, 5.3, 6). One table for all families: no
//! reason means two things.

use record::words::ReasonCode;

/// The class of a reason; `provider-failed` for one that has no better.
pub(super) fn class(reason: &str) -> ReasonCode {
    match reason {
        "authentication_failed" | "authentication_unavailable" | "entitlement_unavailable" => {
            ReasonCode::AuthenticationRequired
        }
        "rate_limited" | "temporarily_unavailable" | "provider_overloaded" => ReasonCode::RateLimited,
        "quota_exhausted" | "quota_unavailable" => ReasonCode::QuotaExhausted,
        "provider_identity_mismatch" | "model_mismatch" | "strict_identity_evaluation_void" => {
            ReasonCode::ModelMismatch
        }
        "output_truncated" | "max_turns" | "missing_init" | "missing_result" | "cancelled" => {
            ReasonCode::IncompleteOutput
        }
        "empty_output" | "empty_result" => ReasonCode::EmptyOutput,
        "invalid_or_empty_response"
        | "invalid_stream"
        | "malformed_or_mismatched_output"
        | "output_invalid" => ReasonCode::InvalidOutput,
        "output_limit_exceeded" | "max_output_chars" | "output_too_large" => ReasonCode::OutputLimit,
        "sandbox_failure" | "sandbox_not_enforced" | "sandbox_profile_refused" => {
            ReasonCode::FenceUnavailable
        }
        "deadline_exceeded" | "evaluation_timeout" | "operational_timeout" | "timeout" => {
            ReasonCode::TimedOut
        }
        "caller_cancelled" => ReasonCode::Interrupted,
        _ => ReasonCode::ProviderFailed,
    }
}
