//! Planning: exact arguments, environment, identity, probes, and what is refused.

mod common;

use common::host::{FakeHost, continued, plan, plan_brief, request};
use provider::{Draft, PlanError, ProbeOutput, catalogue};
use record::Span;
use record::failure::FailureCode;
use record::plan::{IdentityRole, StartMethod};
use record::request::Request;
use record::words::{Fence, Permission, ProfileOption};

const CONVERSATION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";

fn codex_host() -> FakeHost {
    FakeHost::new().file("/opt/bin/codex", b"\x7fELF codex")
}

fn pi_host() -> FakeHost {
    FakeHost::new()
        .file("/opt/lib/pi/dist/cli.js", b"#!/usr/bin/env node\nrun()")
        .file("/opt/lib/pi/package.json", br#"{"name":"pi"}"#)
        .link("/opt/bin/pi", "/opt/lib/pi/dist/cli.js")
}

fn roots(draft: &Draft) -> Vec<&str> {
    draft.launch.effective_config.writable_roots.iter().map(record::AbsolutePath::as_str).collect()
}

fn identity(draft: &Draft) -> Vec<(IdentityRole, &str)> {
    draft.launch.identity.iter().map(|file| (file.role, file.path.as_str())).collect()
}

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
fn pi_read_only() {
    let mut request = continued(request("pi:json", Permission::ReadOnly), CONVERSATION);
    request.requested_config.model = Some("p/m".to_owned());
    request.requested_config.effort = Some("high".to_owned());
    let host =
        pi_host().variable("PI_CODING_AGENT_DIR", "/home/u/agent/").link("/home/u/agent", "/data/agent");
    let draft = plan(&request, &host.file("/data/agent/x", b"")).unwrap();
    assert_eq!(
        draft.launch.argv,
        [
            "pi",
            "--mode",
            "json",
            "--tools",
            "read,grep,find,ls",
            "--model",
            "p/m",
            "--thinking",
            "high",
            "--session",
            CONVERSATION,
        ]
    );
    assert!(draft.launch.environment.contains(&"PI_CODING_AGENT_DIR=/data/agent".to_owned()));
    assert_eq!(roots(&draft), ["/data/agent", "/data/agent/sessions", "/home/u/.pi"]);
    let roles: Vec<_> = identity(&draft).into_iter().map(|(role, _)| role).collect();
    assert_eq!(
        roles,
        [IdentityRole::Entry, IdentityRole::Interpreter, IdentityRole::Interpreter, IdentityRole::Package]
    );
}

#[test]
fn pi_uses_no_tool_servers_where_it_knows_them() {
    let profile = catalogue().get(&"pi:json".parse().unwrap()).unwrap();
    let finish = |more: &str| {
        let help = format!("--mode --tools --model --thinking --session {more}");
        let facts = ["1.6.0", help.as_str()].map(|stdout| ProbeOutput {
            exit_code: Some(0),
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
        });
        let draft = plan(&request("pi:json", Permission::ReadOnly), &pi_host()).unwrap();
        profile.finish(draft, &facts).unwrap().argv
    };
    let plain = ["pi", "--mode", "json", "--tools", "read,grep,find,ls"];
    assert_eq!(finish("--no-mcps"), plain);
    assert_eq!(finish("--no-mcp"), [&plain[..], &["--no-mcp"]].concat());
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

#[test]
fn pi_writes_only_behind_our_fence() {
    let draft = plan(&request("pi:json", Permission::WorkspaceWrite), &pi_host()).unwrap();
    assert_eq!(draft.launch.argv, ["pi", "--mode", "json", "--tools", "read,bash,edit,write,grep,find,ls"]);
    assert_eq!(draft.launch.effective_config.fence, Fence::Ours);
    assert_eq!(
        roots(&draft),
        ["/home/u/.pi", "/home/u/.pi/agent", "/home/u/.pi/agent/sessions", "/home/u/work"]
    );
    assert!(draft.launch.environment.contains(&"TMPDIR=/tmp/dlg-0202020202020202".to_owned()));
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
