//! A home, a place of releases, and stand-ins for the programs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use record::Sha256Digest;
use tempfile::TempDir;
use testkit::real::workspace_directory;
use testkit::release_server::ReleaseServer;

/// The version that a world begins with.
pub(crate) const VERSION: &str = "1.2.3";
/// Where the programs of the system are.
pub(crate) const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// It tells its version and that of the runner beside it, as the real one would use that runner.
const STAND_IN: &str = "#!/bin/sh\nhere=$(dirname \"$(readlink -f \"$0\")\")\n\
     [ \"${0##*/}\" = delegate ] || { echo VERSION; exit; }\necho \"delegate VERSION with $(\"$here/delegate-run\")\"\n";

/// A home and a place of releases.
pub(crate) struct World {
    directory: TempDir,
    pub(crate) server: ReleaseServer,
    path: OsString,
}

impl World {
    /// One version of stand-ins is published.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        world.publish(VERSION, STAND_IN);
        world
    }

    /// Nothing is published.
    pub(crate) fn empty() -> Self {
        // Where the host allows it, nothing that runs here can reach more than loopback.
        let _ = testkit::closed_network::enter();
        let directory = tempfile::Builder::new()
            .prefix("install-")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("a directory");
        for name in ["home", "temporary", "releases"] {
            fs::create_dir(directory.path().join(name)).expect(name);
        }
        let server = ReleaseServer::start().expect("a server");
        Self { directory, server, path: SYSTEM_PATH.into() }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// Where things go when nobody says where.
    pub(crate) fn default_directory(&self) -> PathBuf {
        self.home().join(".local/bin")
    }

    /// What the shell is to find besides the system's programs, before them.
    pub(crate) fn put_first(&mut self, directory: &Path) {
        let mut path = directory.as_os_str().to_owned();
        path.push(":");
        path.push(&self.path);
        self.path = path;
    }

    /// Only the usual programs are found, and of those that download only this one; whether this host has it.
    #[must_use]
    pub(crate) fn only_with(&mut self, downloader: Option<&str>) -> bool {
        let directory = self.at("only");
        fs::create_dir(&directory).expect("a directory");
        let usual = "sh uname mktemp grep wc cut sed tar gzip mkdir rmdir cp mv ln rm find diff cmp cat sha256sum \
                     dirname readlink";
        for name in usual.split_whitespace() {
            symlink(find(name).unwrap_or_else(|| panic!("no {name}")), directory.join(name)).expect(name);
        }
        if let Some(name) = downloader {
            let Some(found) = find(name) else { return false };
            symlink(found, directory.join(name)).expect(name);
        }
        self.path = directory.into_os_string();
        true
    }

    /// Publishes a version whose programs are a script in which `VERSION` stands for the version; it is the latest now.
    pub(crate) fn publish(&self, version: &str, script: &str) {
        let programs = self.programs_of(version);
        fs::create_dir_all(&programs).expect("a folder");
        for name in ["delegate", "delegate-run", "delegation-route"] {
            let program = programs.join(name);
            write_program(&program, &script.replace("VERSION", version));
        }
        self.publish_again(version);
    }

    /// The folder with the programs of a published version.
    pub(crate) fn programs_of(&self, version: &str) -> PathBuf {
        self.at("releases").join(version).join(stem(version)).join("bin")
    }

    /// Publishes a version as its folder is now.
    pub(crate) fn publish_again(&self, version: &str) {
        let stem = stem(version);
        let folder = self.at("releases").join(version);
        let archive = folder.join(format!("{stem}.tar.gz"));
        let packed = Command::new("tar")
            .arg("-czf")
            .arg(&archive)
            .arg("-C")
            .arg(&folder)
            .arg(&stem)
            .status()
            .expect("tar");
        assert!(packed.success());
        let digest = Sha256Digest::of(&fs::read(&archive).expect("an archive"));
        fs::write(folder.join("checksums.txt"), format!("{digest}  {stem}.tar.gz\n")).expect("checksums");
        self.serve(version, &folder);
    }

    /// Serves a folder as the release of a version and as the latest one.
    pub(crate) fn serve(&self, version: &str, folder: &Path) {
        for place in ["/latest/download".to_owned(), format!("/download/v{version}")] {
            self.server.serve(&place, folder).expect("a folder");
        }
    }

    /// A command in the environment of this world.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", &self.path)
            .env("TMPDIR", self.at("temporary"))
            .env("LANG", "C.UTF-8")
            .env("DELEGATE_RELEASE_URL", self.server.url())
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    /// `sh install.sh` with these arguments, not started yet.
    pub(crate) fn installer<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command("/bin/sh");
        command.arg(workspace_directory().join("install.sh")).args(arguments);
        command
    }

    /// Runs it to its end.
    pub(crate) fn install<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        run(&mut self.installer(arguments))
    }

    /// What an installed program prints.
    pub(crate) fn printed_by(&self, program: &Path) -> String {
        let ran = run(self.command(program).arg("version"));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout.trim().to_owned()
    }

    /// Nothing was left over in the temporary directory.
    pub(crate) fn is_tidy(&self) -> bool {
        names(&self.at("temporary")).is_empty()
    }
}

impl Drop for World {
    /// Ends a supervisor that an installed program started; it would wait for more work.
    fn drop(&mut self) {
        let place = self.directory.path().as_os_str().as_encoded_bytes();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if words.windows(place.len()).any(|window| window == place) {
                let _ = Command::new("kill").arg("-KILL").arg(entry.file_name()).status();
            }
        }
    }
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("a program that starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

/// Puts a script in place; another process writes it, so that no descriptor of ours keeps it from being executed.
pub(crate) fn write_program(path: &Path, script: &str) {
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", script])
        .arg(path)
        .status();
    assert!(written.expect("a shell").success());
}

/// A program of this host.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|place| place.join(name)).find(|path| path.is_file())
}

/// The name of an archive for this platform, without its ending.
pub(crate) fn stem(version: &str) -> String {
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("delegation-layer-{version}-linux-{processor}")
}

/// The names in a directory, sorted; none when it is not there.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let listed = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
