//! Whether what an outcome names is there as it names it.

use record::Sha256Digest;
use record::answer::Answer;
use record::failure::{FailureCode, Stage};
use record::outcome::Outcome;
use record::seal::{ManifestEntry, Seal};
use record::words::{ReasonCode, Verdict};
use store::{PayloadName, Task};

use crate::error::{At, TurnError};
use crate::streams;

/// Checks that an outcome can be gathered: everything that it names is there as it names it.
///
/// # Errors
/// `content_pruned` when retention took it away, `evidence_damaged` when something else did.
pub(crate) fn gather(task: &Task, outcome: &Outcome, answer: &mut Answer) -> Result<(), TurnError> {
    let verified = verify(task, outcome);
    // Asked last: retention may have come by in between, and what it took is no damage.
    answer.pruned = task.is_pruned().at(Stage::ObserveTask)?;
    if answer.pruned {
        return Err(TurnError::new(
            FailureCode::ContentPruned,
            Stage::ObserveTask,
            format!(
                "the content of the task {} was removed by prune; its outcome is all that is left",
                task.id()
            ),
        ));
    }
    verified
}

/// Checks that what an outcome names is what lies in the task's directory: digests of the payload and the seal, presence and
/// size of the sealed streams. Their content was checked when they were judged; their digests are in the seal.
///
/// # Errors
/// `evidence_damaged`.
fn verify(task: &Task, outcome: &Outcome) -> Result<(), TurnError> {
    let damaged = |what: &str| {
        TurnError::new(
            FailureCode::EvidenceDamaged,
            Stage::ObserveTask,
            format!("{what} of the task {} is missing or is not what its outcome names", task.id()),
        )
    };
    let name = match outcome.verdict {
        Verdict::Committed => PayloadName::Result,
        Verdict::Rejected => PayloadName::Refusal,
    };
    let payload = task.open_payload(name).at(Stage::ObserveTask)?.ok_or_else(|| damaged("the payload"))?;
    let found = Sha256Digest::of_reader(payload).map_err(|_| damaged("the payload"))?;
    if found != (outcome.payload.sha256, outcome.payload.length)
        || outcome.payload.basename != name.basename()
    {
        return Err(damaged("the payload"));
    }
    // Its digest says more than the digests that it names.
    match task.read_apart::<Seal>().at(Stage::ObserveTask)? {
        Some(seal) if seal.sha256 == outcome.evidence_sha256 => {
            let is_there = |entry: &ManifestEntry| {
                streams::raw_size(task, entry.path.strip_prefix("raw/").unwrap_or(&entry.path))
                    == Some(entry.size)
            };
            // An outcome that says that the evidence is damaged is not contradicted by it.
            let is_said = outcome.reason.code == ReasonCode::EvidenceDamaged;
            if is_said || seal.record.manifest.iter().all(is_there) {
                Ok(())
            } else {
                Err(damaged("the raw output"))
            }
        }
        _ => Err(damaged("the seal")),
    }
}
