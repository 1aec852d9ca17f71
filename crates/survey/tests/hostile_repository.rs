//! A repository may name programs in many places. None of them runs.
//!
//! Each test first lets plain git run the program, so that it fails when the trap is no trap.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use support::{Repository, answer_of, write};
use tempfile::TempDir;

/// A program that leaves a mark when it runs, and passes on what it is given.
struct Trap {
    folder: TempDir,
}

impl Trap {
    fn new() -> Self {
        Self::that("cat")
    }

    /// What it does once it has left its mark.
    fn that(ends: &str) -> Self {
        let trap = Self { folder: tempfile::tempdir().unwrap() };
        let script = format!("#!/bin/sh\n: > '{}'\n{ends}\n", trap.mark().display());
        fs::write(trap.program(), script).unwrap();
        fs::set_permissions(trap.program(), fs::Permissions::from_mode(0o755)).unwrap();
        trap
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn text(&self) -> String {
        self.program().to_str().unwrap().to_owned()
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("mark")
    }

    /// It works under plain git, and not under the survey.
    fn check(&self, repository: &Repository, plain_git: &[&str]) -> String {
        let before = support::snapshot(repository.path());
        let answer = answer_of(repository.path());
        assert!(!self.mark().exists(), "the survey ran it");
        assert_eq!(before, support::snapshot(repository.path()));
        repository.git(plain_git);
        assert!(self.mark().exists(), "git {plain_git:?} did not run it");
        answer
    }
}

/// A repository with one committed file, which then gets another time, so that only its content
/// can tell that it did not change.
fn repository_with_touched_file() -> Repository {
    let repository = Repository::new();
    write(repository.path(), "file.txt", "same\n");
    repository.commit("One");
    touch(&repository.path().join("file.txt"));
    repository
}

fn touch(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    file.set_modified(time).unwrap();
}

#[test]
fn filters_named_by_attributes_of_the_tree() {
    for kind in ["clean", "process"] {
        for attributes in ["* filter=trap\n", "[attr]odd filter=trap\n*.txt odd\n"] {
            let trap = Trap::new();
            let repository = repository_with_touched_file();
            write(repository.path(), ".gitattributes", attributes);
            repository.git(&["config", &format!("filter.trap.{kind}"), &trap.text()]);
            let answer = trap.check(&repository, &["status"]);
            assert!(answer.contains("Changes: 1 file untracked."), "{answer}");
        }
    }
}

#[test]
fn filters_named_by_attributes_beside_the_tree() {
    let trap = Trap::new();
    let repository = repository_with_touched_file();
    write(repository.path(), ".git/info/attributes", "* filter=trap\n");
    repository.git(&["config", "filter.trap.clean", &trap.text()]);
    let answer = trap.check(&repository, &["status"]);
    assert!(answer.contains("Changes: nothing to commit."), "{answer}");
}

#[test]
fn filters_named_by_an_attributes_file_of_the_settings() {
    let trap = Trap::new();
    let repository = repository_with_touched_file();
    write(repository.path(), ".git/mine", "* filter=trap\n");
    let mine = repository.path().join(".git/mine");
    repository.git(&["config", "core.attributesFile", mine.to_str().unwrap()]);
    repository.git(&["config", "filter.trap.clean", &trap.text()]);
    let answer = trap.check(&repository, &["status"]);
    assert!(answer.contains("Changes: nothing to commit."), "{answer}");
}

#[test]
fn filters_named_by_attributes_that_only_the_index_holds() {
    let trap = Trap::new();
    let repository = Repository::new();
    write(repository.path(), "file.txt", "same\n");
    write(repository.path(), ".gitattributes", "*.txt filter=trap\n");
    repository.commit("One");
    fs::remove_file(repository.path().join(".gitattributes")).unwrap();
    touch(&repository.path().join("file.txt"));
    repository.git(&["config", "filter.trap.clean", &trap.text()]);
    let answer = trap.check(&repository, &["status"]);
    assert!(answer.contains("Changes: 1 file changed and not staged."), "{answer}");
}

#[test]
fn filters_where_file_and_index_are_of_the_same_moment() {
    let trap = Trap::new();
    let repository = Repository::new();
    write(repository.path(), "file.txt", "same\n");
    write(repository.path(), ".gitattributes", "*.txt filter=trap\n");
    repository.commit("One");
    // As old as the index: git can not tell by time and compares content.
    touch(&repository.path().join("file.txt"));
    repository.git(&["add", "--renormalize", "."]);
    touch(&repository.path().join(".git/index"));
    repository.git(&["config", "filter.trap.clean", &trap.text()]);
    trap.check(&repository, &["status"]);
}

#[test]
fn the_file_system_monitor() {
    let trap = Trap::new();
    let repository = repository_with_touched_file();
    repository.git(&["config", "core.fsmonitor", &trap.text()]);
    trap.check(&repository, &["status"]);
}

#[test]
fn hooks() {
    let trap = Trap::new();
    let repository = repository_with_touched_file();
    let hooks = repository.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    symlink(trap.program(), hooks.join("post-index-change")).unwrap();
    trap.check(&repository, &["status"]);
}

#[test]
fn the_signature_check_of_the_log() {
    let trap = Trap::new();
    let repository = repository_with_touched_file();
    let commit = repository.git(&["cat-file", "commit", "HEAD"]);
    let (head, message) = commit.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
    let signed = repository.git_with_input(
        &["hash-object", "-t", "commit", "-w", "--stdin"],
        &format!("{head}\n{signature}\n\n{message}\n"),
    );
    repository.git(&["update-ref", "HEAD", &signed]);
    repository.git(&["config", "log.showSignature", "true"]);
    repository.git(&["config", "gpg.program", &trap.text()]);
    let answer = trap.check(&repository, &["log", "-1"]);
    assert!(answer.contains(" 2026-11-30 One"), "{answer}");
}

#[test]
fn text_conversion_and_external_diff() {
    for setting in ["diff.trap.textconv", "diff.trap.command", "diff.external"] {
        let trap = Trap::new();
        let repository = Repository::new();
        write(repository.path(), ".gitattributes", "* diff=trap\n");
        write(repository.path(), "file.txt", "one\n");
        repository.commit("One");
        write(repository.path(), "file.txt", "two\n");
        repository.git(&["config", setting, &trap.text()]);
        let answer = trap.check(&repository, &["diff"]);
        assert!(answer.contains("Changes: 1 file changed and not staged."), "{answer}");
    }
}

#[test]
fn the_remote_of_a_partial_clone() {
    let trap = Trap::that("exit 1");
    let repository = repository_with_touched_file();
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "."),
        ("remote.origin.uploadpack", &trap.text()),
    ] {
        repository.git(&["config", name, value]);
    }
    // The commit that the head names is nowhere: git would ask the remote for it.
    let missing = "1234567890123456789012345678901234567890";
    write(repository.path(), ".git/refs/heads/main", &format!("{missing}\n"));
    let answer = answer_of(repository.path());
    assert!(!trap.mark().exists(), "the survey ran it");
    assert!(answer.contains("## Git"), "{answer}");
    repository.git_fails(&["log"]);
    assert!(trap.mark().exists(), "git log did not run it");
}

