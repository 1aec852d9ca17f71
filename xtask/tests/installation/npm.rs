//! The npm package, as `cargo xtask dist` packs it: by npx, pnpm dlx and bunx, from a registry on loopback.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use testkit::real::{Component, workspace_directory};
use testkit::release_server::Mishap;

use crate::world::{Ran, World, find, names, run, stem};

/// The version of the package, and so of the programs that it installs.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const NAME: &str = "delegation-layer";

/// A world with the package; the registry of every client is the world's server.
struct Package {
    world: World,
    tarball: PathBuf,
}

impl Package {
    fn new() -> Self {
        let mut world = World::empty();
        world.publish(VERSION, "#!/bin/sh\necho \"${0##*/} VERSION\"\n");
        let output = world.at("dist");
        fs::create_dir(&output).expect("a folder");
        fs::write(output.join(format!("{}.tar.gz", stem(VERSION))), "").expect("an archive");
        let packed = run(Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["dist", "--index-only", "--output"])
            .arg(&output));
        assert_eq!(packed.code, 0, "{packed:?}");
        let file = format!("{NAME}-{VERSION}.tgz");
        let tarball = output.join(&file);
        let hashed = run(Command::new(node()).args([
            "-p",
            "require('crypto').createHash('sha512').update(require('fs').readFileSync(process.argv[1])).digest('base64')",
        ]).arg(&tarball));
        let url = world.server.url();
        let version = json!({"name": NAME, "version": VERSION, "bin": {NAME: "cli.js"},
            "dist": {"tarball": format!("{url}/{NAME}/-/{file}"), "integrity": format!("sha512-{}", hashed.stdout.trim())}});
        let about = json!({"name": NAME, "dist-tags": {"latest": VERSION}, "versions": {VERSION: version},
            "time": {"created": "2020-01-01T00:00:00.000Z", "modified": "2020-01-01T00:00:00.000Z", VERSION: "2020-01-01T00:00:00.000Z"}});
        world.server.say(&format!("/{NAME}"), &about.to_string());
        world.server.serve(&format!("/{NAME}/-"), &output).expect("the package");
        world.put_first(node().parent().expect("a folder"));
        // Every client reads this file.
        fs::write(world.home().join(".npmrc"), format!("registry={url}/\nupdate-notifier=false\n"))
            .expect("settings");
        Self { world, tarball }
    }

    /// The package's program without any client.
    fn program(&self) -> Command {
        let unpacked = self.world.at("unpacked");
        if !unpacked.exists() {
            fs::create_dir(&unpacked).expect("a folder");
            let ran = run(self.world.command("tar").arg("-xzf").arg(&self.tarball).arg("-C").arg(&unpacked));
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        let mut command = self.world.command(node());
        command.arg(unpacked.join("package/cli.js"));
        command
    }

    /// Installs the skill.
    fn skill(&self, target: &Path, more: &[&str]) -> Ran {
        run(self.program().args(["install-skill", "--target"]).arg(target).args(more))
    }

    /// A client installs programs and skill.
    fn is_used_by(&self, client: impl Fn() -> Command) {
        let directory = self.world.at("Programme für alle");
        let ran = run(client().args(["install-cli", "--install-dir"]).arg(&directory));
        assert_eq!(ran.code, 0, "{ran:?}");
        for name in ["delegate", "delegate-run"] {
            assert_eq!(self.world.printed_by(&directory.join(name)), format!("{name} {VERSION}"));
        }
        let target = self.world.at("skills/agent-integration");
        let ran = run(client().args(["install-skill", "--target"]).arg(&target));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(skill_in(&target), skill());
        // Its exit code comes through.
        assert_ne!(run(client().args(["install-cli", "--install-dir", "here"])).code, 0);
    }
}

fn node() -> PathBuf {
    find("node").expect("node is there wherever these tests are")
}

fn skill() -> String {
    fs::read_to_string(workspace_directory().join("skills/agent-integration/SKILL.md")).expect("the skill")
}

fn skill_in(target: &Path) -> String {
    fs::read_to_string(target.join("SKILL.md")).expect("a skill")
}

#[test]
fn npx_from_the_tarball_and_from_a_registry() {
    let package = Package::new();
    for wanted in [package.tarball.to_str().expect("a path"), NAME] {
        package.is_used_by(|| {
            let mut command = package.world.command(node().with_file_name("npx"));
            command.args(["--yes", "--package", wanted, "--", NAME]);
            command
        });
        fs::remove_dir_all(package.world.at("Programme für alle")).expect("the programs");
    }
}

#[test]
fn pnpm_dlx() {
    let Some(pnpm) = Component::Pnpm.for_test("pnpm_dlx") else { return };
    let package = Package::new();
    package.is_used_by(|| {
        let mut command = package.world.command(&pnpm);
        command.args(["dlx", NAME]);
        command
    });
}

#[test]
fn bunx() {
    let Some(bun) = Component::Bun.for_test("bunx") else { return };
    let package = Package::new();
    // With Node, which the first line of the program names, and without.
    for option in [&[][..], &["--bun"]] {
        package.is_used_by(|| {
            let mut command = package.world.command(&bun);
            command.arg("x").args(option).arg(NAME);
            command
        });
        fs::remove_dir_all(package.world.at("Programme für alle")).expect("the programs");
    }
}

