//! A root as it should be, and one that is not there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::Lead;
use crate::{alone, checks, ended, status};

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
        "directories",
        "markers",
        "claims",
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
