//! The program `delegation-route` (router.md 1): which profile may serve which lane.
//!
//! The command line is judged first, then the gates as a whole, then the question is answered.

mod answer;
mod arguments;
mod load;
mod table;

use std::ffi::OsString;
use std::io::Write;

use crate::finding::{self, Refusal};
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
    let answer = question.and_then(|question| respond(question, json, environment));
    finding::deliver(PROGRAM, json, answer, stdout, stderr)
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
