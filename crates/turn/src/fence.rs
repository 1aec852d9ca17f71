//! What our write fence needs around a turn (STATE.md 7).

use record::plan::CapturedEnvironment;
use record::{AbsolutePath, TaskId};

/// The turn's private temporary directory: below the caller's, named after the task.
pub(crate) fn temporary_directory(captured: &CapturedEnvironment, task: TaskId) -> AbsolutePath {
    let system = captured
        .get("TMPDIR")
        .and_then(|path| path.trim_end_matches('/').parse::<AbsolutePath>().ok())
        .unwrap_or_else(|| "/tmp".parse().expect("a clean path"));
    let name = format!("dlg-{}", &task.to_string()[..16]);
    system.join(&name).expect("a plain name")
}
