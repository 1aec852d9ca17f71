//! A worktree in a temporary directory, and checks against it.
#![allow(dead_code, reason = "each test program uses a part")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use patch::{LoadedPolicy, Receipt, Request, Surroundings, Verdict};

/// The patch that every variation starts from.
pub(crate) const GOOD: &str = "\
diff --git a/src/x.txt b/src/x.txt
--- a/src/x.txt
+++ b/src/x.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
";

/// The same without a `diff --git` line and prefixes.
pub(crate) const BARE: &str = "\
--- src/x.txt
+++ src/x.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
";

/// A worktree, a place for patches, and a place for the verifier's scratch directories.
pub(crate) struct Repository {
    directory: tempfile::TempDir,
}

impl Repository {
    /// An empty repository.
    pub(crate) fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for name in ["work", "scratch", "home"] {
            fs::create_dir(directory.path().join(name)).expect("a directory");
        }
        let repository = Self { directory };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// The repository of most tests.
    pub(crate) fn new() -> Self {
        let repository = Self::empty();
        repository.write("src/x.txt", "one\ntwo\nthree\nfour\nfive\n");
        repository.write("README", "read me\n");
        repository
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    /// git with an environment of its own, in the worktree.
    pub(crate) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        let output =
            plain_git(&self.root().join("home"), &self.work()).args(arguments).output().expect("git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub(crate) fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "state"]);
    }

    /// Stores a patch outside of the worktree.
    pub(crate) fn patch(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join("change.diff");
        fs::write(&path, text).expect("a patch");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("permissions");
        path
    }

    pub(crate) fn request(&self, text: impl AsRef<[u8]>) -> Request {
        Request { patch: self.patch(text), workdir: self.work(), allow_delete: false }
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings { search_path: std::env::var_os("PATH"), temporary: self.root().join("scratch") }
    }

    /// Checks a request; the scratch directory is gone afterwards, and no digest changed.
    pub(crate) fn judge(&self, request: &Request, policy: &LoadedPolicy) -> Receipt {
        let receipt = patch::check(request, policy, &self.surroundings()).expect("a receipt");
        let left = fs::read_dir(self.root().join("scratch")).expect("the scratch place").count();
        assert_eq!(left, 0, "the scratch directory is removed");
        receipt
    }

    pub(crate) fn check(&self, text: impl AsRef<[u8]>) -> Receipt {
        let receipt = self.judge(&self.request(text), &embedded());
        assert!(receipt.attestation.unchanged);
        receipt
    }

    pub(crate) fn check_deleting(&self, text: impl AsRef<[u8]>) -> Receipt {
        self.judge(&Request { allow_delete: true, ..self.request(text) }, &embedded())
    }
}

/// git that sees no configuration of the machine.
pub(crate) fn plain_git(home: &Path, directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.env_clear().current_dir(directory);
    for (name, value) in [
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", home.into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
    ] {
        command.env(name, value);
    }
    for name in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{name}_NAME"), "test")
            .env(format!("GIT_{name}_EMAIL"), "test@localhost")
            .env(format!("GIT_{name}_DATE"), "2026-01-01T00:00:00Z");
    }
    command
}

pub(crate) fn embedded() -> LoadedPolicy {
    LoadedPolicy::embedded().expect("the embedded policy")
}

/// The embedded policy with one limit changed.
pub(crate) fn limited(name: &str, value: u64) -> LoadedPolicy {
    changed(|policy| policy["limits"][name] = value.into())
}

/// The embedded policy, changed.
pub(crate) fn changed(change: impl FnOnce(&mut serde_json::Value)) -> LoadedPolicy {
    let mut policy = serde_json::from_str(&embedded().json()).expect("JSON");
    change(&mut policy);
    LoadedPolicy::parse(policy.to_string(), "changed".to_owned()).expect("a policy")
}

pub(crate) fn rules(receipt: &Receipt) -> Vec<String> {
    receipt.violations.iter().map(|violation| violation.rule.to_string()).collect()
}

pub(crate) fn details<'r>(receipt: &'r Receipt, rule: &str) -> Vec<Option<&'r str>> {
    let of_rule = receipt.violations.iter().filter(|violation| violation.rule == rule);
    of_rule.map(|violation| violation.detail.as_deref()).collect()
}

#[track_caller]
pub(crate) fn assert_accepted(receipt: &Receipt) {
    assert_eq!(receipt.verdict, Verdict::Accepted, "{:?}", receipt.violations);
    assert!(receipt.violations.is_empty());
}

#[track_caller]
pub(crate) fn assert_fires(receipt: &Receipt, rule: &str) {
    assert_eq!(receipt.verdict, Verdict::Rejected);
    assert!(rules(receipt).iter().any(|fired| fired == rule), "{rule} is not among {:?}", receipt.violations);
}

#[track_caller]
pub(crate) fn assert_silent(receipt: &Receipt, rule: &str) {
    assert!(!rules(receipt).iter().any(|fired| fired == rule), "{rule} fired: {:?}", receipt.violations);
}

/// An addition of one line.
pub(crate) fn add(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+new\n"
    )
}

/// A section that edits `src/x.txt` under headers of one's own.
pub(crate) fn headed(headers: &str) -> String {
    format!("{headers}@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n")
}

/// A hunk under the good headers.
pub(crate) fn hunked(hunks: &str) -> String {
    format!("--- a/src/x.txt\n+++ b/src/x.txt\n{hunks}")
}

pub(crate) fn arguments(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// A check during which the worktree changes: the program that stands in for git writes into it.
pub(crate) fn changing(repository: &Repository) -> Receipt {
    let readme = repository.path("README");
    changed_by(repository, &format!("echo more >> '{}'", readme.display()))
}

pub(crate) fn changed_by(repository: &Repository, command: &str) -> Receipt {
    let bin = repository.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let real = real_git();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" --check \"*) {command} ;; esac\nexec '{}' \"$@\"\n",
        real.display()
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let search = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    let surroundings = Surroundings { search_path: Some(search), ..repository.surroundings() };
    patch::check(&repository.request(GOOD), &embedded(), &surroundings).unwrap()
}

pub(crate) fn real_git() -> PathBuf {
    std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|directory| directory.join("git"))
        .find(|file| file.is_file())
        .expect("git is installed")
}
