//! The lead's way from a brief to a patch that is verified and applied, with the real runner and a model on loopback.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::{Lead, Ran};
use testkit::model_server::{Delivery, ModelServer, RawResponse, Script};

const KEY: &str = "planted-key-0123456789";
const DIFF: &str =
    "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";

/// A lead with a committed workspace, a key file and a model that answers every request alike.
struct Work {
    lead: Lead,
    server: ModelServer,
    keys: PathBuf,
}

impl Work {
    fn new(response: RawResponse) -> Self {
        let runner = testkit::binary::of_package("executors", "delegation-deepseek").unwrap();
        let server = ModelServer::start_with(Script::Raw(response)).unwrap();
        let lead = Lead::new().and("DELEGATION_DEEPSEEK_BASE_URL", format!("{}/v1", server.url()));
        symlink(runner, lead.programs().join("delegation-deepseek")).unwrap();
        fs::write(lead.workspace().join("a.txt"), "one\ntwo\n").unwrap();
        for words in [&["add", "."][..], &["commit", "--quiet", "-m", "first"]] {
            let done = Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@b.example"])
                .args(words)
                .current_dir(lead.workspace())
                .env_clear()
                .envs([("HOME", lead.home().as_path()), ("PATH", Path::new("/usr/local/bin:/usr/bin:/bin"))])
                .status();
            assert!(done.unwrap().success());
        }
        let keys = lead.path().join("deepseek.env");
        fs::write(&keys, format!("DEEPSEEK_API_KEY={KEY}\n")).unwrap();
        fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
        Self { lead, server, keys }
    }

    fn dispatch(&self, more: &[&str]) -> Ran {
        let keys = self.keys.to_str().unwrap();
        let words = [&["--lane", "builder", "--env-file", keys, "--wait", "--json"], more].concat();
        self.lead.run(self.lead.dispatch_arguments("deepseek:run", "Make it TWO.\n", &words))
    }

    /// The key is in no file of the root.
    fn assert_no_key(&self) {
        let found = Command::new("grep").args(["-rlF", KEY]).arg(self.lead.root()).output().unwrap();
        assert_eq!(String::from_utf8(found.stdout).unwrap(), "");
    }

