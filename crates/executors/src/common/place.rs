//! The files that a run may leave, checked before anything is sent (runners.md 1.5).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::Access;

use super::exit::Refusal;
use super::limits::FILE_NAME_MAX_BYTES;
use super::line::RunLine;

/// What a family demands of its paths.
#[derive(Clone, Copy, Debug)]
pub struct PathRules {
    /// Whether missing parents of output and metrics are created; else they must exist.
    pub create_parents: bool,
    /// Whether an existing diagnostic that is a regular file is allowed; it is replaced, and a success removes it (GLM).
    pub diagnostic_may_exist: bool,
    /// Whether the outputs must lie outside the workspace.
    pub outputs_outside_workdir: bool,
    /// What is demanded of the debug directory beside its existence.
    pub debug: DebugRule,
    /// Whether `/`, the home directory and what holds it are refused as workspace (Kimi).
    pub workdir_is_narrow: bool,
    /// Reserved suffixes of the output beyond those of all runners (Kimi: `.stderr`).
    pub reserved: &'static [&'static str],
}

/// What is demanded of a debug directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugRule {
    /// It exists and is no symbolic link.
    Exists,
    /// And lies outside the workspace.
    OutsideWorkdir,
    /// And may be used by its owner alone.
    PrivateOutsideWorkdir,
}

/// One file that a run may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The physical parent directory.
    pub directory: PathBuf,
    /// Name in it.
    pub name: OsString,
}

/// Every path of a run. No two destinations are the same file.
#[derive(Clone, Debug)]
pub struct Places {
    /// The answer.
    pub output: Destination,
    /// The metrics.
    pub metrics: Destination,
    /// `<output>.error.json`
    pub diagnostic: Destination,
    /// `<output>.commit.json`; only an evaluation writes it.
    pub commit: Destination,
    /// `<output><suffix>` of the family's reserved suffixes, in their order.
    pub reserved: Vec<Destination>,
    /// The physical workspace.
    pub workdir: PathBuf,
    /// The debug directory.
    pub debug: Option<PathBuf>,
    diagnostic_may_exist: bool,
}

impl Destination {
    fn of(path: &Path, create_parents: bool, flag: &str) -> Result<Self, Refusal> {
        let refused =
            |why: &dyn std::fmt::Display| Refusal::usage(format!("{flag} {}: {why}", path.display()));
        let Some(Component::Normal(name)) = path.components().next_back() else {
            return Err(refused(&"names no file"));
        };
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(refused(&"names a directory"));
        }
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let directory = if create_parents { physical(parent) } else { parent.canonicalize() };
        let directory = directory.map_err(|error| refused(&format!("its directory: {error}")))?;
        if directory.exists() && !directory.is_dir() {
            return Err(refused(&"its parent is no directory"));
        }
        Ok(Self { directory, name: name.to_owned() })
    }

    /// The file with more behind its name.
    fn with_suffix(&self, suffix: &str) -> Self {
        let mut name = self.name.clone();
        name.push(suffix);
        Self { directory: self.directory.clone(), name }
    }

    /// The whole path.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// How the names of files begin that are staged beside it; six more bytes follow.
    pub(super) fn staged_prefix(&self) -> OsString {
        let mut prefix = OsString::from(".");
        prefix.push(&self.name);
        prefix.push(".");
        prefix
    }

    /// Refuses a name beside which none can be staged.
    fn demand_short(&self, what: &str) -> Result<(), Refusal> {
        let mut staged = self.staged_prefix();
        staged.push("XXXXXX");
        // A file system may have its own limit, and a path has one too.
        let is_refused = || {
            fs::symlink_metadata(self.directory.join(&staged))
                .is_err_and(|error| error.kind() == io::ErrorKind::InvalidFilename)
        };
        if staged.len() > FILE_NAME_MAX_BYTES || is_refused() {
            return Err(Refusal::usage(format!("{what} {}: its name is too long", self.path().display())));
        }
        Ok(())
    }

    /// Refuses whatever is there, a dangling symbolic link included.
    fn demand_absent(&self, what: &str, a_file_may_exist: bool) -> Result<(), Refusal> {
        let path = self.path();
        let refused =
            |why: &dyn std::fmt::Display| Refusal::usage(format!("{what} {}: {why}", path.display()));
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(refused(&error)),
            Ok(metadata) if metadata.is_symlink() => Err(refused(&"is a symbolic link")),
            Ok(metadata) if metadata.is_file() && a_file_may_exist => Ok(()),
            Ok(_) => Err(refused(&"exists")),
        }
    }
}

