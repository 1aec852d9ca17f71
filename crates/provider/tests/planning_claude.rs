//! Planning claude: arguments, environment, writable directories, and what is refused.

mod common;

use common::host::{FakeHost, continued, plan, plan_brief, request, roots};
use provider::{Draft, PlanError, ProbeOutput, catalogue};
use record::failure::FailureCode;
use record::plan::StartMethod;
use record::request::Request;
use record::words::{Fence, Permission};
use record::{Span, TaskId};

const CONVERSATION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";

fn host() -> FakeHost {
    FakeHost::new().file("/opt/bin/claude", b"\x7fELF claude")
}

fn asked(permission: Permission) -> Request {
    request("claude:print", permission)
}

fn variable<'a>(draft: &'a Draft, name: &str) -> Option<&'a str> {
    draft.launch.environment.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
}

#[test]
fn read_only() {
    let host = host().variable("ANTHROPIC_API_KEY", "secret").variable("TMPDIR", "/tmp/u");
    let draft = plan(&asked(Permission::ReadOnly), &host).unwrap();
    let conversation = draft.launch.new_conversation.clone().unwrap();
    assert_eq!(
        draft.launch.argv,
        [
            "claude",
            "--print",
            "--input-format",
            "text",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "dontAsk",
            "--tools",
            "Read,Grep,Glob",
            "--permission-prompts",
            "none",
            "--session-id",
            &conversation,
        ]
    );
    assert_eq!(
        draft.launch.environment,
        [
            "BROWSER=false",
            "CLAUDE_CODE_MAX_RETRIES=4",
            "DELEGATION_COOKIE=01010101010101010101010101010101-02020202020202020202020202020202",
            "HOME=/home/u",
            "LANG=C.UTF-8",
            "PATH=/usr/bin:/opt/bin",
            "TEMP=/tmp/dlg-0202020202020202",
            "TMP=/tmp/dlg-0202020202020202",
            "TMPDIR=/tmp/dlg-0202020202020202",
        ]
    );
    assert_eq!(roots(&draft), ["/home/u/.cache", "/home/u/.claude"]);
    assert_eq!(draft.launch.effective_config.fence, Fence::Ours);
    assert_eq!(draft.launch.start, StartMethod::Descriptor);
    assert_eq!(draft.launch.stdin_prefix, None);
    assert!(catalogue().judge(&draft.launch.predicate).is_some());
    let probes: Vec<_> = draft.probes.iter().map(|probe| probe.arguments.join(" ")).collect();
    assert_eq!(probes, ["--version", "--help"]);
}

#[test]
fn workspace_write_with_every_option() {
    let mut request = continued(asked(Permission::WorkspaceWrite), CONVERSATION);
    request.requested_config.model = Some("opus".to_owned());
    request.requested_config.effort = Some("high".to_owned());
    let host = host()
        .variable("CLAUDE_CONFIG_DIR", "/home/u/cc")
        .variable("XDG_CACHE_HOME", "/home/u/xc")
        .variable("XDG_RUNTIME_DIR", "/run/user/1");
    let draft = plan(&request, &host).unwrap();
    assert_eq!(
        draft.launch.argv[7..],
        [
            "--permission-mode",
            "bypassPermissions",
            "--permission-prompts",
            "none",
            "--model",
            "opus",
            "--effort",
            "high",
            "--resume",
            CONVERSATION,
        ]
    );
    assert_eq!(draft.launch.new_conversation, None);
    assert_eq!(variable(&draft, "IS_SANDBOX"), Some("1"));
    assert_eq!(variable(&draft, "CLAUDE_CONFIG_DIR"), Some("/home/u/cc"));
    assert_eq!(
        roots(&draft),
        ["/home/u/.cache", "/home/u/.claude", "/home/u/cc", "/home/u/work", "/home/u/xc/claude"]
    );
    assert!(draft.required_flags.contains(&"--model") && draft.required_flags.contains(&"--effort"));
}

#[test]
fn only_our_fence_makes_a_sandbox() {
    for permission in [Permission::ReadOnly, Permission::WorkspaceWrite] {
        let mut request = asked(permission);
        request.fence = Some(Fence::None);
        let draft = plan(&request, &host().variable("TMPDIR", "/tmp/u")).unwrap();
        assert_eq!(draft.launch.effective_config.fence, Fence::None);
        assert_eq!(variable(&draft, "IS_SANDBOX"), None);
        assert_eq!(variable(&draft, "TMPDIR"), Some("/tmp/u"));
        assert!(roots(&draft).contains(&"/tmp"));
    }
}

