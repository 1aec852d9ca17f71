//! Which files decide what runs (STATE.md 3.1, 3.4): the entry, the interpreters that a script names, its package, and
//! the native program that a wrapper starts.

use std::env::consts::{ARCH, OS};

use record::AbsolutePath;
use record::plan::{IdentityFile, IdentityRole, StartMethod};

use crate::error::PlanError;
use crate::host::{Host, HostError};
use crate::limits::{INTERPRETER_LINE_MAX_BYTES, INTERPRETER_MAX_STEPS, PACKAGE_MAX_BYTES};

/// A program and how it is started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    pub(crate) identity: Vec<IdentityFile>,
    pub(crate) start: StartMethod,
}

/// A native program that a script package starts: `node_modules/<directory>/<one of the files>`, where Node looks for it.
#[derive(Debug)]
pub(crate) struct Native {
    /// The `name` in the script's `package.json`.
    pub(crate) package: &'static str,
    /// Candidates below a `node_modules` directory or the package itself, best first.
    pub(crate) below_modules: Vec<String>,
    pub(crate) below_package: Vec<String>,
}

/// Finds a program on `PATH` and everything that decides what it does.
pub(crate) fn find(host: &dyn Host, program: &str, native: Option<&Native>) -> Result<Executable, PlanError> {
    let entry = host.resolve(program).map_err(|error| match error {
        HostError::NotFound { .. } => PlanError::ExecutableNotFound { program: program.to_owned() },
        other => other.into(),
    })?;
    identify(host, &entry, native)
}

/// Everything that decides what an entry does.
pub(crate) fn identify(
    host: &dyn Host,
    entry: &AbsolutePath,
    native: Option<&Native>,
) -> Result<Executable, PlanError> {
    let mut identity = vec![host.identify(IdentityRole::Entry, entry)?];
    let mut script = entry.clone();
    for step in 0.. {
        let words = match first_line(host, &script)? {
            Start::Native => break,
            Start::Script(words) => words,
        };
        if step == INTERPRETER_MAX_STEPS {
            return Err(unusable(&script, "its interpreters name too many further interpreters"));
        }
        let mut interpreter = words.interpreter;
        identity.push(host.identify(IdentityRole::Interpreter, &interpreter)?);
        if let Some(program) = words.program {
            interpreter = match AbsolutePath::new(program.as_ref()) {
                Ok(path) => host.canonical(&path)?,
                Err(_) => host.resolve(&program)?,
            };
            identity.push(host.identify(IdentityRole::Interpreter, &interpreter)?);
        }
        script = host.canonical(&interpreter)?;
    }
    if identity.len() == 1 {
        return Ok(Executable { identity, start: StartMethod::Descriptor });
    }
    if let Some((directory, name)) = nearest_package(host, entry, &mut identity)?
        && let Some(native) = native.filter(|native| name.as_deref() == Some(native.package))
    {
        identity.push(native_program(host, entry, &directory, native)?);
    }
    Ok(Executable { identity, start: StartMethod::Path })
}

fn unusable(path: &AbsolutePath, why: &str) -> PlanError {
    PlanError::ExecutableUnusable { path: path.clone(), why: why.to_owned() }
}

/// What the first bytes of a program say.
enum Start {
    Native,
    Script(Words),
}

/// The words of an interpreter line.
struct Words {
    interpreter: AbsolutePath,
    /// What `env` is to look for.
    program: Option<String>,
}

fn first_line(host: &dyn Host, path: &AbsolutePath) -> Result<Start, PlanError> {
    let head = host.read(path, INTERPRETER_LINE_MAX_BYTES)?;
    let Some(line) = head.strip_prefix(b"#!") else {
        // Anything else the kernel refuses, and a shell that takes it for a script is not what was planned.
        let native = head.starts_with(b"\x7fELF") || (OS == "macos" && !head.is_empty());
        return if native {
            Ok(Start::Native)
        } else {
            Err(unusable(path, "it is neither a program nor a script with an interpreter"))
        };
    };
    let not_understood = || unusable(path, "its interpreter line is not understood");
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = std::str::from_utf8(line).map_err(|_| not_understood())?.split_ascii_whitespace();
    let interpreter: AbsolutePath =
        words.next().and_then(|word| word.parse().ok()).ok_or_else(not_understood)?;
    let program = if interpreter.as_path().file_name().is_some_and(|name| name == "env") {
        let is_assignment = |word: &str| word.contains('=') && !word.starts_with('-');
        let mut words =
            words.skip_while(|word| matches!(*word, "-S" | "--split-string") || is_assignment(word));
        let program = words.next().filter(|word| !word.starts_with('-')).ok_or_else(not_understood)?;
        Some(program.to_owned())
    } else {
        None
    };
    Ok(Start::Script(Words { interpreter, program }))
}

/// Adds the `package.json` nearest to a script and gives its directory and the package's name.
fn nearest_package(
    host: &dyn Host,
    entry: &AbsolutePath,
    identity: &mut Vec<IdentityFile>,
) -> Result<Option<(AbsolutePath, Option<String>)>, PlanError> {
    for directory in ancestors(entry) {
        let file = directory.join("package.json").expect("a plain name");
        match host.identify(IdentityRole::Package, &file) {
            Ok(found) => {
                identity.push(found);
                let bytes = host.read(&file, PACKAGE_MAX_BYTES)?;
                let value: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
                let name = value.and_then(|value| value.get("name")?.as_str().map(str::to_owned));
                return Ok(Some((directory, name)));
            }
            Err(HostError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn native_program(
    host: &dyn Host,
    entry: &AbsolutePath,
    package: &AbsolutePath,
    native: &Native,
) -> Result<IdentityFile, PlanError> {
    let in_modules = std::iter::once(package.clone()).chain(ancestors(package)).flat_map(|directory| {
        native.below_modules.iter().filter_map(move |file| below(&directory, &format!("node_modules/{file}")))
    });
    let in_package = native.below_package.iter().filter_map(|file| below(package, file));
    for candidate in in_modules.chain(in_package) {
        match host.identify(IdentityRole::Native, &candidate) {
            Ok(found) => return Ok(found),
            Err(HostError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(unusable(entry, "the native program that it starts was not found beside it"))
}

fn below(directory: &AbsolutePath, relative: &str) -> Option<AbsolutePath> {
    AbsolutePath::new(&directory.as_path().join(relative)).ok()
}

/// The directories above a path, nearest first.
fn ancestors(path: &AbsolutePath) -> impl Iterator<Item = AbsolutePath> {
    path.as_path().ancestors().skip(1).filter_map(|directory| AbsolutePath::new(directory).ok())
}

/// Node's words for this machine: platform, processor, and the target of its native programs.
pub(crate) fn node_platform() -> Option<(&'static str, &'static str, &'static str)> {
    match (OS, ARCH) {
        ("linux", "x86_64") => Some(("linux", "x64", "x86_64-unknown-linux-musl")),
        ("linux", "aarch64") => Some(("linux", "arm64", "aarch64-unknown-linux-musl")),
        ("macos", "x86_64") => Some(("darwin", "x64", "x86_64-apple-darwin")),
        ("macos", "aarch64") => Some(("darwin", "arm64", "aarch64-apple-darwin")),
        _ => None,
    }
}
