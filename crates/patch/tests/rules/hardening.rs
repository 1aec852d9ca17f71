//! Header paths, hunks, modes and shapes beyond the kit.

use crate::support::{GOOD, Repository, add, details, headed, hunked};
use crate::text_rules;

fn with_git_line(line: &str) -> String {
    headed(&format!("diff --git {line}\n--- a/src/x.txt\n+++ b/src/x.txt\n"))
}

fn inside(line: &str) -> String {
    GOOD.replacen("--- a/", &format!("{line}\n--- a/"), 1)
}

text_rules! {
    malformed_quoted_path "malformed_quoted_path" {
        fires [
            headed("--- \"a/src/x.txt\"junk\n+++ b/src/x.txt\n"),
            headed("--- \"a/src/x.txt\n+++ b/src/x.txt\n"),
            headed("--- a/src/x.txt\n+++ \"b/src\\q\"\n"),
            with_git_line("\"a/src/x.txt\"  b/src/x.txt"),
            with_git_line("a/src/x.txt \"b/src/x.txt\"z"),
            inside("rename from \"src/x"),
        ];
        silent [
            headed("--- \"a/src/x.txt\"\n+++ \"b/src/x.txt\"\t2026-01-01\n"),
            with_git_line("\"a/src/x.txt\" \"b/src/x.txt\""),
            headed("--- \"a/\\303\\257\"\n+++ \"b/\\303\\257\"\n"),
        ];
    }
    nul_in_quoted_path "nul_in_quoted_path" {
        fires [headed("--- a/src/x.txt\n+++ \"b/src/x.txt\\000y\"\n"), with_git_line("\"a/\\000\" b/x")];
        silent [headed("--- \"a/src/x\\001\"\n+++ \"b/src/x\\001\"\n"), headed("--- a/x\\000y\n+++ b/x\\000y\n")];
    }
    absolute_header_path "absolute_header_path" {
        fires [
            headed("--- /dev/null\n+++ /etc/zzz\n"),
            headed("--- \"/etc/x\"\n+++ \"/etc/x\"\n"),
            with_git_line("/src/x.txt /src/x.txt"),
            inside("copy to /x"),
            headed("--- /dev/nullx\n+++ b/x\n"),
        ];
        silent [add("src/new.txt"), add("/etc/zzz")];
    }
    epoch_timestamp_header "epoch_timestamp_header" {
        fires [
            headed("--- a/src/x.txt\t2026-01-01\n+++ b/src/x.txt\t1970-01-01 00:00:00.000000000 +0000\n"),
            headed("--- a/src/x.txt\t1969-12-31 19:00\n+++ b/src/x.txt\n"),
            headed("diff --git a/src/x.txt b/src/x.txt\n--- \"a/src/x.txt\"\t1970-01-01\n+++ b/src/x.txt\n"),
        ];
        silent [
            headed("--- a/src/x.txt\t1970-01-02\n+++ b/src/x.txt\t2026-01-01\n"),
            "--- /dev/null\t1970-01-01 00:00:00\n+++ b/src/n.txt\t2026-01-01\n@@ -0,0 +1 @@\n+n\n".to_owned(),
            add("src/1970-01-01"),
        ];
    }
    diff_header_path_mismatch "diff_header_path_mismatch" {
        fires [
            with_git_line("a/src/y.txt b/src/x.txt"),
            with_git_line("a/src/x.txt b/src/y.txt"),
            with_git_line("src/x.txt src/x.txt"),
            add("src/new.txt").replace("diff --git a/src/new.txt", "diff --git a/src/old.txt"),
            add("src/new.txt").replace("diff --git a/src/new.txt", "diff --git /dev/null"),
            headed("diff --git x src/x.txt\n--- /dev/null\n+++ src/x.txt\n"),
        ];
        silent [
            GOOD.to_owned(),
            add("src/new.txt"),
            headed("diff --git src/x.txt src/x.txt\n--- /dev/null\n+++ src/x.txt\n"),
            with_git_line("\"a/src/x.txt\" b/src/x.txt"),
        ];
    }
    duplicate_file_section "duplicate_file_section" {
        fires [format!("{GOOD}{GOOD}"), add("src/n") + &add("src/N"), add("README") + &add("readme")];
        silent [add("src/n") + &add("src/m")];
    }
    path_blocks_path "path_blocks_path" {
        fires [add("n") + &add("n/x"), add("n/x/y") + &add("N")];
        silent [add("n") + &add("nx/y"), add("n/x") + &add("n/y")];
    }
    unnumbered_hunk_header "unnumbered_hunk_header" {
        fires [hunked("@@ ... @@\n"), hunked("@@\n-one\n+ONE\n"), "@@ @@\n".to_owned()];
        silent [GOOD.to_owned(), hunked("@@ -1 1 @@\n"), hunked("@@@ -1 -1 +1 @@@\n"), hunked("@@ -1 +1 @@\n-one\n+@@\n")];
    }
    combined_diff "combined_diff" {
        fires ["diff --cc src/x.txt\n".to_owned(), "diff --combined src/x.txt\n".to_owned(), hunked("@@@ -1 -1 +1 @@@\n")];
        silent [GOOD.to_owned(), hunked("@@ -1 +1 @@\n-one\n+@@@ x\n")];
    }
    missing_final_newline "missing_final_newline" {
        fires [GOOD.trim_end().to_owned(), format!("{GOOD}\\ No newline at end of file")];
        silent [GOOD.to_owned(), format!("{GOOD}\n")];
    }
    special_mode_bits "special_mode_bits" {
        fires [
            add("run").replace("100644", "104755"),
            inside("index 12..34 102644"),
            inside("old mode 100644\nnew mode 101755"),
            inside("deleted file mode 107777"),
        ];
        silent [GOOD.to_owned(), add("run").replace("100644", "100755"), inside("old mode 100644\nnew mode 100755"), inside("index 12..34 120000")];
    }
    empty_preimage "empty_preimage" {
        fires ["--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+n\n".to_owned()];
        silent [
            "diff --git a/new b/new\n--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+n\n".to_owned(),
            add("new"),
            "--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+n\n@@ -1,0 +2 @@\n+m\n".to_owned(),
        ];
    }
    empty_postimage "empty_postimage" {
        fires [hunked("@@ -1,5 +0,0 @@\n-one\n-two\n-three\n-four\n-five\n")];
        silent [
            format!("diff --git a/src/x.txt b/src/x.txt\n{}", hunked("@@ -1,5 +0,0 @@\n-one\n-two\n-three\n-four\n-five\n")),
            GOOD.to_owned(),
        ];
    }
    hunks_out_of_order "hunks_out_of_order" {
        fires [
            hunked("@@ -4,2 +4,2 @@\n-four\n+F\n five\n@@ -1,2 +1,2 @@\n-one\n+O\n two\n"),
            hunked("@@ -1,3 +1,3 @@\n-one\n+O\n two\n three\n@@ -3,2 +3,2 @@\n-three\n+T\n four\n"),
            hunked("@@ -2,0 +3 @@\n+a\n@@ -2,2 +3,2 @@\n two\n three\n"),
        ];
        silent [
            GOOD.to_owned(),
            hunked("@@ -1,2 +1,2 @@\n-one\n+O\n two\n@@ -3,2 +3,2 @@\n-three\n+T\n four\n"),
            hunked("@@ -1 +1 @@\n-one\n+O\n@@ -1,0 +2 @@\n+a\n@@ -2 +3 @@\n-two\n+T\n"),
        ];
    }
    hunk_count_mismatch "hunk_count_mismatch" {
        fires [
            hunked("@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n"),
            format!("{GOOD} four\n"),
            hunked("@@ -1 +1,2 @@\n-one\n-two\n+ONE\n"),
            hunked("@@ -1,9 +1,9 @@\n one\n@@ -4 +4 @@\n-four\n+4\n"),
        ];
        silent [GOOD.to_owned(), format!("{GOOD}some words\n"), hunked("@@ ... @@\n one\n")];
    }
}

