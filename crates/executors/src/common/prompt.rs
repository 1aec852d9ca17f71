//! The prompt: read once, so that what is hashed is what is sent (runners.md 1.8).

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use record::Sha256Digest;
use rustix::fs::OFlags;

use super::exit::Refusal;
use super::limits::{ARGUMENT_MAX_BYTES, PROMPT_MAX_BYTES};

/// A prompt as text, and its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Exactly the bytes of the file.
    pub text: String,
    /// Their digest.
    pub sha256: Sha256Digest,
}

impl Prompt {
    /// Reads a prompt file.
    ///
    /// # Errors
    /// 64: missing, no regular file, not readable, not UTF-8, longer than [`PROMPT_MAX_BYTES`].
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        let refused =
            |why: &dyn std::fmt::Display| Refusal::usage(format!("--prompt-file {}: {why}", path.display()));
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = file.map_err(|error| refused(&error))?;
        if !file.metadata().map_err(|error| refused(&error))?.is_file() {
            return Err(refused(&"no regular file"));
        }
        let mut bytes = Vec::new();
        file.take(PROMPT_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
        if bytes.len() as u64 > PROMPT_MAX_BYTES {
            return Err(refused(&format!("longer than {PROMPT_MAX_BYTES} bytes")));
        }
        String::from_utf8(bytes).map(Self::of).map_err(|_| refused(&"not UTF-8"))
    }

    /// The prompt of `--prompt`.
    ///
    /// # Errors
    /// 64: it is not UTF-8.
    pub fn of_argument(text: &OsStr) -> Result<Self, Refusal> {
        text.to_str()
            .map(|text| Self::of(text.to_owned()))
            .ok_or_else(|| Refusal::usage("--prompt is not UTF-8"))
    }

    fn of(text: String) -> Self {
        Self { sha256: Sha256Digest::of(text.as_bytes()), text }
    }

    /// Refuses an empty prompt (Kimi, Grok: runners.md 1.5).
    ///
    /// # Errors
    /// 64.
    pub fn demand_text(&self) -> Result<(), Refusal> {
        if self.text.is_empty() { Err(Refusal::usage("the prompt is empty")) } else { Ok(()) }
    }

    /// Refuses a prompt that does not fit into one argument behind `before` further bytes (runners.md 7, row 2).
    ///
    /// # Errors
    /// 64: it is too long, or holds a NUL byte.
    pub fn demand_argument(&self, before_bytes: usize) -> Result<(), Refusal> {
        if self.text.contains('\0') {
            return Err(Refusal::usage("the prompt holds a NUL byte, which no argument can"));
        }
        if before_bytes + self.text.len() + 1 > ARGUMENT_MAX_BYTES {
            return Err(Refusal::usage(format!(
                "the prompt does not fit into one argument ({ARGUMENT_MAX_BYTES} bytes)"
            )));
        }
        Ok(())
    }
}
