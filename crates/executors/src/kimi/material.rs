//! What the vendor's program wrote, kept only where the user asked for it (runners.md 3.9), without tokens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

use record::Timestamp;
use regex::bytes::{Captures, Regex};

use super::home::{CONFIG, Home, TERMINAL};
use super::limits::{RECORD_MAX_BYTES, SESSION_RECORD_MAX_BYTES, SESSION_RECORD_MAX_DEPTH};
use crate::common::debug::DebugDirectory;
use crate::common::family::Family;
use crate::common::files::read_regular;

/// The vendor's record of a session.
const SESSION_RECORD: &str = "wire.jsonl";
const REDACTED: &[u8] = b"[redacted]";

/// Writes everything into a new directory, whose path it returns.
///
/// # Errors
/// Those of the file system.
pub(super) fn keep(
    debug: &Path,
    family: &Family,
    home: &Home,
    (events, stderr): (&[u8], &[u8]),
    secrets: &[String],
) -> io::Result<PathBuf> {
    let directory = DebugDirectory::create_named(debug, &name(family))?;
    let generated = |path: &Path| read_regular(path, RECORD_MAX_BYTES);
    for (name, bytes) in [
        ("events.jsonl", redacted(events, secrets)),
        ("stderr", redacted(stderr, secrets)),
        (SESSION_RECORD, redacted(&session_records(&home.kimi), secrets)),
        ("agent.md", generated(&home.agent)?),
        // The child could have written into these two.
        (CONFIG, redacted(&generated(&home.kimi.join(CONFIG)).unwrap_or_default(), secrets)),
        (TERMINAL, redacted(&generated(&home.kimi.join(TERMINAL)).unwrap_or_default(), secrets)),
    ] {
        directory.write(name, &bytes)?;
    }
    Ok(directory.path().to_path_buf())
}

/// `delegation-kimi-20260102T030405Z-<pid>`
fn name(family: &Family) -> String {
    let now = Timestamp::from_system_time(SystemTime::now()).map(|now| now.to_string()).unwrap_or_default();
    let stamp: String = now.chars().take_while(|character| *character != '.').collect();
    format!("{}-{}Z-{}", family.program, stamp.replace(['-', ':'], ""), std::process::id())
}

/// Every record of a session below the vendor's directory, one behind the other.
fn session_records(kimi: &Path) -> Vec<u8> {
    let mut found = Vec::new();
    let mut open = vec![(kimi.to_path_buf(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            // The child made these: a link may lead anywhere.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < SESSION_RECORD_MAX_DEPTH => {
                    open.push((entry.path(), depth + 1))
                }
                Ok(kind) if kind.is_file() && entry.file_name() == SESSION_RECORD => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    let mut bytes = Vec::new();
    for path in found {
        let left = SESSION_RECORD_MAX_BYTES.saturating_sub(bytes.len() as u64);
        bytes.extend(read_regular(&path, left).unwrap_or_default());
    }
    bytes
}

/// A text without the tokens that are known and without what looks like one.
fn redacted(bytes: &[u8], secrets: &[String]) -> Vec<u8> {
    static MEMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let names = "token|secret|password|api_?key|authorization|cookie";
        Regex::new(&format!(r#"(?i-u)((?:{names})\\*"[ \t]*:[ \t]*\\*")[^"\\]+"#)).ok()
    });
    static VALUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let keys = r"\b(?:sk|xai|gsk|ghp)[-_][a-z0-9_-]{16,}";
        let signed = r"\beyJ[a-z0-9_-]+\.[a-z0-9_.-]+";
        Regex::new(&format!(r#"(?i-u)(bearer[ \t]+)[^\s"\\]+|{keys}|{signed}"#)).ok()
    });
    let known =
        secrets.iter().filter_map(|secret| Regex::new(&format!("(?-u){}", regex::escape(secret))).ok());
    let mut text = bytes.to_vec();
    for pattern in known.collect::<Vec<_>>().iter().chain([&*MEMBERS, &*VALUES].into_iter().flatten()) {
        let kept = |found: &Captures<'_>| {
            let kept = found.get(1).map_or(&b""[..], |kept| kept.as_bytes());
            [kept, REDACTED].concat()
        };
        text = pattern.replace_all(&text, kept).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_is_kept() {
        let secrets = ["known-secret-value".to_owned()];
        for (text, expected) in [
            (r#"{"a":"known-secret-value"}"#, r#"{"a":"[redacted]"}"#),
            (r#"{"access_token": "abc","b":1}"#, r#"{"access_token": "[redacted]","b":1}"#),
            (r#"{"x":"{\"refreshToken\":\"abc\"}"}"#, r#"{"x":"{\"refreshToken\":\"[redacted]\"}"}"#),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
            ("key sk-0123456789abcdefg.", "key [redacted]."),
            ("eyJhbGciOi.eyJzdWIi.sig x", "[redacted] x"),
            ("tokens: 12, plain text", "tokens: 12, plain text"),
        ] {
            assert_eq!(String::from_utf8_lossy(&redacted(text.as_bytes(), &secrets)), expected);
        }
    }

    #[test]
    fn both_patterns_are_valid() {
        assert_ne!(redacted(br#""token":"x""#, &[]), br#""token":"x""#);
        assert_ne!(redacted(b"Bearer x", &[]), b"Bearer x");
    }
}
