//! `list`: the newest tasks, at a cost that does not grow with their number (STATE.md 9). Ids come from the end of the journal
//! and from `open/`, states from the records. A filter which matches rarely reads the journal until enough are found or it
//! ends, unless `since` ends it before. Starts nothing.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use memchr::memmem::Finder;
use record::event::{Event, EventKind};
use record::failure::Stage;
use record::history::{ListedTask, Listing, TaskState};
use record::outcome::Outcome;
use record::request::Request;
use record::seal::Seal;
use record::submission::Submission;
use record::words::{Liveness, ReasonCode, Verdict};
use record::{ProfileId, Span, TaskId, Timestamp};
use store::{JournalBackwards, Root, StoreError, Task};

use crate::context::{Context, now};
use crate::error::{At, TurnError};
use crate::limits::CLOCK_TOLERANCE;
use crate::observe;

/// Which tasks `list` is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListInput {
    /// Only tasks that stand so.
    pub state: Option<TaskState>,
    /// Only tasks of this profile.
    pub provider: Option<ProfileId>,
    /// Only tasks that were admitted at most so long ago.
    pub since: Option<Span>,
    /// At most so many.
    pub limit: usize,
}

/// The newest tasks, the order being that of admission. A root that is not there yet holds none.
///
/// An event that nobody could append is missing in the journal until it is made again, and so is its task here, unless it is
/// open.
pub fn list(context: &Context, input: &ListInput) -> Listing {
    let mut listing = Listing {
        schema_version: 1,
        command: "list".to_owned(),
        root_id: None,
        tasks: None,
        truncated: None,
        cursor: None,
        failure: None,
        error: None,
    };
    let root = match Root::open(&context.root) {
        Ok(root) => root,
        Err(StoreError::NotFound { .. }) => {
            return Listing { tasks: Some(Vec::new()), truncated: Some(false), ..listing };
        }
        Err(error) => return failed(listing, Err::<(), _>(error).at(Stage::OpenState).unwrap_err()),
    };
    listing.root_id = Some(root.id());
    let mut search = Search::new(&root, input);
    match search.find() {
        Ok(()) => Listing {
            truncated: Some(search.found.len() > input.limit),
            tasks: Some(search.newest()),
            cursor: search.end.map(|end| end.to_string()),
            ..listing
        },
        Err(error) => failed(listing, error),
    }
}

fn failed(listing: Listing, error: TurnError) -> Listing {
    let answer = error.into_answer(record::answer::Answer::new("list"));
    Listing { failure: answer.failure, error: answer.error, ..listing }
}

struct Search<'a> {
    root: &'a Root,
    input: &'a ListInput,
    began: Timestamp,
    /// Everything that was decided about, whether it is wanted or not.
    seen: HashSet<TaskId>,
    found: Vec<ListedTask>,
    end: Option<store::Cursor>,
}

impl<'a> Search<'a> {
    fn new(root: &'a Root, input: &'a ListInput) -> Self {
        Self { root, input, began: now(), seen: HashSet::new(), found: Vec::new(), end: None }
    }

    fn find(&mut self) -> Result<(), TurnError> {
        // Before anything else is looked at: what is missed here comes behind this place.
        let journal = self.root.journal().read_backwards().at(Stage::ObserveTask)?;
        self.end = journal.as_ref().map(JournalBackwards::end);
        let open = self.root.open_tasks().at(Stage::ObserveTask)?;
        let has_ended = |state| matches!(state, TaskState::Committed | TaskState::Rejected);
        let whole = match journal {
            Some(journal) if self.input.state.is_none_or(has_ended) => self.walk(journal)?,
            // What has not ended has a marker, so that the journal can tell of nothing more.
            _ => true,
        };
        self.take_open(open, whole)
    }

    /// Takes tasks from the end of the journal until there are enough; answers whether it was read to its beginning.
    fn walk(&mut self, mut journal: JournalBackwards) -> Result<bool, TurnError> {
        let mut reasons = HashMap::new();
        let lines = Lines::of(self.input);
        while let Some(event) = journal.next_of(|line| lines.may_matter(line)).at(Stage::ObserveTask)? {
            match event.event {
                EventKind::Published => {
                    reasons.insert(event.task_id, event.detail);
                }
                EventKind::Admitted => {
                    // A clock that was set makes the order of times differ a little from that of the lines.
                    if self.is_older(event.at, CLOCK_TOLERANCE) {
                        return Ok(true);
                    }
                    let reason = reasons.remove(&event.task_id).flatten();
                    self.take_admitted(&event, reason.as_deref());
                    if self.found.len() > self.input.limit {
                        return Ok(false);
                    }
                }
                _ => {}
            }
        }
        Ok(true)
    }

    /// Takes the task of an event, unless the journal alone says that it is not wanted.
    fn take_admitted(&mut self, event: &Event, reason: Option<&str>) {
        if !self.seen.insert(event.task_id) {
            return;
        }
        let provider = event.detail.as_deref().and_then(|word| word.parse::<ProfileId>().ok());
        if let (Some(wanted), Some(found)) = (&self.input.provider, &provider)
            && wanted != found
        {
            return;
        }
        if let (Some(wanted), Some(reason)) = (self.input.state, reason)
            && (wanted == TaskState::Committed) != (reason == ReasonCode::Completed.as_str())
        {
            return;
        }
        self.take(event.task_id, Some((provider, event.at)));
    }

