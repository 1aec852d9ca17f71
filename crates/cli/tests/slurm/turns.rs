//! The same turns and the same ends as under the embedded supervisor.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{self, Lead, until};
use crate::world::World;
use testkit::real::slurm::Plan;

#[test]
fn forty_tasks_over_two_nodes_are_one_launch_and_one_outcome_each() {
    let Some(world) = World::new("forty_tasks_over_two_nodes_are_one_launch_and_one_outcome_each") else {
        return;
    };
    let ids: Vec<String> = (0..40_u32).map(|number| format!("{number:032x}")).collect();
    for id in &ids {
        world.dispatch("codex:exec", "[[fake: answer done]]", &["--id", id]);
        // Dispatched again, it is the same job.
        if id.ends_with('7') {
            world.dispatch("codex:exec", "[[fake: answer done]]", &["--id", id]);
        }
    }
    let words: Vec<&str> =
        ["wait", "--watch", "60s"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    let ran = world.json(words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut launched: Vec<String> = world.log().launches().iter().map(support::task_of).collect();
    launched.sort();
    assert_eq!(launched, ids);
    let mut nodes = BTreeSet::new();
    for id in &ids {
        let outcome = world.record(id, "outcome.json").unwrap();
        assert_eq!(
            (&outcome["verdict"], &outcome["recovered"]),
            (&"committed".into(), &false.into()),
            "{outcome}"
        );
        nodes.insert(world.record(id, "launch.json").unwrap()["host_name"].as_str().unwrap().to_owned());
        assert_eq!(world.jobs(id).len(), 1);
    }
    assert_eq!(nodes.into_iter().collect::<Vec<_>>(), ["node1", "node2"]);
}

#[test]
fn a_job_asks_for_what_the_turn_needs_and_the_settings_say() {
    let Some(world) = World::new("a_job_asks_for_what_the_turn_needs_and_the_settings_say") else { return };
    fs::create_dir(world.home().join(".config")).unwrap();
    let settings = world.home().join(".config/delegation.toml");
    fs::write(&settings, "[slurm]\npartition = \"other\"\noptions = [\"--nodelist=node2\", \"--nice=7\"]\n")
        .unwrap();
    let (id, gate) = world.dispatch_held("go", &["--budget", "10m"]);
    assert_eq!(world.until_running(&id), "node2");
    let job = world.job(&id);
    let shown = world.cluster.ask("scontrol", &["--oneliner", "show", "job", &job.number]);
    let root = world.json(["status", &id]).answer()["root_id"].as_str().unwrap().to_owned();
    for part in [
        &format!("JobName=delegate:{root}:{id} "),
        "Requeue=0 ",
        // Ten minutes of budget and five of graces.
        "TimeLimit=00:15:00 ",
        "Partition=other ",
        "Nice=7 ",
        "NodeList=node2 ",
        "NumCPUs=1 ",
        "WorkDir=/ ",
        &format!("Comment=a turn of codex:exec, task {id} "),
        &format!("StdOut={}/supervisor/slurm/%N.log", world.root().display()),
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let binding = &world.record(&id, "submission.json").unwrap()["supervisor_binding"];
    assert_eq!(binding["config"], world.cluster.config().to_str().unwrap());
    assert!(binding["version"].as_str().unwrap().starts_with("slurm"), "{binding}");
    assert_eq!(binding["client"]["path"], "/usr/bin/sbatch");
    assert_eq!(binding["options"][0], "--partition=other");
    // The script is the runner: no shell stays between it and Slurm.
    assert!(world.processes(&["/bin/sh", &id]).is_empty());
    fs::write(gate, "").unwrap();
    world.collect_one(&id, 1);
    world.until_job_is(&id, "COMPLETED");

    let refused = |text: &str, code: &str| {
        fs::write(&settings, text).unwrap();
        let ran = world.json(world.dispatch_arguments("offline:survey", "look", &[]));
        assert_eq!(ran.failure(), code, "{ran:?}");
    };
    refused("[slurm]\noptions = [\"--requeue\"]\n", "supervisor_setup_failed");
    refused("[slurm]\npartitions = \"x\"\n", "invalid_request");
    // What the cluster itself refuses leaves an admitted task without a job.
    refused("[slurm]\npartition = \"nowhere\"\n", "supervisor_setup_failed");
}

#[test]
fn a_queued_task_is_cancelled_without_a_launch_and_leaves_the_queue() {
    let plan = Plan { nodes: vec!["node1"], processors: 1, ..Plan::default() };
    let test = "a_queued_task_is_cancelled_without_a_launch_and_leaves_the_queue";
    let Some(world) = World::planned(test, Lead::new(), &plan) else { return };
    let (holding, gate) = world.dispatch_held("go", &[]);
    world.until_running(&holding);
    let queued = world.dispatch("codex:exec", "[[fake: answer never]]", &[]);
    let seen = until("a reason to wait", || {
        let seen = world.json(["status", &queued]).answer();
        (seen["supervisor"]["reason"] == "Resources").then_some(seen)
    });
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["state"]),
        (&"queued".into(), &"queued".into()),
        "{seen}"
    );
    assert_eq!(seen["supervisor"]["numeric_task_id"].to_string(), world.job(&queued).number);
    assert!(seen["next_action"].is_null(), "{seen}");
    let ran = world.json(["cancel", &queued]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "cancelled"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    assert_eq!(world.job(&queued).state, "CANCELLED");
    assert_eq!(world.job(&holding).state, "RUNNING");
    fs::write(gate, "").unwrap();
    world.collect_one(&holding, 1);
}

#[test]
fn a_running_task_is_cancelled_on_its_node_with_its_escaped_grandchild() {
    let Some(world) = World::new("a_running_task_is_cancelled_on_its_node_with_its_escaped_grandchild")
    else {
        return;
    };
    let id = world.dispatch("codex:exec", "[[fake: setsid-escape]] [[fake: wait-for-file /never]]", &[]);
    let _ = until("the escape", || world.log().escaped().first().copied());
    let ran = world.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    assert_eq!(world.log().launches().len(), 1);
    assert!(world.processes(&[&id]).is_empty());
    // The numbers that the fake noted are those of the node.
    until("nothing of the turn", || world.everything().is_empty().then_some(()));
}

#[test]
fn the_budget_ends_a_hanging_turn() {
    let Some(world) = World::new("the_budget_ends_a_hanging_turn") else { return };
    let ran = world.turn("codex:exec", "[[fake: wait-for-file /never]]", &["--budget", "1s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "timed-out"), "{ran:?}");
    assert_eq!(world.log().launches().len(), 1);
}

#[test]
fn a_workspace_that_the_node_does_not_have_is_gone() {
    let lead = Lead::new();
    let plan = Plan { nodes: vec!["node1", "node2"], hidden: vec![lead.workspace()], ..Plan::default() };
    let Some(world) = World::planned("a_workspace_that_the_node_does_not_have_is_gone", lead, &plan) else {
        return;
    };
    let inside = world.workspace().join("inside");
    fs::create_dir(&inside).unwrap();
    world.cluster.ask("scontrol", &["update", "NodeName=node1", "State=DRAIN", "Reason=test"]);
    let arguments = world.dispatch_arguments("codex:exec", "[[fake: answer never]]", &["--wait"]);
    let arguments: Vec<String> = arguments
        .into_iter()
        .map(|word| {
            if word == world.workspace().to_str().unwrap() {
                inside.to_str().unwrap().to_owned()
            } else {
                word
            }
        })
        .collect();
    let ran = world.json(&arguments);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "workspace-gone"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    assert!(world.log().launches().is_empty());
}
