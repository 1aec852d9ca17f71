//! What becomes of a turn: the answer is published or a diagnostic is left.

use serde_json::Value;

use super::GLM;
use super::qualification::Qualification;
use super::report::{self, Seen};
use super::stream::Stream;
use super::verdict::{self, Answer};
use crate::common::child::{End, Ended, LaunchError};
use crate::common::clock::Start;
use crate::common::diagnostic::{self, Account};
use crate::common::evaluation::Manifest;
use crate::common::exit::{Exit, Failure, Phase, Refusal};
use crate::common::gate::Admitted;
use crate::common::place::Places;
use crate::common::program::{Done, say};
use crate::common::publish::{self, Publication};

/// A run that is prepared.
pub(super) struct Work {
    pub(super) admitted: Admitted,
    pub(super) manifest: Option<Manifest>,
    /// The workspace of a lane evaluation as it was before the turn.
    pub(super) qualification: Option<Qualification>,
    pub(super) places: Places,
    /// The key.
    pub(super) secrets: Vec<String>,
    pub(super) start: Start,
}

/// What Claude Code wrote, and how it ended.
#[derive(Default)]
struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    stream: Stream,
}

const LOST: Failure = Failure::new(Exit::Failed, Phase::Dispatch, "dispatch_failed");

impl Work {
    /// Ends the run.
    ///
    /// # Errors
    /// 69: the sandbox can not be had, so nothing was started.
    pub(super) fn conclude(&self, ended: Result<Ended, LaunchError>) -> Result<Done, Refusal> {
        let ended = match ended {
            Ok(ended) => ended,
            Err(LaunchError::Sandbox(why)) => return Err(Refusal::sandbox(why)),
            Err(LaunchError::Other(_)) => return Ok(self.refuse(LOST)),
        };
        let (Ok(stdout), Ok(stderr)) = (ended.stdout.read(), ended.stderr.read()) else {
            return Ok(self.refuse(LOST));
        };
        let stream = Stream::read(&stdout);
        let output = Output { stdout, stderr, stream };
        let mut seen = Seen::default();
        let outcome = match ended.end {
            End::Interrupted(signal) => return Ok(Done::Interrupted(signal)),
            end => self.judge(end, &output, &mut seen),
        };
        match outcome {
            Ok(()) => Ok(Done::Published),
            Err(failure) => Ok(self.fail(output, seen, failure)),
        }
    }

    /// Ends a run that was prepared and whose turn was not begun.
    pub(super) fn refuse(&self, failure: Failure) -> Done {
        self.fail(Output::default(), Seen::default(), failure)
    }

    fn judge(&self, end: End, output: &Output, seen: &mut Seen) -> Result<(), Failure> {
        // What happened to the workspace counts more than how the process ended.
        let attested = self.qualification.as_ref().map(Qualification::attest).transpose()?;
        let is_evaluation = self.manifest.is_some();
        match end {
            End::Exited(0) => {}
            End::TimedOut => {
                let reason = if is_evaluation { "evaluation_timeout" } else { "operational_timeout" };
                return Err(Failure::new(Exit::Temporary, Phase::Dispatch, reason));
            }
            End::TooMuchOutput => return Err(Failure::extract("output_limit_exceeded")),
            End::Exited(_) | End::Signalled(_) | End::Interrupted(_) => {
                seen.cli_exit_code = end.status();
                let (failure, next_flush_time) = verdict::process_failure(&output.stream, &output.stderr);
                seen.next_flush_time = next_flush_time;
                return Err(failure);
            }
        }
        let answer = verdict::answer(&output.stream, is_evaluation)?;
        if self.manifest.as_ref().is_some_and(|manifest| !manifest.allows_length(&answer.text)) {
            return Err(Failure::extract("max_output_chars"));
        }
        let text = format!("{}\n", answer.text).into_bytes();
        let receipt = match (&self.manifest, &attested) {
            (Some(manifest), Some(attested)) => Some(attested.receipt(manifest, &text)?),
            _ => None,
        };
        self.publish(text, &output.stream, &answer, receipt)
    }

    fn publish(
        &self,
        output: Vec<u8>,
        stream: &Stream,
        answer: &Answer,
        receipt: Option<Value>,
    ) -> Result<(), Failure> {
        let mut metrics = report::metrics(&self.admitted, &self.start, stream, answer);
        metrics.extend(receipt.map(|receipt| ("evaluation_receipt".to_owned(), receipt)));
        // Marker and its receipt are those of policy-annotation; a lane evaluation has its own receipt.
        let marked = self.manifest.as_ref().filter(|_| self.qualification.is_none());
        let publication = Publication { places: &self.places, output, metrics, marked, metrics_first: false };
        let reasons = ["output_publish_failed", "metrics_publish_failed", "commit_publish_failed"];
        publish::answer(publication, reasons.map(|reason| (Failure::publish(reason), reason)))?;
        let stale = self.places.diagnostic.path();
        if let Err(error) = std::fs::remove_file(&stale)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            say(&GLM, &format!("{} of an earlier run can not be removed: {error}", stale.display()));
        }
        Ok(())
    }

    fn fail(&self, output: Output, seen: Seen, failure: Failure) -> Done {
        let Output { stdout, stderr, stream } = output;
        let seen = Seen { stream_bytes: stdout.len(), stderr_bytes: stderr.len(), ..seen };
        let account = Account {
            family: &GLM,
            places: &self.places,
            members: report::diagnostic(&self.admitted, &self.start, &stream, seen),
            debug_member: "debug_dir",
            material: vec![("events.jsonl", stdout), ("stderr.txt", stderr)],
            secrets: self.secrets.clone(),
            keeps_diagnostic: true,
            names_debug: true,
        };
        diagnostic::fail(account, failure)
    }
}
