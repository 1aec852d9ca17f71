//! The environment of a child: an allow-list, or nothing (runners.md 2.3, 7 row 5).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use process::COOKIE_NAME;

use super::exit::Refusal;
use super::surroundings::Surroundings;

/// Names of further variables that a child may see, separated by commas.
pub const PASS_VARIABLE: &str = "DELEGATION_PASS_ENVIRONMENT";

const ALLOWED: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TERM",
    "TZ",
    "TMPDIR",
];

/// The exact variables of a child.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ChildEnvironment(BTreeMap<OsString, OsString>);

impl std::fmt::Debug for ChildEnvironment {
    /// The names alone: a value may be a key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl ChildEnvironment {
    /// Nothing but the mark by which a task finds what its runner left behind.
    pub fn nothing() -> Self {
        let mut environment = Self::default();
        if let Some(cookie) = std::env::var_os(COOKIE_NAME) {
            environment.set(COOKIE_NAME, cookie);
        }
        environment
    }

    /// What a program needs to know of its user, and what the user adds in [`PASS_VARIABLE`]. Never a key.
    ///
    /// # Errors
    /// 64: [`PASS_VARIABLE`] names what is no variable, or what has the name of a key.
    pub fn of_user(surroundings: &Surroundings) -> Result<Self, Refusal> {
        let mut environment = Self::nothing();
        let added = surroundings.text(PASS_VARIABLE)?.unwrap_or_default();
        let added: Vec<&str> = added.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        for name in &added {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name || provider::looks_like_credential(name) {
                return Err(Refusal::usage(format!("{PASS_VARIABLE}: {name} is not passed on")));
            }
        }
        for name in ALLOWED.iter().chain(&added) {
            if let Some(value) = surroundings.variable(name) {
                environment.set(name, value);
            }
        }
        Ok(environment)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.0.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    /// Takes a variable away.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(OsStr::new(name));
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// `NAME=value`, sorted by name.
    pub(super) fn entries(&self) -> Vec<OsString> {
        let entry = |(name, value): (&OsString, &OsString)| {
            let mut entry = name.clone();
            entry.push("=");
            entry.push(value);
            entry
        };
        self.0.iter().map(entry).collect()
    }
}
