//! What a Gemini run refuses before anything is started, and what `check` says (runners.md 1, 6).

mod gemini_support;
mod support;

use std::fs;
use std::os::unix::fs::symlink;

use executors::gemini::GEMINI;
use gemini_support::{PROGRAM, STORE, ask, bare, install, ready};
use serde_json::{Value, json};
use support::runs::clear;
use support::{Stage, gate_files};

/// A run is refused with 69, and `check` says the same as data.
fn unavailable(stage: &Stage, words: &str) {
    ask(stage, "builder", "x", &[]).refused(69, words);
    let status = stage.check();
    assert_eq!(status["selected_backend"], "none");
    assert_eq!(status["backends"]["agy"]["available"], false);
    let reason = status["backends"]["agy"]["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains(words), "{reason}");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}

#[test]
fn check_tells_that_no_lane_is_operational() {
    let stage = ready();
    let status = stage.check();
    assert_eq!(
        status,
        json!({
            "model": "gemini-3.7-flash",
            "efforts": [],
            "selected_backend": "agy",
            "qualified_lanes": [],
            "provisional_lanes": [],
            "backends": {"agy": {"available": true, "reason": null, "efforts": []}},
        })
    );
    let finished = stage.run(&["check"]);
    assert_eq!((finished.code, finished.stdout.lines().count()), (0, 2), "{finished:?}");
    assert_eq!(stage.run(&["check", "--all"]).code, 64);
}

#[test]
fn each_thing_that_is_missing_has_its_reason() {
    unavailable(&bare(), "agy is not on PATH");
    let stage = bare();
    for (setup, words) in [
        (json!({"help": "--print --model --effort --mode --sandbox\n"}), "does not offer --print-timeout"),
        // Another flag that begins alike.
        (json!({"help": "--print-timeout --model --effort --mode --sandbox\n"}), "does not offer --print"),
        (json!({"help": null}), "does not offer --print"),
        (json!({"plugins": "imported plugins: one\n"}), "no plugin is imported"),
        (json!({"plugins": "No imported plugins.\nforeign\n"}), "no plugin is imported"),
        (json!({"plugins": null}), "no plugin is imported"),
        (json!({"models": null}), "login: agy shows no models"),
        (json!({"models": "gemini-3.7-flash\n"}), "login: agy models does not list gemini-3.7-flash-"),
        (
            json!({"models": "gemini-3.7-flash-medium\tx\ngemini-3.7-flash-high-preview\tx\n"}),
            "login: agy models does not list gemini-3.7-flash-high",
        ),
        (
            json!({"models": "gemini-3.7-flash-medium\n"}),
            "login: agy models does not list gemini-3.7-flash-high",
        ),
        (
            json!({"models": "gemini-3.7-flash-medium\nold\tgemini-3.7-flash-high\n"}),
            "login: agy models does not list gemini-3.7-flash-high",
        ),
    ] {
        install(&stage, setup);
        unavailable(&stage, words);
    }
    // A line that is the id alone will do.
    install(&stage, json!({"models": "gemini-3.7-flash-medium\ngemini-3.7-flash-high\n"}));
    assert_eq!(ask(&stage, "builder", "x", &[]).code, 0);
    clear(&stage);
    fs::remove_file(stage.path(STORE)).expect("removed");
    unavailable(&stage, "holds no login");
    symlink(stage.write("elsewhere", "x"), stage.path(STORE)).expect("a link");
    unavailable(&stage, "holds no login");
    let mut stage = ready();
    stage.set("HOME", stage.path("missing"));
    unavailable(&stage, "HOME names no directory");
}

#[test]
fn without_the_kernel_s_sandbox_there_is_no_lane() {
    let mut stage = ready();
    stage.use_program(testkit::binary::path("testkit-without-landlock").expect("the program"));
    let mut words = stage.words("builder", &["--evaluation"]);
    words.insert(0, PROGRAM.into());
    stage.run(&words).refused(69, "sandbox: it needs Landlock 3");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}

#[test]
fn a_command_line_that_is_invalid_is_refused_first() {
    let mut stage = bare();
    for words in [&[][..], &["--help"], &["check", "-h"], &["run", "--lane", "scout", "--help"]] {
        let finished = stage.run(words);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{words:?}");
        assert!(finished.stdout.starts_with("Usage: delegation-gemini check"));
    }
    stage.set("DELEGATION_ROUTING_GATES_FILE", "/nowhere");
    for (more, said) in [
        (&["--effort"][..], "--effort needs a value"),
        (&["--effort", "max"], "--effort must be"),
        (&["--backend", "native"], "--backend must be auto or agy"),
        (&["--evaluation-manifest", "m"], "unknown argument"),
        (&["--preflight-only"], "unknown argument"),
        (&["--prompt", "x"], "unknown argument"),
        (&["--evaluation", "--allow-provisional"], "exclude each other"),
    ] {
        stage.run_lane("scout", more).refused(64, said);
    }
    stage.run(&["fly"]).refused(64, "unknown command fly");
    stage.run_lane("scout", &[]).refused(78, "gates do not hold");
    stage.run(&["check", "--json"]).refused(78, "gates do not hold");
    stage.unset("DELEGATION_ROUTING_GATES_FILE");
    for file in [stage.path("missing.json"), stage.write("bad.json", "{")] {
        stage.set(GEMINI.gate.variable, file);
        stage.run_lane("scout", &["--evaluation"]).refused(78, "gates do not hold");
        stage.run(&["check"]).refused(78, "gates do not hold");
    }
}

#[test]
fn the_gates_decide_before_path_and_runtime() {
    let mut stage = bare();
    stage.unset("PATH");
    stage.write("out/answer.txt", "theirs");
    for lane in GEMINI.lanes {
        stage.run_lane(lane, &[]).refused(78, &format!("lane {lane}"));
        stage.run_lane(lane, &["--allow-provisional"]).refused(78, &format!("lane {lane}"));
    }
    for lane in ["reviewer", "judgement"] {
        ask(&stage, lane, "x", &[]).refused(78, "disabled is not to be evaluated");
    }
    ask(&stage, "clerk", "x", &[]).refused(64, "no lane clerk");
    ask(&stage, "scout", "x", &["--effort", "high"]).refused(78, "pins effort medium");
    ask(&stage, "builder", "x", &["--effort", "medium"]).refused(78, "pins effort high");
    ask(&stage, "builder", "x", &["--effort", "high"]).refused(64, "exists");
    let profile = "gemini-3.7-flash-scout";
    gate_files::set_status(&mut stage, GEMINI.gate, profile, "scout", "provisional", "explicit-only");
    stage.run_lane("scout", &[]).refused(78, "--allow-provisional");
    stage.run_lane("scout", &["--allow-provisional"]).refused(64, "exists");
}

#[test]
fn paths_are_checked_before_the_runtime() {
    let stage = bare();
    for name in ["answer.txt", "answer.txt.metrics.json", "answer.txt.error.json"] {
        let path = stage.write(&format!("out/{name}"), "theirs");
        ask(&stage, "builder", "x", &[]).refused(64, "exists");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "theirs");
        fs::remove_file(&path).expect("removed");
        symlink("nowhere", &path).expect("a link");
        ask(&stage, "builder", "x", &[]).refused(64, "is a symbolic link");
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("a directory");
        ask(&stage, "builder", "x", &[]).refused(64, "exists");
        fs::remove_dir(&path).expect("removed");
    }
    for metrics in ["out/answer.txt", "out/answer.txt.error.json"] {
        let metrics = stage.path(metrics).display().to_string();
        ask(&stage, "builder", "x", &["--metrics", &metrics]).refused(64, "are the same file");
    }
    let missing = stage.path("missing").display().to_string();
    ask(&stage, "builder", "x", &["--debug-dir", &missing]).refused(64, "No such file");
    ask(&stage, "builder", &"x".repeat(131_072), &[]).refused(64, "does not fit into one argument");
    ask(&stage, "builder", "a\0b", &[]).refused(64, "NUL byte");
    assert_eq!(stage.outputs(), Vec::<String>::new());
    ask(&stage, "builder", "x", &[]).refused(69, "agy is not on PATH");
}

#[test]
fn settings_without_a_usable_value_are_refused() {
    let mut stage = bare();
    for value in ["0", "soon", "-1"] {
        stage.set("DELEGATION_GEMINI_TIMEOUT_SECONDS", value);
        ask(&stage, "builder", "x", &[]).refused(64, "DELEGATION_GEMINI_TIMEOUT_SECONDS");
    }
    stage.unset("DELEGATION_GEMINI_TIMEOUT_SECONDS");
    stage.set("DELEGATION_PASS_ENVIRONMENT", "ANTHROPIC_API_KEY");
    ask(&stage, "builder", "x", &[]).refused(64, "is not passed on");
}

#[test]
fn missing_parents_are_made_and_outputs_may_lie_in_the_workspace() {
    let stage = ready();
    let at = |name: &str| stage.path(name).display().to_string();
    let (prompt, output, work) = (at("prompt.md"), at("work/new/deep/answer.txt"), at("work"));
    let words = ["run", "--lane", "builder", "--evaluation", "--prompt-file", &prompt, "--output", &output];
    let finished = stage.run(&[&words[..], &["--workdir", &work]].concat());
    assert_eq!(finished.code, 0, "{finished:?}");
    let metrics = fs::read(stage.path("work/new/deep/answer.txt.metrics.json")).expect("metrics");
    let metrics: Value = serde_json::from_slice(&metrics).expect("JSON");
    assert_eq!(metrics["lane"], "builder");
}
