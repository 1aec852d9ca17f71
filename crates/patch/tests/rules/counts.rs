//! Counts, strip level, operations and size.

use crate::support::{
    BARE, GOOD, Repository, add, assert_accepted, assert_fires, assert_silent, details, headed, hunked,
    limited,
};

pub(crate) const TESTED: &[&str] = &[
    "patch_too_many_lines",
    "no_files_in_patch",
    "too_many_files",
    "unpaired_path_prefixes",
    "mixed_path_prefixes",
    "path_pair_mismatch",
    "duplicate_path",
    "removed_lines_in_new_file",
    "added_lines_in_deleted_file",
    "delete_not_permitted",
    "file_expansion_exceeded",
    "too_many_hunks_in_file",
    "total_expansion_exceeded",
    "too_many_hunks",
];

const DELETE: &str = "\
diff --git a/README b/README
deleted file mode 100644
--- a/README
+++ /dev/null
@@ -1 +0,0 @@
-read me
";

/// At the limit a rule is silent, one above it fires with both numbers or the path.
#[track_caller]
fn at_and_above(name: &str, rule: &str, text: &str, count: u64, detail: &str) {
    let repository = Repository::new();
    let request = repository.request(text);
    assert_silent(&repository.judge(&request, &limited(name, count)), rule);
    let refused = repository.judge(&request, &limited(name, count - 1));
    assert_fires(&refused, rule);
    assert_eq!(details(&refused, rule), [Some(detail)]);
}

fn two_adds() -> String {
    add("src/a.txt") + &add("src/b.txt")
}

const TWO_HUNKS: &str = "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n@@ -4,2 +4,2 @@\n-four\n+FOUR\n five\n";

#[test]
fn patch_too_many_lines() {
    at_and_above("max_patch_lines", "patch_too_many_lines", GOOD, 8, "8>7");
    at_and_above("max_patch_lines", "patch_too_many_lines", &format!("\n{GOOD}"), 9, "9>8");
}

#[test]
fn no_files_in_patch() {
    let repository = Repository::new();
    for text in ["\n", "no diff\n", "--- a/x\n"] {
        let receipt = repository.check(text);
        assert_fires(&receipt, "no_files_in_patch");
        assert_eq!(receipt.strip.required, None);
    }
    assert_silent(&repository.check(hunked("")), "no_files_in_patch");
}

#[test]
fn too_many_files() {
    at_and_above("max_files", "too_many_files", &two_adds(), 2, "2>1");
}

#[test]
fn unpaired_path_prefixes() {
    let repository = Repository::new();
    for headers in [
        "--- a/src/x.txt\n+++ b/src/y.txt\n",
        "--- b/src/x.txt\n+++ a/src/x.txt\n",
        "--- a/src/x.txt\n+++ src/x.txt\n",
        "--- /dev/null\n+++ a/src/x.txt\n",
        "--- a/src/x.txt\n+++ a/src/x.txt\n",
    ] {
        let receipt = repository.check(headed(headers));
        assert_fires(&receipt, "unpaired_path_prefixes");
        assert!(receipt.files.is_empty() && receipt.file_count == 1);
        assert_eq!((receipt.strip.required, receipt.git_apply_check.ran), (None, false));
    }
    for text in [GOOD, BARE] {
        assert_silent(&repository.check(text), "unpaired_path_prefixes");
    }
}

#[test]
fn mixed_path_prefixes() {
    let repository = Repository::new();
    assert_fires(&repository.check(format!("{BARE}{}", add("src/new.txt"))), "mixed_path_prefixes");
    assert_silent(&repository.check(format!("{GOOD}{}", add("src/new.txt"))), "mixed_path_prefixes");
}

#[test]
fn path_pair_mismatch() {
    let repository = Repository::new();
    let receipt = repository.check(headed("--- src/x.txt\n+++ src/y.txt\n"));
    assert_fires(&receipt, "path_pair_mismatch");
    assert_eq!(details(&receipt, "path_pair_mismatch"), [Some("src/x.txt")]);
    assert_silent(&repository.check(BARE), "path_pair_mismatch");
}

#[test]
fn duplicate_path() {
    let repository = Repository::new();
    let receipt = repository.check(add("src/a.txt").repeat(2));
    assert_fires(&receipt, "duplicate_path");
    assert_fires(&receipt, "duplicate_file_section");
    assert_silent(&repository.check(two_adds()), "duplicate_path");
    assert_silent(&repository.check(add("src/a.txt") + &add("src/A.txt")), "duplicate_path");
}

#[test]
fn removed_lines_in_new_file() {
    let repository = Repository::new();
    let text = "--- /dev/null\n+++ b/src/n.txt\n@@ -1 +1 @@\n-old\n+new\n";
    let receipt = repository.check(text);
    assert_eq!(details(&receipt, "removed_lines_in_new_file"), [Some("src/n.txt")]);
    assert_silent(&repository.check(add("src/n.txt")), "removed_lines_in_new_file");
}

#[test]
fn added_lines_in_deleted_file() {
    let repository = Repository::new();
    let text = "--- a/README\n+++ /dev/null\n@@ -1 +1 @@\n-read me\n+still here\n";
    let receipt = repository.check_deleting(text);
    assert_eq!(details(&receipt, "added_lines_in_deleted_file"), [Some("README")]);
    assert_accepted(&repository.check_deleting(DELETE));
}

#[test]
fn delete_not_permitted() {
    let repository = Repository::new();
    let receipt = repository.check(DELETE);
    assert_eq!(details(&receipt, "delete_not_permitted"), [Some("README")]);
    assert_accepted(&repository.check_deleting(DELETE));
    let closed = crate::support::changed(|policy| policy["operations"]["delete"] = "denied".into());
    let request = patch::Request { allow_delete: true, ..repository.request(DELETE) };
    assert_fires(&repository.judge(&request, &closed), "delete_not_permitted");
    assert_silent(&repository.check(GOOD), "delete_not_permitted");
}

#[test]
fn file_expansion_exceeded() {
    let text = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,3 @@\n+1\n+2\n+3\n";
    at_and_above("max_added_lines_per_file", "file_expansion_exceeded", text, 3, "n");
}

#[test]
fn too_many_hunks_in_file() {
    at_and_above("max_hunks_per_file", "too_many_hunks_in_file", &hunked(TWO_HUNKS), 2, "src/x.txt");
}

#[test]
fn total_expansion_exceeded() {
    at_and_above("max_added_lines_total", "total_expansion_exceeded", &two_adds(), 2, "2>1");
}

#[test]
fn too_many_hunks() {
    at_and_above("max_hunks_total", "too_many_hunks", &hunked(TWO_HUNKS), 2, "2>1");
}
