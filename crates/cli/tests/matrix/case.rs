//! The cases: what is asked, what the model does, and what must come of it.

use testkit::real::Component::{self, Claude, Codex, Opencode, Pi};

/// One row of the matrix.
#[derive(Debug)]
pub(crate) struct Case {
    /// What happens, in words: the row's title.
    pub(crate) title: &'static str,
    /// What the model server is told to do.
    pub(crate) script: &'static str,
    pub(crate) permission: &'static str,
    pub(crate) budget: &'static str,
    /// The code of the outcome's reason.
    pub(crate) reason: &'static str,
    /// CLIs with another one.
    pub(crate) but: &'static [(Component, &'static str)],
    pub(crate) special: Special,
}

/// What is special about a case, beside its script and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Nothing,
    /// A second turn goes on with the first one's conversation.
    Continued,
    /// The model tries to make [`MADE`]; whether it may.
    Writes(bool),
    /// Model and effort are asked for.
    Options,
    /// A model is asked for, by the name that the server answers with or not.
    Model,
    /// The outcome may say when to come back.
    Limited,
    /// The answer has that many bytes.
    Long(u64),
}

/// The file that models try to make.
pub(crate) const MADE: &str = "made.txt";
/// Longer than any CLI retries; claude's number of retries is chosen by it.
const RETRIES_BUDGET: &str = "3m";
const LONG_ANSWER_BYTES: u64 = 50_000_000;

const PLAIN: Case = Case {
    title: "",
    script: "answer",
    permission: "read-only",
    budget: RETRIES_BUDGET,
    reason: "completed",
    but: &[],
    special: Special::Nothing,
};

/// Every case; the slowest first, so that the others run beside them.
pub(crate) static CASES: [Case; 21] = [
    Case { title: "HTTP 500 for ever", script: "500", reason: "provider-failed", ..PLAIN },
    Case { title: "every stream is cut", script: "cut", reason: "provider-failed", ..PLAIN },
    Case {
        title: "HTTP 429, the message tells a reset time",
        script: "429 after=none reset=told",
        reason: "rate-limited",
        special: Special::Limited,
        ..PLAIN
    },
    Case {
        title: "HTTP 429, with a `Retry-After` header",
        script: "429 after=1",
        reason: "rate-limited",
        special: Special::Limited,
        ..PLAIN
    },
    Case {
        title: "HTTP 429, no reset time",
        script: "429 after=none",
        reason: "rate-limited",
        special: Special::Limited,
        ..PLAIN
    },
    Case { title: "HTTP 500 twice, then an answer", script: "flaky times=2", ..PLAIN },
    Case {
        title: "no answer until the budget ends",
        script: "hang",
        budget: "25s",
        reason: "timed-out",
        ..PLAIN
    },
    Case { title: "a fresh turn", script: "answer \"hello from the model\"", ..PLAIN },
    Case { title: "a continued turn", special: Special::Continued, ..PLAIN },
    Case {
        title: "workspace-write: the file tool",
        script: "write PLACE content",
        permission: "workspace-write",
        special: Special::Writes(true),
        ..PLAIN
    },
    Case {
        title: "workspace-write: the shell",
        script: "shell \"echo content > made.txt\"",
        permission: "workspace-write",
        special: Special::Writes(true),
        ..PLAIN
    },
    Case {
        title: "read-only: a write by the file tool",
        script: "write PLACE content",
        special: Special::Writes(false),
        ..PLAIN
    },
    Case {
        title: "read-only: a write by the shell",
        script: "shell \"echo content > made.txt\"",
        special: Special::Writes(false),
        ..PLAIN
    },
    Case { title: "model and effort are asked for", special: Special::Options, ..PLAIN },
    Case { title: "HTTP 401", script: "401", reason: "authentication-required", ..PLAIN },
    Case {
        title: "the quota is used up",
        script: "quota",
        reason: "quota-exhausted",
        special: Special::Limited,
        ..PLAIN
    },
    Case { title: "the stream is no JSON", script: "malformed", reason: "provider-failed", ..PLAIN },
    Case { title: "an empty answer", script: "empty", reason: "empty-output", ..PLAIN },
    Case { title: "another model answers, none was asked for", script: "other-model", ..PLAIN },
    Case {
        title: "another model answers than the one asked for",
        script: "other-model",
        reason: "model-mismatch",
        // Neither of them tells which model answered.
        but: &[(Codex, "completed"), (Opencode, "completed")],
        special: Special::Model,
        ..PLAIN
    },
    Case {
        title: "an answer of 50 MB",
        script: "huge bytes=50000000",
        special: Special::Long(LONG_ANSWER_BYTES),
        ..PLAIN
    },
];

impl Case {
    /// Whether it needs so much time or memory that it is not run each time.
    pub(crate) fn is_heavy(&self) -> bool {
        matches!(self.special, Special::Long(_))
    }

    /// The reason that is demanded of a CLI.
    pub(crate) fn reason_of(&self, component: Component) -> &'static str {
        self.but.iter().find(|(other, _)| *other == component).map_or(self.reason, |(_, reason)| reason)
    }

    /// A word that is in the brief of this case and of no other.
    pub(crate) fn word(&self) -> String {
        let letters =
            self.title.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
        format!("<{}>", letters.collect::<String>())
    }
}

/// A model and an effort that the CLI of the stage knows, the parts of its request that tell them, and the model's name there.
pub(crate) struct Asked {
    pub(crate) model: &'static str,
    pub(crate) effort: &'static str,
    pub(crate) in_request: &'static str,
    pub(crate) model_in_request: &'static str,
}

/// What is asked of each CLI.
pub(crate) fn asked(component: Component) -> Asked {
    let (model, model_in_request, in_request) = match component {
        Codex => ("second-model", "second-model", r#""effort":"high""#),
        Claude => ("second-model", "second-model", r#""effort":"high""#),
        Opencode => ("scripted/second-model", "second-model", r#""reasoning_effort":"high""#),
        Pi => ("second-model", "second-model", r#""reasoning_effort":"high""#),
        Component::Node | Component::Pnpm | Component::Bun => unreachable!("no CLI"),
    };
    Asked { model, effort: "high", in_request, model_in_request }
}
