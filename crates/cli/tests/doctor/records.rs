//! Damaged records and files of tasks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::Lead;
use crate::{alone, checks, ended};

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
