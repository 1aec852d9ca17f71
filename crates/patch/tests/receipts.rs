//! Receipts as they are printed: every field, their order, their words.

mod support;

use std::path::Path;

use patch::{Receipt, Request};
use support::{BARE, GOOD, Repository, add, embedded};

/// Compares with a file under `tests/snapshots`; `PATCH_SNAPSHOTS=write` writes it anew.
#[track_caller]
fn snapshot(name: &str, repository: &Repository, text: &str) {
    let root = repository.root().to_str().unwrap();
    let text = text.replace(root, "/ROOT");
    let version = String::from_utf8(repository.git(&["--version"])).unwrap();
    let text = digests_hidden(&text.replace(version.trim_end(), "git version N"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("PATCH_SNAPSHOTS").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(text == expected, "{name} differs; it is now:\n{text}");
}

/// Digests of directories depend on inodes and times: each becomes a placeholder of its length.
fn digests_hidden(text: &str) -> String {
    let mut out = String::new();
    let mut run = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_digit() || ('a'..='f').contains(&character) {
            run.push(character);
            continue;
        }
        out.push_str(if run.len() == 64 { "SHA-256" } else { &run });
        run.clear();
        if character != '\0' {
            out.push(character);
        }
    }
    out
}

#[track_caller]
fn both(name: &str, repository: &Repository, receipt: &Receipt) {
    snapshot(&format!("{name}.json"), repository, &receipt.json());
    let request = Request {
        patch: repository.root().join("change.diff"),
        workdir: repository.work(),
        allow_delete: receipt.allow_flags.allow_delete,
    };
    let environment =
        patch::Environment { surroundings: repository.surroundings(), policy_file: None, program: None };
    let mut words = vec![
        "check",
        "--patch",
        request.patch.to_str().unwrap(),
        "--workdir",
        request.workdir.to_str().unwrap(),
    ];
    words.extend(request.allow_delete.then_some("--allow-delete"));
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let code = patch::main_entry(support::arguments(&words), &environment, &mut out, &mut errors);
    assert_eq!((code, errors.len()), (receipt.verdict.exit_code(), 0));
    snapshot(&format!("{name}.txt"), repository, &String::from_utf8(out).unwrap());
}

#[test]
fn accepted() {
    let repository = Repository::new();
    both("accepted", &repository, &repository.check(GOOD.to_owned() + &add("docs/new.md")));
}

#[test]
fn accepted_with_every_operation() {
    let repository = Repository::new();
    let text = format!(
        "{BARE}--- README\n+++ /dev/null\n@@ -1 +0,0 @@\n-read me\n--- /dev/null\n+++ docs/new.md\n@@ -0,0 +1 @@\n+new\n"
    );
    both("accepted-operations", &repository, &repository.check_deleting(text));
}

#[test]
fn accepted_with_an_offset() {
    let repository = Repository::new();
    let text = "--- a/src/x.txt\n+++ b/src/x.txt\n@@ -20,3 +20,3 @@\n two\n-three\n+THREE\n four\n";
    both("accepted-offset", &repository, &repository.check(text));
}

#[test]
fn rejected_by_its_text() {
    let repository = Repository::new();
    let text = "Sure, here is the diff:\n".to_owned() + GOOD + &add(".env") + &add("src/../x");
    both("rejected-text", &repository, &repository.check(text));
}

#[test]
fn rejected_without_a_level() {
    let repository = Repository::new();
    both("rejected-shape", &repository, &repository.check(GOOD.replace("+++ b/", "+++ a/")));
}

#[test]
fn rejected_by_git() {
    let repository = Repository::new();
    both("rejected-mismatch", &repository, &repository.check(GOOD.replace("-two", "-2")));
}

#[test]
fn rejected_as_ambiguous() {
    let repository = Repository::new();
    repository.write("x.txt", "one\ntwo\nthree\n");
    both("rejected-ambiguous", &repository, &repository.check(BARE));
}

#[test]
fn rejected_without_reading() {
    let repository = Repository::new();
    both("rejected-empty", &repository, &repository.check(""));
}

#[test]
fn from_a_result() {
    let repository = Repository::new();
    let request = Request { patch: repository.root().join("taken.diff"), ..repository.request("") };
    let text = format!("I changed one line.\n\n```diff\n{GOOD}```\n");
    let receipt =
        patch::check_result(text.as_bytes(), &request, &embedded(), &repository.surroundings()).unwrap();
    snapshot("from-a-result.json", &repository, &receipt.json());
    assert_eq!(std::fs::read_to_string(&request.patch).unwrap(), GOOD);
    let again = patch::check_result(text.as_bytes(), &request, &embedded(), &repository.surroundings());
    assert!(matches!(again, Err(patch::CheckError::Store(_))), "an existing file is never replaced");
}

#[test]
fn two_runs_give_identical_receipts() {
    let repository = Repository::new();
    for text in
        [GOOD.to_owned(), BARE.to_owned(), add(".ssh/x") + "x", GOOD.replace("-two", "-2"), String::new()]
    {
        assert_eq!(repository.check(&text).json(), repository.check(&text).json());
    }
}

#[test]
fn the_decisions_of_an_accepted_patch_in_order() {
    let repository = Repository::new();
    let receipt = repository.check(GOOD);
    let names: Vec<&str> = receipt.policy_decisions.iter().map(|decision| decision.rule).collect();
    assert_eq!(
        names,
        [
            "patch_file_regular",
            "patch_file_not_a_symlink",
            "patch_file_private",
            "patch_file_owned_by_caller",
            "patch_file_bounded",
            "patch_file_text_only",
            "patch_file_no_carriage_returns",
            "workdir_not_a_symlink",
            "workdir_is_a_directory",
            "git_control_not_a_symlink",
            "workdir_is_a_git_worktree",
            "workdir_is_the_worktree_toplevel",
            "patch_line_count_bounded",
            "patch_declares_at_least_one_file",
            "file_count_bounded",
            "header_prefix_style_is_uniform",
            "each_path_appears_once",
            "every_path_confined",
            "deletions_permitted",
            "expansion_bounded",
            "git_apply_check",
            "alternate_strip_level_cannot_redirect",
        ]
    );
    assert!(
        receipt.hardening_decisions.iter().all(|decision| decision.result == patch::DecisionResult::Pass)
    );
    assert_eq!(receipt.hardening_decisions.len(), 9);
}
