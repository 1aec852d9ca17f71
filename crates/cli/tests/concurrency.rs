//! Many leads at once: one outcome each, one launch each, oldest first.

mod support;

use std::collections::BTreeMap;
use std::thread;

use support::Lead;

#[test]
fn fifty_dispatches_from_ten_processes_on_four_slots() {
    let lead = Lead::with_slots(4);
    let ids: Vec<String> = thread::scope(|scope| {
        let dispatchers: Vec<_> = (0..10)
            .map(|_| {
                scope.spawn(|| {
                    (0..5)
                        .map(|_| lead.dispatch("codex:exec", "[[fake: answer done]]", &[]))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        dispatchers.into_iter().flat_map(|dispatcher| dispatcher.join().unwrap()).collect()
    });
    let mut arguments = vec!["wait".to_owned(), "--all".to_owned(), "--watch".to_owned(), "120s".to_owned()];
    arguments.extend(ids.iter().cloned());
    let ran = lead.json(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.answer();
    let tasks = answer["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 50);
    assert!(tasks.iter().all(|task| task["outcome"]["reason"]["code"] == "completed"));

    let mut launched = BTreeMap::<String, u32>::new();
    for launch in lead.log().launches() {
        *launched.entry(support::task_of(&launch)).or_default() += 1;
    }
    assert_eq!(launched.len(), 50);
    assert!(launched.values().all(|count| *count == 1), "{launched:?}");

    // Four turns start side by side, so neighbours may change places; nobody is passed by more than that.
    let position = |record: &str, field: &str| -> Vec<String> {
        let mut order: Vec<(String, String)> = ids
            .iter()
            .map(|id| (lead.record(id, record).unwrap()[field].as_str().unwrap().to_owned(), id.clone()))
            .collect();
        order.sort();
        order.into_iter().map(|(_, id)| id).collect()
    };
    let admitted = position("submission.json", "admitted_at");
    let started = position("launch.json", "created_at");
    for (place, id) in admitted.iter().enumerate() {
        let start = started.iter().position(|other| other == id).unwrap();
        // The dispatchers race each other too: an earlier admission time may become visible a little later.
        assert!(place.abs_diff(start) < 4 + 10, "place {place} started at {start}");
    }
}

#[test]
fn one_slot_runs_strictly_in_order() {
    let lead = Lead::with_slots(1);
    let gate = lead.path().join("go");
    let first = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let _ = lead.log().wait_for_launches(1);
    let mut ids = vec![first];
    ids.extend((0..5).map(|_| lead.dispatch("codex:exec", "[[fake: answer next]]", &[])));
    std::fs::write(gate, "").unwrap();
    for id in &ids {
        assert_eq!(lead.collect(id).code, 0);
    }
    let order: Vec<String> = lead.log().launches().iter().map(support::task_of).collect();
    assert_eq!(order, ids);
}

#[test]
fn the_same_id_is_one_task() {
    let lead = Lead::new();
    let id = "ab".repeat(16);
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer one]]", &["--id", &id]);
    let answers = thread::scope(|scope| {
        let dispatchers: Vec<_> = (0..6).map(|_| scope.spawn(|| lead.json(&arguments))).collect();
        dispatchers.into_iter().map(|dispatcher| dispatcher.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(answers.iter().all(|ran| ran.code == 0), "{answers:?}");
    assert_eq!(lead.collect(&id).code, 0);
    assert_eq!(lead.log().launches().len(), 1);

    let other = lead.json(lead.dispatch_arguments("codex:exec", "[[fake: answer two]]", &["--id", &id]));
    assert_eq!((other.code, other.failure().as_str()), (2, "task_request_conflict"));
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn the_same_id_in_two_roots_is_two_tasks_that_leave_each_other_alone() {
    let lead = Lead::new();
    let id = "ef".repeat(16);
    let other_root = lead.path().join("other-root");
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]] [[fake: answer held]]", gate.display());
    let held = lead.dispatch("codex:exec", &brief, &["--id", &id]);
    let _ = lead.log().wait_for_launches(1);
    let mut short = lead.dispatch_arguments("codex:exec", "[[fake: answer short]]", &["--id", &id, "--wait"]);
    short.extend(["--root".to_owned(), other_root.to_str().unwrap().to_owned()]);
    let ran = lead.json(&short);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    std::fs::write(gate, "").unwrap();
    let ran = lead.collect(&held);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
}
