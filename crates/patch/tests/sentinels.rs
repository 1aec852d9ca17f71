//! Nothing of a patch's text reaches an output: only paths that can be represented, counts and digests.

mod support;

use patch::Environment;
use support::{GOOD, Repository, add, arguments, headed, hunked};

/// Stands for whatever must not leak.
const SENTINEL: &str = "SENTINEL0451";

fn outputs(repository: &Repository, text: &str) -> String {
    let environment =
        Environment { surroundings: repository.surroundings(), policy_file: None, program: None };
    let patch = repository.patch(text);
    let work = repository.work();
    let mut everything = Vec::new();
    for json in [true, false] {
        let mut words =
            vec!["check", "--patch", patch.to_str().unwrap(), "--workdir", work.to_str().unwrap()];
        words.extend(json.then_some("--json"));
        let mut errors = Vec::new();
        patch::main_entry(arguments(&words), &environment, &mut everything, &mut errors);
        everything.extend(errors);
    }
    String::from_utf8(everything).expect("UTF-8")
}

#[test]
fn no_sentinel_reaches_an_output() {
    let repository = Repository::new();
    repository.write("src/x.txt", format!("one\ntwo\nthree {SENTINEL}\n"));
    let s = SENTINEL;
    for text in [
        // In the body, accepted and refused by git.
        hunked(
            &format!("@@ -1,2 +1,2 @@ {s}\n one\n-two\n+{s}\n")
                .replace("@@ -1,2 +1,2 @@", "@@ -1,3 +1,3 @@")
                .replace(&format!("+{s}\n"), &format!("+{s}\n three {s}\n")),
        ),
        hunked(&format!("@@ -1,3 +1,3 @@ {s}\n one\n-{s}\n+TWO\n three {s}\n")),
        // In lines that no rule knows, or that break off.
        format!("{s}\n{GOOD}"),
        hunked(&format!("@@ -1,3 +1,3 @@\n one\n*{s}\n")),
        hunked(&format!("@@ {s} @@\n one\n")),
        format!("diff --git a/{s} b/{s} {s}\n{GOOD}"),
        format!("index {s}\n{GOOD}"),
        format!("new file mode {s}\n{GOOD}"),
        format!("old mode {s}\nrename from {s}\n{GOOD}"),
        format!("Binary files {s} and {s} differ\n"),
        // In names that can not be represented.
        headed(&format!("--- a/{s} x\n+++ b/{s} x\n")),
        headed(&format!("--- \"a/{s}\\n\"\n+++ \"b/{s}\\n\"\n")),
        headed(&format!("--- \"a/{s}\\q\"\n+++ \"b/{s}\n")),
        headed(&format!("--- \"a/x\\000{s}\"\n+++ \"b/x\\000{s}\"\n")),
        headed(&format!("--- a/src/x.txt\t{s}\n+++ b/src/x.txt\t{s}\n")),
        headed(&format!("--- /{s} x\n+++ /{s} x\n")),
        headed(&format!("--- \"/{s}\\n\"\n+++ \"/{s}\\n\"\n")),
    ] {
        let out = outputs(&repository, &text);
        assert!(out.contains("verdict"), "a receipt was printed: {out}");
        assert!(!out.contains(s), "{text}\n{out}");
    }
    let bytes = [GOOD.as_bytes(), b"--- a/\xff", s.as_bytes(), b"\n"].concat();
    repository.patch(&bytes);
    let receipt = repository.check(bytes);
    assert!(!receipt.json().contains(s));
}

#[test]
fn a_path_that_can_be_represented_is_shown() {
    let repository = Repository::new();
    assert!(outputs(&repository, &add(SENTINEL)).contains(SENTINEL));
}
