//! `doctor` finds what is damaged, says where, and puts right what is derived (STATE.md 9).

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use support::{Lead, Ran, until};

fn ended(lead: &Lead) -> String {
    let ran = lead.turn("codex:exec", "[[fake: answer whole]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.answer()["task_id"].as_str().unwrap().to_owned()
}

/// The checks of one id.
fn checks(ran: &Ran, id: &str) -> Vec<Value> {
    let answer = ran.answer();
    let all = answer["checks"].as_array().unwrap();
    all.iter().filter(|check| check["id"] == id).cloned().collect()
}

/// The status of the one check of an id.
fn status(ran: &Ran, id: &str) -> String {
    let found = checks(ran, id);
    assert_eq!(found.len(), 1, "{id}: {ran:?}");
    found[0]["status"].as_str().unwrap().to_owned()
}

/// Every file below a directory with what it holds.
fn content(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(content(&entry.path()));
            found.insert(entry.path(), Vec::new());
        } else {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Ends the supervisor, so that nobody changes the root meanwhile.
fn alone(lead: &Lead) {
    if let Some(supervisor) = lead.supervisor() {
        support::kill(supervisor, "KILL");
        until("its end", || lead.supervisor().is_none().then_some(()));
    }
}

#[test]
fn a_sound_root_is_sound_and_is_not_changed() {
    let lead = Lead::new();
    let id = ended(&lead);
    alone(&lead);
    let before = content(&lead.root());
    let ran = lead.json(["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(content(&lead.root()), before);
    let answer = ran.answer();
    assert_eq!(answer["root_id"], lead.record(&id, "request.json").unwrap()["root_id"]);
    let ids: Vec<&str> =
        answer["checks"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap()).collect();
    let expected = [
        "kernel",
        "landlock",
        "cgroup",
        "subreaper",
        "user_manager",
        "limits",
        "git",
        "environment",
        "provider:",
        "root",
        "file_system",
        "free_space",
        "file_system_calls",
        "supervisor",
        "gave_up",
        "runners",
        "supervisor:pueue",
        "supervisor:slurm",
        "records",
        "clock",
        "markers",
        "staging",
        "leases",
        "probes",
        "journal",
    ];
    let mut kinds: Vec<&str> =
        ids.iter().map(|id| if id.starts_with("provider:") { "provider:" } else { id }).collect();
    kinds.dedup();
    assert_eq!(kinds, expected);
    let words = lead.run(["doctor"]);
    assert_eq!(words.code, 0);
    assert!(words.stdout.lines().last().unwrap().contains(" 0 failed"), "{words:?}");
}

#[test]
fn without_a_root_none_is_made() {
    let lead = Lead::new();
    let ran = lead.json(["doctor", "--repair"]);
    assert_eq!((ran.code, status(&ran, "root").as_str()), (0, "ok"), "{ran:?}");
    assert!(!lead.root().exists());
    fs::create_dir(lead.root()).unwrap();
    fs::set_permissions(lead.root(), PermissionsExt::from_mode(0o755)).unwrap();
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, "root").as_str()), (1, "failed"), "{ran:?}");
    assert!(checks(&ran, "root")[0]["detail"].as_str().unwrap().contains("chmod"));
}

const FILES: [&str; 10] = [
    "request.json",
    "brief.md",
    "plan.json",
    "submission.json",
    "launch.json",
    "running.json",
    "seal.json",
    "outcome.json",
    "result.txt",
    "raw/stdout",
];

/// Damages a file of a task; `other` is the same file of another task.
type Damage = fn(file: &Path, other: &Path);

const DAMAGES: [(&str, Damage); 6] = [
    ("truncated", |file, _| {
        let bytes = fs::read(file).unwrap();
        write(file, &bytes[..bytes.len() / 2]);
    }),
    ("bit-flipped", |file, _| {
        let mut bytes = fs::read(file).unwrap();
        let place = bytes.len() / 3;
        bytes[place] ^= 1;
        write(file, &bytes);
    }),
    ("swapped", |file, other| {
        let bytes = fs::read(other).unwrap();
        write(file, &bytes);
    }),
    ("missing", |file, _| fs::remove_file(file).unwrap()),
    ("a symbolic link", |file, _| {
        let aside = file.with_extension("aside");
        fs::rename(file, &aside).unwrap();
        symlink(&aside, file).unwrap();
    }),
    ("a FIFO", |file, _| {
        fs::remove_file(file).unwrap();
        assert!(
            std::process::Command::new("mkfifo").args(["-m", "600"]).arg(file).status().unwrap().success()
        );
    }),
];

fn write(file: &Path, bytes: &[u8]) {
    fs::set_permissions(file, PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(file, bytes).unwrap();
}

#[test]
fn every_damaged_file_is_named() {
    let lead = Lead::new();
    let id = ended(&lead);
    let ran = lead.turn("codex:exec", "[[fake: answer another]]", &[]);
    let other = ran.answer()["task_id"].as_str().unwrap().to_owned();
    alone(&lead);
    let directory = lead.task_directory(&id);
    for name in FILES {
        let file = directory.join(name);
        let (whole, mode) = (fs::read(&file).unwrap(), file.metadata().unwrap().permissions());
        for (what, damage) in DAMAGES {
            damage(&file, &lead.task_directory(&other).join(name));
            let ran = lead.json(["doctor"]);
            // A running.json that is not there is what a turn that never ran looks like, and an outcome that is not there
            // an open task.
            let is_silent = what == "missing" && ["running.json", "outcome.json"].contains(&name);
            let named = checks(&ran, "damaged").iter().any(|check| {
                let detail = check["detail"].as_str().unwrap();
                check["status"] == "failed" && detail.contains(file.to_str().unwrap())
            });
            assert_eq!(named, !is_silent, "{name} {what}: {ran:?}");
            assert_eq!(ran.code, i32::from(!is_silent || name == "outcome.json"), "{name} {what}: {ran:?}");
            // What can not be trusted is not changed either.
            let repaired = lead.json(["doctor", "--repair"]);
            assert_eq!(!checks(&repaired, "damaged").is_empty(), named, "{name} {what}: {repaired:?}");

            let _ = fs::remove_file(&file);
            let _ = fs::remove_file(file.with_extension("aside"));
            fs::write(&file, &whole).unwrap();
            fs::set_permissions(&file, mode.clone()).unwrap();
        }
    }
    assert_eq!(lead.json(["doctor", "--repair"]).code, 0);
    assert_eq!(lead.json(["doctor"]).code, 0);
}

#[test]
fn many_findings_are_counted() {
    let lead = Lead::new();
    ended(&lead);
    alone(&lead);
    for number in 0..150 {
        fs::create_dir(lead.root().join("tasks").join(format!("{number:032x}"))).unwrap();
    }
    let ran = lead.json(["doctor"]);
    assert_eq!(ran.code, 1);
    let found = checks(&ran, "damaged");
    assert_eq!(found.len(), 101);
    assert!(found[100]["detail"].as_str().unwrap().contains("50"), "{:?}", found[100]);
}

/// Damages the journal at a path.
type JournalDamage = fn(&Path);

#[test]
fn the_journal_is_made_again_from_the_records() {
    let lead = Lead::new();
    let cancelled = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    assert_eq!(lead.json(["cancel", &cancelled, "--watch", "60s"]).code, 4);
    let task = ended(&lead);
    alone(&lead);
    let path = lead.root().join("journal.ndjson");
    let told = |path: &Path| -> Vec<(String, String)> {
        let text = fs::read_to_string(path).unwrap();
        let mut events: Vec<_> = text
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|event| (event["task_id"].to_string(), event["event"].to_string()))
            .collect();
        events.sort();
        events
    };
    let before = told(&path);
    assert!(before.contains(&(format!("\"{task}\""), "\"published\"".to_owned())), "{before:?}");
    let damages: [(&str, JournalDamage); 5] = [
        ("failed", |path| fs::write(path, "nonsense\n").unwrap()),
        ("warning", |path| fs::remove_file(path).unwrap()),
        ("failed", |path| {
            fs::remove_file(path).unwrap();
            symlink("/dev/null", path).unwrap();
        }),
        ("warning", |path| {
            let text = fs::read_to_string(path).unwrap();
            let kept: Vec<&str> = text.lines().filter(|line| !line.contains("sealed")).collect();
            fs::write(path, kept.join("\n") + "\n").unwrap();
        }),
        ("warning", |path| {
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, text + "torn\n").unwrap();
        }),
    ];
    for (expected, damage) in damages {
        damage(&path);
        let ran = lead.json(["doctor"]);
        assert_eq!(status(&ran, "journal"), expected, "{ran:?}");
        assert_eq!(ran.code, i32::from(expected == "failed"));
        let ran = lead.json(["doctor", "--repair"]);
        assert_eq!((ran.code, status(&ran, "journal").as_str()), (0, "ok"), "{ran:?}");
        assert_eq!(told(&path), before);
        assert_eq!(status(&lead.json(["doctor"]), "journal"), "ok");
    }
}

