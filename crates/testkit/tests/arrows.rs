//! The arrows between the rooms point one way only (ARCHITECTURE.md, "The house").

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each room may depend on beside external crates. `record` is open to all; `fault` to the four named rooms.
const ARROWS: &[(&str, &[&str])] = &[
    ("record", &[]),
    ("fault", &[]),
    ("store", &["record", "fault"]),
    ("process", &["record", "fault"]),
    ("provider", &["record"]),
    ("survey", &["record"]),
    ("gates", &["record"]),
    ("patch", &["record"]),
    ("contract", &["record", "gates", "patch"]),
    ("executors", &["record", "gates", "process", "provider"]),
    ("supervise", &["record", "fault", "store", "process"]),
    ("turn", &["record", "fault", "store", "process", "provider", "supervise"]),
    (
        "cli",
        &[
            "record",
            "process",
            "store",
            "provider",
            "supervise",
            "survey",
            "turn",
            "gates",
            "contract",
            "patch",
        ],
    ),
];

/// Test only; depended on by tests alone.
const FREE: &[&str] = &["testkit", "xtask"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("two levels below the workspace")
        .to_path_buf()
}

/// Every crate of the workspace with its normal and build dependencies inside the workspace.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(workspace())
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata speaks JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let inside = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
                .filter_map(|dependency| dependency["name"].as_str())
                .filter(|name| names.contains(name))
                .map(str::to_owned)
                .collect();
            (package["name"].as_str().expect("name").to_owned(), inside)
        })
        .collect()
}

#[test]
fn every_arrow_is_one_of_the_plan() {
    let mut wrong = Vec::new();
    for (room, inside) in dependencies() {
        if FREE.contains(&room.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{room} has no place in the plan"));
            continue;
        };
        wrong.extend(
            inside.iter().filter(|to| !allowed.contains(&to.as_str())).map(|to| format!("{room} -> {to}")),
        );
    }
    assert!(wrong.is_empty(), "arrows that the plan does not have: {wrong:?}");
}

/// Inspectors describe; nothing that enforces or routes depends on one.
#[test]
fn no_room_but_the_programs_depends_on_the_contract() {
    let dependent: Vec<String> = dependencies()
        .into_iter()
        .filter(|(room, inside)| {
            inside.contains("contract") && room != "cli" && !FREE.contains(&room.as_str())
        })
        .map(|(room, _)| room)
        .collect();
    assert!(dependent.is_empty(), "{dependent:?} depends on the contract");
}

/// A runner enforces its own rules; that its artifacts are what the contract says is a matter of its tests.
#[test]
fn no_runner_knows_contract_verifier_or_task() {
    let inside = &dependencies()["executors"];
    for stranger in ["contract", "patch", "turn", "store", "supervise", "cli"] {
        assert!(!inside.contains(stranger), "a runner depends on {stranger}");
    }
}

#[test]
fn unsafe_code_is_allowed_in_one_room_only() {
    let mut sources = Vec::new();
    collect(&workspace().join("crates"), &mut sources);
    collect(&workspace().join("xtask"), &mut sources);
    // Written in two parts, so that this file does not find itself.
    let permission = ["allow(", "unsafe_code"].concat();
    let elsewhere: Vec<_> = sources
        .iter()
        .filter(|path| !path.starts_with(workspace().join("crates/process")))
        .filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&permission)))
        .collect();
    assert!(elsewhere.is_empty(), "unsafe code is allowed in {elsewhere:?}");
}

fn collect(directory: &Path, sources: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a source directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(path);
        }
    }
}
