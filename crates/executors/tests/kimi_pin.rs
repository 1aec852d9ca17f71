//! `pin-rg`, and what a run makes of a store that is not what was archived (runners.md 3.3).

mod kimi_support;
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use kimi_support::{ask, bare, install, pin, plant_ripgrep, ready};
use record::Sha256Digest;
use serde_json::{Value, json};
use support::Stage;
use support::runs::mode;

fn archive(stage: &Stage) -> PathBuf {
    stage.path("home/.local/share/delegation-kit/kimi-rg/current")
}

fn pin_from(stage: &Stage, path: &Path, more: &[&str]) -> support::Finished {
    let path = path.to_str().expect("UTF-8");
    stage.run(&[&["pin-rg", "--from", path], more].concat())
}

#[test]
fn a_ripgrep_is_archived_with_its_digest_version_and_libraries() {
    let stage = bare();
    let rg = plant_ripgrep(&stage, "real-rg", json!({}));
    symlink(&rg, stage.path("bin/link")).expect("a link");
    symlink("link", stage.path("bin/rg")).expect("a link");
    let finished = stage.run(&["pin-rg"]);
    assert_eq!(finished.code, 0, "{finished:?}");
    let archive = archive(&stage);
    let bytes = fs::read(archive.join("rg")).expect("the program");
    assert_eq!(bytes, fs::read(rg).expect("the program"));
    let text = |name: &str| fs::read_to_string(archive.join(name)).expect("readable");
    assert_eq!(text("rg.sha256").trim(), Sha256Digest::of(&bytes).to_string());
    assert_eq!(text("rg.version").trim(), "ripgrep 14.1.1 (rev fake)");
    let libraries = text("dependencies.json");
    assert_eq!(serde_json::from_str::<Value>(&libraries).expect("JSON"), json!([]));
    assert_eq!(text("dependencies.sha256").trim(), Sha256Digest::of(libraries.as_bytes()).to_string());
    assert_eq!(mode(&archive.join("rg")), 0o500);
    for name in ["rg.sha256", "rg.version", "dependencies.json", "dependencies.sha256"] {
        assert_eq!(mode(&archive.join(name)), 0o400, "{name}");
    }
    let entries = fs::read_dir(archive.parent().expect("a store")).expect("a directory").count();
    assert_eq!(entries, 1, "nothing is left beside the archive");
}

#[test]
fn the_same_bytes_are_no_work_and_others_need_force() {
    let stage = bare();
    let first = plant_ripgrep(&stage, "first", json!({}));
    let second = plant_ripgrep(&stage, "second", json!({"other": true}));
    assert_eq!(pin_from(&stage, &first, &[]).code, 0);
    let inode =
        |stage: &Stage| std::os::unix::fs::MetadataExt::ino(&fs::metadata(archive(stage)).expect("there"));
    let before = inode(&stage);
    let finished = pin_from(&stage, &first, &[]);
    assert_eq!((finished.code, finished.stdout.contains("already pinned")), (0, true), "{finished:?}");
    assert_eq!(inode(&stage), before);
    pin_from(&stage, &second, &[]).refused(64, "--force");
    assert_eq!(inode(&stage), before);
    assert_eq!(pin_from(&stage, &second, &["--force"]).code, 0);
    assert_eq!(fs::read(archive(&stage).join("rg")).expect("there"), fs::read(&second).expect("there"));
    // A damaged archive of the same bytes is repaired.
    fs::remove_file(archive(&stage).join("rg.version")).expect("removed");
    assert_eq!(pin_from(&stage, &second, &[]).code, 0);
    assert!(archive(&stage).join("rg.version").exists());
}

#[test]
fn what_is_no_ripgrep_is_not_pinned() {
    let mut stage = bare();
    stage.set("PATH", stage.path("bin"));
    stage.run(&["pin-rg"]).refused(69, "no rg is on PATH");
    let file = stage.write("plain", "text");
    pin_from(&stage, &file, &[]).refused(64, "no executable file");
    pin_from(&stage, &stage.path("missing"), &[]).refused(64, "no executable file");
    symlink(stage.path("loop"), stage.path("loop")).expect("a link");
    pin_from(&stage, &stage.path("loop"), &[]).refused(64, "no executable file");
    pin_from(&stage, Path::new("/usr/bin/true"), &[]).refused(64, "is no ripgrep");
    for version in ["rg 14.1.1\n", "ripgrep fourteen\n", ""] {
        let rg = plant_ripgrep(&stage, "rg", json!({"version": version}));
        pin_from(&stage, &rg, &[]).refused(64, "is no ripgrep");
    }
    let script = stage.write("script", "#!/bin/sh\necho ripgrep 14.1.1\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
    pin_from(&stage, &script, &[]).refused(64, "no native program");
    for words in [&["pin-rg", "--from"][..], &["pin-rg", "x"], &["pin-rg", "--force", "--force"]] {
        assert_eq!(stage.run(words).code, 64, "{words:?}");
    }
    assert_eq!(stage.run(&["pin-rg", "--help"]).code, 0);
    assert!(!archive(&stage).exists());
    // A store that can not be made.
    stage.set("DELEGATION_KIMI_RG_STORE", stage.write("file", "").join("store"));
    plant_ripgrep(&stage, "rg", json!({}));
    stage.run(&["pin-rg"]).refused(70, "is not pinned");
}

#[test]
fn the_store_follows_the_data_home() {
    for (variable, value, place) in [
        ("DELEGATION_DATA_HOME", "data", "data/kimi-rg/current/rg"),
        ("XDG_DATA_HOME", "xdg", "xdg/delegation-kit/kimi-rg/current/rg"),
        ("DELEGATION_KIMI_RG_STORE", "store", "store/current/rg"),
    ] {
        let mut stage = bare();
        stage.set(variable, stage.path(value));
        install(&stage, json!({"role": "kimi"}));
        plant_ripgrep(&stage, "rg", json!({}));
        pin(&stage);
        assert!(stage.path(place).is_file(), "{variable}");
        assert_eq!(ask(&stage, "scout", "[[KIMI: execute rg]]", &[]).code, 0);
        assert_eq!(stage.answer().as_deref(), Some(&b"{\"execute rg\":\"done\"}\n"[..]));
    }
}

#[test]
fn an_archive_that_is_another_than_was_archived_is_not_run() {
    let stage = ready();
    let archive = archive(&stage);
    let change = |name: &str, bytes: &[u8], permissions: u32| {
        let path = archive.join(name);
        let before = fs::read(&path).expect("readable");
        fs::remove_file(&path).expect("removed");
        fs::write(&path, bytes).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).expect("a mode");
        ask(&stage, "scout", "x", &[]).refused(69, "the pinned ripgrep");
        assert_eq!(stage.check()["selected_backend"], "none");
        fs::remove_file(&path).expect("removed");
        let usual = if name == "rg" { 0o500 } else { 0o400 };
        fs::write(&path, &before).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(usual)).expect("a mode");
    };
    let mut other = fs::read(archive.join("rg")).expect("readable");
    other.push(b'x');
    change("rg", &other, 0o500);
    other.pop();
    change("rg", &other, 0o755);
    change("rg.sha256", b"0", 0o400);
    change("rg.version", b"ripgrep 99.0.0\n", 0o400);
    change("rg.version", b"rg\n", 0o400);
    change("dependencies.json", b"[{\"path\":\"/x\",\"sha256\":\"0\"}]\n", 0o400);
    change("dependencies.sha256", b"0", 0o400);
    fs::rename(archive.join("rg"), stage.path("moved")).expect("moved");
    symlink(stage.path("moved"), archive.join("rg")).expect("a link");
    ask(&stage, "scout", "x", &[]).refused(69, "does not verify");
}

