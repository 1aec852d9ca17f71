//! Which program is started (runners.md 4.2).

use std::path::PathBuf;

use super::archive::{PROGRAM, current, legacy, verified};
use super::interface;
use super::knobs::Knobs;
use super::lane::Lane;
use crate::common::exit::Refusal;
use crate::common::files::exists;
use crate::common::program::{Call, Stop};
use crate::common::surroundings::executable_file;

/// A program, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    /// Its real file.
    pub(super) path: PathBuf,
    /// `override`, `pinned`, `legacy` or `path`.
    pub(super) source: &'static str,
}

/// Finds the program. What the user named or archived and can not be used is never replaced by another.
///
/// # Errors
/// 69 with what to do.
pub(super) fn resolve(call: &Call<'_>, knobs: &Knobs, lane: Lane) -> Result<Binary, Stop> {
    let unavailable = |why: String| Stop::from(Refusal::unavailable(why));
    if let Some(named) = &knobs.program {
        let path = executable_file(named).ok_or_else(|| {
            unavailable(format!("DELEGATION_GROK_BIN: {} is not executable", named.display()))
        })?;
        return Ok(Binary { path, source: "override" });
    }
    let pinned = current(&knobs.store);
    if exists(&pinned) {
        let (path, _) = verified(&pinned).map_err(|why| {
            unavailable(format!("the archived grok is not usable ({why}); run: delegation-grok pin --force"))
        })?;
        return Ok(Binary { path, source: "pinned" });
    }
    for path in legacy(&knobs.store) {
        if interface::examine(call, &path, lane)?.is_ok() {
            return Ok(Binary { path, source: "legacy" });
        }
    }
    match call.surroundings.find_program(PROGRAM) {
        Some(path) => Ok(Binary { path, source: "path" }),
        None => Err(unavailable("no grok is archived or on PATH; run: delegation-grok pin".to_owned())),
    }
}
