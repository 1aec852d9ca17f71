//! What a Grok run gives its child, and what becomes of what the child says (runners.md 4.3 to 4.5).

mod grok_support;
mod support;

use std::fs;
use std::path::Path;

use grok_support::{ACCESS, REFRESH, ask, install, lock_file, observed, ready, wait_for_starts};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::runs::{clear, mode};

#[test]
fn the_child_sees_what_was_made_for_it_and_nothing_else() {
    let mut stage = ready();
    stage.set_umask("027");
    stage.set("LANG", "C.UTF-8");
    stage.set("GROK_HOME", "/nowhere");
    let mut profiles = Vec::new();
    for _ in 0..2 {
        let seen = observed(&stage, "[[RUN: observe]]\n", &[]);
        let seen = &seen["observed"];
        let variables = &seen["variables"];
        let home = variables["HOME"].as_str().expect("a home").to_owned();
        assert!(Path::new(&home).starts_with(stage.path("tmp")), "{home}");
        assert_eq!(
            *variables,
            json!({
                "DELEGATION_COOKIE": variables["DELEGATION_COOKIE"],
                "HOME": home,
                "LANG": "C.UTF-8",
                "PATH": format!("{}:/usr/bin:/bin", stage.path("bin").display()),
                "TMPDIR": format!("{home}-scratch"),
            })
        );
        assert_eq!(seen["prompt"], "[[RUN: observe]]\n", "byte for byte, in a file");
        assert_eq!(seen["stdin"], 0);
        assert_eq!(seen["directory"].as_str(), stage.path("work").to_str());
        assert_eq!(
            seen["home"],
            json!({
                ".grok": "700",
                ".grok/auth.json": "600",
                ".grok/config.toml": "600",
                ".grok/sandbox.toml": "600",
                // Made by a builder, as its user makes files; the directory is closed.
                ".grok/sandbox-events.jsonl": "640",
            })
        );
        let arguments = seen["arguments"].as_array().expect("arguments");
        assert!(!arguments.iter().any(|word| word.as_str().is_some_and(|word| word.contains("[[RUN"))));
        let at = arguments.iter().position(|word| word == "--sandbox").expect("a profile");
        let profile = arguments[at + 1].as_str().expect("a name").to_owned();
        assert!(profile.starts_with("delegation-kit-"), "{profile}");
        let text = |name: &str| {
            let text = seen["texts"][name].as_str().expect("text");
            serde_json::to_value(text.parse::<toml::Table>().expect("TOML")).expect("JSON")
        };
        let expected = json!({"extends": "strict", "restrict_network": true});
        assert_eq!(text("sandbox.toml"), json!({"profiles": {profile.clone(): expected}}));
        let config = text("config.toml");
        for tool in ["claude", "cursor", "codex"] {
            for import in ["skills", "rules", "agents", "mcps", "hooks"] {
                assert_eq!(config["compat"][tool][import], false, "{tool} {import}");
            }
        }
        assert_eq!(config["workflows"]["enabled"], false);
        profiles.push(profile);
        clear(&stage);
    }
    assert_ne!(profiles[0], profiles[1], "no two runs share a profile");
    assert!(!lock_file(&stage).exists());
}

