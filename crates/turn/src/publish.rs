//! Judges sealed evidence and publishes the outcome: a pure function of the seal and the sealed bytes, so that judging again
//! gives the same bytes (STATE.md 3.8).

use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use provider::{Evidence, Finding, Judge, Judgement};
use record::TaskId;
use record::answer::truncated;
use record::digest::DigestReader;
use record::event::EventKind;
use record::json::Record;
use record::launch::Session;
use record::limits::REFUSAL_MAX_BYTES;
use record::outcome::{Artifact, Note, Outcome, OutcomeSession, Reason};
use record::plan::{Plan, Predicate};
use record::request::{PriorSession, Request};
use record::seal::{InvocationState, ManifestEntry, Seal};
use record::usage::UsageReliability;
use record::words::{ContinuationMode, ReasonCode, Verdict};
use store::{Created, Loaded, ResultDraft, Root, RunLock, StoreError, Task};

use crate::evidence::unless_damaged;
use crate::monitor::record_session;
use crate::runner::journal;
use crate::verdict::{sentence, verdict};
use crate::{containment, fence, points};

/// What publishing works on.
pub(crate) struct Publishing<'a> {
    pub(crate) root: &'a Root,
    pub(crate) task: &'a Task,
    pub(crate) lock: &'a RunLock,
    pub(crate) request: &'a Loaded<Request>,
    pub(crate) plan: &'a Loaded<Plan>,
    pub(crate) seal: &'a Loaded<Seal>,
}

/// What the judge found, before precedence.
struct Judged<'a> {
    judgement: Judgement,
    /// The answer, as far as it was written; an error when there was no space for it.
    draft: Result<Option<ResultDraft<'a>>, StoreError>,
    predicate: Predicate,
    /// Whether every sealed file was what was sealed.
    is_intact: bool,
}

/// Publishes the outcome of a sealed task and tidies up after it.
///
/// # Errors
/// Those of the store; publishing again is harmless.
pub(crate) fn publish(publishing: &Publishing<'_>) -> Result<Outcome, StoreError> {
    let Publishing { root, task, lock, .. } = publishing;
    commit(root, task, lock, || {
        cut_to_the_seal(publishing.task, publishing.lock, &publishing.seal.record)?;
        judge(publishing)
    })
}

/// Commits the outcome that `decide` answers, unless there is one, and tidies up after the task.
///
/// # Errors
/// Those of the store.
pub(crate) fn commit(
    root: &Root,
    task: &Task,
    lock: &RunLock,
    decide: impl FnOnce() -> Result<Outcome, StoreError>,
) -> Result<Outcome, StoreError> {
    let outcome = match task.read::<Outcome>()? {
        Some(existing) => existing.record,
        None => {
            let outcome = decide()?;
            let outcome = match task.create_reserved(lock, &outcome)? {
                Created::New(_) => outcome,
                Created::Exists(existing) => existing.record,
            };
            points::reached(points::OUTCOME);
            journal(root, task, EventKind::Published, Some(outcome.reason.code.as_str().to_owned()));
            outcome
        }
    };
    tidy(root, task, lock);
    Ok(outcome)
}

