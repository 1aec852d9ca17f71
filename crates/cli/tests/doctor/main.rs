//! `doctor` finds what is damaged, says where, and puts right what is derived (STATE.md 9).

#[path = "../support/mod.rs"]
mod support;

mod derived;
mod directories;
mod records;
mod surroundings;
mod whole;

use serde_json::Value;
use support::{Lead, Ran, until};

pub(crate) fn ended(lead: &Lead) -> String {
    let ran = lead.turn("codex:exec", "[[fake: answer whole]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.answer()["task_id"].as_str().unwrap().to_owned()
}

/// The checks of one id.
pub(crate) fn checks(ran: &Ran, id: &str) -> Vec<Value> {
    let answer = ran.answer();
    let all = answer["checks"].as_array().unwrap();
    all.iter().filter(|check| check["id"] == id).cloned().collect()
}

/// The status of the one check of an id.
pub(crate) fn status(ran: &Ran, id: &str) -> String {
    let found = checks(ran, id);
    assert_eq!(found.len(), 1, "{id}: {ran:?}");
    found[0]["status"].as_str().unwrap().to_owned()
}

/// Ends the supervisor and waits for the runners of ended turns, so that nobody changes the root meanwhile.
pub(crate) fn alone(lead: &Lead) {
    if let Some(supervisor) = lead.supervisor() {
        support::kill(supervisor, "KILL");
        until("its end", || lead.supervisor().is_none().then_some(()));
    }
    // A runner takes the marker away last.
    let is_busy = |id: &str| lead.task_directory(id).join("outcome.json").exists();
    until("the last of the runners", || {
        let open = std::fs::read_dir(lead.root().join("open")).ok()?;
        let mut ids = open.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        (!ids.any(|id| is_busy(&id))).then_some(())
    });
}
