//! What `cargo xtask dist` makes, and that it installs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::real::{leave_out, workspace_directory};

use crate::world::{Ran, World, names, run, stem, write_program};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes a release of the real programs, as the tests build them, and serves it.
fn release(world: &World) -> PathBuf {
    let output = world.at("dist");
    let program = testkit::binary::of_package("cli", "delegate").expect("the programs");
    let ran = dist(&output, program.parent().expect("a folder"), &["--release-url", &world.server.url()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    world.serve(VERSION, &output);
    output
}

fn dist(output: &Path, programs: &Path, more: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    run(command.args(["dist", "--output"]).arg(output).arg("--programs").arg(programs).args(more))
}

#[test]
fn the_real_programs_are_packed_installed_and_run() {
    let world = World::empty();
    let output = release(&world);
    let stem = stem(VERSION);
    let archive = format!("{stem}.tar.gz");
    let package = format!("delegation-layer-{VERSION}.tgz");
    assert_eq!(names(&output), ["checksums.txt", &archive, &package, "delegation-layer.rb", "install.sh"]);

    // Another program than ours agrees with the checksums, and reads the archive.
    let checked = run(Command::new("sha256sum").args(["--check", "checksums.txt"]).current_dir(&output));
    assert_eq!((checked.code, checked.stdout.lines().count()), (0, 3), "{checked:?}");
    let listed = run(Command::new("tar").arg("-tzf").arg(output.join(&archive)));
    for name in [
        "bin/delegate",
        "bin/delegate-run",
        "bin/delegation-patch-verify",
        "share/man/man1/delegate.1",
        "share/man/man1/delegate-dispatch.1",
        "share/bash-completion/completions/delegate",
        "share/zsh/site-functions/_delegate",
        "share/fish/vendor_completions.d/delegate.fish",
        "LICENSE-MIT",
        "docs/README.md",
        "skills/agent-integration/SKILL.md",
    ] {
        assert!(listed.stdout.lines().any(|line| line == format!("{stem}/{name}")), "{name}: {listed:?}");
    }

    // The installer of the release knows where it came from.
    let directory = world.at("Programme für alle");
    let ran = run(world
        .command("/bin/sh")
        .env_remove("DELEGATE_RELEASE_URL")
        .arg(output.join("install.sh"))
        .arg("--install-dir")
        .arg(&directory));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(world.printed_by(&directory.join("delegate")).starts_with(&format!("delegate {VERSION}")));
    let programs = names(&directory);
    assert_eq!(programs.len(), 6, "{programs:?}");

    // A whole turn: the runner is found, and the offline worker runs.
    let workspace = world.at("workspace");
    fs::create_dir(&workspace).expect("a folder");
    let turn = run(world
        .command(directory.join("delegate"))
        .args(["quickstart", "--cwd"])
        .arg(&workspace)
        .env("DELEGATE_ROOT", world.at("root")));
    assert_eq!(turn.code, 0, "{turn:?}");
    assert!(names(&world.at("root/tasks")).len() == 1, "{turn:?}");
}

/// The workflow makes an archive for each platform, by the chore that is tested here.
#[test]
fn the_release_workflow_makes_every_platform() {
    let path = workspace_directory().join(".github/workflows/release.yml");
    let text = fs::read_to_string(path).expect("a workflow");
    let workflow: serde_json::Value = serde_norway::from_str(&text).expect("YAML");
    let made: Vec<&str> = workflow["jobs"]["archive"]["strategy"]["matrix"]["include"]
        .as_array()
        .expect("a matrix")
        .iter()
        .filter_map(|entry| entry["platform"].as_str())
        .collect();
    assert_eq!(made, ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"]);
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("cargo xtask ")).map(|(_, rest)| rest).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        let words = command
            .replace('"', "")
            .replace("$GITHUB_SERVER_URL/$GITHUB_REPOSITORY", "https://forge.example/a/b");
        let known =
            run(Command::new(env!("CARGO_BIN_EXE_xtask")).args(words.split_whitespace()).arg("--help"));
        assert_eq!(known.code, 0, "{command}: {known:?}");
    }
}

#[test]
fn the_same_programs_make_the_same_bytes() {
    let world = World::empty();
    let programs = world.at("programs");
    fs::create_dir(&programs).expect("a folder");
    for source in names(&workspace_directory().join("crates/cli/src/bin")) {
        let program = programs.join(source.trim_end_matches(".rs"));
        write_program(&program, "#!/bin/sh\nprintf 'Commands:\\n  help  %s\\n' \"$*\"\n");
    }
    let [first, second] = ["first", "second"].map(|name| {
        let output = world.at(name);
        let ran = dist(&output, &programs, &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("no --release-url"), "{ran:?}");
        assert!(!output.join("delegation-layer.rb").exists());
        fs::read_to_string(output.join("checksums.txt")).expect("checksums")
    });
    assert_eq!(first, second);
}

#[test]
fn the_index_is_made_from_the_archives_that_are_there() {
    let world = World::empty();
    let output = world.at("dist");
    fs::create_dir(&output).expect("a folder");
    let index = |more: &[&str]| {
        run(Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["dist", "--index-only", "--output"])
            .arg(&output)
            .args(more))
    };
    assert_eq!(index(&[]).code, 1, "there is no archive");
    for platform in ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"] {
        fs::write(output.join(format!("delegation-layer-{VERSION}-{platform}.tar.gz")), platform)
            .expect("a file");
    }
    let ran = index(&["--release-url", "https://forge.example/owner/project/releases"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let sums = fs::read_to_string(output.join("checksums.txt")).expect("checksums");
    assert_eq!(sums.lines().count(), 6, "{sums}");
    let formula = fs::read_to_string(output.join("delegation-layer.rb")).expect("a formula");
    assert_eq!(formula.matches("sha256 \"").count(), 4, "{formula}");
    assert!(!formula.contains('@'), "{formula}");
    assert!(formula.contains("homepage \"https://forge.example/owner/project\"\n"), "{formula}");
    match Command::new("ruby").arg("-c").arg(output.join("delegation-layer.rb")).output() {
        Ok(checked) => assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr)),
        Err(error) => {
            leave_out("the_index_is_made_from_the_archives_that_are_there", &format!("ruby: {error}"))
        }
    }
    assert_eq!(index(&["--release-url", "https://forge.example/$(id)"]).code, 2);
}
