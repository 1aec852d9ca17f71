//! Planning and judging a run of a family runner.

mod common;

use common::Left;
use common::host::{FakeHost, plan, request};
use proptest::prelude::*;
use provider::{Finding, PlanError};
use record::request::Request;
use record::words::{Fence, Permission, ProfileOption, ReasonCode};

const ANSWER: &str = "answer.txt";
const METRICS: &str = "answer.txt.metrics.json";
const DIAGNOSTIC: &str = "answer.txt.error.json";
const GOOD: &str = r#"{"model":"m","tokens":{"input":3,"output":2,"reasoning":0,"cache_read":0,"cache_write":0},
    "reported_token_counters":["input","output"],"provider_cost_usd":null,"evaluation":{"x":1.5}}"#;

fn asked(lane: &str) -> Request {
    let mut request = request("deepseek:run", Permission::ReadOnly);
    request.requested_config.lane = Some(lane.to_owned());
    request
}

fn host() -> FakeHost {
    FakeHost::new().file("/opt/bin/delegation-deepseek", b"\x7fELF runner")
}

fn left<'a>(files: &'a [(&'a str, &'a [u8])], stderr: &'a str) -> Left<'a> {
    Left { stderr: stderr.as_bytes(), artifacts: files, ..Left::default() }
}

fn judged(files: &[(&str, &[u8])], stderr: &str) -> (Finding, String) {
    let (judgement, answer) = left(files, stderr).judge("deepseek:run");
    (judgement.finding, answer)
}

#[test]
fn the_runner_is_started_with_the_brief_as_its_prompt_file() {
    let mut request = asked("builder");
    request.requested_config.allow_provisional = true;
    request.requested_config.effort = Some("max".to_owned());
    let draft = plan(&request, &host()).unwrap();
    assert_eq!(
        draft.launch.argv.join(" "),
        "delegation-deepseek run --lane builder --effort max --prompt-file /dev/stdin \
         --output /state/tasks/t/output/answer.txt --workdir /home/u/work --allow-provisional"
    );
    assert_eq!(draft.launch.output_artifacts, [ANSWER, DIAGNOSTIC, METRICS]);
    assert_eq!(draft.launch.identity[0].path.as_str(), "/opt/bin/delegation-deepseek");
    assert_eq!(draft.launch.effective_config.fence, Fence::Ours);
    assert!(draft.launch.effective_config.writable_roots.is_empty());
}

#[test]
fn a_runner_and_a_lane_that_fits_the_mode_are_needed() {
    let refused = |request: &Request| match plan(request, &host()) {
        Err(PlanError::InvalidOption { option: ProfileOption::Lane, .. }) => {}
        other => panic!("{other:?}"),
    };
    refused(&request("deepseek:run", Permission::ReadOnly));
    for lane in ["", "--evaluation", "Builder", "a b", "builder\n"] {
        refused(&asked(lane));
    }
    let mut writing = asked("builder");
    writing.requested_config.permission = Permission::WorkspaceWrite;
    assert!(matches!(plan(&writing, &host()), Err(PlanError::UnsupportedMode { .. })));
    let missing = plan(&asked("builder"), &FakeHost::new());
    assert!(matches!(missing, Err(PlanError::ExecutableNotFound { .. })), "{missing:?}");
    let mut model = asked("builder");
    model.requested_config.model = Some("another".to_owned());
    assert!(matches!(plan(&model, &host()), Err(PlanError::UnsupportedOption { .. })));
}

