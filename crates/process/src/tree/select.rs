//! Which processes of a snapshot belong to a tree.

use std::collections::{HashMap, HashSet};

use crate::identity::ProcessIdentity;
use crate::procfs::ProcessStat;

/// The rule of membership, over one snapshot of all processes.
pub(super) struct Selection<'tree> {
    pub(super) root: ProcessIdentity,
    /// Number of this process.
    pub(super) own: u32,
    pub(super) orphans_come_home: bool,
    pub(super) excluded: &'tree HashSet<ProcessIdentity>,
}

impl Selection<'_> {
    /// The living members. `has_cookie` looks into the environment of a process; it is asked only where nothing else
    /// decides.
    pub(super) fn members<'snapshot>(
        &self,
        snapshot: &'snapshot [ProcessStat],
        has_cookie: impl Fn(u32) -> bool,
    ) -> Vec<&'snapshot ProcessStat> {
        let root_is_there = snapshot.iter().any(|stat| stat.identity == self.root);
        let mut children: HashMap<u32, Vec<&ProcessStat>> = HashMap::new();
        for stat in snapshot {
            children.entry(stat.parent).or_default().push(stat);
        }
        let mut found = HashSet::new();
        let mut members = Vec::new();
        let mut reached: Vec<&ProcessStat> =
            snapshot.iter().filter(|stat| self.belongs_by_itself(stat, root_is_there, &has_cookie)).collect();
        while let Some(stat) = reached.pop() {
            if !self.may_belong(stat) || !found.insert(stat.identity.pid) {
                continue;
            }
            if !stat.ended {
                members.push(stat);
            }
            let descendants = children.get(&stat.identity.pid).into_iter().flatten();
            // A parent is never younger than its child: such a link comes from a number that was reused meanwhile.
            reached.extend(descendants.filter(|child| child.identity.start_time >= stat.identity.start_time));
        }
        members
    }

    /// Whether it is an orphan that came home to this process.
    pub(super) fn came_home(&self, stat: &ProcessStat) -> bool {
        self.orphans_come_home
            && stat.parent == self.own
            && stat.identity != self.root
            && stat.identity.start_time >= self.root.start_time
            && self.may_belong(stat)
    }

    fn belongs_by_itself(
        &self,
        stat: &ProcessStat,
        root_is_there: bool,
        has_cookie: impl Fn(u32) -> bool,
    ) -> bool {
        if stat.identity == self.root {
            return true;
        }
        if !self.may_belong(stat) || stat.identity.start_time < self.root.start_time {
            return false;
        }
        let in_session = root_is_there && [stat.session, stat.group].contains(&self.root.pid);
        in_session || self.came_home(stat) || (!stat.ended && has_cookie(stat.identity.pid))
    }

    fn may_belong(&self, stat: &ProcessStat) -> bool {
        let pid = stat.identity.pid;
        pid > 1 && pid != self.own && !self.excluded.contains(&stat.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 100;
    const ROOT: ProcessIdentity = ProcessIdentity { pid: 200, start_time: 50 };

    fn process(pid: u32, start_time: u64, parent: u32, session: u32) -> ProcessStat {
        ProcessStat {
            identity: ProcessIdentity { pid, start_time },
            parent,
            group: session,
            session,
            ended: false,
            stopped: false,
            ending: false,
            cpu_ticks: 0,
        }
    }

    fn root() -> ProcessStat {
        process(ROOT.pid, ROOT.start_time, OWN, ROOT.pid)
    }

    fn own() -> ProcessStat {
        process(OWN, 40, 1, OWN)
    }

    fn ended(stat: ProcessStat) -> ProcessStat {
        ProcessStat { ended: true, ..stat }
    }

    fn numbers(home: bool, excluded: &[ProcessStat], snapshot: &[ProcessStat], cookies: &[u32]) -> Vec<u32> {
        let excluded = excluded.iter().map(|stat| stat.identity).collect();
        let selection = Selection { root: ROOT, own: OWN, orphans_come_home: home, excluded: &excluded };
        let mut numbers: Vec<u32> = selection
            .members(snapshot, |pid| cookies.contains(&pid))
            .iter()
            .map(|stat| stat.identity.pid)
            .collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn descendants_are_members_at_any_depth_and_strangers_are_not() {
        let snapshot = [
            own(),
            process(203, 53, 202, 202),
            process(202, 52, 201, 202),
            process(201, 51, ROOT.pid, 201),
            root(),
            process(300, 60, 1, 300),
        ];
        assert_eq!(numbers(false, &[], &snapshot, &[]), [200, 201, 202, 203]);
    }

    #[test]
    fn an_orphan_is_a_member_by_session_while_the_number_of_the_child_is_certain() {
        let orphan = process(201, 51, 1, ROOT.pid);
        assert_eq!(numbers(false, &[], &[own(), ended(root()), orphan], &[]), [201]);
        assert_eq!(numbers(false, &[], &[own(), orphan], &[]), [0_u32; 0]);
    }

    #[test]
    fn a_reused_number_is_nobody_of_ours() {
        let stranger = process(ROOT.pid, 70, 1, ROOT.pid);
        let its_child = process(210, 71, ROOT.pid, ROOT.pid);
        assert_eq!(numbers(true, &[], &[own(), stranger, its_child], &[]), [0_u32; 0]);
    }

    #[test]
    fn an_orphan_at_home_is_a_member_only_for_a_subreaper_and_unless_excluded_or_older() {
        let orphan = process(201, 51, OWN, 201);
        let older = process(150, 45, OWN, 150);
        let snapshot = [own(), orphan, older];
        assert_eq!(numbers(true, &[], &snapshot, &[]), [201]);
        assert_eq!(numbers(false, &[], &snapshot, &[]), [0_u32; 0]);
        assert_eq!(numbers(true, &[orphan], &snapshot, &[]), [0_u32; 0]);
    }

    #[test]
    fn the_cookie_makes_a_member_unless_the_process_is_older_or_is_this_one() {
        let snapshot = [own(), process(201, 51, 1, 201), process(150, 45, 1, 150)];
        assert_eq!(numbers(false, &[], &snapshot, &[201, 150, OWN, 1]), [201]);
    }

    #[test]
    fn this_process_is_no_member_even_as_a_descendant() {
        let inside = process(OWN, 60, ROOT.pid, ROOT.pid);
        let other_work = process(220, 61, OWN, 220);
        assert_eq!(numbers(false, &[], &[root(), inside, other_work], &[]), [200]);
    }

    #[test]
    fn a_parent_link_to_a_younger_process_is_not_followed() {
        let member = process(201, 90, 1, 201);
        let stranger = process(202, 80, 201, 202);
        assert_eq!(numbers(false, &[], &[own(), member, stranger], &[201]), [201]);
    }
}
