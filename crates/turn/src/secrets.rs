//! Secret values for a turn, from a file that only its owner can read (STATE.md 8). Names are recorded, values never.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::AbsolutePath;
use record::failure::{FailureCode, Stage};
use rustix::fs::{Mode, OFlags};

use crate::error::TurnError;
use crate::limits::ENVIRONMENT_FILE_MAX_BYTES;

/// Names and values, sorted by name. Not printable: values are secret.
pub(crate) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// The names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// `NAME=VALUE` for the child.
    pub(crate) fn entries(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, value)| format!("{name}={value}"))
    }
}

fn invalid(message: impl Into<String>) -> TurnError {
    TurnError::new(FailureCode::InvalidRequest, Stage::ValidateRequest, message)
}

/// Where the file is, symbolic links of its directory resolved: outside the root and the workspace.
///
/// # Errors
/// `invalid_request`.
pub(crate) fn resolve(
    path: &Path,
    root: &AbsolutePath,
    workspace: &AbsolutePath,
) -> Result<AbsolutePath, TurnError> {
    let shown = path.display();
    if !path.is_absolute() {
        return Err(invalid(format!("the environment file {shown} must be an absolute path")));
    }
    let canonical = path
        .canonicalize()
        .map_err(|error| invalid(format!("the environment file {shown} can not be used: {error}")))?;
    let path = AbsolutePath::new(&canonical)
        .map_err(|error| invalid(format!("the environment file {shown}: {error}")))?;
    if root.contains(&path) || workspace.contains(&path) {
        return Err(invalid(format!(
            "the environment file {path} must lie outside the workspace and the state root"
        )));
    }
    Ok(path)
}

/// Reads the file. `allowed` are the names that the profile takes from it.
///
/// # Errors
/// `invalid_request` when it is no regular file of this user with mode 0600 or less, is too large, or has a line that is
/// neither a comment nor `NAME=VALUE` with an allowed name. No value is ever repeated.
pub(crate) fn read(path: &AbsolutePath, allowed: &[&str]) -> Result<Secrets, TurnError> {
    let refused = |why: &str| invalid(format!("the environment file {path} {why}"));
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path.as_path(), flags, Mode::empty())
        .map(File::from)
        .map_err(|error| refused(&format!("can not be opened: {error}")))?;
    let metadata = file.metadata().map_err(|error| refused(&format!("can not be read: {error}")))?;
    if !metadata.is_file() {
        return Err(refused("is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        return Err(refused("must belong to this user and be closed to others (chmod 600)"));
    }
    let mut text = String::new();
    file.take(ENVIRONMENT_FILE_MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| refused(&format!("can not be read: {error}")))?;
    if text.len() as u64 > ENVIRONMENT_FILE_MAX_BYTES {
        return Err(refused(&format!("is larger than {ENVIRONMENT_FILE_MAX_BYTES} bytes")));
    }
    parse(&text, allowed).map(Secrets).map_err(|why| refused(&why))
}

fn parse(text: &str, allowed: &[&str]) -> Result<Vec<(String, String)>, String> {
    let mut secrets: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(format!("line {number} is not NAME=VALUE"))?;
        if !allowed.contains(&name) {
            let takes = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
            return Err(format!(
                "line {number} sets a variable that this provider does not take from it (it takes {takes})"
            ));
        }
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(format!("line {number} has an empty value or one with control characters"));
        }
        if secrets.iter().any(|(known, _)| known == name) {
            return Err(format!("line {number} sets a variable again"));
        }
        secrets.push((name.to_owned(), value.to_owned()));
    }
    secrets.sort();
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let allowed = ["A_KEY", "B_KEY"];
        assert_eq!(
            parse("# keys\n\nB_KEY=x=\"y\"\nA_KEY= z\n", &allowed),
            Ok(vec![("A_KEY".to_owned(), " z".to_owned()), ("B_KEY".to_owned(), "x=\"y\"".to_owned())])
        );
        for wrong in [
            "A_KEY",
            "OTHER=secret-value",
            "A_KEY=1\nA_KEY=2",
            "A_KEY=",
            "A_KEY=a\tb",
            " A_KEY=1",
            "=secret-value",
        ] {
            let why = parse(wrong, &allowed).unwrap_err();
            assert!(!why.contains("secret-value"), "{why}");
        }
    }
}
