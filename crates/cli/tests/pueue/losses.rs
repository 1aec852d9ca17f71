//! What Pueue loses, forgets or does not say.

use std::fs;

use crate::queue::Queue;
use crate::support::until;

#[test]
fn a_lost_reply_is_asked_for_again() {
    let Some(queue) = Queue::new("a_lost_reply_is_asked_for_again", 1) else { return };
    queue.replace_client(
        "case \" $* \" in *' add '*) \"$PUEUE\" \"$@\" >/dev/null; exit 1;; esac\nexec \"$PUEUE\" \"$@\"",
    );
    let id = queue.dispatch("codex:exec", "[[fake: answer once]]", &[]);
    queue.collect_one(&id, 1);
    assert_eq!(queue.rows_of(&id).len(), 1);
}

#[test]
fn what_could_not_be_asked_is_not_submitted() {
    let Some(mut queue) = Queue::new("what_could_not_be_asked_is_not_submitted", 1) else { return };
    queue.kill_daemon();
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    let refused = queue.json(&arguments);
    assert_eq!((refused.code, refused.failure().as_str()), (1, "supervisor_setup_failed"), "{refused:?}");
    assert_eq!(refused.answer()["admission"], "admitted");
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["state"]),
        (&"queued".into(), &"unknown".into()),
        "{seen}"
    );
    queue.serve();
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(seen["next_action"], "dispatch_again", "{seen}");
    let ran = queue.json(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    queue.collect_one(&id, 1);
}

#[test]
fn a_submission_that_nobody_can_confirm_is_uncertain_and_may_be_repeated() {
    let Some(queue) = Queue::new("a_submission_that_nobody_can_confirm_is_uncertain_and_may_be_repeated", 1)
    else {
        return;
    };
    let broken = queue.path().join("broken");
    queue.replace_client(&format!(
        "if [ -e '{0}' ]; then exit 1; fi\ncase \" $* \" in *' add '*) \"$PUEUE\" \"$@\" >/dev/null; touch '{0}'; exit 1;; esac\n\
         exec \"$PUEUE\" \"$@\"",
        broken.display()
    ));
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    let ran = queue.json(&arguments);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "task_submission_uncertain"), "{ran:?}");
    queue.collect_one(&id, 1);
    fs::remove_file(broken).unwrap();
    assert_eq!(queue.json(&arguments).code, 0);
    assert_eq!(queue.rows_of(&id).len(), 1);
}

#[test]
fn a_client_that_does_not_answer_is_ended() {
    let Some(queue) = Queue::new("a_client_that_does_not_answer_is_ended", 1) else { return };
    queue.replace_client("case \" $* \" in *' status '*) exec sleep 1000;; esac\nexec \"$PUEUE\" \"$@\"");
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    let ran = queue.json(&arguments);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "supervisor_setup_failed"), "{ran:?}");
    assert!(ran.answer()["error"].as_str().unwrap().contains("in time"), "{ran:?}");
    assert!(queue.rows().is_empty());
    queue.replace_client("exec \"$PUEUE\" \"$@\"");
    assert_eq!(queue.json(&arguments).code, 0);
    queue.collect_one(&id, 1);
}

#[test]
fn a_lost_daemon_changes_nothing_for_a_running_turn() {
    let Some(mut queue) = Queue::new("a_lost_daemon_changes_nothing_for_a_running_turn", 1) else { return };
    let (id, gate) = queue.dispatch_held("go");
    let _ = queue.log().wait_for_launches(1);
    let runner = queue.runner(&id);
    queue.kill_daemon();
    queue.serve();
    // The queue takes the job for killed; the records know better.
    assert_eq!(queue.rows_of(&id)[0]["status"]["Done"]["result"], "Killed");
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["state"]),
        (&"running".into(), &"ended".into()),
        "{seen}"
    );
    assert!(seen["next_action"].is_null(), "{seen}");
    assert_eq!(queue.runner(&id), runner);
    fs::write(gate, "").unwrap();
    let ran = queue.collect_one(&id, 1);
    assert_eq!(ran.answer()["outcome"]["recovered"], false);
}

#[test]
fn a_daemon_and_a_runner_lost_together_are_made_up_for_by_the_next_look() {
    let Some(mut queue) =
        Queue::new("a_daemon_and_a_runner_lost_together_are_made_up_for_by_the_next_look", 1)
    else {
        return;
    };
    let (id, gate) = queue.dispatch_held("go");
    let _ = queue.log().wait_for_launches(1);
    queue.kill_daemon();
    crate::queue::end(queue.runner(&id));
    fs::write(gate, "").unwrap();
    let ran = queue.collect_one(&id, 1);
    assert_eq!(ran.answer()["outcome"]["recovered"], true);
}