#[test]
fn markers_are_put_right() {
    let lead = Lead::with_slots(1);
    let done = ended(&lead);
    let gate = lead.path().join("go");
    let open = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let _ = lead.log().wait_for_launches(2);
    alone(&lead);
    let marker = |id: &str| lead.root().join("open").join(id);
    let (fresh, stray) = ("ab".repeat(16), "cd".repeat(16));
    for id in [&done, &fresh, &stray] {
        fs::write(marker(id), "").unwrap();
        fs::set_permissions(marker(id), PermissionsExt::from_mode(0o600)).unwrap();
    }
    let long_ago = SystemTime::now() - Duration::from_secs(25 * 60 * 60);
    fs::File::options().write(true).open(marker(&stray)).unwrap().set_modified(long_ago).unwrap();
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, "markers").as_str()), (0, "warning"), "{ran:?}");
    fs::remove_file(marker(&open)).unwrap();
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, "markers").as_str()), (1, "failed"), "{ran:?}");
    let ran = lead.json(["doctor", "--repair"]);
    assert_eq!((ran.code, status(&ran, "markers").as_str()), (0, "ok"), "{ran:?}");
    // A marker without a task may be a dispatcher's that has not come to its commit.
    let there = [&done, &fresh, &stray, &open].map(|id| marker(id).exists());
    assert_eq!(there, [false, true, false, true]);
    fs::write(gate, "").unwrap();
    assert_eq!(lead.collect(&open).code, 0);
}

