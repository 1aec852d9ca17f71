//! Planning antigravity: arguments, environment, writable directories, and what is refused.

mod common;

use common::host::{FakeHost, continued, plan, request, roots};
use provider::catalogue;
use record::Span;
use record::failure::FailureCode;
use record::request::Request;
use record::words::{Fence, Permission};

const CONVERSATION: &str = "01A22BC4-35fe-76d2-9b19-eb939069cedd";

fn host() -> FakeHost {
    FakeHost::new().file("/opt/bin/agy", b"\x7fELF agy")
}

fn asked(permission: Permission) -> Request {
    request("antigravity:print", permission)
}

#[test]
fn read_only() {
    let host = host().variable("GEMINI_API_KEY", "secret").variable("GOCACHE", "/caches/go");
    let draft = plan(&asked(Permission::ReadOnly), &host).unwrap();
    assert_eq!(
        draft.launch.argv,
        [
            "agy",
            "--sandbox",
            "--mode",
            "plan",
            "--add-dir",
            "/home/u/work",
            "--output-format",
            "json",
            "--input-format",
            "text",
            "--print-timeout",
            "1m0s",
        ]
    );
    assert!(draft.launch.environment.contains(&"TMPDIR=/tmp/dlg-0202020202020202".to_owned()));
    assert!(draft.launch.environment.iter().all(|entry| !entry.contains("secret")));
    assert_eq!(roots(&draft), ["/caches/go", "/home/u/.cache", "/home/u/.gemini"]);
    let config = &draft.launch.effective_config;
    assert_eq!((config.fence, config.approval.as_str()), (Fence::Ours, "plan"));
    assert!(!draft.required_flags.contains(&"--dangerously-skip-permissions"));
    let probes: Vec<_> = draft.probes.iter().map(|probe| probe.arguments.join(" ")).collect();
    assert_eq!(probes, ["--version", "--help"]);
    assert!(catalogue().judge(&draft.launch.predicate).is_some());
}

#[test]
fn workspace_write_with_every_option() {
    let mut request = continued(asked(Permission::WorkspaceWrite), CONVERSATION);
    request.requested_config.model = Some("model-1".to_owned());
    request.requested_config.effort = Some("high".to_owned());
    request.requested_config.native_timeout = Some(Span::from_seconds(45));
    let host = host()
        .variable("GEMINI_HOME", "/data/gemini")
        .variable("GOPATH", "/go/a:/go/b")
        .variable("GOCACHE", "off");
    let draft = plan(&request, &host).unwrap();
    assert_eq!(draft.launch.argv[2..4], ["--mode", "accept-edits"]);
    assert_eq!(
        draft.launch.argv[10..],
        [
            "--print-timeout",
            "45s",
            "--model",
            "model-1",
            "--effort",
            "high",
            "--conversation",
            CONVERSATION,
            "--dangerously-skip-permissions",
        ]
    );
    assert_eq!(
        roots(&draft),
        ["/data/gemini", "/go/a", "/go/b", "/home/u/.cache", "/home/u/.gemini", "/home/u/work"]
    );
    for flag in ["--model", "--effort", "--dangerously-skip-permissions", "--conversation"] {
        assert!(draft.required_flags.contains(&flag), "{flag}");
    }
}

#[test]
fn without_a_fence() {
    let mut request = asked(Permission::ReadOnly);
    request.fence = Some(Fence::None);
    let draft = plan(&request, &host()).unwrap();
    assert_eq!(draft.launch.effective_config.fence, Fence::None);
    assert_eq!(roots(&draft), ["/dev", "/home/u/.cache", "/home/u/.gemini", "/tmp", "/var/tmp"]);
}

#[test]
fn what_is_refused() {
    let refused = |change: &dyn Fn(&mut Request)| {
        let mut request = asked(Permission::ReadOnly);
        change(&mut request);
        plan(&request, &host()).unwrap_err().code()
    };
    assert_eq!(refused(&|request| request.fence = Some(Fence::Theirs)), FailureCode::FenceUnavailable);
    for id in ["", "latest", "--continue", "ses_a"] {
        let prior = |request: &mut Request| *request = continued(request.clone(), id);
        assert_eq!(refused(&prior), FailureCode::ContinuationUnavailable, "{id}");
    }
    let file = |request: &mut Request| request.environment_file = Some("/e".parse().unwrap());
    assert_eq!(refused(&file), FailureCode::UnsupportedOption);
}