#[cfg(feature = "fault-injection")]
#[test]
fn after_a_restart_of_the_machine_the_next_look_ends_the_turn() {
    let Some(mut queue) = Queue::new("after_a_restart_of_the_machine_the_next_look_ends_the_turn", 1) else {
        return;
    };
    let (id, _gate) = queue.dispatch_held("go");
    let _ = queue.log().wait_for_launches(1);
    queue.kill_daemon();
    until("everything to end", || {
        let left = queue.everything();
        left.iter().for_each(|pid| crate::queue::end(*pid));
        left.is_empty().then_some(())
    });
    // A boot id that no machine has.
    let collect = ["collect", &id, "--watch", "60s", "--json"];
    let ran = queue
        .command(collect)
        .env(fault::BOOT_ID_NAME, "00000000-0000-4000-8000-000000000000")
        .output()
        .map(crate::support::Ran::from)
        .unwrap();
    assert_eq!((ran.code, ran.reason().as_str()), (4, "incomplete-output"), "{ran:?}");
    assert_eq!(queue.log().launches().len(), 1);
}

#[test]
fn a_number_that_is_given_again_is_nobodys_name() {
    let Some(queue) = Queue::new("a_number_that_is_given_again_is_nobodys_name", 1) else { return };
    let first = queue.dispatch("codex:exec", "[[fake: answer once]]", &[]);
    queue.collect_one(&first, 1);
    until("the row to end", || queue.rows_of(&first)[0]["status"]["Done"].as_object().map(drop));
    queue.ask(&["clean"]);
    let (second, gate) = queue.dispatch_held("go");
    assert_eq!(queue.number(&second), "0", "the number of the first");
    let seen = queue.json(["status", &first]).answer();
    assert_eq!(seen["publication"], "committed");
    fs::write(gate, "").unwrap();
    queue.collect_one(&second, 2);
    // Asked again, a task that has ended is not queued again.
    until("the row to end", || queue.rows_of(&second)[0]["status"]["Done"].as_object().map(drop));
    queue.ask(&["clean"]);
    assert_eq!(queue.json(["collect", &second]).code, 0);
    assert!(queue.rows().is_empty());
}

#[test]
fn a_wiped_queue_strands_nothing() {
    let Some(mut queue) = Queue::new("a_wiped_queue_strands_nothing", 1) else { return };
    let (running, gate) = queue.dispatch_held("go");
    let _ = queue.log().wait_for_launches(1);
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer later]]", &["--id", &id]);
    assert_eq!(queue.json(&arguments).code, 0);
    queue.kill_daemon();
    fs::remove_file(queue.place("state.json")).unwrap();
    queue.serve();
    assert!(queue.rows().is_empty());
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(
        (&seen["supervisor"]["matched"], &seen["next_action"]),
        (&false.into(), &"dispatch_again".into())
    );
    assert!(queue.json(["status", &running]).answer()["next_action"].is_null());
    assert_eq!(queue.json(&arguments).code, 0);
    let _ = queue.log().wait_for_launches(2);
    fs::write(gate, "").unwrap();
    queue.collect_one(&running, 2);
    queue.collect_one(&id, 2);
}

#[test]
fn a_halted_queue_holds_its_tasks() {
    let Some(queue) = Queue::new("a_halted_queue_holds_its_tasks", 1) else { return };
    queue.ask(&["pause"]);
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    for _ in 0..2 {
        assert_eq!(queue.json(&arguments).code, 0);
    }
    assert_eq!(queue.rows_of(&id).len(), 1, "what is queued is not queued again");
    assert_eq!(queue.json(["collect", &id]).code, 3);
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(
        (&seen["supervisor"]["state"], &seen["supervisor"]["matched"]),
        (&"queued".into(), &true.into())
    );
    queue.ask(&["start"]);
    queue.collect_one(&id, 1);
}

#[test]
fn another_queue_than_the_recorded_one_is_not_asked() {
    let Some(queue) = Queue::new("another_queue_than_the_recorded_one_is_not_asked", 1) else { return };
    queue.ask(&["pause"]);
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    assert_eq!(queue.json(&arguments).code, 0);
    let recorded = fs::read_to_string(queue.config()).unwrap();
    fs::write(queue.config(), format!("{recorded}# changed\n")).unwrap();
    let ran = queue.json(&arguments);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "supervisor_setup_failed"), "{ran:?}");
    assert!(ran.answer()["error"].as_str().unwrap().contains("configuration"), "{ran:?}");
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(seen["supervisor"]["state"], "unknown", "{seen}");
    assert!(seen["supervisor"]["matched"].is_null(), "{seen}");
    // Whatever is queued there runs all the same, once.
    queue.ask(&["start"]);
    queue.collect_one(&id, 1);
    fs::write(queue.config(), recorded).unwrap();
    assert_eq!(queue.json(&arguments).code, 0);
    assert_eq!(queue.rows_of(&id).len(), 1);
}
