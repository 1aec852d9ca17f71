//! What a child behind our write fence may do and may not do. The kernel decides, so each promise is tried.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use common::{append, ending, pipe, shell, start, test_program};
use process::{AccessFence, Ending, Fence, Gate, GateStep, LaunchSpec, StartError, WriteFence};
use tempfile::TempDir;

/// Two directories that may be written, and one that may not.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let place = Self { directory };
        for name in ["granted", "second", "outside"] {
            fs::create_dir(place.path(name)).expect("a directory");
        }
        fs::write(place.path("outside/file"), "outside").expect("a file");
        fs::write(place.path("granted/file"), "granted").expect("a file");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().expect("a path").join(name)
    }

    fn fence(&self) -> WriteFence {
        WriteFence {
            directories: vec![self.path("granted"), self.path("second")],
            files: ["/dev/null", "/dev/zero", "/nowhere/at/all"].map(PathBuf::from).into(),
            forbidden: vec![self.path("outside")],
            access: None,
        }
    }

    /// A script that runs in the place behind its fence.
    fn script(&self, script: &str) -> LaunchSpec {
        let mut spec = shell(script, append(&self.path("log")));
        spec.directory = self.path("");
        spec.fence = Fence::Ours(self.fence());
        spec
    }

    fn run(&self, script: &str) -> (bool, String) {
        let ending = start(self.script(script)).ending();
        (ending == Ending::Exited(0), fs::read_to_string(self.path("log")).expect("a log"))
    }

    fn assert_allowed(&self, script: &str) {
        let (done, log) = self.run(&format!("set -e; {script}"));
        assert!(done, "{script}: {log}");
    }

    /// Tries each line by itself. None may succeed, and nothing outside may have changed.
    fn assert_refused(&self, lines: &[&str]) {
        for line in lines {
            let (done, log) = self.run(line);
            assert!(!done, "{line}: {log}");
            assert_eq!(self.outside(), ["file"], "{line}");
            assert_eq!(fs::read_to_string(self.path("outside/file")).expect("a file"), "outside", "{line}");
        }
    }

    fn outside(&self) -> Vec<String> {
        names(&self.path("outside"))
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn failed_step(spec: LaunchSpec) -> (GateStep, Option<i32>) {
    match Gate::spawn(test_program(), spec) {
        Err(StartError::Step(step, error)) => (step, error.raw_os_error()),
        other => panic!("expected a failed step, got {other:?}"),
    }
}

#[test]
fn below_a_granted_directory_everything_works() {
    let place = Place::new();
    place.assert_allowed(
        "cd granted; echo a >new; echo b >>new; : >new; truncate -s 5 new; mkdir -p d/e; mv new d/e/moved; \
         ln d/e/moved linked; ln -s file symbolic; mkfifo pipe; mv d ../second/; chmod 600 linked; \
         rm linked symbolic pipe; rm -r ../second/d; mv file ../second/file; echo c >../second/file",
    );
    assert_eq!(names(&place.path("granted")), Vec::<String>::new());
    assert_eq!(fs::read_to_string(place.path("second/file")).expect("a file"), "c\n");
}

#[test]
fn nothing_is_created_outside() {
    Place::new().assert_refused(&[
        "echo x >outside/new",
        "mkdir outside/new",
        "ln -s x outside/new",
        "mkfifo outside/new",
        "ln granted/file outside/new",
        "mv granted/file outside/new",
        "cp granted/file outside/new",
        "echo x >new",
        "mkdir granted/../outside/new",
    ]);
}

#[test]
fn a_granted_file_is_written_and_cut_and_nothing_more() {
    let place = Place::new();
    fs::write(place.path("outside/other"), "other").expect("a file");
    let granted = |script: &str| {
        let mut spec = place.script(script);
        let mut fence = place.fence();
        fence.files.push(place.path("outside/other"));
        spec.fence = Fence::Ours(fence);
        start(spec).ending() == Ending::Exited(0)
    };
    assert!(granted("set -e; echo a >>outside/other; : >outside/other; echo b >outside/other"));
    for script in ["rm outside/other", "mv outside/other granted/taken", "ln outside/other outside/more"] {
        assert!(!granted(script), "{script}");
    }
    assert_eq!(place.outside(), ["file", "other"]);
    assert_eq!(fs::read_to_string(place.path("outside/other")).expect("a file"), "b\n");
}

#[test]
fn nothing_outside_is_changed() {
    Place::new().assert_refused(&[
        "echo x >outside/file",
        "echo x >>outside/file",
        "echo x 1<>outside/file >&1",
        ": >outside/file",
        "truncate -s 0 outside/file",
        "rm outside/file",
        "rm -r outside",
        "mv outside/file outside/new",
        "mv outside/file granted/taken",
        "mv outside granted/taken",
        "mv granted/file outside/file",
        "mv -T granted outside",
    ]);
}

#[test]
fn no_link_leads_out() {
    let place = Place::new();
    symlink(place.path("outside/file"), place.path("granted/to-file")).expect("a link");
    symlink(place.path("outside"), place.path("granted/to-directory")).expect("a link");
    place.assert_refused(&[
        "echo x >granted/to-file",
        "echo x >granted/to-directory/new",
        "ln -s ../outside granted/own && echo x >granted/own/new",
        "ln outside/file granted/hard",
        "ln outside/file granted/hard && echo x >granted/hard",
        "cd granted/to-directory && echo x >file",
    ]);
}

#[test]
fn no_path_through_proc_leads_out() {
    let place = Place::new();
    let outside = place.path("outside");
    let outside = outside.to_str().expect("UTF-8");
    let test = std::process::id();
    place.assert_refused(&[
        &format!("echo x >/proc/self/root{outside}/file"),
        &format!("echo x >/proc/self/root{outside}/new"),
        "echo x >/proc/self/cwd/outside/file",
        &format!("echo x >/proc/{test}/root{outside}/file"),
        &format!("echo x >/proc/{test}/cwd/new"),
        "exec 7<outside/file && echo x >/proc/self/fd/7",
        "exec 7<outside && echo x >/proc/self/fd/7/new",
        // Not even what it holds for appending may be opened anew.
        "echo x >>/proc/self/fd/1",
    ]);
}

#[test]
fn no_mount_leads_out() {
    Place::new().assert_refused(&[
        "mkdir granted/m && mount --bind outside granted/m",
        "mount -o remount,rw /",
        "unshare --mount true",
        "unshare --user --map-root-user --mount mount --bind outside granted",
        "mknod granted/disk b 8 0",
        "mknod granted/zero c 1 5",
    ]);
}

#[test]
fn descendants_stay_behind_the_fence() {
    Place::new().assert_refused(&[
        "sh -c 'echo x >outside/new'",
        "setsid --wait sh -c 'sh -c \"echo x >outside/file\"'",
        "env -i sh -c 'rm outside/file'",
        "(cd outside && echo x >new)",
        "find outside -name file -exec rm {} +; test ! -e outside/file",
    ]);
}

#[test]
fn reading_and_granted_devices_are_left_alone() {
    let place = Place::new();
    place.assert_allowed("cat outside/file; ls outside; echo x >/dev/null; : >/dev/zero; /bin/true");
    place.assert_refused(&["echo x >/dev/full", "echo x >/dev/kmsg", "rm /dev/null"]);
}

#[test]
fn no_privilege_is_gained_and_no_descriptor_inherited() {
    let place = Place::new();
    let (done, log) = place.run("grep NoNewPrivs /proc/self/status; ls /proc/self/fd");
    assert!(done);
    // Descriptor 3 is the directory that ls reads.
    assert_eq!(log.split_whitespace().collect::<Vec<_>>(), ["NoNewPrivs:", "1", "0", "1", "2", "3"]);
}

#[test]
fn signals_stay_behind_the_fence_where_the_kernel_can_tell() {
    let place = Place::new();
    place.assert_allowed("sleep 100 & kill $!");
    if matches!(process::fence_support(), process::FenceSupport::WritesAndSignals { .. }) {
        place.assert_refused(&[&format!("kill -s CONT {}", std::process::id()), "kill -s CONT $PPID"]);
    }
}

#[test]
fn the_starter_ends_what_is_behind_the_fence() {
    let place = Place::new();
    let (mut lines, output) = pipe();
    let mut spec = place.script("sleep 1000 & echo up; exec sleep 1000");
    spec.stdout = output;
    let mut started = start(spec);
    assert_eq!(common::line(&mut lines), "up");
    started.tree().kill().expect("a kill");
    assert_eq!(ending(&mut started.0), Ending::Signalled(libc::SIGKILL));
}

#[test]
fn the_gate_says_what_it_proved() {
    let place = Place::new();
    let gate = Gate::spawn(test_program(), place.script("true")).expect("a gate");
    assert_eq!(gate.fence(), &Fence::Ours(place.fence()));
    assert_eq!(place.outside(), ["file"]);
}

#[test]
fn a_grant_must_be_there_and_must_be_no_link() {
    let place = Place::new();
    symlink(place.path("outside"), place.path("link")).expect("a link");
    fs::create_dir(place.path("outside/below")).expect("a directory");
    for (grant, code) in [
        ("missing", libc::ENOENT),
        ("link", libc::ELOOP),
        ("link/below", libc::ELOOP),
        ("granted/file", libc::ENOTDIR),
    ] {
        let mut spec = place.script("true");
        let directories = vec![place.path(grant)];
        spec.fence = Fence::Ours(WriteFence { directories, ..place.fence() });
        assert_eq!(failed_step(spec), (GateStep::Grants, Some(code)), "{grant}");
    }
}

#[test]
fn a_fence_that_can_not_be_proved_is_none() {
    let place = Place::new();
    let granted = place.path("granted");
    for forbidden in [vec![], vec![PathBuf::from("/proc/self")], vec![place.path("outside"), granted]] {
        let mut spec = place.script("true");
        spec.fence = Fence::Ours(WriteFence { forbidden, ..place.fence() });
        assert_eq!(failed_step(spec).0, GateStep::FenceProof);
    }
    assert_eq!(names(&place.path("granted")), ["file"]);
}

#[test]
fn a_kernel_without_landlock_is_said_to_be_one() {
    let hidden = testkit::binary::path("testkit-without-landlock").expect("a program");
    let ran = std::process::Command::new(hidden)
        .args([test_program().to_str().expect("UTF-8"), "fence-asked"])
        .output()
        .expect("a run");
    assert_eq!(
        String::from_utf8(ran.stdout).expect("UTF-8"),
        format!(
            "Missing\nStep(Fence, Os {{ code: {}, kind: Unsupported, message: \"Operation not supported\" }})\n",
            libc::EOPNOTSUPP
        )
    );
}

/// What may be read and executed behind the fence of a place: the shell, its loader and libraries, and `granted`.
fn access(place: &Place) -> AccessFence {
    let mut readable: Vec<PathBuf> =
        ["/usr/lib", "/lib", "/lib64", "/etc", "/dev/null"].map(PathBuf::from).into();
    readable.push(place.path("granted"));
    AccessFence {
        readable,
        executable: ["/bin/sh", "/usr/bin/cat", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
            .map(PathBuf::from)
            .into(),
        proof_allowed: place.path("granted/file"),
        proof_refused: place.path("outside/file"),
    }
}

#[test]
fn reading_and_executing_can_be_limited() {
    let place = Place::new();
    let run = |script: &str| {
        let mut spec = place.script(script);
        spec.fence = Fence::Ours(WriteFence { access: Some(access(&place)), ..place.fence() });
        start(spec).ending() == Ending::Exited(0)
    };
    assert!(run("cat granted/file && echo x >second/new && cat second/new && test -f outside/file"));
    for refused in
        ["cat outside/file", "read line <outside/file", "/usr/bin/id", "ls /", "cp granted/file second/c"]
    {
        assert!(!run(refused), "{refused}");
    }
}

#[test]
fn what_is_in_the_memory_of_others_is_not_read() {
    let place = Place::new();
    let run = |script: &str| {
        let mut spec = place.script(script);
        let mut limit = access(&place);
        limit.readable.push("/proc".into());
        spec.fence = Fence::Ours(WriteFence { access: Some(limit), ..place.fence() });
        start(spec).ending() == Ending::Exited(0)
    };
    let test = std::process::id();
    assert!(run("cat /proc/self/environ /proc/self/maps"));
    assert!(run(&format!("cat /proc/{test}/status")), "what is no memory is seen");
    for file in ["environ", "maps", "auxv", "mem"] {
        assert!(!run(&format!("cat /proc/{test}/{file}")), "{file}");
    }
}

#[test]
fn a_limit_of_reading_that_can_not_be_proved_is_no_limit() {
    let place = Place::new();
    let failure = |change: fn(&mut AccessFence, &Place)| {
        let mut limit = access(&place);
        change(&mut limit, &place);
        let mut spec = place.script("true");
        spec.fence = Fence::Ours(WriteFence { access: Some(limit), ..place.fence() });
        failed_step(spec).0
    };
    assert_eq!(
        failure(|limit, place| limit.proof_refused = place.path("granted/file")),
        GateStep::FenceProof
    );
    assert_eq!(
        failure(|limit, place| limit.proof_allowed = place.path("outside/file")),
        GateStep::FenceProof
    );
    assert_eq!(failure(|limit, place| limit.proof_refused = place.path("nothing")), GateStep::Grants);
}