#[test]
fn the_package_is_small_and_depends_on_nothing() {
    let package = Package::new();
    let listed = run(Command::new("tar").arg("-tzf").arg(&package.tarball));
    let files =
        "LICENSE LICENSE-APACHE LICENSE-MIT README.md SKILL.md cli.js install.sh package.json skill.js";
    let mut found: Vec<&str> =
        listed.stdout.lines().filter_map(|line| line.strip_prefix("package/")).collect();
    found.sort_unstable();
    assert_eq!(found.join(" "), files);
    let _ = package.program();
    let manifest = fs::read_to_string(package.world.at("unpacked/package/package.json")).expect("a manifest");
    assert!(!manifest.contains("ependencies") && !manifest.contains("scripts"), "{manifest}");
}

#[test]
fn the_programs_of_the_package_s_own_version_are_installed() {
    let package = Package::new();
    package.world.publish("9.9.9", "#!/bin/sh\necho VERSION\n");
    let delegate = package.world.default_directory().join("delegate");
    for (more, version) in
        [(&[][..], VERSION), (&["--version", "9.9.9"], "9.9.9"), (&["--version=latest"], "9.9.9")]
    {
        let ran = run(package.program().arg("install-cli").args(more).env("DELEGATE_VERSION", "5.5.5"));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(package.world.printed_by(&delegate).contains(version), "{ran:?}");
    }
}

#[test]
fn a_failure_of_the_installer_is_one_of_the_package() {
    let package = Package::new();
    package.world.server.spoil(&format!("/download/v{VERSION}/{}.tar.gz", stem(VERSION)), Mishap::Altered);
    let ran = run(package.program().arg("install-cli"));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("the checksum of"), "{ran:?}");
    assert!(!package.world.default_directory().exists());
}

#[test]
fn a_call_that_is_wrong() {
    let package = Package::new();
    for (arguments, sentence) in [
        (&[][..], "a command is needed"),
        (&["install"], "what is install?"),
        (&["install-skill"], "needs --target"),
        (&["install-skill", "--target"], "needs a value"),
        (&["install-skill", "--target="], "needs a value"),
        (&["install-skill", "--target", "here"], "no absolute path"),
        (&["install-skill", "--target", "/a", "--target", "/b"], "given twice"),
        (&["install-skill", "--target", "/a", "--force=yes"], "what is --force?"),
        (&["install-cli", "--install-dir", "~/bin"], "no absolute path"),
        (&["install-cli", "--force"], "what is --force?"),
    ] {
        let ran = run(package.program().args(arguments));
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(sentence), "{arguments:?}: {ran:?}");
    }
    assert_eq!(run(package.program().arg("--help")).code, 0);
}

#[test]
fn a_skill_is_fresh_identical_different_or_forced() {
    let package = Package::new();
    let target = package.world.at("Fähigkeiten und mehr/agent-integration");
    let fresh = package.skill(&target, &[]);
    assert_eq!((fresh.code, skill_in(&target)), (0, skill()), "{fresh:?}");
    assert!(fresh.stdout.starts_with("installed "), "{fresh:?}");
    for more in [&[][..], &["--force"]] {
        let again = package.skill(&target, more);
        assert_eq!(again.code, 0, "{again:?}");
        assert!(again.stdout.contains("is up to date"), "{again:?}");
    }
    fs::write(target.join("SKILL.md"), "another one\n").expect("a file");
    let refused = package.skill(&target, &[]);
    assert_eq!((refused.code, skill_in(&target).as_str()), (1, "another one\n"), "{refused:?}");
    assert!(refused.stderr.contains("--force replaces it"), "{refused:?}");
    let forced = package.skill(&target.join(""), &["--force"]);
    assert_eq!((forced.code, skill_in(&target)), (0, skill()), "{forced:?}");
    assert_eq!(names(&target), ["SKILL.md"]);
}

#[test]
fn a_skill_goes_through_no_link() {
    let package = Package::new();
    let elsewhere = package.world.at("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("precious"), "kept").expect("a file");

    let link = package.world.at("link");
    symlink(&elsewhere, &link).expect("a link");
    let folder = package.world.at("folder");
    fs::create_dir(&folder).expect("a folder");
    symlink(elsewhere.join("precious"), folder.join("SKILL.md")).expect("a link");
    let dead = package.world.at("dead");
    symlink("/nowhere", &dead).expect("a link");
    for target in [&link, &link.join(""), &folder, &dead] {
        for more in [&[][..], &["--force"]] {
            let ran = package.skill(target, more);
            assert_eq!(ran.code, 1, "{target:?}: {ran:?}");
            assert!(ran.stderr.contains("is a symbolic link"), "{target:?}: {ran:?}");
        }
    }
    assert_eq!(names(&elsewhere), ["precious"]);
    assert_eq!(fs::read_to_string(elsewhere.join("precious")).expect("a file"), "kept");

    let file = elsewhere.join("precious");
    assert_eq!(package.skill(&file, &["--force"]).code, 1);
    assert_eq!(package.skill(&file.join("below"), &[]).code, 1);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "kept");
}