    fn names(&self, id: &str, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.lead.task_directory(id).join(below)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn answer(content: &str) -> RawResponse {
    RawResponse::json(
        json!({
            "model": "deepseek-v4-pro",
            "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 34},
        })
        .to_string(),
    )
}

#[test]
fn a_patch_is_asked_for_verified_and_applied() {
    let work = Work::new(answer(DIFF.trim_end()));
    let ran = work.dispatch(&["--allow-provisional"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let outcome = work.lead.record(&id, "outcome.json").unwrap();
    assert_eq!(outcome["verdict"], "committed");
    let usage = &outcome["usage"][0];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(12), &json!(34)));
    assert_eq!(usage["model"], "deepseek-v4-pro");
    // Answer and metrics are sealed evidence; the runner left nothing else.
    assert_eq!(work.names(&id, "raw"), ["answer.txt", "answer.txt.metrics.json", "stderr", "stdout"]);
    let seal = work.lead.record(&id, "seal.json").unwrap();
    let sealed: Vec<&str> =
        seal["manifest"].as_array().unwrap().iter().filter_map(|entry| entry["path"].as_str()).collect();
    assert!(
        sealed.contains(&"raw/answer.txt") && sealed.contains(&"raw/answer.txt.metrics.json"),
        "{sealed:?}"
    );
    assert_eq!(fs::read_to_string(work.lead.task_directory(&id).join("result.txt")).unwrap(), DIFF);
    let [seen] = work.server.requests().try_into().unwrap();
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["messages"], json!([{"role": "user", "content": "Make it TWO.\n"}]));
    work.assert_no_key();

    let workspace = work.lead.workspace();
    let arguments = ["verify", &id, "--workdir", workspace.to_str().unwrap(), "--json"];
    let verified = work.lead.command(arguments).env("TMPDIR", work.lead.path()).output().unwrap();
    let receipt: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!((verified.status.code(), &receipt["verdict"]), (Some(0), &json!("accepted")), "{receipt}");
    assert_eq!(
        fs::read_to_string(workspace.join("a.txt")).unwrap(),
        "one\ntwo\n",
        "nobody applies it but the lead"
    );
    let words: Vec<&str> =
        receipt["apply_command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(Command::new(words[0]).args(&words[1..]).current_dir(&workspace).status().unwrap().success());
    assert_eq!(fs::read_to_string(workspace.join("a.txt")).unwrap(), "one\nTWO\n");
}

#[test]
fn a_provisional_lane_is_refused_without_the_leads_word() {
    let work = Work::new(answer(DIFF));
    let ran = work.dispatch(&[]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let outcome = work.lead.record(ran.answer()["task_id"].as_str().unwrap(), "outcome.json").unwrap();
    assert_eq!(outcome["reason"]["code"], "provider-failed");
    let message = outcome["reason"]["message"].as_str().unwrap();
    assert!(message.contains("provisional, which needs --allow-provisional"), "{message}");
    assert!(work.server.requests().is_empty());
    work.assert_no_key();
}

#[test]
fn a_failed_run_leaves_its_diagnostic_as_evidence() {
    for (response, code) in [
        (RawResponse::json("{}").status(401), "authentication-required"),
        (RawResponse::json("{}").status(429), "rate-limited"),
        (RawResponse::json("{}").status(500), "provider-failed"),
        (RawResponse::json("{}"), "invalid-output"),
        (answer(" \n"), "empty-output"),
    ] {
        let work = Work::new(response);
        let ran = work.dispatch(&["--allow-provisional"]);
        assert_eq!(ran.code, 4, "{ran:?}");
        let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
        let outcome = work.lead.record(&id, "outcome.json").unwrap();
        assert_eq!(outcome["reason"]["code"], code, "{outcome}");
        if code != "empty-output" {
            assert_eq!(work.names(&id, "raw"), ["answer.txt.error.json", "stderr", "stdout"]);
        }
        assert_eq!(work.server.requests().len(), 1);
        work.assert_no_key();
    }
}

#[test]
fn a_cancelled_run_ends_at_once_and_publishes_nothing() {
    let work = Work::new(answer(DIFF).delivered(Delivery::Held));
    let keys = work.keys.to_str().unwrap();
    let words = ["--lane", "builder", "--allow-provisional", "--env-file", keys];
    let id = work.lead.dispatch("deepseek:run", "Make it TWO.\n", &words);
    let _ = work.server.wait_for_requests(1);
    work.lead.run(["cancel", &id]);
    let ran = work.lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    assert_eq!(work.names(&id, "raw"), ["stderr", "stdout"]);
    assert_eq!(work.names(&id, "output"), Vec::<String>::new());
    work.assert_no_key();
}

#[test]
fn a_lane_is_for_runners_and_never_chosen_for_the_lead() {
    let work = Work::new(answer(DIFF));
    let refused =
        work.lead.json(work.lead.dispatch_arguments("codex:exec", "Do it.", &["--lane", "builder"]));
    assert_eq!(refused.failure(), "unsupported_option");
    let refused = work.lead.json(work.lead.dispatch_arguments(
        "deepseek:run",
        "Do it.",
        &["--lane", "scout", "--model", "m"],
    ));
    assert_eq!(refused.failure(), "unsupported_option");
    let refused = work.lead.json(work.lead.dispatch_arguments("deepseek:run", "Do it.", &[]));
    assert_eq!(refused.code, 2, "{refused:?}");
    let brief = work.lead.brief("Do it.");
    let workspace = work.lead.workspace();
    let automatic = ["dispatch", "--auto", "--lane", "builder", "--allow-provisional", "--brief"];
    let words = automatic.iter().map(Path::new).chain([brief.as_path(), Path::new("--cwd"), &workspace]);
    assert_eq!(work.lead.json(words).failure(), "provider_unavailable");
    assert!(work.server.requests().is_empty());
}

/// The shell block of the page.
fn script() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/patch-workflow.md");
    let page = fs::read_to_string(page).unwrap();
    page.split("```sh\n").skip(1).filter_map(|part| part.split("```").next()).collect()
}

#[test]
fn the_page_runs_as_it_stands() {
    let work = Work::new(answer(DIFF));
    let place = work.lead.path().display().to_string();
    let script = script()
        .replace("/tmp/", &format!("{place}/"))
        .replace("~/deepseek.env", work.keys.to_str().unwrap());
    assert!(script.contains("delegate verify"), "{script}");
    let programs = Path::new(env!("CARGO_BIN_EXE_delegate")).parent().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-eu", "-c", &script])
        .env_clear()
        .envs(work.lead.command(["help"]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
        .env("TMPDIR", &place)
        .current_dir(work.lead.workspace());
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(work.lead.workspace().join("a.txt")).unwrap(), "one\nTWO\n", "{printed}");
    work.assert_no_key();
}
