//! What an inspector found wrong, and how it says so.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::json::{Fault, pretty};
use crate::limits::MESSAGE_MAX_FINDINGS;

/// Exit codes of the inspectors (executor-contract.md 1, router.md 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The answer was given.
    Ok,
    /// The command line is invalid.
    Usage,
    /// A file or an artifact breaks a rule.
    Invalid,
    /// A file that was named can not be read.
    Unreadable,
    /// The answer could not be written.
    OutputFailed,
    /// The gates are good, and their answer is no (router only).
    NotDispatchable,
}

impl Exit {
    /// The number for the operating system.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Usage => 64,
            Self::Invalid => 65,
            Self::Unreadable => 66,
            Self::OutputFailed => 74,
            Self::NotDispatchable => 78,
        }
    }
}

/// Writes what an inspector answers, and tells its exit code.
pub fn deliver(
    program: &str,
    json: bool,
    answer: Result<String, Refusal>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let written = match answer {
        Ok(text) => stdout.write_all(text.as_bytes()).map(|()| Exit::Ok),
        Err(refusal) => refusal.report(program, json, stdout, stderr).map(|()| refusal.exit),
    };
    match written.and_then(|exit| stdout.flush().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(error) => {
            // Nobody may be left to hear it; the exit code tells as well.
            let _ = writeln!(stderr, "{program}: the answer could not be written: {error}");
            Exit::OutputFailed.code()
        }
    }
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name of the rule.
    pub id: Cow<'static, str>,
    /// Pointer (RFC 6901) to the place in the document that breaks it.
    pub at: String,
    /// What is wrong there.
    pub detail: String,
}

impl Finding {
    /// A finding of a rule at a place.
    pub fn new(id: impl Into<Cow<'static, str>>, at: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { id: id.into(), at: at.into(), detail: detail.into() }
    }

    /// A place that does not have the shape that a rule demands.
    pub fn shape(id: &'static str, fault: Fault) -> Self {
        Self::new(id, fault.at, fault.detail)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Decides the exit code.
    pub exit: Exit,
    /// The step that refused.
    pub stage: &'static str,
    /// One sentence for standard error.
    pub message: String,
    /// Everything that the step found; may be empty where the message tells all.
    pub findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Report<'a> {
    valid: bool,
    stage: &'a str,
    findings: &'a [Finding],
}

impl Refusal {
    /// A command line that is invalid.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::single(Exit::Usage, "command-line", "usage", message)
    }

    /// A refusal with one finding, whose detail is the message.
    pub fn single(exit: Exit, stage: &'static str, id: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { exit, stage, findings: vec![Finding::new(id, "", message.clone())], message }
    }

    /// Broken rules: the message, then the first of them.
    pub fn of_findings(stage: &'static str, message: &str, findings: Vec<Finding>) -> Self {
        let mut text = format!("{message}: ");
        for (index, finding) in findings.iter().take(MESSAGE_MAX_FINDINGS).enumerate() {
            if index > 0 {
                text.push_str("; ");
            }
            text.push_str(&format!("{} {} {}", finding.id, finding.at, finding.detail));
        }
        if let Some(more) = findings.len().checked_sub(MESSAGE_MAX_FINDINGS).filter(|&more| more > 0) {
            text.push_str(&format!("; and {more} more"));
        }
        Self { exit: Exit::Invalid, stage, message: text, findings }
    }

    /// Says it: one line on standard error, and with `json` the findings on standard output.
    ///
    /// # Errors
    /// Those of the two streams.
    pub fn report(
        &self,
        program: &str,
        json: bool,
        stdout: &mut dyn Write,
        stderr: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(stderr, "{program}: {}", one_line(&self.message))?;
        if json {
            let report = Report { valid: false, stage: self.stage, findings: &self.findings };
            writeln!(stdout, "{}", pretty(&report))?;
        }
        Ok(())
    }
}

/// The text with every control character escaped, so that it stays on its line and can not steer a terminal.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::new(), |mut line, character| {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
        line
    }))
}
