//! Planning pi: arguments, environment, writable directories, and what its program is.

mod common;

use common::host::{continued, identity, pi_host, plan, request, roots};
use provider::{ProbeOutput, catalogue};
use record::plan::IdentityRole;
use record::words::{Fence, Permission};

const CONVERSATION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";

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
