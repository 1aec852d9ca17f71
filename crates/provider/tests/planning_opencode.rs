//! Planning opencode: arguments, environment, writable directories, and what is refused.

mod common;

use common::host::{FakeHost, continued, plan, plan_brief, request, roots};
use provider::{ProbeOutput, catalogue};
use record::Span;
use record::failure::FailureCode;
use record::plan::StartMethod;
use record::request::Request;
use record::words::{Fence, Permission};

const CONVERSATION: &str = "ses_dd42ec05dffeOw10Pa49URV9gH";
const DENIED: &str = r#"OPENCODE_PERMISSION={"bash":"deny","doom_loop":"deny","edit":"deny","external_directory":"deny","task":"deny","webfetch":"deny","websearch":"deny"}"#;

fn host() -> FakeHost {
    FakeHost::new().file("/opt/bin/opencode", b"\x7fELF opencode")
}

fn asked(permission: Permission) -> Request {
    request("opencode:run", permission)
}

#[test]
fn read_only() {
    let host = host()
        .variable("ANTHROPIC_API_KEY", "secret")
        .variable("OPENCODE_CONFIG", "/x")
        .variable("TMPDIR", "/tmp/u");
    let draft = plan(&asked(Permission::ReadOnly), &host).unwrap();
    let expected = ["opencode", "run", "--format", "json", "--dir", "/home/u/work", "--agent", "plan"];
    assert_eq!(draft.launch.argv, expected);
    assert_eq!(
        draft.launch.environment,
        [
            "BROWSER=false",
            "DELEGATION_COOKIE=01010101010101010101010101010101-02020202020202020202020202020202",
            "HOME=/home/u",
            "LANG=C.UTF-8",
            DENIED,
            "PATH=/usr/bin:/opt/bin",
            "TEMP=/tmp/dlg-0202020202020202",
            "TMP=/tmp/dlg-0202020202020202",
            "TMPDIR=/tmp/dlg-0202020202020202",
        ]
    );
    assert_eq!(
        roots(&draft),
        [
            "/home/u/.cache",
            "/home/u/.cache/opencode",
            "/home/u/.config/opencode",
            "/home/u/.local/share/opencode",
            "/home/u/.local/state/opencode",
        ]
    );
    let config = &draft.launch.effective_config;
    assert_eq!((config.fence, config.approval.as_str()), (Fence::Ours, "deny"));
    assert_eq!(draft.launch.start, StartMethod::Descriptor);
    assert!(catalogue().judge(&draft.launch.predicate).is_some());
    let probes: Vec<_> = draft.probes.iter().map(|probe| probe.arguments.join(" ")).collect();
    assert_eq!(probes, ["--version", "run --help"]);
}

#[test]
fn workspace_write_with_every_option() {
    let mut request = continued(asked(Permission::WorkspaceWrite), CONVERSATION);
    request.requested_config.model = Some("vendor/model-1".to_owned());
    request.requested_config.effort = Some("high".to_owned());
    let host = host().variable("XDG_DATA_HOME", "/data/u/").variable("XDG_CACHE_HOME", "/caches");
    let draft = plan(&request, &host).unwrap();
    assert_eq!(
        draft.launch.argv[6..],
        [
            "--agent",
            "build",
            "--model",
            "vendor/model-1",
            "--variant",
            "high",
            "--auto",
            "--session",
            CONVERSATION
        ]
    );
    assert!(draft.launch.environment.iter().all(|entry| !entry.starts_with("OPENCODE_")));
    assert_eq!(
        roots(&draft),
        [
            "/caches/opencode",
            "/data/u/opencode",
            "/home/u/.cache",
            "/home/u/.config/opencode",
            "/home/u/.local/state/opencode",
            "/home/u/work",
        ]
    );
    assert_eq!(draft.launch.effective_config.approval, "auto");
}

#[test]
fn without_a_fence_the_denials_stay() {
    let mut request = asked(Permission::ReadOnly);
    request.fence = Some(Fence::None);
    let draft = plan(&request, &host().variable("TMPDIR", "/tmp/u")).unwrap();
    assert_eq!(draft.launch.effective_config.fence, Fence::None);
    assert!(draft.launch.environment.contains(&DENIED.to_owned()));
    assert!(draft.launch.environment.contains(&"TMPDIR=/tmp/u".to_owned()));
    assert!(["/dev", "/tmp", "/var/tmp"].iter().all(|common| roots(&draft).contains(common)));
}

#[test]
fn what_is_refused() {
    let refused = |change: &dyn Fn(&mut Request)| {
        let mut request = asked(Permission::ReadOnly);
        change(&mut request);
        plan(&request, &host()).unwrap_err().code()
    };
    assert_eq!(refused(&|request| request.fence = Some(Fence::Theirs)), FailureCode::FenceUnavailable);
    let native =
        |request: &mut Request| request.requested_config.native_timeout = Some(Span::from_seconds(1));
    assert_eq!(refused(&native), FailureCode::UnsupportedOption);
    for id in ["", "last", "--continue", "ses_", "01a22bc4-35fe-76d2-9b19-eb939069cedd"] {
        let prior = |request: &mut Request| *request = continued(request.clone(), id);
        assert_eq!(refused(&prior), FailureCode::ContinuationUnavailable, "{id}");
    }
    let blank = plan_brief(&asked(Permission::ReadOnly), &host(), b" \n\t").unwrap_err();
    assert_eq!(blank.code(), FailureCode::BriefInvalid);
    let relative = plan(&asked(Permission::ReadOnly), &host().variable("XDG_DATA_HOME", "data")).unwrap_err();
    assert_eq!(relative.code(), FailureCode::ProviderPreparationFailed);
}

#[test]
fn secrets_come_from_an_environment_file_only() {
    let mut request = asked(Permission::ReadOnly);
    request.environment_file = Some("/home/u/keys".parse().unwrap());
    assert!(plan(&request, &host()).is_ok());
    let profile = catalogue().get(&request.provider).unwrap();
    let names = profile.secret_names();
    assert!(names.is_sorted() && names.iter().all(|name| provider::looks_like_credential(name)));
    assert!(profile.environment_names().iter().all(|name| !names.contains(name)));
}

#[test]
fn the_help_of_run_must_name_every_flag() {
    let profile = catalogue().get(&"opencode:run".parse().unwrap()).unwrap();
    let flags = "--format --dir --agent --auto --session -m, --model --variant";
    let finish = |help: &str| {
        let facts = ["1.18.33\n", help].map(|stdout| ProbeOutput {
            exit_code: Some(0),
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
        });
        profile.finish(plan(&asked(Permission::ReadOnly), &host()).unwrap(), &facts)
    };
    assert_eq!(finish(flags).unwrap().provider_version.as_deref(), Some("1.18.33"));
    for flag in flags.split(' ').filter(|word| word.starts_with("--")) {
        let lacking = flags.replace(flag, "");
        assert_eq!(finish(&lacking).unwrap_err().code(), FailureCode::ProviderPreflightFailed, "{flag}");
    }
}
