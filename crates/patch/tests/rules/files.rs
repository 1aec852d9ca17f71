//! The patch file, the worktree, and isolation.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use patch::{CheckError, Request, Surroundings, Verdict};

use crate::support::{
    GOOD, Repository, assert_accepted, assert_fires, assert_silent, details, embedded, limited, rules,
};

pub(crate) const TESTED: &[&str] = &[
    "patch_is_symlink",
    "patch_not_a_regular_file",
    "patch_file_group_or_world_writable",
    "patch_file_not_owned_by_caller",
    "patch_file_empty",
    "patch_too_large",
    "patch_contains_nul_bytes",
    "patch_contains_carriage_returns",
    "workdir_is_symlink",
    "workdir_not_a_directory",
    "git_control_is_a_symlink",
    "workdir_has_no_git_control",
    "workdir_is_not_the_worktree_toplevel",
    "workdir_is_not_a_git_worktree",
    "git_isolation_failed",
];

#[test]
fn patch_is_symlink() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    let link = repository.root().join("link.diff");
    symlink(&request.patch, &link).unwrap();
    let receipt = repository.judge(&Request { patch: link.clone(), ..request.clone() }, &embedded());
    assert_eq!(rules(&receipt), ["patch_is_symlink"]);
    assert!(receipt.patch.path.ends_with("/link.diff"));
    assert_eq!(receipt.patch.sha256, None);
    assert_silent(&repository.judge(&request, &embedded()), "patch_is_symlink");
    fs::remove_file(&request.patch).unwrap();
    let dangling = patch::check(&Request { patch: link, ..request }, &embedded(), &repository.surroundings());
    assert!(matches!(dangling, Err(CheckError::NoPatch)));
}

#[test]
fn patch_not_a_regular_file() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    let fifo = repository.root().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for other in [fifo, repository.root().join("home")] {
        let receipt = repository.judge(&Request { patch: other, ..request.clone() }, &embedded());
        assert_eq!(rules(&receipt), ["patch_not_a_regular_file"]);
    }
}

#[test]
fn patch_file_group_or_world_writable() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    for (mode, refused) in [(0o620, true), (0o602, true), (0o644, false), (0o755, false)] {
        fs::set_permissions(&request.patch, fs::Permissions::from_mode(mode)).unwrap();
        let receipt = repository.judge(&request, &embedded());
        assert_eq!(
            rules(&receipt).contains(&"patch_file_group_or_world_writable".to_owned()),
            refused,
            "{mode:o}"
        );
    }
}

#[test]
fn patch_file_not_owned_by_caller() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    assert_silent(&repository.judge(&request, &embedded()), "patch_file_not_owned_by_caller");
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away; as another user a file of root's serves.
        let foreign = Request { patch: "/etc/hostname".into(), ..request };
        assert_fires(&repository.judge(&foreign, &embedded()), "patch_file_not_owned_by_caller");
        return;
    }
    std::os::unix::fs::chown(&request.patch, Some(65_534), None).unwrap();
    assert_fires(&repository.judge(&request, &embedded()), "patch_file_not_owned_by_caller");
}

#[test]
fn patch_file_empty() {
    let repository = Repository::new();
    assert_eq!(rules(&repository.check("")), ["patch_file_empty"]);
    assert_silent(&repository.check("\n"), "patch_file_empty");
}

#[test]
fn patch_too_large() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    let size = GOOD.len() as u64;
    assert_accepted(&repository.judge(&request, &limited("max_patch_bytes", size)));
    let receipt = repository.judge(&request, &limited("max_patch_bytes", size - 1));
    let expected = format!("{size}>{}", size - 1);
    assert_eq!(details(&receipt, "patch_too_large"), [Some(expected.as_str())]);
    assert_eq!(receipt.patch.sha256, None);
}

