//! What a Grok run refuses before anything is started, and what `check` says (runners.md 1, 4.1, 4.2).

mod grok_support;
mod support;

use std::fs;
use std::os::unix::fs::symlink;

use executors::grok::GROK;
use grok_support::{ask, bare, install, lock_file, ready};
use serde_json::{Value, json};
use support::runs::clear;
use support::{Stage, gate_files};

/// A run is refused with 69, and `check` says the same as data.
fn unavailable(stage: &Stage, words: &str) -> Value {
    ask(stage, "x", &[]).refused(69, words);
    let status = stage.check();
    assert_eq!(status["selected_backend"], "none");
    let backend = &status["backends"]["grok-build"];
    assert_eq!(backend["available"], false);
    assert!(backend["reason"].as_str().is_some_and(|reason| reason.contains(words)), "{backend}");
    assert_eq!(stage.outputs(), Vec::<String>::new());
    status
}

#[test]
fn check_tells_everything_and_offers_no_terminal() {
    let mut stage = ready();
    stage.set("DELEGATION_GROK_TIMEOUT_SECONDS", "120");
    let before = support::files(&stage.path("home"));
    let status = stage.check();
    let expected = json!({
        "model": "grok-4.6",
        "runtime_model": "grok-4.6",
        "usage_model": "grok-4.6-build",
        "runtime_cli_version": "1.4.2",
        "runtime_cli_compatibility": "capability-probed",
        "runtime_cli_source": "path",
        "runtime_cli_path": stage.path("bin/grok"),
        "efforts": ["high"],
        "selected_backend": "grok-build",
        "qualified_lanes": [],
        "provisional_lanes": status["provisional_lanes"],
        "backends": {"grok-build": {
            "available": true,
            "reason": null,
            "efforts": ["high"],
            "sandbox": "delegation-kit",
            "permission_mode": "dontAsk",
            "max_turns": 40,
            "timeout_seconds": 120,
            "isolated_home": true,
            "runtime_home_isolated": true,
            "oauth_mode": "serialized",
            "oauth_modes": ["serialized", "shared"],
            "grok_home_mode": "isolated-copy",
            "credential_state_shared": false,
            "plugins": false,
            "mcp": false,
            "terminal": false,
        }},
    });
    assert_eq!(status, expected);
    let mut lanes: Vec<&str> =
        status["provisional_lanes"].as_array().expect("lanes").iter().filter_map(Value::as_str).collect();
    lanes.sort_unstable();
    assert_eq!(lanes, ["builder", "frontend-builder"]);
    let finished = stage.run(&["check"]);
    assert_eq!((finished.code, finished.stdout.lines().count()), (0, 2), "{finished:?}");
    assert_eq!(stage.run(&["check", "--all"]).code, 64);
    assert_eq!(support::files(&stage.path("home")), before, "a probe left nothing in the user's home");
}

#[test]
fn each_thing_that_is_missing_has_its_reason() {
    let stage = bare();
    let status = unavailable(&stage, "run: delegation-grok pin");
    assert_eq!((&status["runtime_cli_source"], &status["runtime_cli_path"]), (&json!("none"), &Value::Null));
    for (setup, words) in [
        (json!({"interface": null}), "lacks the required interface: the flags of a run"),
        (json!({"help": "Commands:\n  inspect\n"}), "lacks the required interface: models"),
        (json!({"help": "Commands:\n  models\n"}), "lacks the required interface: inspect"),
        (json!({"models_help": null}), "lacks the required interface: models --help"),
        (json!({"inspect_help": null}), "lacks the required interface: inspect --help"),
        (json!({"inspect_help": "no flags\n"}), "lacks the required interface: inspect --json"),
        (json!({"models": null}), "does not show a login"),
        (json!({"models": "You are logged in with an API key.\n* grok-4.6\n"}), "does not show a login"),
        (json!({"models": "You are not logged in with grok.com.\n* grok-4.6\n"}), "does not show a login"),
        (json!({"models": "logged in with grok.com\n* grok-4.6-build\n"}), "does not list the model"),
        (json!({"inspect": null}), "isolation contaminated"),
        (json!({"inspect": "{}"}), "isolation contaminated"),
        (json!({"inspect": contaminated("mcpServers", json!({"a": {}}))}), "empty mcpServers"),
        (json!({"inspect": contaminated("plugins", json!(["a"]))}), "empty plugins"),
        (json!({"inspect": contaminated("hooks", json!({"a": []}))}), "empty hooks"),
        (
            json!({"inspect": contaminated("permissions", json!({"sources": ["user"]}))}),
            "empty permissions.sources",
        ),
    ] {
        install(&stage, "bin/grok", setup);
        unavailable(&stage, words);
    }
    // A program that can not even be started.
    stage.write("bin/grok", "no program");
    unavailable(&stage, "lacks the required interface");
    install(&stage, "bin/grok", json!({}));
    for login in [
        "{",
        "[]",
        "{\"a\":{\"key\":\"\"}}",
        "{\"a\":{\"key\":\"\",\"refresh_token\":\"\",\"token_type\":\"Bearer\",\"tokens\":\"x\"}}",
    ] {
        stage.write("home/.grok/auth.json", login);
        unavailable(&stage, "it holds no login");
    }
    fs::remove_file(stage.path("home/.grok/auth.json")).expect("removed");
    unavailable(&stage, "sign in with: grok login");
    symlink(stage.write("elsewhere", "{\"key\":\"a\"}"), stage.path("home/.grok/auth.json")).expect("a link");
    unavailable(&stage, "sign in with: grok login");
}

