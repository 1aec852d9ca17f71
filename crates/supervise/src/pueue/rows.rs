//! Reading `pueue status --json`: strict for our own row, indifferent to what else is in the queue.

use record::TaskId;
use record::answer::SupervisorState;
use serde_json::Value;

use super::error::PueueError;

/// One row of the queue, as far as it can be ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its number: a handle for the next question only, for Pueue gives it to another row later.
    pub(super) number: u64,
    label: String,
    created_at: String,
    command: String,
    pub(super) state: SupervisorState,
    /// Whether it was not started yet.
    pub(super) is_waiting: bool,
}

impl Row {
    /// Whether it will run a runner, or does, as far as Pueue knows. A state that is not understood may be one.
    pub(super) fn may_run(&self) -> bool {
        self.state != SupervisorState::Ended
    }
}

/// All rows with a label. A row that is not like a row of Pueue has none of ours.
///
/// # Errors
/// The answer as a whole is not one.
pub(super) fn read(answer: &[u8]) -> Result<Vec<Row>, PueueError> {
    let wrong = |why: String| PueueError::Answer { why };
    let answer: Value = serde_json::from_slice(answer).map_err(|error| wrong(error.to_string()))?;
    let tasks = answer.get("tasks").and_then(Value::as_object);
    let tasks = tasks.ok_or_else(|| wrong("it has no tasks".to_owned()))?;
    Ok(tasks.iter().filter_map(|(key, task)| row(key, task)).collect())
}

fn row(key: &str, task: &Value) -> Option<Row> {
    let text = |name: &str| task.get(name)?.as_str().map(str::to_owned);
    let number = task.get("id")?.as_u64().filter(|number| number.to_string() == key)?;
    let (state, is_waiting) = state(task.get("status")?);
    Some(Row {
        number,
        label: text("label")?,
        created_at: text("created_at")?,
        command: text("command")?,
        state,
        is_waiting,
    })
}

/// What a state of Pueue is to us; results are not looked at, since they say nothing about a provider.
fn state(status: &Value) -> (SupervisorState, bool) {
    let word = status.as_object().filter(|object| object.len() == 1).and_then(|object| object.keys().next());
    match word.map(String::as_str) {
        Some("Queued" | "Stashed") => (SupervisorState::Queued, true),
        Some("Running" | "Paused") => (SupervisorState::Running, false),
        Some("Done") => (SupervisorState::Ended, false),
        _ => (SupervisorState::Unknown, false),
    }
}

/// The rows of one task: by label and command. Somebody else's row under our label is none.
pub(super) fn of_task(rows: Vec<Row>, label: &str, task: TaskId) -> Vec<Row> {
    let task = task.to_string();
    let is_ours = |row: &Row| row.label == label && row.command.split_whitespace().last() == Some(&task);
    rows.into_iter().filter(is_ours).collect()
}

/// The row that counts: one that may still run, else the newest.
pub(super) fn current(rows: &[Row]) -> Option<&Row> {
    rows.iter().max_by_key(|row| (row.may_run(), &row.created_at))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LABEL: &str = "delegate:r:t";

    fn task() -> TaskId {
        "ab".repeat(16).parse().unwrap()
    }

    fn ours(number: u64, created_at: &str, status: &Value) -> Value {
        json!({"id": number, "label": LABEL, "created_at": created_at, "status": status, "envs": {}, "later": [null],
            "command": format!("exec /bin/delegate-run --root /r {}", task())})
    }

    fn rows(tasks: &Value) -> Vec<Row> {
        let answer = json!({"tasks": tasks, "groups": 7, "later": {}});
        of_task(read(answer.to_string().as_bytes()).unwrap(), LABEL, task())
    }

    #[test]
    fn states_of_our_row() {
        for (status, state, is_waiting) in [
            (json!({"Queued": {"enqueued_at": "x"}}), SupervisorState::Queued, true),
            (json!({"Stashed": {"enqueue_at": null}}), SupervisorState::Queued, true),
            (json!({"Running": {}}), SupervisorState::Running, false),
            (json!({"Paused": {}}), SupervisorState::Running, false),
            (json!({"Done": {"result": {"Odd": 1}}}), SupervisorState::Ended, false),
            (json!({"Locked": {"previous_status": {}}}), SupervisorState::Unknown, false),
            (json!({"Queued": {}, "Done": {}}), SupervisorState::Unknown, false),
            (json!("Queued"), SupervisorState::Unknown, false),
        ] {
            let rows = rows(&json!({"3": ours(3, "a", &status)}));
            assert_eq!(rows.len(), 1, "{status}");
            assert_eq!(
                (rows[0].state, rows[0].is_waiting, rows[0].number),
                (state, is_waiting, 3),
                "{status}"
            );
        }
    }

    #[test]
    fn odd_rows_are_nobodys() {
        let running = json!({"Running": {}});
        let mut foreign = ours(2, "a", &running);
        foreign["command"] = json!("sleep 9");
        let mut unlabelled = ours(4, "a", &running);
        unlabelled["label"] = Value::Null;
        let tasks = json!({"0": 5, "1": {"id": "1"}, "2": foreign, "4": unlabelled, "x": ours(5, "a", &running),
            "6": null, "7": ours(8, "a", &running), "9": ours(9, "a", &running)});
        let rows = rows(&tasks);
        assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [9]);
    }

    #[test]
    fn a_row_that_may_run_counts_before_a_newer_one_that_ended() {
        let done = json!({"Done": {}});
        let queued = json!({"Queued": {}});
        let all =
            rows(&json!({"0": ours(0, "c", &done), "1": ours(1, "a", &queued), "2": ours(2, "b", &done)}));
        assert_eq!(current(&all).map(|row| row.number), Some(1));
        let ended: Vec<Row> = all.into_iter().filter(|row| !row.may_run()).collect();
        assert_eq!(current(&ended).map(|row| row.number), Some(0));
        assert_eq!(current(&[]), None);
    }

    #[test]
    fn what_is_no_answer_says_nothing_of_rows() {
        for answer in ["", "{}", "[]", "{\"tasks\": 3}", "not json"] {
            assert!(matches!(read(answer.as_bytes()), Err(PueueError::Answer { .. })), "{answer}");
        }
    }
}
