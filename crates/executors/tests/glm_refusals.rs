//! What the GLM runner refuses before it starts anything, and what `check` says (runners.md 1, 2.1, 2.2).

mod glm_support;
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use executors::glm::GLM;
use glm_support::{KEY, PROFILE, bare, install, ready};
use serde_json::{Value, json};
use support::{Stage, gate_files};

fn refused(stage: &Stage, lane: &str, more: &[&str], code: i32, words: &str) {
    stage.run_lane(lane, more).refused(code, words);
    assert_eq!(stage.outputs(), Vec::<String>::new());
}

#[test]
fn the_gates_decide_which_lane_runs() {
    let stage = ready();
    for (lane, more, code, words) in [
        ("scout", &["--effort", "high"][..], 64, "--effort"),
        ("senior", &[], 64, "no lane senior"),
        ("builder", &[], 78, "--allow-provisional"),
        ("reviewer", &["--allow-provisional"], 78, "disabled"),
        ("policy-annotation", &["--allow-provisional"], 78, "candidate"),
        ("scout", &["--backend", "other"], 64, "--backend"),
        ("scout", &["--preflight-only"], 64, "--preflight-only"),
        ("scout", &["--max-cost-usd"], 64, "--max-cost-usd"),
        ("scout", &["--evaluation"], 64, "--evaluation"),
        (
            "policy-annotation",
            &["--evaluation", "--evaluation-manifest", "x", "--allow-provisional"],
            64,
            "exclude",
        ),
    ] {
        refused(&stage, lane, more, code, words);
    }
    for budget in ["0", "-1", "1e3", "x", "1.", ".5", "", "1001", "inf", "nan", "+1"] {
        refused(&stage, "scout", &["--max-cost-usd", budget], 64, "--max-cost-usd");
    }
}

#[test]
fn only_some_lanes_of_some_statuses_are_evaluated() {
    let evaluation = ["--evaluation", "--evaluation-manifest", "missing.json"];
    let stage = ready();
    for (lane, status) in [("scout", "qualified"), ("builder", "provisional"), ("reviewer", "disabled")] {
        refused(&stage, lane, &evaluation, 78, &format!("status {status} is not to be evaluated"));
    }
    // From here on it is the manifest that is missing.
    refused(&stage, "policy-annotation", &evaluation, 78, "evaluation manifest");
    for (lane, status, selection) in [
        ("scout", "provisional", "explicit-only"),
        ("clerk", "candidate", "blocked"),
        ("builder", "candidate", "blocked"),
    ] {
        let mut stage = ready();
        gate_files::set_status(&mut stage, GLM.gate, &format!("{PROFILE}-{lane}"), lane, status, selection);
        refused(&stage, lane, &evaluation, 78, "evaluation manifest");
    }
}

#[test]
fn bad_gates_are_refused_before_the_command_line() {
    for words in [&["--help"][..], &["unheard-of"], &["check"], &[]] {
        let mut stage = bare();
        stage.set("DELEGATION_GLM_ROUTING_FILE", stage.path("missing.json"));
        stage.run(words).refused(78, "gates");
    }
    for prefix in [json!("Upper"), json!(""), json!("other"), Value::Null] {
        let mut stage = ready();
        gate_files::change(&mut stage, GLM.gate, |_, executable| {
            executable["profile_prefix"] = prefix.clone()
        });
        let words = stage.words("scout", &["--max-cost-usd", "x"]);
        stage.run(&words).refused(78, "");
        for words in
            [&["--help"][..], &["--version"], &["unheard-of"], &["run", "--unheard-of"], &["check"], &[]]
        {
            stage.run(words).refused(78, "");
        }
    }
    let mut stage = ready();
    gate_files::set_status(
        &mut stage,
        GLM.gate,
        &format!("{PROFILE}-scout"),
        "scout",
        "provisional",
        "explicit-only",
    );
    refused(&stage, "scout", &[], 78, "--allow-provisional");
    assert_eq!(stage.run_lane("scout", &["--allow-provisional"]).code, 0);
    assert_eq!(ready().run(&["--help"]).code, 0);
}