/// Cuts off what a stream has beyond what was sealed of it. Only after the seal, which says so: a runner lost in between would
/// leave a file that does not tell why it ends where it ends.
///
/// # Errors
/// Those of the store.
pub(crate) fn cut_to_the_seal(task: &Task, lock: &RunLock, seal: &Seal) -> Result<(), StoreError> {
    for entry in seal.manifest.iter().filter(|entry| entry.cut_from.is_some()) {
        let name = entry.path.strip_prefix("raw/").unwrap_or(&entry.path);
        match task.cut_raw(lock, name, entry.size) {
            // What is missing is found missing when it is judged.
            Ok(()) | Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes what a terminal task no longer needs. Failures are harmless: anybody may try again.
pub(crate) fn tidy(root: &Root, task: &Task, lock: &RunLock) {
    containment::remove_of_task(task);
    fence::remove_of_task(task);
    // The marker goes last: it is what brings somebody here again.
    let _ = task.remove_reserve(lock);
    let _ = root.remove_open_marker(task.id());
    points::reached(points::CLOSED);
}

fn judge(publishing: &Publishing<'_>) -> Result<Outcome, StoreError> {
    let Publishing { root, task, lock, request, plan, seal } = publishing;
    let Judged { mut judgement, draft, predicate, is_intact } = examine(publishing)?;
    let recorded = match (unless_damaged(task.read::<Session>())?.0, &judgement.session) {
        (None, Some(seen)) => {
            record_session(root, task, request, plan, seen);
            unless_damaged(task.read::<Session>())?.0
        }
        (recorded, _) => recorded,
    };
    if let (Some(recorded), Some(seen)) = (&recorded, &judgement.session)
        && recorded.record.conversation_id != *seen
    {
        judgement.finding = Finding::Defect {
            code: ReasonCode::IdentityMismatch,
            message: "the conversation at the end is not the one at the start".to_owned(),
        };
    }
    points::reached(points::JUDGED);
    let (verdict, reason) = verdict(&seal.record, judgement.finding, is_intact);
    let payload = match verdict {
        Verdict::Committed => match draft? {
            Some(draft) => draft.commit()?,
            None => unreachable!("a success was read into a draft"),
        },
        Verdict::Rejected => task.write_refusal(lock, refusal(&reason).as_bytes())?,
    };
    points::reached(points::PAYLOAD);
    let mut notes = judgement.notes;
    if verdict == Verdict::Committed && seal.record.invocation.exit_code.is_some_and(|code| code != 0) {
        notes.push(Note::ExitCodeNotZero);
    }
    if seal.record.manifest.iter().any(|entry| entry.rewritten) {
        notes.push(Note::StreamRewritten);
    }
    notes.sort();
    notes.dedup();
    let reliability =
        if verdict == Verdict::Committed { UsageReliability::Reported } else { UsageReliability::Unreliable };
    for usage in &mut judgement.usage {
        usage.reliability = reliability;
    }
    Ok(Outcome {
        schema_version: Outcome::SCHEMA_VERSION,
        root_id: root.id(),
        task_id: task.id(),
        request_sha256: request.sha256,
        plan_sha256: plan.sha256,
        verdict,
        reason,
        launched: seal.record.launched,
        stop: seal.record.stop,
        evidence_sha256: seal.sha256,
        predicate,
        payload,
        artifacts: artifacts(&seal.record),
        session: recorded.map(|session| outcome_session(&request.record, session.record)),
        usage: judgement.usage,
        recovered: seal.record.recovered,
        containment: seal.record.containment,
        fence: seal.record.fence,
        leaked_processes: seal.record.leaked_processes,
        git_control_changed: seal.record.git_control_changed,
        notes,
    })
}

fn artifacts(seal: &Seal) -> Vec<Artifact> {
    seal.manifest
        .iter()
        .filter(|entry| !matches!(entry.path.as_str(), "raw/stdout" | "raw/stderr"))
        .map(|entry| Artifact { path: entry.path.clone(), size: entry.size, sha256: entry.sha256 })
        .collect()
}

fn outcome_session(request: &Request, session: Session) -> OutcomeSession {
    let continuation = provider::catalogue()
        .get(&session.provider)
        .map_or(ContinuationMode::Unsupported, |profile| profile.description().continuation);
    let resumable = continuation == ContinuationMode::Native;
    OutcomeSession {
        provider: session.provider,
        conversation_id: session.conversation_id,
        after: request.prior_session.iter().flat_map(before).collect(),
        resumable,
        why_not: (!resumable).then(|| "the provider continues no conversation".to_owned()),
    }
}

/// The tasks that came before in the conversation.
fn before(prior: &PriorSession) -> impl Iterator<Item = TaskId> {
    std::iter::once(prior.predecessor_task_id).chain(prior.later_task_ids.iter().copied())
}

/// Finds the judge, lets it read, and checks on the way that what it read is what was sealed.
fn examine<'a>(publishing: &Publishing<'a>) -> Result<Judged<'a>, StoreError> {
    let Publishing { task, lock, plan, seal, .. } = publishing;
    let wanted = &plan.record.launch.predicate;
    let without_reading = |finding| Judged {
        judgement: Judgement { finding, session: None, usage: Vec::new(), notes: Vec::new() },
        draft: Ok(None),
        predicate: wanted.clone(),
        is_intact: true,
    };
    if let (InvocationState::NotStarted, Some(code)) =
        (seal.record.invocation.state, seal.record.invocation.reason)
    {
        let message = seal.record.invocation.message.clone();
        return Ok(without_reading(Finding::ProviderError { code, message, retry_at: None }));
    }
    let Some((judge, predicate)) = judge_for(wanted) else {
        let message = "this program does not know the provider of the task".to_owned();
        return Ok(without_reading(Finding::Defect { code: ReasonCode::JudgeUnavailable, message }));
    };
    // Without space for an answer a refusal can still be written: its space was set aside.
    let mut draft = match task.draft_result(lock) {
        Ok(draft) => Ok(Some(draft)),
        Err(error @ StoreError::Full { .. }) => Err(error),
        Err(error) => return Err(error),
    };
    let mut nowhere = io::sink();
    let answer: &mut dyn io::Write = match &mut draft {
        Ok(Some(draft)) => draft,
        _ => &mut nowhere,
    };
    let read = catch_unwind(AssertUnwindSafe(|| read_evidence(publishing, judge, answer)));
    let (mut judgement, is_intact) = match read {
        Ok(Ok(Some(judgement))) => (judgement, true),
        Ok(Ok(None)) => (without_reading(Finding::Success).judgement, false),
        Ok(Err(error)) => return Err(error),
        Err(_) => {
            let message = "the judge could not cope with the output".to_owned();
            let finding = Finding::Defect { code: ReasonCode::InvalidOutput, message };
            (without_reading(finding).judgement, true)
        }
    };
    if predicate != *wanted {
        judgement.notes.push(Note::NewerJudge);
    }
    Ok(Judged { judgement, draft, predicate, is_intact })
}

/// The judge that the plan names, else the newest of the profile (STATE.md 3.8).
fn judge_for(wanted: &Predicate) -> Option<(&'static dyn Judge, Predicate)> {
    if let Some(judge) = provider::catalogue().judge(wanted) {
        return Some((judge, wanted.clone()));
    }
    let newest = *provider::catalogue().get(&wanted.profile)?.judges().last()?;
    Some((newest, newest.predicate(&wanted.profile, wanted.mode)))
}

/// The judgement over the sealed bytes; `None` when a sealed file is not what was sealed.
fn read_evidence(
    publishing: &Publishing<'_>,
    judge: &dyn Judge,
    answer: &mut dyn io::Write,
) -> Result<Option<Judgement>, StoreError> {
    let Publishing { task, request, plan, seal, .. } = publishing;
    let manifest = &seal.record.manifest;
    // What another kind of file took the place of is as gone as a missing one: trying again would not bring it back.
    let open = |entry: &ManifestEntry| -> Result<Option<File>, StoreError> {
        match task.open_raw(entry.path.strip_prefix("raw/").unwrap_or(&entry.path)) {
            Err(StoreError::Damaged { .. }) => Ok(None),
            opened => opened,
        }
    };
    let sealed = |name: &str| manifest.iter().find(|entry| entry.path.strip_prefix("raw/") == Some(name));
    // Artifacts are small beside the streams and are checked first; the streams are checked while the judge reads them.
    for entry in manifest.iter().filter(|entry| !matches!(entry.path.as_str(), "raw/stdout" | "raw/stderr")) {
        let Some(file) = open(entry)? else { return Ok(None) };
        if !matches(entry, DigestReader::new(file)) {
            return Ok(None);
        }
    }
    let stream = |name: &str| -> Result<Option<DigestReader<Box<dyn Read>>>, StoreError> {
        Ok(match sealed(name) {
            None => Some(DigestReader::new(Box::new(io::empty()))),
            Some(entry) => open(entry)?.map(|file| DigestReader::new(Box::new(file) as Box<dyn Read>)),
        })
    };
    let (Some(mut stdout), Some(mut stderr)) = (stream("stdout")?, stream("stderr")?) else {
        return Ok(None);
    };
    let mut artifact = |name: &str| -> io::Result<Option<Box<dyn Read>>> {
        match sealed(name) {
            None => Ok(None),
            Some(entry) => {
                Ok(open(entry).map_err(io::Error::other)?.map(|file| Box::new(file) as Box<dyn Read>))
            }
        }
    };
    let prior = request.record.prior_session.as_ref().map(|prior| prior.conversation_id.as_str());
    let evidence = Evidence {
        stdout: &mut stdout,
        stderr: &mut stderr,
        artifact: &mut artifact,
        expected_session: prior.or(plan.record.launch.new_conversation.as_deref()),
        requested_model: request.record.requested_config.model.as_deref(),
        cut: manifest.iter().any(|entry| entry.rewritten || entry.cut_from.is_some()),
        exit_code: seal.record.invocation.exit_code,
    };
    let judgement = judge
        .judge(evidence, answer)
        .map_err(|source| StoreError::Io { path: task.path().join("raw"), source })?;
    let intact = |name: &str, reader| sealed(name).is_none_or(|entry| matches(entry, reader));
    Ok((intact("stdout", stdout) && intact("stderr", stderr)).then_some(judgement))
}

fn matches(entry: &ManifestEntry, reader: DigestReader<impl Read>) -> bool {
    reader.finish().is_ok_and(|(sha256, length)| sha256 == entry.sha256 && length == entry.size)
}

/// The text of `refusal.txt`: the code, one sentence, and the provider's own message.
pub(crate) fn refusal(reason: &Reason) -> String {
    let mut text = format!("{}\n{}\n", reason.code, sentence(reason.code));
    if let Some(message) = &reason.message {
        text.push('\n');
        text.push_str(message);
        text.push('\n');
    }
    truncated(&text, REFUSAL_MAX_BYTES)
}
