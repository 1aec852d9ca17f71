//! What becomes of a turn: the login is kept, then the answer is published or a diagnostic is left.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::GROK;
use super::answer::Answer;
use super::decide;
use super::home::{EVENTS_FILE, Home, LOGIN, SandboxProfile};
use super::lane::Lane;
use super::limits::RECORD_MAX_BYTES;
use super::login::KIND;
use super::probe::Runtime;
use super::report;
use crate::common::child::{End, Ended};
use crate::common::clock::Start;
use crate::common::diagnostic::{Account, fail};
use crate::common::evaluation::Manifest;
use crate::common::exit::{Exit, Failure, Phase};
use crate::common::files::read_regular;
use crate::common::gate::Admitted;
use crate::common::login::tokens::of_files;
use crate::common::login::{Kept, Placed};
use crate::common::place::Places;
use crate::common::program::{Done, Stop};
use crate::common::publish::{self, Publication};
use crate::common::report::members;

/// A run that is prepared.
pub(super) struct Work {
    pub(super) lane: Lane,
    pub(super) admitted: Admitted,
    pub(super) manifest: Option<Manifest>,
    pub(super) places: Places,
    pub(super) runtime: Runtime,
    pub(super) limit: Duration,
    /// The tokens from before the turn.
    pub(super) secrets: Vec<String>,
    pub(super) start: Start,
}

/// What the vendor's program wrote.
#[derive(Default)]
struct Output {
    status: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

const LOST: Failure = Failure::new(Exit::Failed, Phase::Dispatch, "dispatch_failed");

impl Work {
    /// Ends the run. The login is kept first, however the turn went; no child at all means that it could not be started or
    /// watched.
    pub(super) fn conclude(
        &self,
        home: &Home,
        login: &Placed<'_>,
        profile: &SandboxProfile,
        ended: Option<Ended>,
    ) -> Result<Done, Stop> {
        let events = read_regular(&home.vendor.join(EVENTS_FILE), RECORD_MAX_BYTES).unwrap_or_default();
        let secrets = [self.secrets.clone(), of_files([home.vendor.join(LOGIN).as_path()])].concat();
        let kept = login.keep();
        let (output, done) = match &ended {
            Some(Ended { end: End::Interrupted(signal), .. }) => {
                kept.complain(&KIND, &GROK);
                return Err(Stop::Interrupted(*signal));
            }
            Some(ended) => match (ended.stdout.read(), ended.stderr.read()) {
                (Ok(stdout), Ok(stderr)) => {
                    let output = Output { status: ended.end.status(), stdout, stderr };
                    let done = match decide::dispatch(ended.end, &output.stderr) {
                        Some(failure) => Err(failure),
                        None => self.accept(&output, &events, profile, kept),
                    };
                    (output, done)
                }
                _ => (Output::default(), Err(LOST)),
            },
            None => (Output::default(), Err(LOST)),
        };
        let Err(failure) = done else { return Ok(Done::Published) };
        if failure.phase != Phase::OauthSync {
            kept.complain(&KIND, &GROK);
        }
        Ok(self.fail(&output, secrets, failure))
    }

    fn accept(
        &self,
        output: &Output,
        events: &[u8],
        profile: &SandboxProfile,
        kept: Kept,
    ) -> Result<(), Failure> {
        decide::enforced(events, &profile.name)?;
        let answer = Answer::read(&output.stdout);
        let text = decide::text(&answer, self.manifest.as_ref())?;
        kept.demand()?;
        self.publish(&answer, text)
    }

    fn publish(&self, answer: &Answer, text: &str) -> Result<(), Failure> {
        let output = format!("{text}\n").into_bytes();
        let mut metrics = self.pins();
        metrics.extend(report::metrics(answer, self.lane.sandbox(), self.limit.as_secs()));
        metrics.extend(members(json!({
            "runtime_cli_source": self.runtime.binary.source,
            "started_at_epoch": self.start.epoch,
            "finished_at_epoch": self.start.finished_epoch(),
            "duration_seconds": self.start.elapsed_seconds(),
        })));
        let publication = Publication {
            places: &self.places,
            output,
            metrics,
            marked: self.manifest.as_ref(),
            metrics_first: true,
        };
        let reasons =
            ["output_finalize_failed", "metrics_finalize_failed", "evaluation_commit_finalize_failed"];
        let staged = Failure::publish("publication_stage_failed");
        publish::answer(publication, reasons.map(|reason| (staged, reason)))
    }

    fn fail(&self, output: &Output, secrets: Vec<String>, failure: Failure) -> Done {
        let mut diagnostic = self.pins();
        diagnostic.extend(members(json!({
            "cli_exit_code": output.status,
            "started_at_epoch": self.start.epoch,
            "finished_at_epoch": self.start.finished_epoch(),
            "duration_seconds": self.start.elapsed_seconds(),
            "captured_bytes": {"vendor_stdout": output.stdout.len(), "vendor_stderr": output.stderr.len()},
        })));
        let account = Account {
            family: &GROK,
            places: &self.places,
            members: diagnostic,
            debug_member: "debug_path",
            material: vec![("response.json", output.stdout.clone()), ("stderr.txt", output.stderr.clone())],
            secrets,
            keeps_diagnostic: false,
            names_debug: false,
        };
        fail(account, failure)
    }

    fn pins(&self) -> Map<String, Value> {
        let mut pins = report::pins(self.runtime.cli_version.as_deref());
        pins.extend(members(json!({
            "backend": GROK.backend(),
            "effort": self.admitted.effort,
            "lane": self.admitted.lane,
        })));
        pins
    }
}
