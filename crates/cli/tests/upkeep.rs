//! Everybody at once on the same tasks: collectors, observers, cancellers, doctors, pruners, and a lead who goes on
//! dispatching. No wrong answer, and nobody hears of a lock.

mod support;

use std::thread;

use serde_json::Value;
use support::{Lead, Ran};

/// Rounds of each of the ten.
const ROUNDS: usize = 8;

fn word<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer[name].as_str().unwrap_or_else(|| panic!("no {name}: {answer}"))
}

/// Nothing of the machinery shows.
fn quiet(ran: &Ran) {
    for said in [&ran.stdout, &ran.stderr] {
        for word in ["lock", "EAGAIN", "Resource temporarily", "panicked", "busy"] {
            assert!(!said.contains(word), "{word}: {ran:?}");
        }
    }
}

/// Looks at tasks again and again: once the content of one is gone it stays gone, and what it was stays what it was.
fn observe(lead: &Lead, command: &str, finished: &[String], running: &str) {
    for _ in 0..ROUNDS {
        for id in finished.iter().map(String::as_str).chain([running]) {
            let ran = lead.json([command, id]);
            quiet(&ran);
            let answer = ran.answer();
            let is_pruned = answer["pruned"] == true;
            if command == "collect" && is_pruned {
                assert_eq!((ran.code, ran.failure().as_str()), (1, "content_pruned"), "{ran:?}");
            } else {
                assert!(answer.get("failure").is_none(), "{ran:?}");
            }
            match word(&answer, "publication") {
                "committed" => assert!(finished.iter().any(|known| known == id), "{ran:?}"),
                "rejected" => assert_eq!((id, ran.reason().as_str()), (running, "cancelled"), "{ran:?}"),
                "none" | "pending" => assert_eq!(id, running, "{ran:?}"),
                other => panic!("{other}: {ran:?}"),
            }
        }
    }
}

fn cancel(lead: &Lead, finished: &[String], running: &str) {
    for round in 0..ROUNDS {
        for id in finished.iter().map(String::as_str).chain((round > 0).then_some(running)) {
            let ran = lead.json(["cancel", id]);
            quiet(&ran);
            assert_eq!(ran.code, 0, "{ran:?}");
            if id != running {
                assert_eq!(word(&ran.answer(), "publication"), "committed", "{ran:?}");
            }
        }
    }
}

fn doctor(lead: &Lead, more: &[&str]) {
    for _ in 0..ROUNDS {
        let ran = lead.json([&["doctor"], more].concat());
        quiet_but_for_checks(&ran);
        assert_eq!(ran.code, 0, "{ran:?}");
        let answer = ran.answer();
        let checks = answer["checks"].as_array().unwrap();
        for id in ["damaged", "known_damaged", "foreign"] {
            assert!(checks.iter().all(|check| check["id"] != id), "{ran:?}");
        }
    }
}

/// A doctor speaks of locks when it says that they work.
fn quiet_but_for_checks(ran: &Ran) {
    assert_eq!(ran.stderr, "", "{ran:?}");
}

fn prune(lead: &Lead) {
    for _ in 0..ROUNDS {
        let ran = lead.json(["prune", "--older-than", "0s"]);
        quiet(&ran);
        assert_eq!(ran.code, 0, "{ran:?}");
        for kept in ran.answer()["kept"].as_array().unwrap() {
            let why = word(kept, "why");
            assert_eq!(why, "somebody acts on it right now", "{ran:?}");
        }
    }
}

#[test]
fn ten_at_once_on_the_same_tasks() {
    let lead = Lead::with_slots(2);
    let finished: Vec<String> = (0..2)
        .map(|_| {
            let ran = lead.turn("codex:exec", "[[fake: answer whole]]", &[]);
            assert_eq!(ran.code, 0, "{ran:?}");
            word(&ran.answer(), "task_id").to_owned()
        })
        .collect();
    let running = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(3);
    thread::scope(|scope| {
        let (lead, finished, running) = (&lead, &finished[..], running.as_str());
        let mut all = Vec::new();
        for command in ["collect", "collect", "status", "logs"] {
            all.push(scope.spawn(move || observe(lead, command, finished, running)));
        }
        for _ in 0..2 {
            all.push(scope.spawn(move || cancel(lead, finished, running)));
        }
        all.push(scope.spawn(move || doctor(lead, &[])));
        all.push(scope.spawn(move || doctor(lead, &["--repair"])));
        all.push(scope.spawn(move || prune(lead)));
        all.push(scope.spawn(move || {
            for _ in 0..ROUNDS {
                let id = lead.dispatch("codex:exec", "[[fake: answer more]]", &[]);
                let ran = lead.collect(&id);
                let is_gone = ran.answer()["pruned"] == true;
                assert!(ran.code == 0 || (ran.code == 1 && is_gone), "{ran:?}");
            }
        }));
        for one in all {
            one.join().unwrap();
        }
    });
    let ended = lead.collect(&running);
    assert_eq!(word(&ended.answer(), "publication"), "rejected", "{ended:?}");
    let ran = lead.json(["doctor", "--repair"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(lead.log().launches().len(), 3 + ROUNDS);
    assert_eq!(lead.json(["prune", "--older-than", "0s"]).code, 0);
    assert_eq!(lead.json(["doctor"]).code, 0);
}