fn contaminated(member: &str, value: Value) -> String {
    let mut shown = json!({"mcpServers": {}, "plugins": [], "permissions": {"sources": []}, "hooks": []});
    shown[member] = value;
    shown.to_string()
}

#[test]
fn settings_that_can_not_be_used_make_it_unavailable() {
    let mut stage = ready();
    for value in ["0", "soon", "-1"] {
        stage.set("DELEGATION_GROK_TIMEOUT_SECONDS", value);
        unavailable(&stage, "DELEGATION_GROK_TIMEOUT_SECONDS");
    }
    stage.unset("DELEGATION_GROK_TIMEOUT_SECONDS");
    let home = stage.path("home");
    stage.set("HOME", stage.path("missing"));
    unavailable(&stage, "HOME names no directory");
    stage.set("HOME", home);
    stage.set("DELEGATION_PASS_ENVIRONMENT", "ANTHROPIC_API_KEY");
    ask(&stage, "x", &[]).refused(64, "is not passed on");
    stage.unset("DELEGATION_PASS_ENVIRONMENT");
    ask(&stage, "x", &["--oauth", "both"]).refused(64, "--oauth must be serialized or shared");
    stage.set("DELEGATION_GROK_HOME", stage.path("elsewhere"));
    unavailable(&stage, "sign in with: grok login");
}

#[test]
fn a_container_socket_that_is_a_link_is_told_before_anything_is_started() {
    let mut stage = ready();
    symlink("nowhere", stage.path("docker.sock")).expect("a link");
    let place = format!("sandbox: {}", stage.path("docker.sock").display());
    unavailable(&stage, &place);
    unavailable(&stage, "replace it by the socket itself");
    stage.unset("DELEGATION_GROK_RUNTIME_SOCKET_ENDPOINTS");
    stage.write("home/.docker/run/.keep", "");
    symlink("nowhere", stage.path("home/.docker/run/docker.sock")).expect("a link");
    ask(&stage, "x", &[]).refused(69, "docker.sock is a symbolic link");
}

#[test]
fn a_workspace_that_brings_its_own_configuration_is_refused() {
    let stage = ready();
    stage.write("work/.grok/config.toml", "[[hooks]]\n");
    ask(&stage, "[[RUN: write dispatched]]", &[]).refused(69, "empty hooks in the workspace");
    assert!(!stage.path("work/dispatched").exists());
    assert!(!lock_file(&stage).exists());
    assert_eq!(stage.outputs(), Vec::<String>::new());
    assert_eq!(stage.check()["selected_backend"], "grok-build");
}