#[test]
fn paths_are_refused_before_key_and_program_are_looked_for() {
    let stage = bare();
    stage.write("there/answer.txt", "theirs");
    fs::create_dir(stage.path("directory")).expect("a directory");
    fs::create_dir(stage.path("taken.txt.error.json")).expect("a directory");
    symlink(stage.path("nowhere"), stage.path("dangling")).expect("a link");
    symlink(stage.path("nowhere"), stage.path("linked.txt.error.json")).expect("a link");
    let at = |name: &str| stage.path(name).display().to_string();
    let words = |output: &str, metrics: Option<&str>| {
        let mut words: Vec<String> = ["run", "--lane", "scout", "--prompt-file"].map(str::to_owned).to_vec();
        words.extend([at("prompt.md"), "--output".to_owned(), at(output)]);
        words.extend(metrics.into_iter().flat_map(|metrics| ["--metrics".to_owned(), at(metrics)]));
        words
    };
    for (output, metrics, why) in [
        ("there/answer.txt", None, "exists"),
        ("directory", None, "exists"),
        ("dangling", None, "symbolic link"),
        ("new.txt", Some("there/answer.txt"), "exists"),
        ("new.txt", Some("directory"), "exists"),
        ("new.txt", Some("new.txt"), "same file"),
        ("new.txt", Some("new.txt.error.json"), "same file"),
        ("taken.txt", None, "exists"),
        ("linked.txt", None, "symbolic link"),
    ] {
        stage.run(&words(output, metrics)).refused(64, why);
    }
    refused(&stage, "scout", &["--debug-dir", &at("missing")], 64, "--debug-dir");
    for (name, value) in [
        ("DELEGATION_GLM_TIMEOUT_SECONDS", "0"),
        ("DELEGATION_GLM_BASE_URL", "https://example.org"),
        ("DELEGATION_PASS_ENVIRONMENT", "OPENAI_API_KEY"),
    ] {
        let mut stage = bare();
        stage.set(name, value);
        refused(&stage, "scout", &[], 64, name);
    }
}

#[test]
fn each_step_of_the_probe_has_its_reason() {
    let unavailable = |stage: &Stage, words: &str| {
        refused(stage, "scout", &[], 69, words);
        let status = stage.check();
        assert_eq!(status["selected_backend"], "none");
        let backend = &status["backends"]["claude-zai"];
        assert_eq!(backend["available"], false);
        assert!(backend["reason"].as_str().is_some_and(|reason| reason.contains(words)), "{status}");
        status
    };
    let status = unavailable(&bare(), "not a standalone GLM client");
    assert_eq!((&status["host"]["available"], &status["host"]["claude"]), (&json!(false), &json!(false)));

    let stage = bare();
    install(&stage, "codex", json!({}));
    let status = unavailable(&stage, "claude is not on PATH");
    assert_eq!((&status["host"]["available"], &status["host"]["codex"]), (&json!(true), &json!(true)));

    for content in [None, Some("not executable")] {
        let mut stage = ready();
        stage.set("DELEGATION_GLM_CLAUDE_BIN", stage.path("named"));
        if let Some(content) = content {
            stage.write("named", content);
        }
        unavailable(&stage, "DELEGATION_GLM_CLAUDE_BIN");
    }
    for value in ["0", "31", "x"] {
        let mut stage = ready();
        stage.set("DELEGATION_GLM_CAPABILITY_TIMEOUT_SECONDS", value);
        unavailable(&stage, "DELEGATION_GLM_CAPABILITY_TIMEOUT_SECONDS");
    }
    let mut stage = bare();
    stage.set("DELEGATION_GLM_CAPABILITY_TIMEOUT_SECONDS", "1");
    install(&stage, "claude", json!({"help": "hang"}));
    unavailable(&stage, "probe timed out");
    for (help, words) in [("fail", "probe failed"), ("Usage: claude\n", "--effort")] {
        let stage = bare();
        install(&stage, "claude", json!({"help": help}));
        unavailable(&stage, words);
    }
    let mut stage = ready();
    stage.unset("ZAI_API_KEY");
    unavailable(&stage, "login: ZAI_API_KEY is unset");
    let file = stage.write("zai.env", format!("export ZAI_API_KEY='{KEY}'\n"));
    stage.set("DELEGATION_GLM_KEY_FILE", &file);
    unavailable(&stage, "chmod 600");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    assert_eq!(stage.run_lane("scout", &[]).code, 0);
    stage.set("ZAI_API_KEY", "a\"b");
    stage.run(&["check"]).refused(64, "ZAI_API_KEY");
}

#[test]
fn a_check_names_lanes_and_programs() {
    let stage = ready();
    assert_eq!(
        stage.check(),
        json!({
            "model": "glm-5.3-flash",
            "roles": ["clerk", "scout", "builder", "reviewer", "policy-annotation"],
            "efforts": ["max"],
            "selected_backend": "claude-zai",
            "host": {"available": true, "reason": null, "claude": true, "codex": false},
            "qualified_lanes": ["clerk", "scout"],
            "provisional_lanes": ["builder"],
            "backends": {"claude-zai": {"available": true, "reason": null}},
        })
    );
    let finished = stage.run(&["check"]);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (0, "glm-5.3-flash through claude-zai: available\nqualified: clerk scout; provisional: builder\n")
    );
    let finished = bare().run(&["check"]);
    assert_eq!(finished.code, 0);
    assert!(finished.stdout.contains("unavailable: not a standalone GLM client"));
}

#[test]
fn without_landlock_nothing_runs() {
    let mut stage = ready();
    let mut words = vec![std::ffi::OsString::from(glm_support::PROGRAM)];
    words.extend(stage.words("scout", &[]));
    stage.use_program(testkit::binary::path("testkit-without-landlock").expect("a program"));
    stage.run(&words).refused(69, "sandbox: it needs Landlock 3");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}
