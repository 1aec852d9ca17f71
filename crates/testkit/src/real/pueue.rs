//! The real Pueue: client and daemon at the pinned version, built from its published sources.

use std::path::PathBuf;

use super::component::{Pins, target_directory};
use super::skip::skip;

/// Its key in the pin file.
const NAME: &str = "pueue";

/// The folder with `pueue` and `pueued` for a test; `None` after the test was reported as skipped ([`skip`]).
///
/// # Panics
/// The pins can not be read, or it is not installed and real components are demanded.
#[must_use]
pub fn pueue_for_test(test: &str) -> Option<PathBuf> {
    let pins = Pins::read().unwrap_or_else(|error| panic!("{test}: {error}"));
    let version = pins.named(NAME).unwrap_or_else(|| panic!("{test}: no version of {NAME} is pinned"));
    let programs = target_directory().join("real").join(format!("{NAME}-{version}")).join("bin");
    if programs.join("pueued").is_file() {
        return Some(programs);
    }
    skip(test, &format!("{NAME} {version} is not installed in {}", programs.display()));
    None
}
