//! Nothing that a repository names is run, and nothing in it changes.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use patch::{LoadedPolicy, Request, Verdict};
use rustix::pty::OpenptFlags;
use support::{GOOD, Repository, add, assert_accepted, changing, embedded, plain_git, rules};

/// Every setting of a repository that can name a program.
const SETTINGS: [(&str, &str); 11] = [
    ("filter.marked.clean", "clean"),
    ("filter.marked.smudge", "smudge"),
    ("filter.marked.process", "process"),
    ("core.fsmonitor", "fsmonitor"),
    ("diff.marked.textconv", "textconv"),
    ("diff.marked.command", "command"),
    ("diff.external", "external"),
    ("merge.marked.driver", "driver"),
    ("core.pager", "pager"),
    ("core.editor", "editor"),
    ("core.sshCommand", "ssh"),
];

/// A repository whose configuration names a marker program wherever it can.
struct Marked {
    repository: Repository,
}

impl Marked {
    fn new() -> Self {
        let repository = Repository::new();
        repository.write(".gitattributes", "*.txt filter=marked diff=marked merge=marked\n*.md diff=other\n");
        repository.write("other.md", "one\n");
        repository.commit_all();
        let marked = Self { repository };
        fs::create_dir(marked.markers()).unwrap();
        // Each way a setting can come in: the file itself, an include, a conditional include, the worktree's own file.
        let included = marked.repository.root().join("included");
        let conditional = marked.repository.root().join("conditional");
        for (index, (name, program)) in SETTINGS.into_iter().enumerate() {
            let path = marked.program(program);
            let file = [None, Some(&included), Some(&conditional)][index % 3];
            let mut arguments = vec!["config"];
            if let Some(file) = file {
                arguments.extend(["-f", file.to_str().unwrap()]);
            }
            arguments.extend([name, path.to_str().unwrap()]);
            marked.repository.git(&arguments);
        }
        let hooks = marked.repository.root().join("hooks");
        fs::create_dir(&hooks).unwrap();
        for hook in [
            "pre-applypatch",
            "applypatch-msg",
            "post-index-change",
            "post-checkout",
            "pre-commit",
            "fsmonitor-watchman",
        ] {
            for directory in [marked.repository.path(".git/hooks"), hooks.clone()] {
                fs::create_dir_all(&directory).unwrap();
                fs::copy(marked.program("hook"), directory.join(hook)).unwrap();
            }
        }
        marked.repository.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
        marked.repository.git(&["config", "extensions.worktreeConfig", "true"]);
        marked.repository.git(&[
            "config",
            "--worktree",
            "diff.other.command",
            marked.program("worktree").to_str().unwrap(),
        ]);
        marked.repository.git(&["config", "include.path", included.to_str().unwrap()]);
        marked.repository.git(&["config", "includeIf.gitdir:/.path", conditional.to_str().unwrap()]);
        marked.repository.git(&["config", "core.logAllRefUpdates", "false"]);
        marked.clear();
        marked
    }

