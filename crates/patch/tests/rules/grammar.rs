//! The twenty rules of the line grammar.

use crate::support::{BARE, GOOD, add, headed, hunked};
use crate::text_rules;

fn before(line: &str) -> String {
    format!("{line}\n{GOOD}")
}

/// A line between the `diff --git` line and the headers.
fn inside(line: &str) -> String {
    GOOD.replacen("--- a/", &format!("{line}\n--- a/"), 1)
}

fn after(line: &str) -> String {
    format!("{GOOD}{line}\n")
}

text_rules! {
    unexpected_line "unexpected_line" {
        fires [before("Here is the change:"), format!("```diff\n{GOOD}```\n"), after("-- "), inside("new file mode 10064")];
        silent [before(""), after("\\ No newline at end of file"), inside("similarity index 90%")];
    }
    malformed_diff_header "malformed_diff_header" {
        fires [before("diff --git a/x"), before("diff --git a/x b/x c"), headed("diff --git a/src/x y b/src/x y\n--- a/src/x.txt\n+++ b/src/x.txt\n")];
        silent [GOOD.to_owned(), BARE.to_owned()];
    }
    malformed_index_header "malformed_index_header" {
        fires [inside("index 123"), inside("index 12..zz"), inside("index 12..34 1006444"), inside("index 12...34")];
        silent [inside("index 12..34"), inside("index 12..34 100644"), inside("index 12..34 100755")];
    }
    malformed_hunk_header "malformed_hunk_header" {
        fires [hunked("@@ -1,3 1,3 @@\n"), hunked("@@ ... @@\n"), hunked("@@ -1,3 +1,3\n"), hunked("@@ -1 +99999999999 @@\n")];
        silent [GOOD.replace("3 @@", "3 @@ fn heading()"), hunked("@@ -1 +1 @@\n-one\n+ONE\n")];
    }
    malformed_hunk_line "malformed_hunk_line" {
        fires [hunked("@@ -1,3 +1,3 @@\n one\n*two\n three\n"), hunked("@@ -1,3 +1,3 @@\n one\n@@ -2 +2 @@\n")];
        silent [GOOD.to_owned(), hunked("@@ -1,2 +1,2 @@\n-one\n+ONE\n\\ No newline at end of file\n two\n")];
    }
    hunk_line_count_overrun "hunk_line_count_overrun" {
        fires [hunked("@@ -1,1 +1,2 @@\n-one\n-two\n+ONE\n"), hunked("@@ -0,0 +1,2 @@\n+a\n b\n")];
        silent [GOOD.to_owned(), after(" extra")];
    }
    truncated_hunk "truncated_hunk" {
        fires [hunked("@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n"), hunked("@@ -1,3 +1,3 @@\n")];
        silent [GOOD.to_owned(), hunked("@@ -1,3 +1,3 @@\n one\n*\n")];
    }
    no_hunks "no_hunks" {
        fires [hunked(""), format!("{}{BARE}", hunked(""))];
        silent [GOOD.to_owned(), headed("rename from src/x.txt\nrename to src/x.txt\n--- a/src/x.txt\n+++ b/src/x.txt\n")];
    }
    missing_file_headers "missing_file_headers" {
        fires [
            "diff --git a/src/x.txt b/src/x.txt\n".to_owned(),
            before("deleted file mode 100644"),
            headed("--- /dev/null\n+++ /dev/null\n"),
            before("--- a/src/x.txt"),
        ];
        silent [GOOD.to_owned(), add("src/new.txt")];
    }
    header_without_source "header_without_source" {
        fires [headed("+++ b/src/x.txt\n")];
        silent [GOOD.to_owned(), before("--- a/src/y.txt")];
    }
    hunk_without_file_headers "hunk_without_file_headers" {
        fires [headed(""), headed("diff --git a/src/x.txt b/src/x.txt\n"), headed("--- a/src/x.txt\n")];
        silent [GOOD.to_owned(), headed("--- a/s p\n+++ b/s p\n")];
    }
    path_not_representable "path_not_representable" {
        fires [
            headed("--- a/s p\n+++ b/s p\n"),
            headed("--- \"a/s\\tp\"\n+++ \"b/s\\tp\"\n"),
            headed("--- a/s\"p\n+++ b/s\"p\n"),
            headed("--- \n+++ \n"),
            headed(&format!("--- a/{0}\n+++ b/{0}\n", "x".repeat(318))),
        ];
        silent [
            GOOD.to_owned(),
            headed("--- \"a/src/x.txt\"\n+++ \"b/src/x.txt\"\n"),
            headed("--- a/src/x.txt\t2026-01-01 10:00:00\n+++ b/src/x.txt\t2026-01-01\n"),
            headed(&format!("--- a/{0}\n+++ b/{0}\n", "x".repeat(317))),
            headed("--- a/na\u{ef}ve\n+++ b/na\u{ef}ve\n"),
        ];
    }
    binary_patch "binary_patch" {
        fires [inside("GIT binary patch"), inside("Binary files a/x and b/x differ")];
        silent [GOOD.to_owned(), hunked("@@ -1 +1,2 @@\n one\n+Binary files a and b\n"), before("GIT binary patches")];
    }
    symlink_mode "symlink_mode" {
        fires [inside("new file mode 120000"), inside("deleted file mode 120000"), inside("index 12..34 120000")];
        silent [GOOD.to_owned(), inside("index 12..34 100644")];
    }
    submodule "submodule" {
        fires [inside("new file mode 160000"), inside("index 12..34 160000")];
        silent [GOOD.to_owned(), inside("index 12..34 100644")];
    }
    executable_new_file "executable_new_file" {
        fires [add("run").replace("100644", "100755")];
        silent [add("run"), inside("index 12..34 100755"), inside("deleted file mode 100755")];
    }
    denied_file_mode "denied_file_mode" {
        fires [inside("new file mode 100600"), inside("index 12..34 100664"), inside("deleted file mode 040000")];
        silent [add("run"), inside("index 12..34 100755"), add("run").replace("100644", "100755")];
    }
    mode_change "mode_change" {
        fires [inside("old mode 100644\nnew mode 100755"), inside("old mode 100644"), inside("new mode x")];
        silent [GOOD.to_owned(), add("run")];
    }
    rename_not_permitted "rename_not_permitted" {
        fires [
            "diff --git a/src/x.txt b/src/y.txt\nrename from src/x.txt\nrename to src/y.txt\n".to_owned(),
            headed("diff --git a/src/x.txt b/src/x.txt\nrename to src/x.txt\n--- a/src/x.txt\n+++ b/src/x.txt\n"),
        ];
        silent [GOOD.to_owned(), inside("copy from src/x.txt")];
    }
    copy_not_permitted "copy_not_permitted" {
        fires [inside("copy from src/x.txt"), inside("copy to src/x.txt")];
        silent [GOOD.to_owned(), inside("rename from src/x.txt")];
    }
}

#[test]
fn a_line_of_a_hunk_is_never_a_header() {
    let repository = crate::support::Repository::new();
    repository.write("src/sql.txt", "-- drop\n++ raise\n");
    let text = "--- a/src/sql.txt\n+++ b/src/sql.txt\n@@ -1,2 +1,2 @@\n--- drop\n+++ keep\n ++ raise\n";
    crate::support::assert_accepted(&repository.check(text));
}
