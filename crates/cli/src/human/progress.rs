//! What a waiting command shows meanwhile, on standard error: one line that changes in place on a terminal, else a line at
//! each change of state and at least each [`PROGRESS_INTERVAL`].

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use record::answer::Answer;
use record::words::{Liveness, Publication};

use super::{amount, answer, safe};
use crate::limits::{PROGRESS_DEFAULT_COLUMNS, PROGRESS_INTERVAL, SILENCE_WORTH_SAYING_SECONDS};

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// One line, written over and over.
    InPlace,
    /// New lines.
    Lines,
    /// Not at all.
    Silent,
}

/// Shows progress until it is dropped, which leaves the terminal's line empty.
pub(crate) struct Progress<W: Write> {
    stream: W,
    manner: Manner,
    columns: usize,
    state: Vec<(Liveness, Publication)>,
    last: Option<Instant>,
}

impl Progress<io::Stderr> {
    /// Progress for a person; none when the command speaks JSON.
    pub(crate) fn on_stderr(json: bool) -> Self {
        let stream = io::stderr();
        let obeys = stream.is_terminal()
            && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        let manner = match (json, obeys) {
            (true, _) => Manner::Silent,
            (false, true) => Manner::InPlace,
            (false, false) => Manner::Lines,
        };
        let columns = rustix::termios::tcgetwinsize(&stream)
            .map(|size| usize::from(size.ws_col))
            .ok()
            .filter(|columns| *columns > 0)
            .unwrap_or(PROGRESS_DEFAULT_COLUMNS);
        Self::new(stream, manner, columns)
    }
}

impl<W: Write> Progress<W> {
    fn new(stream: W, manner: Manner, columns: usize) -> Self {
        Self { stream, manner, columns, state: Vec::new(), last: None }
    }

    /// Takes in how the tasks stand now. That nobody can see it is no fault.
    pub(crate) fn show(&mut self, answers: &[Answer], now: Instant) {
        let state = answers.iter().map(|answer| (answer.liveness, answer.publication)).collect();
        let changed = self.state != state;
        let due = self.last.is_none_or(|last| now.saturating_duration_since(last) >= PROGRESS_INTERVAL);
        let result = match self.manner {
            Manner::Silent => return,
            Manner::Lines if !changed && !due => return,
            // In one piece: others may write into the same pipe.
            Manner::Lines => self.stream.write_all(format!("{}\n", line(answers)).as_bytes()),
            Manner::InPlace => {
                // The last column stays free: a terminal may wrap when it is written.
                let room = self.columns.saturating_sub(1);
                let shown: String = line(answers).chars().take(room).collect();
                self.stream.write_all(format!("\r{shown}\x1b[K").as_bytes())
            }
        };
        let _ = result.and_then(|()| self.stream.flush());
        self.state = state;
        self.last = Some(now);
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        if self.manner == Manner::InPlace && self.last.is_some() {
            let _ = write!(self.stream, "\r\x1b[K").and_then(|()| self.stream.flush());
        }
    }
}

/// All tasks in one line.
fn line(answers: &[Answer]) -> String {
    match answers {
        [one] => task(one),
        many => {
            let count = |wanted: fn(&Answer) -> bool| many.iter().filter(|one| wanted(one)).count();
            let ended = count(terminal);
            let running = count(|one| !terminal(one) && one.liveness == Liveness::Running);
            let queued = count(|one| !terminal(one) && one.liveness == Liveness::Queued);
            let mut text = format!("{ended} of {} ended", many.len());
            for (number, word) in [(running, "running"), (queued, "queued")] {
                if number > 0 {
                    text.push_str(&format!(", {number} {word}"));
                }
            }
            text
        }
    }
}

fn terminal(answer: &Answer) -> bool {
    matches!(answer.publication, Publication::Committed | Publication::Rejected)
}

fn task(one: &Answer) -> String {
    let mut parts = vec![answer::state(one)];
    if let Some(activity) = one.activity.as_ref().filter(|_| !terminal(one)) {
        parts[0].push(' ');
        parts[0].push_str(&amount::seconds(activity.elapsed_seconds));
        parts.push(if activity.budget_remaining_seconds < 0.0 {
            "over budget".to_owned()
        } else {
            format!("{} left", amount::seconds(activity.budget_remaining_seconds))
        });
        parts.push(format!("{} out", amount::bytes(activity.stdout_bytes)));
        if activity.idle_seconds >= SILENCE_WORTH_SAYING_SECONDS {
            parts.push(format!("silent {}", amount::seconds(activity.idle_seconds)));
        }
        parts.push(match &activity.last_event {
            Some(event) => safe::one_line(&event.summary),
            None => activity.diagnosis.as_str().to_owned(),
        });
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use std::time::Duration;

    fn shown(manner: Manner, columns: usize, steps: &[(u64, &[Answer])]) -> String {
        let start = Instant::now();
        let mut bytes = Vec::new();
        let mut progress = Progress::new(&mut bytes, manner, columns);
        for (seconds, answers) in steps {
            progress.show(answers, start + Duration::from_secs(*seconds));
        }
        drop(progress);
        String::from_utf8(bytes).unwrap()
    }

    const RUNNING: &str = "running 42s, 29m18s left, 4.1 KiB out, running tool: \\u{1b}ls";

    #[test]
    fn a_line_at_each_change_and_each_ten_seconds() {
        let (queued, running) = ([sample::queued()], [sample::running()]);
        let steps: [(u64, &[Answer]); 6] =
            [(0, &queued), (1, &queued), (2, &running), (3, &running), (10, &running), (11, &running)];
        assert_eq!(shown(Manner::Lines, 80, &steps), format!("queued\n{RUNNING}\n"));
        let later: [(u64, &[Answer]); 2] = [(0, &running), (10, &running)];
        assert_eq!(shown(Manner::Lines, 80, &later), format!("{RUNNING}\n{RUNNING}\n"));
    }

    #[test]
    fn a_terminal_gets_one_line_no_wider_than_itself() {
        assert_eq!(
            shown(Manner::InPlace, 12, &[(0, &[sample::running()])]),
            "\rrunning 42s\u{1b}[K\r\u{1b}[K"
        );
        assert_eq!(shown(Manner::InPlace, 80, &[]), "");
    }

    #[test]
    fn json_is_not_disturbed() {
        assert_eq!(shown(Manner::Silent, 80, &[(0, &[sample::running()])]), "");
    }

    #[test]
    fn silence_and_overtime_are_said() {
        let mut answer = sample::running();
        let activity = answer.activity.as_mut().unwrap();
        activity.idle_seconds = 75.0;
        activity.budget_remaining_seconds = -3.0;
        activity.last_event = None;
        assert_eq!(line(&[answer]), "running 42s, over budget, 4.1 KiB out, silent 1m15s, tool-running");
    }

    #[test]
    fn many_tasks_are_counted() {
        let answers = [sample::running(), sample::committed(), sample::queued(), sample::cancelled()];
        assert_eq!(line(&answers), "2 of 4 ended, 1 running, 1 queued");
        assert_eq!(line(&answers[1..2]), "committed");
    }
}
