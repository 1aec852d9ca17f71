//! The task answer in words.

use record::answer::{Answer, RawFile, SupervisorState, SupervisorView};
use record::failure::{Failure, FailureCode, NextAction};
use record::outcome::Outcome;
use record::usage::Usage;
use record::words::{Admission, Launched, Liveness, Publication, StopCause};
use record::{TaskId, Timestamp};
use turn::Subject;

use super::block::Block;
use super::{amount, paint, safe, tail};
use crate::context::Place;

/// One line on how a task stands.
pub(crate) fn state(answer: &Answer) -> String {
    let outcome = answer.outcome.as_deref();
    let words = match (answer.publication, answer.liveness) {
        (Publication::Committed, _) => "committed".to_owned(),
        (Publication::Rejected, _) => match outcome {
            Some(outcome) => format!("rejected: {}", outcome.reason.code),
            None => "rejected".to_owned(),
        },
        (Publication::Pending, _) => "ended, the verdict is pending".to_owned(),
        (_, Liveness::Queued) => match answer.supervisor.as_ref().map(|view| view.state) {
            Some(SupervisorState::GaveUp) => "queued; the supervisor gave up on it".to_owned(),
            Some(SupervisorState::Running) => "queued, about to start".to_owned(),
            _ => "queued".to_owned(),
        },
        (_, Liveness::Running) => "running".to_owned(),
        (_, Liveness::Ended) => "ended".to_owned(),
        (_, Liveness::Undetermined) => match answer.admission {
            Admission::NotAdmitted => "no such task".to_owned(),
            _ => "could not be determined from here".to_owned(),
        },
    };
    let asked_to_end = answer.stop.is_some() || answer.stops.as_ref().is_some_and(|stops| !stops.is_empty());
    if asked_to_end && outcome.is_none() { format!("{words}, asked to end") } else { words }
}

/// The same, painted.
fn painted(answer: &Answer) -> String {
    let style = match (answer.publication, answer.liveness) {
        (Publication::Committed, _) => paint::GOOD,
        (Publication::Rejected, _) => paint::BAD,
        (Publication::Pending, _) | (_, Liveness::Running) => paint::LIVE,
        (_, Liveness::Undetermined) => paint::NOTABLE,
        _ => paint::FAINT,
    };
    paint::paint(style, &state(answer))
}

/// What `status` prints.
pub(crate) fn status(answer: &Answer, subject: Option<&Subject>, place: &Place) -> String {
    let mut block = Block::default();
    head(&mut block, answer, subject, place);
    if let Some(activity) = &answer.activity {
        block.line("budget", &budget(activity));
        block.line("activity", &doing(activity));
    }
    if let Some(outcome) = answer.outcome.as_deref() {
        ending(&mut block, answer, outcome, place);
    }
    if let Some(id) = answer.task_id
        && answer.admission == Admission::Admitted
    {
        block.line("evidence", &place.task_directory(id));
        if answer.outcome.is_none() && answer.failure.is_none() {
            block.line("next", &follow(answer, id, place));
        }
    }
    block.into_text()
}

/// What `dispatch` prints when nobody waits.
pub(crate) fn dispatched(answer: &Answer, place: &Place) -> String {
    let mut block = Block::default();
    head(&mut block, answer, None, place);
    if let Some(id) = answer.task_id
        && answer.admission == Admission::Admitted
    {
        if answer.outcome.is_some() {
            block.line("outcome", &place.command(&format!("collect {id}")));
        } else {
            block.line("wait", &place.command(&format!("wait {id}")));
            block.line("look", &place.command(&format!("status {id}")));
            block.line("stop", &place.command(&format!("cancel {id}")));
        }
    }
    block.into_text()
}

/// What `collect` prints.
pub(crate) fn collected(answer: &Answer, subject: Option<&Subject>, place: &Place) -> String {
    let (Some(outcome), Some(id)) = (answer.outcome.as_deref(), answer.task_id) else {
        return status(answer, subject, place);
    };
    let mut block = Block::default();
    head(&mut block, answer, subject, place);
    let payload = &outcome.payload;
    let label = match answer.publication {
        Publication::Committed => "answer",
        _ => "refusal",
    };
    block.line(label, &place.task_file(id, &payload.basename));
    block.line("length", &amount::of(payload.length, "byte", "bytes"));
    block.line("sha256", &payload.sha256.to_string());
    reason(&mut block, outcome, place);
    block.into_text()
}

