//! How the workspace says it is built and tested: read from its build files, never by running one.

mod scripts;
mod tools;

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::limits::{BUILD_FILE_MAX_BYTES, BUILD_FILES_SHOWN_MAX, COMMANDS_KEPT_MAX};
use crate::text::visible;
use crate::tree::{Entry, Tree};

/// What a command is for, in the order in which a newcomer asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    Build,
    Test,
    Check,
    Run,
    Other,
}

/// One command line, and the file that speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) purpose: Purpose,
    /// Made visible.
    pub(crate) line: String,
    pub(crate) source: PathBuf,
}

/// A file that describes continuous integration, and the name it gives itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Workflow {
    pub(crate) path: PathBuf,
    /// Made visible.
    pub(crate) name: Option<String>,
}

/// All that the build files say.
#[derive(Debug, Default)]
pub(crate) struct Build {
    /// What kinds of project this is, such as "Rust workspace".
    pub(crate) kinds: Vec<String>,
    /// By purpose; within one purpose in the order found.
    pub(crate) commands: Vec<Command>,
    /// The first [`BUILD_FILES_SHOWN_MAX`] of them.
    pub(crate) workflows: Vec<Workflow>,
    pub(crate) workflows_total: u64,
    /// Build files in folders of the workspace that belong to no project found at its top.
    pub(crate) nested: Vec<PathBuf>,
}

/// The files of a workspace, for those who look for build files among them.
pub(crate) struct Files<'a> {
    tree: &'a mut Tree,
    /// In order.
    paths: &'a [PathBuf],
}

impl Files<'_> {
    fn has(&self, path: &str) -> bool {
        self.paths.binary_search_by(|listed| listed.as_path().cmp(Path::new(path))).is_ok()
    }

    fn count_named(&self, name: &str) -> u64 {
        let is_named = |path: &&PathBuf| path.file_name() == Some(OsStr::new(name));
        self.paths.iter().filter(is_named).count() as u64
    }

    /// The start of a listed regular file as text; what is no UTF-8 in it is replaced.
    fn read(&mut self, path: &Path) -> Option<String> {
        self.paths.binary_search_by(|listed| listed.as_path().cmp(path)).ok()?;
        let Entry::File(file, _) = self.tree.entry(path) else {
            return None;
        };
        let mut bytes = Vec::new();
        file.take(BUILD_FILE_MAX_BYTES as u64).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Build {
    fn add(&mut self, purpose: Purpose, line: &str, source: &str) {
        let line = visible(line.as_bytes());
        if self.commands.len() < COMMANDS_KEPT_MAX && self.commands.iter().all(|command| command.line != line)
        {
            self.commands.push(Command { purpose, line, source: PathBuf::from(source) });
        }
    }

    fn add_kind(&mut self, kind: impl Into<String>) {
        let kind = kind.into();
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }
}

/// Looks for build files among the listed paths.
pub(crate) fn inspect(tree: &mut Tree, paths: &[PathBuf]) -> Build {
    let mut files = Files { tree, paths };
    let mut build = Build::default();
    let mut covered = Vec::new();
    tools::cargo(&mut files, &mut build, &mut covered);
    tools::node(&mut files, &mut build, &mut covered);
    tools::python(&mut files, &mut build);
    tools::java(&files, &mut build, &mut covered);
    tools::plain(&files, &mut build);
    tools::runners(&mut files, &mut build);
    build.commands.sort_by_key(|command| command.purpose);
    build.nested = paths
        .iter()
        .filter(|path| path.components().count() > 1)
        .filter(|path| {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            tools::is_manifest(name) && !covered.contains(&name)
        })
        .cloned()
        .collect();
    for path in paths.iter().filter(|path| tools::is_workflow(path)) {
        build.workflows_total += 1;
        if build.workflows.len() == BUILD_FILES_SHOWN_MAX {
            continue;
        }
        let text = files.read(path).unwrap_or_default();
        let name = scripts::workflow_name(&text).map(|name| visible(name.as_bytes()));
        build.workflows.push(Workflow { path: path.clone(), name });
    }
    build
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn inspect_files(files: &[(&str, &str)]) -> Build {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            paths.push(PathBuf::from(name));
        }
        paths.sort();
        inspect(&mut Tree::open(folder.path()).unwrap(), &paths)
    }

    fn lines(build: &Build) -> Vec<&str> {
        build.commands.iter().map(|command| command.line.as_str()).collect()
    }

    #[test]
    fn a_rust_workspace() {
        let build = inspect_files(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n[workspace.lints.clippy]\nall = 1\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
            (".cargo/config.toml", "[alias]\nxtask = \"run -p xtask --\"\n[build]\njobs = 1\n"),
        ]);
        assert_eq!(build.kinds, ["Rust workspace (2 packages)"]);
        assert_eq!(
            lines(&build),
            [
                "cargo build --workspace",
                "cargo test --workspace",
                "cargo clippy --workspace --all-targets",
                "cargo xtask",
            ]
        );
        assert!(build.nested.is_empty());
    }

    #[test]
    fn a_node_package_among_others() {
        let build = inspect_files(&[
            (
                "package.json",
                r#"{"scripts":{"test":"x","pretest":"y","dev":"z","lint\u001b":"l","build":"b"}}"#,
            ),
            ("pnpm-lock.yaml", ""),
            ("go.mod", "module a\n"),
            ("tools/Cargo.toml", "[package]\n"),
        ]);
        assert_eq!(build.kinds, ["Node.js package", "Go module"]);
        assert_eq!(
            lines(&build),
            [
                "pnpm run build",
                "go build ./...",
                "pnpm run test",
                "go test ./...",
                r"pnpm run lint\u{1b}",
                "pnpm run dev",
            ]
        );
        assert_eq!(build.nested, [PathBuf::from("tools/Cargo.toml")]);
    }

    #[test]
    fn makefiles_justfiles_and_workflows() {
        let build = inspect_files(&[
            ("Makefile", "CC := gcc\nall: main.o\n\tcc\nmain.o: main.c\ntest check: all\n.PHONY: all\n"),
            ("justfile", "set shell := ['sh']\nbuild target='x': dep\n  echo\n_private:\n  x\n"),
            (".github/workflows/ci.yml", "on: push\nname: 'CI and more' # x\n"),
            (".ci/run", "#!/bin/sh\n"),
        ]);
        assert_eq!(lines(&build), ["make all", "just build", "make test", "./.ci/run", "make check"]);
        let workflow = Workflow {
            path: PathBuf::from(".github/workflows/ci.yml"),
            name: Some("CI and more".to_owned()),
        };
        assert_eq!(build.workflows, [workflow]);
        assert!(build.kinds.is_empty());
    }

    #[test]
    fn a_python_project() {
        let build = inspect_files(&[
            ("pyproject.toml", "[build-system]\n[tool.pytest.ini_options]\n[tool.ruff]\nline-length = 1\n"),
            ("uv.lock", ""),
            ("tox.ini", ""),
        ]);
        assert_eq!(build.kinds, ["Python project"]);
        assert_eq!(lines(&build), ["uv build", "uv run pytest", "tox", "uv run ruff check"]);
    }

    #[test]
    fn a_broken_manifest_does_no_harm() {
        let build = inspect_files(&[("package.json", "{\"scripts\": [}"), ("Cargo.toml", "\u{0}[[[")]);
        assert_eq!(build.kinds, ["Rust package", "Node.js package"]);
        assert_eq!(lines(&build), ["cargo build", "cargo test"]);
    }
}
