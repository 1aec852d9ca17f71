//! What dispatchers, runners and cancellers do, step by step, and what happens to them.

use crate::protocol::{Protocol, Rules};
use crate::state::{Canceller, Child, Disk, Dispatcher, End, Runner, Said, Who, World};

impl Protocol {
    /// STATE.md 3.1 and 2: a task appears whole, and is reported when it is durable.
    pub(crate) fn dispatcher(&self, world: &mut World, index: usize) -> Option<()> {
        world.dispatchers[index] = match world.dispatchers[index] {
            Dispatcher::Begins if world.disk.task => Dispatcher::Found,
            Dispatcher::Begins => Dispatcher::Staged,
            // The rename replaces nothing: the loser finds the winner's task.
            Dispatcher::Staged if world.disk.task => Dispatcher::Found,
            Dispatcher::Staged => {
                world.disk.task = true;
                world.lock = Some(Who::Dispatcher(index));
                Dispatcher::Renamed
            }
            Dispatcher::Renamed | Dispatcher::Found => {
                world.sync_tasks();
                world.give_up(Who::Dispatcher(index));
                Dispatcher::Reported
            }
            Dispatcher::Reported => return None,
        };
        Some(())
    }

    pub(crate) fn runner(&self, world: &mut World, index: usize) -> Option<()> {
        world.runners[index] = match world.runners[index] {
            // 3.3: the run lock, then what is there decides.
            Runner::Away => {
                (world.disk.task && world.disk.outcome.is_none()).then_some(())?;
                world.take_lock(Who::Runner(index))?;
                Runner::Locked
            }
            Runner::Locked => self.look(world)?,
            // 3.4: create-once.
            Runner::Synced if world.disk.launch && self.rules != Rules::LaunchWithoutLicence => {
                world.leave(index);
                return Some(());
            }
            Runner::Synced => {
                world.disk.launch = true;
                world.rebooted = false;
                Runner::LicenceVisible
            }
            Runner::LicenceVisible => {
                world.sync_records();
                Runner::Licensed
            }
            Runner::Licensed => {
                world.child = Child::Gate(index);
                Runner::AtGate
            }
            Runner::AtGate if self.rules == Rules::GoBeforeRecord => {
                world.child = Child::Told;
                Runner::Watches
            }
            Runner::AtGate => {
                world.disk.running = true;
                Runner::RecordVisible
            }
            Runner::RecordVisible => {
                world.sync_records();
                Runner::Recorded
            }
            Runner::Recorded if world.disk.stop => {
                world.child = Child::None;
                Runner::Ended(End::of(Said::No))
            }
            Runner::Recorded => Runner::Looked,
            Runner::Looked => {
                world.child = Child::Told;
                Runner::Watches
            }
            Runner::Watches => return None,
            // 3.5: killed until nothing is left, a gate that was told to go as well.
            Runner::Sweeps(end) => {
                world.child = if world.child == Child::None { Child::None } else { Child::Ended };
                Runner::Ended(end)
            }
            // 3.7 and 3.8.
            Runner::Ended(end) => {
                world.seal(end);
                Runner::SealVisible
            }
            Runner::SealVisible => {
                world.sync_records();
                Runner::Sealed
            }
            Runner::Sealed => {
                world.publish();
                Runner::OutcomeVisible
            }
            Runner::OutcomeVisible => {
                world.sync_records();
                world.leave(index);
                return Some(());
            }
        };
        Some(())
    }

    /// What a runner does with the lock in its hands (3.3, 3.6).
    fn look(&self, world: &mut World) -> Option<Runner> {
        if self.rules != Rules::TaskNotSynced {
            world.sync_tasks();
            world.sync_records();
        }
        let disk = world.disk;
        Some(if disk.outcome.is_some() {
            Runner::OutcomeVisible
        } else if disk.seal.is_some() {
            Runner::Sealed
        } else if disk.launch && self.rules != Rules::LaunchWithoutLicence {
            match world.child {
                // A licence without `running.json` proves that no provider ran.
                _ if !disk.running => Runner::Ended(End::of(Said::No)),
                _ if world.rebooted => Runner::Ended(world.lost()),
                Child::Runs => {
                    world.adopted = true;
                    Runner::Watches
                }
                Child::Gate(_) | Child::Told => Runner::Sweeps(world.lost()),
                Child::None | Child::Ended => Runner::Ended(world.lost()),
            }
        } else if disk.stop {
            Runner::Ended(End::of(Said::No))
        } else {
            Runner::Synced
        })
    }

