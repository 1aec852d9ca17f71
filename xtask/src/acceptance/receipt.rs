//! What was tried, and what was seen: words of closed lists, versions and times. Nothing of the host, the account, the models
//! or the answers is in it, so it can be shown to anybody.

use std::fmt;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::failure::Failure;

/// What came of a step, or of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was tried, and showed what it had to.
    Passed,
    /// It was tried, and did not.
    Failed,
    /// It could not be tried.
    Blocked,
    /// The provider has nothing of the kind.
    NotOffered,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Blocked => "BLOCKED",
            Self::NotOffered => "not-offered",
        }
    }
}

/// One step.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    /// A word or code of a closed list: what was missing or wrong.
    pub(super) reason: Option<String>,
    /// Of a turn: its outcome's reason, and what held it.
    pub(super) turn: Option<Value>,
    pub(super) seconds: u64,
}

/// Everything about one provider.
#[derive(Debug)]
pub(super) struct Receipt {
    pub(super) provider: String,
    pub(super) provider_version: Option<String>,
    pub(super) delegate_version: Option<String>,
    pub(super) at: String,
    pub(super) verdict: Verdict,
    pub(super) steps: Vec<Step>,
}

impl Receipt {
    /// The worst of the steps counts; without a step that passed nothing has.
    pub(super) fn verdict_of(steps: &[Step]) -> Verdict {
        let has = |verdict| steps.iter().any(|step| step.verdict == verdict);
        if has(Verdict::Failed) {
            Verdict::Failed
        } else if has(Verdict::Blocked) || !has(Verdict::Passed) {
            Verdict::Blocked
        } else {
            Verdict::Passed
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            json!({"step": step.name, "verdict": step.verdict.word(), "reason": step.reason, "turn": step.turn,
                   "seconds": step.seconds})
        });
        json!({
            "schema_version": 1,
            "provider": self.provider,
            "verdict": self.verdict.word(),
            "at": self.at,
            "delegate_version": self.delegate_version,
            "provider_version": self.provider_version,
            "system": std::env::consts::OS,
            "processor": std::env::consts::ARCH,
            "steps": steps.collect::<Vec<_>>(),
        })
    }

    /// Puts it beside the others.
    pub(super) fn write(&self, directory: &Path) -> Result<(), Failure> {
        let path = directory.join(format!("{}.json", self.provider.replace(':', "-")));
        fs::write(&path, format!("{:#}\n", self.as_json())).map_err(Failure::file(&path))
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:18} {}", self.provider, self.verdict.word())?;
        for step in &self.steps {
            let separator = if std::ptr::eq(step, &self.steps[0]) { ": " } else { ", " };
            write!(formatter, "{separator}{} {}", step.name, step.verdict.word())?;
            if let Some(reason) = &step.reason {
                write!(formatter, " ({reason})")?;
            }
        }
        Ok(())
    }
}
