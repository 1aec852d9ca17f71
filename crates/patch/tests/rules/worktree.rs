//! What lies in the worktree, and what git says.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{
    BARE, GOOD, Repository, add, assert_accepted, assert_fires, assert_silent, details, headed, hunked, rules,
};

pub(crate) const TESTED: &[&str] = &[
    "symlink_component",
    "symlink_leaf",
    "component_not_a_directory",
    "target_not_a_regular_file",
    "path_enters_nested_repository",
    "git_reads_it_differently",
    "patch_does_not_apply",
    "ambiguous_strip_level",
    "ambiguous_hunk_placement",
    "missing_no_newline_marker",
    "target_has_carriage_returns",
];

fn edit(path: &str) -> String {
    GOOD.replace("src/x.txt", path)
}

#[test]
fn symlink_component() {
    let repository = Repository::new();
    symlink("src", repository.path("inside")).unwrap();
    symlink("/nowhere", repository.path("dangling")).unwrap();
    for path in ["inside/x.txt", "inside/new.txt", "dangling/x"] {
        let receipt = repository.check(if path.contains("new") { add(path) } else { edit(path) });
        assert_eq!(details(&receipt, "symlink_component"), [Some(path)]);
        assert!(!receipt.git_reading.ran);
    }
    assert_accepted(&repository.check(GOOD));
}

#[test]
fn symlink_leaf() {
    let repository = Repository::new();
    symlink("one", repository.path("link")).unwrap();
    let retarget = "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+/etc/passwd\n\\ No newline at end of file\n";
    let receipt = repository.check(retarget);
    assert_eq!(details(&receipt, "symlink_leaf"), [Some("link")]);
    assert_fires(&repository.check(add("link")), "symlink_leaf");
    assert_silent(&repository.check(add("link2")), "symlink_leaf");
}

#[test]
fn component_not_a_directory() {
    let repository = Repository::new();
    assert_eq!(details(&repository.check(add("README/x")), "component_not_a_directory"), [Some("README/x")]);
    assert_silent(&repository.check(add("src/x")), "component_not_a_directory");
    assert_silent(&repository.check(add("missing/x")), "component_not_a_directory");
}

#[test]
fn target_not_a_regular_file() {
    let repository = Repository::new();
    let fifo = repository.path("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for path in ["src", "fifo"] {
        assert_eq!(details(&repository.check(edit(path)), "target_not_a_regular_file"), [Some(path)]);
    }
    assert_silent(&repository.check(GOOD), "target_not_a_regular_file");
}

#[test]
fn path_enters_nested_repository() {
    let repository = Repository::new();
    repository.write("sub/.git", "gitdir: ../.git/modules/sub\n");
    repository.write("sub/deep/x.txt", "one\ntwo\nthree\n");
    let receipt = repository.check(edit("sub/deep/x.txt"));
    assert_eq!(rules(&receipt), ["path_enters_nested_repository"]);
    assert_silent(&repository.check(GOOD), "path_enters_nested_repository");
}

#[test]
fn git_reads_it_differently() {
    let repository = Repository::new();
    for (text, detail) in [
        // git wants a marker of twelve bytes, and a hunk that changes something.
        (hunked("@@ -1,2 +1,2 @@\n-one\n\\ short\n+ONE\n two\n"), "unreadable"),
        (hunked("@@ -1,2 +1,2 @@\n one\n two\n"), "unreadable"),
        // git ends the section at the marker line, and sees another one after it.
        (GOOD.replacen("--- a/", "index 12..34\n\\ no header\n--- a/", 1), "paths"),
        (GOOD.replacen("--- a/", "index 12..34\n\\ no header\n--- a/", 1), "counts"),
        // git reports a rewrite, and an addition only where a mode line says so.
        (GOOD.replacen("--- a/", "similarity index 90%\n--- a/", 1), "operations"),
        (add("new").replace("new file mode 100644\n", ""), "operations"),
        // git joins the last line with what follows; here it is no match.
        (hunked("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n\\ No newline at end of file\n"), "placement"),
    ] {
        let receipt = repository.check(&text);
        assert!(
            details(&receipt, "git_reads_it_differently").contains(&Some(detail)),
            "{text}{:?}",
            receipt.violations
        );
    }
    for text in [GOOD.to_owned(), BARE.to_owned(), add("src/new.txt")] {
        let receipt = repository.check(text);
        assert_accepted(&receipt);
        let reading = receipt.git_reading;
        let agreed = [reading.paths_agree, reading.counts_agree, reading.operations_agree];
        assert_eq!((reading.ran, agreed), (true, [Some(true); 3]));
    }
}

