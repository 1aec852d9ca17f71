//! The schema of the answer in the form that Claude Code takes, made by the schema compiler beside this program (runners.md 2.4).

use std::path::Path;
use std::time::Duration;

use gates::json::{Json, parse};
use process::Fence;

use super::super::limits::{COMPILER_MAX_SECONDS, SCHEMA_MAX_BYTES};
use crate::common::child::{self, End, KILL_GRACE, Launch, NewFiles};
use crate::common::environment::ChildEnvironment;
use crate::common::evaluation::Manifest;
use crate::common::exit::Refusal;
use crate::common::program::Call;
use crate::common::run_directory::RunDirectory;
use crate::common::surroundings::executable_file;

const COMPILER: &str = "delegation-schema";

/// The compiled schema of a manifest, or the signal that asked this process to end meanwhile.
///
/// # Errors
/// 69: there is no compiler, or it did not run. 78: the schema is not one that Claude Code takes.
pub(in crate::glm) fn compiled(
    manifest: &Manifest,
    call: &Call<'_>,
    run_directory: &RunDirectory,
) -> Result<Result<String, i32>, Refusal> {
    let surroundings = call.surroundings;
    let beside = surroundings.program.with_file_name(COMPILER);
    let compiler = executable_file(&beside)
        .ok_or_else(|| Refusal::unavailable(format!("{COMPILER} is missing beside this program")))?;
    let schema = manifest.members.get("output_schema_path").and_then(Json::as_str).unwrap_or_default();
    let schema = surroundings.root.join(schema);
    let launch = Launch {
        name: "schema",
        program: &compiler,
        arguments: ["compile", "--provider", "claude", "--schema"]
            .map(Into::into)
            .into_iter()
            .chain([schema.into_os_string()])
            .collect(),
        environment: ChildEnvironment::nothing(),
        directory: Path::new("/"),
        stdin: b"",
        fence: Fence::None,
        limit: Duration::from_secs(COMPILER_MAX_SECONDS),
        grace: KILL_GRACE,
        new_files: NewFiles::Private,
    };
    let broken = |why: &str| Refusal::unavailable(format!("{COMPILER}: {why}"));
    let ended = child::run(launch, run_directory, surroundings, call.signals, &mut |_, _| {})
        .map_err(|error| error.refusal(COMPILER))?;
    match ended.end {
        End::Interrupted(signal) => return Ok(Err(signal)),
        End::Exited(0) => {}
        End::Exited(_) => return Err(Refusal::gate("the output schema is not one that Claude Code takes")),
        End::Signalled(_) | End::TimedOut | End::TooMuchOutput => {
            return Err(broken("it did not come to an end"));
        }
    }
    let bytes = ended.stdout.read().map_err(|error| broken(&error.to_string()))?;
    let text = bytes.trim_ascii();
    let is_object = matches!(parse(text), Ok(Json::Object(_)));
    match std::str::from_utf8(text) {
        Ok(text) if is_object && text.len() <= SCHEMA_MAX_BYTES => Ok(Ok(text.to_owned())),
        _ => Err(Refusal::gate("the compiled output schema is no object that fits into one argument")),
    }
}
