//! The offline worker: surveys a workspace without any model and answers in Markdown.
//!
//! It is a real worker, a child process with a brief on its standard input and the worker protocol
//! (CLI.md, "The worker protocol") on its standard output, so that a turn can be tried from end to
//! end with nothing installed. It reads the workspace only: no file is written, no link is
//! followed, and nothing that the workspace names is run. The same workspace gives the same
//! answer; the session id alone differs from run to run.

mod build;
mod census;
mod content;
mod git;
mod language;
pub mod limits;
mod pace;
pub mod protocol;
mod report;
mod repository;
mod text;
mod tree;
mod walk;

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

use thiserror::Error;

use crate::git::Git;
use crate::limits::BRIEF_MAX_BYTES;
use crate::pace::Pace;
use crate::protocol::Writer;
use crate::report::Survey;
use crate::tree::Tree;

/// Exit code: the answer is complete.
pub const EXIT_DONE: u8 = 0;

/// Exit code: there is no answer, because of a fault told in `result`, or because nobody listens
/// any more.
pub const EXIT_FAILED: u8 = 1;

/// What keeps a survey from being made. Each becomes a `result` with status `error`.
#[derive(Debug, Error)]
enum Fault {
    #[error("The brief can not be read from standard input: {0}.")]
    BriefUnreadable(#[source] io::Error),
    #[error("The workspace can not be opened: {0}.")]
    WorkspaceUnreadable(#[source] io::Error),
    /// The output is gone: there is nobody to tell.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl Fault {
    fn code(&self) -> &'static str {
        match self {
            Self::BriefUnreadable(_) => "brief_unreadable",
            Self::WorkspaceUnreadable(_) => "workspace_unreadable",
            Self::Output(_) => "output_unwritable",
        }
    }
}

/// Runs one conversation: reads the brief, surveys the workspace, answers on `out` in the worker
/// protocol, and returns the exit code of the process ([`EXIT_DONE`] or [`EXIT_FAILED`]).
///
/// A workspace or a brief that can not be read is told in the last message. An `out` that was
/// closed by its reader ends the survey without a word.
///
/// # Errors
/// `out` can not be written for another reason, or the system gives no random bytes.
pub fn run(workspace: &Path, brief: &mut dyn Read, out: &mut dyn Write) -> io::Result<u8> {
    match converse(workspace, brief, out) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(EXIT_FAILED),
        other => other,
    }
}

fn converse(workspace: &Path, brief: &mut dyn Read, out: &mut dyn Write) -> io::Result<u8> {
    let mut writer = Writer::open(out, &session_id()?)?;
    match answer(workspace, brief, &mut writer) {
        Ok(()) => {
            writer.finish()?;
            Ok(EXIT_DONE)
        }
        Err(Fault::Output(error)) => Err(error),
        Err(fault) => {
            writer.fail(fault.code(), fault.to_string())?;
            Ok(EXIT_FAILED)
        }
    }
}

fn answer(workspace: &Path, brief: &mut dyn Read, writer: &mut Writer<&mut dyn Write>) -> Result<(), Fault> {
    let asked = first_line(brief).map_err(Fault::BriefUnreadable)?;
    let mut tree = Tree::open(workspace).map_err(Fault::WorkspaceUnreadable)?;
    let real = workspace.canonicalize().map_err(Fault::WorkspaceUnreadable)?;

    let mut pace = Pace::default();
    if pace.is_due(Instant::now(), 0) {
        writer.progress("Listing the files of the workspace")?;
    }
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let git = Git::find(&search_path, workspace);
    let (repository, listing) = repository::inspect(workspace, git.as_ref());
    let listing = listing.unwrap_or_else(|| walk::walk(&mut tree));
    let total = text::number(listing.paths.len() as u64);
    let census = census::take(&mut tree, &listing.paths, |done| {
        if pace.is_due(Instant::now(), done) {
            writer.progress(format!("Read {} of {total} files", text::number(done)))?;
        }
        Ok(())
    })?;
    let build = build::inspect(&mut tree, &listing.paths);
    let survey = Survey {
        name: real.file_name().unwrap_or(OsStr::new("/")),
        asked,
        repository: &repository,
        listing: &listing,
        census: &census,
        build: &build,
    };
    for section in survey.sections() {
        writer.answer(section)?;
    }
    Ok(())
}

/// The first line of the brief that has any text, made visible.
fn first_line(brief: &mut dyn Read) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    brief.take(BRIEF_MAX_BYTES).read_to_end(&mut bytes)?;
    let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    Ok(lines.find(|line| !line.is_empty()).map(text::visible))
}

/// A fresh random id in the form of a UUID, version 4.
fn session_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    fill_with_random(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut id = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        id.push_str(&format!("{byte:02x}"));
    }
    Ok(id)
}

#[cfg(target_os = "linux")]
fn fill_with_random(bytes: &mut [u8; 16]) -> io::Result<()> {
    // The kernel never gives less than asked for when at most 256 bytes are asked for.
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn fill_with_random(bytes: &mut [u8; 16]) -> io::Result<()> {
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_fresh_and_well_formed() {
        let id = session_id().unwrap();
        assert_ne!(id, session_id().unwrap());
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert!(id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()));
        assert_eq!(id.as_bytes()[14], b'4');
    }

    #[test]
    fn the_first_line_with_text_is_what_was_asked() {
        let first = |text: &[u8]| first_line(&mut &text[..]).unwrap();
        assert_eq!(first(b"\n  \r\n  Fix \x1bit \r\nmore"), Some(r"Fix \u{1b}it".to_owned()));
        assert_eq!(first(b" \n"), None);
        assert_eq!(first(b""), None);
    }
}
