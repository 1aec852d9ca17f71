//! The directories that a root is made with. Without one of them nothing that needs it works; one that is missing is made again
//! where nothing is lost by that.

use record::health::{Check, CheckStatus};
use store::{DirectoryFault, Root, StoreError};

use super::REPAIR;
use super::records::Census;

const ID: &str = "directories";
/// Who holds a lease of a workspace is told by nothing else.
const LEASES: &str = "leases";
/// Without them each id would look as if it had never been dispatched, and work could be paid for twice.
const TASKS: &str = "tasks";

/// What was made, and what could not be.
#[derive(Debug, Default)]
pub(super) struct Restored {
    made: Vec<&'static str>,
    refused: Vec<String>,
}

impl Restored {
    /// Makes what is missing and needs no knowledge of the tasks, before anything looks into it.
    pub(super) fn of_the_plain(root: &Root) -> Self {
        let mut restored = Self::default();
        restored.make(root, |name| !matches!(name, LEASES | TASKS));
        restored
    }

    fn make(&mut self, root: &Root, is_meant: impl Fn(&str) -> bool) {
        for fault in root.directory_faults() {
            if let DirectoryFault::Missing(name) = fault
                && is_meant(name)
            {
                match root.restore_directory(name) {
                    Ok(()) => self.made.push(name),
                    Err(error) => self.refused.push(error.to_string()),
                }
            }
        }
    }
}

/// Whether all are as they must be. `restored` is what a repair has done so far.
pub(super) fn check(root: &Root, census: &Census, restored: Option<Restored>) -> Check {
    let is_repair = restored.is_some();
    let mut restored = restored.unwrap_or_default();
    // The lock of a turn that still writes went with the directory.
    if is_repair && census.nobody_writes() {
        restored.make(root, |name| name == LEASES);
    }
    let mut found = restored.refused;
    let mut fix = None;
    for fault in root.directory_faults() {
        match fault {
            DirectoryFault::Missing(LEASES) if is_repair => {
                found.push(format!("{LEASES}/ is missing, and a turn that writes may still run"));
                fix = Some("wait until that turn has ended, or cancel it; then delegate doctor --repair");
            }
            DirectoryFault::Missing(name) => {
                found.push(format!("{name}/ is missing"));
                fix = fix.or(Some(REPAIR));
            }
            DirectoryFault::Spoiled(error) => {
                if is_something_else(&error) {
                    fix = Some("move it away; then delegate doctor --repair makes it again");
                }
                found.push(error.to_string());
            }
        }
    }
    if found.is_empty() {
        let made: Vec<String> = restored.made.iter().map(|name| format!("{name}/")).collect();
        return Check::new(
            ID,
            CheckStatus::Ok,
            match made.is_empty() {
                true => "each of the root's is there".to_owned(),
                false => format!("made again: {}", made.join(", ")),
            },
        );
    }
    let check = Check::new(ID, CheckStatus::Failed, found.join("; "));
    match fix {
        Some(fix) => check.with_fix(fix),
        // What is wrong with owner and mode says itself what to do.
        None => check,
    }
}

/// Whether what has the name of a directory is none.
fn is_something_else(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged { path, .. } if path.symlink_metadata().is_ok_and(|found| !found.is_dir()))
}
