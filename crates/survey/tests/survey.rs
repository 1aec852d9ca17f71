//! The worker as its caller sees it: a brief goes in, the protocol comes out.

mod support;

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use support::{Repository, answer_of, messages_of, write};
use survey::protocol::{Message, Status};
use survey::{EXIT_DONE, EXIT_FAILED};

#[test]
fn the_messages_come_in_order() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.rs", "fn main() {}\n");
    let (code, messages) = messages_of(folder.path(), &mut &b"Look around\n"[..]);
    assert_eq!(code, EXIT_DONE);
    assert!(matches!(&messages[0], Message::Session { id } if id.len() == 36));
    let middle = &messages[1..messages.len() - 1];
    assert!(middle.iter().any(|message| matches!(message, Message::Answer { .. })));
    assert!(
        middle.iter().all(|message| { matches!(message, Message::Answer { .. } | Message::Progress { .. }) })
    );
    let end = Message::Result { status: Status::Ok, code: None, message: None };
    assert_eq!(messages.last(), Some(&end));
}

#[test]
fn a_repository_is_told_whole() {
    let repository = Repository::new();
    let root = repository.path();
    write(root, "Cargo.toml", "[package]\nname = \"a\"\n");
    write(root, "src/lib.rs", "//! A.\n// TODO: more\npub fn a() {}\n");
    write(root, ".gitignore", "/ignored\n");
    write(root, ".github/workflows/ci.yml", "name: CI\n");
    repository.commit("First `thing`");
    write(root, "src/lib.rs", "//! A.\n// TODO: more\n// FIXME\n");
    write(root, "staged.md", "# Staged\n");
    repository.git(&["add", "staged.md"]);
    write(root, "new.md", "# New\n");
    write(root, "ignored/big.rs", "// TODO\n");

    let answer = answer_of(root);
    for expected in [
        "> Asked: `Look around`",
        "is a Rust package: 6 files, 9 lines of text,",
        "Written in Rust (33.3 %)",
        "Build with `cargo build` and test with `cargo test`.",
        "| Rust     |     1 |     3 | 33.3 % |",
        "- On branch `main`.\n- Changes: 1 file staged, 1 file changed and not staged and 1 file untracked.",
        " 2026-11-30 First `thing`\n",
        "| test  | `cargo test`  | `Cargo.toml` |",
        "- `.github/workflows/ci.yml` (`CI`)",
        "1 TODO and 1 FIXME.",
        "src/lib.rs:2: TODO: more\nsrc/lib.rs:3: FIXME\n",
    ] {
        assert!(answer.contains(expected), "{expected}\n---\n{answer}");
    }
    assert!(!answer.contains("ignored/"), "{answer}");
}

#[test]
fn the_same_workspace_gives_the_same_answer_and_stays_as_it_was() {
    let repository = Repository::new();
    let root = repository.path();
    for index in 0..40 {
        write(root, &format!("d{}/f{index}.py", index % 7), "# TODO\nx = 1\n");
    }
    repository.commit("All");
    // Same size and content, new time: git would like to refresh its index.
    write(root, "d0/f0.py", "# TODO\nx = 1\n");
    let before = support::snapshot(root);
    let first = answer_of(root);
    assert_eq!(first, answer_of(root));
    assert!(first.contains("Changes: nothing to commit."), "{first}");
    assert_eq!(before, support::snapshot(root));
}

#[test]
fn a_folder_of_a_repository_is_told_as_such() {
    let repository = Repository::new();
    write(repository.path(), "top.rs", "// TODO top\n");
    write(repository.path(), "part/a.rs", "// a\n");
    repository.commit("All");
    write(repository.path(), "top.rs", "// changed\n");
    let answer = answer_of(&repository.path().join("part"));
    assert!(answer.contains("- The workspace is `part` inside its repository."), "{answer}");
    assert!(answer.contains("holds 1 file, 1 line of text"), "{answer}");
    assert!(answer.contains("Changes: nothing to commit."), "{answer}");
    assert!(!answer.contains("top.rs") && !answer.contains("TODO top"), "{answer}");
}

