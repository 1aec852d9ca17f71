//! What a lead on another machine than the node knows of a turn.

use std::collections::BTreeSet;
use std::fs;

use crate::support::until;
use crate::world::World;

#[test]
fn an_observer_asks_the_cluster_and_not_its_own_processes() {
    let Some(world) = World::new("an_observer_asks_the_cluster_and_not_its_own_processes") else { return };
    let (id, gate) = world.dispatch_held("go", &[]);
    let node = world.until_running(&id);
    let launch = world.record(&id, "launch.json").unwrap();
    let submission = world.record(&id, "submission.json").unwrap();
    assert_ne!(launch["machine_id"], submission["machine_id"], "the node is another machine");
    assert!(!launch["boot_id"].as_str().unwrap().is_empty(), "{launch}");
    let seen = world.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["state"]),
        (&"running".into(), &"running".into()),
        "{seen}"
    );
    assert_eq!(seen["supervisor"]["node"], node.as_str(), "{seen}");
    assert_eq!(seen["supervisor"]["numeric_task_id"].to_string(), world.job(&id).number);
    assert!(seen["activity"]["elapsed_seconds"].as_f64().unwrap() < 3600.0, "{seen}");
    assert!(
        seen["activity"]["descendants"].is_null(),
        "another machine's processes are not counted here: {seen}"
    );
    // The lead's word counts only where nobody knows better.
    let refused = world.json(["cancel", &id, "--declare-lost"]);
    assert_eq!((refused.code, refused.failure().as_str()), (2, "invalid_request"), "{refused:?}");
    assert!(world.supervisor().is_none(), "no other supervisor is started");
    fs::write(gate, "").unwrap();
    world.collect_one(&id, 1);
}

#[test]
fn a_node_lost_in_mid_turn_ends_it_once_the_cluster_says_so() {
    let Some(mut world) = World::new("a_node_lost_in_mid_turn_ends_it_once_the_cluster_says_so") else {
        return;
    };
    let talks = format!("[[fake: wait-for-file {}]]", world.path().join("never").display());
    let turns = [
        ("ab".repeat(16), "[[fake: silent-forever]]", "runner-lost"),
        ("cd".repeat(16), talks.as_str(), "incomplete-output"),
        // Of these a record is damaged meanwhile.
        ("ef".repeat(16), talks.as_str(), "evidence-damaged"),
        ("12".repeat(16), "[[fake: silent-forever]]", "evidence-damaged"),
    ];
    let dispatch = |world: &World, count: usize| {
        for (id, brief, _) in turns.iter().take(count) {
            let ran = world.json(world.dispatch_arguments("codex:exec", brief, &["--id", id]));
            assert_eq!(ran.code, 0, "{ran:?}");
        }
    };
    dispatch(&world, turns.len());
    let nodes: BTreeSet<String> = turns.iter().map(|(id, ..)| world.until_running(id)).collect();
    let _ = world.log().wait_for_launches(turns.len());
    let said = world.task_directory(&turns[1].0).join("raw/stdout");
    until("its words", || fs::metadata(&said).is_ok_and(|file| file.len() > 0).then_some(()));
    for name in &nodes {
        world.cluster.node(name).kill().unwrap();
    }
    for (turn, record) in [(2, "plan.json"), (3, "launch.json")] {
        fs::write(world.task_directory(&turns[turn].0).join(record), "{}").unwrap();
    }
    // Nobody has noticed yet, so nothing is concluded, and nothing is started again.
    for (id, _, reason) in &turns {
        let seen = world.json(["status", id]).answer();
        let liveness = if *reason == "evidence-damaged" { "undetermined" } else { "running" };
        assert_eq!((&seen["liveness"], &seen["publication"]), (&liveness.into(), &"none".into()), "{seen}");
    }
    dispatch(&world, 2);
    for name in &nodes {
        world.cluster.ask("scontrol", &["update", &format!("NodeName={name}"), "State=DOWN", "Reason=test"]);
    }
    for (id, _, reason) in &turns {
        world.until_job_is(id, "NODE_FAIL");
        let ran = world.collect(id);
        assert_eq!((ran.code, ran.reason().as_str()), (4, *reason), "{ran:?}");
        let outcome = &ran.answer()["outcome"];
        assert_ne!(outcome["launched"], "no", "{outcome}");
        assert_eq!(outcome["recovered"], true);
    }
    dispatch(&world, 2);
    assert!(turns.iter().all(|(id, ..)| world.jobs(id).len() == 1));
    assert_eq!(world.log().launches().len(), turns.len());
}

#[test]
fn a_job_that_nobody_knows_any_more_is_ended_by_the_lead_alone() {
    let Some(mut world) = World::new("a_job_that_nobody_knows_any_more_is_ended_by_the_lead_alone") else {
        return;
    };
    let id = "ab".repeat(16);
    let brief = format!("[[fake: wait-for-file {}]]", world.path().join("never").display());
    let arguments = world.dispatch_arguments("codex:exec", &brief, &["--id", &id]);
    assert_eq!(world.json(&arguments).code, 0);
    let name = world.until_running(&id);
    let _ = world.log().wait_for_launches(1);
    world.cluster.kill_controller().unwrap();
    world.cluster.forget_jobs().unwrap();
    world.cluster.node(&name).kill().unwrap();
    world.cluster.start_controller().unwrap();
    for words in [&["status", &id][..], &["collect", &id], &["cancel", &id]] {
        let seen = world.json(words).answer();
        assert_eq!(
            (&seen["liveness"], &seen["publication"]),
            (&"undetermined".into(), &"none".into()),
            "{seen}"
        );
        assert_eq!(seen["supervisor"]["matched"], false, "{seen}");
        assert!(seen["error"].as_str().unwrap().contains("--declare-lost"), "{seen}");
    }
    // Asked for again, it is not launched again.
    assert_eq!(world.json(&arguments).code, 0);
    assert!(world.jobs(&id).is_empty());
    let ran = world.json(["cancel", &id, "--declare-lost"]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "cancelled"), "{ran:?}");
    assert_ne!(ran.answer()["outcome"]["launched"], "no");
    assert_eq!(world.log().launches().len(), 1);
}

