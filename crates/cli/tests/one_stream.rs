//! Standard output and standard error in one pipe: every line is one line.

mod support;

use std::io::Read;
use std::process::Command;

use support::Lead;

/// Everything that a command prints, in the order in which it does.
fn together(mut command: Command) -> String {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    // Its ends of the pipe are still in it.
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}

#[test]
fn an_answer_and_what_is_said_about_it_stand_on_lines_of_their_own() {
    let lead = Lead::new();
    for answer in ["forty-two", "\"forty-two\\n\""] {
        let brief = format!("[[fake: answer {answer}]]");
        let text = together(lead.command(lead.dispatch_arguments("codex:exec", &brief, &["--wait"])));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("task_id="), "{text}");
        let place = lines.iter().position(|line| *line == "forty-two").unwrap_or_else(|| panic!("{text}"));
        assert!(lines[place + 1].starts_with("task ") && lines[place + 1].ends_with(": committed"), "{text}");
        assert!(lines[1..place].iter().all(|line| line.starts_with(['q', 'r', 'e'])), "{text}");
    }
}

#[test]
fn the_last_line_of_raw_output_is_ended() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: 64-KiB-cut]]", &[]);
    let _ = lead.collect(&id);
    let raw = lead.task_directory(&id).join("raw/stdout");
    let text = together(lead.command(["logs", &id, "--follow"]));
    let last = text.lines().last().unwrap();
    assert!(last.starts_with(&format!("task {id}: ")), "{last}");
    assert!(!std::fs::read(raw).unwrap().ends_with(b"\n"));
}

#[test]
fn a_quickstart_closes_its_answer() {
    let lead = Lead::new();
    let workspace = lead.workspace();
    let words = ["quickstart", "--provider", "codex:exec", "--cwd", workspace.to_str().unwrap(), "--brief"];
    let mut command = lead.command(words);
    command.arg(lead.brief("[[fake: answer forty-two]]"));
    let text = together(command);
    assert!(text.contains("\nforty-two\n-----"), "{text}");
}
