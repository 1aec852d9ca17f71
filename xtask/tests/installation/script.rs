//! What `install.sh` does when all is well.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use testkit::real::{leave_out, workspace_directory};

use crate::world::{VERSION, World, names, run};

#[test]
fn the_latest_version_is_installed_and_runs() {
    let world = World::new();
    let ran = world.install([""; 0]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let directory = world.default_directory();
    assert_eq!(names(&directory), [".delegation-layer", "delegate", "delegate-run", "delegation-route"]);
    assert_eq!(world.printed_by(&directory.join("delegate")), "delegate 1.2.3 with 1.2.3");
    assert_eq!(world.printed_by(&directory.join("delegate-run")), "1.2.3");
    assert!(world.is_tidy());
    // It is on no PATH, and the line that is shown cures that.
    let advice = ran.stdout.lines().find(|line| line.starts_with("  export PATH=")).expect("advice");
    let shell = run(world.command("/bin/sh").args(["-c", &format!("{advice}\ncommand -v delegate")]));
    assert_eq!(shell.stdout.trim(), directory.join("delegate").to_str().expect("a path"));
}

#[test]
fn the_same_again_changes_nothing() {
    let mut world = World::new();
    assert_eq!(world.install([""; 0]).code, 0);
    let store = world.default_directory().join(".delegation-layer");
    let before = names(&store);
    let directory = world.default_directory();
    world.put_first(&directory);
    let ran = world.install([OsStr::new("--install-dir"), directory.join("").as_os_str()]);
    assert_eq!((ran.code, names(&store)), (0, before), "{ran:?}");
    assert!(!ran.stdout.contains("PATH"), "{ran:?}");
}

#[test]
fn another_version_takes_over_and_a_given_one_comes_back() {
    let world = World::new();
    assert_eq!(world.install([""; 0]).code, 0);
    world.publish("2.0.0-rc.1", "#!/bin/sh\necho second VERSION\n");
    assert_eq!(world.install([""; 0]).code, 0);
    let delegate = world.default_directory().join("delegate");
    assert_eq!(world.printed_by(&delegate), "second 2.0.0-rc.1");
    let ran = world.install(["--version", "v1.2.3"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("another version is kept"), "{ran:?}");
    assert_eq!(world.printed_by(&delegate), "delegate 1.2.3 with 1.2.3");
    // By the environment as well.
    let ran = run(world.installer([""; 0]).env("DELEGATE_VERSION", "2.0.0-rc.1"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.printed_by(&delegate), "second 2.0.0-rc.1");
}

#[test]
fn what_somebody_damaged_is_put_right() {
    let world = World::new();
    assert_eq!(world.install([""; 0]).code, 0);
    let delegate = world.default_directory().join("delegate");
    fs::write(delegate.canonicalize().expect("a program"), "").expect("damage");
    assert_eq!(world.install([""; 0]).code, 0);
    assert_eq!(world.printed_by(&delegate), "delegate 1.2.3 with 1.2.3");
}

#[test]
fn the_same_programs_as_plain_files_are_replaced() {
    let world = World::new();
    let directory = world.default_directory();
    fs::create_dir_all(&directory).expect("a directory");
    for name in ["delegate", "delegate-run"] {
        fs::copy(world.programs_of(VERSION).join(name), directory.join(name)).expect("a copy");
    }
    let ran = world.install([""; 0]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(directory.join("delegate").is_symlink());
    assert_eq!(world.printed_by(&directory.join("delegate")), "delegate 1.2.3 with 1.2.3");
}

#[test]
fn what_is_not_ours_is_replaced_when_that_is_wanted() {
    let world = World::new();
    let directory = world.default_directory();
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join("delegate"), "an older one").expect("a file");
    symlink("/nowhere", directory.join("delegate-run")).expect("a link");
    let ran = run(world.installer([""; 0]).env("DELEGATE_REPLACE", "1"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.printed_by(&directory.join("delegate")), "delegate 1.2.3 with 1.2.3");
    // From here on they are ours.
    world.publish("2.0.0", "#!/bin/sh\necho second VERSION\n");
    assert_eq!(world.install([""; 0]).code, 0);
    assert_eq!(world.printed_by(&directory.join("delegate")), "second 2.0.0");
}

#[test]
fn spaces_quotes_and_unicode_in_the_path() {
    let world = World::new();
    let directory = world.at("Prögramme 'ganz' \"neu\" 中文/$HOME `x`");
    let ran = run(world.installer([""; 0]).env("DELEGATE_INSTALL_DIR", &directory));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.printed_by(&directory.join("delegate")), "delegate 1.2.3 with 1.2.3");
    let advice = ran.stdout.lines().find(|line| line.starts_with("  export PATH=")).expect("advice");
    let shell = run(world.command("/bin/sh").args(["-c", &format!("{advice}\ncommand -v delegate")]));
    assert_eq!(shell.stdout.trim(), directory.join("delegate").to_str().expect("a path"));
}

#[test]
fn any_downloader_will_do() {
    for downloader in ["curl", "wget", "node"] {
        let mut world = World::new();
        if !world.only_with(Some(downloader)) {
            assert_ne!(downloader, "node", "it is there wherever these tests are");
            continue;
        }
        let ran = run(world.installer([""; 0]).env("DELEGATE_NODE", "node"));
        assert_eq!(ran.code, 0, "{downloader}: {ran:?}");
        world.printed_by(&world.default_directory().join("delegate"));
    }
    let mut world = World::new();
    assert!(world.only_with(None));
    let ran = world.install([""; 0]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("curl or wget is needed"), "{ran:?}");
}

#[test]
fn several_at_once() {
    let world = World::new();
    let running: Vec<_> =
        (0..4).map(|_| world.installer(["--version", VERSION]).spawn().expect("a shell")).collect();
    for mut child in running {
        assert!(child.wait().expect("an end").success());
    }
    assert_eq!(world.printed_by(&world.default_directory().join("delegate")), "delegate 1.2.3 with 1.2.3");
    assert_eq!(names(&world.default_directory().join(".delegation-layer")).len(), 1);
}

#[test]
fn the_script_is_clean() {
    let checked = Command::new("shellcheck").arg(workspace_directory().join("install.sh")).output();
    match checked {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => leave_out("the_script_is_clean", &format!("shellcheck: {error}")),
    }
}
