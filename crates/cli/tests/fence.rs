//! Our write fence around whole turns (STATE.md 7): what a provider tries, what the records say, and what is refused before.
//!
//! The provider is the survey, whose git is a script of the test: it runs behind the fence and tries what a test wants.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Lead, Ran, until};

const SURVEY: &str = "offline:survey";

/// A lead with a temporary directory of his own, so that the system's stays out of it.
struct Fenced {
    lead: Lead,
    /// The id of the task that the script belongs to.
    id: String,
}

impl Fenced {
    fn new() -> Self {
        // Not the same for two tests: a runner ends whatever carries the id of its task.
        let id = fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap().trim().replace('-', "");
        let fenced = Self { lead: Lead::new(), id };
        fs::create_dir(fenced.system_temporary()).unwrap();
        fenced
    }

    fn system_temporary(&self) -> PathBuf {
        self.lead.path().join("tmp")
    }

    /// The private temporary directory of the task.
    fn temporary(&self) -> PathBuf {
        self.system_temporary().join(format!("dlg-{}", &self.id[..16]))
    }

    fn output(&self) -> PathBuf {
        self.lead.task_directory(&self.id).join("output")
    }

    /// Lets the survey's git be a script, which finds the places it may ask for in variables.
    fn git(&self, script: &str) {
        let path = self.lead.programs().join("git");
        let places = [
            ("ROOT", self.lead.root()),
            ("HOME", self.lead.home()),
            ("WORKSPACE", self.lead.workspace()),
            ("SYSTEM", self.system_temporary()),
            ("TEMPORARY", self.temporary()),
            ("TASK", self.lead.task_directory(&self.id)),
            ("OUTPUT", self.output()),
            ("LEAD", self.lead.path().to_path_buf()),
            ("DELEGATE", env!("CARGO_BIN_EXE_delegate").into()),
        ];
        let assigned: String =
            places.iter().map(|(name, path)| format!("{name}='{}'\n", path.display())).collect();
        // Git is asked several questions; the script answers the first.
        let once = "mkdir \"$OUTPUT/once\" 2>/dev/null || exit 1\n";
        fs::write(&path, format!("#!/bin/sh\n{assigned}{once}{script}\nexit 1\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `delegate … --json` with the lead's own temporary directory, under a program in front of it if one is named.
    fn json(&self, front: Option<&Path>, arguments: &[String], temporary: &Path) -> Ran {
        let own = self.lead.command(arguments);
        let mut command = match front {
            None => own,
            Some(front) => {
                let mut command = std::process::Command::new(front);
                command.arg(own.get_program()).args(own.get_args()).env_clear().current_dir(self.lead.path());
                command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
                command
            }
        };
        command.arg("--json").env("TMPDIR", temporary);
        Ran::from(command.output().unwrap())
    }

    fn arguments(&self, fence: &str, more: &[&str]) -> Vec<String> {
        self.lead.dispatch_arguments(SURVEY, "survey", &[&["--fence", fence], more].concat())
    }

    /// A whole turn behind our fence.
    fn turn(&self) -> Ran {
        self.json(None, &self.arguments("ours", &["--id", &self.id, "--wait"]), &self.system_temporary())
    }

    /// What the script left in a file of `output/`.
    fn left(&self, name: &str) -> String {
        fs::read_to_string(self.output().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

fn without_landlock() -> PathBuf {
    testkit::binary::path("testkit-without-landlock").unwrap()
}

#[test]
fn a_turn_writes_only_where_it_was_allowed_to() {
    let fenced = Fenced::new();
    let reads = fenced.lead.home().join("readable");
    fs::write(&reads, "read").unwrap();
    fenced.git(
        "try() { if sh -c \"echo x >'$2'\" 2>/dev/null; then echo \"$1 written\"; else echo \"$1 refused\"; fi \
         >>\"$OUTPUT/tries\"; }
         try output \"$OUTPUT/file\"
         try temporary \"$TEMPORARY/file\"
         try null /dev/null
         try workspace \"$WORKSPACE/file\"
         try home \"$HOME/file\"
         try system \"$SYSTEM/file\"
         try root \"$ROOT/file\"
         try marker \"$ROOT/open/file\"
         try task \"$TASK/file\"
         try outcome \"$TASK/outcome.json\"
         try raw \"$TASK/raw/stdout\"
         ls -ld \"$TEMPORARY\" | cut -c 1-10 >\"$OUTPUT/mode\"
         cat \"$HOME/readable\" >\"$OUTPUT/reading\"
         grep NoNewPrivs /proc/self/status >\"$OUTPUT/privileges\"",
    );
    let ran = fenced.turn();
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(
        fenced.left("tries"),
        "output written\ntemporary written\nnull written\nworkspace refused\nhome refused\nsystem refused\n\
         root refused\nmarker refused\ntask refused\noutcome refused\nraw refused\n"
    );
    assert_eq!(fenced.left("mode"), "drwx------\n");
    assert_eq!(fenced.left("reading"), "read");
    assert_eq!(fenced.left("privileges"), "NoNewPrivs:\t1\n");
    for path in [
        fenced.lead.workspace(),
        fenced.lead.home(),
        fenced.lead.root(),
        fenced.lead.task_directory(&fenced.id),
    ] {
        assert!(!path.join("file").exists(), "{}", path.display());
    }
    for record in ["running.json", "seal.json", "outcome.json"] {
        assert_eq!(fenced.lead.record(&fenced.id, record).unwrap()["fence"], "ours", "{record}");
    }
    until("the end of the temporary directory", || (!fenced.temporary().exists()).then_some(()));
    assert_eq!(fs::read_dir(fenced.system_temporary()).unwrap().count(), 0);
}

#[test]
fn without_a_fence_nothing_is_refused_and_the_record_says_so() {
    let fenced = Fenced::new();
    fenced.git("echo x >\"$WORKSPACE/file\"");
    let arguments = fenced.arguments("none", &["--id", &fenced.id, "--wait"]);
    let ran = fenced.json(None, &arguments, &fenced.system_temporary());
    assert_eq!(ran.answer()["outcome"]["fence"], "none", "{ran:?}");
    assert!(fenced.lead.workspace().join("file").exists());
}

#[test]
fn a_temporary_directory_that_is_there_is_not_used() {
    let fenced = Fenced::new();
    fenced.git("");
    fs::create_dir(fenced.temporary()).unwrap();
    fs::write(fenced.temporary().join("somebody's"), "").unwrap();
    let ran = fenced.turn();
    assert_eq!((ran.code, ran.reason().as_str()), (4, "start-failed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    assert!(fenced.temporary().join("somebody's").exists());
}

#[test]
fn the_fence_outlives_the_runner_and_its_directory_goes_in_the_end() {
    let fenced = Fenced::new();
    fenced.git(
        "echo x >\"$TEMPORARY/file\"; while test ! -e \"$LEAD/go\"; do sleep 0.1; done
         echo x >\"$WORKSPACE/file\" || echo refused >\"$OUTPUT/late\"",
    );
    let arguments = fenced.arguments("ours", &["--id", &fenced.id]);
    assert_eq!(fenced.json(None, &arguments, &fenced.system_temporary()).code, 0);
    until("the script", || fenced.temporary().join("file").exists().then_some(()));
    support::kill(fenced.lead.runner(&fenced.id), "KILL");
    assert!(fenced.temporary().exists());
    fs::write(fenced.lead.path().join("go"), "").unwrap();
    let ran = fenced.lead.collect(&fenced.id);
    let outcome = &ran.answer()["outcome"];
    assert_eq!((&outcome["recovered"], &outcome["fence"]), (&true.into(), &"ours".into()), "{ran:?}");
    assert_eq!(fenced.left("late"), "refused\n");
    until("the end of the temporary directory", || (!fenced.temporary().exists()).then_some(()));
}

#[test]
fn a_kernel_without_landlock_is_refused_at_admission() {
    let fenced = Fenced::new();
    fenced.git("");
    let hidden = without_landlock();
    let ran = fenced.json(Some(&hidden), &fenced.arguments("ours", &[]), &fenced.system_temporary());
    assert_eq!((ran.code, ran.failure().as_str()), (2, "fence_unavailable"), "{ran:?}");
    assert_eq!(fs::read_dir(fenced.lead.root().join("tasks")).unwrap().count(), 0);
    let ran = fenced.json(Some(&hidden), &fenced.arguments("none", &["--wait"]), &fenced.system_temporary());
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_fence_that_is_gone_at_the_launch_is_an_outcome() {
    let fenced = Fenced::new();
    // The supervisor of a lead without Landlock lives as long as this turn does.
    fenced.git("while test ! -e \"$LEAD/go\"; do sleep 0.1; done");
    let first = fenced.json(
        Some(&without_landlock()),
        &fenced.arguments("none", &["--id", &fenced.id]),
        &fenced.system_temporary(),
    );
    assert_eq!(first.code, 0, "{first:?}");
    let _ = fenced.lead.runner(&fenced.id);
    let ran = fenced.json(None, &fenced.arguments("ours", &["--wait"]), &fenced.system_temporary());
    fs::write(fenced.lead.path().join("go"), "").unwrap();
    assert_eq!((ran.code, ran.reason().as_str()), (4, "fence-unavailable"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    let first = fenced.lead.collect(&fenced.id);
    assert_eq!(first.code, 0, "{first:?}");
}

#[test]
fn what_would_open_the_fence_is_refused_at_admission() {
    let fenced = Fenced::new();
    fenced.git("");
    let arguments = fenced.arguments("ours", &[]);
    let ran = fenced.json(None, &arguments, &fenced.lead.root().join("tmp"));
    assert_eq!((ran.code, ran.failure().as_str()), (2, "root_invalid"), "{ran:?}");
    let ran = fenced.json(None, &arguments, &fenced.lead.workspace());
    assert_eq!((ran.code, ran.failure().as_str()), (2, "workspace_invalid"), "{ran:?}");
    // The same by a name that hides it.
    let link = fenced.lead.path().join("link");
    std::os::unix::fs::symlink(fenced.lead.workspace(), &link).unwrap();
    let ran = fenced.json(None, &arguments, &link);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "workspace_invalid"), "{ran:?}");
}

#[test]
fn a_delegate_behind_the_fence_says_why_it_can_not() {
    let fenced = Fenced::new();
    fenced.git(
        "export HOME PATH=/usr/bin:/bin DELEGATE_ROOT=\"$ROOT\"
         echo brief >\"$OUTPUT/brief\"
         for root in \"$ROOT\" \"$LEAD/another-root\"; do
           \"$DELEGATE\" dispatch --root \"$root\" --provider offline:survey --brief \"$OUTPUT/brief\" \
             --cwd \"$WORKSPACE\" --json >>\"$OUTPUT/dispatch\" 2>>\"$OUTPUT/errors\"
           echo $? >>\"$OUTPUT/codes\"
         done
         \"$DELEGATE\" status \"$(basename \"$TASK\")\" --json >\"$OUTPUT/status\" 2>>\"$OUTPUT/errors\"
         echo $? >>\"$OUTPUT/codes\"
         \"$DELEGATE\" cancel \"$(basename \"$TASK\")\" --json >\"$OUTPUT/cancel\" 2>>\"$OUTPUT/errors\"
         echo $? >>\"$OUTPUT/codes\"",
    );
    let ran = fenced.turn();
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(fenced.left("codes"), "2\n2\n0\n2\n");
    let answers = fenced.left("dispatch") + &fenced.left("cancel");
    let answers: Vec<Value> =
        answers.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    assert_eq!(answers.len(), 3);
    for answer in answers {
        assert_eq!(answer["failure"]["code"], "root_invalid", "{answer}");
        assert!(answer["error"].as_str().unwrap().contains("behind a write fence"), "{answer}");
    }
    let seen: Value = serde_json::from_str(&fenced.left("status")).unwrap();
    assert_eq!(seen["liveness"], "running");
    assert!(!fenced.left("errors").contains("panicked"), "{}", fenced.left("errors"));
    assert_eq!(fs::read_dir(fenced.lead.root().join("tasks")).unwrap().count(), 1);
}

/// Lets a fake CLI write a file, and gives what it noted about that.
fn deed(lead: &Lead, provider: &str, permission: &str, file: &Path, more: &[&str]) -> String {
    let brief = format!("[[fake: writes-outside-workspace {}]]", file.display());
    let before = lead.log().notes().len();
    let ran = lead.turn(provider, &brief, &[&["--permission", permission], more].concat());
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["fence"], "ours", "{ran:?}");
    lead.log().notes()[before..].concat()
}

#[test]
fn the_kernel_refuses_what_the_cli_itself_would_do() {
    for (provider, more) in [("pi:json", &[][..]), ("codex:exec", &["--fence", "ours"][..])] {
        let lead = Lead::new();
        let inside = lead.workspace().join("inside");
        let places = [lead.path().join("outside"), lead.root().join("outside"), lead.home().join("outside")];
        for outside in places.iter().chain([&inside]) {
            let note = deed(&lead, provider, "read-only", outside, more);
            assert!(note.contains("Permission denied"), "{provider}: {}: {note}", outside.display());
            assert!(!outside.exists());
        }
        for outside in &places {
            let note = deed(&lead, provider, "workspace-write", outside, more);
            assert!(note.contains("Permission denied"), "{provider}: {}: {note}", outside.display());
            assert!(!outside.exists());
        }
        let note = deed(&lead, provider, "workspace-write", &inside, more);
        assert!(note.ends_with(": written"), "{provider}: {note}");
        assert!(inside.exists());
    }
}

#[test]
fn directories_of_the_profile_are_made_for_this_user_alone() {
    let lead = Lead::new();
    let sessions = lead.home().join(".pi/agent/sessions");
    assert!(!lead.home().join(".pi").exists());
    let note = deed(&lead, "pi:json", "read-only", &sessions.join("file"), &[]);
    assert!(note.ends_with(": written"), "{note}");
    for directory in sessions.ancestors().take(3) {
        let mode = fs::metadata(directory).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", directory.display());
    }
}

/// Runs the real git as a user of its own.
fn git(lead: &Lead, directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.invalid"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("HOME", lead.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A turn in `workspace` that may write and whose CLI runs a shell script there; the answer and how the script ended.
fn script(lead: &Lead, workspace: &Path, script: &str) -> (Value, String) {
    let file = lead.path().join("script");
    fs::write(&file, script).unwrap();
    let before = lead.log().notes().len();
    let brief = lead.brief(&format!("[[fake: re-invokes-tool sh -e {}]]", file.display()));
    let (brief, workspace) = (brief.to_str().unwrap(), workspace.to_str().unwrap());
    let ran = lead.json([
        "dispatch",
        "--provider",
        "pi:json",
        "--brief",
        brief,
        "--cwd",
        workspace,
        "--permission",
        "workspace-write",
        "--wait",
    ]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    (ran.answer()["outcome"].clone(), lead.log().notes()[before..].concat())
}

const COMMIT: &str =
    "echo x >>file; git add file; git -c user.name=B -c user.email=b@example.invalid commit -q -m turn";

#[test]
fn a_turn_in_a_linked_worktree_commits_and_leaves_settings_and_hooks_alone() {
    let lead = Lead::new();
    let main = lead.workspace();
    git(&lead, &main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let work = lead.path().join("linked");
    git(&lead, &main, &["worktree", "add", "-q", "-b", "branch", work.to_str().unwrap()]);
    let (outcome, ended) = script(&lead, &work, COMMIT);
    assert!(ended.ends_with("exit status: 0"), "{ended}");
    assert_eq!(git(&lead, &main, &["log", "-1", "--format=%s", "branch"]), "turn\n");
    assert_eq!(outcome["git_control_changed"], false, "{outcome}");
    for deed in [
        format!("echo x >{}/.git/hooks/pre-commit", main.display()),
        "git config core.fsmonitor /bin/false".to_owned(),
        format!("echo x >{}/file", main.display()),
        format!("rm -r {}/.git/hooks", main.display()),
    ] {
        let (outcome, ended) = script(&lead, &work, &deed);
        assert!(!ended.ends_with("exit status: 0"), "{deed}: {ended}");
        assert_eq!(outcome["git_control_changed"], false, "{deed}: {outcome}");
    }
}

#[test]
fn a_turn_that_changes_what_git_obeys_is_reported() {
    let lead = Lead::new();
    let (outcome, ended) = script(&lead, &lead.workspace(), COMMIT);
    assert!(ended.ends_with("exit status: 0"), "{ended}");
    assert_eq!(outcome["git_control_changed"], false, "{outcome}");
    for deed in ["git config core.fsmonitor /bin/false", "echo x >.git/hooks/post-checkout", "rm -rf .git"] {
        let (outcome, ended) = script(&lead, &lead.workspace(), deed);
        assert!(ended.ends_with("exit status: 0"), "{ended}");
        assert_eq!(outcome["git_control_changed"], true, "{deed}: {outcome}");
    }
    // A turn that only reads could not have.
    let ran = lead.turn("pi:json", "[[fake: answer read]]", &[]);
    assert!(ran.answer()["outcome"].get("git_control_changed").is_none(), "{ran:?}");
}
