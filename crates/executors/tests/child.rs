//! One child: what it gets, how it ends, what it may not do (runners.md 0.1).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use executors::chat::QWEN;
use executors::common::child::{End, Ended, KILL_GRACE, Launch, LaunchError, NewFiles, run};
use executors::common::environment::ChildEnvironment;
use executors::common::limits::STREAM_MAX_BYTES;
use executors::common::run_directory::RunDirectory;
use executors::common::sandbox::{Access, Reads, Sandbox};
use executors::common::surroundings::Surroundings;
use process::{Fence, TerminationSignals};

struct Bench {
    run_directory: RunDirectory,
    surroundings: Surroundings,
    signals: TerminationSignals,
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        // Any program of ours is a gate.
        let program = PathBuf::from(env!("CARGO_BIN_EXE_delegation-qwen"));
        Self {
            run_directory: RunDirectory::create(&QWEN.family).expect("a run directory"),
            surroundings: Surroundings { root: program.clone(), program },
            signals: TerminationSignals::block().expect("signals"),
            directory: tempfile::tempdir().expect("a directory"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().expect("a path").join(name)
    }

    fn shell<'a>(&'a self, name: &'a str, script: &str) -> Launch<'a> {
        let mut environment = ChildEnvironment::nothing();
        environment.set("PATH", "/usr/bin:/bin");
        Launch {
            name,
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            environment,
            directory: self.directory.path(),
            stdin: b"",
            fence: Fence::None,
            limit: Duration::from_secs(100),
            grace: KILL_GRACE,
            new_files: NewFiles::Private,
        }
    }

    fn run(&self, launch: Launch<'_>) -> Result<Ended, LaunchError> {
        run(launch, &self.run_directory, &self.surroundings, &self.signals, &mut |_, _| {})
    }
}

fn text(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.read().expect("readable")).expect("UTF-8")
}

#[test]
fn a_child_gets_exactly_what_it_is_given() {
    let bench = Bench::new();
    let mut launch = bench.shell("exact", "pwd -P; cat; env; echo said >&2; exit 7");
    launch.stdin = b"the prompt\n\n";
    launch.environment.set("GIVEN", "a b");
    let ended = bench.run(launch).expect("it ran");
    assert_eq!(ended.end, End::Exited(7));
    let output = text(&ended);
    assert!(
        output.starts_with(&format!("{}\nthe prompt\n\n", bench.path("").display()).replace("/\n", "\n")),
        "{output}"
    );
    let variables: Vec<&str> =
        output.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    let known = ["DELEGATION_COOKIE", "GIVEN", "PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(
        variables.iter().all(|name| known.contains(name)) && variables.contains(&"GIVEN"),
        "{variables:?}"
    );
    assert_eq!(ended.stderr.read().expect("readable"), b"said\n");
    assert_eq!(ended.stderr.bytes().expect("a size"), 5);
}

#[test]
fn a_script_and_a_missing_program() {
    let bench = Bench::new();
    let script = bench.path("script");
    fs::write(&script, "#!/bin/sh\necho \"$1\"\n").expect("written");
    std::process::Command::new("chmod").arg("700").arg(&script).status().expect("chmod runs");
    let mut launch = bench.shell("script", "");
    launch.program = &script;
    launch.arguments = vec!["argument".into()];
    assert_eq!(text(&bench.run(launch).expect("it ran")), "argument\n");
    let missing = bench.path("missing");
    let mut launch = bench.shell("missing", "");
    launch.program = &missing;
    assert!(matches!(bench.run(launch), Err(LaunchError::Other(_))));
}

#[test]
fn at_the_limit_term_is_enough_for_a_child_that_obeys() {
    let bench = Bench::new();
    let mut launch =
        bench.shell("obedient", "trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    launch.limit = Duration::from_secs(1);
    launch.grace = Duration::from_secs(100);
    let started = Instant::now();
    let ended = bench.run(launch).expect("it ran");
    assert_eq!((ended.end, ended.end.status()), (End::TimedOut, None));
    assert!(text(&ended).contains("told"));
    // It did not wait for the whole grace.
    assert!(started.elapsed() < Duration::from_secs(90));
}

#[test]
fn a_child_that_ignores_term_is_killed_with_all_it_started() {
    let bench = Bench::new();
    let pids = bench.path("pids");
    let script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ >>pids; while :; do sleep 1; done' & \
                  while [ ! -s pids ]; do sleep 0.01; done; echo $$ >>pids; while :; do sleep 1; done";
    let mut launch = bench.shell("stubborn", script);
    launch.limit = Duration::from_secs(2);
    launch.grace = Duration::from_millis(200);
    assert_eq!(bench.run(launch).expect("it ran").end, End::TimedOut);
    let pids = fs::read_to_string(pids).expect("the numbers");
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid} still runs");
    }
}

