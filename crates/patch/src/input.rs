//! The two inputs of a check, judged for what they are (patch-verifier.md 4.1, 4.2).

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use record::Sha256Digest;

use crate::findings::Findings;
use crate::limits::COMPARED_AT_ONCE_BYTES;
use crate::policy::Limits;
use crate::receipt::{Decision, DecisionResult, GitControl};
use crate::rule::Rule;

/// The patch file, read once.
#[derive(Debug)]
pub(crate) struct PatchFile {
    /// Absolute path; the directory is physical, the name as given.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
    /// Its bytes; absent when it must not or need not be read.
    pub bytes: Option<Vec<u8>>,
}

impl PatchFile {
    /// The physical directory of the argument and its own name; `None` when there is no such file.
    pub(crate) fn resolve(argument: &Path) -> Option<PathBuf> {
        argument.metadata().ok()?;
        let name = argument.file_name()?;
        let parent =
            argument.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(parent.canonicalize().ok()?.join(name))
    }

    /// Reads and judges it. A file over the limit is refused by its size and not read.
    ///
    /// # Errors
    /// It is a regular file and can not be read.
    pub(crate) fn read(
        path: PathBuf,
        limits: &Limits,
        findings: &mut Findings,
        decisions: &mut Vec<Decision>,
    ) -> io::Result<Self> {
        let facts = path.symlink_metadata()?;
        if facts.is_symlink() {
            findings.add(Rule::PatchIsSymlink);
            decisions.push(decision("patch_file_not_a_symlink", false));
            return Ok(Self { path, size: 0, bytes: None });
        }
        if !facts.is_file() {
            findings.add(Rule::PatchNotARegularFile);
            decisions.push(decision("patch_file_regular", false));
            return Ok(Self { path, size: 0, bytes: None });
        }
        let (facts, bytes) = read_bounded(&path, limits.max_patch_bytes)?;
        let size = bytes.as_ref().map_or(facts.len(), |bytes| bytes.len() as u64);
        decisions.push(decision("patch_file_regular", true));
        decisions.push(decision("patch_file_not_a_symlink", true));
        let mut judge = |name: &'static str, refused: bool, rule: Rule| {
            decisions.push(decision(name, !refused));
            if refused {
                findings.add(rule);
            }
        };
        judge("patch_file_private", facts.mode() & 0o022 != 0, Rule::PatchFileGroupOrWorldWritable);
        let caller = rustix::process::geteuid().as_raw();
        judge("patch_file_owned_by_caller", facts.uid() != caller, Rule::PatchFileNotOwnedByCaller);
        match &bytes {
            Some(bytes) => {
                judge("patch_file_bounded", bytes.is_empty(), Rule::PatchFileEmpty);
                let holds = |byte: u8| memchr::memchr(byte, bytes).is_some();
                judge("patch_file_text_only", holds(0), Rule::PatchContainsNulBytes);
                judge("patch_file_no_carriage_returns", holds(b'\r'), Rule::PatchContainsCarriageReturns);
            }
            None => {
                findings.add_detail(Rule::PatchTooLarge, format!("{size}>{}", limits.max_patch_bytes));
                decisions.push(decision("patch_file_bounded", false));
                for rule in ["patch_file_text_only", "patch_file_no_carriage_returns"] {
                    decisions.push(Decision { rule, result: DecisionResult::NotRun });
                }
            }
        }
        Ok(Self { path, size, bytes })
    }

    /// The digest of the bytes that were judged.
    pub(crate) fn sha256(&self) -> Option<String> {
        self.bytes.as_ref().map(|bytes| Sha256Digest::of(bytes).to_string())
    }

    /// The digest of the file as it is now; `None` when it was not read, or is no readable file any more. Bytes that are
    /// those that were read have the digest `before`.
    pub(crate) fn sha256_now(&self, before: Option<&str>) -> Option<String> {
        let read = self.bytes.as_ref()?;
        let mut file =
            open(&self.path).ok().filter(|file| file.metadata().is_ok_and(|facts| facts.is_file()))?;
        let bound = self.size.saturating_add(1);
        match before {
            Some(before) if holds((&mut file).take(bound), read).ok()? => Some(before.to_owned()),
            _ => {
                file.rewind().ok()?;
                Sha256Digest::of_reader(file.take(bound)).ok().map(|(digest, _)| digest.to_string())
            }
        }
    }
}