    /// Takes open tasks of which the journal said nothing: all, when it was read to its beginning, else those that are newer
    /// than what was found.
    fn take_open(&mut self, open: Vec<TaskId>, whole: bool) -> Result<(), TurnError> {
        let oldest = self.found.iter().map(|task| task.admitted_at).min().filter(|_| !whole);
        let mut missing = Vec::new();
        for id in open.into_iter().filter(|id| !self.seen.contains(id)) {
            if let Some(age) = self.root.open_marker_age(id).at(Stage::ObserveTask)? {
                missing.push((age, id));
            }
        }
        missing.sort_unstable();
        let enough = self.found.len() + self.input.limit;
        for (age, id) in missing {
            let made_before = |moment: Timestamp| {
                self.began.nanoseconds_since(moment) < age.as_nanos().try_into().unwrap_or(i128::MAX)
            };
            if oldest.is_some_and(made_before) || self.found.len() > enough {
                break;
            }
            self.take(id, None);
        }
        Ok(())
    }

    /// Takes a task if it is wanted. `told` is what its admission said of it.
    fn take(&mut self, id: TaskId, told: Option<(Option<ProfileId>, Timestamp)>) {
        let Some(listed) = look(self.root, id, told) else { return };
        let input = self.input;
        if input.state.is_none_or(|state| state == listed.state)
            && input.provider.as_ref().is_none_or(|provider| *provider == listed.provider)
            && !self.is_older(listed.admitted_at, Duration::ZERO)
        {
            self.found.push(listed);
        }
    }

    /// Whether a moment lies before everything that is wanted, by more than `tolerance`.
    fn is_older(&self, moment: Timestamp, tolerance: Duration) -> bool {
        self.input.since.is_some_and(|since| {
            let most = since.duration().saturating_add(tolerance).as_nanos();
            self.began.nanoseconds_since(moment) > most.try_into().unwrap_or(i128::MAX)
        })
    }

    fn newest(&mut self) -> Vec<ListedTask> {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|task| std::cmp::Reverse((task.admitted_at, task.task_id)));
        found.truncate(self.input.limit);
        found
    }
}

/// Which lines of the journal may matter; the others are passed over without being decoded.
struct Lines {
    admitted: Finder<'static>,
    /// Where it matters how tasks ended.
    published: Option<Finder<'static>>,
}

impl Lines {
    fn of(input: &ListInput) -> Self {
        let finder = |kind: EventKind| Finder::new(&format!("\"event\":\"{kind}\"")).into_owned();
        Self {
            admitted: finder(EventKind::Admitted),
            published: input.state.map(|_| finder(EventKind::Published)),
        }
    }

    fn may_matter(&self, line: &[u8]) -> bool {
        let has = |finder: &Finder<'_>| finder.find(line).is_some();
        has(&self.admitted) || self.published.as_ref().is_some_and(has)
    }
}

/// How a task stands; `None` when there is none, or nothing can be read of it and nothing was told.
fn look(root: &Root, id: TaskId, told: Option<(Option<ProfileId>, Timestamp)>) -> Option<ListedTask> {
    let (told_provider, told_at) = told.map_or((None, None), |(provider, at)| (provider, Some(at)));
    let task = match root.task(id) {
        Ok(task) => Some(task?),
        Err(_) => None,
    };
    let task = task.as_ref();
    let admitted_at = task
        .and_then(|task| task.read::<Submission>().ok()?)
        .map(|submission| submission.record.admitted_at)
        .or(told_at)?;
    let request = || task.and_then(|task| task.read::<Request>().ok()?);
    let provider = told_provider.or_else(|| Some(request()?.record.provider))?;
    let (state, reason, ended_at) =
        task.and_then(|task| ending(task).ok()).unwrap_or((TaskState::Undetermined, None, None));
    Some(ListedTask { task_id: id, provider, state, admitted_at, ended_at, reason })
}

/// State, reason and end of a task.
fn ending(task: &Task) -> Result<(TaskState, Option<ReasonCode>, Option<Timestamp>), TurnError> {
    let sealed_at = || task.read::<Seal>().ok().flatten().map(|seal| seal.record.sealed_at);
    if let Some(outcome) = task.read::<Outcome>().at(Stage::ObserveTask)? {
        let state = match outcome.record.verdict {
            Verdict::Committed => TaskState::Committed,
            Verdict::Rejected => TaskState::Rejected,
        };
        return Ok((state, Some(outcome.record.reason.code), sealed_at()));
    }
    Ok(match observe::liveness(task)? {
        Liveness::Queued => (TaskState::Queued, None, None),
        Liveness::Running => (TaskState::Running, None, None),
        Liveness::Ended => (TaskState::Pending, None, sealed_at()),
        Liveness::Undetermined => (TaskState::Undetermined, None, None),
    })
}