#[test]
fn what_lost_dispatchers_and_torn_caches_leave_is_removed() {
    let lead = Lead::new();
    ended(&lead);
    alone(&lead);
    let staged = lead.root().join("staging").join("ab".repeat(16));
    fs::create_dir(&staged).unwrap();
    fs::set_permissions(&staged, PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(staged.join("request.json"), "half").unwrap();
    let probe = lead.root().join("probes/torn.json");
    fs::write(&probe, "half").unwrap();
    fs::set_permissions(&probe, PermissionsExt::from_mode(0o600)).unwrap();
    let lease = lead.root().join("leases/0-0.lock");
    fs::write(&lease, format!("{}\n", "ef".repeat(16))).unwrap();
    fs::set_permissions(&lease, PermissionsExt::from_mode(0o600)).unwrap();
    let ran = lead.json(["doctor"]);
    let found = ["staging", "probes", "leases"].map(|id| status(&ran, id));
    assert_eq!((ran.code, found), (0, ["warning"; 3].map(str::to_owned)), "{ran:?}");
    let ran = lead.json(["doctor", "--repair"]);
    let found = ["staging", "probes"].map(|id| status(&ran, id));
    assert_eq!((ran.code, found), (0, ["ok"; 2].map(str::to_owned)), "{ran:?}");
    assert!(!staged.exists() && !probe.exists());
    assert!(fs::read_dir(lead.root().join("probes")).unwrap().count() > 0, "what is whole stays");
}

#[test]
fn a_task_that_was_given_up_and_a_missing_supervisor_are_told() {
    let lead = Lead::with_slots(1);
    let _ = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer later]]", &[]);
    assert_eq!(status(&lead.json(["doctor"]), "supervisor"), "ok");
    alone(&lead);
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, "supervisor").as_str()), (0, "warning"), "{ran:?}");
    assert_eq!(status(&ran, "gave_up"), "ok");
    let machine = fs::read_dir(lead.root().join("supervisor")).unwrap().next().unwrap().unwrap().path();
    fs::write(machine.join("gave-up").join(&queued), "").unwrap();
    let ran = lead.json(["doctor"]);
    assert_eq!(status(&ran, "gave_up"), "warning", "{ran:?}");
    assert!(checks(&ran, "gave_up")[0]["detail"].as_str().unwrap().contains(&queued));
    // Looking at a root starts nothing.
    assert_eq!(lead.supervisor(), None);
}

