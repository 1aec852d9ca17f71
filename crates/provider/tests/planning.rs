//! Planning whatever profile: identity, probes, and what is refused.

mod common;

use common::host::{FakeHost, codex_host, continued, identity, pi_host, plan, plan_brief, request, roots};
use provider::{PlanError, ProbeOutput, catalogue};
use record::Span;
use record::failure::FailureCode;
use record::plan::IdentityRole;
use record::request::Request;
use record::words::{Fence, Permission, ProfileOption};

#[test]
fn interpreter_lines() {
    let with = |line: &str| {
        let host = FakeHost::new().file("/opt/bin/pi", line.as_bytes()).file("/bin/sh", b"\x7fELF sh");
        plan(&request("pi:json", Permission::ReadOnly), &host)
    };
    let interpreters = |line: &str| -> Vec<String> {
        let draft = with(line).unwrap();
        identity(&draft)[1..].iter().map(|(_, path)| (*path).to_owned()).collect()
    };
    assert_eq!(interpreters("#!/bin/sh\n"), ["/bin/sh"]);
    assert_eq!(interpreters("#! /bin/sh -eu"), ["/bin/sh"]);
    assert_eq!(interpreters("#!/usr/bin/env -S A=b node --flag\n"), ["/usr/bin/env", "/usr/bin/node"]);
    for line in [
        "",
        "echo hi",
        "#!",
        "#!sh\n",
        "#!/usr/bin/env\n",
        "#!/usr/bin/env -i node\n",
        "#!/no/such\n",
        "#!/usr/bin/env nothing\n",
        "#!/opt/bin/pi\n",
    ] {
        assert!(with(line).is_err(), "{line:?}");
    }
}

#[test]
fn an_effort_of_default_adds_nothing() {
    for effort in ["", "default"] {
        let mut asked = request("pi:json", Permission::ReadOnly);
        asked.requested_config.effort = Some(effort.to_owned());
        let draft = plan(&asked, &pi_host()).unwrap();
        assert_eq!(draft, plan(&request("pi:json", Permission::ReadOnly), &pi_host()).unwrap());
    }
}

#[test]
fn the_survey_needs_nothing() {
    let mut host = FakeHost::new();
    host.variables.remove("HOME");
    let draft = plan(&request("offline:survey", Permission::ReadOnly), &host).unwrap();
    assert_eq!(draft.launch.argv, ["delegate", "__survey"]);
    assert_eq!(identity(&draft), [(IdentityRole::Entry, "/opt/self/delegate")]);
    assert!(draft.launch.effective_config.writable_roots.is_empty() && draft.probes.is_empty());
    assert_eq!(draft.launch.effective_config.fence, Fence::None);
    let launch =
        catalogue().get(&"offline:survey".parse().unwrap()).unwrap().finish(draft.clone(), &[]).unwrap();
    assert_eq!(launch, draft.launch);
    assert!(launch.provider_version.is_some());
}

#[test]
fn what_requests_are_refused() {
    let refused = |provider: &str, change: &dyn Fn(&mut Request)| {
        let mut request = request(provider, Permission::ReadOnly);
        change(&mut request);
        let host =
            FakeHost { files: codex_host().files, ..pi_host() }.file("/opt/lib/pi/dist/cli.js", b"\x7fELF");
        plan(&request, &host).unwrap_err().code()
    };
    let write = |request: &mut Request| request.requested_config.permission = Permission::WorkspaceWrite;
    assert_eq!(refused("offline:survey", &write), FailureCode::UnsupportedOption);
    // Nothing but its tool list fences pi, and in this mode the list has every tool.
    let trusted = |request: &mut Request| {
        request.requested_config.permission = Permission::WorkspaceWrite;
        request.fence = Some(Fence::Theirs);
    };
    assert_eq!(refused("pi:json", &trusted), FailureCode::FenceUnavailable);
    for provider in ["codex:exec", "pi:json", "offline:survey"] {
        let native =
            |request: &mut Request| request.requested_config.native_timeout = Some(Span::from_seconds(1));
        assert_eq!(refused(provider, &native), FailureCode::UnsupportedOption);
    }
    let file = |request: &mut Request| request.environment_file = Some("/e".parse().unwrap());
    assert_eq!(refused("offline:survey", &file), FailureCode::UnsupportedOption);
    let theirs = |request: &mut Request| request.fence = Some(Fence::Theirs);
    assert_eq!(refused("offline:survey", &theirs), FailureCode::FenceUnavailable);
    let model = |request: &mut Request| request.requested_config.model = Some("m".to_owned());
    assert_eq!(refused("offline:survey", &model), FailureCode::UnsupportedOption);
    for text in ["", " m", "--yolo", "a\nb"] {
        let model = |request: &mut Request| request.requested_config.model = Some(text.to_owned());
        assert_eq!(refused("codex:exec", &model), FailureCode::InvalidRequest, "{text}");
    }
    let effort = |request: &mut Request| request.requested_config.effort = Some("extreme".to_owned());
    assert_eq!(refused("pi:json", &effort), FailureCode::InvalidRequest);
    for id in ["--last", "latest", ""] {
        let prior = |request: &mut Request| *request = continued(request.clone(), id);
        assert_eq!(refused("codex:exec", &prior), FailureCode::ContinuationUnavailable);
    }
}

