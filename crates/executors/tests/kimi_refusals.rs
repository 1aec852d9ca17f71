//! What a Kimi run refuses before anything is started (runners.md 1.1 to 1.5, 3.1).

mod kimi_support;
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use executors::kimi::KIMI;
use kimi_support::{ask, bare, ready};
use support::{Stage, gate_files};

fn at(stage: &Stage, name: &str) -> String {
    stage.path(name).into_os_string().into_string().expect("UTF-8")
}

#[test]
fn help_is_no_error() {
    let stage = bare();
    for words in
        [&[][..], &["--help"], &["check", "-h"], &["run", "--lane", "scout", "--help"], &["pin-rg", "-h"]]
    {
        let finished = stage.run(words);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{words:?}");
        assert!(finished.stdout.starts_with("Usage: delegation-kimi check"));
        for word in ["--oauth MODE", "--prompt TEXT", "pin-rg [--from PATH] [--force]", "130"] {
            assert!(finished.stdout.contains(word), "{word}");
        }
    }
}

#[test]
fn a_command_line_that_is_invalid_is_refused_first() {
    let mut stage = bare();
    stage.set("DELEGATION_ROUTING_GATES_FILE", "/nowhere");
    for (more, said) in [
        (&["--oauth"][..], "--oauth needs a value"),
        (&["--prompt", "x"], "exclude each other"),
        (&["--effort", "extreme"], "--effort must be"),
        (&["--backend", "openai"], "--backend must be auto or native"),
        (&["--max-cost-usd", "1"], "unknown argument"),
        (&["--evaluation"], "--evaluation-manifest"),
        (&["--preflight-only"], "--preflight-only needs --evaluation"),
        (&["--evaluation", "--evaluation-manifest", "m", "--allow-provisional"], "exclude each other"),
        (&["--debug-dir"], "--debug-dir needs a value"),
    ] {
        stage.run_lane("scout", more).refused(64, said);
    }
    let (output, work) = (at(&stage, "out/answer.txt"), at(&stage, "work"));
    let manifest = ["--evaluation", "--evaluation-manifest", "m", "--prompt", "x"];
    let words =
        [&["run", "--lane", "policy-annotation", "--output", &output, "--workdir", &work], &manifest[..]];
    stage.run(&words.concat()).refused(64, "--evaluation needs --prompt-file");
    stage.run(&["fly"]).refused(64, "unknown command fly");
}

#[test]
fn bad_gates_are_refused_before_anything_else_is_looked_at() {
    let mut stage = bare();
    stage.unset("PATH");
    stage.write("out/answer.txt", "theirs");
    let not_json = stage.write("bad.json", "{");
    for (variable, file) in [
        ("DELEGATION_ROUTING_GATES_FILE", stage.path("missing.json")),
        (KIMI.gate.variable, stage.path("missing.json")),
        (KIMI.gate.variable, not_json),
    ] {
        stage.set(variable, file);
        stage.run_lane("scout", &["--allow-provisional"]).refused(78, "gates do not hold");
        stage.run(&["check", "--json"]).refused(78, "gates do not hold");
        stage.run(&["pin-rg"]).refused(78, "gates do not hold");
        stage.unset(variable);
    }
}

#[test]
fn the_gates_decide_before_path_and_runtime() {
    let mut stage = bare();
    stage.unset("PATH");
    stage.write("out/answer.txt", "theirs");
    stage.run_lane("scout", &[]).refused(78, "--allow-provisional");
    for lane in ["reviewer", "senior", "judgement", "policy-annotation"] {
        stage.run_lane(lane, &["--allow-provisional"]).refused(78, &format!("lane {lane}"));
    }
    stage.run_lane("explorer", &["--allow-provisional"]).refused(64, "no lane explorer");
    for effort in ["low", "high"] {
        stage.run_lane("scout", &["--allow-provisional", "--effort", effort]).refused(78, "pins effort max");
    }
    // A lane that a gate opens and that has no tools.
    gate_files::set_status(&mut stage, KIMI.gate, "kimi-k3", "senior", "provisional", "explicit-only");
    stage.run_lane("senior", &["--allow-provisional"]).refused(78, "no tools are known");
    gate_files::change(&mut stage, KIMI.gate, |central, executable| {
        let profile = &mut central["profiles"]["kimi-k3"];
        profile["effort"] = "high".into();
        for (_, lane) in profile["lanes"].as_object_mut().expect("lanes") {
            // The evidence is on another effort.
            lane["exact_evidence_ids"] = serde_json::json!([]);
        }
        for (_, lane) in executable["lanes"].as_object_mut().expect("lanes") {
            lane["default_effort"] = "high".into();
            lane["backends"]["native"]["effort"] = "high".into();
        }
    });
    let more = ["--allow-provisional", "--effort", "high"];
    stage.run_lane("scout", &more).refused(64, "at max alone");
}