/// A small native ripgrep that needs a library of its own, which needs another one beside it.
fn compile(stage: &Stage, libraries: &Path) -> PathBuf {
    fs::create_dir_all(libraries).expect("a directory");
    let inner = stage.write("inner.c", "const char *inner(void) { return \"ripgrep 1.2.3\"; }\n");
    let outer =
        stage.write("outer.c", "const char *inner(void);\nconst char *outer(void) { return inner(); }\n");
    let main = stage.write(
        "main.c",
        "#include <stdio.h>\nconst char *outer(void);\nint main(void) { puts(outer()); return 0; }\n",
    );
    let cc = |words: &[&std::ffi::OsStr]| {
        let status = Command::new("cc").args(words).status().expect("a compiler");
        assert!(status.success());
    };
    let library = |name: &str| libraries.join(name);
    let search = format!("-L{}", libraries.display());
    let rpath = format!("-Wl,-rpath,{}", libraries.display());
    let program = stage.path("bin/small-rg");
    cc(&[
        "-shared".as_ref(),
        "-fPIC".as_ref(),
        "-o".as_ref(),
        library("libinner.so").as_ref(),
        inner.as_ref(),
    ]);
    cc(&[
        "-shared".as_ref(),
        "-fPIC".as_ref(),
        "-o".as_ref(),
        library("libouter.so").as_ref(),
        outer.as_ref(),
        search.as_ref(),
        "-linner".as_ref(),
        "-Wl,-rpath,$ORIGIN".as_ref(),
    ]);
    cc(&[
        "-o".as_ref(),
        program.as_ref(),
        main.as_ref(),
        search.as_ref(),
        "-louter".as_ref(),
        rpath.as_ref(),
    ]);
    program
}

#[test]
fn libraries_that_are_not_the_system_s_are_recorded_and_compared() {
    let stage = ready();
    let program = compile(&stage, &stage.path("libraries"));
    assert_eq!(pin_from(&stage, &program, &["--force"]).code, 0);
    let recorded = fs::read_to_string(archive(&stage).join("dependencies.json")).expect("readable");
    let recorded: Value = serde_json::from_str(&recorded).expect("JSON");
    let entry = |name: &str| {
        let path = stage.path("libraries").join(name);
        json!({"path": path, "sha256": Sha256Digest::of(&fs::read(&path).expect("readable")).to_string()})
    };
    assert_eq!(recorded, json!([entry("libinner.so"), entry("libouter.so")]));
    let status = stage.check();
    assert_eq!(status["selected_backend"], "native", "{status}");
    assert_eq!(status["search_runtime"]["version"], "1.2.3");
    assert_eq!(status["search_runtime"]["non_system_dependency_count"], 2);
    // It runs inside, with libraries that lie where nothing else can be read.
    assert_eq!(ask(&stage, "scout", "[[KIMI: execute rg]]", &[]).code, 0);
    assert_eq!(stage.answer().as_deref(), Some(&b"{\"execute rg\":\"done\"}\n"[..]));
    support::runs::clear(&stage);
    let library = stage.path("libraries/libinner.so");
    let mut bytes = fs::read(&library).expect("readable");
    bytes.push(0);
    fs::write(&library, bytes).expect("written");
    ask(&stage, "scout", "x", &[]).refused(69, "its libraries are not those");
    fs::remove_file(&library).expect("removed");
    ask(&stage, "scout", "x", &[]).refused(69, "libinner.so is nowhere to be found");
}

#[test]
fn a_library_in_the_home_directory_is_refused() {
    let stage = bare();
    let program = compile(&stage, &stage.path("home/lib"));
    pin_from(&stage, &program, &[]).refused(64, "lies in the home directory");
}
