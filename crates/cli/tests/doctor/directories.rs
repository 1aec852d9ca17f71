//! Directories of the root that are missing, or that something else stands in the place of.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{Lead, Ran};
use crate::{alone, checks, ended, status};

/// All but `tasks/`, which nothing can make again.
const DERIVED: [&str; 6] = ["staging", "open", "sessions", "leases", "probes", "supervisor"];

/// The one finding on the directories.
fn found(ran: &Ran) -> (String, String, String) {
    let check = checks(ran, "directories")[0].clone();
    let word = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
    (word("status"), word("detail"), word("fix"))
}

/// Whatever it is asked for, it says that something is broken, and never that it can not tell.
fn is_failed(ran: &Ran) {
    assert_eq!(ran.code, 1, "{ran:?}");
    let answer = ran.answer();
    let unknown = answer["checks"].as_array().unwrap().iter().filter(|check| check["status"] == "unknown");
    let unknown: Vec<_> = unknown.filter(|check| !check["id"].as_str().unwrap().contains(':')).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn one_that_is_missing_is_a_finding_and_is_made_again() {
    let lead = Lead::new();
    ended(&lead);
    alone(&lead);
    for name in DERIVED {
        fs::remove_dir_all(lead.root().join(name)).unwrap();
        let ran = lead.json(["doctor"]);
        is_failed(&ran);
        let (status, detail, fix) = found(&ran);
        assert_eq!(status, "failed", "{ran:?}");
        assert!(detail.contains(&format!("{name}/ is missing")) && fix.contains("--repair"), "{ran:?}");
        let ran = lead.json(["doctor", "--repair"]);
        assert_eq!((ran.code, found(&ran).0.as_str()), (0, "ok"), "{name}: {ran:?}");
        assert_eq!(lead.root().join(name).metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(lead.json(["doctor"]).code, 0, "{name}");
    }
    ended(&lead);
}

#[test]
fn all_of_them_at_once() {
    let lead = Lead::new();
    let gate = lead.path().join("go");
    let open = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let _ = lead.log().wait_for_launches(1);
    alone(&lead);
    for name in DERIVED {
        fs::remove_dir_all(lead.root().join(name)).unwrap();
    }
    is_failed(&lead.json(["doctor"]));
    assert_eq!(lead.json(["doctor", "--repair"]).code, 0);
    assert!(lead.root().join("open").join(&open).exists(), "an open task has its marker again");
    fs::write(gate, "").unwrap();
    assert_eq!(lead.collect(&open).code, 0);
}

#[test]
fn what_stands_in_the_place_of_one_is_never_touched() {
    let lead = Lead::new();
    ended(&lead);
    alone(&lead);
    for name in DERIVED {
        let place = lead.root().join(name);
        let aside = lead.path().join(name);
        fs::rename(&place, &aside).unwrap();
        fs::write(&place, "mine").unwrap();
        is_failed(&lead.json(["doctor"]));
        let ran = lead.json(["doctor", "--repair"]);
        is_failed(&ran);
        assert!(found(&ran).2.contains("move it away"), "{name}: {ran:?}");
        assert_eq!(fs::read_to_string(&place).unwrap(), "mine");
        fs::remove_file(&place).unwrap();
        symlink(&aside, &place).unwrap();
        is_failed(&lead.json(["doctor", "--repair"]));
        assert!(place.is_symlink());
        fs::remove_file(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
        fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
        let ran = lead.json(["doctor", "--repair"]);
        is_failed(&ran);
        assert!(found(&ran).1.contains("chmod"), "{name}: {ran:?}");
        fs::set_permissions(&place, PermissionsExt::from_mode(0o700)).unwrap();
    }
    assert_eq!(lead.json(["doctor"]).code, 0);
}

#[test]
fn tasks_are_not_made_again() {
    let lead = Lead::new();
    ended(&lead);
    alone(&lead);
    let tasks = lead.root().join("tasks");
    fs::rename(&tasks, lead.path().join("tasks")).unwrap();
    for words in [&["doctor"][..], &["doctor", "--repair"]] {
        let ran = lead.json(words);
        assert_eq!((ran.code, status(&ran, "root").as_str()), (1, "failed"), "{ran:?}");
        assert!(checks(&ran, "root")[0]["fix"].as_str().unwrap().contains("copy"), "{ran:?}");
        // Else every id would look as if it had never been dispatched.
        assert!(!tasks.exists());
    }
}

#[test]
fn leases_are_not_made_again_under_a_turn_that_writes() {
    let lead = Lead::new();
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]]", gate.display());
    let writer = lead.dispatch("codex:exec", &brief, &["--permission", "workspace-write"]);
    let _ = lead.log().wait_for_launches(1);
    fs::remove_dir_all(lead.root().join("leases")).unwrap();
    let ran = lead.json(["doctor", "--repair"]);
    is_failed(&ran);
    assert!(found(&ran).2.contains("ended"), "{ran:?}");
    assert!(!lead.root().join("leases").exists());
    fs::write(gate, "").unwrap();
    assert_eq!(lead.collect(&writer).code, 0);
    alone(&lead);
    // Nor while one can not be looked at: it might.
    let task = lead.task_directory(&writer);
    fs::set_permissions(&task, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(lead.json(["doctor", "--repair"]).code, 1);
    assert!(!lead.root().join("leases").exists());
    fs::set_permissions(&task, PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(lead.json(["doctor", "--repair"]).code, 0);
}

#[test]
fn the_claims_on_conversations_come_from_the_requests() {
    let lead = Lead::new();
    let first = ended(&lead);
    let brief = lead.brief("[[fake: answer second]]");
    let brief = brief.to_str().unwrap();
    assert_eq!(lead.json(["continue", "--task", &first, "--brief", brief, "--wait"]).code, 0);
    alone(&lead);
    fs::remove_dir_all(lead.root().join("sessions")).unwrap();
    is_failed(&lead.json(["doctor"]));
    let ran = lead.json(["doctor", "--repair"]);
    assert_eq!((ran.code, status(&ran, "claims").as_str()), (0, "ok"), "{ran:?}");
    assert_eq!(lead.json(["doctor"]).code, 0);
    // It has gone on already, and that is known again.
    let ran = lead.json(["continue", "--task", &first, "--brief", brief]);
    assert_eq!(ran.failure(), "continuation_unavailable", "{ran:?}");
    let sessions = fs::read_dir(lead.root().join("sessions")).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(&sessions).unwrap();
    for _ in 0..2 {
        let ran = lead.json(["doctor"]);
        assert_eq!((ran.code, status(&ran, "claims").as_str()), (1, "failed"), "{ran:?}");
        // What stands in its place is a finding as well.
        fs::write(&sessions, "mine").unwrap();
    }
    assert!(
        checks(&lead.json(["doctor", "--repair"]), "claims")[0]["detail"].to_string().contains("directory")
    );
}