impl Places {
    /// Checks every path of a run.
    ///
    /// # Errors
    /// 64.
    pub fn check(line: &RunLine, rules: PathRules) -> Result<Self, Refusal> {
        let workdir = workdir(line.workdir.as_deref(), rules)?;
        let output = Destination::of(&line.output, rules.create_parents, "--output")?;
        let metrics = match &line.metrics {
            Some(path) => Destination::of(path, rules.create_parents, "--metrics")?,
            None => output.with_suffix(".metrics.json"),
        };
        let places = Self {
            metrics,
            diagnostic: output.with_suffix(".error.json"),
            commit: output.with_suffix(".commit.json"),
            reserved: rules.reserved.iter().map(|suffix| output.with_suffix(suffix)).collect(),
            output,
            debug: line.debug_dir.as_deref().map(|path| debug(path, &workdir, rules.debug)).transpose()?,
            workdir,
            diagnostic_may_exist: rules.diagnostic_may_exist,
        };
        places.demand_free(line, rules)?;
        Ok(places)
    }

    fn demand_free(&self, line: &RunLine, rules: PathRules) -> Result<(), Refusal> {
        let mut all = vec![
            ("--output", &self.output),
            ("--metrics", &self.metrics),
            ("the diagnostic", &self.diagnostic),
        ];
        if line.evaluation {
            all.push(("the commit marker", &self.commit));
        }
        all.extend(self.reserved.iter().map(|reserved| ("the reserved file", reserved)));
        for (index, (what, one)) in all.iter().enumerate() {
            if let Some((other_what, _)) = all[..index].iter().find(|(_, other)| other == one) {
                return Err(Refusal::usage(format!("{what} and {other_what} are the same file")));
            }
            if rules.outputs_outside_workdir && one.directory.starts_with(&self.workdir) {
                return Err(Refusal::usage(format!("{what} {} lies in the workspace", one.path().display())));
            }
            let may_exist = *one == &self.diagnostic && rules.diagnostic_may_exist;
            one.demand_short(what)?;
            one.demand_absent(what, may_exist)?;
        }
        Ok(())
    }

    /// Makes the parents that were missing, private to the user; only for families that create them.
    ///
    /// # Errors
    /// 64.
    pub fn create_parents(&self) -> Result<(), Refusal> {
        for directory in [&self.output.directory, &self.metrics.directory] {
            fs::create_dir_all(directory).map_err(|error| {
                Refusal::usage(format!("{} can not be made: {error}", directory.display()))
            })?;
        }
        Ok(())
    }

    /// Whether the diagnostic of an earlier run may lie there and is replaced.
    pub fn replaces_diagnostic(&self) -> bool {
        self.diagnostic_may_exist
    }
}

fn workdir(named: Option<&Path>, rules: PathRules) -> Result<PathBuf, Refusal> {
    let path = named.unwrap_or(Path::new("."));
    let refused =
        |why: &dyn std::fmt::Display| Refusal::usage(format!("--workdir {}: {why}", path.display()));
    let workdir = path.canonicalize().map_err(|error| refused(&error))?;
    if !workdir.is_dir() {
        return Err(refused(&"no directory"));
    }
    if rules.workdir_is_narrow {
        let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
        if workdir == Path::new("/") || home.is_some_and(|home| home.starts_with(&workdir)) {
            return Err(refused(&"too wide: what holds the home directory is no workspace"));
        }
    }
    Ok(workdir)
}

fn debug(path: &Path, workdir: &Path, rule: DebugRule) -> Result<PathBuf, Refusal> {
    let refused =
        |why: &dyn std::fmt::Display| Refusal::usage(format!("--debug-dir {}: {why}", path.display()));
    let metadata = fs::symlink_metadata(path).map_err(|error| refused(&error))?;
    if !metadata.is_dir() {
        return Err(refused(&"no directory"));
    }
    let real = path.canonicalize().map_err(|error| refused(&error))?;
    if rule != DebugRule::Exists && real.starts_with(workdir) {
        return Err(refused(&"lies in the workspace"));
    }
    if rule == DebugRule::PrivateOutsideWorkdir {
        let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
        if !is_ours || metadata.permissions().mode() & 0o077 != 0 {
            return Err(refused(&"must belong to you and be closed to others"));
        }
        rustix::fs::access(&real, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| refused(&error))?;
    }
    Ok(real)
}

/// A directory that need not exist: what exists of it resolved, the rest appended.
fn physical(directory: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = directory;
    loop {
        let here = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
        match here.canonicalize() {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match existing.components().next_back() {
                    // A dangling link would be followed once its target is made.
                    Some(Component::Normal(_)) if fs::symlink_metadata(here).is_ok() => return Err(error),
                    Some(Component::Normal(name)) => {
                        missing.push(name);
                        existing = existing.parent().unwrap_or(Path::new(""));
                    }
                    _ => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
}
