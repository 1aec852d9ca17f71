//! What `list` prints.

use record::Timestamp;
use record::history::{ListedTask, TaskState};

use super::{amount, paint, wrap};

/// Columns of a task id.
const ID_COLUMNS: usize = 32;
/// Columns of a time such as `59m59s`.
const TIME_COLUMNS: usize = 6;

/// A line for each task below a title. On a terminal that is too narrow for all the last column is cut.
pub(crate) fn tasks(tasks: &[ListedTask], now: Timestamp, columns: Option<usize>) -> String {
    let provider_columns = tasks.iter().map(|task| task.provider.as_str().len()).max().unwrap_or(0).max(8);
    let before = ID_COLUMNS + 2 + TIME_COLUMNS + 2 + TIME_COLUMNS + 2 + provider_columns + 2;
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(before).max(1));
    let line = |id: &str, age: &str, took: &str, provider: &str| {
        format!(
            "{id:<ID_COLUMNS$}  {age:>TIME_COLUMNS$}  {took:>TIME_COLUMNS$}  {provider:<provider_columns$}  "
        )
    };
    let title = line("TASK", "AGE", "TOOK", "PROVIDER") + "STATE";
    let mut text = paint::paint(paint::TITLE, &title) + "\n";
    for task in tasks {
        let age = seconds(now, task.admitted_at);
        let took = task.ended_at.map(|end| seconds(end, task.admitted_at)).unwrap_or_default();
        text.push_str(&line(&task.task_id.to_string(), &age, &took, task.provider.as_str()));
        let words = match task.reason {
            Some(reason) if task.state == TaskState::Rejected => format!("{}: {reason}", task.state),
            _ => task.state.to_string(),
        };
        let style = match task.state {
            TaskState::Committed => paint::GOOD,
            TaskState::Rejected => paint::BAD,
            TaskState::Running | TaskState::Pending => paint::LIVE,
            TaskState::Queued => paint::FAINT,
            TaskState::Undetermined => paint::NOTABLE,
        };
        text.push_str(&paint::paint(style, &wrap::cut(&words, room)));
        text.push('\n');
    }
    text
}

/// Time from one moment to a later one.
fn seconds(later: Timestamp, earlier: Timestamp) -> String {
    amount::seconds(later.nanoseconds_since(earlier) as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use record::TaskId;
    use record::words::ReasonCode;

    use super::*;

    fn moment(text: &str) -> Timestamp {
        format!("2026-01-02T{text}.000000000Z").parse().unwrap()
    }

    #[test]
    fn columns_stand_below_each_other() {
        let task = |byte, state, ended_at: Option<&str>, reason| ListedTask {
            task_id: TaskId::from_random([byte; 16]),
            provider: "codex:exec".parse().unwrap(),
            state,
            admitted_at: moment("03:00:00"),
            ended_at: ended_at.map(moment),
            reason,
        };
        let listed = [
            task(0xaa, TaskState::Running, None, None),
            task(0xbb, TaskState::Rejected, Some("03:01:05"), Some(ReasonCode::AuthenticationRequired)),
        ];
        let (a, b) = ("a".repeat(32), "b".repeat(32));
        let title = "TASK                                 AGE    TOOK  PROVIDER    STATE";
        let text = |columns| strip_str(&tasks(&listed, moment("03:02:00"), columns)).to_string();
        assert_eq!(
            text(None),
            format!(
                "{title}\n{a}   2m00s          codex:exec  running\n\
                 {b}   2m00s   1m05s  codex:exec  rejected: authentication-required\n"
            )
        );
        assert!(text(Some(80)).ends_with("codex:exec  rejected: authent…\n"), "{}", text(Some(80)));
        assert!(text(Some(80)).lines().all(|line| line.chars().count() <= 80));
    }
}