#[test]
fn paths_are_checked_before_the_runtime() {
    let mut stage = bare();
    stage.unset("PATH");
    let refused = |lane: &str, output: &str, work: &str, more: &[&str], said: &str| {
        let (prompt, output, work) = (at(&stage, "prompt.md"), at(&stage, output), at(&stage, work));
        let words = ["run", "--lane", lane, "--allow-provisional", "--prompt-file", &prompt];
        let paths = ["--output", &output, "--workdir", &work];
        stage.run(&[&words[..], &paths, more].concat()).refused(64, said);
    };
    refused("scout", "missing/answer.txt", "work", &[], "its directory");
    refused("scout", "work/answer.txt", "work", &[], "lies in the workspace");
    for name in ["answer.txt", "answer.txt.metrics.json", "answer.txt.error.json", "answer.txt.stderr"] {
        let path = stage.write(&format!("out/{name}"), "theirs");
        refused("scout", "out/answer.txt", "work", &[], "exists");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "theirs");
        fs::remove_file(&path).expect("removed");
        symlink("nowhere", &path).expect("a link");
        refused("scout", "out/answer.txt", "work", &[], "is a symbolic link");
        fs::remove_file(&path).expect("removed");
    }
    for metrics in ["out/answer.txt", "out/answer.txt.error.json", "out/answer.txt.stderr"] {
        refused("scout", "out/answer.txt", "work", &["--metrics", &at(&stage, metrics)], "are the same file");
    }
    refused("builder", "out/answer.txt", "home", &[], "too wide");
    refused("builder", "out/answer.txt", ".", &[], "too wide");
    let root =
        ["run", "--lane", "scout", "--allow-provisional", "--prompt", "x", "--output", "x", "--workdir", "/"];
    stage.run(&root).refused(64, "too wide");
    refused("builder", "out/answer.txt", "tmp", &[], "lies in it");
    refused("builder", "out/answer.txt", "home/.kimi-code", &[], "lies in it");
    let debug = stage.path("debug");
    fs::create_dir(&debug).expect("a directory");
    let more = ["--debug-dir", debug.to_str().expect("UTF-8")];
    fs::set_permissions(&debug, fs::Permissions::from_mode(0o750)).expect("a mode");
    refused("scout", "out/answer.txt", "work", &more, "closed to others");
    fs::set_permissions(&debug, fs::Permissions::from_mode(0o700)).expect("a mode");
    refused("scout", "out/answer.txt", "debug", &more, "lies in the workspace");
    refused("scout", "out/answer.txt", "work", &["--debug-dir", &at(&stage, "missing")], "No such file");
    assert_eq!(stage.outputs(), Vec::<String>::new());
    // With everything in order, the runtime is what is missing.
    stage.run_lane("builder", &["--allow-provisional"]).refused(69, "kimi is not on PATH");
}

#[test]
fn a_prompt_must_hold_something_and_fit_into_one_argument() {
    let stage = bare();
    ask(&stage, "scout", "", &[]).refused(64, "the prompt is empty");
    ask(&stage, "scout", &"x".repeat(131_072), &[]).refused(64, "does not fit into one argument");
    ask(&stage, "scout", "a\0b", &[]).refused(64, "NUL byte");
    let stage = ready();
    let longest = format!("[[KIMI: say long]]{}", "x".repeat(131_071 - 18));
    assert_eq!(ask(&stage, "scout", &longest, &[]).code, 0);
}

#[test]
fn settings_without_a_usable_value_are_refused() {
    let mut stage = bare();
    for (variable, value) in [
        ("DELEGATION_KIMI_OAUTH_MODE", "both"),
        ("DELEGATION_KIMI_OAUTH_WAIT_SECONDS", "-1"),
        ("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", "soon"),
    ] {
        stage.set(variable, value);
        ask(&stage, "scout", "x", &[]).refused(64, variable);
        stage.unset(variable);
    }
    ask(&stage, "scout", "x", &["--oauth", "both"]).refused(64, "--oauth must be serialized or shared");
    stage.set("DELEGATION_KIMI_HEARTBEAT_SECONDS", "often");
    ask(&stage, "scout", "x", &[]).refused(69, "kimi is not on PATH");
    stage.set("HOME", stage.path("missing"));
    ask(&stage, "scout", "x", &[]).refused(69, "HOME names no directory");
    assert_eq!(stage.check()["selected_backend"], "none");
}
