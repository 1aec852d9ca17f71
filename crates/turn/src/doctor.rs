//! `doctor`: what of the host and of the root is as a turn needs it (CLI.md, STATE.md 9). Without `repair` nothing is changed but
//! a trial of the file system that removes itself; with it, what is derived is put right. Records are never touched.

mod derived;
mod directories;
mod file_system;
mod host;
mod journal;
mod programs;
mod records;
mod supervision;
mod task;

use record::RootId;
use record::answer::truncated;
use record::health::{Check, CheckStatus};
use store::{Root, StoreError};

use self::directories::Restored;
use crate::context::Context;
use crate::limits::{CHECKS_OF_A_KIND_MAX_COUNT, DETAIL_MAX_BYTES};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The root, when it could be opened.
    pub root_id: Option<RootId>,
    /// Everything that was looked at, in a fixed order.
    pub checks: Vec<Check>,
}

impl Health {
    /// Whether nothing that was looked at is broken.
    pub fn is_sound(&self) -> bool {
        self.checks.iter().all(|check| check.status != CheckStatus::Failed)
    }
}

/// Looks at the host and at every record of the root. With `repair` the journal, the markers of open tasks, the cache of probes
/// and `staging/` are put right. `progress` is called with the number of tasks that were looked at.
///
/// Whatever is wrong is a check; there is no other failure.
pub fn doctor(context: &Context, repair: bool, progress: &mut dyn FnMut(u64)) -> Health {
    let mut checks = host::checks(&context.captured);
    checks.extend(programs::checks(&context.captured));
    let root = match Root::open(&context.root) {
        Ok(root) => root,
        Err(error) => {
            checks.push(unopened(context, &error));
            checks.extend(file_system::of_path(context.root.as_path()));
            checks.extend(supervision::without_root(context));
            return Health { root_id: None, checks };
        }
    };
    checks.push(Check::new("root", CheckStatus::Ok, format!("{}, id {}", root.path(), root.id())));
    checks.extend(file_system::of_path(context.root.as_path()));
    checks.extend(file_system::tried(&root));
    let restored = repair.then(|| Restored::of_the_plain(&root));
    checks.extend(supervision::checks(context, &root));
    let census = records::take(&root, progress);
    checks.extend(census.checks());
    checks.push(directories::check(&root, &census, restored));
    checks.extend(derived::checks(&root, &census, repair));
    checks.push(journal::check(&root, &census, repair));
    Health { root_id: Some(root.id()), checks }
}

fn unopened(context: &Context, error: &StoreError) -> Check {
    match error {
        StoreError::NotFound { .. } => Check::new(
            "root",
            CheckStatus::Ok,
            format!("{} is not there yet; the first dispatch makes it", context.root),
        ),
        error if error.is_damage() => Check::new("root", CheckStatus::Failed, error.to_string())
            .with_fix("put it back as it was, from a copy if need be: nothing here can make tasks again"),
        error => Check::new("root", CheckStatus::Failed, error.to_string()),
    }
}

/// What went wrong while something was looked at.
fn undetermined(id: &str, error: impl std::fmt::Display) -> Check {
    Check::new(id, CheckStatus::Unknown, error.to_string())
}

/// Findings of one kind, of which only the first are kept.
#[derive(Debug, Default)]
struct Findings {
    first: Vec<String>,
    count: u64,
}

impl Findings {
    fn add(&mut self, finding: String) {
        self.count += 1;
        if self.first.len() < CHECKS_OF_A_KIND_MAX_COUNT {
            self.first.push(truncated(&finding, DETAIL_MAX_BYTES));
        }
    }

    /// A check for each finding that was kept, and one that counts the others.
    fn checks(&self, id: &str, status: CheckStatus) -> Vec<Check> {
        let mut checks: Vec<Check> =
            self.first.iter().map(|finding| Check::new(id, status, finding)).collect();
        let others = self.count - self.first.len() as u64;
        if others > 0 {
            checks.push(Check::new(id, status, format!("{others} more of this kind are not shown")));
        }
        checks
    }

    /// The first few, for a sentence.
    fn sample(&self) -> String {
        const SHOWN: usize = 3;
        let mut text = self.first.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if self.count > SHOWN as u64 {
            text.push_str(", …");
        }
        text
    }
}

/// What `--repair` would do about it.
const REPAIR: &str = "delegate doctor --repair";
