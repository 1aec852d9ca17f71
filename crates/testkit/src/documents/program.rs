//! A read-only inspector as its tests call it: in this process, with everything around it given.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use gates::json::{Json, parse};
use gates::source::Environment;

/// An inspector.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Its whole run: arguments, environment, standard output and error; answers the exit code.
    pub run: fn(&[OsString], &Environment<'_>, &mut dyn Write, &mut dyn Write) -> u8,
}

impl Program {
    /// Runs it with these variables and, where one is given, this installation.
    ///
    /// # Panics
    /// It writes what is no UTF-8.
    #[must_use]
    pub fn ask(self, arguments: &[&str], variables: &[(&str, &Path)], installed: Option<&Path>) -> Answer {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let variable = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, path)| path.as_os_str().to_owned())
        };
        let environment = Environment { variable: &variable, installed: installed.map(PathBuf::from) };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let code = (self.run)(&arguments, &environment, &mut stdout, &mut stderr);
        Answer::new(code, stdout, stderr)
    }
}

/// What a run of an inspector left behind.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// The exit code.
    pub code: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Answer {
    /// With what was written as text.
    ///
    /// # Panics
    /// It is no UTF-8.
    #[must_use]
    pub fn new(code: u8, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code, stdout: text(stdout), stderr: text(stderr) }
    }

    /// Standard output as JSON.
    ///
    /// # Panics
    /// It is none.
    #[must_use]
    pub fn json(&self) -> Json {
        parse(self.stdout.as_bytes()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The stage that failed and the ids of its findings, each once where equal ones stand together.
    ///
    /// # Panics
    /// This is no refusal of that program.
    #[must_use]
    pub fn refusal(&self, program: Program) -> (String, Vec<String>) {
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with(&format!("{}: ", program.name)), "{self:?}");
        let report = self.json();
        assert_eq!(report.get("valid"), Some(&Json::Bool(false)));
        let findings = report.get("findings").and_then(Json::as_array).expect("findings");
        let word =
            |value: &Json, key: &str| value.get(key).and_then(Json::as_str).expect("a text").to_owned();
        let mut ids: Vec<String> = findings.iter().map(|finding| word(finding, "id")).collect();
        ids.dedup();
        (word(&report, "stage"), ids)
    }
}
