//! The commands of each page run in order, in a world with fake CLIs.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::fake;

use crate::page::{Page, pages};
use crate::support::Lead;

/// The pages with commands that run here, and a text that must be printed by them.
const RUN: [(&str, &str); 5] = [
    ("README.md", "\"verdict\":\"committed\""),
    ("docs/executor-contract.md", "clerk"),
    ("docs/getting-started.md", "\"verdict\":\"committed\""),
    ("docs/patches.md", "accepted (policy"),
    ("skills/agent-integration/SKILL.md", "\"publication\":\"committed\""),
];

/// A page whose commands need a service, and the test that runs them with one.
const RUN_WITH_A_SERVICE: (&str, &str) = ("docs/patch-workflow.md", include_str!("../patch_workflow.rs"));

/// The change that the fake proposes on the page about patches.
const DIFF: &str = "diff --git a/greeting.txt b/greeting.txt\\n--- a/greeting.txt\\n+++ b/greeting.txt\\n\
     @@ -1 +1 @@\\n-hello\\n+hello, world\\n";

#[test]
fn no_page_with_commands_is_forgotten() {
    let with_commands: Vec<String> =
        pages().into_iter().filter(|page| !script(page).is_empty()).map(|page| page.name).collect();
    let (elsewhere, test) = RUN_WITH_A_SERVICE;
    assert!(test.contains(elsewhere) && test.contains("fn the_page_runs_as_it_stands"));
    let run_here: Vec<_> = with_commands.iter().filter(|name| *name != elsewhere).collect();
    assert_eq!(run_here, Vec::from(RUN.map(|(name, _)| name)));
}

/// All commands that are run, with a line that tells where each block stands.
fn script(page: &Page) -> String {
    let blocks = page.blocks();
    let run = blocks.iter().filter(|block| block.language == "sh" && block.not_run.is_none());
    run.map(|block| format!("echo '--- {}:{}' >&2\n{}", page.name, block.line, block.content)).collect()
}

/// Runs the commands of a page; what they may need lies ready.
fn run(name: &str) {
    let (_, expected) = RUN.iter().find(|(page, _)| *page == name).expect("a page of the list");
    let lead = Lead::new();
    for program in ["agy", "claude", "codex", "opencode"] {
        fake::install(&lead.programs(), program).unwrap();
    }
    if name == "docs/patches.md" {
        let configured = format!("[[fake: answer \"{DIFF}\"]]");
        fs::write(fake::configuration_path(&lead.programs().join("codex")), configured).unwrap();
    }
    let temporary = lead.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let script = script(&Page::read(name)).replace("/tmp/", &format!("{}/", lead.path().display()));
    let ours = Path::new(env!("CARGO_BIN_EXE_delegate")).parent().unwrap();
    let path = format!("{}:{}:/usr/local/bin:/usr/bin:/bin", ours.display(), lead.programs().display());
    let output = Command::new("sh")
        .args(["-eu", "-c", &script])
        .env_clear()
        .envs(lead.command(["help"]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", path)
        .env("TMPDIR", &temporary)
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@b.example")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@b.example")
        .current_dir(lead.workspace())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn the_readme() {
    run("README.md");
}

#[test]
fn the_inspector_of_the_contract() {
    run("docs/executor-contract.md");
}

#[test]
fn getting_started() {
    run("docs/getting-started.md");
}

#[test]
fn patches() {
    run("docs/patches.md");
}

#[test]
fn the_skill() {
    run("skills/agent-integration/SKILL.md");
}
