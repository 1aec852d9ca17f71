//! What holds the processes of a turn together, and how much they may use (STATE.md 6).

use process::{CgroupError, CgroupHome, CgroupNode, ProcessIdentity, ResourceLimits, Tree};
use record::AbsolutePath;
use record::failure::{FailureCode, Stage};
use record::launch::Launch;
use record::request::{Request, RequestedLimits, cgroup_name, cookie};
use record::words::Containment;
use store::Task;

use crate::error::TurnError;

/// Checks that this host can enforce the limits of a turn. Changes nothing.
///
/// # Errors
/// `limit_unavailable`.
pub(crate) fn check(limits: &RequestedLimits) -> Result<(), TurnError> {
    let limits = of_processes(limits);
    if limits == ResourceLimits::default() {
        return Ok(());
    }
    CgroupHome::find().and_then(|home| home.offers(&limits)).map_err(|error| {
        TurnError::new(FailureCode::LimitUnavailable, Stage::ValidateRequest, unenforceable(&error))
    })
}

/// The strongest containment that this host has for a turn; the cgroup is made.
///
/// # Errors
/// A sentence, when a limit that was asked for can not be enforced.
pub(crate) fn arrange(request: &Request) -> Result<process::Containment, String> {
    let limits = of_processes(&request.limits);
    let required = limits != ResourceLimits::default();
    let name = cgroup_name(request.root_id, request.task_id);
    match CgroupHome::find().and_then(|home| home.make(&name, &limits)) {
        Ok(node) => Ok(process::Containment::Cgroup { node, required }),
        Err(error) if required => Err(unenforceable(&error)),
        Err(_) => Ok(process::Containment::Subreaper),
    }
}

fn of_processes(limits: &RequestedLimits) -> ResourceLimits {
    ResourceLimits {
        memory_bytes: limits.memory_bytes.map(|size| size.bytes()),
        pids: limits.pids,
        cpus: limits.cpus,
    }
}

fn unenforceable(error: &CgroupError) -> String {
    format!("limits on memory, processes and processors can not be enforced here: {error}")
}

/// The word for a containment.
pub(crate) fn word(containment: &process::Containment) -> Containment {
    match containment {
        process::Containment::Cgroup { .. } => Containment::Cgroup,
        process::Containment::Subreaper => Containment::Subreaper,
        _ => Containment::ProcessGroup,
    }
}

/// The directory by which a later runner finds the cgroup again.
pub(crate) fn directory(containment: &process::Containment) -> Option<AbsolutePath> {
    match containment {
        process::Containment::Cgroup { node, .. } => node.path().to_str()?.parse().ok(),
        _ => None,
    }
}

/// Everything that the process of a turn started, also what only its cgroup tells.
pub(crate) fn tree(task: &Task, process: ProcessIdentity) -> Tree {
    let tree = Tree::new(process, &cookie(task.root().id(), task.id()));
    match node(task) {
        Some(node) => tree.in_cgroup(node),
        None => tree,
    }
}

/// Removes the cgroup of a turn that is over. A failure is harmless: the next supervisor tries again.
pub(crate) fn remove_of_task(task: &Task) {
    if let Some(node) = node(task) {
        let _ = node.remove();
    }
}

/// The cgroup of a turn, if there is one. Its name is known in any case; only when the record that says where it lies is damaged
/// it is looked for below our own.
fn node(task: &Task) -> Option<CgroupNode> {
    let name = cgroup_name(task.root().id(), task.id());
    let path = match task.read::<Launch>() {
        Ok(launch) => launch?.record.cgroup?.to_path_buf(),
        Err(_) => CgroupHome::find().ok()?.path().join(&name),
    };
    let is_ours = path.file_name().is_some_and(|last| last == name.as_str());
    CgroupNode::open(&path).ok().flatten().filter(|_| is_ours)
}
