//! What becomes of a turn: the login is kept, then the answer is published or a diagnostic is left.

use std::path::Path;

use serde_json::{Value, json};

use super::classify::classify;
use super::events::Events;
use super::home::Home;
use super::lane::Lane;
use super::login::{KIND, secrets};
use super::material;
use super::probe::Runtime;
use super::report::{self, Seen};
use crate::common::child::{End, Ended};
use crate::common::clock::Start;
use crate::common::evaluation::Manifest;
use crate::common::exit::{Exit, Failure, Phase};
use crate::common::family::Family;
use crate::common::gate::Admitted;
use crate::common::login::{Kept, LoginMode, Placed};
use crate::common::place::Places;
use crate::common::program::{Done, say};
use crate::common::publish::{self, Publication};
use crate::common::report::{json_file, members};

/// A run that is prepared.
pub(super) struct Work<'a> {
    pub(super) family: &'static Family,
    pub(super) lane: Lane,
    pub(super) admitted: Admitted,
    pub(super) manifest: Option<Manifest>,
    pub(super) places: Places,
    pub(super) mode: LoginMode,
    pub(super) ambient: &'a Path,
    /// The tokens from before the turn.
    pub(super) secrets: Vec<String>,
    pub(super) runtime: &'a Runtime,
    pub(super) start: Start,
}

/// How the turn went.
pub(super) enum Turn {
    /// The vendor's program ended, or was ended.
    Ended(Ended),
    /// The caller gave up before anything was started.
    Cancelled,
    /// It could not be started, or not be watched.
    Lost,
}

/// What the vendor's program wrote.
#[derive(Default)]
struct Output {
    end: Option<End>,
    stream: Vec<u8>,
    stderr: Vec<u8>,
}