#[test]
fn a_repository_inside_the_repository() {
    let trap = Trap::new();
    let repository = Repository::new();
    let inner = Repository::new();
    write(inner.path(), "file.txt", "same\n");
    inner.commit("Inner");
    let url = inner.path().to_str().unwrap();
    repository.git(&["-c", "protocol.file.allow=always", "clone", "-q", url, "module"]);
    repository.git(&["add", "module"]);
    repository.git(&["commit", "-q", "-m", "Outer"]);
    repository.git(&["-C", "module", "config", "filter.trap.clean", &trap.text()]);
    let module = repository.path().join("module");
    write(&module, ".git/info/attributes", "* filter=trap\n");
    touch(&module.join("file.txt"));
    let answer = trap.check(&repository, &["status"]);
    assert!(answer.contains("- 1 other repository inside, not entered."), "{answer}");
}

#[test]
fn a_bare_repository_posing_as_a_folder() {
    let trap = Trap::new();
    let repository = Repository::new();
    write(repository.path(), "file.txt", "same\n");
    repository.commit("One");
    repository.git(&["init", "-q", "--bare", "folder"]);
    let folder = repository.path().join("folder");
    write(
        &folder,
        "config",
        &format!(
            "[core]\nrepositoryFormatVersion = 0\nworktree = {}\nfsmonitor = {}\n",
            repository.path().display(),
            trap.text()
        ),
    );
    let answer = answer_of(&folder);
    assert!(!trap.mark().exists(), "the survey ran it");
    assert!(answer.contains("but git says"), "{answer}");
    assert!(answer.contains("Its files were listed without git."), "{answer}");
}

#[test]
fn a_working_tree_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    write(elsewhere.path(), "secret.rs", "// TODO secret\n");
    let repository = repository_with_touched_file();
    let path = elsewhere.path().to_str().unwrap();
    repository.git(&["config", "core.worktree", path]);
    let answer = answer_of(repository.path());
    assert!(!answer.contains("secret"), "{answer}");
    assert!(answer.contains("holds 1 file,"), "{answer}");
}

#[test]
fn a_tracked_path_behind_a_link() {
    let elsewhere = tempfile::tempdir().unwrap();
    write(elsewhere.path(), "file.rs", "// TODO secret\n");
    let repository = Repository::new();
    write(repository.path(), "folder/file.rs", "// plain\n");
    repository.commit("One");
    fs::remove_dir_all(repository.path().join("folder")).unwrap();
    symlink(elsewhere.path(), repository.path().join("folder")).unwrap();
    let answer = answer_of(repository.path());
    assert!(!answer.contains("secret"), "{answer}");
}
