//! Cgroups of turns that are over, whose runner was lost before it removed them (STATE.md 6).

use process::{CgroupHome, CgroupNode};
use record::outcome::Outcome;
use record::request::cgroup_prefix;
use store::{Root, StoreError};

use super::log;

/// Removes the cgroups of this root in which nothing is and whose task has ended or does not exist. What can not be removed or
/// looked at now stays for the next supervisor; what is not below this process's own cgroup is not seen.
pub(super) fn remove_dead(root: &Root) {
    let prefix = cgroup_prefix(root.id());
    // Where cgroups can not be made there are none.
    let Ok(home) = CgroupHome::find() else { return };
    match home.nodes(&prefix) {
        Ok(nodes) => nodes.iter().for_each(|node| remove_if_dead(root, node, &prefix)),
        Err(error) => log::line(format_args!("{}: {error}", home.path().display())),
    }
}

fn remove_if_dead(root: &Root, node: &CgroupNode, prefix: &str) {
    let dead = || -> Result<bool, StoreError> {
        let name = node.path().file_name().and_then(|name| name.to_str());
        let Some(id) = name.and_then(|name| name.strip_prefix(prefix)?.parse().ok()) else {
            return Ok(false);
        };
        let is_over = match root.task(id)? {
            Some(task) => task.read::<Outcome>()?.is_some(),
            None => true,
        };
        Ok(is_over && matches!(node.is_populated(), Ok(false)))
    };
    match dead() {
        Ok(true) => {
            if let Err(error) = node.remove() {
                log::line(format_args!("{} can not be removed: {error}", node.path().display()));
            }
        }
        Ok(false) => {}
        Err(error) => log::line(format_args!("{} stays: {error}", node.path().display())),
    }
}
