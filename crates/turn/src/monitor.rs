//! Watches a running provider until it has ended, and stops it when it must be stopped (STATE.md 3.5).

use std::time::{Duration, Instant};

use process::{Ending, TerminationSignals};
use provider::Summariser;
use record::json::Record;
use record::launch::Session;
use record::limits::CONVERSATION_ID_MAX_BYTES;
use record::plan::Plan;
use record::request::Request;
use record::words::StopCause;
use store::{Loaded, Root, StoreError, Task};

use crate::context::now;
use crate::evidence::Ended;
use crate::launch::{Launched, StreamReader};
use crate::limits::{
    FINAL_GRACE, FINAL_GRACE_MAX, FREE_SPACE_FLOOR_BYTES, LOOK_MAX_BYTES, TERMINATION_GRACE,
    TERMINATION_GRACE_OF_A_FLOOD, TICK_WHILE_GROWING, TICK_WHILE_IDLE,
};
use crate::{points, stop, streams};

/// What the monitor works on.
pub(crate) struct Monitor<'a> {
    root: &'a Root,
    task: &'a Task,
    request: &'a Loaded<Request>,
    plan: &'a Loaded<Plan>,
    signals: &'a TerminationSignals,
    summariser: Box<dyn Summariser>,
    stdout: Option<StreamReader>,
    session_known: bool,
    rewritten: bool,
    final_since: Option<Instant>,
    last_event: (u64, Instant),
}

/// One look at the streams.
struct Look {
    grew: bool,
    /// There is more to read than one look takes.
    is_behind: bool,
    stdout_bytes: u64,
    stderr_bytes: u64,
}