#[test]
fn briefs_that_a_cli_can_not_take() {
    for (provider, brief) in [("codex:exec", &b" \n"[..]), ("codex:exec", b"\xff"), ("pi:json", b"\r\n")] {
        let request = request(provider, Permission::ReadOnly);
        let refused = plan_brief(&request, &codex_host(), brief).unwrap_err();
        assert_eq!(refused.code(), FailureCode::BriefInvalid, "{refused}");
    }
}

#[test]
fn what_hosts_are_refused() {
    let codex = request("codex:exec", Permission::ReadOnly);
    let missing = plan(&codex, &FakeHost::new()).unwrap_err();
    assert_eq!(missing.code(), FailureCode::ProviderUnavailable);
    let pi = request("pi:json", Permission::ReadOnly);
    for host in [
        pi_host().variable("HOME", "home"),
        pi_host().variable("PI_CODING_AGENT_DIR", ""),
        pi_host().variable("PATH", "/a\0b"),
    ] {
        assert_eq!(plan(&pi, &host).unwrap_err().code(), FailureCode::ProviderPreparationFailed);
    }
    let mut homeless = pi_host();
    homeless.variables.remove("HOME");
    assert!(matches!(plan(&pi, &homeless), Err(PlanError::Environment { .. })));
}

#[test]
fn a_directory_made_later_changes_no_plan() {
    let request = request("codex:exec", Permission::ReadOnly);
    let host = codex_host().link("/home/u", "/data/u").file("/data/u/work/x", b"");
    let before = plan(&request, &host).unwrap();
    let after = plan(&request, &host.file("/data/u/.codex/auth.json", b"{}")).unwrap();
    assert_eq!(before, after);
    assert!(roots(&before).contains(&"/data/u/.codex"));
}

#[test]
fn probes_decide_version_and_flags() {
    let profile = catalogue().get(&"codex:exec".parse().unwrap()).unwrap();
    let mut asked = request("codex:exec", Permission::ReadOnly);
    let help = "-c, --config <x>\n --sandbox --cd --output-last-message --json --color --skip-git-repo-check";
    let output = |exit_code, stdout: &str, stderr: &str| ProbeOutput {
        exit_code: Some(exit_code),
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
    };
    let version = output(0, "codex-cli 0.171.0\n", "a warning\n");
    let finish = |request: &Request, facts: &[ProbeOutput]| {
        profile.finish(plan(request, &codex_host()).unwrap(), facts)
    };
    let good = [version.clone(), output(0, help, "")];
    assert_eq!(finish(&asked, &good).unwrap().provider_version.as_deref(), Some("codex-cli 0.171.0"));
    let in_stderr = [version.clone(), output(0, "", help)];
    assert!(finish(&asked, &in_stderr).is_ok());
    let lacking = [version.clone(), output(0, &help.replace("--json", "--jsonl"), "")];
    assert_eq!(finish(&asked, &lacking).unwrap_err(), PlanError::MissingFlag { flag: "--json".to_owned() });
    for bad in [
        &[][..],
        &good[..1],
        &[output(0, "", ""), good[1].clone()],
        &[output(0, "1\n2\n", ""), good[1].clone()],
        &[output(1, "1", ""), good[1].clone()],
        &[version.clone(), output(2, help, "")],
        &[version, ProbeOutput { exit_code: None, ..good[1].clone() }],
    ] {
        assert_eq!(finish(&asked, bad).unwrap_err().code(), FailureCode::ProviderPreflightFailed);
    }
    asked.requested_config.model = Some("m".to_owned());
    assert_eq!(finish(&asked, &good).unwrap_err(), PlanError::MissingFlag { flag: "--model".to_owned() });
}

#[test]
fn errors_name_what_to_do() {
    let mut request = request("pi:json", Permission::WorkspaceWrite);
    request.fence = Some(Fence::Theirs);
    let fence = plan(&request, &pi_host()).unwrap_err().to_string();
    assert!(fence.contains("pi:json") && fence.contains("theirs"), "{fence}");
    let option = PlanError::InvalidOption { option: ProfileOption::Continuation, why: "x".to_owned() };
    assert_eq!(option.code(), FailureCode::ContinuationUnavailable);
}
