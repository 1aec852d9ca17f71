//! What a refusal was about. A runner that refuses leaves one last line on standard error and no file (runners.md 1.2, 1.7); of the
//! exit codes one stands for several things, which the first words of the sentence tell apart.

use record::words::ReasonCode;

/// What the sentence of a refusal begins with when there is no key or login that can be used.
pub const LOGIN_OPENING: &str = "login: ";
/// What it begins with when the sandbox can not be had.
pub const SANDBOX_OPENING: &str = "sandbox: ";

/// Key, login, runtime or sandbox is not available.
const UNAVAILABLE: i32 = 69;
/// It did not work now.
const TEMPORARY: i32 = 75;
/// The caller gave up before the turn.
const CANCELLED: i32 = 130;

/// The class of a refusal; `provider-failed` for one that has no better: input (64) and gates (78).
pub(super) fn class(exit_code: Option<i32>, line: &str) -> ReasonCode {
    let sentence = line.split_once(": ").map_or("", |(_program, sentence)| sentence);
    match exit_code {
        Some(UNAVAILABLE) if sentence.starts_with(LOGIN_OPENING) => ReasonCode::AuthenticationRequired,
        Some(UNAVAILABLE) if sentence.starts_with(SANDBOX_OPENING) => ReasonCode::FenceUnavailable,
        Some(UNAVAILABLE) => ReasonCode::StartFailed,
        Some(TEMPORARY) => ReasonCode::RateLimited,
        Some(CANCELLED) => ReasonCode::Interrupted,
        _ => ReasonCode::ProviderFailed,
    }
}
