//! Keys of providers: from a variable or a private file that is parsed and never executed (runners.md 1.4).

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::exit::Refusal;
use super::limits::KEY_FILE_MAX_BYTES;
use super::surroundings::Surroundings;

/// Where the key of a family may lie.
#[derive(Clone, Copy, Debug)]
pub struct KeySource {
    /// Variable that holds it; it wins.
    pub variable: &'static str,
    /// Variable that names another file.
    pub file_variable: &'static str,
    /// Name of the file below `<root>/config`.
    pub file_name: &'static str,
}

/// A key. It shows itself to nobody but [`Key::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(..)")
    }
}

/// Finds the key.
///
/// # Errors
/// 69 with the reason: there is none, or its file is open to others. 64: it holds a character that no key holds.
pub fn find(source: KeySource, surroundings: &Surroundings) -> Result<Key, Refusal> {
    let key = match surroundings.text(source.variable)? {
        Some(key) => key,
        None => {
            let named = surroundings.variable(source.file_variable).map(PathBuf::from);
            of_file(source.variable, &named.unwrap_or_else(|| surroundings.config(source.file_name)))?
        }
    };
    if key.contains(['\r', '\n', '"', '\'', '\\']) || key.contains(char::is_control) {
        return Err(Refusal::usage(format!(
            "{} holds a quote, a backslash or a control character",
            source.variable
        )));
    }
    Ok(Key(key))
}

fn of_file(variable: &str, path: &Path) -> Result<String, Refusal> {
    let shown = path.display();
    let absent = || Refusal::login(format!("{variable} is unset and {shown} holds no key"));
    let unusable = |why: &dyn fmt::Display| Refusal::login(format!("{shown} can not be used: {why}"));
    // Not blocking: opening a named pipe would wait for a writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(absent());
        }
        Err(error) => return Err(unusable(&error)),
    };
    let metadata = file.metadata().map_err(|error| unusable(&error))?;
    if !metadata.is_file() {
        return Err(unusable(&"it is no regular file"));
    }
    let mode = format!("{:o}", metadata.permissions().mode() & 0o7777);
    if mode.len() != 3 || !mode.ends_with("00") {
        return Err(unusable(&format!("mode {mode} opens it to others; chmod 600 {shown}")));
    }
    let mut bytes = Vec::new();
    file.take(KEY_FILE_MAX_BYTES).read_to_end(&mut bytes).map_err(|error| unusable(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    match text.split('\n').find_map(|line| value(line, variable)) {
        None => Err(Refusal::login(format!("{shown} holds no {variable} line"))),
        Some("") => Err(absent()),
        Some(key) => Ok(key.to_owned()),
    }
}

/// The value of a line `[export ]NAME=value`.
fn value<'a>(line: &'a str, variable: &str) -> Option<&'a str> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let line = line.trim_start_matches(BLANKS);
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with(BLANKS) => rest.trim_start_matches(BLANKS),
        _ => line,
    };
    let value = line.strip_prefix(variable)?.strip_prefix('=')?;
    let value = value.strip_suffix('\r').unwrap_or(value).trim_matches(BLANKS);
    let unquoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    Some(unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn a_line_gives_its_value() {
        for (line, expected) in [
            ("KEY=abc", Some("abc")),
            ("  export\tKEY= abc \r", Some("abc")),
            ("KEY=\"a b\"", Some("a b")),
            ("KEY='abc'", Some("abc")),
            ("KEY=\"abc'", Some("\"abc'")),
            ("KEY=\"", Some("\"")),
            ("KEY=", Some("")),
            ("exportKEY=abc", None),
            ("#KEY=abc", None),
            ("KEY =abc", None),
            ("OTHERKEY=abc", None),
        ] {
            assert_eq!(value(line, "KEY"), expected, "{line}");
        }
    }
}
