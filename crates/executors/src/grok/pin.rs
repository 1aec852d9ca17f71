//! `pin` (runners.md 4.6): archives one program of the vendor.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;

use super::archive::{self, DIGEST, PROGRAM};
use super::interface;
use super::knobs::Knobs;
use super::lane::Lane;
use super::limits::{PIN_WAIT_SECONDS, PROGRAM_MAX_BYTES};
use crate::common::exit::{Exit, Refusal};
use crate::common::files::{exists, read_regular, swap, write_new};
use crate::common::line;
use crate::common::lock::{Lock, LockError};
use crate::common::program::{Call, Done, Stop, ended};
use crate::common::surroundings::executable_file;

/// The words behind `pin`.
#[derive(Default)]
struct Line {
    from: Option<PathBuf>,
    force: bool,
}

pub(super) fn pin(call: &Call<'_>, words: &[OsString]) -> Result<Done, Refusal> {
    match parse(words)? {
        None => Ok(Done::Text(line::usage(call.family))),
        Some(line) => ended(archive_one(call, &line)),
    }
}

fn archive_one(call: &Call<'_>, line: &Line) -> Result<Done, Stop> {
    let failed = |why: &dyn std::fmt::Display| {
        Stop::from(Refusal::new(Exit::Failed, format!("grok is not pinned: {why}")))
    };
    let knobs = Knobs::of(call.surroundings)?;
    let source = choose(call, &knobs, line.from.as_deref())?;
    let bytes = read_regular(&source, PROGRAM_MAX_BYTES).map_err(|error| failed(&error))?;
    let digest = Sha256Digest::of(&bytes);
    let store = &knobs.store;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(store);
    made.map_err(|error| failed(&format!("{}: {error}", store.display())))?;
    let _lock = lock(store)?;
    let current = archive::current(store);
    if exists(&current) {
        match archive::verified(&current) {
            Ok((_, pinned)) if pinned == digest => {
                return Ok(Done::Text(format!("grok is already pinned, sha256 {digest}\n")));
            }
            _ if !line.force => {
                let why = "another grok is pinned, or a damaged one; --force replaces it";
                return Err(Refusal::usage(why).into());
            }
            _ => {}
        }
    }
    let staged = tempfile::Builder::new().prefix(".staged.").tempdir_in(store);
    let staged = staged.map_err(|error| failed(&error))?;
    let copy = staged.path().join(PROGRAM);
    write_new(&copy, &bytes, 0o500)
        .and_then(|()| {
            write_new(&staged.path().join(DIGEST), format!("{digest}  {PROGRAM}\n").as_bytes(), 0o400)
        })
        .map_err(|error| failed(&error))?;
    if let Err(why) = interface::examine(call, &copy, Lane::Builder)? {
        return Err(failed(&why));
    }
    swap(staged.path(), &current).map_err(|error| failed(&error))?;
    match archive::verified(&current) {
        Ok((_, pinned)) if pinned == digest => {
            Ok(Done::Text(format!("grok is pinned from {}, sha256 {digest}\n", source.display())))
        }
        Ok(_) => Err(failed(&"the archive holds another")),
        Err(why) => Err(failed(&why)),
    }
}

/// Accepts the words behind the command.
///
/// # Errors
/// 64.
pub(super) fn check(words: &[OsString]) -> Result<(), Refusal> {
    parse(words).map(drop)
}

fn parse(words: &[OsString]) -> Result<Option<Line>, Refusal> {
    let mut line = Line::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-h" | "--help") => return Ok(None),
            Some("--force") if !line.force => line.force = true,
            Some("--from") if line.from.is_none() => {
                let value = words.next().ok_or_else(|| Refusal::usage("--from needs a value"))?;
                line.from = Some(value.into());
            }
            _ => return Err(Refusal::usage(format!("unknown argument {}", word.to_string_lossy()))),
        }
    }
    Ok(Some(line))
}

/// The first program that a run could be made with.
fn choose(call: &Call<'_>, knobs: &Knobs, from: Option<&Path>) -> Result<PathBuf, Stop> {
    let candidates = match from {
        Some(path) => vec![
            executable_file(path)
                .ok_or_else(|| Refusal::usage(format!("{} is no executable file", path.display())))?,
        ],
        None => candidates(call, knobs),
    };
    let mut lacking = None;
    for candidate in candidates {
        match interface::examine(call, &candidate, Lane::Builder)? {
            Ok(()) => return Ok(candidate),
            Err(why) => lacking = Some(why),
        }
    }
    let why = lacking.unwrap_or_else(|| "no grok is to be found; name one with --from".to_owned());
    Err(Refusal::unavailable(why).into())
}

fn candidates(call: &Call<'_>, knobs: &Knobs) -> Vec<PathBuf> {
    let downloads = fs::read_dir(knobs.ambient.join("downloads")).into_iter().flatten().flatten();
    let mut downloads: Vec<PathBuf> = downloads.filter_map(|entry| executable_file(&entry.path())).collect();
    downloads.sort();
    let named = knobs.program.as_deref().and_then(executable_file);
    named
        .into_iter()
        .chain(call.surroundings.find_program(PROGRAM))
        .chain(downloads.into_iter().rev())
        .chain(archive::legacy(&knobs.store))
        .collect()
}

fn lock(store: &Path) -> Result<Lock, Refusal> {
    let path = store.join(".lock");
    Lock::acquire(&path, Duration::from_secs(PIN_WAIT_SECONDS)).map_err(|error| match error {
        LockError::Busy => Refusal::new(Exit::Temporary, "another pin is at work"),
        LockError::NotAFile => Refusal::unavailable(format!("{} is no lock file", path.display())),
        LockError::Io(error) => Refusal::new(Exit::Failed, format!("{}: {error}", path.display())),
    })
}