impl Work<'_> {
    /// Ends the run. The login is kept first, however the turn went.
    pub(super) fn conclude(&self, home: &Home, login: &Placed<'_>, turn: Turn) -> Done {
        // A refresh that is kept takes the place of the tokens that the turn began with.
        let secrets = [self.secrets.clone(), secrets(&[&home.kimi, self.ambient])].concat();
        let kept = match turn {
            Turn::Cancelled => None,
            Turn::Ended(_) | Turn::Lost => Some(login.keep()),
        };
        let (output, readable) = match turn {
            Turn::Ended(ended) => {
                let (stream, stderr) = (ended.stdout.read(), ended.stderr.read());
                let readable = stream.is_ok() && stderr.is_ok();
                let (stream, stderr) = (stream.unwrap_or_default(), stderr.unwrap_or_default());
                (Output { end: Some(ended.end), stream, stderr }, readable)
            }
            Turn::Cancelled => (Output { end: Some(End::Interrupted(0)), ..Output::default() }, true),
            Turn::Lost => (Output::default(), false),
        };
        let events = Events::read(&output.stream);
        let debug = self.keep_material(home, &output, &secrets);
        let answer = if readable { self.answer(&output, &events) } else { Err(UNCLASSIFIED) };
        let done = answer.and_then(|answer| {
            kept.map_or(Ok(()), Kept::demand)?;
            self.publish(answer)
        });
        match done {
            Ok(()) => Done::Published,
            Err(failure) => {
                if let Some(kept) = kept.filter(|_| failure.phase != Phase::OauthSync) {
                    kept.complain(&KIND, self.family);
                }
                self.fail(&output, &events, kept, debug, failure)
            }
        }
    }

    fn keep_material(&self, home: &Home, output: &Output, secrets: &[String]) -> Option<String> {
        let debug = self.places.debug.as_deref()?;
        match material::keep(debug, self.family, home, (&output.stream, &output.stderr), secrets) {
            Ok(path) => Some(path.display().to_string()),
            Err(error) => {
                say(self.family, &format!("the debug material could not be kept: {error}"));
                None
            }
        }
    }

    fn answer(&self, output: &Output, events: &Events) -> Result<String, Failure> {
        let failure = |exit, phase, reason| Err(Failure::new(exit, phase, reason));
        match output.end {
            Some(End::Exited(0)) => {}
            Some(End::Interrupted(_)) => {
                return failure(Exit::Cancelled, Phase::Dispatch, "caller_cancelled");
            }
            Some(End::TimedOut) => {
                return failure(Exit::Temporary, Phase::Dispatch, timeout_reason(self.manifest.is_some()));
            }
            Some(End::TooMuchOutput) => return failure(Exit::Failed, Phase::Output, "output_too_large"),
            Some(End::Exited(_) | End::Signalled(_)) => {
                return Err(classify(&String::from_utf8_lossy(&output.stderr), &events.errors));
            }
            None => return Err(UNCLASSIFIED),
        }
        let answer = events.answer.as_ref().filter(|_| !events.is_damaged);
        let Some(answer) = answer else { return failure(Exit::Failed, Phase::Output, "output_invalid") };
        if self.manifest.as_ref().is_some_and(|manifest| !manifest.allows_length(answer)) {
            return failure(Exit::Failed, Phase::Output, "output_too_large");
        }
        Ok(answer.clone())
    }

    fn publish(&self, answer: String) -> Result<(), Failure> {
        let output = format!("{answer}\n").into_bytes();
        let mut metrics =
            report::metrics(self.lane, self.mode, self.runtime.cli_version.as_deref(), &self.runtime.ripgrep);
        metrics.extend(members(json!({
            "backend": self.family.backend(),
            "effort": self.admitted.effort,
            "lane": self.admitted.lane,
            "started_at_epoch": self.start.epoch,
            "finished_at_epoch": self.start.finished_epoch(),
        })));
        let publication = Publication {
            places: &self.places,
            output,
            metrics,
            marked: self.manifest.as_ref(),
            metrics_first: false,
        };
        let reasons =
            ["output_finalize_failed", "metrics_finalize_failed", "evaluation_commit_finalize_failed"];
        let staged = Failure::publish("publication_stage_failed");
        publish::answer(publication, reasons.map(|reason| (staged, reason)))
    }

    /// Leaves the diagnostic and the one line that stands for the vendor's standard error.
    fn fail(
        &self,
        output: &Output,
        events: &Events,
        kept: Option<Kept>,
        debug: Option<String>,
        failure: Failure,
    ) -> Done {
        let Failure { exit, phase, reason } = failure;
        let seen = Seen {
            lane: self.lane,
            ripgrep: &self.runtime.ripgrep,
            kept,
            vendor_exit_code: output.end.and_then(End::status),
            duration_seconds: self.start.elapsed_seconds(),
            stream_bytes: output.stream.len(),
            stderr_bytes: output.stderr.len(),
            events,
        };
        let mut diagnostic = report::diagnostic(&seen);
        diagnostic.extend(members(json!({
            "phase": phase.word(),
            "reason": reason,
            "exit_code": exit.code(),
            "debug_path": debug,
        })));
        let bytes = json_file(&Value::Object(diagnostic));
        let path = self.places.diagnostic.path();
        let mut lines = Vec::new();
        let summary = format!("{phase}: {reason}; {} bytes of the vendor withheld\n", output.stderr.len());
        for place in &self.places.reserved {
            if let Err(error) = publish::write(place, summary.as_bytes(), false) {
                lines.push(format!("{} can not be written: {error}", place.path().display()));
            }
        }
        match publish::write(&self.places.diagnostic, &bytes, false) {
            Ok(()) => lines.push(format!("{reason} (details: {})", path.display())),
            Err(error) => {
                lines.push(format!("{reason} (no details: {} can not be written: {error})", path.display()));
            }
        }
        Done::Failed { exit, lines }
    }
}

const UNCLASSIFIED: Failure = Failure::new(Exit::Failed, Phase::Dispatch, "dispatch_unclassified");

const fn timeout_reason(is_evaluation: bool) -> &'static str {
    if is_evaluation { "evaluation_timeout" } else { "operational_timeout" }
}

#[cfg(test)]
mod tests {
    use super::timeout_reason;

    #[test]
    fn the_two_limits_have_their_own_names() {
        assert_eq!(timeout_reason(false), "operational_timeout");
        assert_eq!(timeout_reason(true), "evaluation_timeout");
    }
}
