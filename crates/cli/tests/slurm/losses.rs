//! What the cluster loses, forgets or does not say.

use std::fs;

use crate::support::{Lead, until};
use crate::world::World;
use testkit::real::slurm::Plan;

#[test]
fn a_submission_that_fails_after_its_acceptance_is_looked_up() {
    let Some(world) = World::new("a_submission_that_fails_after_its_acceptance_is_looked_up") else { return };
    world.replace_sbatch(
        "case \" $* \" in *' --parsable '*) $SBATCH \"$@\" >/dev/null; exit 1;; esac\nexec $SBATCH \"$@\"",
    );
    let id = "ab".repeat(16);
    let arguments = world.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    for _ in 0..2 {
        let ran = world.json(&arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    world.collect_one(&id, 1);
    assert_eq!(world.jobs(&id).len(), 1);
}

#[test]
fn a_submission_that_is_accepted_twice_is_one_launch() {
    let Some(world) = World::new("a_submission_that_is_accepted_twice_is_one_launch") else { return };
    world.replace_sbatch("case \" $* \" in *' --parsable '*) $SBATCH \"$@\";; esac\nexec $SBATCH \"$@\"");
    let (id, gate) = world.dispatch_held("go", &[]);
    world.until_running(&id);
    assert_eq!(world.jobs(&id).len(), 2);
    // The second runner does not wait for the first.
    until("the second job to end", || world.jobs(&id).iter().any(|job| job.state == "FAILED").then_some(()));
    let seen = world.json(["status", &id]).answer();
    assert_eq!(seen["liveness"], "running", "{seen}");
    fs::write(gate, "").unwrap();
    world.collect_one(&id, 1);
}

#[test]
fn a_submission_that_nobody_can_confirm_is_uncertain_and_may_be_repeated() {
    let Some(mut world) = World::new("a_submission_that_nobody_can_confirm_is_uncertain_and_may_be_repeated")
    else {
        return;
    };
    let controller = world.cluster.place("slurmctld.pid");
    let kill = format!("kill -9 $(cat {})", controller.display());
    world.replace_sbatch(&format!(
        "case \" $* \" in *' --parsable '*) $SBATCH \"$@\" >/dev/null; {kill}; exit 1;; esac\nexec $SBATCH \"$@\""
    ));
    let id = "ab".repeat(16);
    let arguments = world.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    let ran = world.json(&arguments);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "task_submission_uncertain"), "{ran:?}");
    world.cluster.kill_controller().unwrap();
    world.cluster.start_controller().unwrap();
    world.replace_sbatch("exec $SBATCH \"$@\"");
    // Whether the controller still knows the job or lost it with its last moments is all the same.
    assert_eq!(world.json(&arguments).code, 0);
    world.collect_one(&id, 1);
}

#[test]
fn a_task_that_could_not_be_submitted_stays_admitted_and_is_submitted_later() {
    let Some(mut world) =
        World::new("a_task_that_could_not_be_submitted_stays_admitted_and_is_submitted_later")
    else {
        return;
    };
    let (running, gate) = world.dispatch_held("go", &[]);
    world.until_running(&running);
    world.cluster.kill_controller().unwrap();
    let id = "ab".repeat(16);
    let arguments = world.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    let refused = world.json(&arguments);
    assert_eq!((refused.code, refused.failure().as_str()), (1, "supervisor_setup_failed"), "{refused:?}");
    assert_eq!(refused.answer()["admission"], "admitted");
    let seen = world.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["state"]),
        (&"queued".into(), &"unknown".into()),
        "{seen}"
    );
    assert!(seen["next_action"].is_null(), "nobody knows whether it is queued: {seen}");
    // A turn that runs already needs no controller, and its answer none either.
    fs::write(gate, "").unwrap();
    world.collect_one(&running, 1);
    world.cluster.start_controller().unwrap();
    let seen = world.json(["status", &id]).answer();
    assert_eq!(
        (&seen["supervisor"]["matched"], &seen["next_action"]),
        (&false.into(), &"dispatch_again".into()),
        "{seen}"
    );
    assert_eq!(world.json(&arguments).code, 0);
    world.collect_one(&id, 2);
    assert_eq!(world.jobs(&id).len(), 1);
}

