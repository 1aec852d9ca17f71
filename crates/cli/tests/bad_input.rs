//! Bad input: a clear error with a stable code, and nothing written.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use support::{Lead, Ran};

/// A dispatch with these values.
fn dispatch(lead: &Lead, brief: &Path, cwd: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["dispatch", "--brief", brief.to_str().unwrap(), "--cwd", cwd];
    if !more.contains(&"--provider") {
        arguments.extend(["--provider", "offline:survey"]);
    }
    arguments.extend(more);
    lead.json(arguments)
}

fn refused(ran: &Ran, code: &str) {
    assert_eq!((ran.code, ran.failure().as_str()), (2, code), "{ran:?}");
    assert!(!ran.answer()["error"].as_str().unwrap().is_empty());
}

fn nothing_written(lead: &Lead) {
    assert!(!lead.root().exists(), "the root was made");
    assert!(lead.everything().is_empty(), "something was started");
}

#[test]
fn briefs() {
    let lead = Lead::new();
    let workspace = lead.workspace();
    let cwd = workspace.to_str().unwrap();
    let file = |name: &str| lead.path().join(name);
    fs::write(file("empty"), "").unwrap();
    fs::write(file("large"), vec![b'x'; (8 << 20) + 1]).unwrap();
    fs::write(file("good"), "good").unwrap();
    symlink(file("good"), file("link")).unwrap();
    assert!(Command::new("mkfifo").arg(file("fifo")).status().unwrap().success());
    for name in ["empty", "missing", "fifo", "link", "large", "."] {
        refused(&dispatch(&lead, &file(name), cwd, &[]), "brief_invalid");
    }
    refused(&dispatch(&lead, Path::new("/dev/zero"), cwd, &[]), "brief_invalid");
    nothing_written(&lead);
}

