//! What `check` says, and each thing that can be missing (runners.md 3.1, 3.2, 3.9).

mod kimi_support;
mod support;

use std::fs;

use kimi_support::{PROGRAM, ask, bare, install, pin, plant_ripgrep, ready};
use serde_json::{Value, json};
use support::Stage;

/// A run is refused with 69, and `check` says the same as data.
fn unavailable(stage: &Stage, words: &str) {
    ask(stage, "scout", "x", &[]).refused(69, words);
    let status = stage.check();
    assert_eq!(status["selected_backend"], "none");
    assert_eq!(status["backends"]["native"]["available"], false);
    assert_eq!(status["process_exec"]["attested"], false);
    let reason = &status["backends"]["native"]["reason"];
    assert!(reason.as_str().is_some_and(|reason| reason.contains(words)), "{reason}");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}

#[test]
fn check_tells_everything_of_a_runtime_that_is_there() {
    let mut stage = ready();
    let status = stage.check();
    assert_eq!(status["model"], "kimi-k3");
    assert_eq!(status["models"], json!({"native": "kimi-code/k3"}));
    assert_eq!(status["efforts"], json!(["max"]));
    assert_eq!(status["selected_backend"], "native");
    assert_eq!(status["qualified_lanes"], json!([]));
    let mut lanes: Vec<&str> =
        status["provisional_lanes"].as_array().expect("lanes").iter().filter_map(Value::as_str).collect();
    lanes.sort_unstable();
    assert_eq!(lanes, ["builder", "clerk", "frontend-builder", "scout"]);
    assert_eq!(status["runtime_cli_version"], "2.1.0");
    assert_eq!(status["runtime_cli_compatibility"], "capability-probed");
    assert_eq!(status["process_exec"], json!({"mode": "allowlist", "allowed": ["rg"], "attested": true}));
    assert_eq!(status["search_runtime"]["version"], "14.1.1");
    assert_eq!(status["search_runtime"]["non_system_dependency_count"], 0);
    let backend = &status["backends"]["native"];
    assert_eq!((&backend["available"], &backend["reason"]), (&json!(true), &Value::Null));
    for (member, value) in [
        ("efforts", json!(["max"])),
        ("sandbox", json!("linux-landlock")),
        ("isolated_home", json!(true)),
        ("environment_mode", json!("allowlist")),
        ("ambient_home_read", json!(false)),
        ("oauth_refresh_persistence", json!("serialized-atomic-sync")),
        ("builder_write_scope", json!("workdir")),
        ("read_only_write_scope", json!("scratch")),
    ] {
        assert_eq!(backend[member], value, "{member}");
    }
    for feature in ["terminal", "web_tools", "subagents", "skills"] {
        assert_eq!(status[feature], false, "{feature}");
    }
    let finished = stage.run(&["check"]);
    assert_eq!((finished.code, finished.stdout.lines().count()), (0, 2), "{finished:?}");
    stage.run(&["check", "extra"]).refused(64, "unknown argument extra");
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    assert_eq!(
        stage.check()["backends"]["native"]["oauth_refresh_persistence"],
        "shared-generation-atomic-sync"
    );
}

#[test]
fn each_thing_that_is_missing_has_its_reason() {
    let mut stage = bare();
    unavailable(&stage, "kimi is not on PATH");
    stage.write("bin/kimi", "#!/bin/sh\n");
    fs::set_permissions(stage.path("bin/kimi"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    unavailable(&stage, "is a script");
    install(&stage, json!({"role": "kimi"}));
    stage.set("DELEGATION_KIMI_PLATFORM", "Plan9");
    unavailable(&stage, "sandbox: platform Plan9: Kimi needs Linux with Landlock");
    stage.unset("DELEGATION_KIMI_PLATFORM");
    unavailable(&stage, "no ripgrep is pinned");
    plant_ripgrep(&stage, "rg", json!({}));
    pin(&stage);
    for (setup, words) in [
        (json!({"help": "--output-format stream-json --agent-file"}), "does not offer --skills-dir"),
        (json!({"help": "--output-format --agent-file --skills-dir"}), "does not offer stream-json"),
        (json!({"help": "--skills-dir stream-json --output-format"}), "does not offer --agent-file"),
        (json!({"help": ""}), "does not offer --output-format"),
        (json!({"doctor_help": "Usage: kimi doctor"}), "does not offer doctor config"),
        (json!({"doctor": null}), "does not accept the generated configuration"),
        (json!({"models": "{}"}), "has no model kimi-code/k3"),
        (json!({"models": "no JSON"}), "has no model kimi-code/k3"),
        (json!({"model": "k2"}), "for another model than k3"),
        (json!({"efforts": ["low", "high"]}), "does not support effort max"),
        (json!({"effort": "high"}), "does not run at effort max"),
        (
            json!({"providers": "managed:kimi-code  source=api_key\nother source=oauth\n"}),
            "login: kimi does not show",
        ),
        (json!({"providers": null}), "login: kimi does not show"),
    ] {
        let mut setup = setup;
        setup["role"] = "kimi".into();
        install(&stage, setup);
        unavailable(&stage, words);
    }
    install(&stage, json!({"role": "kimi"}));
    assert_eq!(stage.check()["selected_backend"], "native");
    // Another preference of the user changes nothing: the generated configuration pins the effort.
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
}

#[test]
fn without_the_kernel_s_sandbox_there_is_no_lane() {
    let mut stage = ready();
    let without = testkit::binary::path("testkit-without-landlock").expect("the program");
    stage.use_program(without);
    let mut words = stage.words("scout", &["--allow-provisional"]);
    words.insert(0, PROGRAM.into());
    stage.run(&words).refused(69, "sandbox: it needs Landlock 3");
    let finished = stage.run(&[PROGRAM, "check", "--json"]);
    assert_eq!(finished.code, 0, "{finished:?}");
    let status: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(status["selected_backend"], "none");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}

#[test]
fn probes_run_in_the_private_home_and_behind_the_fence() {
    // The version is asked of the program itself: what it could not do inside, it could not say.
    let stage = ready();
    let before = support::files(&stage.path("home"));
    assert_eq!(stage.check()["selected_backend"], "native");
    assert_eq!(support::files(&stage.path("home")), before, "a probe left nothing in the user's home");
}