    fn markers(&self) -> PathBuf {
        self.repository.root().join("markers")
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.repository.root().join(format!("marker-{name}"));
        let marker = self.markers().join(name);
        // Filters hand on what they get; whoever is spoken to would wait for more.
        let rest = if name == "ssh" { "exit" } else { "cat" };
        fs::write(&path, format!("#!/bin/sh\n: > '{}'\n{rest}\n", marker.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn fired(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.markers())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn clear(&self) {
        for name in self.fired() {
            fs::remove_file(self.markers().join(name)).unwrap();
        }
    }
}

/// Makes the index's record of files stale, so that git would look at them again and write the index.
fn age(worktree: &Path, names: &[&str]) {
    for (index, name) in names.iter().enumerate() {
        let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + index as u64);
        fs::File::options().write(true).open(worktree.join(name)).unwrap().set_modified(past).unwrap();
    }
}

/// A terminal: its other end, which must stay open, and the end for a program.
fn terminal() -> (OwnedFd, fs::File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let other_end = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&other_end).unwrap();
    rustix::pty::unlockpt(&other_end).unwrap();
    let name = rustix::pty::ptsname(&other_end, Vec::new()).unwrap();
    let path = Path::new(OsStr::from_bytes(name.as_bytes()));
    let flags = rustix::fs::OFlags::NOCTTY.bits() as i32;
    let end = fs::File::options().read(true).write(true).custom_flags(flags).open(path).unwrap();
    (other_end, end)
}

#[test]
fn markers_fire_under_plain_git() {
    let marked = Marked::new();
    let repository = &marked.repository;
    let work = repository.work();
    let home = repository.root().join("home");
    // What these answer is of no interest; some of them fail because of the markers.
    let run = |arguments: &[&str]| drop(plain_git(&home, &work).args(arguments).output().unwrap());
    let mut fired = BTreeSet::new();
    let mut note = || {
        fired.extend(marked.fired());
        marked.clear();
    };
    age(&repository.work(), &["src/x.txt", "README"]);
    run(&["status"]);
    note();
    // Where a process filters, no single command does.
    run(&["config", "--unset", "filter.marked.process"]);
    for file in ["included", "conditional"] {
        let file = repository.root().join(file);
        run(&["config", "-f", file.to_str().unwrap(), "--unset", "filter.marked.process"]);
    }
    let patch = repository.patch(GOOD);
    run(&["apply", "--check", patch.to_str().unwrap()]);
    assert!(marked.fired().contains(&"clean".to_owned()));
    note();
    repository.write("src/x.txt", "one\n");
    repository.write("README", "one\n");
    repository.write("other.md", "two\n");
    run(&["diff"]);
    run(&["diff", "--no-ext-diff"]);
    run(&["checkout", "-f", "HEAD", "--", "."]);
    run(&["checkout", "-q", "-b", "side"]);
    repository.write("src/x.txt", "one\ntwo\nside\n");
    run(&["commit", "-q", "-a", "-m", "side"]);
    run(&["checkout", "-q", "main"]);
    repository.write("src/x.txt", "one\ntwo\nmain\n");
    run(&["commit", "-q", "-a", "-m", "main"]);
    run(&["merge", "-q", "-m", "both", "side"]);
    run(&["commit", "--allow-empty"]);
    run(&["ls-remote", "ssh://localhost/nowhere"]);
    let (other_end, end) = terminal();
    // A pager is for terminals alone.
    plain_git(&home, &work).args(["-p", "log", "-1"]).stdout(end).status().unwrap();
    drop(other_end);
    note();
    let mut all = SETTINGS.iter().map(|(_, program)| *program).chain(["hook", "worktree"]);
    assert_eq!(all.find(|program| !fired.contains(*program)), None);
}

#[test]
fn no_marker_fires_under_the_verifier() {
    let marked = Marked::new();
    let repository = &marked.repository;
    age(&repository.work(), &["src/x.txt", "README"]);
    let before = State::of(&repository.work());
    assert_accepted(&repository.check(GOOD));
    for refused in [GOOD.replace("-two", "-2"), add(".gitattributes"), "prose\n".to_owned()] {
        assert_eq!(repository.check(refused).verdict, Verdict::Rejected);
    }
    assert_eq!(State::of(&repository.work()), before);
    assert_eq!(changing(repository).verdict, Verdict::AttestationFailed);
    assert_eq!(marked.fired(), Vec::<String>::new());
}

/// Everything about a directory that a program could have changed.
#[derive(Debug, PartialEq, Eq)]
struct State(BTreeMap<PathBuf, Entry>);

/// Mode, inode and size; both times with nanoseconds; content.
type Entry = ([u64; 3], [i64; 4], Vec<u8>);

impl State {
    fn of(top: &Path) -> Self {
        let mut entries = BTreeMap::new();
        let mut open = vec![top.to_owned()];
        while let Some(path) = open.pop() {
            let facts = path.symlink_metadata().unwrap();
            let content = if facts.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                Vec::new()
            } else if facts.is_file() && facts.len() < 1 << 20 {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            let times = [facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec()];
            entries.insert(path, ([facts.mode().into(), facts.ino(), facts.len()], times, content));
        }
        Self(entries)
    }
}

/// Checks an accepted and a refused patch against a worktree, and that nothing around it changed; then the same
/// with stale timestamps.
fn untouched(root: &Path, request: &Request, repository: &Repository) {
    unchanged(root, request, repository, &embedded());
    age(&request.workdir, &["src/x.txt", "README"]);
    unchanged(root, request, repository, &embedded());
}

fn unchanged(root: &Path, request: &Request, repository: &Repository, policy: &LoadedPolicy) {
    let before = State::of(root);
    let accepted = repository.judge(request, policy);
    assert_accepted(&accepted);
    assert_eq!(accepted.attestation.index_sha256_before, accepted.attestation.index_sha256_after);
    assert_eq!(repository.judge(request, policy), accepted, "two runs give one receipt");
    let mut refused = request.clone();
    refused.patch = repository.root().join("refused.diff");
    fs::write(&refused.patch, GOOD.replace("-two", "-2")).unwrap();
    assert_eq!(rules(&repository.judge(&refused, policy))[..], ["patch_does_not_apply"]);
    assert!(State::of(root) == before, "the repository is as it was");
}

#[test]
fn a_repository_with_stale_timestamps() {
    let repository = Repository::new();
    repository.commit_all();
    untouched(&repository.work(), &repository.request(GOOD), &repository);
    // They were stale for git: left to itself, it writes the index.
    let index = || fs::read(repository.path(".git/index")).unwrap();
    let before = index();
    repository.git(&["status"]);
    assert_ne!(index(), before);
}

#[test]
fn a_linked_worktree() {
    let repository = Repository::new();
    repository.commit_all();
    let linked = repository.root().join("linked");
    repository.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let request = Request { workdir: linked, ..repository.request(GOOD) };
    let receipt = repository.judge(&request, &embedded());
    assert_eq!(receipt.workdir.git_control, patch::GitControl::File);
    untouched(&repository.root().join("linked"), &request, &repository);
    untouched(&repository.work(), &request, &repository);
}

#[test]
fn refs_that_worktrees_share_are_attested() {
    let repository = Repository::new();
    repository.commit_all();
    let linked = repository.root().join("linked");
    repository.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let request = Request { workdir: linked, ..repository.request(GOOD) };
    let control =
        |request: &Request| repository.judge(request, &embedded()).attestation.git_control_sha256_before;
    let first = control(&request);
    repository.git(&["config", "user.name", "other"]);
    let second = control(&request);
    repository.git(&["branch", "more"]);
    let third = control(&request);
    assert!(first != second && second != third);
}

#[test]
fn submodules_and_their_own_worktrees() {
    let inner = Repository::new();
    inner.commit_all();
    let repository = Repository::new();
    let url = inner.work();
    repository.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        url.to_str().unwrap(),
        "sub",
    ]);
    repository.commit_all();
    untouched(&repository.work(), &repository.request(GOOD), &repository);
    let refused = repository.check(GOOD.replace("src/x.txt", "sub/src/x.txt"));
    assert_eq!(rules(&refused), ["path_enters_nested_repository"]);
    let inside = Request { workdir: repository.path("sub"), ..repository.request(GOOD) };
    untouched(&repository.work(), &inside, &repository);
    let changed = repository.check(GOOD).attestation.worktree_state_sha256_before;
    repository.write("sub/src/x.txt", "one\ntwo\nthree\nmore\n");
    assert_ne!(repository.check(GOOD).attestation.worktree_state_sha256_before, changed);
}