/// Whether a reader holds exactly these bytes.
fn holds(mut reader: impl io::Read, mut bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; COMPARED_AT_ONCE_BYTES];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(bytes.is_empty()),
            count => match bytes.strip_prefix(&buffer[..count]) {
                Some(rest) => bytes = rest,
                None => return Ok(false),
            },
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// The facts and bytes of a file; no bytes when there are more than `max`.
fn read_bounded(path: &Path, max: u64) -> io::Result<(Metadata, Option<Vec<u8>>)> {
    let file = open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::other("no regular file any more"));
    }
    if facts.len() > max {
        return Ok((facts, None));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or(0) + 1);
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= max;
    Ok((facts, fits.then_some(bytes)))
}

/// The worktree argument, before git is asked.
#[derive(Debug)]
pub(crate) struct Workdir {
    /// Physical path of a directory that is no link.
    pub path: Option<PathBuf>,
    /// What `.git` in it is.
    pub git_control: GitControl,
}

impl Workdir {
    /// The argument under its name without trailing slashes; `None` when there is nothing.
    pub(crate) fn resolve(argument: &Path) -> Option<PathBuf> {
        argument.metadata().ok()?;
        // Components drop trailing slashes and `.`; what is left of `.` alone is the empty path.
        let named: PathBuf = argument.components().collect();
        Some(if named.as_os_str().is_empty() { PathBuf::from(".") } else { named })
    }

    /// Judges what can be seen without git.
    pub(crate) fn judge(named: &Path, findings: &mut Findings, decisions: &mut Vec<Decision>) -> Self {
        let mut workdir = Self { path: None, git_control: GitControl::None };
        let mut refuse = |rule: Rule, name: &'static str| {
            findings.add(rule);
            decisions.push(decision(name, false));
        };
        let facts = named.symlink_metadata();
        if facts.as_ref().is_ok_and(Metadata::is_symlink) {
            refuse(Rule::WorkdirIsSymlink, "workdir_not_a_symlink");
            return workdir;
        }
        let physical = facts.ok().filter(Metadata::is_dir).and_then(|_| named.canonicalize().ok());
        let Some(physical) = physical else {
            refuse(Rule::WorkdirNotADirectory, "workdir_is_a_directory");
            return workdir;
        };
        let control = physical.join(".git").symlink_metadata();
        workdir.path = Some(physical);
        match control {
            Ok(facts) if facts.is_symlink() => {
                decisions.extend(PASSED);
                findings.add(Rule::GitControlIsASymlink);
                decisions.push(decision("git_control_not_a_symlink", false));
            }
            Ok(facts) if facts.is_dir() || facts.is_file() => {
                workdir.git_control = if facts.is_dir() { GitControl::Directory } else { GitControl::File };
                decisions.extend(PASSED);
                decisions.push(decision("git_control_not_a_symlink", true));
            }
            _ => {
                decisions.extend(PASSED);
                findings.add(Rule::WorkdirHasNoGitControl);
                decisions.push(decision("workdir_is_a_git_worktree", false));
            }
        }
        workdir
    }
}

const PASSED: [Decision; 2] = [
    Decision { rule: "workdir_not_a_symlink", result: DecisionResult::Pass },
    Decision { rule: "workdir_is_a_directory", result: DecisionResult::Pass },
];

/// A decision that passed or failed.
pub(crate) fn decision(rule: &'static str, holds: bool) -> Decision {
    Decision { rule, result: holds.into() }
}