    /// STATE.md 4.
    pub(crate) fn canceller(&self, world: &mut World, index: usize) -> Option<()> {
        let holds = |world: &World| world.lock == Some(Who::Canceller(index));
        world.cancellers[index] = match world.cancellers[index] {
            Canceller::Begins if self.rules == Rules::CancelWithoutLock => {
                (world.disk.task && !world.disk.launch && world.disk.outcome.is_none()).then_some(())?;
                Canceller::Ends
            }
            Canceller::Begins => {
                world.disk.task.then_some(())?;
                if world.disk.outcome.is_none() {
                    world.disk.stop = true;
                    // A record appears once and durable.
                    world.sync_records();
                    Canceller::Requested
                } else {
                    Canceller::Done
                }
            }
            // Launched: a runner obeys, and one is started if there is none.
            Canceller::Requested if world.disk.launch || world.disk.outcome.is_some() => Canceller::Done,
            // Held: whoever holds it obeys, or goes.
            Canceller::Requested if world.lock.is_some() => Canceller::Done,
            Canceller::Requested => {
                world.take_lock(Who::Canceller(index))?;
                Canceller::Locked
            }
            Canceller::Locked if world.disk.launch || world.disk.outcome.is_some() => {
                world.give_up(Who::Canceller(index));
                Canceller::Done
            }
            Canceller::Locked => {
                world.sync_tasks();
                world.sync_records();
                Canceller::Ends
            }
            Canceller::Ends => {
                world.seal(End::of(Said::No));
                Canceller::SealVisible
            }
            Canceller::SealVisible => {
                world.sync_records();
                Canceller::Sealed
            }
            Canceller::Sealed => {
                world.publish();
                Canceller::OutcomeVisible
            }
            Canceller::OutcomeVisible => {
                world.sync_records();
                if holds(world) {
                    world.give_up(Who::Canceller(index));
                }
                Canceller::Done
            }
            Canceller::Done => return None,
        };
        Some(())
    }
}

/// 3.5: the child ended by itself, or a stop was asked for and the tree is swept.
pub(crate) fn watch(world: &mut World, index: usize) -> Option<()> {
    (world.runners[index] == Runner::Watches).then_some(())?;
    let may_end = matches!(world.child, Child::None | Child::Ended);
    (may_end || (world.disk.stop && world.child == Child::Runs)).then_some(())?;
    world.runners[index] = Runner::Sweeps(End::of(Said::Yes));
    Some(())
}

/// A failed sync gives nobody a licence (2): the runner goes, or ends the turn without a launch.
pub(crate) fn sync_fails(world: &mut World, index: usize) -> Option<()> {
    match world.runners[index] {
        Runner::LicenceVisible | Runner::SealVisible | Runner::OutcomeVisible => world.leave(index),
        Runner::RecordVisible => {
            world.child = Child::None;
            world.runners[index] = Runner::Ended(End::of(Said::No));
        }
        _ => return None,
    }
    Some(())
}

/// The machine stops and starts again with that disk.
pub(crate) fn stop_everything(world: &mut World, disk: Disk) {
    // A task that is not there has no records.
    world.disk = if disk.task { disk } else { Disk::default() };
    world.durable = world.disk;
    world.lock = None;
    world.child = Child::None;
    world.rebooted = true;
    world.runners = [Runner::Away; 2];
    for dispatcher in &mut world.dispatchers {
        if *dispatcher != Dispatcher::Reported {
            *dispatcher = Dispatcher::Begins;
        }
    }
    world.cancellers = [Canceller::Done; 2];
}
