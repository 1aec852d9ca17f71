//! What a Gemini run gives its child, seen from inside, and what becomes of what the child says (runners.md 6).

mod gemini_support;
mod support;

use std::fs;
use std::path::Path;

use gemini_support::{TOKEN, ask, install, observed, ready, wait_for_start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::runs::{clear, mode};

#[test]
fn the_child_sees_what_was_made_for_it_and_nothing_else() {
    let mut stage = ready();
    stage.set("LANG", "C.UTF-8");
    stage.set("PASSED", "on");
    stage.set("DELEGATION_PASS_ENVIRONMENT", "PASSED, SSH_TTY");
    stage.write("work/source.txt", "source");
    for (lane, effort) in [("scout", "medium"), ("builder", "high"), ("frontend-builder", "high")] {
        let seen = observed(&stage, lane, "[[RUN: observe]]");
        let seen = &seen["observed"];
        let variables = &seen["variables"];
        let home = variables["HOME"].as_str().expect("a home").to_owned();
        let run = home.strip_suffix("/home").expect("a run directory");
        assert!(Path::new(run).starts_with(stage.path("tmp")), "{run}");
        assert_eq!(
            *variables,
            json!({
                "DELEGATION_COOKIE": variables["DELEGATION_COOKIE"],
                "HOME": home,
                "LANG": "C.UTF-8",
                "PASSED": "on",
                "PATH": format!("{}:/usr/bin:/bin", stage.path("bin").display()),
                "TMPDIR": format!("{run}/scratch"),
            })
        );
        let arguments = seen["arguments"].as_array().expect("arguments");
        let text = arguments[1].as_str().expect("text");
        assert!(text.ends_with("\n\n[[RUN: observe]]") && text.contains("prompt-only"), "{text}");
        let model = format!("gemini-3.7-flash-{effort}");
        assert_eq!(
            arguments[2..],
            ["--model", &model, "--effort", effort, "--mode", "plan", "--sandbox", "--print-timeout", "5m"]
        );
        assert_eq!(seen["stdin"], 0);
        assert_eq!(seen["directory"], format!("{run}/workspace"));
        assert_eq!((&seen["directory_files"], &seen["directory_mode"]), (&json!({}), &json!("700")));
        assert_eq!(
            seen["home"],
            json!({
                ".gemini": "700",
                ".gemini/antigravity-cli": "700",
                ".gemini/antigravity-cli/antigravity-oauth-token": "600",
                ".gemini/antigravity-cli/settings.json": "600",
            })
        );
        let settings = seen["texts"]["settings.json"].as_str().expect("settings");
        let settings: Value = serde_json::from_str(settings).expect("JSON");
        assert_eq!(settings["model"], model);
        assert_eq!(settings["toolPermission"], "strict");
        assert_eq!(settings["allowNonWorkspaceAccess"], false);
        assert_eq!(settings["permissions"]["allow"], json!([]));
        assert_eq!(
            settings["permissions"]["deny"],
            json!([
                "read_file(*)",
                "write_file(*)",
                "command(*)",
                "unsandboxed(*)",
                "read_url(*)",
                "execute_url(*)",
                "mcp(*)"
            ])
        );
        clear(&stage);
    }
}

/// The canaries of the fence, tried from inside.
#[test]
fn nothing_of_the_user_is_read_and_nothing_is_written() {
    let stage = ready();
    stage.write("home/secret.txt", "secret");
    stage.write("work/source.txt", "source");
    let another = stage.path("tmp/delegation-glm.abcdef");
    fs::create_dir(&another).expect("a directory");
    fs::write(another.join("key"), "key").expect("written");
    let at = |name: &str| stage.path(name).display().to_string();
    let memory = support::shared_memory();
    let deeds = [
        (format!("write {}", memory.path().display()), "denied"),
        ("write /dev/ptmx".to_owned(), "denied"),
        ("write /dev/null".to_owned(), "done"),
        (format!("read {}", at("home/secret.txt")), "denied"),
        (format!("read {}", at(gemini_support::STORE)), "denied"),
        (format!("read {}", at("tmp/delegation-glm.abcdef/key")), "denied"),
        (format!("write {}", at("home/new.txt")), "denied"),
        (format!("write {}", at("work/new.txt")), "denied"),
        (format!("write {}", at("out/answer.txt")), "denied"),
        ("write own.txt".to_owned(), "done"),
        ("read /etc/passwd".to_owned(), "done"),
        ("execute /usr/bin/true".to_owned(), "done"),
        (format!("execute {}", at("home/program")), "denied"),
    ];
    fs::copy("/usr/bin/true", stage.path("home/program")).expect("a copy");
    let prompt: Vec<String> = deeds.iter().map(|(deed, _)| format!("[[RUN: {deed}]]")).collect();
    stage.write("prompt.md", prompt.join(" "));
    let ended = stage.start(&stage.words("builder", &["--evaluation"])).wait();
    // It is another run's, not left by this one.
    fs::remove_dir_all(&another).expect("removed");
    let finished = stage.judge(ended);
    assert_eq!(finished.code, 0, "{finished:?}");
    let seen: Value = serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON");
    let expected: serde_json::Map<String, Value> =
        deeds.into_iter().map(|(deed, word)| (deed, json!(word))).collect();
    assert_eq!(seen, Value::Object(expected));
}

#[test]
fn the_answer_is_copied_byte_for_byte_with_its_metrics() {
    let stage = ready();
    let finished = ask(&stage, "scout", r#"[[RUN: complain "a warning"]] [[RUN: say " no line feed"]]"#, &[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    assert_eq!(stage.answer().as_deref(), Some(&b" no line feed"[..]));
    let metrics = stage.metrics();
    let expected = json!({
        "model": "gemini-3.7-flash",
        "runtime_model": "gemini-3.7-flash-medium",
        "backend": "agy",
        "effort": "medium",
        "lane": "scout",
        "context_mode": "prompt_only",
        "workspace_mode": "isolated_empty",
        "home_mode": "isolated_keychain_oauth",
        "sandbox": "linux-landlock",
        "started_at_epoch": metrics["started_at_epoch"],
        "finished_at_epoch": metrics["finished_at_epoch"],
        "duration_seconds": metrics["duration_seconds"],
        "tokens": null,
        "provider_cost_usd": null,
    });
    assert_eq!(metrics, expected);
    assert_eq!(stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
    for name in stage.outputs() {
        assert_eq!(mode(&stage.path("out").join(name)), 0o600);
    }
}

#[test]
fn a_failure_is_classified_and_told_without_a_word_of_the_vendor() {
    let mut stage = ready();
    stage.plant("planted-words");
    for (deeds, code, phase, reason, status) in [
        (
            r#"[[RUN: complain "planted-words: 401 Unauthorized"]] [[RUN: exit 1]]"#,
            69,
            "dispatch",
            "authentication_failed",
            1,
        ),
        (r#"[[RUN: complain "planted-words: 429"]] [[RUN: exit 1]]"#, 75, "dispatch", "rate_limited", 1),
        (r#"[[RUN: complain "planted-words"]] [[RUN: exit 42]]"#, 70, "dispatch", "process_exit", 42),
        (
            r#"[[RUN: complain "planted-words: permission auto-denied"]] [[RUN: say planted-words]]"#,
            70,
            "dispatch",
            "tool_permission_denied",
            0,
        ),
        ("[[RUN: say \" \\n\"]]", 70, "extract", "empty_output", 0),
    ] {
        ask(&stage, "builder", deeds, &[]).refused(code, &format!("{reason} (details: "));
        let diagnostic = stage.diagnostic();
        assert_eq!(diagnostic["schema_version"], 1);
        assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
        assert_eq!(diagnostic["cli_exit_code"], status, "{reason}");
        assert_eq!(diagnostic["debug_dir"], Value::Null);
        for member in ["stdout_bytes", "stderr_bytes", "elapsed_seconds"] {
            assert!(diagnostic[member].is_u64(), "{member}");
        }
        assert_eq!(diagnostic.as_object().map(serde_json::Map::len), Some(12));
        assert_eq!(stage.outputs(), ["answer.txt.error.json"], "{reason}");
        assert_eq!(mode(&stage.path("out/answer.txt.error.json")), 0o600);
        clear(&stage);
    }
}

#[test]
fn raw_material_is_kept_only_on_request_and_only_of_a_failure() {
    let stage = ready();
    let debug = stage.write("debug/.keep", "").parent().expect("a parent").to_path_buf();
    let more = ["--debug-dir", debug.to_str().expect("UTF-8")];
    let prompt = format!(r#"[[RUN: complain "what agy says, Bearer abcdef {TOKEN}"]] [[RUN: exit 42]]"#);
    assert_eq!(ask(&stage, "builder", &prompt, &more).code, 70);
    let diagnostic = stage.diagnostic();
    let kept = Path::new(diagnostic["debug_dir"].as_str().expect("a directory")).to_path_buf();
    assert_eq!((kept.parent(), mode(&kept)), (Some(debug.as_path()), 0o700));
    let mut files = support::files(&kept);
    files.sort();
    assert_eq!(files, ["diagnostic.json", "stderr.txt", "stdout.txt"].map(|name| kept.join(name)));
    for file in &files {
        assert_eq!(mode(file), 0o600);
        assert!(!fs::read_to_string(file).expect("readable").contains(TOKEN));
    }
    assert_eq!(
        fs::read_to_string(kept.join("stderr.txt")).expect("readable"),
        "what agy says, Bearer [redacted] [redacted]\n"
    );
    fs::remove_dir_all(kept).expect("removed");
    clear(&stage);
    assert_eq!(ask(&stage, "builder", "x", &more).code, 0);
    assert_eq!(support::files(&debug), [debug.join(".keep")]);
}

#[test]
fn a_run_ends_at_its_limit() {
    let mut stage = ready();
    stage.set("DELEGATION_GEMINI_TIMEOUT_SECONDS", "1");
    ask(&stage, "builder", "[[RUN: hang]]", &[]).refused(75, "timeout (details: ");
    assert_eq!(stage.diagnostic()["cli_exit_code"], Value::Null);
}

#[test]
fn a_runner_that_is_told_to_end_leaves_nothing() {
    let stage = ready();
    stage.write("prompt.md", "[[RUN: leave]] [[RUN: started]] [[RUN: hang]]");
    let started = stage.start(&stage.words("builder", &["--evaluation"]));
    let run = wait_for_start(&stage);
    let left = fs::read_to_string(run.join("workspace/left")).expect("a number");
    let left = Pid::from_raw(left.trim().parse().expect("a number")).expect("a process");
    let runner = Pid::from_raw(started.pid().cast_signed()).expect("a process");
    kill_process(runner, Signal::TERM).expect("a signal");
    let finished = stage.finish(started);
    assert_eq!((finished.code, finished.stderr.as_str()), (-15, ""), "{finished:?}");
    assert_eq!(stage.outputs(), Vec::<String>::new());
    assert!(rustix::process::test_kill_process(left).is_err(), "what the child left is ended");
}

#[test]
fn what_can_not_be_published_is_taken_back() {
    let stage = ready();
    for (name, reason) in
        [("answer.txt", "output_publish_failed"), ("answer.txt.metrics.json", "metrics_publish_failed")]
    {
        stage.write("prompt.md", "[[RUN: started]] [[RUN: wait go]]");
        let started = stage.start(&stage.words("builder", &["--evaluation"]));
        let run = wait_for_start(&stage);
        stage.write(&format!("out/{name}"), "theirs");
        fs::write(run.join("workspace/go"), "").expect("written");
        stage.finish(started).refused(70, reason);
        let mut left = [name, "answer.txt.error.json"];
        left.sort_unstable();
        assert_eq!(stage.outputs(), left);
        assert_eq!(fs::read_to_string(stage.path("out").join(name)).expect("readable"), "theirs");
        clear(&stage);
    }
}

#[test]
fn what_can_not_be_staged_has_its_own_reason() {
    for (place, reason) in [("out", "output_stage_failed"), ("other", "metrics_write_failed")] {
        let stage = ready();
        stage.write("other/.keep", "");
        stage.write("prompt.md", "[[RUN: started]] [[RUN: wait go]]");
        let metrics = stage.path("other/metrics.json").display().to_string();
        let started = stage.start(&stage.words("builder", &["--evaluation", "--metrics", &metrics]));
        let run = wait_for_start(&stage);
        // A directory that is gone can be staged in by nobody.
        fs::rename(stage.path(place), stage.path("moved")).expect("moved");
        fs::write(run.join("workspace/go"), "").expect("written");
        let moved = started.wait();
        fs::rename(stage.path("moved"), stage.path(place)).expect("moved back");
        let finished = stage.judge(moved);
        assert_eq!(finished.code, 70, "{finished:?}");
        assert!(finished.stderr.contains(reason), "{finished:?}");
        assert!(!stage.path("other/metrics.json").exists() && stage.answer().is_none());
    }
}

#[test]
fn the_login_is_shown_only_to_a_run_whose_probes_hold() {
    let stage = ready();
    install(&stage, json!({"plugins": "foreign plugin\n"}));
    let before = support::files(&stage.path("home"));
    ask(&stage, "builder", "[[RUN: say yes]]", &[]).refused(69, "no plugin is imported");
    assert_eq!(support::files(&stage.path("home")), before, "nothing is left in the user's home");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}