#[test]
fn a_new_conversation_has_the_id_of_its_task() {
    let id = |request: &Request| plan(request, &host()).unwrap().launch.new_conversation.unwrap();
    let request = asked(Permission::ReadOnly);
    // As any implementation of version 5 computes it: the root is the namespace, the task's text the name.
    assert_eq!(id(&request), "ac7011ed-c63f-53b7-b266-37f2274f052a");
    let other = Request { task_id: TaskId::from_random([3; 16]), ..request.clone() };
    assert_ne!(id(&request), id(&other));
}

#[test]
fn a_command_in_the_brief_is_made_text() {
    for (brief, prefix) in [
        (&b"/compact"[..], Some("\n")),
        (b"/etc/hosts: look", Some("\n")),
        (b"\n/compact", None),
        (b"Do it. /compact", None),
    ] {
        let draft = plan_brief(&asked(Permission::ReadOnly), &host(), brief).unwrap();
        assert_eq!(draft.launch.stdin_prefix.as_deref(), prefix);
    }
}

#[test]
fn api_failures_end_within_a_third_of_the_budget() {
    for (budget, retries) in [(5, "0"), (600, "9"), (3600, "10")] {
        let mut request = asked(Permission::ReadOnly);
        request.requested_config.budget = Span::from_seconds(budget);
        let draft = plan(&request, &host()).unwrap();
        assert_eq!(variable(&draft, "CLAUDE_CODE_MAX_RETRIES"), Some(retries));
    }
}

#[test]
fn what_is_refused() {
    let code = |change: &dyn Fn(&mut Request)| {
        let mut request = asked(Permission::ReadOnly);
        change(&mut request);
        plan(&request, &host()).unwrap_err().code()
    };
    assert_eq!(code(&|request| request.fence = Some(Fence::Theirs)), FailureCode::FenceUnavailable);
    let timeout =
        |request: &mut Request| request.requested_config.native_timeout = Some(Span::from_seconds(1));
    assert_eq!(code(&timeout), FailureCode::UnsupportedOption);
    for effort in ["extreme", "HIGH"] {
        let effort = |request: &mut Request| request.requested_config.effort = Some(effort.to_owned());
        assert_eq!(code(&effort), FailureCode::InvalidRequest);
    }
    for id in ["", "--last", "ses_1"] {
        let prior = |request: &mut Request| *request = continued(request.clone(), id);
        assert_eq!(code(&prior), FailureCode::ContinuationUnavailable);
    }
    let blank = plan_brief(&asked(Permission::ReadOnly), &host(), b" \n").unwrap_err();
    assert_eq!(blank.code(), FailureCode::BriefInvalid);
    for name in ["CLAUDE_CONFIG_DIR", "ANTHROPIC_CONFIG_DIR", "XDG_STATE_HOME"] {
        let relative = plan(&asked(Permission::ReadOnly), &host().variable(name, "a/b")).unwrap_err();
        assert!(matches!(relative, PlanError::Environment { .. }), "{name}");
    }
}

#[test]
fn keys_come_from_an_environment_file() {
    let mut request = asked(Permission::ReadOnly);
    request.environment_file = Some("/home/u/keys".parse().unwrap());
    assert!(plan(&request, &host()).is_ok());
    let profile = catalogue().get(&request.provider).unwrap();
    assert!(profile.secret_names().contains(&"ANTHROPIC_API_KEY"));
    let handed_on = profile.environment_names();
    assert!(profile.secret_names().iter().all(|name| !handed_on.contains(name)));
}

#[test]
fn an_older_cli_lacks_a_flag() {
    let profile = catalogue().get(&"claude:print".parse().unwrap()).unwrap();
    let flags: String =
        profile.description().runtime.required_flags.iter().map(|flag| format!(" {flag}")).collect();
    let finish = |help: &str| {
        let facts = ["2.1.332 (Claude Code)\n", help].map(|text| ProbeOutput {
            exit_code: Some(0),
            stdout: text.into(),
            stderr: Vec::new(),
        });
        profile.finish(plan(&asked(Permission::ReadOnly), &host()).unwrap(), &facts)
    };
    assert_eq!(finish(&flags).unwrap().provider_version.as_deref(), Some("2.1.332 (Claude Code)"));
    let older = flags.replace(" --permission-prompts", "");
    assert_eq!(finish(&older), Err(PlanError::MissingFlag { flag: "--permission-prompts".to_owned() }));
}
