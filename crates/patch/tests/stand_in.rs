//! A program in place of git shows what git is given, and what the verifier notices.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use patch::Verdict;
use support::{GOOD, Repository, assert_accepted, changed_by, changing, embedded, real_git};

#[test]
fn a_change_during_the_run_is_told_and_overrides() {
    let repository = Repository::new();
    let receipt = changing(&repository);
    assert_eq!(receipt.verdict, Verdict::AttestationFailed);
    assert_eq!(receipt.verdict.exit_code(), 70);
    let attestation = &receipt.attestation;
    assert!(!attestation.unchanged);
    assert_ne!(attestation.worktree_state_sha256_before, attestation.worktree_state_sha256_after);
    assert_eq!(attestation.index_sha256_before, attestation.index_sha256_after);
    assert_eq!(receipt.apply_command, None);
}

#[test]
fn a_target_that_changes_under_its_old_size_and_time_is_told() {
    let repository = Repository::new();
    let target = repository.path("src/x.txt");
    let target = target.display();
    let command = format!(
        "touch -r '{target}' '{target}.time'; printf 'one\\ntwo\\nthree\\nfour\\nsix!\\n' > '{target}'; touch -r '{target}.time' '{target}'; rm '{target}.time'"
    );
    let receipt = changed_by(&repository, &command);
    assert_eq!(fs::read_to_string(repository.path("src/x.txt")).unwrap(), "one\ntwo\nthree\nfour\nsix!\n");
    assert_eq!(receipt.verdict, Verdict::AttestationFailed);
}

#[test]
fn the_environment_redirects_nothing() {
    // Variables of this process are those of the test runner; the child gets an exact environment in any case. A program
    // in place of git tells what it was given.
    let repository = Repository::new();
    let bin = repository.root().join("bin");
    let seen = repository.root().join("seen");
    fs::create_dir(&bin).unwrap();
    let script =
        format!("#!/bin/sh\nenv >> '{0}'\nexec '{1}' \"$@\"\n", seen.display(), real_git().display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let search = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    let surroundings = patch::Surroundings { search_path: Some(search), ..repository.surroundings() };
    assert_accepted(&patch::check(&repository.request(GOOD), &embedded(), &surroundings).unwrap());
    let allowed = [
        "PATH",
        "LC_ALL",
        "HOME",
        "XDG_CONFIG_HOME",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_ATTR_NOSYSTEM",
        "GIT_TERMINAL_PROMPT",
        "GIT_OPTIONAL_LOCKS",
        "GIT_DIR",
        "GIT_WORK_TREE",
        // Made by the shell itself.
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
    ];
    for line in fs::read_to_string(seen).unwrap().lines() {
        let name = line.split('=').next().unwrap();
        assert!(allowed.contains(&name), "{line}");
    }
}

#[test]
fn what_git_says_of_a_failure_is_not_repeated() {
    let repository = Repository::new();
    let bin = repository.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\necho SENTINEL0451 >&2\nexec '{}' \"$@\"\n", real_git().display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let search = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    let surroundings = patch::Surroundings { search_path: Some(search), ..repository.surroundings() };
    let environment = patch::Environment { surroundings, policy_file: None, program: None };
    let work = repository.work();
    for text in [GOOD.to_owned(), GOOD.replace("-two", "-2")] {
        let patch = repository.patch(text);
        let words =
            ["check", "--patch", patch.to_str().unwrap(), "--workdir", work.to_str().unwrap(), "--json"];
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let code = patch::main_entry(support::arguments(&words), &environment, &mut out, &mut errors);
        assert!(code == 0 || code == 65, "{code}");
        let printed = String::from_utf8([out, errors].concat()).unwrap();
        assert!(printed.contains("verdict") && !printed.contains("SENTINEL0451"), "{printed}");
    }
}
