//! What is derived from the records, or left over beside them: markers, claims, staging, leases, probes.

use record::TaskId;
use record::health::{Check, CheckStatus};
use store::{Root, StoreError};

use super::records::{Census, failed_step, has_outcome};
use super::{Findings, REPAIR};
use crate::continuation;
use crate::limits::STRAY_MARKER_MIN_AGE;

/// The checks, in order; with `repair` after what they found was put right.
pub(super) fn checks(root: &Root, census: &Census, repair: bool) -> Vec<Check> {
    [
        ("markers", markers(root, census, repair)),
        ("claims", claims(root, census, repair)),
        ("staging", staging(root, repair)),
        ("leases", leases(root)),
        ("probes", probes(root, repair)),
    ]
    .into_iter()
    .map(|(id, check)| check.unwrap_or_else(|error| failed_step(id, &error)))
    .collect()
}

/// `open/` names the tasks that may not be terminal (STATE.md 3.1).
fn markers(root: &Root, census: &Census, repair: bool) -> Result<Check, StoreError> {
    const ID: &str = "markers";
    let (mut useless, mut stray) = (Vec::new(), Vec::new());
    for id in root.open_tasks()? {
        match has_outcome(root, id) {
            Ok(Some(true)) => useless.push(id),
            Ok(None) if is_stray(root, id)? => stray.push(id),
            // A task that can not be read is a finding of its own, and keeps its marker.
            Ok(_) | Err(_) => {}
        }
    }
    let unmarked = &census.unmarked;
    if useless.is_empty() && stray.is_empty() && unmarked.is_empty() {
        return Ok(Check::new(ID, CheckStatus::Ok, "each open task has one"));
    }
    let found = format!(
        "{} open tasks without one; {} beside an outcome; {} without a task for more than a day",
        unmarked.len(),
        useless.len(),
        stray.len()
    );
    if repair {
        for id in &useless {
            root.remove_open_marker(*id)?;
        }
        for id in &stray {
            remove_stray(root, *id)?;
        }
        for id in unmarked {
            restore(root, *id)?;
        }
        return Ok(Check::new(ID, CheckStatus::Ok, format!("put right: {found}")));
    }
    // Without its marker a task is started by nobody.
    let status = if unmarked.is_empty() { CheckStatus::Warning } else { CheckStatus::Failed };
    Ok(Check::new(ID, status, found).with_fix(REPAIR))
}

fn is_stray(root: &Root, id: TaskId) -> Result<bool, StoreError> {
    Ok(root.open_marker_age(id)?.is_some_and(|age| age > STRAY_MARKER_MIN_AGE))
}

fn remove_stray(root: &Root, id: TaskId) -> Result<(), StoreError> {
    root.remove_open_marker(id)?;
    // A dispatcher may have relied on it and committed its task meanwhile.
    if has_outcome(root, id)?.is_some() { restore(root, id) } else { Ok(()) }
}

/// A marker for a task that needs one. One too much is harmless.
fn restore(root: &Root, id: TaskId) -> Result<(), StoreError> {
    root.restore_open_marker(id)?;
    if has_outcome(root, id)? == Some(true) { root.remove_open_marker(id) } else { Ok(()) }
}

/// A conversation names the tasks that went on with it; their requests tell the same. Without its name another task may go on
/// beside it.
fn claims(root: &Root, census: &Census, repair: bool) -> Result<Check, StoreError> {
    const ID: &str = "claims";
    let (unclaimed, unread) = (&census.unclaimed, &census.unread_claims);
    let unread =
        (unread.count > 0).then(|| format!("{} can not be looked at: {}", unread.count, unread.sample()));
    let found = format!("{} tasks that go on with a conversation are not named by it", unclaimed.len());
    if unclaimed.is_empty()
        && let Some(unread) = unread
    {
        return Ok(Check::new(ID, CheckStatus::Failed, unread));
    }
    if unclaimed.is_empty() {
        return Ok(Check::new(ID, CheckStatus::Ok, "each conversation names the tasks that go on with it"));
    }
    if !repair {
        return Ok(Check::new(ID, CheckStatus::Failed, found).with_fix(REPAIR));
    }
    let restored = unclaimed.iter().try_for_each(|(id, prior)| continuation::restore(root, *id, prior));
    Ok(match restored {
        Ok(()) => match unread {
            None => Check::new(ID, CheckStatus::Ok, format!("put right: {found}")),
            Some(unread) => Check::new(ID, CheckStatus::Failed, format!("put right: {found}; {unread}")),
        },
        Err(error) => Check::new(ID, CheckStatus::Failed, format!("{found}: {error}")).with_fix(REPAIR),
    })
}

fn staging(root: &Root, repair: bool) -> Result<Check, StoreError> {
    const ID: &str = "staging";
    if repair {
        let count = root.clean_staging()?;
        return Ok(Check::new(
            ID,
            CheckStatus::Ok,
            format!("{count} left-overs of lost dispatchers removed"),
        ));
    }
    let left_overs = root.staging_left_overs()?;
    Ok(if left_overs.is_empty() {
        Check::new(ID, CheckStatus::Ok, "nothing is left over")
    } else {
        let count = left_overs.len();
        Check::new(ID, CheckStatus::Warning, format!("{count} left-overs of lost dispatchers"))
            .with_fix(REPAIR)
    })
}

/// A lease names the task that last wrote to a workspace; one that names none, or that was never written whole, binds nobody.
fn leases(root: &Root) -> Result<Check, StoreError> {
    let (mut damaged, mut strange) = (Findings::default(), Findings::default());
    let keys = root.lease_keys()?;
    for key in &keys {
        match root.lease(key).and_then(|lease| lease.holder()) {
            Err(error) => damaged.add(error.to_string()),
            Ok(Some(holder)) if matches!(root.task(holder), Ok(None)) => {
                strange.add(format!("{key} names {holder}, which is no task"));
            }
            Ok(_) => {}
        }
    }
    Ok(if damaged.count > 0 {
        Check::new(
            "leases",
            CheckStatus::Failed,
            format!("{} can not be used: {}", damaged.count, damaged.sample()),
        )
        .with_fix("remove these files while no task of this root is open")
    } else if strange.count > 0 {
        Check::new("leases", CheckStatus::Warning, strange.sample())
    } else {
        Check::new("leases", CheckStatus::Ok, format!("ever taken: {}", keys.len()))
    })
}

/// A damaged entry counts as absent and costs only time.
fn probes(root: &Root, repair: bool) -> Result<Check, StoreError> {
    const ID: &str = "probes";
    let damaged = root.probe_cache().damaged(repair)?;
    let count = damaged.len();
    Ok(match (count, repair) {
        (0, _) => Check::new(ID, CheckStatus::Ok, "nothing in the cache is damaged"),
        (_, true) => Check::new(ID, CheckStatus::Ok, format!("{count} damaged entries of the cache removed")),
        (_, false) => Check::new(ID, CheckStatus::Warning, format!("{count} damaged entries in the cache"))
            .with_fix(REPAIR),
    })
}
