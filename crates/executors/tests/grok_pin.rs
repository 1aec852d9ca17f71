//! `pin`, and which program a run starts (runners.md 4.2, 4.6).

mod grok_support;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use grok_support::{ask, bare, install, ready};
use record::Sha256Digest;
use serde_json::{Value, json};
use support::runs::{clear, mode};
use support::{Finished, Stage};

fn store(stage: &Stage) -> PathBuf {
    stage.path("home/.local/share/delegation-kit/grok-cli")
}

fn archive(stage: &Stage) -> PathBuf {
    store(stage).join("current")
}

fn pin_from(stage: &Stage, path: &Path, more: &[&str]) -> Finished {
    let path = path.to_str().expect("UTF-8");
    stage.run(&[&["pin", "--from", path], more].concat())
}

/// An archive as an older version of the runner left it.
fn plant_legacy(stage: &Stage, name: &str, setup: Value) -> PathBuf {
    let place = format!("home/.local/share/delegation-kit/grok-cli/{name}/grok");
    let program = install(stage, &place, setup);
    let digest = Sha256Digest::of(&fs::read(&program).expect("readable"));
    fs::write(program.with_file_name("grok.sha256"), format!("{digest}\n")).expect("written");
    program
}

#[test]
fn a_program_is_archived_with_its_digest() {
    let stage = ready();
    let finished = stage.run(&["pin"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let program = archive(&stage).join("grok");
    let bytes = fs::read(&program).expect("the program");
    assert_eq!(bytes, fs::read(stage.path("bin/grok")).expect("the program"));
    let digest = fs::read_to_string(archive(&stage).join("grok.sha256")).expect("a digest");
    assert_eq!(digest.split_whitespace().next(), Some(Sha256Digest::of(&bytes).to_string().as_str()));
    assert_eq!((mode(&program), mode(&archive(&stage).join("grok.sha256"))), (0o500, 0o400));
    let entries = fs::read_dir(store(&stage)).expect("a directory").count();
    assert_eq!(entries, 1, "nothing is left beside the archive");
    // What is updated around it changes nothing.
    install(&stage, "bin/grok", json!({"version": "grok 9.9.9\n", "interface": null}));
    assert_eq!(ask(&stage, "x", &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_source"], "pinned");
    assert_eq!(stage.metrics()["runtime_cli_version"], "1.4.2");
    assert_eq!(stage.check()["runtime_cli_path"].as_str(), program.to_str());
}

#[test]
fn the_same_bytes_are_no_work_and_others_need_force() {
    let stage = bare();
    let first = install(&stage, "first/grok", json!({}));
    let second = install(&stage, "second/grok", json!({"other": true}));
    assert_eq!(pin_from(&stage, &first, &[]).code, 0);
    let finished = pin_from(&stage, &first, &[]);
    assert_eq!((finished.code, finished.stdout.contains("already pinned")), (0, true), "{finished:?}");
    pin_from(&stage, &second, &[]).refused(64, "--force replaces it");
    assert_eq!(fs::read(archive(&stage).join("grok")).ok(), fs::read(&first).ok());
    assert_eq!(pin_from(&stage, &second, &["--force"]).code, 0);
    assert_eq!(fs::read(archive(&stage).join("grok")).ok(), fs::read(&second).ok());
}

#[test]
fn a_damaged_archive_is_never_replaced_by_another_program() {
    let stage = ready();
    assert_eq!(stage.run(&["pin"]).code, 0);
    let (program, digest) = (archive(&stage).join("grok"), archive(&stage).join("grok.sha256"));
    let damages: [&dyn Fn(); 3] = [
        &|| {
            fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("a mode");
            fs::write(&program, "tampered").expect("written");
        },
        &|| fs::remove_file(&digest).expect("removed"),
        &|| fs::remove_file(&program).expect("removed"),
    ];
    for damage in damages {
        damage();
        ask(&stage, "x", &[]).refused(69, "run: delegation-grok pin --force");
        let status = stage.check();
        assert_eq!(status["selected_backend"], "none");
        assert_eq!(status["runtime_cli_source"], "none");
    }
    stage.run(&["pin"]).refused(64, "--force");
    assert_eq!(stage.run(&["pin", "--force"]).code, 0);
    assert_eq!(ask(&stage, "x", &[]).code, 0);
}

#[test]
fn what_the_user_names_comes_first_and_has_no_substitute() {
    let mut stage = ready();
    assert_eq!(stage.run(&["pin"]).code, 0);
    let named = install(&stage, "named/grok", json!({"version": "grok 2.0.0\n"}));
    stage.set("DELEGATION_GROK_BIN", &named);
    assert_eq!(ask(&stage, "x", &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_source"], "override");
    assert_eq!(stage.metrics()["runtime_cli_version"], "2.0.0");
    clear(&stage);
    stage.set("DELEGATION_GROK_BIN", stage.path("missing"));
    ask(&stage, "x", &[]).refused(69, "is not executable");
}

#[test]
fn an_older_archive_is_used_until_one_is_pinned() {
    let stage = bare();
    plant_legacy(&stage, "1.0.0", json!({}));
    plant_legacy(&stage, "2.0.0", json!({"interface": null}));
    let tampered = plant_legacy(&stage, "3.0.0", json!({}));
    fs::write(tampered.with_file_name("grok.sha256"), "0".repeat(64)).expect("written");
    assert_eq!(ask(&stage, "x", &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_source"], "legacy");
    clear(&stage);
    let status = stage.check();
    assert!(status["runtime_cli_path"].as_str().is_some_and(|path| path.ends_with("1.0.0/grok")));
    assert_eq!(stage.run(&["pin"]).code, 0);
    assert_eq!(ask(&stage, "x", &[]).code, 0);
    assert_eq!(stage.metrics()["runtime_cli_source"], "pinned");
}

#[test]
fn what_can_not_be_run_is_not_pinned() {
    let mut stage = bare();
    stage.run(&["pin"]).refused(69, "no grok is to be found");
    pin_from(&stage, &stage.path("missing"), &[]).refused(64, "no executable file");
    pin_from(&stage, &stage.write("plain", "text"), &[]).refused(64, "no executable file");
    let incompatible = install(&stage, "old/grok", json!({"interface": null}));
    pin_from(&stage, &incompatible, &[]).refused(69, "lacks the required interface");
    pin_from(&stage, Path::new("/usr/bin/true"), &[]).refused(69, "lacks the required interface");
    for words in [&["pin", "--from"][..], &["pin", "x"], &["pin", "--force", "--force"]] {
        assert_eq!(stage.run(words).code, 64, "{words:?}");
    }
    assert!(!archive(&stage).exists());
    // The first that can be run is taken, wherever it lies.
    install(&stage, "bin/grok", json!({"interface": null}));
    let download = install(&stage, "home/.grok/downloads/grok-1.9", json!({}));
    assert_eq!(stage.run(&["pin"]).code, 0);
    assert_eq!(fs::read(archive(&stage).join("grok")).ok(), fs::read(download).ok());
    // A store that can not be made.
    stage.set("DELEGATION_GROK_BIN_STORE", stage.write("file", "").join("store"));
    stage.run(&["pin"]).refused(70, "is not pinned");
}

#[test]
fn the_store_follows_the_data_home() {
    for (variable, value, place) in [
        ("DELEGATION_DATA_HOME", "data", "data/grok-cli/current/grok"),
        ("XDG_DATA_HOME", "xdg", "xdg/delegation-kit/grok-cli/current/grok"),
        ("DELEGATION_GROK_BIN_STORE", "store", "store/current/grok"),
    ] {
        let mut stage = ready();
        stage.set(variable, stage.path(value));
        assert_eq!(stage.run(&["pin"]).code, 0);
        assert!(stage.path(place).exists(), "{place}");
    }
}
