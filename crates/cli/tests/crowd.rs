//! Many who look, cancel, check and tidy up at once, on the same tasks: everybody gets a right answer, and nobody hears of locks.
//!
//! `cargo xtask crowd` plays it for a minute.

mod support;

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Lead, Ran};

/// How long they go on, in seconds, if not for a number of rounds.
const SECONDS_VARIABLE: &str = "CROWD_SECONDS";
const ROUNDS: usize = 5;
const CROWD: usize = 10;
const COMMANDS: [&str; 5] = ["collect", "status", "cancel", "doctor", "prune"];
const SLOTS: u32 = 4;
/// Tasks of all rounds that are there from the beginning.
const TASKS_AT_FIRST: usize = 8;

/// A task, and the end that it must come to.
#[derive(Clone, Debug)]
struct Known {
    id: String,
    end: &'static str,
}

struct Crowd {
    lead: Lead,
    tasks: Mutex<Vec<Known>>,
    /// The outcome of a task as it was first told.
    outcomes: Mutex<HashMap<String, Value>>,
}

impl Crowd {
    /// Dispatches a task of the next kind. Some go on as long as the crowd is there.
    fn dispatch(&self, number: usize) {
        let gate = self.lead.path().join("go");
        let (brief, end) = match number % 4 {
            0 => (format!("[[fake: answer done-{number}]]"), "completed"),
            1 => ("[[fake: error-event]]".to_owned(), "provider-failed"),
            2 => ("[[fake: silent-forever]]".to_owned(), "cancelled"),
            _ if number < TASKS_AT_FIRST => {
                (format!("[[fake: wait-for-file {}]] [[fake: answer late]]", gate.display()), "completed")
            }
            _ => (format!("[[fake: answer again-{number}]]"), "completed"),
        };
        let id = self.lead.dispatch("codex:exec", &brief, &[]);
        self.tasks.lock().unwrap().push(Known { id, end });
    }

    /// What one of the crowd does in one round.
    fn turn(&self, who: usize, round: usize) {
        if who == 0 {
            self.dispatch(TASKS_AT_FIRST + round);
        }
        match COMMANDS[(who + round) % COMMANDS.len()] {
            "doctor" => {
                let ran = self.lead.json(["doctor"]);
                assert_eq!(ran.code, 0, "{ran:?}");
            }
            "prune" => {
                let ran = self.lead.json(["prune", "--older-than", "0s"]);
                assert_eq!(ran.code, 0, "{ran:?}");
                for kept in ran.answer()["kept"].as_array().unwrap() {
                    assert_eq!(kept["why"], "somebody acts on it right now", "{ran:?}");
                }
            }
            word => {
                let tasks = self.tasks.lock().unwrap().clone();
                let candidates: Vec<_> =
                    tasks.iter().filter(|task| word != "cancel" || task.end == "cancelled").collect();
                self.ask(word, candidates[(who * 7 + round) % candidates.len()]);
            }
        }
    }

    fn ask(&self, word: &str, task: &Known) {
        let told = self.outcomes.lock().unwrap().get(&task.id).cloned();
        let ran = self.lead.json([word, &task.id]);
        let answer = ran.answer();
        assert_eq!(
            (&answer["task_id"], &answer["admission"]),
            (&task.id.as_str().into(), &"admitted".into())
        );
        let outcome = answer.get("outcome").cloned();
        assert!(told.is_none() || outcome.is_some(), "an outcome is taken back: {ran:?}");
        let codes: &[i32] = match (word, &outcome) {
            ("collect", None) => &[3],
            ("collect", Some(outcome)) if outcome["verdict"] == "committed" => &[0, 1],
            ("collect", Some(_)) => &[4, 1],
            _ => &[0],
        };
        assert!(codes.contains(&ran.code), "{word}: {ran:?}");
        let failure = if ran.code == 1 { "content_pruned" } else { "" };
        assert_eq!(answer["failure"]["code"].as_str().unwrap_or_default(), failure, "{word}: {ran:?}");
        assert_eq!(ran.stderr, "", "{word}");
        if let Some(outcome) = outcome {
            assert_eq!(ran.reason(), task.end, "{word}: {ran:?}");
            let mut outcomes = self.outcomes.lock().unwrap();
            let first = outcomes.entry(task.id.clone()).or_insert_with(|| outcome.clone());
            assert_eq!(*first, outcome, "another outcome: {ran:?}");
        }
    }
}

#[test]
fn everybody_gets_a_right_answer() {
    let crowd = Crowd {
        lead: Lead::with_slots(SLOTS),
        tasks: Mutex::new(Vec::new()),
        outcomes: Mutex::new(HashMap::new()),
    };
    (0..TASKS_AT_FIRST).for_each(|number| crowd.dispatch(number));
    let seconds = std::env::var(SECONDS_VARIABLE).ok().map(|seconds| seconds.parse().expect("a number"));
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let goes_on = |round| end.map_or(round < ROUNDS, |end| Instant::now() < end);
    let commands: usize = thread::scope(|scope| {
        let crowd = &crowd;
        let all: Vec<_> = (0..CROWD)
            .map(|who| {
                scope.spawn(move || {
                    (0..).take_while(|round| goes_on(*round)).map(|round| crowd.turn(who, round)).count()
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });

    fs::write(crowd.lead.path().join("go"), "").unwrap();
    let tasks = crowd.tasks.lock().unwrap().clone();
    for task in &tasks {
        if task.end == "cancelled" {
            crowd.ask("cancel", task);
        }
        let ran: Ran = crowd.lead.collect(&task.id);
        assert_eq!(ran.reason(), task.end, "{ran:?}");
        crowd.ask("collect", task);
    }
    let launches = crowd.lead.log().launches();
    for task in &tasks {
        let count = launches.iter().filter(|launch| support::task_of(launch) == task.id).count();
        // One that is cancelled may not have been launched.
        assert!(count == 1 || (count == 0 && task.end == "cancelled"), "{task:?}: {count} launches");
    }
    println!("{commands} commands on {} tasks", tasks.len());
}
