//! A new task on the conversation of an exact predecessor (STATE.md 5).

mod support;

use support::{Lead, Ran, until};

/// Runs a first turn to its end and returns its id.
fn first(lead: &Lead, provider: &str) -> String {
    let ran = lead.turn(provider, "[[fake: answer first]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.answer()["task_id"].as_str().unwrap().to_owned()
}

fn continued(lead: &Lead, task: &str, brief: &str, more: &[&str]) -> Ran {
    let brief = lead.brief(brief);
    let mut arguments = vec!["continue", "--task", task, "--brief", brief.to_str().unwrap(), "--wait"];
    arguments.extend(more);
    lead.json(arguments)
}

fn conversation(ran: &Ran) -> String {
    ran.answer()["outcome"]["session"]["conversation_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{ran:?}"))
        .to_owned()
}

#[test]
fn the_exact_conversation_goes_on() {
    for provider in ["codex:exec", "pi:json"] {
        let lead = Lead::new();
        let task = first(&lead, provider);
        let ran = continued(&lead, &task, "[[fake: answer second]]", &[]);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        let answer = ran.answer();
        assert_eq!(answer["command"], "continue");
        assert_eq!(answer["parent_task_id"], task.as_str());
        assert_eq!(conversation(&ran), lead.record(&task, "session.json").unwrap()["conversation_id"]);
        assert_eq!(answer["outcome"]["session"]["after"], serde_json::json!([task]));
        let launches = lead.log().launches();
        assert!(launches[1].arguments.contains(&conversation(&ran)), "{launches:?}");
    }
}

#[test]
fn the_brief_is_sent_again_when_none_is_given() {
    let lead = Lead::new();
    let task = first(&lead, "pi:json");
    let ran = lead.json(["continue", "--task", &task, "--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let launches = lead.log().launches();
    assert_eq!(launches[0].stdin_sha256, launches[1].stdin_sha256);
}

#[test]
fn two_continuations_at_once_have_one_winner() {
    let lead = Lead::new();
    let task = first(&lead, "codex:exec");
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]]", gate.display());
    let brief = lead.brief(&brief);
    let arguments = ["continue", "--task", &task, "--brief", brief.to_str().unwrap()];
    let answers = std::thread::scope(|scope| {
        let both: Vec<_> = (0..4).map(|_| scope.spawn(|| lead.json(arguments))).collect();
        both.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    let winners: Vec<&Ran> = answers.iter().filter(|ran| ran.code == 0).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    for loser in answers.iter().filter(|ran| ran.code != 0) {
        assert_eq!((loser.code, loser.failure().as_str()), (1, "session_busy"));
        assert_eq!(loser.answer()["task_record"], "not_created");
    }
    std::fs::write(gate, "").unwrap();
    let winner = winners[0].answer()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(lead.collect(&winner).code, 0);
    assert_eq!(lead.log().launches().len(), 2);
}

#[test]
fn a_conversation_that_has_gone_on_is_refused_unless_it_is_wanted() {
    let lead = Lead::new();
    let task = first(&lead, "codex:exec");
    let second = continued(&lead, &task, "[[fake: answer second]]", &[]);
    let second_id = second.answer()["task_id"].as_str().unwrap().to_owned();
    let refused = continued(&lead, &task, "[[fake: answer third]]", &[]);
    assert_eq!((refused.code, refused.failure().as_str()), (2, "continuation_unavailable"), "{refused:?}");
    assert!(refused.answer()["error"].as_str().unwrap().contains(&second_id));
    let wanted = continued(&lead, &task, "[[fake: answer third]]", &["--from-earlier"]);
    assert_eq!(wanted.code, 0, "{wanted:?}");
    assert_eq!(wanted.answer()["outcome"]["session"]["after"], serde_json::json!([task, second_id]));
    // The last of a conversation can always be continued.
    let third_id = wanted.answer()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(continued(&lead, &third_id, "[[fake: answer fourth]]", &[]).code, 0);
}

#[test]
fn the_same_id_is_the_same_continuation() {
    let lead = Lead::new();
    let task = first(&lead, "pi:json");
    let id = "cd".repeat(16);
    let brief = lead.brief("[[fake: answer second]]");
    let arguments = ["continue", "--task", &task, "--id", &id, "--brief", brief.to_str().unwrap(), "--wait"];
    for _ in 0..2 {
        let ran = lead.json(arguments);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    }
    assert_eq!(lead.log().launches().len(), 2);
}

#[test]
fn another_conversation_that_answers_is_no_answer() {
    for provider in ["codex:exec", "pi:json"] {
        let lead = Lead::new();
        let task = first(&lead, provider);
        let ran = continued(&lead, &task, "[[fake: other-session-id]]", &[]);
        assert_eq!((ran.code, ran.reason().as_str()), (4, "identity-mismatch"), "{ran:?}");
    }
}

#[test]
fn what_can_not_be_continued() {
    let lead = Lead::new();
    let survey = first(&lead, "offline:survey");
    let ran = continued(&lead, &survey, "more", &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = continued(&lead, &"ee".repeat(16), "more", &[]);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "task_not_found"));

    let running = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let ran = continued(&lead, &running, "more", &[]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "continuation_unavailable"), "{ran:?}");
    // A cancelled one can, once its conversation is known.
    until("the conversation", || lead.record(&running, "session.json"));
    assert_eq!(lead.json(["cancel", &running, "--watch", "60s"]).code, 4);
    let ran = continued(&lead, &running, "[[fake: answer after-all]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");

    let task = first(&lead, "pi:json");
    let brief = lead.brief("more");
    let other = lead.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let ran = lead.json([
        "dispatch",
        "--provider",
        "pi:json",
        "--brief",
        brief.to_str().unwrap(),
        "--cwd",
        other.to_str().unwrap(),
        "--resume-task",
        &task,
    ]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "continuation_unavailable"), "{ran:?}");
    assert!(ran.answer()["error"].as_str().unwrap().contains("workspace"));
}