#[test]
fn a_command_line_that_is_invalid_is_refused_first() {
    let mut stage = bare();
    for words in
        [&[][..], &["--help"], &["check", "-h"], &["run", "--lane", "builder", "--help"], &["pin", "-h"]]
    {
        let finished = stage.run(words);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{words:?}");
        assert!(finished.stdout.starts_with("Usage: delegation-grok check"));
        for word in ["--oauth MODE", "pin [--from PATH] [--force]"] {
            assert!(finished.stdout.contains(word), "{word}");
        }
    }
    stage.set("DELEGATION_ROUTING_GATES_FILE", "/nowhere");
    for (more, said) in [
        (&["--oauth"][..], "--oauth needs a value"),
        (&["--effort", "max"], "--effort must be"),
        (&["--effort", "low"], "--effort must be"),
        (&["--backend", "native"], "--backend must be auto or grok-build"),
        (&["--prompt", "x"], "unknown argument"),
        (&["--evaluation"], "--evaluation-manifest"),
        (&["--preflight-only"], "--preflight-only needs --evaluation"),
        (&["--evaluation", "--evaluation-manifest", "m", "--allow-provisional"], "exclude each other"),
    ] {
        stage.run_lane("builder", more).refused(64, said);
    }
    for words in [&["check"][..], &["pin"], &["check", "--json"]] {
        stage.run(words).refused(78, "gates do not hold");
    }
    stage.unset("DELEGATION_ROUTING_GATES_FILE");
    for file in [stage.path("missing.json"), stage.write("bad.json", "{")] {
        stage.set(GROK.gate.variable, file);
        ask(&stage, "x", &[]).refused(78, "gates do not hold");
        stage.run(&["check"]).refused(78, "gates do not hold");
    }
}

#[test]
fn the_gates_decide_before_path_and_runtime() {
    let mut stage = bare();
    stage.unset("PATH");
    stage.write("out/answer.txt", "theirs");
    stage.run_lane("builder", &[]).refused(78, "--allow-provisional");
    stage.run_lane("policy-annotation", &["--allow-provisional"]).refused(78, "lane policy-annotation");
    stage.run_lane("scout", &["--allow-provisional"]).refused(64, "no lane scout");
    let more = ["--evaluation", "--evaluation-manifest", "/nowhere"];
    stage.run_lane("builder", &more).refused(78, "is not to be evaluated");
    stage.run_lane("policy-annotation", &more).refused(78, "evaluation manifest");
    gate_files::set_status(
        &mut stage,
        GROK.gate,
        "grok-build",
        "policy-annotation",
        "provisional",
        "explicit-only",
    );
    stage.run_lane("policy-annotation", &["--allow-provisional"]).refused(78, "policy-annotation");
}

#[test]
fn paths_are_checked_before_the_runtime() {
    let stage = bare();
    ask(&stage, "", &[]).refused(64, "the prompt is empty");
    for name in ["answer.txt", "answer.txt.metrics.json", "answer.txt.error.json"] {
        let path = stage.write(&format!("out/{name}"), "theirs");
        ask(&stage, "x", &[]).refused(64, "exists");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "theirs");
        fs::remove_file(&path).expect("removed");
        symlink("nowhere", &path).expect("a link");
        ask(&stage, "x", &[]).refused(64, "is a symbolic link");
        fs::remove_file(&path).expect("removed");
    }
    let at = |name: &str| stage.path(name).display().to_string();
    ask(&stage, "x", &["--metrics", &at("out/answer.txt")]).refused(64, "are the same file");
    ask(&stage, "x", &["--metrics", &at("missing/metrics.json")]).refused(64, "its directory");
    ask(&stage, "x", &["--debug-dir", &at("missing")]).refused(64, "No such file");
    ask(&stage, "x", &[]).refused(69, "run: delegation-grok pin");
    // Neither outputs nor debug directory need lie elsewhere in the builder lanes.
    let stage = ready();
    let (prompt, output, work) = (stage.path("prompt.md"), stage.path("work/answer.txt"), stage.path("work"));
    let mut words: Vec<std::ffi::OsString> =
        ["run", "--lane", "frontend-builder", "--allow-provisional"].map(std::ffi::OsString::from).to_vec();
    for (flag, path) in
        [("--prompt-file", prompt), ("--output", output), ("--workdir", work.clone()), ("--debug-dir", work)]
    {
        words.extend([flag.into(), path.into()]);
    }
    assert_eq!(stage.run(&words).code, 0);
    assert!(stage.path("work/answer.txt").exists());
    clear(&stage);
}
