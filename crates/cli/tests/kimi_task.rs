//! A task whose child is the Kimi runner: the runner's own fence stands inside the task's.

mod support;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use support::{Lead, until};

const TOKEN: &str = "planted-token-0123456789";

/// A lead with the runner, a fake Kimi Code, a login and a pinned ripgrep.
fn lead() -> Lead {
    let lead = Lead::new();
    let runner = testkit::binary::of_package("executors", "delegation-kimi").unwrap();
    let fake = testkit::binary::path("testkit-fake-kimi").unwrap();
    symlink(&runner, lead.programs().join("delegation-kimi")).unwrap();
    for (name, role) in [("kimi", "kimi"), ("rg", "rg")] {
        testkit::trailer::plant(&fake, &lead.programs().join(name), &json!({"role": role})).unwrap();
    }
    let login = lead.home().join(".kimi-code/credentials");
    fs::create_dir_all(&login).unwrap();
    let tokens = json!({"access_token": TOKEN, "refresh_token": TOKEN});
    fs::write(login.join("kimi-code.json"), tokens.to_string()).unwrap();
    let pinned = std::process::Command::new(runner)
        .arg("pin-rg")
        .env_clear()
        .env("HOME", lead.home())
        .env("PATH", lead.programs())
        .output()
        .unwrap();
    assert!(pinned.status.success(), "{pinned:?}");
    lead
}

fn answer(lead: &Lead, id: &str) -> Value {
    serde_json::from_slice(&fs::read(lead.task_directory(id).join("result.txt")).unwrap()).unwrap()
}

#[test]
fn a_builder_edits_the_workspace_and_its_refreshed_login_is_kept() {
    let lead = lead();
    let outside = lead.path().join("outside.txt");
    fs::write(lead.home().join("secret.txt"), "secret").unwrap();
    let brief = format!(
        "[[KIMI: write made.txt]] [[KIMI: write {}]] [[KIMI: read {}/secret.txt]] [[KIMI: execute rg]] \
         [[KIMI: execute /bin/sh]] [[KIMI: rotate task]]",
        outside.display(),
        lead.home().display()
    );
    let words =
        ["--lane", "builder", "--allow-provisional", "--permission", "workspace-write", "--wait", "--json"];
    let ran = lead.run(lead.dispatch_arguments("kimi:run", &brief, &words));
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(
        answer(&lead, &id),
        json!({
            "write made.txt": "done",
            format!("write {}", outside.display()): "denied",
            format!("read {}/secret.txt", lead.home().display()): "denied",
            "execute rg": "done",
            "execute /bin/sh": "denied",
        })
    );
    assert!(lead.workspace().join("made.txt").is_file() && !outside.exists());
    let login = fs::read_to_string(lead.home().join(".kimi-code/credentials/kimi-code.json")).unwrap();
    assert!(login.contains("refresh-rotated-task"), "{login}");
    // Kimi counts nothing, so the task has no usage.
    let outcome = lead.record(&id, "outcome.json").unwrap();
    assert_eq!(outcome["verdict"], "committed");
    assert_eq!(outcome["usage"].as_array().map_or(0, Vec::len), 0);
    let found = std::process::Command::new("grep").args(["-rlF", TOKEN]).arg(lead.root()).output().unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "");
}

#[test]
fn a_scout_can_not_write_and_a_failure_has_its_reason() {
    let lead = lead();
    let words = ["--lane", "scout", "--allow-provisional", "--wait", "--json"];
    let ran = lead.run(lead.dispatch_arguments("kimi:run", "[[KIMI: write made.txt]]", &words));
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(answer(&lead, &id), json!({"write made.txt": "denied"}));
    assert!(!lead.workspace().join("made.txt").exists());
    let brief = "[[KIMI: complain \"usage limit reached\"]] [[KIMI: exit 1]]";
    let ran = lead.run(lead.dispatch_arguments("kimi:run", brief, &words));
    assert_eq!(ran.reason(), "quota-exhausted", "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let raw = lead.task_directory(&id).join("raw");
    let names: Vec<String> = fs::read_dir(raw)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("answer"))
        .collect();
    assert!(names.contains(&"answer.txt.error.json".to_owned()), "{names:?}");
    assert!(names.contains(&"answer.txt.stderr".to_owned()), "{names:?}");
}

#[test]
fn a_cancelled_turn_keeps_the_refreshed_login_although_kimi_is_deaf() {
    // The grace that the caller's own runs have is longer than that of the task.
    let lead = lead().and("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", "60");
    let brief = "[[KIMI: deaf]] [[KIMI: rotate kept]] [[KIMI: write started.txt]] [[KIMI: hang]]";
    let words = ["--lane", "builder", "--allow-provisional", "--permission", "workspace-write"];
    let id = lead.dispatch("kimi:run", brief, &words);
    until("the turn of kimi", || lead.workspace().join("started.txt").exists().then_some(()));
    lead.run(["cancel", &id]);
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    let login = lead.home().join(".kimi-code/credentials/kimi-code.json");
    let login = fs::read_to_string(login).unwrap();
    assert!(login.contains("refresh-rotated-kept"), "{login}");
}

#[test]
fn a_task_shares_the_login_wherever_the_data_home_lies() {
    let lead = lead();
    let (pinned, data) = (lead.home().join(".local/share/delegation-kit/kimi-rg"), lead.path().join("data"));
    let lead = lead
        .and("DELEGATION_KIMI_OAUTH_MODE", "shared")
        .and("DELEGATION_KIMI_RG_STORE", pinned)
        .and("XDG_DATA_HOME", data.clone());
    let words = ["--lane", "scout", "--allow-provisional", "--wait", "--json"];
    let ran = lead.run(lead.dispatch_arguments("kimi:run", "[[KIMI: rotate shared]]", &words));
    assert_eq!(ran.code, 0, "{ran:?}");
    let login = fs::read_to_string(lead.home().join(".kimi-code/credentials/kimi-code.json")).unwrap();
    assert!(login.contains("refresh-rotated-shared"), "{login}");
    let written: Vec<_> =
        fs::read_dir(data.join("delegation-kit")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(written, ["kimi-shared-oauth"]);
}

#[test]
fn a_login_that_another_run_has_is_asked_for_later_and_one_that_is_missing_is_named() {
    let lead = lead();
    let lock = lead.home().join(".kimi-code/.delegation-kit-oauth.lock");
    fs::write(&lock, std::process::id().to_string()).unwrap();
    let words = ["--lane", "scout", "--allow-provisional", "--wait", "--json"];
    let message = |ran: &support::Ran| {
        let outcome = lead.record(ran.answer()["task_id"].as_str().unwrap(), "outcome.json").unwrap();
        outcome["reason"]["message"].as_str().unwrap().to_owned()
    };
    let ran = lead.run(lead.dispatch_arguments("kimi:run", "x", &words));
    assert_eq!(ran.reason(), "rate-limited", "{ran:?}");
    assert!(message(&ran).contains("another run has the Kimi login"), "{}", message(&ran));
    fs::remove_file(lock).unwrap();
    fs::remove_file(lead.home().join(".kimi-code/credentials/kimi-code.json")).unwrap();
    let ran = lead.run(lead.dispatch_arguments("kimi:run", "x", &words));
    assert_eq!(ran.reason(), "authentication-required", "{ran:?}");
    assert!(message(&ran).contains("kimi login"), "{}", message(&ran));
}
