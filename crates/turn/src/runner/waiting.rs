//! What a runner waits for before a launch: its turn in the workspace, within the limits that count from the admission.

use std::time::Duration;

use record::Span;
use record::words::{ReasonCode, SupervisorKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::{Leave, Work};
use crate::context::now;
use crate::evidence::Ended;
use crate::lease::{self, Lease, LeaseError};
use crate::limits::LEASE_RHYTHM;
use crate::{rescue, stop};

impl Work<'_> {
    /// Takes the lease that the task needs, or says how the task ended instead. A supervisor that starts runners again gets
    /// this one back when it has to wait, and with it a free slot; under any other the runner waits itself (STATE.md 3.3).
    pub(super) fn when_it_may_start(&self) -> Result<Result<Option<Lease>, Ended>, Leave> {
        let limits = &self.request.record.limits;
        loop {
            if stop::is_requested(self.task)? {
                return Ok(Err(Ended::cancelled()));
            }
            if self.is_past(limits.start_by) {
                let message = "the start-by limit passed while the task was queued".to_owned();
                return Ok(Err(Ended::not_started(ReasonCode::QueueExpired, message)));
            }
            let holder = match self.lease() {
                Ok(lease) => return Ok(Ok(lease)),
                Err(LeaseError::Busy { holder }) if !self.is_past(Some(limits.lease_wait)) => holder,
                Err(LeaseError::Workspace(error)) => {
                    return Ok(Err(Ended::not_started(ReasonCode::WorkspaceGone, error.to_string())));
                }
                Err(LeaseError::Store(error)) => return Err(error.into()),
                Err(error @ LeaseError::Busy { .. }) => {
                    return Ok(Err(Ended::not_started(ReasonCode::WorkspaceBusy, error.to_string())));
                }
            };
            // A holder that was lost frees the tree only when somebody takes it to its end.
            if let Some(holder) = holder.map(|id| self.root.task(id)).transpose()?.flatten() {
                // Tried again with the next look.
                let _ = rescue::look_after(self.context, self.root, &holder);
            }
            let is_started_again = self.submission.record.supervisor == SupervisorKind::Embedded;
            if is_started_again || self.is_told_to_end_within(LEASE_RHYTHM)? {
                return Err(Leave::Busy);
            }
        }
    }

    /// Waits so long, or until a termination signal comes.
    fn is_told_to_end_within(&self, time: Duration) -> Result<bool, Leave> {
        let timeout = time.try_into().ok();
        let mut signals = [PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
        match poll(&mut signals, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(self.signals.take().is_some()),
            Err(error) => Err(Leave::Failed(format!("signals: {error}"))),
        }
    }

    pub(super) fn lease(&self) -> Result<Option<Lease>, LeaseError> {
        let request = &self.request.record;
        lease::take(
            self.root,
            self.task.id(),
            request.requested_config.permission,
            request.canonical_cwd.as_path(),
        )
    }

    /// Whether `span` has passed since admission.
    fn is_past(&self, span: Option<Span>) -> bool {
        let waited = now().nanoseconds_since(self.submission.record.admitted_at);
        span.is_some_and(|span| waited > i128::try_from(span.duration().as_nanos()).unwrap_or(i128::MAX))
    }
}
