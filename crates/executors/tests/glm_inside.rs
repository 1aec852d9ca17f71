//! What Claude Code gets and may do in an ordinary run (runners.md 2.3), seen from inside.

mod glm_support;
mod support;

use glm_support::{KEY, clear, observe, observed, ready};
use serde_json::{Value, json};

#[test]
fn the_command_line_the_prompt_and_the_directory() {
    let stage = ready();
    for (lane, mode) in [("clerk", "plan"), ("scout", "plan"), ("builder", "acceptEdits")] {
        let prompt = "[[GLM: observe]] Fix it.\n\n\n";
        stage.write("prompt.md", prompt);
        let seen = observe(&stage, stage.words(lane, &["--allow-provisional"]));
        assert_eq!(seen["prompt"], prompt, "to the byte");
        assert_eq!(seen["directory"], json!(stage.path("work")));
        assert_eq!(
            seen["arguments"],
            json!([
                "-p",
                "--model",
                "opus",
                "--effort",
                "max",
                "--permission-mode",
                mode,
                "--setting-sources",
                "",
                "--strict-mcp-config",
                "--output-format",
                "stream-json",
                "--verbose",
                "--no-session-persistence",
                "--max-budget-usd",
                "2.00",
            ])
        );
    }
    let seen = observe(&stage, stage.words("scout", &["--max-cost-usd", "0.75"]));
    assert_eq!(seen["arguments"].as_array().expect("a list").last(), Some(&json!("0.75")));
}

#[test]
fn the_environment_is_an_allow_list() {
    let mut stage = ready();
    for (name, value) in [
        ("ANTHROPIC_MODEL", "other"),
        ("ANTHROPIC_CUSTOM_HEADERS", "X: y"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
        ("ANTHROPIC_DEFAULT_OPUS_MODEL", "other"),
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("CLAUDE_CODE_USE_VERTEX", "1"),
        ("CLAUDE_CODE_USE_FOUNDRY", "1"),
        ("MINE", "passed on"),
        ("USER", "tester"),
    ] {
        stage.set(name, value);
    }
    for name in ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "QWEN_TOKEN_PLAN_API_KEY"]
    {
        stage.set(name, "planted-elsewhere");
    }
    stage.plant("planted-elsewhere");
    let passed = "MINE,ANTHROPIC_MODEL,ANTHROPIC_BASE_URL,ANTHROPIC_DEFAULT_OPUS_MODEL,\
                  CLAUDE_CODE_USE_BEDROCK,CLAUDE_CODE_USE_VERTEX,CLAUDE_CODE_USE_FOUNDRY";
    stage.set("DELEGATION_PASS_ENVIRONMENT", passed);
    stage.write("prompt.md", "[[GLM: observe]]");
    let seen = observe(&stage, stage.words("scout", &[]));
    assert_eq!(seen["configuration_mode"], "700");
    let mut variables = seen["variables"].as_object().expect("variables").clone();
    let private = variables["CLAUDE_CONFIG_DIR"].as_str().expect("a path").to_owned();
    let run = std::path::Path::new(&private).parent().expect("a parent").to_path_buf();
    assert!(run.starts_with(stage.path("tmp")));
    for name in ["TMPDIR", "BUN_TMPDIR", "CLAUDE_TMPDIR", "CLAUDE_CODE_TMPDIR"] {
        assert_eq!(variables.remove(name), Some(json!(run.join("temporary"))), "{name}");
    }
    for name in ["CLAUDE_CONFIG_DIR", "DELEGATION_COOKIE"] {
        assert!(variables.remove(name).is_some(), "{name}");
    }
    let path = format!("{}:/usr/bin:/bin", stage.path("bin").display());
    assert_eq!(
        Value::Object(variables),
        json!({
            "ANTHROPIC_AUTH_TOKEN": KEY,
            "ANTHROPIC_BASE_URL": "https://api.z.ai/api/anthropic",
            "ANTHROPIC_DEFAULT_OPUS_MODEL": "glm-5.3-flash",
            "ANTHROPIC_DEFAULT_SONNET_MODEL": "glm-5.3-flash",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": "glm-5.3-flash",
            "CLAUDE_CODE_SUBAGENT_MODEL": "glm-5.3-flash",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "API_TIMEOUT_MS": "3000000",
            "HOME": stage.path("home"),
            "PATH": path,
            "USER": "tester",
            "MINE": "passed on",
        })
    );
}

#[test]
fn the_kernel_refuses_what_a_lane_may_not_write() {
    let stage = ready();
    stage.write("work/source.txt", "source");
    stage.write("home/secret.txt", "readable, as for every program of the user");
    let at = |name: &str| stage.path(name).display().to_string();
    let memory = support::shared_memory();
    let memory = memory.path().display();
    let prompt = format!(
        "[[GLM: write {memory}]] [[GLM: write /dev/ptmx]] [[GLM: write {work}/new.txt]] [[GLM: replace {work}/source.txt]] [[GLM: remove {work}/source.txt]] \
         [[GLM: read {work}/source.txt]] [[GLM: write {home}/new.txt]] [[GLM: write {out}/answer.txt]] \
         [[GLM: read {home}/secret.txt]] [[GLM: execute /usr/bin/id]] [[GLM: write /dev/null]]",
        work = at("work"),
        home = at("home"),
        out = at("out"),
    );
    for (lane, in_work) in [("scout", "denied"), ("clerk", "denied"), ("builder", "done")] {
        stage.write("work/source.txt", "source");
        let seen = observed(&stage, lane, &prompt);
        let is_removed = lane == "builder";
        let expected = json!({
            format!("write {}/new.txt", at("work")): in_work,
            format!("replace {}/source.txt", at("work")): in_work,
            format!("remove {}/source.txt", at("work")): in_work,
            format!("read {}/source.txt", at("work")):
                if is_removed { "No such file or directory (os error 2)" } else { "done" },
            format!("write {}/new.txt", at("home")): "denied",
            format!("write {}/answer.txt", at("out")): "denied",
            format!("read {}/secret.txt", at("home")): "done",
            "execute /usr/bin/id": "done",
            "write /dev/null": "done",
            format!("write {memory}"): "denied",
            // What a builder starts may need a terminal of its own.
            "write /dev/ptmx": in_work,
        });
        assert_eq!(seen, expected, "{lane}");
        assert_eq!(stage.path("work/new.txt").exists(), is_removed, "{lane}");
        clear(&stage);
    }
}
