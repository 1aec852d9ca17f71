//! The real CLIs behind our write fence, with everything allowed by themselves: the kernel refuses what lies outside, and the
//! turn succeeds all the same (STATE.md 7).

mod support;

use std::fs;

use support::{Lead, until};
use testkit::real::{Component, Stage};

/// A turn that runs one shell command inside, and one outside the workspace.
fn writes_inside_alone(name: &str, component: Component, provider: &str) {
    let Some(stage) = Stage::for_test(name, component) else { return };
    let lead = Lead::on(&stage);
    let (inside, outside) = (stage.workspace().join("made"), stage.home().join("made"));
    let command = format!("echo x > {}; echo x > {}", inside.display(), outside.display());
    let brief = format!("[[script: shell \"{command}\"]]");
    let ran = lead.turn(provider, &brief, &["--permission", "workspace-write", "--fence", "ours"]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    let outcome = &ran.answer()["outcome"];
    assert_eq!((&outcome["fence"], &outcome["git_control_changed"]), (&"ours".into(), &false.into()));
    assert!(inside.exists(), "the command ran");
    assert!(!outside.exists());
    let requests = stage.server().requests();
    let told = requests.iter().any(|sent| String::from_utf8_lossy(&sent.body).contains("Permission denied"));
    assert!(told, "the model was told what the kernel refused");
    until("the end of the temporary directory", || {
        let mut left = fs::read_dir(stage.temporary()).unwrap().flatten();
        (!left.any(|entry| entry.file_name().to_string_lossy().starts_with("dlg-"))).then_some(())
    });
}

#[test]
fn codex_with_full_access() {
    writes_inside_alone("codex_with_full_access", Component::Codex, "codex:exec");
}

#[test]
fn pi_with_all_its_tools() {
    writes_inside_alone("pi_with_all_its_tools", Component::Pi, "pi:json");
}

#[test]
fn claude_without_its_own_permissions() {
    writes_inside_alone("claude_without_its_own_permissions", Component::Claude, "claude:print");
}

#[test]
fn opencode_with_everything_allowed() {
    writes_inside_alone("opencode_with_everything_allowed", Component::Opencode, "opencode:run");
}