#[test]
fn the_files_of_a_child_are_private_or_as_the_caller_makes_them() {
    let bench = Bench::new();
    // Whatever it is here; the builders' tests start a runner with one that is not usual.
    let shell = std::process::Command::new("/bin/sh").args(["-c", "umask"]).output().expect("a shell");
    let callers = String::from_utf8(shell.stdout).expect("UTF-8");
    for (name, new_files, expected) in
        [("private", NewFiles::Private, "0077\n"), ("open", NewFiles::AsOfCaller, &*callers)]
    {
        let launch = Launch { new_files, ..bench.shell(name, "umask") };
        assert_eq!(text(&bench.run(launch).expect("it ran")), expected);
    }
}

#[test]
fn what_a_child_leaves_behind_goes_with_it() {
    let bench = Bench::new();
    let script = "(setsid sleep 600 >/dev/null 2>&1 & echo $! >left) ; exit 0";
    assert_eq!(bench.run(bench.shell("leaves", script)).expect("it ran").end, End::Exited(0));
    let pid = fs::read_to_string(bench.path("left")).expect("a number");
    assert!(!Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn a_child_that_writes_too_much_and_ends_at_once_wrote_too_much() {
    let bench = Bench::new();
    for (name, redirection) in [("much", ""), ("many", " >&2")] {
        for (more, expected) in [(0, End::Exited(0)), (1, End::TooMuchOutput)] {
            let bytes = STREAM_MAX_BYTES + more;
            // A file without content as long as that is made within no time.
            let script = format!("truncate -s {bytes} /dev/stdout{redirection}");
            let name = format!("{name}-{more}");
            assert_eq!(bench.run(bench.shell(&name, &script)).expect("it ran").end, expected, "{script}");
        }
    }
}

#[test]
fn a_sandbox_limits_writing_reading_and_executing() {
    let bench = Bench::new();
    for name in ["scratch", "work", "home"] {
        fs::create_dir(bench.path(name)).expect("a directory");
        fs::write(bench.path(name).join("file"), name).expect("written");
    }
    let home = bench.path("home");
    fs::write(home.join("shown"), "shown").expect("written");
    let sandbox = Sandbox {
        writable: vec![bench.path("scratch")],
        access: Some(Access {
            reads: Reads::AllBut { hidden: vec![home.clone()], except: vec![home.join("shown")] },
            executable: ["/bin/sh", "/usr/bin/cat"].map(PathBuf::from).to_vec(),
        }),
        forbidden: vec![bench.path("work")],
        ..Sandbox::default()
    };
    let fence = sandbox.fence(&bench.run_directory).expect("a fence");
    let attempt = |name: &str, script: &str| {
        let mut launch = bench.shell(name, script);
        launch.fence = fence.clone();
        bench.run(launch).expect("it ran").end == End::Exited(0)
    };
    assert!(attempt(
        "allowed",
        "echo x >scratch/new && cat scratch/new work/file home/shown /etc/passwd && test -f home/file"
    ));
    for (name, script) in [
        ("write", "echo x >work/new"),
        ("remove", ": >work/file"),
        ("read", "cat home/file"),
        ("execute", "/usr/bin/id"),
        ("copy", "cat /usr/bin/id >scratch/id; chmod 700 scratch/id; scratch/id"),
        ("guard", &format!("cat {}/guard/refused", bench.run_directory.path().display())),
    ] {
        assert!(!attempt(name, script), "{script}");
    }
}

#[test]
fn a_sandbox_that_can_not_be_had_is_told_apart() {
    let bench = Bench::new();
    let sandbox = Sandbox { writable: vec![bench.path("missing")], ..Sandbox::default() };
    let mut launch = bench.shell("grant", "true");
    launch.fence = sandbox.fence(&bench.run_directory).expect("a fence");
    let refused = bench.run(launch);
    assert!(matches!(refused, Err(LaunchError::Sandbox(_))), "{refused:?}");
}