#[test]
fn counts_are_told() {
    let repository = Repository::new();
    for (text, detail) in [
        (hunked("@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n"), "hunk=1 declared=-9+9 counted=-3+3"),
        (format!("{GOOD}+four\n-x\n"), "hunk=1 declared=-3+3 counted=-4+4"),
        (
            hunked(
                "@@ -1 +1 @@\n-one\n+ONE\n@@ -2,5 +2,5 @@\n two\n--- a/README\n+++ b/README\n@@ -1 +1 @@\n-read me\n+r\n",
            ),
            "hunk=2 declared=-5+5 counted=-1+1",
        ),
        (
            hunked("@@ -1,2 +1,9 @@\n one\n+a\n\n@@ -4 +4 @@\n-four\n+4\n"),
            "hunk=1 declared=-2+9 counted=-2+3",
        ),
    ] {
        assert_eq!(details(&repository.check(text), "hunk_count_mismatch"), [Some(detail)]);
    }
}

#[test]
fn a_quoted_name_is_judged_by_what_it_decodes_to() {
    let repository = Repository::new();
    let accepted = repository.check(headed("--- \"a/src/\\170.txt\"\n+++ b/src/x.txt\n"));
    crate::support::assert_accepted(&accepted);
    assert_eq!(accepted.files[0].path, "src/x.txt");
    let denied = repository.check(headed("--- \"a/\\056env\"\n+++ \"b/\\056env\"\n"));
    crate::support::assert_fires(&denied, "denied_path:dotenv");
}
