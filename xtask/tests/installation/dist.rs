//! What `cargo xtask dist` makes, and that it installs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::real::{leave_out, workspace_directory};

use crate::world::{Ran, World, names, run, stem, write_program};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The packages that a release holds the programs of.
const PACKAGES: [&str; 2] = ["cli", "executors"];

/// The programs of a package, by their sources.
fn programs(package: &str) -> Vec<String> {
    let sources = names(&workspace_directory().join("crates").join(package).join("src/bin"));
    sources.iter().map(|source| source.trim_end_matches(".rs").to_owned()).collect()
}

/// The programs of a release.
fn all_programs() -> Vec<String> {
    PACKAGES.into_iter().flat_map(programs).collect()
}

/// Makes a release of the real programs, as the tests build them, and serves it.
fn release(world: &World) -> PathBuf {
    let output = world.at("dist");
    for runner in programs("executors") {
        testkit::binary::of_package("executors", &runner).expect("the programs");
    }
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
    let holds = |name: &str| listed.stdout.lines().any(|line| line == format!("{stem}/{name}"));
    let programs = all_programs();
    for program in
        ["delegate", "delegate-run", "delegation-patch-verify", "delegation-qwen", "delegation-kimi"]
    {
        assert!(programs.iter().any(|name| name == program), "{program}: {programs:?}");
    }
    for program in &programs {
        assert!(holds(&format!("bin/{program}")), "{program}: {listed:?}");
    }
    for name in [
        "share/man/man1/delegate.1",
        "share/man/man1/delegate-dispatch.1",
        "share/bash-completion/completions/delegate",
        "share/zsh/site-functions/_delegate",
        "share/fish/vendor_completions.d/delegate.fish",
        "LICENSE-MIT",
        "docs/README.md",
        "schemas/outcome.json",
        "skills/agent-integration/SKILL.md",
    ] {
        assert!(holds(name), "{name}: {listed:?}");
    }
    let unpacked = world.at("unpacked");
    fs::create_dir(&unpacked).expect("a folder");
    let ran = run(Command::new("tar").arg("-xzf").arg(output.join(&archive)).arg("-C").arg(&unpacked));
    assert_eq!(ran.code, 0, "{ran:?}");
    let links = links_that_lead_somewhere(&unpacked.join(&stem));
    assert!(links > 20, "only {links} links were found");

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
    let installed = names(&directory);
    for program in &programs {
        assert!(installed.contains(program), "{program}: {installed:?}");
    }
    assert_eq!(installed.len(), programs.len() + 1, "beside them the folder that holds them: {installed:?}");

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

/// Looks for what the pages below a directory link to; the number of links.
fn links_that_lead_somewhere(directory: &Path) -> usize {
    let mut count = 0;
    for name in names(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            count += links_that_lead_somewhere(&path);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).expect("a page");
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
                let file = target.split('#').next().unwrap_or_default();
                assert!(directory.join(file).exists(), "{} links to {target}", path.display());
                count += 1;
            }
        }
    }
    count
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
fn a_release_tells_of_its_own_version_alone() {
    let text =
        fs::read_to_string(workspace_directory().join(".github/workflows/release.yml")).expect("a workflow");
    let workflow: serde_json::Value = serde_norway::from_str(&text).expect("YAML");
    let steps = workflow["jobs"]["release"]["steps"].as_array().expect("steps");
    let script = steps.iter().find(|step| step["name"] == "Notes").and_then(|step| step["run"].as_str());
    let world = World::empty();
    let directory = world.at("repository");
    fs::create_dir(&directory).expect("a folder");
    let history = "# Changelog\n\n## Unreleased\n\n- later\n\n## 1.2.0\n\n- this\n\n### Also\n\n- that\n\n## 1.1.0\n\n- before\n";
    fs::write(directory.join("CHANGELOG.md"), history).expect("a file");
    for (tag, notes) in [("v1.2.0", Some("\n- this\n\n### Also\n\n- that\n\n")), ("v1.2", None)] {
        let ran = run(world
            .command("bash")
            .args(["-eu", "-c", script.expect("a script")])
            .env("GITHUB_REF_NAME", tag)
            .current_dir(&directory));
        assert_eq!(ran.code == 0, notes.is_some(), "{tag}: {ran:?}");
        let written = fs::read_to_string(directory.join("notes.md")).expect("notes");
        assert_eq!(written, notes.unwrap_or_default(), "{tag}");
    }
    assert!(text.contains("--notes-file notes.md"));
}

#[test]
fn the_same_programs_make_the_same_bytes() {
    let world = World::empty();
    let programs = world.at("programs");
    fs::create_dir(&programs).expect("a folder");
    for name in all_programs() {
        write_program(&programs.join(name), "#!/bin/sh\nprintf 'Commands:\\n  help  %s\\n' \"$*\"\n");
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