#[test]
fn the_largest_brief_is_taken() {
    let lead = Lead::new();
    let brief = lead.path().join("brief");
    fs::write(&brief, vec![b'x'; 8 << 20]).unwrap();
    let ran = dispatch(&lead, &brief, lead.workspace().to_str().unwrap(), &["--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn workspaces() {
    let lead = Lead::new();
    let brief = lead.brief("look");
    let inside = lead.root().join("tasks");
    fs::write(lead.path().join("file"), "").unwrap();
    let place = |name: &str| lead.path().join(name).to_str().unwrap().to_owned();
    for cwd in ["relative", &place("missing"), &place("file"), &place("."), "/"] {
        refused(&dispatch(&lead, &brief, cwd, &[]), "workspace_invalid");
    }
    nothing_written(&lead);
    assert_eq!(lead.turn("offline:survey", "look", &[]).code, 0);
    refused(&dispatch(&lead, &brief, inside.to_str().unwrap(), &[]), "workspace_invalid");
    refused(&dispatch(&lead, &brief, lead.root().to_str().unwrap(), &[]), "workspace_invalid");
    symlink(&inside, lead.path().join("disguise")).unwrap();
    refused(&dispatch(&lead, &brief, &place("disguise"), &[]), "workspace_invalid");
}

#[test]
fn words_and_numbers() {
    let lead = Lead::new();
    let brief = lead.brief("look");
    let workspace = lead.workspace();
    let cwd = workspace.to_str().unwrap();
    let usage: &[&[&str]] = &[
        &["--id", "no-id"],
        &["--id", &"AB".repeat(16)],
        &["--budget", "soon"],
        &["--budget", "-1s"],
        &["--permission", "everything"],
        &["--fence", "wall"],
        &["--max-output", "0"],
        &["--max-output", "1.5MiB"],
        &["--unheard-of"],
        &["--cwd", cwd],
        &["--budget", "1m", "--budget", "1m"],
        &["--provider", "codex"],
        &["surplus"],
    ];
    for more in usage {
        refused(&dispatch(&lead, &brief, cwd, more), "usage_error");
    }
    let invalid: &[(&[&str], &str)] = &[
        (&["--budget", "0s"], "invalid_request"),
        (&["--first-output", "0s"], "invalid_request"),
        (&["--model", " "], "invalid_request"),
        (&["--model", ""], "invalid_request"),
        (&["--model", "any"], "unsupported_option"),
        (&["--permission", "workspace-write"], "unsupported_option"),
        (&["--provider", "codx:exec"], "provider_unavailable"),
        (&["--provider", "offline:survey", "--fence", "theirs"], "fence_unavailable"),
    ];
    for (more, code) in invalid {
        refused(&dispatch(&lead, &brief, cwd, more), code);
    }
    let ran = dispatch(&lead, &brief, cwd, &["--provider", "codx:exec"]);
    assert!(ran.answer()["error"].as_str().unwrap().contains("codex:exec"), "{ran:?}");
    assert!(
        !lead.root().join("tasks").exists()
            || fs::read_dir(lead.root().join("tasks")).unwrap().next().is_none()
    );
}

#[test]
fn a_program_that_is_not_there() {
    let lead = Lead::new();
    fs::remove_file(lead.programs().join("codex")).unwrap();
    let ran = lead.json(lead.dispatch_arguments("codex:exec", "x", &[]));
    refused(&ran, "provider_unavailable");
}

#[test]
fn programs_that_do_not_offer_what_is_needed() {
    for (behaviour, code) in [
        ("[[fake: help-lacks --json]]", "provider_preflight_failed"),
        ("[[fake: probe-fails]]", "provider_preflight_failed"),
        ("[[fake: version-text \"two\\nlines\"]]", "provider_preflight_failed"),
    ] {
        let lead = Lead::new();
        testkit::fake::install(&lead.programs(), "codex").unwrap().configure(behaviour).unwrap();
        let ran = lead.json(lead.dispatch_arguments("codex:exec", "x", &[]));
        refused(&ran, code);
        assert!(lead.log().launches().is_empty());
    }
}

#[test]
fn roots() {
    let lead = Lead::new();
    fs::create_dir(lead.root()).unwrap();
    fs::set_permissions(lead.root(), fs::Permissions::from_mode(0o750)).unwrap();
    let ran = lead.json(lead.dispatch_arguments("offline:survey", "x", &[]));
    refused(&ran, "root_invalid");
    assert!(ran.answer()["error"].as_str().unwrap().contains("chmod"), "{ran:?}");
    assert!(fs::read_dir(lead.root()).unwrap().next().is_none());

    fs::set_permissions(lead.root(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(lead.root().join("letter.txt"), "mine").unwrap();
    refused(&lead.json(lead.dispatch_arguments("offline:survey", "x", &[])), "root_invalid");

    let ran = lead.json(["status", &"ab".repeat(16), "--root", "relative"]);
    refused(&ran, "root_invalid");
}

#[test]
fn a_root_of_a_newer_format_is_refused_by_name() {
    let lead = Lead::new();
    assert_eq!(lead.turn("offline:survey", "x", &[]).code, 0);
    let path = lead.root().join("root.json");
    let newer = fs::read_to_string(&path).unwrap().replace("\"schema_version\":1", "\"schema_version\":2");
    fs::write(&path, newer).unwrap();
    refused(&lead.json(lead.dispatch_arguments("offline:survey", "x", &[])), "unsupported_root");
}

#[test]
fn a_task_that_is_not_there() {
    let lead = Lead::new();
    assert_eq!(lead.turn("offline:survey", "x", &[]).code, 0);
    for command in ["status", "collect", "logs", "cancel"] {
        let ran = lead.json([command, &"ab".repeat(16)]);
        assert_eq!((ran.code, ran.failure().as_str()), (1, "task_not_found"), "{ran:?}");
    }
}

#[test]
fn a_read_only_file_system() {
    let lead = Lead::new();
    let ran = lead.turn("offline:survey", "x", &[]);
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    support::until("the supervisor to leave", || lead.everything().is_empty().then_some(()));
    let read_only = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"";
    let Some(status) = lead.mounted(read_only, &["status".to_owned(), id]) else {
        testkit::real::skip("a_read_only_file_system", "no mount namespace of our own");
        return;
    };
    assert_eq!(status.code, 0, "{status:?}");
    assert_eq!(status.answer()["publication"], "committed");
    let dispatch = lead.mounted(read_only, &lead.dispatch_arguments("offline:survey", "x", &[])).unwrap();
    refused(&dispatch, "root_invalid");
}

#[test]
fn a_disk_with_less_free_space_than_every_turn_is_stopped_at() {
    let lead = Lead::new();
    fs::create_dir(lead.root()).unwrap();
    let small = "mount -t tmpfs -o size=60m,mode=700 none \"$0\"";
    let dispatch = lead.dispatch_arguments("offline:survey", "x", &[]);
    let Some(ran) = lead.mounted(small, &dispatch) else {
        testkit::real::skip("a_disk_with_less_free_space", "no mount namespace of our own");
        return;
    };
    assert_eq!((ran.code, ran.failure().as_str()), (1, "storage_full"), "{ran:?}");
    assert_eq!(ran.answer()["admission"], "not-admitted");
    let nothing_written = format!("{small} && \"$@\"; test -z \"$(ls -A \"$0\")\" && echo '{{}}'; exit");
    assert_eq!(lead.mounted(&nothing_written, &dispatch).unwrap().code, 0);
    let workspace = lead.workspace().display().to_string();
    let preflight = ["preflight", "--provider", "offline:survey", "--cwd", &workspace];
    let ran = lead.mounted(small, &preflight.map(str::to_owned)).unwrap();
    assert_eq!((ran.code, ran.failure().as_str()), (2, "storage_full"), "{ran:?}");
}

#[test]
fn a_root_that_lost_its_record_is_no_empty_one() {
    let lead = Lead::new();
    let ran = lead.turn("offline:survey", "x", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    support::until("the supervisor to leave", || lead.everything().is_empty().then_some(()));
    fs::remove_file(lead.root().join("root.json")).unwrap();
    refused(&lead.json(["list"]), "root_invalid");
    let doctor = lead.json(["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.stdout.contains("root.json is missing"), "{doctor:?}");
}

#[test]
fn a_supervisor_that_can_not_be_started_is_told_by_every_look() {
    let lead = Lead::new();
    assert_eq!(lead.turn("offline:survey", "x", &[]).code, 0);
    support::until("the supervisor to leave", || lead.everything().is_empty().then_some(()));
    fs::remove_dir_all(lead.root().join("supervisor")).unwrap();
    fs::write(lead.root().join("supervisor"), "").unwrap();
    let id = "ab".repeat(16);
    let ran = lead.json(lead.dispatch_arguments("offline:survey", "x", &["--id", &id]));
    assert_eq!(ran.failure(), "supervisor_setup_failed", "{ran:?}");
    let seen = lead.json(["status", &id]).answer();
    assert_eq!(seen["liveness"], "queued", "{seen}");
    assert!(seen["error"].as_str().is_some_and(|why| why.contains("can not be started")), "{seen}");
}

#[test]
fn too_many_tasks_to_wait_for_are_refused_before_the_wait() {
    let lead = Lead::new();
    let ids = (0..=2000).map(|number| format!("{number:032x}"));
    let ran = lead.json(["wait".to_owned()].into_iter().chain(ids));
    assert_eq!((ran.code, ran.failure().as_str()), (2, "usage_error"), "{ran:?}");
    assert!(ran.answer()["error"].as_str().unwrap().contains("2000"), "{ran:?}");
}