#[test]
fn a_login_is_looked_for_and_never_opened() {
    let lead = Lead::new();
    let id = "provider:codex:exec";
    let ran = lead.json(["doctor"]);
    assert_eq!(status(&ran, id), "unknown", "{ran:?}");
    assert!(checks(&ran, id)[0]["fix"].as_str().unwrap().contains("codex login"));
    // One that would keep whoever opens it waiting for ever.
    let directory = lead.home().join(".codex");
    fs::create_dir_all(&directory).unwrap();
    let made = std::process::Command::new("mkfifo").arg(directory.join("auth.json")).status().unwrap();
    assert!(made.success());
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, id).as_str()), (0, "ok"), "{ran:?}");
    fs::remove_file(lead.programs().join("codex")).unwrap();
    let ran = lead.json(["doctor"]);
    assert!(checks(&ran, id)[0]["detail"].as_str().unwrap().contains("not installed"), "{ran:?}");
}

#[test]
fn a_runner_says_where_its_key_or_login_is() {
    let lead = Lead::new();
    for name in ["delegation-kimi", "delegation-qwen"] {
        symlink("/bin/true", lead.programs().join(name)).unwrap();
    }
    let ran = lead.json(["doctor"]);
    let detail = |id: &str| checks(&ran, id)[0]["detail"].as_str().unwrap().to_owned();
    let qwen = detail("provider:qwen:run");
    for words in ["DELEGATION_QWEN_KEY_FILE", "QWEN_TOKEN_PLAN_API_KEY", "environment file"] {
        assert!(qwen.contains(words), "{qwen}");
    }
    assert!(detail("provider:kimi:run").contains(".kimi-code/credentials/kimi-code.json"), "{ran:?}");
    assert_eq!(status(&ran, "provider:kimi:run"), "unknown");
    let login = lead.home().join(".kimi-code/credentials");
    fs::create_dir_all(&login).unwrap();
    fs::write(login.join("kimi-code.json"), "").unwrap();
    assert_eq!(status(&lead.json(["doctor"]), "provider:kimi:run"), "ok");
}

#[test]
fn the_callers_shell_is_looked_at() {
    let lead = Lead::new();
    let output = lead.command(["doctor", "--json"]).env("DELEGATION_COOKIE", "x-y").output().unwrap();
    assert_eq!(status(&Ran::from(output), "environment"), "warning");
    let inner = lead.command(["doctor", "--json"]);
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -f 2048; exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::from(limited.output().unwrap());
    assert_eq!(status(&ran, "limits"), "warning", "{ran:?}");
}
