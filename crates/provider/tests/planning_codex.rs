//! Planning codex: arguments, environment, writable directories, and what its program is.

mod common;

use common::host::{FakeHost, codex_host, continued, identity, plan, request, roots};
use provider::{PlanError, catalogue};
use record::plan::{IdentityRole, StartMethod};
use record::words::{Fence, Permission};

const CONVERSATION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";

#[test]
fn codex_read_only() {
    let host = codex_host()
        .variable("OPENAI_API_KEY", "secret")
        .variable("TERM", "xterm")
        .variable("TMPDIR", "/tmp/u/");
    let draft = plan(&request("codex:exec", Permission::ReadOnly), &host).unwrap();
    assert_eq!(
        draft.launch.argv,
        [
            "codex",
            "exec",
            "--json",
            "--color",
            "never",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
            "-c",
            "approval_policy=\"never\"",
            "-c",
            "features.unbounded_connection_retries=false",
            "--cd",
            "/home/u/work",
            "--output-last-message",
            "/state/tasks/t/output/codex-last-message.txt",
            "-",
        ]
    );
    assert_eq!(
        draft.launch.environment,
        [
            "BROWSER=false",
            "DELEGATION_COOKIE=01010101010101010101010101010101-02020202020202020202020202020202",
            "HOME=/home/u",
            "LANG=C.UTF-8",
            "PATH=/usr/bin:/opt/bin",
            "TMPDIR=/tmp/u/",
        ]
    );
    assert_eq!(roots(&draft), ["/dev", "/home/u/.codex", "/tmp", "/tmp/u", "/var/tmp"]);
    assert_eq!(identity(&draft), [(IdentityRole::Entry, "/opt/bin/codex")]);
    assert_eq!(draft.launch.start, StartMethod::Descriptor);
    assert_eq!(draft.launch.output_artifacts, ["codex-last-message.txt"]);
    assert_eq!(draft.launch.effective_config.fence, Fence::Theirs);
    assert!(catalogue().judge(&draft.launch.predicate).is_some());
    let probes: Vec<_> = draft.probes.iter().map(|probe| probe.arguments.join(" ")).collect();
    assert_eq!(probes, ["--version", "exec --help"]);
}

#[test]
fn codex_with_every_option() {
    let mut request = continued(request("codex:exec", Permission::WorkspaceWrite), CONVERSATION);
    request.requested_config.model = Some("gpt-6".to_owned());
    request.requested_config.effort = Some("hi\"gh".to_owned());
    request.fence = Some(Fence::None);
    let draft = plan(&request, &codex_host().variable("CODEX_HOME", "/home/u/cx").variable("GOCACHE", "off"))
        .unwrap();
    assert_eq!(
        draft.launch.argv[6..],
        [
            "--sandbox",
            "workspace-write",
            "-c",
            "approval_policy=\"never\"",
            "-c",
            "features.unbounded_connection_retries=false",
            "--model",
            "gpt-6",
            "-c",
            "model_reasoning_effort=\"hi\\\"gh\"",
            "--cd",
            "/home/u/work",
            "--output-last-message",
            "/state/tasks/t/output/codex-last-message.txt",
            "resume",
            CONVERSATION,
            "-",
        ]
    );
    assert_eq!(roots(&draft), ["/dev", "/home/u/cx", "/home/u/work", "/tmp", "/var/tmp"]);
    assert_eq!(draft.launch.effective_config.fence, Fence::None);
    assert!(draft.required_flags.contains(&"--model"));
}

#[test]
fn the_npm_wrapper_of_codex_is_identified_down_to_its_native_program() {
    let package = "/opt/lib/node_modules/@openai/codex";
    let wrapper = FakeHost::new()
        .file(&format!("{package}/bin/codex.js"), b"#!/usr/bin/env node\n")
        .file(&format!("{package}/package.json"), br#"{"name":"@openai/codex"}"#)
        .link("/opt/bin/codex", &format!("{package}/bin/codex.js"));
    let request = request("codex:exec", Permission::ReadOnly);
    let refused = plan(&request, &wrapper).unwrap_err();
    assert!(matches!(refused, PlanError::ExecutableUnusable { .. }), "{refused}");
    let (processor, target) = match std::env::consts::ARCH {
        "aarch64" => ("arm64", "aarch64"),
        _ => ("x64", "x86_64"),
    };
    for below in [
        format!(
            "{package}/node_modules/@openai/codex-linux-{processor}/vendor/{target}-unknown-linux-musl/bin/codex"
        ),
        format!(
            "/opt/lib/node_modules/@openai/codex-linux-{processor}/vendor/{target}-unknown-linux-musl/bin/codex"
        ),
        format!("{package}/vendor/{target}-unknown-linux-musl/codex/codex"),
    ] {
        let draft = plan(&request, &wrapper.clone().file(&below, b"\x7fELF native")).unwrap();
        let entry = format!("{package}/bin/codex.js");
        let manifest = format!("{package}/package.json");
        assert_eq!(
            identity(&draft),
            [
                (IdentityRole::Entry, entry.as_str()),
                (IdentityRole::Interpreter, "/usr/bin/env"),
                (IdentityRole::Interpreter, "/usr/bin/node"),
                (IdentityRole::Package, manifest.as_str()),
                (IdentityRole::Native, below.as_str()),
            ]
        );
        assert_eq!(draft.launch.start, StartMethod::Path);
    }
}

#[test]
fn codex_behind_our_fence_has_none_of_its_own() {
    let mut request = request("codex:exec", Permission::WorkspaceWrite);
    request.fence = Some(Fence::Ours);
    let draft = plan(&request, &codex_host()).unwrap();
    let sandbox = draft.launch.argv.iter().position(|word| word == "--sandbox").unwrap();
    assert_eq!(draft.launch.argv[sandbox + 1], "danger-full-access");
    assert_eq!(roots(&draft), ["/home/u/.codex", "/home/u/work"]);
}