#[test]
fn the_accounting_knows_what_the_controller_has_forgotten() {
    let Some(mut world) = World::new("the_accounting_knows_what_the_controller_has_forgotten") else {
        return;
    };
    world.replace_sbatch("exec $SBATCH \"$@\"");
    let asked = world.path().join("asked");
    // No accounting in this cluster: what it would say is as it was captured.
    world.replace("sacct", &format!("echo \"$*\" >> {}; exit 1", asked.display()));
    let (id, _) = world.dispatch_held("never", &[]);
    let name = world.until_running(&id);
    let number = world.job(&id).number;
    let _ = world.log().wait_for_launches(1);
    world.cluster.kill_controller().unwrap();
    world.cluster.forget_jobs().unwrap();
    world.cluster.node(&name).kill().unwrap();
    world.cluster.start_controller().unwrap();
    assert_eq!(world.json(["status", &id]).answer()["liveness"], "undetermined");
    let label =
        format!("delegate:{}:{id}", world.json(["status", &id]).answer()["root_id"].as_str().unwrap());
    let row = |label: &str, state: &str| {
        world.replace("sacct", &format!("echo '{number}|{state}|{name}|{label}'"));
        world.json(["status", &id]).answer()["liveness"].clone()
    };
    assert_eq!(row("delegate:another", "NODE_FAIL"), "undetermined");
    assert_eq!(row(&label, "RUNNING"), "running");
    // The look has started the runner that seals the turn, which may be at work already.
    let seen = row(&label, "CANCELLED by 0");
    assert!(seen == "ended" || seen == "running", "{seen}");
    let ran = world.collect(&id);
    assert_eq!((ran.code, &ran.answer()["outcome"]["recovered"]), (4, &true.into()), "{ran:?}");
    let asked = fs::read_to_string(asked).unwrap();
    for part in [&format!("--name={label}"), "--parsable2", "--starttime=20"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert_eq!(world.log().launches().len(), 1);
}

#[test]
fn a_job_of_somebody_else_under_our_name_is_not_ours() {
    let Some(world) = World::new("a_job_of_somebody_else_under_our_name_is_not_ours") else { return };
    let id = "ab".repeat(16);
    let first = world.dispatch("offline:survey", "look", &[]);
    let root = world.collect(&first).answer()["root_id"].as_str().unwrap().to_owned();
    let foreign = world
        .cluster
        .program("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "sbatch",
            "--output=/dev/null",
            "--chdir=/",
        ])
        .args([&format!("--job-name=delegate:{root}:{id}"), "--wrap=sleep 1000"])
        .output()
        .unwrap();
    assert!(foreign.status.success(), "{foreign:?}");
    until("the foreign job to run", || {
        world.jobs(&id).iter().any(|job| job.state == "RUNNING").then_some(())
    });
    let foreign = world.job(&id).number;
    world.dispatch("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    world.collect_one(&id, 1);
    let jobs = world.jobs(&id);
    assert_eq!(jobs.len(), 2, "{jobs:?}");
    assert!(jobs.iter().any(|job| job.number == foreign && job.state == "RUNNING"), "{jobs:?}");
}

#[test]
fn a_runner_killed_on_its_node_leaves_an_answer_that_counts() {
    let Some(world) = World::new("a_runner_killed_on_its_node_leaves_an_answer_that_counts") else { return };
    // The provider has said everything and does not leave.
    let brief = "[[fake: answer whole]] [[fake: final-then-hang]]";
    let id = world.dispatch("codex:exec", brief, &[]);
    world.until_running(&id);
    until("the answer", || {
        let said = fs::read_to_string(world.task_directory(&id).join("raw/stdout")).unwrap_or_default();
        said.contains("turn.completed").then_some(())
    });
    for pid in world.processes(&[&id]) {
        crate::support::kill(pid, "KILL");
    }
    let ran = world.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["recovered"], true);
    assert_eq!(world.log().launches().len(), 1);
}

#[test]
fn doctor_asks_the_cluster() {
    let Some(mut world) = World::new("doctor_asks_the_cluster") else { return };
    let check = |world: &World| {
        let answer = world.json(["doctor"]).answer();
        let checks = answer["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["id"] == "supervisor:slurm").unwrap()
    };
    let found = check(&world);
    assert_eq!(found["status"], "ok", "{found}");
    let detail = found["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("slurm") && detail.contains(world.cluster.config().to_str().unwrap()),
        "{found}"
    );
    world.cluster.kill_controller().unwrap();
    let found = check(&world);
    assert_eq!(found["status"], "failed", "{found}");
    assert!(found["detail"].as_str().unwrap().contains("can not be used"), "{found}");
}