/// What `wait` prints: a line for each task.
pub(crate) fn waited(answers: &[Answer], place: &Place) -> String {
    let mut text = String::new();
    for answer in answers {
        let id = answer.task_id.map(|id| id.to_string());
        let mut line = format!("{}  {}", id.unwrap_or_default(), painted(answer));
        if let (Some(outcome), Some(id), false) = (answer.outcome.as_deref(), answer.task_id, answer.pruned) {
            line.push_str("  ");
            line.push_str(&place.task_file(id, &outcome.payload.basename));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// What `logs` prints: each raw file with its last lines.
pub(crate) fn logs(answer: &Answer) -> String {
    let files = answer.raw.as_deref().unwrap_or_default();
    if answer.pruned {
        return "The raw output was removed by prune.\n".to_owned();
    }
    if files.is_empty() {
        return "There is no raw output yet.\n".to_owned();
    }
    files.iter().map(raw_file).collect::<Vec<_>>().join("\n")
}

fn raw_file(file: &RawFile) -> String {
    let path = safe::one_line(&file.path);
    if !file.available {
        return format!("{path}: not there\n");
    }
    let mut facts = Vec::new();
    if let Some(size) = file.size {
        facts.push(amount::bytes(size));
    }
    match (file.sealed, file.sha256) {
        (true, Some(digest)) => facts.push(format!("sealed, sha256 {digest}")),
        (false, Some(digest)) => facts.push(format!("not what was sealed, sha256 {digest}")),
        (_, None) => facts.push("still open".to_owned()),
    }
    let mut text = format!("{path}: {}\n", facts.join(", "));
    match tail::of_file(file.path.as_ref()) {
        Ok((lines, cut)) => {
            if cut {
                text.push_str("    ...\n");
            }
            for line in lines.lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
        Err(fault) => text.push_str(&format!("    can not be read: {fault}\n")),
    }
    text
}

fn head(block: &mut Block, answer: &Answer, subject: Option<&Subject>, place: &Place) {
    if let Some(id) = answer.task_id {
        block.line("task", &id.to_string());
    }
    if let Some(subject) = subject {
        block.line("work", &work(subject));
        block.line("admitted", &relative(subject.admitted_at, place.now()));
    }
    block.line("state", &painted(answer));
    if let Some(job) = answer.supervisor.as_ref().and_then(job) {
        block.line("job", &job);
    }
}

/// Where the job of a queue stands, when the queue says more than that it is there.
fn job(view: &SupervisorView) -> Option<String> {
    let number = view.numeric_task_id?;
    let mut text = format!("{number} of {}", view.kind);
    if let Some(node) = &view.node {
        text.push_str(&format!(", on {}", safe::one_line(node)));
    }
    if let Some(reason) = &view.reason {
        text.push_str(&format!(", {}", safe::one_line(reason)));
    }
    Some(text)
}

fn work(subject: &Subject) -> String {
    format!(
        "{} in {}, {}, budget {}",
        subject.provider,
        safe::one_line(subject.workspace.as_str()),
        subject.permission,
        amount::seconds(subject.budget.duration().as_secs_f64()),
    )
}

fn ending(block: &mut Block, answer: &Answer, outcome: &Outcome, place: &Place) {
    let payload = &outcome.payload;
    if answer.pruned {
        block.line("pruned", "the answer and the raw output were removed by prune");
    } else if let Some(id) = answer.task_id {
        let label = match answer.publication {
            Publication::Committed => "answer",
            _ => "refusal",
        };
        let value = format!(
            "{}\n{}, sha256 {}",
            place.task_file(id, &payload.basename),
            amount::bytes(payload.length),
            payload.sha256,
        );
        block.line(label, &value);
    }
    reason(block, outcome, place);
    let usage: Vec<String> = outcome.usage.iter().filter_map(used).collect();
    if !usage.is_empty() {
        block.line("usage", &usage.join("\n"));
    }
    if let Some(session) = &outcome.session {
        let resumable = if session.resumable { "can be continued" } else { "can not be continued" };
        let id = safe::one_line(&session.conversation_id);
        block.line("session", &format!("{id}, {resumable}"));
    }
    if let Some(count) = outcome.leaked_processes.filter(|count| *count > 0) {
        let processes = amount::of(count.into(), "process", "processes");
        block.line("swept", &format!("{processes} left behind by the turn"));
    }
    if outcome.git_control_changed == Some(true) {
        block.line(
            "git",
            "settings or hooks of the workspace's repository were changed: look before you run git there",
        );
    }
    if !outcome.notes.is_empty() {
        let notes: Vec<&str> = outcome.notes.iter().map(|note| note.as_str()).collect();
        block.line("notes", &notes.join(", "));
    }
}

/// Why the outcome is what it is, as far as that is not plain from the state.
fn reason(block: &mut Block, outcome: &Outcome, place: &Place) {
    if let Some(message) = &outcome.reason.message {
        block.line("reason", &safe::one_line(message));
    }
    if let Some(at) = outcome.reason.retry_at {
        block.line("retry at", &relative(at, place.now()));
    }
    if outcome.stop != StopCause::None {
        block.line("stopped by", outcome.stop.as_str());
    }
    if outcome.launched != Launched::Yes {
        block.line("launched", outcome.launched.as_str());
    }
}

fn used(usage: &Usage) -> Option<String> {
    let counts = [
        (usage.input_tokens, "tokens in"),
        (usage.output_tokens, "tokens out"),
        (usage.thinking_tokens, "for thinking"),
        (usage.cache_read_tokens, "from cache"),
        (usage.total_tokens, "tokens in all"),
    ];
    let mut parts: Vec<String> =
        counts.into_iter().filter_map(|(count, noun)| count.map(|count| format!("{count} {noun}"))).collect();
    if let Some(cost) = &usage.estimated_cost_usd {
        parts.push(format!("about {} USD", safe::one_line(cost)));
    }
    if parts.is_empty() {
        return None;
    }
    Some(format!("{} ({})", parts.join(", "), usage.scope))
}

fn budget(activity: &record::activity::Activity) -> String {
    let used = amount::seconds(activity.elapsed_seconds);
    if activity.budget_remaining_seconds < 0.0 {
        let over = amount::seconds(-activity.budget_remaining_seconds);
        format!("{used} used, {over} over")
    } else {
        let left = amount::seconds(activity.budget_remaining_seconds);
        format!("{used} used, {left} left")
    }
}

fn doing(activity: &record::activity::Activity) -> String {
    let mut parts = vec![activity.diagnosis.as_str().to_owned()];
    if let Some(event) = &activity.last_event {
        let age = amount::seconds(event.age_seconds);
        parts.push(format!("{} ({age} ago)", safe::one_line(&event.summary)));
    }
    parts.push(format!("{} out", amount::bytes(activity.stdout_bytes)));
    if activity.stderr_bytes > 0 {
        let bytes = amount::bytes(activity.stderr_bytes);
        parts.push(format!("{bytes} of error output"));
    }
    parts.push(format!("silent {}", amount::seconds(activity.idle_seconds)));
    if let Some(count) = activity.descendants {
        parts.push(amount::of(count.into(), "child process", "child processes"));
    }
    if let Some(seconds) = activity.cpu_seconds {
        parts.push(format!("{} of processor time", amount::seconds(seconds)));
    }
    parts.join(", ")
}

fn follow(answer: &Answer, id: TaskId, place: &Place) -> String {
    match answer.next_action {
        Some(NextAction::DispatchAgain) => {
            "dispatch it again with the same id and the same request".to_owned()
        }
        _ => place.command(&format!("wait {id}")),
    }
}

/// What to do after a failure, in words.
pub(crate) fn hint(answer: &Answer, failure: Failure) -> &'static str {
    let session = answer.outcome.as_deref().and_then(|outcome| outcome.session.as_ref());
    match failure.code {
        FailureCode::TaskNotFound => "see what is there with `delegate list`; --root names another root",
        FailureCode::StateRootUnavailable => {
            "the first dispatch makes the root; --root and DELEGATE_ROOT name another one"
        }
        FailureCode::UnsupportedRoot => "name another directory with --root or DELEGATE_ROOT",
        FailureCode::ProviderUnavailable => {
            "see who is there with `delegate providers` and `delegate doctor`"
        }
        FailureCode::EvidenceDamaged => "see everything that is wrong with `delegate doctor`",
        FailureCode::ProviderPreflightFailed => {
            "another version of the program may have what is missing; `delegate preflight` asks it again"
        }
        FailureCode::ContentPruned if session.is_none_or(|session| !session.resumable) => {
            "see what is left with `delegate status`; for another answer, dispatch a new task"
        }
        FailureCode::ContentPruned => {
            "see what is left with `delegate status`; `delegate continue` goes on with it when given a --brief"
        }
        FailureCode::CursorExpired => "the journal was made again: begin without --since",
        FailureCode::TaskRequestConflict => {
            "choose another --id, or repeat the request that this one belongs to"
        }
        _ => advice(failure.next_action),
    }
}

const fn advice(action: NextAction) -> &'static str {
    match action {
        NextAction::CorrectRequest => "correct the request and try again",
        NextAction::CheckStatus => "look at the task with `delegate status` first",
        NextAction::DispatchAgain => "dispatch the same request with the same id again",
        NextAction::WaitUntil => "wait until the time given, then try again",
        NextAction::SignIn => "sign in with the provider's own program, then try again",
        NextAction::StopAndReport => "stop here; a person should look at this",
    }
}

/// A moment, and how far it is from now.
fn relative(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.nanoseconds_since(time) as f64 / 1e9;
    let words = if seconds < 0.0 {
        format!("in {}", amount::seconds(-seconds))
    } else {
        format!("{} ago", amount::seconds(seconds))
    };
    format!("{} ({words})", moment(time))
}

/// A time to the second.
fn moment(time: Timestamp) -> String {
    let text = time.to_string();
    let (seconds, _) = text.split_once('.').unwrap_or((&text, ""));
    format!("{} UTC", seconds.replace('T', " "))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
