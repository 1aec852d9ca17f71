//! What becomes of what a Kimi run's child says and does (runners.md 3.8, 3.9).

mod kimi_support;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use kimi_support::{ACCESS, REFRESH, ask, install, ready, wait_for_start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::runs::{clear, mode, wait_until};
use testkit::watch::until_below;

#[test]
fn metrics_and_answer_of_a_run_that_went_well() {
    let stage = ready();
    // An answer of an earlier step is none, and neither is what a tool says.
    let finished = ask(
        &stage,
        "scout",
        r#"[[KIMI: event "{\"role\":\"assistant\",\"content\":\"first\"}"]] [[KIMI: say "the answer"]]"#,
        &[],
    );
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    assert_eq!(stage.answer().as_deref(), Some(&b"the answer\n"[..]));
    let metrics = stage.metrics();
    assert_eq!(metrics["model"], "kimi-code/k3");
    assert_eq!(metrics["backend"], "native");
    assert_eq!(metrics["effort"], "max");
    assert_eq!(metrics["lane"], "scout");
    assert_eq!(metrics["runtime_cli_version"], "2.1.0");
    assert_eq!(metrics["runtime_cli_compatibility"], "capability-probed");
    assert_eq!(metrics["sandbox"], "linux-landlock");
    assert_eq!(metrics["isolated_home"], true);
    assert_eq!(metrics["environment_mode"], "allowlist");
    assert_eq!(metrics["ambient_home_read"], false);
    assert_eq!(metrics["process_exec"], json!({"mode": "allowlist", "allowed": ["rg"], "attested": true}));
    assert_eq!(metrics["search_runtime"]["identity"], "ripgrep");
    assert_eq!(metrics["search_runtime"]["version"], "14.1.1");
    assert_eq!(metrics["search_runtime"]["copied_per_run"], true);
    let pinned = fs::read_to_string(stage.path("home/.local/share/delegation-kit/kimi-rg/current/rg.sha256"));
    assert_eq!(metrics["search_runtime"]["sha256"], pinned.expect("a digest").trim());
    for feature in ["terminal", "web_tools", "subagents", "skills", "hooks", "services", "usage_reported"] {
        assert_eq!(metrics[feature], false, "{feature}");
    }
    assert_eq!(metrics["oauth_refresh_persistence"], "serialized-atomic-sync");
    assert_eq!(metrics["write_scope"], "scratch");
    assert_eq!(metrics["tokens"].as_object().map(serde_json::Map::len), Some(5));
    assert_eq!(metrics["provider_cost_usd"], Value::Null);
    assert_eq!(stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
    for name in stage.outputs() {
        assert_eq!(mode(&stage.path("out").join(name)), 0o600);
    }
    clear(&stage);
    assert_eq!(ask(&stage, "builder", "[[KIMI: say done]]", &[]).code, 0);
    assert_eq!(stage.metrics()["write_scope"], "workdir");
}

#[test]
fn a_prompt_may_stand_on_the_command_line() {
    let stage = ready();
    let at = |name: &str| stage.path(name).into_os_string().into_string().expect("UTF-8");
    let (output, work) = (at("out/answer.txt"), at("work"));
    let words = ["run", "--lane", "clerk", "--allow-provisional", "--prompt", "[[KIMI: say yes]]"];
    let finished = stage.run(&[&words[..], &["--output", &output, "--workdir", &work]].concat());
    assert_eq!(finished.code, 0, "{finished:?}");
    assert_eq!(stage.answer().as_deref(), Some(&b"yes\n"[..]));
}

#[test]
fn another_version_of_the_program_is_recorded_and_accepted() {
    let stage = ready();
    install(&stage, json!({"role": "kimi", "version": "kimi, version 9.9.9-next\n"}));
    assert_eq!(ask(&stage, "clerk", "x", &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_version"], "9.9.9-next");
    clear(&stage);
    install(&stage, json!({"role": "kimi", "version": null}));
    assert_eq!(ask(&stage, "clerk", "x", &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_version"], Value::Null);
}

#[test]
fn a_failure_is_classified_and_told_without_a_word_of_the_vendor() {
    let mut stage = ready();
    stage.plant("planted-words");
    for (deeds, code, phase, reason) in [
        (
            r#"[[KIMI: complain "planted-words: usage limit reached"]] [[KIMI: exit 1]]"#,
            69,
            "dispatch",
            "quota_unavailable",
        ),
        (r#"[[KIMI: complain "sandbox: planted-words"]] [[KIMI: exit 1]]"#, 70, "sandbox", "sandbox_failure"),
        (
            r#"[[KIMI: complain "no subscription"]] [[KIMI: exit 1]]"#,
            69,
            "dispatch",
            "entitlement_unavailable",
        ),
        (
            r#"[[KIMI: complain "please login"]] [[KIMI: exit 1]]"#,
            69,
            "dispatch",
            "authentication_unavailable",
        ),
        (
            r#"[[KIMI: event "{\"type\":\"error\",\"statusCode\":402}"]] [[KIMI: exit 1]]"#,
            75,
            "dispatch",
            "membership_verification_temporary",
        ),
        (r#"[[KIMI: complain "overloaded"]] [[KIMI: exit 1]]"#, 75, "dispatch", "provider_overloaded"),
        (
            r#"[[KIMI: event "{\"role\":\"meta\",\"error_message\":\"planted-words\",\"status_code\":503}"]] [[KIMI: exit 1]]"#,
            75,
            "dispatch",
            "provider_temporary_failure",
        ),
        (r#"[[KIMI: complain "context canceled"]] [[KIMI: exit 1]]"#, 75, "dispatch", "provider_timeout"),
        // Neither what the model says nor a bare number is a signal.
        (
            r#"[[KIMI: event "{\"role\":\"assistant\",\"content\":\"quota exceeded, overloaded\"}"]] [[KIMI: complain "at 503:429"]] [[KIMI: exit 3]]"#,
            70,
            "dispatch",
            "dispatch_unclassified",
        ),
        ("[[KIMI: say \"\"]]", 70, "output", "output_invalid"),
        (r#"[[KIMI: event "planted-words"]] [[KIMI: say yes]]"#, 70, "output", "output_invalid"),
    ] {
        let finished = ask(&stage, "scout", deeds, &[]);
        finished.refused(code, &format!("{reason} (details: "));
        let diagnostic = stage.diagnostic();
        assert_eq!(diagnostic["schema"], "delegation_kimi_error_v1");
        assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
        assert_eq!(diagnostic["exit_code"], code);
        assert_eq!(diagnostic["oauth_sync"], "ok");
        assert_eq!(diagnostic["debug_path"], Value::Null);
        assert_eq!(stage.outputs(), ["answer.txt.error.json", "answer.txt.stderr"], "{reason}");
        let line = fs::read_to_string(stage.path("out/answer.txt.stderr")).expect("a line");
        assert_eq!(line.lines().count(), 1);
        for name in stage.outputs() {
            assert_eq!(mode(&stage.path("out").join(name)), 0o600);
        }
        clear(&stage);
    }
}

#[test]
fn the_diagnostic_counts_and_names_no_foreign_tool() {
    let stage = ready();
    let call = r#"{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"Grep\"}},{\"function\":{\"name\":\"Weird\"}}]}"#;
    let prompt = format!(r#"[[KIMI: event "{call}"]] [[KIMI: complain four]] [[KIMI: exit 7]]"#);
    ask(&stage, "scout", &prompt, &[]).refused(70, "dispatch_unclassified");
    let diagnostic = stage.diagnostic();
    assert_eq!(diagnostic["vendor_exit_code"], 7);
    assert_eq!(diagnostic["captured_bytes"]["vendor_stderr"], 5);
    assert_eq!(
        diagnostic["event_summary"],
        json!({"total": 1, "assistant": 1, "tool": 0, "error": 0, "tool_calls": 2, "last_tool": "other"})
    );
    assert_eq!(diagnostic["tool_policy"]["allowed"], json!(["Read", "Glob", "Grep", "TodoList"]));
    assert_eq!(diagnostic["tool_policy"]["write_scope"], "scratch");
    assert_eq!(diagnostic["search_runtime"]["identity"], "ripgrep");
    assert!(diagnostic["duration_seconds"].is_u64());
}

#[test]
fn a_caller_that_gives_up_ends_everything_and_gets_130() {
    let stage = ready();
    stage.write("prompt.md", "[[KIMI: rotate kept]] [[KIMI: leave]] [[KIMI: started]] [[KIMI: hang]]");
    let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
    wait_for_start(&stage);
    let left = fs::read_to_string(stage.path("work/left")).expect("a number");
    let left = Pid::from_raw(left.trim().parse().expect("a number")).expect("a process");
    let runner = Pid::from_raw(started.pid().cast_signed()).expect("a process");
    kill_process(runner, Signal::TERM).expect("a signal");
    let finished = stage.finish(started);
    finished.refused(130, "caller_cancelled (details: ");
    assert_eq!(stage.diagnostic()["reason"], "caller_cancelled");
    assert_eq!(stage.diagnostic()["oauth_sync"], "ok");
    assert!(kimi_support::login(&stage).contains("refresh-rotated-kept"));
    assert!(!kimi_support::lock_file(&stage).exists());
    wait_until(|| rustix::process::test_kill_process(left).is_err());
}

#[test]
fn a_child_that_is_deaf_is_killed_after_the_grace() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", "0");
    stage.write("prompt.md", "[[KIMI: deaf]] [[KIMI: started]] [[KIMI: hang]]");
    let started = stage.start(&stage.words("scout", &["--allow-provisional"]));
    wait_for_start(&stage);
    let runner = Pid::from_raw(started.pid().cast_signed()).expect("a process");
    kill_process(runner, Signal::TERM).expect("a signal");
    stage.finish(started).refused(130, "caller_cancelled");
}

#[test]
fn a_heartbeat_says_how_long_how_many_and_which_tool() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_HEARTBEAT_SECONDS", "1");
    let call = r#"{\"role\":\"assistant\",\"content\":\"planted-words\",\"tool_calls\":[{\"function\":{\"name\":\"Read\"}}]}"#;
    stage.plant("planted-words");
    stage.write("prompt.md", format!(r#"[[KIMI: event "{call}"]] [[KIMI: wait go]] [[KIMI: say yes]]"#));
    let said = stage.write("said/stderr", "");
    let started = stage.start_heard(&stage.words("builder", &["--allow-provisional"]), &said);
    // The first ones may be earlier than the event.
    until_below(&stage.path("said"), "a heartbeat with the event", || {
        let text = fs::read_to_string(&said).expect("readable");
        let is_one = |line: &str| {
            line.starts_with("delegation-kimi: ") && line.ends_with(" s, 1 events, last tool Read")
        };
        text.lines().any(is_one).then_some(())
    });
    stage.write("work/go", "");
    let finished = stage.finish_heard(started, &said);
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(finished.stderr.lines().all(|line| line.starts_with("delegation-kimi: ")), "{finished:?}");
}

#[test]
fn the_debug_directory_is_written_on_success_too_and_holds_no_token() {
    let stage = ready();
    let debug = stage.path("debug");
    fs::create_dir(&debug).expect("a directory");
    fs::set_permissions(&debug, fs::Permissions::from_mode(0o700)).expect("a mode");
    let more = ["--debug-dir", debug.to_str().expect("UTF-8")];
    let session =
        format!(r#"[[KIMI: session "{{\"access_token\":\"{ACCESS}\",\"x\":\"sk-0123456789abcdefg\"}}"]]"#);
    for (prompt, code) in [
        (format!("{session} [[KIMI: complain {REFRESH}]] [[KIMI: say yes]]"), 0),
        (format!("{session} [[KIMI: complain {ACCESS}]] [[KIMI: exit 1]]"), 70),
        // Those from before a refresh as well.
        (format!("{session} [[KIMI: rotate zz]] [[KIMI: complain {REFRESH}]] [[KIMI: exit 1]]"), 70),
        (format!("{session} [[KIMI: complain access-rotated-zz]] [[KIMI: say yes]]"), 0),
    ] {
        assert_eq!(ask(&stage, "scout", &prompt, &more).code, code);
        let mut entries = fs::read_dir(&debug).expect("a directory");
        let kept = entries.next().expect("one directory").expect("an entry").path();
        assert!(entries.next().is_none());
        let name = kept.file_name().expect("a name").to_string_lossy().into_owned();
        let stamp = name.strip_prefix("delegation-kimi-").expect("the name of the runner");
        let (stamp, pid) = stamp.split_once('-').expect("a stamp and a number");
        assert!(stamp.len() == 16 && stamp.ends_with('Z') && pid.parse::<u32>().is_ok(), "{name}");
        assert_eq!(mode(&kept), 0o700);
        for name in ["events.jsonl", "stderr", "wire.jsonl", "agent.md", "config.toml", "tui.toml"] {
            assert_eq!(mode(&kept.join(name)), 0o600, "{name}");
            let text = fs::read_to_string(kept.join(name)).expect("readable");
            assert!(
                [ACCESS, REFRESH, "access-rotated-zz", "sk-0123"].iter().all(|token| !text.contains(token)),
                "{name}: {text}"
            );
        }
        assert!(fs::read_to_string(kept.join("wire.jsonl")).expect("readable").contains("[redacted]"));
        if code != 0 {
            assert_eq!(stage.diagnostic()["debug_path"].as_str(), kept.to_str());
        }
        fs::remove_dir_all(kept).expect("removed");
        clear(&stage);
    }
}

#[test]
fn what_can_not_be_published_is_taken_back() {
    let stage = ready();
    for (name, reason) in
        [("answer.txt", "output_finalize_failed"), ("answer.txt.metrics.json", "metrics_finalize_failed")]
    {
        stage.write("prompt.md", "[[KIMI: started]] [[KIMI: wait go]] [[KIMI: say yes]]");
        let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
        wait_for_start(&stage);
        stage.write(&format!("out/{name}"), "theirs");
        stage.write("work/go", "");
        stage.finish(started).refused(70, reason);
        let mut left = [name, "answer.txt.error.json", "answer.txt.stderr"];
        left.sort_unstable();
        assert_eq!(stage.outputs(), left);
        assert_eq!(fs::read_to_string(stage.path("out").join(name)).expect("readable"), "theirs");
        fs::remove_file(stage.path("work/go")).expect("removed");
        clear(&stage);
    }
}
