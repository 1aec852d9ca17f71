//! The program `delegation-route` (router.md 1): which profile may serve which lane.
//!
//! The command line is judged first, then the gates as a whole, then the question is answered.

mod answer;
mod arguments;
mod load;
mod table;

use std::ffi::OsString;
use std::io::{self, Write};

use crate::finding::{Exit, Refusal};
use crate::json::pretty;
use crate::source::Environment;

pub use answer::{Entry, Resolution, ReviewPolicyAnswer};
pub use arguments::Producer;
use arguments::Question;
pub use load::Router;

/// Name of the program.
pub const PROGRAM: &str = "delegation-route";

const USAGE: &str = "\
Usage: delegation-route COMMAND [--json]

Reads and validates the gates; never dispatches.

  check                                   are all gates valid
  lane NAME                               the profiles of a lane
  profile NAME                            one profile
  resolve --lane NAME                     what the user may choose
      [--producer-profile P | --producer-family F]   who produced the work (review lanes)
      [--selected-profile P]                         is P such a choice
  table                                   everything
";

/// Runs the program on the arguments after its name and returns its exit code.
pub fn run(
    arguments: &[OsString],
    environment: &Environment<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let (json, question) = arguments::parse(arguments);
    let written = match question.and_then(|question| respond(question, json, environment)) {
        Ok(text) => stdout.write_all(text.as_bytes()).map(|()| Exit::Ok),
        Err(refusal) => refusal.report(PROGRAM, json, stdout, stderr).map(|()| refusal.exit),
    };
    finish(written, stdout, stderr)
}

fn finish(written: io::Result<Exit>, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
    match written.and_then(|exit| stdout.flush().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(error) => {
            // Nobody may be left to hear it; the exit code tells as well.
            let _ = writeln!(stderr, "{PROGRAM}: the answer could not be written: {error}");
            Exit::OutputFailed.code()
        }
    }
}

fn respond(question: Question, json: bool, environment: &Environment<'_>) -> Result<String, Refusal> {
    if matches!(question, Question::Help) {
        return Ok(USAGE.to_owned());
    }
    let router = Router::load(environment)?;
    let mut text = match question {
        Question::Help => USAGE.to_owned(),
        Question::Check if json => pretty(&router.check()),
        Question::Check => router.check().to_string(),
        Question::Lane(name) => match router.lane(&name)? {
            answer::LaneAnswer::Compound(object) => object.pretty(),
            answer::LaneAnswer::Rows(rows) if json => pretty(&rows),
            answer::LaneAnswer::Rows(rows) => table::lane_lines(&rows),
        },
        Question::Profile(name) => router.profile(&name)?.pretty(),
        Question::Resolve { lane, producer, selected } => {
            pretty(&router.resolve(&lane, producer.as_ref(), selected.as_deref())?)
        }
        Question::Table if json => pretty(&router.table()),
        Question::Table => table::markdown(&router),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}
