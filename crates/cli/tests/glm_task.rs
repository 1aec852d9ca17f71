//! A task whose child is the GLM runner: the runner's own fence stands inside the task's.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};
use support::{Lead, Ran};

const KEY: &str = "planted-key-0123456789";

/// A lead with the runner, a fake Claude Code and a key file.
struct Work {
    lead: Lead,
    keys: String,
}

impl Work {
    fn new() -> Self {
        let lead = Lead::new();
        let runner = testkit::binary::of_package("executors", "delegation-glm").unwrap();
        let fake = testkit::binary::path("testkit-fake-claude").unwrap();
        symlink(&runner, lead.programs().join("delegation-glm")).unwrap();
        testkit::trailer::plant(&fake, &lead.programs().join("claude"), &json!({})).unwrap();
        let keys = lead.path().join("zai.env");
        fs::write(&keys, format!("ZAI_API_KEY={KEY}\n")).unwrap();
        fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
        let keys = keys.to_str().unwrap().to_owned();
        Self { lead, keys }
    }

    fn dispatch(&self, brief: &str, more: &[&str]) -> Ran {
        let words = [&["--env-file", &self.keys, "--wait", "--json"], more].concat();
        self.lead.run(self.lead.dispatch_arguments("glm:run", brief, &words))
    }

    /// The key is in no file of the root.
    fn assert_no_key(&self) {
        let found = std::process::Command::new("grep").args(["-rlF", KEY]).arg(self.lead.root()).output();
        assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    }

    fn answer(&self, ran: &Ran) -> Value {
        let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
        let result = fs::read(self.lead.task_directory(&id).join("result.txt")).unwrap();
        serde_json::from_slice(&result).unwrap()
    }
}

#[test]
fn each_lane_writes_what_it_may() {
    let work = Work::new();
    let outside = work.lead.path().join("outside.txt");
    let brief = format!("[[GLM: write made.txt]] [[GLM: write {}]]", outside.display());
    let building = ["--lane", "builder", "--allow-provisional", "--permission", "workspace-write"];
    for (words, in_workspace) in [(&["--lane", "scout"][..], "denied"), (&building, "done")] {
        let ran = work.dispatch(&brief, words);
        assert_eq!(ran.code, 0, "{ran:?}");
        let expected =
            json!({"write made.txt": in_workspace, format!("write {}", outside.display()): "denied"});
        assert_eq!(work.answer(&ran), expected);
        assert_eq!(work.lead.workspace().join("made.txt").exists(), in_workspace == "done");
        let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
        let outcome = work.lead.record(&id, "outcome.json").unwrap();
        assert_eq!(outcome["verdict"], "committed");
        assert_eq!(outcome["usage"].as_array().map_or(0, Vec::len), 1, "{outcome}");
    }
    work.assert_no_key();
}

#[test]
fn a_failure_has_its_reason_and_the_time_of_its_end() {
    let work = Work::new();
    let retry = |status: u64| {
        format!(
            "[[GLM: line \"{{\\\"type\\\":\\\"system\\\",\\\"subtype\\\":\\\"api_retry\\\",\\\"error_status\\\":{status}}}\"]]"
        )
    };
    let end = "[[GLM: line \"{\\\"type\\\":\\\"rate_limit_event\\\",\\\"resets_at\\\":4102444800}\"]]";
    for (brief, reason) in [
        (format!("{} [[GLM: exit 1]]", retry(401)), "authentication-required"),
        (format!("{} [[GLM: exit 1]]", retry(429)), "rate-limited"),
        (format!("{} {end} [[GLM: exit 1]]", retry(429)), "quota-exhausted"),
    ] {
        let ran = work.dispatch(&brief, &["--lane", "scout"]);
        assert_eq!(ran.reason(), reason, "{ran:?}");
        if reason == "quota-exhausted" {
            let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
            let outcome = work.lead.record(&id, "outcome.json").unwrap();
            assert!(outcome.to_string().contains("2100-01-01T00:00:00"), "{outcome}");
        }
    }
    work.assert_no_key();
}

/// The reason of a refused task and its sentence.
fn refused(work: &Work, ran: &Ran) -> (String, String) {
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let outcome = work.lead.record(&id, "outcome.json").unwrap();
    assert_eq!(outcome["verdict"], "rejected");
    let refusal = fs::read_to_string(work.lead.task_directory(&id).join("refusal.txt")).unwrap();
    assert!(refusal.contains(outcome["reason"]["message"].as_str().unwrap()), "{refusal}");
    (ran.reason(), outcome["reason"]["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_refusal_of_the_runner_has_its_reason_and_its_sentence() {
    let work = Work::new();
    let building = ["--lane", "builder", "--permission", "workspace-write"];
    for (words, reason, sentence) in [
        (&["--lane", "unheard-of"][..], "provider-failed", "no lane unheard-of"),
        (&building, "provider-failed", "provisional, which needs --allow-provisional"),
    ] {
        let (code, message) = refused(&work, &work.dispatch("x", words));
        assert!(code == reason && message.contains(sentence), "{code}: {message}");
    }
    let scout = ["--lane", "scout", "--wait", "--json"];
    let without_key = work.lead.run(work.lead.dispatch_arguments("glm:run", "x", &scout));
    let (code, message) = refused(&work, &without_key);
    assert!(message.contains("ZAI_API_KEY is unset"), "{message}");
    assert_eq!(code, "authentication-required");

    fs::remove_file(work.lead.programs().join("claude")).unwrap();
    let (code, message) = refused(&work, &work.dispatch("x", &["--lane", "scout"]));
    assert!(message.contains("claude is not on PATH"), "{message}");
    assert_eq!(code, "start-failed");
    work.assert_no_key();
}

#[test]
fn without_a_sandbox_the_reason_is_the_fence() {
    let work = Work::new();
    let runner = testkit::binary::of_package("executors", "delegation-glm").unwrap();
    let without = testkit::binary::path("testkit-without-landlock").unwrap();
    let place = work.lead.programs().join("delegation-glm");
    fs::remove_file(&place).unwrap();
    // A plan follows no symbolic link to an interpreter.
    let shell = fs::canonicalize("/bin/sh").unwrap();
    let script = format!("#!{}\nexec {} {} \"$@\"\n", shell.display(), without.display(), runner.display());
    fs::write(&place, script).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = work.dispatch("x", &["--lane", "scout"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let (code, message) = refused(&work, &ran);
    assert!(message.contains("Landlock 3"), "{message}");
    assert_eq!(code, "fence-unavailable");
}

#[test]
fn the_time_limit_of_the_runner_is_told_as_one() {
    let work = Work::new();
    let ran = work.dispatch("[[GLM: hang]]", &["--lane", "scout", "--native-timeout", "1s"]);
    let (code, message) = refused(&work, &ran);
    assert_eq!((code.as_str(), message.as_str()), ("timed-out", "operational_timeout (phase dispatch)"));
}
