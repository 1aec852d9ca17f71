//! What a Kimi run gives its child, seen from inside (runners.md 3.4, 3.5).

mod kimi_support;
mod support;

use std::fs;

use kimi_support::{observed, ready};
use serde_json::json;
use support::runs::clear;

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
    stage.write("elsewhere/file.txt", "of somebody else");
    stage.write("work/source.txt", "source");
    // Other runs have their private directories beside this one, or in a temporary directory of their task.
    stage.set("TMPDIR", stage.path("elsewhere"));
    stage.write("elsewhere/delegation-glm.abcdef/key", "planted key");
    stage.write("dlg-other/delegation-grok.abcdef/auth.json", "planted login");
    stage.set("KIMI_CODE_HOME", stage.path("home/.kimi-code"));
    let at = |name: &str| stage.path(name).display().to_string();
    let (work, home) = (at("work"), at("home"));
    let memory = support::shared_memory();
    let memory = memory.path().display();
    let prompt = format!(
        "[[KIMI: read {home}/secret.txt]] [[KIMI: read {home}/.kimi-code/credentials/kimi-code.json]] \
         [[KIMI: write {home}/new.txt]] [[KIMI: read {work}/source.txt]] [[KIMI: write {work}/new.txt]] \
         [[KIMI: read {file}]] [[KIMI: write {file}]] [[KIMI: read {other}]] [[KIMI: read {task}]] [[KIMI: read /etc/passwd]] [[KIMI: write {out}/answer.txt]] \
         [[KIMI: execute /usr/bin/true]] [[KIMI: execute rg]] [[KIMI: execute /usr/bin/env]] [[KIMI: execute /bin/sh]] \
         [[KIMI: load /usr/bin/env]] [[KIMI: load /bin/sh]] [[KIMI: read {kimi}]] [[KIMI: execute {work}/program]] \
         [[KIMI: write {memory}]] [[KIMI: write /dev/ptmx]] [[KIMI: write /dev/null]]",
        file = at("elsewhere/file.txt"),
        other = at("elsewhere/delegation-glm.abcdef/key"),
        task = at("dlg-other/delegation-grok.abcdef/auth.json"),
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
            format!("read {}", at("elsewhere/file.txt")): "denied",
            format!("write {}", at("elsewhere/file.txt")): "denied",
            format!("read {}", at("elsewhere/delegation-glm.abcdef/key")): "denied",
            format!("read {}", at("dlg-other/delegation-grok.abcdef/auth.json")): "denied",
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
            format!("write {memory}"): "denied",
            "write /dev/ptmx": "denied",
            "write /dev/null": "done",
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