#[test]
fn metrics_and_answer_of_a_run_that_went_well() {
    let stage = ready();
    let finished = ask(&stage, "[[RUN: write made.txt]] [[RUN: say \"the answer\"]]", &[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    assert_eq!(stage.answer().as_deref(), Some(&b"the answer\n"[..]), "without the thought");
    assert!(stage.path("work/made.txt").exists());
    let metrics = stage.metrics();
    let expected = json!({
        "model": "grok-4.6",
        "requested_model": "grok-4.6",
        "runtime_model": "grok-4.6",
        "usage_model": "grok-4.6-build",
        "effective_content_model": "grok-4.6",
        "exact_model_identity_attested": true,
        "usage_participants": [
            {
                "model": "grok-4.6-build", "input_tokens": 100, "output_tokens": 20, "reasoning_tokens": 7,
                "cache_read_tokens": 30, "cache_write_tokens": 0, "model_calls": 2, "cost_usd": 0.02,
            },
            {
                "model": "grok-helper", "input_tokens": 5, "output_tokens": 2, "reasoning_tokens": 0,
                "cache_read_tokens": 1, "cache_write_tokens": 0, "cost_usd": 0.001,
            },
        ],
        "target_usage_participant_present": true,
        "backend": "grok-build",
        "effort": "high",
        "lane": "builder",
        "runtime_cli_version": "1.4.2",
        "runtime_cli_compatibility": "capability-probed",
        "runtime_cli_source": "path",
        "sandbox": "delegation-kit",
        "permission_mode": "dontAsk",
        "isolated_home": true,
        "plugins": false,
        "mcp": false,
        "terminal": false,
        "max_turns": 40,
        "timeout_seconds": 900,
        "started_at_epoch": metrics["started_at_epoch"],
        "finished_at_epoch": metrics["finished_at_epoch"],
        "duration_seconds": metrics["duration_seconds"],
        "stop_reason": "EndTurn",
        "turns": 2,
        "tokens": {"input": 105, "output": 22, "reasoning": 7, "cache_read": 31, "total": 165},
        "provider_cost_usd": 0.021,
    });
    assert_eq!(metrics, expected);
    assert_eq!(stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
    for name in stage.outputs() {
        assert_eq!(mode(&stage.path("out").join(name)), 0o600);
    }
}

#[test]
fn an_answer_that_names_no_model_is_published_as_such() {
    let stage = ready();
    assert_eq!(ask(&stage, r#"[[RUN: set "{\"model\":null}"]]"#, &[]).code, 0);
    let metrics = stage.metrics();
    assert_eq!(metrics["effective_content_model"], Value::Null);
    assert_eq!(metrics["exact_model_identity_attested"], false);
    clear(&stage);
    // Another version of the program is recorded and accepted; the bill may come without the model that is billed for.
    install(&stage, "bin/grok", json!({"version": "grok 9.9.9-next\n"}));
    let usage = r#"[[RUN: set "{\"modelUsage\":{\"other\":{\"inputTokens\":1,\"outputTokens\":1}}}"]]"#;
    assert_eq!(ask(&stage, usage, &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_version"], "9.9.9-next");
    assert_eq!(stage.metrics()["target_usage_participant_present"], false);
    assert_eq!(stage.metrics()["provider_cost_usd"], Value::Null);
}

#[test]
fn a_failure_is_classified_and_told_without_a_word_of_the_vendor() {
    let mut stage = ready();
    stage.plant("planted-words");
    let malformed = "malformed_or_mismatched_output";
    for (deeds, code, phase, reason) in [
        (r#"[[RUN: complain "planted-words"]] [[RUN: exit 1]]"#, 70, "dispatch", "dispatch_failed"),
        (
            r#"[[RUN: complain "planted-words: 401 Unauthorized"]] [[RUN: exit 1]]"#,
            69,
            "dispatch",
            "authentication_failed",
        ),
        (r#"[[RUN: complain "401, 429"]] [[RUN: exit 1]]"#, 75, "dispatch", "temporarily_unavailable"),
        (
            r#"[[RUN: complain "refusing sandbox profile"]] [[RUN: exit 1]]"#,
            69,
            "dispatch",
            "sandbox_profile_refused",
        ),
        ("[[RUN: unattested]]", 70, "sandbox", "sandbox_not_enforced"),
        (
            r#"[[RUN: unattested]] [[RUN: note "{\"event\":\"ProfileApplied\",\"profile\":\"OWN\",\"enforced\":false}"]]"#,
            70,
            "sandbox",
            "sandbox_not_enforced",
        ),
        (
            r#"[[RUN: unattested]] [[RUN: note "{\"event\":\"ProfileApplied\",\"profile\":\"delegation-kit\",\"enforced\":true}"]]"#,
            70,
            "sandbox",
            "sandbox_not_enforced",
        ),
        (r#"[[RUN: set "{\"model\":\"grok-3\"}"]]"#, 70, "identity", "provider_identity_mismatch"),
        (r#"[[RUN: set "{\"stopReason\":\"MaxTurns\"}"]]"#, 70, "extract", "max_turns"),
        (r#"[[RUN: set "{\"stopReason\":\"Cancelled\"}"]]"#, 70, "extract", "cancelled"),
        (r#"[[RUN: set "{\"stopReason\":\"Pause\"}"]]"#, 70, "extract", malformed),
        (r#"[[RUN: set "{\"stopReason\":null}"]]"#, 70, "extract", malformed),
        (r#"[[RUN: set "{\"text\":\" \"}"]]"#, 70, "extract", malformed),
        (r#"[[RUN: set "{\"text\":[\"planted-words\"]}"]]"#, 70, "extract", malformed),
        (r#"[[RUN: set "{\"modelUsage\":null}"]]"#, 70, "extract", malformed),
        (r#"[[RUN: print "planted-words"]]"#, 70, "extract", malformed),
    ] {
        ask(&stage, deeds, &[]).refused(code, &format!("{reason} (details: "));
        let diagnostic = stage.diagnostic();
        assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
        let status = if phase == "dispatch" { 1 } else { 0 };
        assert_eq!(
            diagnostic,
            json!({
                "model": "grok-4.6",
                "runtime_model": "grok-4.6",
                "runtime_cli_version": "1.4.2",
                "runtime_cli_compatibility": "capability-probed",
                "backend": "grok-build",
                "effort": "high",
                "lane": "builder",
                "phase": phase,
                "reason": reason,
                "cli_exit_code": status,
                "started_at_epoch": diagnostic["started_at_epoch"],
                "finished_at_epoch": diagnostic["finished_at_epoch"],
                "duration_seconds": diagnostic["duration_seconds"],
                "captured_bytes": diagnostic["captured_bytes"],
                "debug_path": null,
            })
        );
        for stream in ["vendor_stdout", "vendor_stderr"] {
            assert!(diagnostic["captured_bytes"][stream].is_u64());
        }
        assert_eq!(stage.outputs(), ["answer.txt.error.json"], "{reason}");
        clear(&stage);
    }
    // Peers and noise change nothing.
    let noise = r#"[[RUN: note "no JSON"]] [[RUN: note "{\"event\":\"ProfileApplied\",\"profile\":\"peer\",\"enforced\":false}"]]"#;
    assert_eq!(ask(&stage, noise, &[]).code, 0);
}

#[test]
fn a_run_ends_at_its_limit() {
    let mut stage = ready();
    stage.set("DELEGATION_GROK_TIMEOUT_SECONDS", "1");
    ask(&stage, "[[RUN: rotate kept]] [[RUN: hang]]", &[]).refused(75, "timeout (details: ");
    assert_eq!(stage.diagnostic()["cli_exit_code"], Value::Null);
    assert!(grok_support::login(&stage).contains("refresh-rotated-kept"));
}

#[test]
fn raw_material_is_kept_only_on_request_and_only_of_a_failure() {
    let stage = ready();
    let debug = stage.write("debug/.keep", "").parent().expect("a parent").to_path_buf();
    let more = ["--debug-dir", debug.to_str().expect("UTF-8")];
    let prompt = format!(
        r#"[[RUN: rotate zz]] [[RUN: complain "what grok says {ACCESS} {REFRESH} refresh-rotated-zz"]] [[RUN: exit 3]]"#
    );
    assert_eq!(ask(&stage, &prompt, &more).code, 70);
    let diagnostic = stage.diagnostic();
    let kept = Path::new(diagnostic["debug_path"].as_str().expect("a directory")).to_path_buf();
    assert_eq!((kept.parent(), mode(&kept)), (Some(debug.as_path()), 0o700));
    let mut files = support::files(&kept);
    files.sort();
    assert_eq!(files, ["response.json", "stderr.txt"].map(|name| kept.join(name)));
    for file in &files {
        assert_eq!(mode(file), 0o600);
        let text = fs::read_to_string(file).expect("readable");
        assert!(!text.contains(ACCESS) && !text.contains(REFRESH));
    }
    assert_eq!(
        fs::read_to_string(kept.join("stderr.txt")).expect("readable"),
        "what grok says [redacted] [redacted] [redacted]\n"
    );
    fs::remove_dir_all(kept).expect("removed");
    clear(&stage);
    assert_eq!(ask(&stage, "x", &more).code, 0);
    assert_eq!(support::files(&debug), [debug.join(".keep")]);
}

#[test]
fn a_runner_that_is_told_to_end_keeps_the_login_and_leaves_nothing() {
    let stage = ready();
    stage.write("prompt.md", "[[RUN: rotate kept]] [[RUN: leave]] [[RUN: started]] [[RUN: hang]]");
    let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
    wait_for_starts(&stage, 1);
    let left = fs::read_to_string(stage.path("work/left")).expect("a number");
    let left = Pid::from_raw(left.trim().parse().expect("a number")).expect("a process");
    let runner = Pid::from_raw(started.pid().cast_signed()).expect("a process");
    kill_process(runner, Signal::TERM).expect("a signal");
    let finished = stage.finish(started);
    assert_eq!((finished.code, finished.stderr.as_str()), (-15, ""), "{finished:?}");
    assert_eq!(stage.outputs(), Vec::<String>::new());
    assert!(rustix::process::test_kill_process(left).is_err(), "what the child left is ended");
    assert!(grok_support::login(&stage).contains("refresh-rotated-kept"));
    assert!(!lock_file(&stage).exists());
}

#[test]
fn what_can_not_be_published_is_taken_back() {
    let stage = ready();
    for (name, reason) in
        [("answer.txt", "output_finalize_failed"), ("answer.txt.metrics.json", "metrics_finalize_failed")]
    {
        stage.write("prompt.md", "[[RUN: started]] [[RUN: wait go]]");
        let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
        wait_for_starts(&stage, 1);
        stage.write(&format!("out/{name}"), "theirs");
        stage.write("work/go", "");
        stage.finish(started).refused(70, reason);
        let mut left = [name, "answer.txt.error.json"];
        left.sort_unstable();
        assert_eq!(stage.outputs(), left);
        assert_eq!(fs::read_to_string(stage.path("out").join(name)).expect("readable"), "theirs");
        fs::remove_file(stage.path("work/go")).expect("removed");
        clear(&stage);
    }
}
