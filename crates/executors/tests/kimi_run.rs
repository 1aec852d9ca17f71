//! What a Kimi run gives its child, and what it makes of what the child says (runners.md 3.4, 3.5, 3.8, 3.9).

mod kimi_support;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use kimi_support::{ACCESS, REFRESH, ask, clear, install, mode, observed, ready, wait_for_start, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

#[test]
fn the_child_sees_what_was_made_for_it_and_nothing_else() {
    let mut stage = ready();
    for (name, value) in [("KIMI_API_KEY", "planted-key"), ("SECRET_NOTE", "planted-key"), ("LANG", "xx_XX")]
    {
        stage.set(name, value);
    }
    stage.set("LD_PRELOAD", "");
    stage.plant("planted-key");
    let seen = observed(&stage, "scout", "[[KIMI: observe]]");
    let seen = &seen["observed"];
    let variables = seen["variables"].as_object().expect("variables");
    let home = variables["HOME"].as_str().expect("a home").to_owned();
    let run = home.strip_suffix("/home").expect("a run directory");
    let cookie = variables["DELEGATION_COOKIE"].as_str().expect("a mark");
    let expected = json!({
        "CI": "1",
        "DELEGATION_COOKIE": cookie,
        "HOME": home,
        "KIMI_CODE_HOME": format!("{home}/.kimi-code"),
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_DISABLE_CRON": "1",
        "KIMI_DISABLE_TELEMETRY": "1",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "PATH": format!("{run}/programs:/usr/bin:/bin"),
        "SHELL": "/usr/bin/true",
        "TMPDIR": format!("{run}/scratch"),
    });
    assert_eq!(seen["variables"], expected);
    assert_eq!(
        seen["arguments"],
        json!([
            "--prompt",
            "[[KIMI: observe]]",
            "--model",
            "kimi-code/k3",
            "--agent-file",
            format!("{run}/policy/agent.md"),
            "--skills-dir",
            format!("{run}/policy/skills"),
            "--output-format",
            "stream-json",
        ])
    );
    assert_eq!(seen["stdin"], 0);
    assert_eq!(seen["directory"].as_str(), stage.path("work").to_str());
    assert_eq!(seen["skills"], json!({}));
    assert_eq!(
        seen["home"],
        json!({
            ".kimi-code/config.toml": "600",
            ".kimi-code/credentials/kimi-code.json": "600",
            ".kimi-code/device_id": "600",
            ".kimi-code/oauth/kimi-code": "600",
            ".kimi-code/tui.toml": "600",
        })
    );
    assert!(run.starts_with(stage.path("tmp").to_str().expect("UTF-8")));
}

#[test]
fn every_lane_has_its_tools_and_steps() {
    let stage = ready();
    let read = ["Read", "Glob", "Grep", "TodoList"];
    for (lane, steps, tools) in [
        ("clerk", 30, read.to_vec()),
        ("scout", 40, read.to_vec()),
        ("builder", 60, [&read[..], &["Write", "Edit"]].concat()),
        ("frontend-builder", 60, [&read[..], &["Write", "Edit", "ReadMediaFile"]].concat()),
    ] {
        let seen = observed(&stage, lane, "[[KIMI: observe]]");
        let text = seen["observed"]["config"].as_str().expect("a configuration");
        let config: toml::Table = text.parse().expect("TOML");
        let config = serde_json::to_value(config).expect("JSON");
        assert_eq!(config["default_model"], "kimi-code/k3");
        assert_eq!(config["default_permission_mode"], "auto");
        assert_eq!(config["default_plan_mode"], false);
        assert_eq!(config["merge_all_available_skills"], false);
        assert_eq!(config["telemetry"], false);
        assert_eq!(config["loop_control"]["max_steps_per_turn"], steps);
        assert_eq!(config["loop_control"]["max_retries_per_step"], 3);
        assert_eq!(config["loop_control"]["max_ralph_iterations"], 0);
        assert_eq!(config["loop_control"]["reserved_context_size"], 50000);
        assert_eq!(config["background"]["max_running_tasks"], 1);
        assert_eq!(config["background"]["keep_alive_on_exit"], false);
        assert_eq!(config["background"]["bash_task_timeout_s"], 1);
        assert_eq!(config["subagent"]["timeout_ms"], 1);
        assert_eq!(config["thinking"], json!({"enabled": true, "effort": "max"}));
        assert_eq!(config["tools"]["enabled"], json!(tools));
        let denied = config["tools"]["disabled"].as_array().expect("a list");
        for tool in ["Bash", "WebSearch", "FetchURL", "Agent", "AgentSwarm", "Skill", "CronCreate", "mcp__*"]
        {
            assert!(denied.iter().any(|denied| denied == tool), "{lane} {tool}");
        }
        assert_eq!(
            config["providers"]["managed:kimi-code"],
            json!({
                "type": "kimi",
                "api_key": "",
                "base_url": "https://api.kimi.com/coding/v1",
                "oauth": {"storage": "file", "key": "oauth/kimi-code"},
            })
        );
        let model = &config["models"]["kimi-code/k3"];
        assert_eq!((&model["model"], &model["default_effort"]), (&json!("k3"), &json!("max")));
        assert_eq!(model["max_context_size"], 1_048_576);
        assert_eq!(model["support_efforts"], json!(["low", "high", "max"]));
        assert!(config.get("hooks").is_none() && config.get("services").is_none());
        assert_eq!(seen["observed"]["terminal"], "[upgrade]\nauto_install = false\n");
        let agent = seen["observed"]["agent"].as_str().expect("an agent file");
        assert!(agent.contains(&format!("tools: {}\n", json!(tools))), "{agent}");
        assert!(agent.contains("subagents: []\n---\n${base_prompt}\n"), "{agent}");
        clear(&stage);
    }
}

/// The canaries of the sandbox, tried from inside.
#[test]
fn the_kernel_holds_what_the_lane_promises() {
    let mut stage = ready();
    stage.write("home/secret.txt", "planted in the home");
    stage.write("elsewhere/file.txt", "readable");
    stage.write("work/source.txt", "source");
    // What lies beside the run may be read, the private directory of another run may not.
    stage.set("TMPDIR", stage.path("elsewhere"));
    stage.write("elsewhere/delegation-glm.abcdef/key", "planted key");
    stage.set("KIMI_CODE_HOME", stage.path("home/.kimi-code"));
    let at = |name: &str| stage.path(name).display().to_string();
    let (work, home) = (at("work"), at("home"));
    let prompt = format!(
        "[[KIMI: read {home}/secret.txt]] [[KIMI: read {home}/.kimi-code/credentials/kimi-code.json]] \
         [[KIMI: write {home}/new.txt]] [[KIMI: read {work}/source.txt]] [[KIMI: write {work}/new.txt]] \
         [[KIMI: read {file}]] [[KIMI: write {file}]] [[KIMI: read {other}]] [[KIMI: read /etc/passwd]] [[KIMI: write {out}/answer.txt]] \
         [[KIMI: execute /usr/bin/true]] [[KIMI: execute rg]] [[KIMI: execute /usr/bin/env]] [[KIMI: execute /bin/sh]] \
         [[KIMI: load /usr/bin/env]] [[KIMI: load /bin/sh]] [[KIMI: read {kimi}]] [[KIMI: execute {work}/program]]",
        file = at("elsewhere/file.txt"),
        other = at("elsewhere/delegation-glm.abcdef/key"),
        out = at("out"),
        kimi = at("bin/kimi"),
    );
    fs::copy("/usr/bin/true", stage.path("work/program")).expect("a copy");
    for (lane, in_work) in
        [("scout", "denied"), ("clerk", "denied"), ("builder", "done"), ("frontend-builder", "done")]
    {
        let seen = observed(&stage, lane, &prompt);
        let expected = json!({
            format!("read {home}/secret.txt"): "denied",
            format!("read {home}/.kimi-code/credentials/kimi-code.json"): "denied",
            format!("write {home}/new.txt"): "denied",
            format!("read {work}/source.txt"): "done",
            format!("write {work}/new.txt"): in_work,
            format!("read {}", at("elsewhere/file.txt")): "done",
            format!("write {}", at("elsewhere/file.txt")): "denied",
            format!("read {}", at("elsewhere/delegation-glm.abcdef/key")): "denied",
            "read /etc/passwd": "done",
            format!("write {}", at("out/answer.txt")): "denied",
            "execute /usr/bin/true": "done",
            "execute rg": "done",
            "execute /usr/bin/env": "denied",
            "execute /bin/sh": "denied",
            "load /usr/bin/env": "exit status: 127",
            "load /bin/sh": "exit status: 127",
            format!("read {}", at("bin/kimi")): "done",
            format!("execute {work}/program"): "denied",
        });
        assert_eq!(seen, expected, "{lane}");
        assert_eq!(stage.path("work/new.txt").exists(), in_work == "done", "{lane}");
        clear(&stage);
    }
}

#[test]
fn the_private_copies_can_not_be_changed() {
    let stage = ready();
    let seen = observed(&stage, "builder", "[[KIMI: observe]]");
    let path = seen["observed"]["variables"]["PATH"].as_str().expect("a path").to_owned();
    // Every run has names of its own, so the run finds them out itself.
    assert!(path.split(':').next().is_some_and(|first| first.ends_with("/programs")));
    clear(&stage);
    let seen = observed(
        &stage,
        "builder",
        "[[KIMI: write ../tmp/x]] [[KIMI: write /proc/self/cwd/../tmp/x]] [[KIMI: write ok.txt]]",
    );
    assert_eq!(seen["write ok.txt"], "done");
    assert_eq!(seen["write ../tmp/x"], "denied");
    assert_eq!(seen["write /proc/self/cwd/../tmp/x"], "denied");
}

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
    for signal in [Signal::TERM, Signal::INT] {
        let stage = ready();
        stage.write("prompt.md", "[[KIMI: rotate kept]] [[KIMI: leave]] [[KIMI: started]] [[KIMI: hang]]");
        let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
        wait_for_start(&stage);
        let left = fs::read_to_string(stage.path("work/left")).expect("a number");
        let left = Pid::from_raw(left.trim().parse().expect("a number")).expect("a process");
        let runner = Pid::from_raw(started.pid().cast_signed()).expect("a process");
        kill_process(runner, signal).expect("a signal");
        let finished = stage.finish(started);
        finished.refused(130, "caller_cancelled (details: ");
        assert_eq!(stage.diagnostic()["reason"], "caller_cancelled");
        assert_eq!(stage.diagnostic()["oauth_sync"], "ok");
        assert!(kimi_support::login(&stage).contains("refresh-rotated-kept"));
        assert!(!kimi_support::lock_file(&stage).exists());
        wait_until(|| rustix::process::test_kill_process(left).is_err());
    }
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
    stage.write(
        "prompt.md",
        format!(r#"[[KIMI: event "{call}"]] [[KIMI: started]] [[KIMI: wait go]] [[KIMI: say yes]]"#),
    );
    let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
    wait_for_start(&stage);
    // The heartbeat is on standard error, which is read at the end: the run is held for longer than two of them.
    let held = std::time::Instant::now();
    wait_until(|| held.elapsed().as_secs() >= 3);
    stage.write("work/go", "");
    let finished = stage.finish(started);
    assert_eq!(finished.code, 0, "{finished:?}");
    let line = finished.stderr.lines().next().expect("a heartbeat");
    assert!(
        line.starts_with("delegation-kimi: ") && line.ends_with(" s, 1 events, last tool Read"),
        "{line}"
    );
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
                !text.contains(ACCESS) && !text.contains(REFRESH) && !text.contains("sk-0123"),
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
        assert_eq!(
            stage.outputs(),
            [name, "answer.txt.error.json", "answer.txt.stderr"]
                .map(str::to_owned)
                .into_iter()
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(fs::read_to_string(stage.path("out").join(name)).expect("readable"), "theirs");
        fs::remove_file(stage.path("work/go")).expect("removed");
        clear(&stage);
    }
}