#[test]
fn gates_pass_the_key_file_passes_and_no_key_does() {
    let host = host()
        .variable("DELEGATION_ROUTING_GATES_FILE", "/etc/gates.json")
        .variable("DELEGATION_DEEPSEEK_KEY_FILE", "/home/u/deepseek.env")
        .variable("DEEPSEEK_API_KEY", "planted")
        .variable("QWEN_TOKEN_PLAN_API_KEY", "planted");
    let mut request = asked("builder");
    request.requested_config.native_timeout = Some("90s".parse().unwrap());
    let environment = plan(&request, &host).unwrap().launch.environment;
    for entry in [
        "DELEGATION_ROUTING_GATES_FILE=/etc/gates.json",
        "DELEGATION_DEEPSEEK_KEY_FILE=/home/u/deepseek.env",
        "DELEGATION_TIMEOUT=90",
    ] {
        assert!(environment.iter().any(|own| own == entry), "{entry}");
    }
    assert!(!environment.concat().contains("planted"));
}

#[test]
fn an_answer_with_metrics_is_the_answer_to_the_byte() {
    let files = [(ANSWER, &b"The patch.\n"[..]), (METRICS, GOOD.as_bytes())];
    let (judgement, answer) = left(&files, "words").judge("deepseek:run");
    assert_eq!((judgement.finding, answer.as_str()), (Finding::Success, "The patch.\n"));
    let [usage] = judgement.usage.try_into().unwrap();
    assert_eq!(usage.model.as_deref(), Some("m"));
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(3), Some(2)));
    assert_eq!(
        (usage.thinking_tokens, usage.cache_read_tokens, usage.estimated_cost_usd),
        (None, None, None)
    );
}

