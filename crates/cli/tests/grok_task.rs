//! Tasks whose child is the Grok or the Gemini runner: the gates decide, and the task's fence stands around all of it.

mod support;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use support::Lead;

const TOKEN: &str = "planted-token-0123456789";

/// A lead with both runners, both fakes and both logins.
fn lead() -> Lead {
    let sockets = "/nowhere/docker.sock";
    let lead = Lead::new().and("DELEGATION_GROK_RUNTIME_SOCKET_ENDPOINTS", sockets.to_owned());
    let fake = testkit::binary::path("testkit-fake-runtime").unwrap();
    for (runner, program) in [("delegation-grok", "grok"), ("delegation-gemini", "agy")] {
        let path = testkit::binary::of_package("executors", runner).unwrap();
        symlink(path, lead.programs().join(runner)).unwrap();
        testkit::trailer::plant(&fake, &lead.programs().join(program), &json!({"role": program})).unwrap();
    }
    let login = json!({"https://accounts.x.ai": {"key": TOKEN, "refresh_token": TOKEN}});
    for (name, text) in [
        (".grok/auth.json", login.to_string()),
        (".gemini/antigravity-cli/antigravity-oauth-token", TOKEN.to_owned()),
    ] {
        let path = lead.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    lead
}

#[test]
fn a_grok_builder_edits_the_workspace_and_its_refreshed_login_is_kept() {
    let lead = lead();
    let outside = lead.path().join("outside.txt");
    let brief = format!("[[RUN: write made.txt]] [[RUN: write {}]] [[RUN: rotate task]]", outside.display());
    let words =
        ["--lane", "builder", "--allow-provisional", "--permission", "workspace-write", "--wait", "--json"];
    let ran = lead.run(lead.dispatch_arguments("grok:run", &brief, &words));
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let answer: Value =
        serde_json::from_slice(&fs::read(lead.task_directory(&id).join("result.txt")).unwrap()).unwrap();
    assert_eq!(answer, json!({"write made.txt": "done", format!("write {}", outside.display()): "denied"}));
    assert!(lead.workspace().join("made.txt").is_file() && !outside.exists());
    let login = fs::read_to_string(lead.home().join(".grok/auth.json")).unwrap();
    assert!(login.contains("refresh-rotated-task"), "{login}");
    let outcome = lead.record(&id, "outcome.json").unwrap();
    assert_eq!(outcome["verdict"], "committed");
    let found = std::process::Command::new("grep").args(["-rlF", TOKEN]).arg(lead.root()).output().unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "");
}

#[test]
fn a_failure_of_grok_has_its_reason() {
    let lead = lead();
    let words =
        ["--lane", "builder", "--allow-provisional", "--permission", "workspace-write", "--wait", "--json"];
    for (brief, reason) in [
        ("[[RUN: unattested]]", "fence-unavailable"),
        ("[[RUN: complain \"HTTP 429\"]] [[RUN: exit 1]]", "rate-limited"),
        ("[[RUN: set \"{\\\"model\\\":\\\"grok-3\\\"}\"]]", "model-mismatch"),
    ] {
        let ran = lead.run(lead.dispatch_arguments("grok:run", brief, &words));
        assert_eq!(ran.reason(), reason, "{ran:?}");
    }
}

#[test]
fn no_lane_of_gemini_is_open() {
    let lead = lead();
    for lane in ["scout", "builder"] {
        let words = ["--lane", lane, "--allow-provisional", "--wait", "--json"];
        let ran = lead.run(lead.dispatch_arguments("gemini:run", "[[RUN: say x]]", &words));
        assert_ne!(ran.code, 0, "{ran:?}");
        let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
        assert_ne!(lead.record(&id, "outcome.json").unwrap()["verdict"], "committed");
    }
}
