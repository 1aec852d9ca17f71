//! One durable turn from dispatch to a result whose every byte can be checked.

mod support;

use std::fs;
use std::process::Command;

use support::Lead;

/// What `sha256sum` says of a file.
fn sha256sum(path: &std::path::Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

#[test]
fn the_offline_worker_surveys_a_workspace() {
    let lead = Lead::new();
    fs::write(lead.workspace().join("main.rs"), "fn main() {}\n// TODO: everything\n").unwrap();
    let ran = lead.turn("offline:survey", "What is here?", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.answer();
    assert_eq!(answer["admission"], "admitted");
    assert_eq!(answer["liveness"], "ended");
    assert_eq!(answer["publication"], "committed");
    let outcome = &answer["outcome"];
    assert_eq!(outcome["reason"]["code"], "completed");
    assert_eq!(outcome["launched"], "yes");
    assert_eq!(outcome["containment"], support::containment());
    assert_eq!(outcome["fence"], "none");
    let id = answer["task_id"].as_str().unwrap();
    let report = fs::read_to_string(lead.task_directory(id).join("result.txt")).unwrap();
    assert!(report.contains("Rust") && report.contains("TODO"), "{report}");
}

#[test]
fn every_digest_verifies() {
    let lead = Lead::new();
    let ran = lead.turn("codex:exec", "[[fake: answer forty-two]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.answer();
    let id = answer["task_id"].as_str().unwrap();
    let directory = lead.task_directory(id);
    let outcome = lead.record(id, "outcome.json").unwrap();
    let seal = lead.record(id, "seal.json").unwrap();
    assert_eq!(fs::read_to_string(directory.join("result.txt")).unwrap(), "forty-two");
    assert_eq!(outcome["payload"]["sha256"], sha256sum(&directory.join("result.txt")).as_str());
    assert_eq!(outcome["evidence_sha256"], sha256sum(&directory.join("seal.json")).as_str());
    assert_eq!(outcome["request_sha256"], sha256sum(&directory.join("request.json")).as_str());
    assert_eq!(outcome["plan_sha256"], sha256sum(&directory.join("plan.json")).as_str());
    let request = lead.record(id, "request.json").unwrap();
    assert_eq!(request["brief_sha256"], sha256sum(&directory.join("brief.md")).as_str());
    let manifest = seal["manifest"].as_array().unwrap();
    assert_eq!(manifest.len(), 3, "two streams and the last message: {manifest:?}");
    for entry in manifest {
        let path = directory.join(entry["path"].as_str().unwrap());
        assert_eq!(entry["sha256"], sha256sum(&path).as_str());
        assert_eq!(entry["size"], fs::metadata(&path).unwrap().len());
    }
}

#[test]
fn nothing_is_left_behind() {
    let lead = Lead::new();
    let ran = lead.turn("offline:survey", "look", &[]);
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    // The outcome is what everybody waits for; the runner tidies up after it.
    support::until("the supervisor to leave", || lead.everything().is_empty().then_some(()));
    assert!(fs::read_dir(lead.root().join("open")).unwrap().next().is_none());
    assert!(fs::read_dir(lead.root().join("staging")).unwrap().next().is_none());
    assert!(!lead.task_directory(&id).join("reserve").exists());
}

#[test]
fn the_human_form_shows_the_answer() {
    let lead = Lead::new();
    let mut arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer forty-two]]", &["--wait"]);
    let ran = lead.run(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("forty-two"), "{ran:?}");
    arguments.retain(|argument| argument != "--wait");
    let ran = lead.run(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.lines().any(|line| line.starts_with("task_id=")), "{ran:?}");
}

#[test]
fn what_a_child_gets_is_exactly_the_plan() {
    let lead = Lead::new();
    let ran = lead.turn("pi:json", "[[fake: answer yes]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let plan = lead.record(&id, "plan.json").unwrap();
    let launches = lead.log().launches();
    assert_eq!(launches.len(), 1);
    let planned: Vec<&str> =
        plan["launch"]["argv"].as_array().unwrap().iter().filter_map(|word| word.as_str()).collect();
    assert_eq!(launches[0].arguments[1..], planned[1..]);
    let mut names: Vec<&str> = plan["launch"]["environment"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry.as_str()?.split_once('='))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    assert_eq!(launches[0].environment_names, names);
    assert_eq!(support::task_of(&launches[0]), id);
    let request = lead.record(&id, "request.json").unwrap();
    assert_eq!(request["brief_sha256"], launches[0].stdin_sha256.as_str());
}
