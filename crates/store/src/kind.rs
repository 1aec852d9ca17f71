//! Which records a task directory holds, under which names, and how each of them comes to be.

use record::json::Record;
use record::launch::{Launch, Running, Session, StopRequest};
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::Request;
use record::retention::Pruned;
use record::seal::Seal;
use record::submission::Submission;
use record::words::ReasonCode;
use record::{RootId, Sha256Digest, TaskId};

use crate::points::{self, RecordPoints};

/// A record of a task: its file, and what it says it belongs to (STATE.md 1).
pub trait TaskRecord: Record {
    /// Name of its file in the task directory.
    const FILE: &'static str;
    /// The root that it names.
    fn root_id(&self) -> RootId;
    /// The task that it names.
    fn task_id(&self) -> TaskId;
    /// The digest of `request.json` that it names, if its kind has one.
    fn request_sha256(&self) -> Option<Sha256Digest>;
    /// The digest of `plan.json` that it names, if its kind has one.
    fn plan_sha256(&self) -> Option<Sha256Digest>;
    /// Whether it says itself that the evidence is damaged. It then names the request and the plan that the task was admitted
    /// with, and is not contradicted by what stands in their place.
    fn tells_of_damage(&self) -> bool {
        false
    }
}

/// A record that is added to a task after its admission by [`Task::create`](crate::Task::create).
pub trait LaterRecord: TaskRecord {
    /// The fault points on its way.
    const POINTS: &'static RecordPoints;
}

/// A record whose space was set aside at admission (STATE.md 1), made by
/// [`Task::create_reserved`](crate::Task::create_reserved).
pub trait ReservedRecord: TaskRecord {
    /// Name of its file in `reserve/`.
    const RESERVE: &'static str;
    /// The fault points on its way.
    const POINTS: &'static RecordPoints;
}

/// Which digests a kind of record names.
macro_rules! named {
    ($this:ident, $field:ident, names) => {
        Some($this.$field)
    };
    ($this:ident, $field:ident, without) => {
        None
    };
}

macro_rules! task_record {
    ($record:ty, $file:literal, request: $request:ident, plan: $plan:ident $(, damaged: $damaged:expr)?) => {
        impl TaskRecord for $record {
            const FILE: &'static str = $file;

            fn root_id(&self) -> RootId {
                self.root_id
            }

            fn task_id(&self) -> TaskId {
                self.task_id
            }

            fn request_sha256(&self) -> Option<Sha256Digest> {
                named!(self, request_sha256, $request)
            }

            fn plan_sha256(&self) -> Option<Sha256Digest> {
                named!(self, plan_sha256, $plan)
            }
            $(
                fn tells_of_damage(&self) -> bool {
                    let tells: fn(&Self) -> bool = $damaged;
                    tells(self)
                }
            )?
        }
    };
}

task_record!(Request, "request.json", request: without, plan: without);
task_record!(Plan, "plan.json", request: names, plan: without);
task_record!(Submission, "submission.json", request: names, plan: names);
task_record!(Launch, "launch.json", request: names, plan: names);
task_record!(Running, "running.json", request: names, plan: names);
task_record!(Session, "session.json", request: names, plan: names);
task_record!(StopRequest, "stop.json", request: without, plan: without);
task_record!(Seal, "seal.json", request: names, plan: names, damaged: |seal| seal.damaged);
task_record!(
    Outcome, "outcome.json", request: names, plan: names,
    damaged: |outcome| outcome.reason.code == ReasonCode::EvidenceDamaged
);
task_record!(Pruned, "pruned.json", request: names, plan: names);

impl LaterRecord for Running {
    const POINTS: &'static RecordPoints = &points::RUNNING;
}

impl LaterRecord for Session {
    const POINTS: &'static RecordPoints = &points::SESSION;
}

impl LaterRecord for StopRequest {
    const POINTS: &'static RecordPoints = &points::STOP;
}

impl LaterRecord for Pruned {
    const POINTS: &'static RecordPoints = &points::PRUNED;
}

impl ReservedRecord for Seal {
    const RESERVE: &'static str = "seal";
    const POINTS: &'static RecordPoints = &points::SEAL;
}

impl ReservedRecord for Outcome {
    const RESERVE: &'static str = "outcome";
    const POINTS: &'static RecordPoints = &points::OUTCOME;
}
