//! The supervisor, the CLIs, and the shell that asks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::{Lead, Ran};
use crate::{alone, checks, status};

#[test]
fn a_task_that_was_given_up_and_a_missing_supervisor_are_told() {
    let lead = Lead::with_slots(1);
    let _ = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer later]]", &[]);
    assert_eq!(status(&lead.json(["doctor"]), "supervisor"), "ok");
    alone(&lead);
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, "supervisor").as_str()), (0, "warning"), "{ran:?}");
    assert_eq!(status(&ran, "gave_up"), "ok");
    let machine = fs::read_dir(lead.root().join("supervisor")).unwrap().next().unwrap().unwrap().path();
    fs::write(machine.join("gave-up").join(&queued), "").unwrap();
    let ran = lead.json(["doctor"]);
    assert_eq!(status(&ran, "gave_up"), "warning", "{ran:?}");
    assert!(checks(&ran, "gave_up")[0]["detail"].as_str().unwrap().contains(&queued));
    // Looking at a root starts nothing.
    assert_eq!(lead.supervisor(), None);
}

#[test]
fn a_login_is_looked_for_and_never_opened() {
    let lead = Lead::new();
    let id = "provider:codex:exec";
    let ran = lead.json(["doctor"]);
    assert_eq!(status(&ran, id), "unknown", "{ran:?}");
    assert!(checks(&ran, id)[0]["fix"].as_str().unwrap().contains("codex login"));
    // One that would keep whoever opens it waiting for ever.
    let directory = lead.home().join(".codex");
    fs::create_dir_all(&directory).unwrap();
    let made = std::process::Command::new("mkfifo").arg(directory.join("auth.json")).status().unwrap();
    assert!(made.success());
    let ran = lead.json(["doctor"]);
    assert_eq!((ran.code, status(&ran, id).as_str()), (0, "ok"), "{ran:?}");
    fs::remove_file(lead.programs().join("codex")).unwrap();
    let ran = lead.json(["doctor"]);
    assert!(checks(&ran, id)[0]["detail"].as_str().unwrap().contains("not installed"), "{ran:?}");
}

#[test]
fn a_runner_says_where_its_key_or_login_is() {
    let lead = Lead::new();
    for name in ["delegation-kimi", "delegation-qwen", "kimi"] {
        symlink("/bin/true", lead.programs().join(name)).unwrap();
    }
    let ran = lead.json(["doctor"]);
    let detail = |id: &str| checks(&ran, id)[0]["detail"].as_str().unwrap().to_owned();
    assert!(detail("provider:qwen:run").ends_with("; its key is looked for only when it runs"), "{ran:?}");
    let fix = checks(&ran, "provider:qwen:run")[0]["fix"].as_str().unwrap().to_owned();
    for words in ["DELEGATION_QWEN_KEY_FILE", "QWEN_TOKEN_PLAN_API_KEY", "--env-file"] {
        assert!(fix.contains(words), "{fix}");
    }
    assert!(detail("provider:kimi:run").contains(".kimi-code/credentials/kimi-code.json"), "{ran:?}");
    assert_eq!(status(&ran, "provider:kimi:run"), "unknown");
    let login = lead.home().join(".kimi-code/credentials");
    fs::create_dir_all(&login).unwrap();
    fs::write(login.join("kimi-code.json"), "").unwrap();
    assert_eq!(status(&lead.json(["doctor"]), "provider:kimi:run"), "ok");
}

#[test]
fn a_runner_without_the_program_behind_it_says_so_first() {
    let lead = Lead::new();
    let behind = [("glm", "claude"), ("kimi", "kimi"), ("gemini", "agy"), ("grok", "grok")];
    for (family, program) in behind {
        symlink("/bin/true", lead.programs().join(format!("delegation-{family}"))).unwrap();
        let _ = fs::remove_file(lead.programs().join(program));
    }
    let told = |lead: &Lead, family: &str| {
        let ran = lead.json(["doctor"]);
        let check = &checks(&ran, &format!("provider:{family}:run"))[0];
        (check["status"].as_str().unwrap().to_owned(), check["detail"].as_str().unwrap().to_owned())
    };
    for (family, program) in behind {
        let (status, detail) = told(&lead, family);
        assert_eq!(status, "ok", "{detail}");
        assert!(detail.ends_with(&format!("; {program}, which it starts, is not installed")), "{detail}");
    }
    // Grok may be archived by its runner.
    fs::create_dir_all(lead.home().join(".local/share/delegation-kit/grok-cli/current")).unwrap();
    assert_eq!(told(&lead, "grok").0, "unknown");
    let named = lead.and("DELEGATION_GLM_CLAUDE_BIN", "/opt/claude");
    assert_eq!(told(&named, "glm").0, "unknown");
}

/// Slurm's programs look for a cluster in the network when there is no configuration.
#[test]
fn a_cluster_that_nobody_set_up_is_not_asked() {
    let places = ["/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf"];
    if places.iter().any(|place| Path::new(place).exists()) {
        testkit::real::leave_out("a_cluster_that_nobody_set_up_is_not_asked", "this machine has a cluster");
        return;
    }
    let id = "supervisor:slurm";
    let asked = |lead: &Lead| {
        let mark = lead.path().join("asked");
        for name in ["sbatch", "squeue"] {
            let program = lead.programs().join(name);
            fs::write(&program, format!("#!/bin/sh\ntouch {}\nexit 1\n", mark.display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let ran = lead.json(["doctor"]);
        (status(&ran, id), mark.exists())
    };
    let lead = Lead::new();
    assert_eq!(asked(&lead), ("ok".to_owned(), false));
    let configured = Lead::new().and("SLURM_CONF", "/nowhere/slurm.conf");
    assert_eq!(asked(&configured), ("warning".to_owned(), true));
    let chosen = Lead::new().and("DELEGATE_SUPERVISOR", "slurm");
    assert_eq!(asked(&chosen), ("failed".to_owned(), true));
}

#[test]
fn the_callers_shell_is_looked_at() {
    let lead = Lead::new();
    let output = lead.command(["doctor", "--json"]).env("DELEGATION_COOKIE", "x-y").output().unwrap();
    assert_eq!(status(&Ran::from(output), "environment"), "warning");
    let inner = lead.command(["doctor", "--json"]);
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -f 2048; exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::from(limited.output().unwrap());
    assert_eq!(status(&ran, "limits"), "warning", "{ran:?}");
}