/// All that this thread has read so far.
fn read_bytes() -> u64 {
    let counted = fs::read_to_string("/proc/thread-self/io").unwrap();
    counted.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[test]
fn one_gibibyte_is_refused_by_its_size() {
    let repository = Repository::new();
    let request = repository.request("");
    fs::OpenOptions::new().write(true).open(&request.patch).unwrap().set_len(1 << 30).unwrap();
    let before = read_bytes();
    let receipt = repository.judge(&request, &embedded());
    let read = read_bytes() - before;
    assert!(read < 1 << 20, "{read} bytes were read");
    assert_eq!(rules(&receipt), ["patch_too_large"]);
    assert_eq!((receipt.patch.bytes, receipt.patch.sha256), (1 << 30, None));
    let not_run = |rule: &str| {
        receipt.policy_decisions.iter().any(|d| d.rule == rule && d.result == patch::DecisionResult::NotRun)
    };
    assert!(not_run("patch_file_text_only") && not_run("patch_file_no_carriage_returns"));
}

#[test]
fn patch_contains_nul_bytes() {
    let repository = Repository::new();
    assert_eq!(rules(&repository.check(GOOD.replace("TWO", "T\0"))), ["patch_contains_nul_bytes"]);
    assert_silent(&repository.check(GOOD.replace("TWO", "T\u{1}")), "patch_contains_nul_bytes");
}

#[test]
fn patch_contains_carriage_returns() {
    let repository = Repository::new();
    assert_eq!(rules(&repository.check(GOOD.replace('\n', "\r\n"))), ["patch_contains_carriage_returns"]);
    assert_fires(&repository.check(GOOD.replace("TWO", "T\rWO")), "patch_contains_carriage_returns");
    assert_silent(&repository.check(GOOD), "patch_contains_carriage_returns");
}

#[test]
fn workdir_is_symlink() {
    let repository = Repository::new();
    let link = repository.root().join("link");
    symlink(repository.work(), &link).unwrap();
    for named in [link.clone(), link.join("")] {
        let receipt = repository.judge(&Request { workdir: named, ..repository.request(GOOD) }, &embedded());
        assert_eq!(rules(&receipt), ["workdir_is_symlink"]);
        assert_eq!(receipt.workdir.path, None);
    }
    let through = repository.root().join("home/../work/");
    assert_accepted(
        &repository.judge(&Request { workdir: through, ..repository.request(GOOD) }, &embedded()),
    );
}

#[test]
fn workdir_not_a_directory() {
    let repository = Repository::new();
    let request = Request { workdir: repository.path("README"), ..repository.request(GOOD) };
    assert_eq!(rules(&repository.judge(&request, &embedded())), ["workdir_not_a_directory"]);
    assert_silent(&repository.check(GOOD), "workdir_not_a_directory");
}

#[test]
fn git_control_is_a_symlink() {
    let repository = Repository::new();
    fs::rename(repository.path(".git"), repository.root().join("elsewhere")).unwrap();
    symlink("../elsewhere", repository.path(".git")).unwrap();
    let receipt = repository.check(GOOD);
    assert_eq!(rules(&receipt), ["git_control_is_a_symlink"]);
    fs::remove_file(repository.path(".git")).unwrap();
    repository.write(".git", "gitdir: ../elsewhere\n");
    assert_silent(&repository.check(GOOD), "git_control_is_a_symlink");
}

#[test]
fn workdir_has_no_git_control() {
    let repository = Repository::new();
    let request = Request { workdir: repository.path("src"), ..repository.request(GOOD) };
    assert_eq!(rules(&repository.judge(&request, &embedded())), ["workdir_has_no_git_control"]);
}

#[test]
fn workdir_is_not_the_worktree_toplevel() {
    let repository = Repository::new();
    let elsewhere = repository.root().join("home");
    repository.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    assert_eq!(rules(&repository.check(GOOD)), ["workdir_is_not_the_worktree_toplevel"]);
    // An empty `.git` is passed over, and git finds the repository around it.
    let nested = Repository::new();
    fs::create_dir(nested.path("src/.git")).unwrap();
    let request = Request { workdir: nested.path("src"), ..nested.request(GOOD) };
    assert_eq!(rules(&nested.judge(&request, &embedded())), ["workdir_is_not_the_worktree_toplevel"]);
}

#[test]
fn workdir_is_not_a_git_worktree() {
    let repository = Repository::new();
    fs::write(repository.path(".git/config"), "[core\n").unwrap();
    let receipt = repository.check(GOOD);
    assert_eq!(rules(&receipt), ["workdir_is_not_a_git_worktree"]);
    assert_eq!(receipt.attestation.git_control_sha256_before, None);
    let bare = Repository::new();
    bare.git(&["config", "core.bare", "true"]);
    assert_eq!(rules(&bare.check(GOOD)), ["workdir_is_not_a_git_worktree"]);
}

#[test]
fn git_isolation_failed() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    let inside = repository.path("src");
    let missing = repository.root().join("missing");
    for temporary in [inside, missing, repository.work()] {
        let surroundings = Surroundings { temporary, ..repository.surroundings() };
        let receipt = patch::check(&request, &embedded(), &surroundings).unwrap();
        assert_eq!(receipt.verdict, Verdict::Rejected);
        assert_eq!(rules(&receipt), ["git_isolation_failed"]);
        assert!(!receipt.git_apply_check.ran && receipt.git_version.is_none());
        assert_eq!(receipt.hardening_decisions[0].result, patch::DecisionResult::Fail);
    }
    assert_silent(&repository.check(GOOD), "git_isolation_failed");
}

#[test]
fn a_git_of_the_worktree_is_not_run() {
    let repository = Repository::new();
    let marker = repository.root().join("ran");
    repository.write("bin/git", format!("#!/bin/sh\ntouch {}\n", marker.display()));
    fs::set_permissions(repository.path("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let search = std::env::join_paths([repository.path("bin"), "/usr/bin".into()]).unwrap();
    let surroundings = Surroundings { search_path: Some(search), ..repository.surroundings() };
    let receipt = patch::check(&repository.request(GOOD), &embedded(), &surroundings).unwrap();
    assert_eq!(rules(&receipt), ["git_isolation_failed"]);
    assert!(!marker.exists());
}

#[test]
fn inputs_that_are_not_there_give_no_receipt() {
    let repository = Repository::new();
    let request = repository.request(GOOD);
    let missing = repository.root().join("missing");
    let check = |request: Request| patch::check(&request, &embedded(), &repository.surroundings());
    let no_patch = check(Request { patch: missing.clone(), ..request.clone() });
    assert!(matches!(no_patch, Err(CheckError::NoPatch)));
    let no_workdir = check(Request { workdir: missing, ..request.clone() });
    assert!(matches!(no_workdir, Err(CheckError::NoWorkdir)));
    let surroundings = Surroundings { search_path: Some("relative".into()), ..repository.surroundings() };
    assert!(matches!(patch::check(&request, &embedded(), &surroundings), Err(CheckError::NoGit)));
}
