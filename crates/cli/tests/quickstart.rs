//! The first run of a newcomer.

mod support;

use std::fs;

use support::Lead;

#[test]
fn it_runs_a_real_turn_and_shows_what_is_left() {
    let lead = Lead::new();
    fs::write(lead.workspace().join("main.rs"), "fn main() {}\n").unwrap();
    let mut command = lead.command(["quickstart"]);
    let output = command.current_dir(lead.workspace()).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    for words in ["Host\n", "Turn\n", "Answer\n", "Evidence\n", "committed, after", "Rust"] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }

    let value = |label: &str| {
        let line = stdout.lines().find(|line| line.trim_start().starts_with(label));
        line.unwrap_or_else(|| panic!("{label}: {stdout}")).trim_start()[label.len()..].trim().to_owned()
    };
    let id = value("task ");
    let directory = lead.task_directory(&id);
    assert_eq!(value("kept in"), directory.to_str().unwrap());
    let answer = fs::read_to_string(directory.join("result.txt")).unwrap();
    assert!(stdout.contains(&answer), "{stdout}");
    assert_eq!(lead.json(["status", &id]).answer()["publication"], "committed");

    // Each CLI that is there, with a command that works as it stands; each that is not.
    let codex = lead.programs().join("codex");
    assert_eq!(value("codex:exec"), codex.to_str().unwrap());
    assert!(stdout.contains("dispatch --provider codex:exec --brief - --cwd"), "{stdout}");
    assert!(stdout.contains(env!("CARGO_BIN_EXE_delegate")), "{stdout}");
}

#[test]
fn it_says_which_clis_are_missing() {
    let lead = Lead::new();
    let mut command = lead.command(["quickstart", "--cwd", "workspace"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    let catalogue = lead.json(["providers"]).answer();
    let programs = catalogue["providers"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["runtime"]["executable"].is_string());
    assert_eq!(stdout.matches("not found on PATH").count(), programs.count(), "{stdout}");
}

#[test]
fn a_runner_is_not_proposed_without_a_lane() {
    let lead = Lead::new();
    for name in ["delegation-kimi", "delegation-qwen"] {
        std::os::unix::fs::symlink("/bin/true", lead.programs().join(name)).unwrap();
    }
    let output = lead.command(["quickstart", "--cwd", "workspace"]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert_eq!(stdout.matches("needs a lane: delegation-route resolve --lane").count(), 2, "{stdout}");
    for runner in ["kimi:run", "qwen:run"] {
        assert!(!stdout.contains(&format!("--provider {runner}")), "{stdout}");
    }
}

#[test]
fn a_program_gets_the_task_answer_alone() {
    let lead = Lead::new();
    let ran = lead.json(["quickstart", "--cwd", "workspace"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let answer = ran.answer();
    assert_eq!(answer["command"], "quickstart");
    assert_eq!(answer["publication"], "committed");
}

#[test]
fn a_directory_that_holds_the_root_is_refused_with_a_way_out() {
    let lead = Lead::new();
    let ran = lead.run(["quickstart"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("quickstart --cwd DIR"), "{ran:?}");
    assert_eq!(lead.json(["quickstart"]).failure(), "workspace_invalid");
    assert!(!lead.root().exists());
}

#[test]
fn another_brief_and_another_provider() {
    let lead = Lead::new();
    let brief = lead.brief("[[fake: answer forty-two]]");
    let ran = lead.run([
        "quickstart",
        "--cwd",
        "workspace",
        "--brief",
        brief.to_str().unwrap(),
        "--provider",
        "codex:exec",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("forty-two"), "{ran:?}");
    assert!(ran.stdout.contains("a real CLI"), "{ran:?}");
}
