//! What holds a turn together (STATE.md 6): a cgroup where this host has one to give, and what the records say of it.

mod support;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use process::{CgroupHome, CgroupNode, ResourceLimits};
use support::{Lead, Ran, until};

/// The host's cgroups, or `None` with a word on why there are none.
fn home() -> Option<CgroupHome> {
    CgroupHome::find().inspect_err(|error| eprintln!("skipped: {error}")).ok()
}

/// A cgroup that is gone when the test is over.
struct Node(CgroupNode);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.remove();
    }
}

/// The cgroup of a turn, from its licence.
fn cgroup_of(lead: &Lead, id: &str) -> PathBuf {
    let launch = until("a licence", || lead.record(id, "launch.json"));
    launch["cgroup"].as_str().unwrap_or_else(|| panic!("{launch}")).into()
}

#[test]
fn a_turn_has_a_cgroup_of_its_own_until_it_is_sealed() {
    let Some(home) = home() else { return };
    let lead = Lead::new();
    let go = lead.path().join("go");
    let id = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", go.display()), &[]);
    let cgroup = cgroup_of(&lead, &id);
    let root: serde_json::Value =
        serde_json::from_slice(&fs::read(lead.root().join("root.json")).unwrap()).unwrap();
    let name = format!("delegate-{}-{id}", root["root_id"].as_str().unwrap());
    assert_eq!(cgroup, home.path().join(name));
    let running = until("a process", || lead.record(&id, "running.json"));
    assert_eq!(running["containment"], "cgroup");
    let members = fs::read_to_string(cgroup.join("cgroup.procs")).unwrap();
    let pid = running["pid"].to_string();
    assert!(members.lines().any(|member| member == pid), "{pid} in {members}");
    fs::write(&go, "").unwrap();
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    for record in ["launch.json", "seal.json", "outcome.json"] {
        assert_eq!(lead.record(&id, record).unwrap()["containment"], "cgroup", "{record}");
    }
    until("the end of the cgroup", || (!cgroup.exists()).then_some(()));
}

#[test]
fn what_left_session_parents_and_environment_ends_after_the_loss_of_runner_and_supervisor() {
    if home().is_none() {
        return;
    }
    let lead = Lead::new();
    let id =
        lead.dispatch("codex:exec", "[[fake: setsid-escape scrubbed]] [[fake: wait-for-file /never]]", &[]);
    let cgroup = cgroup_of(&lead, &id);
    let escaped = lead.log().wait_for_escaped(1);
    let provider = until("a process", || lead.record(&id, "running.json"))["pid"].as_u64().unwrap();
    let supervisor = lead.supervisor().unwrap();
    support::kill(supervisor, "KILL");
    support::kill(lead.runner(&id), "KILL");
    support::kill(u32::try_from(provider).unwrap(), "KILL");
    let ran = lead.collect(&id);
    assert_eq!(ran.answer()["liveness"], "ended", "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["recovered"], true, "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["containment"], "cgroup", "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["leaked_processes"], 1, "{ran:?}");
    assert!(escaped.iter().all(|process| !process.is_alive()), "{escaped:?}");
    until("the end of the cgroup", || (!cgroup.exists()).then_some(()));
}

#[test]
fn another_user_than_root_gets_the_subreaper() {
    if home().is_none() || !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can be another user");
        return;
    }
    const OTHER: u32 = 65534;
    let lead = Lead::new();
    let given =
        Command::new("chown").args(["-R", &format!("{OTHER}:{OTHER}")]).arg(lead.path()).status().unwrap();
    assert!(given.success());
    let mut arguments = lead.dispatch_arguments("offline:survey", "look", &["--wait"]);
    let brief = arguments.iter().position(|word| word == "--brief").map(|at| &arguments[at + 1]).unwrap();
    std::os::unix::fs::chown(brief, Some(OTHER), Some(OTHER)).unwrap();
    arguments.push("--json".to_owned());
    let mut command = lead.command(arguments);
    command.uid(OTHER).gid(OTHER);
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["containment"], "subreaper");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let launch = lead.record(&id, "launch.json").unwrap();
    assert_eq!(launch["containment"], "subreaper");
    assert!(launch.get("cgroup").is_none(), "{launch}");
}

#[test]
fn a_limit_is_enforced_or_refused_before_there_is_a_task() {
    let one = |memory_bytes, pids, cpus| ResourceLimits { memory_bytes, pids, cpus };
    for (flag, value, limits) in [
        ("--memory", "1GiB", one(Some(1 << 30), None, None)),
        ("--pids", "4000", one(None, Some(4000), None)),
        ("--cpus", "1", one(None, None, Some(1))),
    ] {
        let lead = Lead::new();
        let ran = lead.turn("offline:survey", "look", &[flag, value]);
        if CgroupHome::find().and_then(|home| home.offers(&limits)).is_ok() {
            assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
            assert_eq!(ran.answer()["outcome"]["containment"], "cgroup", "{ran:?}");
        } else {
            assert_eq!((ran.code, ran.failure().as_str()), (2, "limit_unavailable"), "{ran:?}");
            assert_eq!(ran.answer()["failure"]["next_action"], "correct_request", "{ran:?}");
            assert_eq!(ran.answer()["admission"], "not-admitted", "{ran:?}");
            assert!(
                !lead.root().join("tasks").exists()
                    || fs::read_dir(lead.root().join("tasks")).unwrap().next().is_none()
            );
        }
    }
}

#[test]
fn a_limit_of_nothing_is_no_limit() {
    let lead = Lead::new();
    for (flag, value) in [("--memory", "0"), ("--pids", "0"), ("--cpus", "0"), ("--cpus", "half")] {
        let ran = lead.json(lead.dispatch_arguments("offline:survey", "look", &[flag, value]));
        assert_eq!((ran.code, ran.failure().as_str()), (2, "usage_error"), "{flag} {value}: {ran:?}");
    }
}

#[test]
fn a_new_supervisor_removes_the_cgroups_of_its_own_root_that_are_dead() {
    let Some(home) = home() else { return };
    let lead = Lead::new();
    let ran = lead.turn("offline:survey", "look", &[]);
    let (root, ended) = (ran.answer()["root_id"].clone(), ran.answer()["task_id"].clone());
    let (root, ended) = (root.as_str().unwrap(), ended.as_str().unwrap());
    until("the supervisor to leave", || lead.supervisor().is_none().then_some(()));
    let make = |name: String| Node(home.make(&name, &ResourceLimits::default()).unwrap());
    let dead = make(format!("delegate-{root}-{ended}"));
    let unknown = make(format!("delegate-{root}-{}", "0".repeat(32)));
    let foreign = make(format!("delegate-{}-{ended}", lead_id(&lead)));
    let strange = make(format!("delegate-{root}-name"));
    assert_eq!(lead.turn("offline:survey", "look again", &[]).code, 0);
    for node in [&dead, &unknown] {
        until("the end of the cgroup", || (!node.0.path().exists()).then_some(()));
    }
    assert!(foreign.0.path().exists() && strange.0.path().exists());
}

/// An id of no root, and of this test alone.
fn lead_id(lead: &Lead) -> String {
    let digits: String =
        lead.path().as_os_str().as_encoded_bytes().iter().rev().map(|byte| format!("{byte:02x}")).collect();
    digits[..32].to_owned()
}
