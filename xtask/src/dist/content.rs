//! What lies in the archive of a platform.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::real::workspace_directory;

use super::archive::{Entry, Source};
use crate::failure::Failure;

/// Files of the repository, and where they lie in the archive: the same paths. With the pages of `docs` no link of the
/// README is dead.
const FILES: [&str; 8] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "skills/agent-integration/SKILL.md",
];

/// Each shell with the place where it looks below a `share` directory.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/delegate"),
    ("zsh", "share/zsh/site-functions/_delegate"),
    ("fish", "share/fish/vendor_completions.d/delegate.fish"),
];

/// Everything, from a directory with the built programs.
pub(super) fn of_archive(programs: &Path) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    for name in program_names()? {
        let source = Source::File(programs.join(&name));
        entries.push(Entry { path: format!("bin/{name}"), is_executable: true, source });
    }
    let pages = names_in("docs")?.into_iter().map(|name| format!("docs/{name}"));
    for path in FILES.map(str::to_owned).into_iter().chain(pages) {
        let source = Source::File(workspace_directory().join(&path));
        entries.push(Entry { path, is_executable: false, source });
    }
    let delegate = programs.join("delegate");
    for (shell, path) in COMPLETIONS {
        let source = Source::Bytes(printed(&delegate, &["completions", shell])?);
        entries.push(Entry { path: path.to_owned(), is_executable: false, source });
    }
    entries.push(manual("delegate", printed(&delegate, &["man"])?));
    for command in command_names(&delegate)? {
        entries.push(manual(&format!("delegate-{command}"), printed(&delegate, &["man", &command])?));
    }
    Ok(entries)
}

/// A page of section 1.
fn manual(name: &str, page: Vec<u8>) -> Entry {
    Entry { path: format!("share/man/man1/{name}.1"), is_executable: false, source: Source::Bytes(page) }
}

/// The commands that the help of a `delegate` lists.
fn command_names(delegate: &Path) -> Result<Vec<String>, Failure> {
    let help = String::from_utf8_lossy(&printed(delegate, &["help"])?).into_owned();
    let (_, listed) = help
        .split_once("Commands:\n")
        .ok_or_else(|| Failure::Other(format!("{} lists no commands", delegate.display())))?;
    let lines = listed.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned));
    Ok(names.filter(|name| !name.is_empty()).collect())
}

/// The programs of the crate `cli`, by their sources.
fn program_names() -> Result<Vec<String>, Failure> {
    let names = names_in("crates/cli/src/bin")?.into_iter();
    Ok(names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).collect())
}

/// The names in a directory of the repository.
fn names_in(directory: &str) -> Result<Vec<String>, Failure> {
    let directory = workspace_directory().join(directory);
    let listed = fs::read_dir(&directory).map_err(Failure::file(&directory))?;
    Ok(listed.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// What a program prints.
fn printed(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Failure::Start { program: program.display().to_string(), source })?;
    if output.status.success() && !output.stdout.is_empty() {
        Ok(output.stdout)
    } else {
        let program = program.display();
        Err(Failure::Program(format!("{program} {}", arguments.join(" "))))
    }
}
