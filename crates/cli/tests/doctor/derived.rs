//! What is derived from the records, or left over beside them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::Lead;
use crate::{alone, ended, status};

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
    let damages: [(&str, JournalDamage); 6] = [
        ("failed", |path| fs::write(path, "nonsense\n").unwrap()),
        ("warning", |path| fs::remove_file(path).unwrap()),
        ("failed", |path| {
            fs::remove_file(path).unwrap();
            symlink("/dev/null", path).unwrap();
        }),
        ("failed", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
            fs::write(path.join("letter.txt"), "mine").unwrap();
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
    // The one thing that may have been somebody's is kept.
    let names = fs::read_dir(lead.root()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = names.filter(|path| path.display().to_string().contains(".aside-")).collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert_eq!(fs::read_to_string(aside[0].join("letter.txt")).unwrap(), "mine");
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
