//! `preflight`, `--auto` and environment files: what admission checks, with and without a task.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use support::Lead;

fn preflight(lead: &Lead, provider: &str, more: &[&str]) -> support::Ran {
    let workspace = lead.workspace();
    let mut arguments = vec!["preflight", "--provider", provider, "--cwd", workspace.to_str().unwrap()];
    arguments.extend(more);
    lead.json(arguments)
}

#[test]
fn preflight_checks_everything_and_writes_nothing() {
    let lead = Lead::new();
    let ran = preflight(&lead, "codex:exec", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.answer();
    assert_eq!(answer["status"], "ready");
    assert_eq!(answer["capability"]["verification"], "preflight");
    assert!(answer["capability"]["version"].as_str().unwrap().contains("codex"));
    assert!(!lead.root().exists());

    fs::remove_file(lead.programs().join("codex")).unwrap();
    let ran = preflight(&lead, "codex:exec", &[]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "provider_unavailable"));
    assert_eq!(ran.answer()["status"], "unsupported");
    assert_eq!(preflight(&lead, "nobody:at-all", &[]).code, 2);
    assert!(!lead.root().exists());
}

#[test]
fn auto_takes_the_first_that_can() {
    let lead = Lead::new();
    let brief = lead.brief("[[fake: answer auto]]");
    let id = "aa".repeat(16);
    let workspace = lead.workspace();
    let arguments = [
        "dispatch",
        "--auto",
        "--id",
        &id,
        "--brief",
        brief.to_str().unwrap(),
        "--cwd",
        workspace.to_str().unwrap(),
        "--wait",
    ];
    fs::remove_file(lead.programs().join("codex")).unwrap();
    let ran = lead.json(arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(lead.record(&id, "request.json").unwrap()["provider"], "pi:json");
    // The choice was made once.
    testkit::fake::install(&lead.programs(), "codex").unwrap();
    assert_eq!(lead.json(arguments).code, 0);
    assert_eq!(lead.log().launches().len(), 1);

    let lead = Lead::new();
    fs::remove_file(lead.programs().join("codex")).unwrap();
    fs::remove_file(lead.programs().join("pi")).unwrap();
    let workspace = lead.workspace();
    let ran = lead.json([
        "dispatch",
        "--auto",
        "--brief",
        lead.brief("x").to_str().unwrap(),
        "--cwd",
        workspace.to_str().unwrap(),
    ]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "provider_unavailable"));
    assert!(ran.answer()["error"].as_str().unwrap().contains("codex:exec"), "{ran:?}");
}

#[test]
fn an_environment_file_is_private_and_names_only_what_is_taken() {
    let lead = Lead::new();
    let file = lead.path().join("keys");
    let path = file.to_str().unwrap().to_owned();
    let refused = |content: &str, mode: u32| {
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let ran = lead.json(lead.dispatch_arguments("pi:json", "x", &["--env-file", &path]));
        assert_eq!((ran.code, ran.failure().as_str()), (2, "invalid_request"), "{ran:?}");
        assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:?}");
    };
    refused("LD_PRELOAD=hunter2\n", 0o600);
    refused("# nothing but a comment\nhunter2\n", 0o600);
    refused("", 0o644);
    let inside = lead.workspace().join("keys");
    fs::write(&inside, "").unwrap();
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o600)).unwrap();
    let ran = lead.json(lead.dispatch_arguments("pi:json", "x", &["--env-file", inside.to_str().unwrap()]));
    assert_eq!((ran.code, ran.failure().as_str()), (2, "invalid_request"), "{ran:?}");
}
