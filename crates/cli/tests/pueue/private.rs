//! A queue of the root's own, for who asks for Pueue and names none.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::queue::{descriptor, end, lead_with_programs, stat};
use crate::support::{Lead, until};

fn lead(test: &str) -> Option<Lead> {
    let (lead, _) = lead_with_programs(test)?;
    Some(lead.and("DELEGATE_SUPERVISOR", "pueue"))
}

fn daemons(lead: &Lead) -> Vec<u32> {
    lead.processes(&["pueued", "-c"])
}

fn directory(lead: &Lead, id: &str) -> PathBuf {
    let binding = lead.record(id, "submission.json").unwrap()["supervisor_binding"].clone();
    let config = PathBuf::from(binding["config"].as_str().unwrap());
    assert!(config.starts_with(lead.root().join("supervisor")), "{binding}");
    assert!(binding["daemon"]["path"].as_str().unwrap().ends_with("/pueued"), "{binding}");
    config.parent().unwrap().to_path_buf()
}

fn completed(lead: &Lead, id: &str) -> Value {
    let ran = lead.collect(id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    ran.answer()
}

#[test]
fn the_daemon_belongs_to_nobodys_terminal() {
    let Some(lead) = lead("the_daemon_belongs_to_nobodys_terminal") else { return };
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]]", gate.display());
    // As a shell does: a process group for the command, with a pipe for its output.
    let mut command = lead.command(lead.dispatch_arguments("codex:exec", &brief, &["--json"]));
    let dispatcher = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let group = dispatcher.id();
    // Returns only when everybody has closed the pipe.
    let output = dispatcher.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = answer["task_id"].as_str().unwrap();
    let _ = lead.log().wait_for_launches(1);
    // As the end of a terminal does; nobody of that group may be left.
    let _ =
        Command::new("kill").args(["-s", "HUP", "--", &format!("-{group}")]).stderr(Stdio::null()).status();

    let found = daemons(&lead);
    assert_eq!(found.len(), 1);
    let daemon = found[0];
    assert_eq!(stat(daemon, 6), daemon.to_string(), "a session of its own");
    assert_eq!(stat(daemon, 7), "0", "no terminal");
    let place = directory(&lead, id);
    assert_eq!(descriptor(daemon, 0), PathBuf::from("/dev/null"));
    assert_eq!((descriptor(daemon, 1), descriptor(daemon, 2)), (place.join("log"), place.join("log")));
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(place.join("socket")).unwrap().permissions().mode() & 0o777, 0o700);
    fs::write(gate, "").unwrap();
    completed(&lead, id);
    assert!(lead.supervisor().is_none());
}

#[test]
fn many_first_dispatches_start_one_daemon() {
    let Some(lead) = lead("many_first_dispatches_start_one_daemon") else { return };
    let ids: Vec<String> = thread::scope(|scope| {
        let dispatches: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| lead.dispatch("codex:exec", "[[fake: answer done]]", &[])))
            .collect();
        dispatches.into_iter().map(|dispatch| dispatch.join().unwrap()).collect()
    });
    for id in &ids {
        completed(&lead, id);
    }
    assert_eq!(daemons(&lead).len(), 1);
    assert_eq!(lead.log().launches().len(), 6);
}

#[test]
fn a_lost_daemon_is_started_by_the_next_look_and_goes_on() {
    let Some(lead) = lead("a_lost_daemon_is_started_by_the_next_look_and_goes_on") else { return };
    let lead = lead.and("DELEGATE_SLOTS", "1");
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]]", gate.display());
    let running = lead.dispatch("codex:exec", &brief, &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer later]]", &[]);
    let place = directory(&lead, &running);
    end(daemons(&lead)[0]);
    // What a lost daemon and a restarted machine leave: another process with its number, half a state.
    fs::write(place.join("pid"), std::process::id().to_string()).unwrap();
    fs::write(place.join("state/state.json.partial"), "{").unwrap();
    fs::write(place.join("state/state.json.gz.partial"), "{").unwrap();
    fs::write(gate, "").unwrap();
    assert_eq!(completed(&lead, &running)["outcome"]["recovered"], false);
    completed(&lead, &queued);
    assert_eq!(daemons(&lead).len(), 1);
    assert_eq!(lead.log().launches().len(), 2);
}

#[test]
fn a_private_queue_that_was_changed_is_not_started() {
    let Some(lead) = lead("a_private_queue_that_was_changed_is_not_started") else { return };
    let id = "ab".repeat(16);
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: wait-for-file /never]]", &["--id", &id]);
    assert_eq!(lead.json(&arguments).code, 0);
    let _ = lead.log().wait_for_launches(1);
    let config = directory(&lead, &id).join("pueue.yml");
    end(daemons(&lead)[0]);
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("daemon:", "daemon:\n  callback: touch /tmp/called\n")).unwrap();
    let ran = lead.json(&arguments);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "supervisor_setup_failed"), "{ran:?}");
    assert_eq!(lead.json(["status", &id]).code, 0);
    assert!(daemons(&lead).is_empty());
    // The turn does not need it.
    assert_eq!(lead.json(["cancel", &id, "--watch", "60s"]).reason(), "cancelled");
    until("nothing to be left", || lead.everything().is_empty().then_some(()));
}