impl<'a> Monitor<'a> {
    /// A monitor that has read nothing yet.
    ///
    /// # Errors
    /// The raw streams can not be opened.
    pub(crate) fn new(
        root: &'a Root,
        task: &'a Task,
        request: &'a Loaded<Request>,
        plan: &'a Loaded<Plan>,
        signals: &'a TerminationSignals,
        summariser: Box<dyn Summariser>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            root,
            task,
            request,
            plan,
            signals,
            summariser,
            // One that can not be opened is found damaged when it is sealed.
            stdout: task.open_raw("stdout").ok().flatten().map(StreamReader::new),
            session_known: !matches!(task.read::<Session>(), Ok(None)),
            rewritten: false,
            final_since: None,
            last_event: (0, Instant::now()),
        })
    }

    /// Watches until nothing of the turn runs any more.
    pub(crate) fn watch(mut self, mut launched: Launched) -> Ended {
        points::reached(points::GONE);
        let (ending, cause) = loop {
            let look = self.look();
            let tick = match (look.is_behind, look.grew) {
                (true, _) => Duration::ZERO,
                (false, true) => TICK_WHILE_GROWING,
                (false, false) => TICK_WHILE_IDLE,
            };
            if let Some(cause) = self.cause_to_stop(&launched, &look) {
                break (self.stop(&mut launched, cause), cause);
            }
            let left = self.time_left(&launched);
            match launched.child.wait(tick.min(left), &[self.signals.fd()]) {
                Ok(Some(ending)) => break (Some(ending), StopCause::None),
                Ok(None) => {}
                Err(_) => break (self.stop(&mut launched, StopCause::Supervisor), StopCause::Supervisor),
            }
        };
        let ending = ending
            .or_else(|| launched.child.wait(Duration::ZERO, &[]).ok().flatten())
            .unwrap_or(Ending::Ended);
        let cause = match cause {
            // A supervisor may tell everybody at once, and the provider may be the faster one to obey.
            StopCause::None if self.signals.take().is_some() => {
                if stop::is_requested(self.task).unwrap_or(false) {
                    StopCause::User
                } else {
                    StopCause::Supervisor
                }
            }
            // It was the faster one to find the disk full.
            StopCause::None if ending != Ending::Exited(0) && self.lacks_space(&self.sizes()) => {
                StopCause::DiskFull
            }
            cause => cause,
        };
        let ended = Ended { rewritten: self.rewritten, ..Ended::of(ending, cause, launched.recovered) };
        ended.leaving(launched.tree, launched.child)
    }

    /// Time until the budget ends.
    fn time_left(&self, launched: &Launched) -> Duration {
        Duration::from_nanos(launched.running.deadline_boot_nanos).saturating_sub(process::boot_clock())
    }

    /// Takes in what was written since the last look, and notes the conversation and the final event.
    fn look(&mut self) -> Look {
        let cap = self.request.record.limits.max_output_bytes.bytes();
        let summariser = &mut self.summariser;
        let mut grew = false;
        let read = self.stdout.as_mut().map(|stdout| {
            stdout.advance(cap, LOOK_MAX_BYTES, |bytes| {
                grew = true;
                summariser.feed(bytes);
            })
        });
        let stdout_bytes = match read {
            Some(Ok((size, rewritten))) => {
                self.rewritten |= rewritten;
                size
            }
            // What can not be read now has at least its size.
            _ => streams::raw_size(self.task, "stdout").unwrap_or(0),
        };
        let summary = self.summariser.summary();
        if summary.events != self.last_event.0 {
            self.last_event = (summary.events, Instant::now());
        }
        if summary.terminal.is_some() && summary.open_items == 0 {
            self.final_since.get_or_insert_with(|| {
                points::reached(points::FINAL_SEEN);
                Instant::now()
            });
        } else {
            self.final_since = None;
        }
        if let Some(session) = summary.session.filter(|_| !self.session_known) {
            self.session_known = record_session(self.root, self.task, self.request, self.plan, &session);
        }
        let stderr_bytes = streams::raw_size(self.task, "stderr").unwrap_or(0);
        let is_behind = self.stdout.as_ref().is_some_and(|stdout| stdout.is_behind(stdout_bytes.min(cap)));
        Look { grew, is_behind, stdout_bytes, stderr_bytes }
    }

    /// The first cause to stop, if there is one.
    fn cause_to_stop(&self, launched: &Launched, look: &Look) -> Option<StopCause> {
        let limits = &self.request.record.limits;
        let is_told_to_end = self.signals.take().is_some();
        // Asked first, for a cancel may come with a signal. What can not be told now is asked again at the next tick.
        if stop::is_requested(self.task).unwrap_or(false) {
            return Some(StopCause::User);
        }
        if is_told_to_end {
            return Some(StopCause::Supervisor);
        }
        if self.time_left(launched).is_zero() {
            return Some(StopCause::Budget);
        }
        if self.is_over_cap(look) {
            return Some(StopCause::OutputLimit);
        }
        if self.lacks_space(look) {
            return Some(StopCause::DiskFull);
        }
        if let Some(limit) = limits.first_output
            && look.stdout_bytes == 0
            && look.stderr_bytes == 0
            && elapsed(launched) >= limit.duration()
        {
            return Some(StopCause::FirstOutput);
        }
        let since = self.final_since?;
        let silent = since.max(self.last_event.1).elapsed();
        (silent >= FINAL_GRACE || since.elapsed() >= FINAL_GRACE_MAX).then_some(StopCause::AfterFinal)
    }

    /// How large the streams are now.
    fn sizes(&self) -> Look {
        let size = |name| streams::raw_size(self.task, name).unwrap_or(0);
        Look { grew: false, is_behind: false, stdout_bytes: size("stdout"), stderr_bytes: size("stderr") }
    }

    /// Whether the turn must not write any more.
    fn is_flood(&self, look: &Look) -> bool {
        self.is_over_cap(look) || self.lacks_space(look)
    }

    /// Whether less is free than is kept beside the present output.
    fn lacks_space(&self, look: &Look) -> bool {
        let floor = FREE_SPACE_FLOOR_BYTES.saturating_add(look.stdout_bytes);
        streams::free_space(self.task).is_ok_and(|free| free < floor)
    }

    /// Whether a stream or artifact is larger than the cap.
    fn is_over_cap(&self, look: &Look) -> bool {
        let cap = self.request.record.limits.max_output_bytes.bytes();
        let names = &self.plan.record.launch.output_artifacts;
        let streams = look.stdout_bytes.max(look.stderr_bytes);
        streams > cap
            || names.iter().any(|name| streams::output_size(self.task, name).is_some_and(|size| size > cap))
    }

    /// TERM to the tree, time to obey, then the kill. The caller sweeps.
    fn stop(&self, launched: &mut Launched, cause: StopCause) -> Option<Ending> {
        // A tree that can not be listed is still killed by the sweep that follows.
        let _ = launched.tree.terminate();
        let grace = match cause {
            StopCause::OutputLimit | StopCause::DiskFull => TERMINATION_GRACE_OF_A_FLOOD,
            _ => TERMINATION_GRACE,
        };
        let deadline = Instant::now() + grace;
        loop {
            // Whatever the first cause was: a child that uses its last moments to fill the disk has had them.
            if self.is_flood(&self.sizes()) {
                break;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if let Ok(Some(ending)) = launched.child.wait(left.min(TICK_WHILE_GROWING), &[]) {
                return Some(ending);
            }
        }
        let _ = launched.tree.kill();
        launched.child.wait(TERMINATION_GRACE, &[]).ok().flatten()
    }
}

fn elapsed(launched: &Launched) -> Duration {
    process::boot_clock().saturating_sub(Duration::from_nanos(launched.running.started_boot_nanos))
}

/// Whether a text from a provider's stream can name a conversation.
fn is_conversation_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= CONVERSATION_ID_MAX_BYTES && !text.chars().any(char::is_control)
}

/// Records the conversation, first seen wins. Answers whether one is recorded now.
pub(crate) fn record_session(
    root: &Root,
    task: &Task,
    request: &Loaded<Request>,
    plan: &Loaded<Plan>,
    conversation_id: &str,
) -> bool {
    is_conversation_id(conversation_id)
        && task
            .create(&Session {
                schema_version: Session::SCHEMA_VERSION,
                root_id: root.id(),
                task_id: task.id(),
                request_sha256: request.sha256,
                plan_sha256: plan.sha256,
                provider: request.record.provider.clone(),
                conversation_id: conversation_id.to_owned(),
                observed_at: now(),
            })
            .is_ok()
}