#[test]
fn patch_does_not_apply() {
    let repository = Repository::new();
    let receipt = repository.check(GOOD.replace("-two", "-zwei"));
    assert_eq!(details(&receipt, "patch_does_not_apply"), [Some("p1")]);
    let mismatch = receipt.first_mismatch.expect("a mismatch");
    assert_eq!((mismatch.path.as_str(), mismatch.hunk), ("src/x.txt", 1));
    assert_eq!((mismatch.patch_line, mismatch.target_line), (6, 2));
    for text in [edit("src/missing.txt"), add("README")] {
        let receipt = repository.check(text);
        assert_eq!(rules(&receipt), ["patch_does_not_apply"]);
        assert_eq!(receipt.first_mismatch, None);
    }
    assert_eq!(details(&repository.check(BARE.replace("-two", "-2")), "patch_does_not_apply"), [Some("p0")]);
    assert_silent(&repository.check(GOOD), "patch_does_not_apply");
}

#[test]
fn ambiguous_strip_level() {
    let repository = Repository::new();
    repository.write("x.txt", "one\ntwo\nthree\n");
    let receipt = repository.check(BARE);
    assert_eq!(details(&receipt, "ambiguous_strip_level"), [Some("required=p0 alternate=p1")]);
    assert_eq!((receipt.strip.chosen, receipt.strip.alternate_applies), (None, Some(true)));
    repository.write("a/src/x.txt", "one\ntwo\nthree\n");
    repository.write("b/src/x.txt", "one\ntwo\nthree\n");
    assert_accepted(&repository.check(GOOD));
    let prefix_only = repository.check(add("src/n.txt"));
    assert_accepted(&prefix_only);
    let last = prefix_only.policy_decisions.last().unwrap();
    assert_eq!(last.result, patch::DecisionResult::PrefixOnly);
}

#[test]
fn ambiguous_hunk_placement() {
    let repository = Repository::new();
    let block = "start\nwork\nend\nfill\n";
    repository.write("many.txt", format!("head\n{}", block.repeat(3)));
    let hunk = |line: u32| {
        format!("--- a/many.txt\n+++ b/many.txt\n@@ -{line},3 +{line},3 @@\n start\n-work\n+WORK\n end\n")
    };
    let receipt = repository.check(hunk(40));
    assert_eq!(details(&receipt, "ambiguous_hunk_placement"), [Some("many.txt hunk=1 candidates=3")]);
    assert_eq!(receipt.git_apply_check.result, patch::CheckResult::Clean);
    assert_eq!(receipt.apply_command, None);
    for line in [2, 6, 10] {
        assert_accepted(&repository.check(hunk(line)));
    }
    let unique = repository.check(hunked("@@ -30,3 +30,3 @@\n two\n-three\n+THREE\n four\n"));
    assert_accepted(&unique);
    let placement = &unique.placements[0];
    assert_eq!((placement.declared_line, placement.applied_line, placement.offset), (30, 2, -28));
}

#[test]
fn missing_no_newline_marker() {
    let repository = Repository::new();
    repository.write("end.txt", "one\ntwo");
    let hunk =
        |marker: &str| format!("--- a/end.txt\n+++ b/end.txt\n@@ -1,2 +1,2 @@\n one\n-two\n{marker}+TWO\n");
    let receipt = repository.check(hunk(""));
    assert_eq!(details(&receipt, "missing_no_newline_marker"), [Some("end.txt")]);
    assert_fires(&receipt, "patch_does_not_apply");
    assert_accepted(&repository.check(hunk("\\ No newline at end of file\n")));
    repository.write("end.txt", "one\ntwo\n");
    assert_accepted(&repository.check(hunk("")));
}

#[test]
fn target_has_carriage_returns() {
    let repository = Repository::new();
    repository.write("src/x.txt", "one\r\ntwo\r\nthree\r\n");
    let receipt = repository.check(GOOD);
    assert_eq!(details(&receipt, "target_has_carriage_returns"), [Some("src/x.txt")]);
    assert_fires(&receipt, "patch_does_not_apply");
    // Where git compares with LF line ends, the patch fits and carriage returns explain nothing.
    repository.git(&["config", "core.autocrlf", "true"]);
    assert_accepted(&repository.check(GOOD));
    let other = repository.check(GOOD.replace("-two", "-2"));
    assert_fires(&other, "patch_does_not_apply");
    assert_silent(&other, "target_has_carriage_returns");
    repository.git(&["config", "core.autocrlf", "false"]);
    repository.write(".gitattributes", "*.txt text\n");
    assert_accepted(&repository.check(GOOD));
    fs::remove_file(repository.path(".gitattributes")).unwrap();
    assert_fires(&repository.check(GOOD), "target_has_carriage_returns");
}

#[test]
fn a_path_with_a_finding_is_not_looked_up() {
    let repository = Repository::new();
    symlink("src", repository.path(".ssh")).unwrap();
    let receipt = repository.check(headed("--- a/.ssh/x.txt\n+++ b/.ssh/x.txt\n"));
    assert_eq!(rules(&receipt), ["denied_path:ssh"]);
}