#[test]
fn a_sparse_checkout() {
    let repository = Repository::new();
    repository.write("docs/y.txt", "one\ntwo\nthree\n");
    repository.commit_all();
    repository.git(&["sparse-checkout", "set", "src"]);
    assert!(!repository.path("docs/y.txt").exists());
    untouched(&repository.work(), &repository.request(GOOD), &repository);
    let absent = repository.check(GOOD.replace("src/x.txt", "docs/y.txt"));
    assert_eq!(rules(&absent), ["patch_does_not_apply"]);
}

#[test]
fn a_sha256_repository() {
    let repository = Repository::new();
    fs::remove_dir_all(repository.path(".git")).unwrap();
    repository.git(&["init", "-q", "--object-format=sha256"]);
    repository.commit_all();
    untouched(&repository.work(), &repository.request(GOOD), &repository);
    repository.write("src/x.txt", "one\nTWO\nthree\nfour\nfive\n");
    let generated = repository.git(&["diff"]);
    repository.git(&["checkout", "-q", "src/x.txt"]);
    assert_accepted(&repository.check(generated));
}

#[test]
fn a_damaged_index_refuses_nothing() {
    let repository = Repository::new();
    repository.commit_all();
    fs::write(repository.path(".git/index"), "damaged").unwrap();
    untouched(&repository.work(), &repository.request(GOOD), &repository);
    fs::remove_file(repository.path(".git/index")).unwrap();
    let receipt = repository.check(GOOD);
    assert_accepted(&receipt);
    assert_eq!(receipt.attestation.index_sha256_before.as_deref(), Some("absent"));
}

/// `PATCH_LARGE_FILES` sets the number of files.
#[test]
fn a_repository_with_many_files() {
    let count: usize = std::env::var("PATCH_LARGE_FILES").map_or(50_000, |text| text.parse().unwrap());
    let repository = Repository::new();
    for directory in 0..count / 100 {
        let path = repository.path(&format!("many/{directory}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..100 {
            fs::write(path.join(format!("{file}.txt")), "x\n").unwrap();
        }
    }
    repository.commit_all();
    age(&repository.work(), &["src/x.txt", "README"]);
    unchanged(&repository.work(), &repository.request(GOOD), &repository, &embedded());
}

#[test]
fn odd_entries_of_a_worktree_are_attested_and_never_opened() {
    let repository = Repository::new();
    let fifo = repository.path("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", repository.path("link")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(repository.path("socket")).unwrap();
    fs::create_dir_all(repository.path(&"deep/".repeat(300))).unwrap();
    let receipt = repository.check(GOOD);
    assert_accepted(&receipt);
    let before = receipt.attestation.worktree_state_sha256_before;
    fs::remove_file(repository.path("link")).unwrap();
    std::os::unix::fs::symlink("/proc/self/maps", repository.path("link")).unwrap();
    assert_ne!(repository.check(GOOD).attestation.worktree_state_sha256_before, before);
    drop(socket);
}
