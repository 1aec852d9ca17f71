//! A reader that goes away early: nothing is said about it, and nothing of a task changes.

mod support;

use std::process::{Command, Stdio};

use support::Lead;

/// Runs a command whose standard output nobody reads any more.
fn unread(command: &mut Command) -> (i32, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn every_command_ends_with_one_and_without_a_word() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: answer one]]", &[]);
    assert_eq!(lead.collect(&id).code, 0);
    for words in [
        &["list"][..],
        &["status", &id],
        &["collect", &id],
        &["wait", &id],
        &["logs", &id],
        &["cancel", &id],
        &["events"],
        &["providers"],
        &["capabilities", "--provider", "codex:exec"],
        &["doctor"],
        &["help"],
        &["man"],
        &["completions", "bash"],
        &["schema"],
        &["version"],
        &["--help"],
    ] {
        for json in [false, true] {
            let mut command = lead.command(words);
            if json {
                command.arg("--json");
            }
            assert_eq!(unread(&mut command), (1, String::new()), "{words:?} {json}");
        }
    }
}

#[test]
fn what_follows_something_ends_with_its_reader() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: answer one]]", &[]);
    assert_eq!(lead.collect(&id).code, 0);
    for words in [&["events", "--follow"][..], &["events", "--follow", "--json"], &["logs", &id, "--follow"]]
    {
        assert_eq!(unread(&mut lead.command(words)).0, 0, "{words:?}");
    }
}

#[test]
fn the_turn_of_a_dispatch_that_nobody_reads_is_kept() {
    let lead = Lead::new();
    let id = "ab".repeat(16);
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer one]]", &["--wait", "--id", &id]);
    assert_eq!(unread(&mut lead.command(&arguments)).0, 1);
    let ran = lead.json(&arguments);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn the_shell_sees_it_too() {
    let lead = Lead::new();
    let inner = lead.command(["list", "--json"]);
    let mut shell = Command::new("bash");
    shell
        .args(["-c", "set -o pipefail; \"$@\" | true", "bash"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    // `true` may end before or after the one line is written.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert_eq!(output.stderr, b"");
}
