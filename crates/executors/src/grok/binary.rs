//! Which program is started (runners.md 4.2).

use std::path::PathBuf;

use super::archive::{PROGRAM, legacy, verified};
use super::interface;
use super::knobs::Knobs;
use super::lane::Lane;
use crate::common::exit::Refusal;
use crate::common::files::exists;
use crate::common::pin::current;
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

/// Finds the programs that may be the one, the first before the others; nothing of them is started. What the user named or
/// archived and can not be used is never replaced by another.
///
/// # Errors
/// 69 with what to do.
pub(super) fn find(call: &Call<'_>, knobs: &Knobs) -> Result<Vec<Binary>, Refusal> {
    let unavailable = |why: String| Err(Refusal::unavailable(why));
    if let Some(named) = &knobs.program {
        return match executable_file(named) {
            Some(path) => Ok(vec![Binary { path, source: "override" }]),
            None => unavailable(format!("DELEGATION_GROK_BIN: {} is not executable", named.display())),
        };
    }
    let pinned = current(&knobs.store);
    if exists(&pinned) {
        return match verified(&pinned) {
            Ok((path, _)) => Ok(vec![Binary { path, source: "pinned" }]),
            Err(why) => unavailable(format!(
                "the archived grok is not usable ({why}); run: delegation-grok pin --force"
            )),
        };
    }
    let legacy = legacy(&knobs.store).into_iter().map(|path| Binary { path, source: "legacy" });
    let on_path = call.surroundings.find_program(PROGRAM).map(|path| Binary { path, source: "path" });
    let found: Vec<Binary> = legacy.chain(on_path).collect();
    if found.is_empty() {
        return unavailable("no grok is archived or on PATH; run: delegation-grok pin".to_owned());
    }
    Ok(found)
}

/// The first that takes everything that a run in a lane says to it. Each is asked for help, with an empty home.
///
/// # Errors
/// 69 with what the last one lacks. The signal that asks this process to end.
pub(super) fn choose(
    call: &Call<'_>,
    found: impl IntoIterator<Item = Binary>,
    lane: Lane,
) -> Result<Binary, Stop> {
    let mut lacking = "no grok is to be found; name one with --from".to_owned();
    for binary in found {
        match interface::examine(call, &binary.path, lane)? {
            Ok(()) => return Ok(binary),
            Err(why) => lacking = why,
        }
    }
    Err(Refusal::unavailable(lacking).into())
}