#[test]
fn jobs_that_are_cancelled_from_outside() {
    let plan = Plan { nodes: vec!["node1"], processors: 1, ..Plan::default() };
    let Some(world) = World::planned("jobs_that_are_cancelled_from_outside", Lead::new(), &plan) else {
        return;
    };
    let (running, _) = world.dispatch_held("never", &[]);
    world.until_running(&running);
    let id = "ab".repeat(16);
    let arguments = world.dispatch_arguments("codex:exec", "[[fake: answer later]]", &["--id", &id]);
    assert_eq!(world.json(&arguments).code, 0);
    world.cluster.ask("scancel", &[&world.job(&id).number]);
    world.cluster.ask("scancel", &[&world.job(&running).number]);
    // Slurm told the runner and the provider at once; what decides is that the turn was told to end.
    let ran = world.collect(&running);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "interrupted"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "yes");
    // The other one was never launched, so it may go on.
    let seen = world.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["next_action"]),
        (&"queued".into(), &"dispatch_again".into()),
        "{seen}"
    );
    assert_eq!(
        (&seen["supervisor"]["state"], &seen["supervisor"]["reason"]),
        (&"ended".into(), &"CANCELLED".into())
    );
    assert_eq!(world.json(&arguments).code, 0);
    world.collect_one(&id, 2);
    assert_eq!(world.jobs(&id).len(), 2);
    // What was launched is never submitted again.
    world.json(["dispatch", "--id", &running]);
    assert_eq!(world.jobs(&running).len(), 1);
}

#[test]
fn a_turn_outlives_the_daemon_of_its_node() {
    let Some(mut world) = World::new("a_turn_outlives_the_daemon_of_its_node") else { return };
    let (id, gate) = world.dispatch_held("go", &[]);
    let name = world.until_running(&id);
    world.cluster.node(&name).kill_daemon().unwrap();
    // The controller gives the node up, and with it the job.
    world.cluster.ask("scontrol", &["update", &format!("NodeName={name}"), "State=DOWN", "Reason=test"]);
    world.until_job_is(&id, "NODE_FAIL");
    let seen = world.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["state"]),
        (&"running".into(), &"ended".into()),
        "{seen}"
    );
    assert!(seen["next_action"].is_null(), "{seen}");
    fs::write(gate, "").unwrap();
    let ran = world.collect_one(&id, 1);
    assert_eq!(ran.answer()["outcome"]["recovered"], false);
    // The daemon comes back, and nothing is started again.
    // Before it does: a node that registers itself is taken back by itself, and can not be resumed once more.
    world.cluster.ask("scontrol", &["update", &format!("NodeName={name}"), "State=RESUME"]);
    world.cluster.node(&name).start_daemon().unwrap();
    world.cluster.wait_for_idle_nodes(2).unwrap();
    assert_eq!(world.log().launches().len(), 1);
}

#[test]
fn the_end_of_its_time_reaches_the_runner_early_enough() {
    let Some(world) = World::new("the_end_of_its_time_reaches_the_runner_early_enough") else { return };
    let (id, _) = world.dispatch_held("never", &["--budget", "1h"]);
    world.until_running(&id);
    let number = world.job(&id).number;
    world.cluster.ask("scontrol", &["update", &format!("JobId={number}"), "EndTime=now+60"]);
    let ran = world.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "interrupted"), "{ran:?}");
    assert_eq!(
        (&ran.answer()["outcome"]["recovered"], &ran.answer()["outcome"]["stop"]),
        (&false.into(), &"supervisor".into())
    );
    assert_eq!(world.log().launches().len(), 1);
    // Its own end, not the cluster's.
    assert_eq!(world.until_job_is(&id, "COMPLETED").number, number);
}
