//! The closed set of exit codes (runners.md 1.2), and why a runner stops.

use std::fmt;

use provider::{LOGIN_OPENING, SANDBOX_OPENING};

/// How a runner ends. 130 is Kimi's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: what was asked for is done.
    Done,
    /// 64: the input is invalid.
    Usage,
    /// 69: runtime, login, key or entitlement is not available.
    Unavailable,
    /// 70: dispatch, sandbox, identity, extraction or publication failed.
    Failed,
    /// 75: it did not work now; the only code after which trying again makes sense.
    Temporary,
    /// 78: the gates do not allow it.
    Refused,
    /// 130: the caller cancelled.
    Cancelled,
}

impl Exit {
    /// The number for the operating system.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Usage => 64,
            Self::Unavailable => 69,
            Self::Failed => 70,
            Self::Temporary => 75,
            Self::Refused => 78,
            Self::Cancelled => 130,
        }
    }
}

/// Why nothing was dispatched. It leaves one line on standard error and no file (runners.md 1.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Decides the exit code.
    pub exit: Exit,
    /// One sentence, without any content of prompt, key or answer.
    pub message: String,
}

impl Refusal {
    /// A refusal with a code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// 64.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// 69.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Exit::Unavailable, message)
    }

    /// 69: there is no key or login that can be used.
    pub fn login(message: impl fmt::Display) -> Self {
        Self::unavailable(format!("{LOGIN_OPENING}{message}"))
    }

    /// 69: the sandbox can not be had.
    pub fn sandbox(message: impl fmt::Display) -> Self {
        Self::unavailable(format!("{SANDBOX_OPENING}{message}"))
    }

    /// 78.
    pub fn gate(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, message)
    }
}

/// Where a run failed (runners.md 1.7). Closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Between the preparation and the provider's last byte.
    Dispatch,
    /// Reading the answer.
    Extract,
    /// The provider is not who was asked for.
    Identity,
    /// A refreshed login could not be kept.
    OauthSync,
    /// The answer is none, or too long (Kimi's word).
    Output,
    /// Publishing.
    Publish,
    /// The sandbox did not hold.
    Sandbox,
}

impl Phase {
    /// The word in diagnostics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Extract => "extract",
            Self::Identity => "identity",
            Self::OauthSync => "oauth-sync",
            Self::Output => "output",
            Self::Publish => "publish",
            Self::Sandbox => "sandbox",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// Why a run that was prepared did not publish. It leaves a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Decides the exit code.
    pub exit: Exit,
    /// Where.
    pub phase: Phase,
    /// A lower-snake slug.
    pub reason: &'static str,
}

impl Failure {
    /// A failure with all three.
    pub const fn new(exit: Exit, phase: Phase, reason: &'static str) -> Self {
        Self { exit, phase, reason }
    }

    /// 70 in the phase `extract`.
    pub const fn extract(reason: &'static str) -> Self {
        Self::new(Exit::Failed, Phase::Extract, reason)
    }

    /// 70 in the phase `publish`.
    pub const fn publish(reason: &'static str) -> Self {
        Self::new(Exit::Failed, Phase::Publish, reason)
    }
}