#[test]
fn conflicts_a_detached_head_and_an_empty_repository() {
    let repository = Repository::new();
    let root = repository.path();
    assert!(answer_of(root).contains("- On branch `main`, without commits."));
    write(root, "a", "1\n");
    repository.commit("One");
    repository.git(&["checkout", "-q", "-b", "other"]);
    write(root, "a", "2\n");
    repository.commit("Two");
    repository.git(&["checkout", "-q", "main"]);
    write(root, "a", "3\n");
    repository.commit("Three");
    repository.git_fails(&["merge", "-q", "other"]);
    let answer = answer_of(root);
    assert!(answer.contains("Changes: 1 file in conflict."), "{answer}");
    assert!(answer.contains("holds 1 file,"), "{answer}");
    repository.git(&["checkout", "-q", "--force", "--detach", "main"]);
    assert!(answer_of(root).contains("- On no branch (detached head)."));
}

#[test]
fn hostile_names_and_lines_are_shown_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let name = std::ffi::OsStr::from_bytes(b"a\x1b[2J\n`|\xff.rs");
    fs::write(root.join(name), "// TODO \x1b]0;x\x07 ``` \u{202e}end\n").unwrap();
    write(root, "Makefile", "all:\n");
    symlink("/etc", root.join("link")).unwrap();
    let pipe = root.join("pipe.rs");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    let mut brief = &b"\x1b[31mRead `this`\n"[..];
    let (_, messages) = messages_of(root, &mut brief);
    let answer = support::joined(&messages);
    assert!(answer.chars().all(|character| character == '\n' || !character.is_control()), "{answer:?}");
    assert!(!answer.contains('\u{202e}'), "{answer:?}");
    for expected in [
        r"> Asked: `` \u{1b}[31mRead `this` ``",
        r"``a\u{1b}[2J\n`\|\xff.rs``",
        "````text\n",
        "- 1 symbolic link not followed.",
        "- 1 special file (pipes, sockets, devices) not opened.",
    ] {
        assert!(answer.contains(expected), "{expected}\n---\n{answer}");
    }
}

#[test]
fn an_empty_workspace_and_an_empty_brief_are_fine() {
    let folder = tempfile::tempdir().unwrap();
    let (code, messages) = messages_of(folder.path(), &mut io::empty());
    assert_eq!(code, EXIT_DONE);
    let answer = support::joined(&messages);
    assert!(answer.contains("> The brief has no text."), "{answer}");
    assert!(answer.contains("holds no files to look at."), "{answer}");
    assert!(answer.contains("The workspace is in no git repository."), "{answer}");
}

#[test]
fn a_missing_workspace_is_told_in_the_last_message() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let (code, messages) = messages_of(&missing, &mut &b"x"[..]);
    assert_eq!(code, EXIT_FAILED);
    assert_eq!(failure(&messages), "workspace_unreadable");
}

#[test]
fn an_unreadable_brief_is_told_in_the_last_message() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (code, messages) = messages_of(folder.path(), &mut Broken);
    assert_eq!(code, EXIT_FAILED);
    assert_eq!(failure(&messages), "brief_unreadable");
}

#[test]
fn a_closed_output_ends_the_survey_quietly_and_another_fault_does_not() {
    struct Failing(io::ErrorKind);
    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let survey = |kind| survey::run(Path::new("."), &mut io::empty(), &mut Failing(kind));
    assert_eq!(survey(io::ErrorKind::BrokenPipe).unwrap(), EXIT_FAILED);
    let error = survey(io::ErrorKind::StorageFull).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

fn failure(messages: &[Message]) -> &str {
    match messages {
        [
            Message::Session { .. },
            ..,
            Message::Result { status: Status::Error, code: Some(code), message: Some(message) },
        ] if !message.is_empty() => code,
        _ => panic!("no failure: {messages:?}"),
    }
}
