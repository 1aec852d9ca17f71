//! What a person sees of real turns, and how the commands end.

mod support;

use std::fs;

use support::Lead;

const UNKNOWN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn waiting_prints_the_answer_and_nothing_else_on_standard_output() {
    let lead = Lead::new();
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer forty-two]]", &["--wait"]);
    let ran = lead.run(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "forty-two"), "{ran:?}");
    let id = ran.stderr.lines().find_map(|line| line.strip_prefix("task_id="));
    let path = lead.task_directory(id.unwrap()).join("result.txt");
    assert!(ran.stderr.contains(path.to_str().unwrap()), "{ran:?}");
}

#[test]
fn a_dispatch_says_how_to_go_on() {
    let lead = Lead::new();
    let ran = lead.run(lead.dispatch_arguments("offline:survey", "What is here?", &[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.stderr.trim().strip_prefix("task_id=").unwrap();
    for command in ["wait", "status", "cancel"] {
        let ending = format!(" {command} {id}");
        assert!(ran.stdout.lines().any(|line| line.ends_with(&ending)), "{ran:?}");
    }
    assert_eq!(lead.run(["wait", id]).code, 0);
}

#[test]
fn a_committed_task_is_described() {
    let lead = Lead::new();
    let id = lead.dispatch("offline:survey", "What is here?", &[]);
    let answer = lead.collect(&id).answer();
    let path = lead.task_directory(&id).join("result.txt");
    let (path, digest) = (path.to_str().unwrap(), answer["payload"]["sha256"].as_str().unwrap());

    for command in ["status", "collect"] {
        let ran = lead.run([command, &id]);
        assert_eq!(ran.code, 0, "{ran:?}");
        for words in ["committed", "offline:survey", path, digest] {
            assert!(ran.stdout.contains(words), "{words}: {ran:?}");
        }
    }
    let logs = lead.run(["logs", &id]);
    assert!(logs.stdout.contains("raw/stdout: ") && logs.stdout.contains("sealed"), "{logs:?}");
    assert!(logs.stdout.contains(r#"{"type":"result""#), "{logs:?}");
    let files = lead.json(["logs", &id]).answer();
    assert!(files["raw"].as_array().unwrap().len() >= 2, "{files}");

    let waited = lead.run(["wait", &id]);
    assert_eq!((waited.code, waited.stdout), (0, format!("{id}  committed  {path}\n")));
}

#[test]
fn an_ended_task_leaves_nothing_to_cancel() {
    let lead = Lead::new();
    let id = lead.dispatch("offline:survey", "What is here?", &[]);
    assert_eq!(lead.collect(&id).code, 0);
    for more in [&[][..], &["--watch", "60s"]] {
        let ran = lead.run([&["cancel", &id][..], more].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.stderr, "The task had ended: there was nothing to cancel.\n");
        assert!(ran.stdout.contains("committed"), "{ran:?}");
    }
    let held = lead.dispatch("codex:exec", "[[fake: silent-forever]]", &[]);
    let ran = lead.run(["cancel", &held, "--watch", "60s"]);
    assert!(ran.code == 4 && !ran.stderr.contains("nothing to cancel"), "{ran:?}");
}

#[test]
fn models_of_a_missing_program_say_what_is_missing() {
    let lead = Lead::new();
    fs::remove_file(lead.programs().join("codex")).unwrap();
    let workspace = lead.workspace();
    let cwd = ["--cwd", workspace.to_str().unwrap(), "--provider", "codex:exec"];
    let models = lead.run([&["models"][..], &cwd].concat());
    let preflight = lead.run([&["preflight"][..], &cwd].concat());
    assert_eq!(models.code, 2);
    let complaint = preflight.stderr.lines().next().unwrap();
    assert!(complaint.contains("codex"), "{preflight:?}");
    assert_eq!(models.stderr.trim_end(), complaint);
}

#[test]
fn a_task_that_is_not_there_is_an_operational_fault() {
    let lead = Lead::new();
    let id = lead.dispatch("offline:survey", "What is here?", &[]);
    assert_eq!(lead.collect(&id).code, 0);
    for command in ["status", "collect", "logs", "cancel"] {
        let ran = lead.json([command, UNKNOWN]);
        assert_eq!((ran.code, ran.failure().as_str()), (1, "task_not_found"));
    }
    let ran = lead.json(["wait", &id, UNKNOWN]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.answer()["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(lead.run(["wait", "--any", &id, UNKNOWN]).code, 0);
}

#[test]
fn a_refusal_goes_to_standard_error() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: silent-forever]]", &[]);
    let early = lead.run(["collect", &id]);
    assert_eq!(early.code, 3, "{early:?}");
    assert_eq!(lead.json(["wait", &id, "--watch", "0s"]).code, 3);
    let ran = lead.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"));
    assert_eq!(ran.answer()["stop"]["terminated"], true);

    assert_eq!(lead.run(["status", &id]).code, 0);
    let collected = lead.run(["collect", &id]);
    assert_eq!(collected.code, 4);
    assert!(collected.stdout.contains("rejected: cancelled"), "{collected:?}");

    let brief = lead.workspace().with_file_name("brief-again");
    fs::write(&brief, "[[fake: silent-forever]]").unwrap();
    let ran = lead.run([
        "dispatch",
        "--provider",
        "codex:exec",
        "--brief",
        brief.to_str().unwrap(),
        "--cwd",
        lead.workspace().to_str().unwrap(),
        "--id",
        &id,
        "--wait",
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran:?}");
    assert!(ran.stderr.contains("cancelled"), "{ran:?}");
}

#[test]
fn a_watch_that_ends_leaves_the_task_alone() {
    let lead = Lead::new();
    let mut arguments = lead.dispatch_arguments("codex:exec", "[[fake: silent-forever]]", &["--wait"]);
    arguments.extend(["--watch".to_owned(), "0s".to_owned()]);
    let ran = lead.run(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran:?}");
    let id = ran.stderr.lines().find_map(|line| line.strip_prefix("task_id="));
    let id = id.unwrap();
    assert!(ran.stderr.contains(&format!(" wait {id}")), "{ran:?}");
    assert_eq!(lead.run(["cancel", id, "--watch", "60s"]).code, 4);
}

#[test]
fn a_brief_from_standard_input() {
    let lead = Lead::new();
    let brief = lead.brief("[[fake: answer forty-two]]");
    let workspace = lead.workspace();
    let words = ["dispatch", "--provider", "codex:exec", "--brief", "-", "--wait", "--cwd"];
    let run = |input: fs::File| {
        let mut command = lead.command(words);
        command.arg(&workspace).stdin(input).output().unwrap()
    };
    let output = run(fs::File::open(brief).unwrap());
    assert_eq!(output.stdout, b"forty-two", "{output:?}");
    let output = run(fs::File::open("/dev/null").unwrap());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("empty"), "{output:?}");
}