#[test]
fn metrics_without_usage_and_with_cost() {
    for (metrics, statements) in [
        (r#"{"usage_reported":false,"tokens":{"input":0}}"#, 0),
        (r#"{"tokens":null}"#, 0),
        (r#"{"tokens":{"input":1,"total":5},"provider_cost_usd":0.25}"#, 1),
    ] {
        let (judgement, _) =
            left(&[(ANSWER, b"x\n"), (METRICS, metrics.as_bytes())], "").judge("deepseek:run");
        assert_eq!(judgement.finding, Finding::Success);
        assert_eq!(judgement.usage.len(), statements, "{metrics}");
        if let [usage] = judgement.usage.as_slice() {
            assert_eq!((usage.total_tokens, usage.estimated_cost_usd.as_deref()), (Some(5), Some("0.25")));
        }
    }
}

#[test]
fn what_is_no_whole_run_is_a_defect() {
    let good = GOOD.as_bytes();
    let error = br#"{"phase":"dispatch","reason":"rate_limited"}"#;
    for (files, code) in [
        (&[(ANSWER, &b"x"[..])][..], ReasonCode::IncompleteOutput),
        (&[(METRICS, good)], ReasonCode::IncompleteOutput),
        (&[(ANSWER, b"x"), (METRICS, good), (DIAGNOSTIC, error)], ReasonCode::OutputConflict),
        (&[(METRICS, good), (DIAGNOSTIC, error)], ReasonCode::OutputConflict),
        (&[(ANSWER, b" \n"), (METRICS, good)], ReasonCode::EmptyOutput),
        (&[(ANSWER, b"\xff"), (METRICS, good)], ReasonCode::InvalidOutput),
        (&[(ANSWER, b"x"), (METRICS, b"[]")], ReasonCode::InvalidOutput),
        (&[(ANSWER, b"x"), (METRICS, br#"{"a":1,"a":2}"#)], ReasonCode::InvalidOutput),
        (&[(DIAGNOSTIC, b"no JSON")], ReasonCode::InvalidOutput),
        (&[(DIAGNOSTIC, br#"{"phase":"dispatch"}"#)], ReasonCode::InvalidOutput),
        (&[(DIAGNOSTIC, br#"{"phase":"dispatch","reason":"Free text."}"#)], ReasonCode::InvalidOutput),
        (&[], ReasonCode::IncompleteOutput),
    ] {
        assert_eq!(common::code(&judged(files, "").0), code, "{files:?}");
    }
}

#[test]
fn a_refusal_is_told_in_the_runners_words_and_classed_by_its_code() {
    for (exit_code, sentence, expected) in [
        (Some(64), "--output /x: exists", ReasonCode::ProviderFailed),
        (Some(78), "lane builder: provisional, which needs --allow-provisional", ReasonCode::ProviderFailed),
        (Some(69), "login: the key file is open to others", ReasonCode::AuthenticationRequired),
        (Some(69), "sandbox: Landlock is switched off", ReasonCode::FenceUnavailable),
        (Some(69), "claude is not on PATH", ReasonCode::StartFailed),
        (Some(69), "the login: is elsewhere", ReasonCode::StartFailed),
        (Some(75), "another run has the login", ReasonCode::RateLimited),
        (Some(130), "caller_cancelled", ReasonCode::Interrupted),
        // No code, no class: a runner that was killed said something else.
        (None, "login: x", ReasonCode::ProviderFailed),
        (Some(1), "sandbox: x", ReasonCode::ProviderFailed),
    ] {
        let line = format!("delegation-deepseek: {sentence}");
        // What was said before is no part of it, whoever said it.
        for before in ["", "delegation-deepseek: a warning: sandbox: x\n", "login: a program of its own\n\n"]
        {
            let stderr = format!("{before}{line}\n");
            let left = Left { exit_code, ..left(&[], &stderr) };
            let Finding::ProviderError { code, message, .. } = left.judge("deepseek:run").0.finding else {
                panic!("{stderr}")
            };
            assert_eq!((code, message), (expected, Some(line.clone())));
        }
    }
}

#[test]
fn a_diagnostic_is_classed_by_its_reason() {
    for (reason, code) in [
        ("authentication_failed", ReasonCode::AuthenticationRequired),
        ("rate_limited", ReasonCode::RateLimited),
        ("quota_exhausted", ReasonCode::QuotaExhausted),
        ("provider_identity_mismatch", ReasonCode::ModelMismatch),
        ("output_truncated", ReasonCode::IncompleteOutput),
        ("empty_result", ReasonCode::EmptyOutput),
        ("invalid_or_empty_response", ReasonCode::InvalidOutput),
        ("output_limit_exceeded", ReasonCode::OutputLimit),
        ("sandbox_not_enforced", ReasonCode::FenceUnavailable),
        ("operational_timeout", ReasonCode::TimedOut),
        ("caller_cancelled", ReasonCode::Interrupted),
        ("transport_failure", ReasonCode::ProviderFailed),
        ("something_new", ReasonCode::ProviderFailed),
    ] {
        let text = format!(
            r#"{{"phase":"dispatch","reason":"{reason}","next_flush_time":4102444800,"debug_dir":null}}"#
        );
        let (Finding::ProviderError { code: found, message, retry_at }, _) =
            judged(&[(DIAGNOSTIC, text.as_bytes())], "delegation-deepseek: words")
        else {
            panic!("{reason}")
        };
        assert_eq!((found, message), (code, Some(format!("{reason} (phase dispatch)"))));
        assert_eq!(retry_at.map(|time| time.to_string()).as_deref(), Some("2100-01-01T00:00:00.000000000Z"));
    }
}

proptest! {
    #[test]
    fn any_files_get_a_judgement(
        answer in proptest::option::of(any::<Vec<u8>>()),
        metrics in proptest::option::of(prop_oneof![Just(GOOD.as_bytes().to_vec()), any::<Vec<u8>>()]),
        diagnostic in proptest::option::of(any::<Vec<u8>>()),
        stderr in any::<Vec<u8>>(),
    ) {
        let files: Vec<(&str, &[u8])> = [(ANSWER, &answer), (METRICS, &metrics), (DIAGNOSTIC, &diagnostic)]
            .into_iter()
            .filter_map(|(name, bytes)| Some((name, bytes.as_deref()?)))
            .collect();
        let (judgement, written) =
            Left { stderr: &stderr, artifacts: &files, ..Left::default() }.judge("qwen:run");
        if judgement.finding == Finding::Success {
            prop_assert_eq!(Some(written.into_bytes()), answer);
            prop_assert!(metrics.is_some() && diagnostic.is_none());
        }
    }
}

#[test]
fn kimi_writes_its_login_and_in_the_builder_lanes_the_workspace() {
    let host = || FakeHost::new().file("/opt/bin/delegation-kimi", b"\x7fELF runner");
    let asked = |lane: &str, permission| {
        let mut request = request("kimi:run", permission);
        request.requested_config.lane = Some(lane.to_owned());
        request
    };
    for (lane, permission) in [
        ("scout", Permission::ReadOnly),
        ("clerk", Permission::ReadOnly),
        ("builder", Permission::WorkspaceWrite),
        ("frontend-builder", Permission::WorkspaceWrite),
    ] {
        let draft = plan(&asked(lane, permission), &host()).unwrap();
        let roots = &draft.launch.effective_config.writable_roots;
        let mut expected =
            vec!["/home/u/.kimi-code", "/home/u/.local/share/delegation-kit/kimi-shared-oauth"];
        expected.extend((permission == Permission::WorkspaceWrite).then_some("/home/u/work"));
        assert_eq!(roots.iter().map(|root| root.as_str()).collect::<Vec<_>>(), expected, "{lane}");
        assert_eq!(draft.launch.output_artifacts, [ANSWER, DIAGNOSTIC, METRICS, "answer.txt.stderr"]);
        let other = match permission {
            Permission::ReadOnly => Permission::WorkspaceWrite,
            _ => Permission::ReadOnly,
        };
        assert!(matches!(plan(&asked(lane, other), &host()), Err(PlanError::InvalidOption { .. })));
    }
    let host = host().variable("KIMI_CODE_HOME", "/srv/kimi").variable("KIMI_API_KEY", "planted");
    let host = host.variable("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", "60");
    let launch = plan(&asked("scout", Permission::ReadOnly), &host).unwrap().launch;
    assert!(launch.environment.iter().any(|entry| entry == "KIMI_CODE_HOME=/srv/kimi"));
    // A kimi that is deaf must be gone, and its login kept, before the task's own grace is over.
    assert!(launch.environment.iter().any(|entry| entry == "DELEGATION_KIMI_CANCEL_GRACE_SECONDS=3"));
    assert!(!launch.environment.concat().contains("planted"));
}

#[test]
fn kimi_writes_the_shared_logins_wherever_they_lie_and_nothing_else_there() {
    let mut request = request("kimi:run", Permission::ReadOnly);
    request.requested_config.lane = Some("scout".to_owned());
    let roots = |variables: &[(&str, &str)]| -> Result<Vec<String>, PlanError> {
        let host = FakeHost::new().file("/opt/bin/delegation-kimi", b"\x7fELF runner");
        let host = variables.iter().fold(host, |host, (name, value)| host.variable(name, value));
        let launch = plan(&request, &host)?.launch;
        Ok(launch.effective_config.writable_roots.iter().map(|root| root.as_str().to_owned()).collect())
    };
    for (variables, expected) in [
        (
            &[("XDG_DATA_HOME", "/srv/xdg")][..],
            ["/home/u/.kimi-code", "/srv/xdg/delegation-kit/kimi-shared-oauth"],
        ),
        (
            &[("XDG_DATA_HOME", "/srv/xdg"), ("DELEGATION_DATA_HOME", "/srv/data")],
            ["/home/u/.kimi-code", "/srv/data/kimi-shared-oauth"],
        ),
        (
            &[("KIMI_CODE_HOME", "/srv/kimi")],
            ["/home/u/.local/share/delegation-kit/kimi-shared-oauth", "/srv/kimi"],
        ),
        (
            &[("KIMI_CODE_HOME", ""), ("DELEGATION_DATA_HOME", ""), ("XDG_DATA_HOME", "")],
            ["/home/u/.kimi-code", "/home/u/.local/share/delegation-kit/kimi-shared-oauth"],
        ),
    ] {
        assert_eq!(roots(variables).unwrap(), expected, "{variables:?}");
    }
    for name in ["DELEGATION_DATA_HOME", "XDG_DATA_HOME", "KIMI_CODE_HOME"] {
        let refused = roots(&[(name, "not/absolute")]);
        assert!(matches!(refused, Err(PlanError::Environment { .. })), "{refused:?}");
    }
}

#[test]
fn grok_writes_its_login_and_gemini_writes_nothing() {
    let asked = |id: &str, lane: &str, permission| {
        let mut request = request(id, permission);
        request.requested_config.lane = Some(lane.to_owned());
        request
    };
    let roots = |request: &Request, host: &FakeHost| -> Vec<String> {
        let launch = plan(request, host).unwrap().launch;
        launch.effective_config.writable_roots.iter().map(|root| root.as_str().to_owned()).collect()
    };
    let host = FakeHost::new().file("/opt/bin/delegation-grok", b"\x7fELF runner");
    let state = ["/home/u/.grok"];
    for lane in ["builder", "frontend-builder"] {
        let writes = asked("grok:run", lane, Permission::WorkspaceWrite);
        assert_eq!(roots(&writes, &host), [&state[..], &["/home/u/work"]].concat(), "{lane}");
        let reads = asked("grok:run", lane, Permission::ReadOnly);
        assert!(matches!(plan(&reads, &host), Err(PlanError::InvalidOption { .. })));
    }
    assert_eq!(roots(&asked("grok:run", "policy-annotation", Permission::ReadOnly), &host), state);
    let host = host.variable("DELEGATION_GROK_HOME", "/srv/grok").variable("XAI_API_KEY", "planted");
    let request = asked("grok:run", "builder", Permission::WorkspaceWrite);
    assert!(roots(&request, &host).iter().any(|root| root == "/srv/grok"));
    let launch = plan(&request, &host).unwrap().launch;
    assert!(launch.environment.iter().any(|entry| entry == "DELEGATION_GROK_HOME=/srv/grok"));
    assert!(!launch.environment.concat().contains("planted"));
    let host = FakeHost::new().file("/opt/bin/delegation-gemini", b"\x7fELF runner");
    for lane in ["scout", "builder"] {
        assert_eq!(roots(&asked("gemini:run", lane, Permission::ReadOnly), &host), [""; 0], "{lane}");
    }
}

#[test]
fn glm_writes_the_workspace_in_the_builder_lane_alone() {
    let host = || FakeHost::new().file("/opt/bin/delegation-glm", b"\x7fELF runner");
    let asked = |lane: &str, permission| {
        let mut request = request("glm:run", permission);
        request.requested_config.lane = Some(lane.to_owned());
        request
    };
    for (lane, permission, expected) in [
        ("scout", Permission::ReadOnly, vec![]),
        ("clerk", Permission::ReadOnly, vec![]),
        ("builder", Permission::WorkspaceWrite, vec!["/home/u/work"]),
    ] {
        let draft = plan(&asked(lane, permission), &host()).unwrap();
        let roots = &draft.launch.effective_config.writable_roots;
        assert_eq!(roots.iter().map(|root| root.as_str()).collect::<Vec<_>>(), expected, "{lane}");
        let other = match permission {
            Permission::ReadOnly => Permission::WorkspaceWrite,
            _ => Permission::ReadOnly,
        };
        assert!(matches!(plan(&asked(lane, other), &host()), Err(PlanError::InvalidOption { .. })));
    }
    let host = host()
        .variable("DELEGATION_GLM_CLAUDE_BIN", "/opt/claude")
        .variable("DELEGATION_GLM_KEY_FILE", "/home/u/zai.env")
        .variable("ZAI_API_KEY", "planted");
    let launch = plan(&asked("scout", Permission::ReadOnly), &host).unwrap().launch;
    for entry in ["DELEGATION_GLM_CLAUDE_BIN=/opt/claude", "DELEGATION_GLM_KEY_FILE=/home/u/zai.env"] {
        assert!(launch.environment.iter().any(|own| own == entry), "{entry}");
    }
    assert!(!launch.environment.concat().contains("planted"));
}
