//! The protocol of STATE.md as a transition system. Each step is one that a process can die after; its rule is named.
//!
//! Left out, because nothing of at-most-once or of always-ends turns on it: the marker and the queue (any runner may come at
//! any time, so any supervisor is covered), the workspace lease, artifacts and budgets, other machines (they write nothing).

use stateright::{Model, Property};

use crate::state::{Canceller, Child, Disk, Dispatcher, End, Runner, Said, Who, World};

/// The protocol, or one that lacks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    Documented,
    /// A runner that finds a licence launches all the same.
    LaunchWithoutLicence,
    /// A canceller that saw no launch ends the task with neither the run lock nor a stop request.
    CancelWithoutLock,
    /// *Go* comes before `running.json`.
    GoBeforeRecord,
    /// A runner does not make the task durable before its licence.
    TaskNotSynced,
}

/// The model and its bounds.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    pub(crate) rules: Rules,
    pub(crate) faults: u8,
    pub(crate) cancellers: usize,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Dispatcher(usize),
    Runner(usize),
    /// The runner's child ended, or is over after a stop.
    Watch(usize),
    Canceller(usize),
    /// The gate sees the end of its runner and leaves.
    GateLeaves,
    /// The gate reads the byte and executes the provider.
    GateExecutes,
    ProviderEnds,
    KillDispatcher(usize),
    KillRunner(usize),
    KillCanceller(usize),
    /// The sync that the runner needs now fails.
    SyncFails(usize),
    /// Everything stops; only what was synced is left.
    PowerCut,
    /// Everything stops; everything that was written is left.
    Restart,
}

impl Model for Protocol {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.faults, self.cancellers)]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        for index in 0..2 {
            let mut all = vec![
                Step::Dispatcher(index),
                Step::Runner(index),
                Step::Watch(index),
                Step::Canceller(index),
            ];
            if world.faults > 0 {
                all.extend([
                    Step::KillDispatcher(index),
                    Step::KillRunner(index),
                    Step::KillCanceller(index),
                    Step::SyncFails(index),
                ]);
            }
            steps.extend(all);
        }
        steps.extend([Step::GateLeaves, Step::GateExecutes, Step::ProviderEnds]);
        if world.faults > 0 {
            steps.extend([Step::PowerCut, Step::Restart]);
        }
        steps.retain(|step| self.next_state(world, *step).is_some());
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Dispatcher(index) => self.dispatcher(&mut next, index)?,
            Step::Runner(index) => self.runner(&mut next, index)?,
            Step::Watch(index) => watch(&mut next, index)?,
            Step::Canceller(index) => self.canceller(&mut next, index)?,
            Step::GateLeaves => match world.child {
                Child::Gate(owner) if !minds_the_gate(world.runners[owner]) => next.child = Child::None,
                _ => return None,
            },
            Step::GateExecutes => {
                (world.child == Child::Told).then_some(())?;
                next.child = Child::Runs;
                next.executions += 1;
            }
            Step::ProviderEnds => {
                (world.child == Child::Runs).then_some(())?;
                next.child = Child::Ended;
                next.disk.answer = true;
            }
            Step::KillDispatcher(index) => {
                (world.dispatchers[index] != Dispatcher::Reported).then_some(())?;
                next.dispatchers[index] = Dispatcher::Begins;
                next.give_up(Who::Dispatcher(index));
            }
            Step::KillRunner(index) => {
                (world.runners[index] != Runner::Away).then_some(())?;
                next.leave(index);
            }
            Step::KillCanceller(index) => {
                (world.cancellers[index] != Canceller::Done).then_some(())?;
                next.cancellers[index] = Canceller::Done;
                next.give_up(Who::Canceller(index));
            }
            Step::SyncFails(index) => sync_fails(&mut next, index)?,
            Step::PowerCut => stop_everything(&mut next, world.durable),
            Step::Restart => stop_everything(&mut next, world.disk),
        }
        if is_fault(step) {
            next.faults -= 1;
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a provider is executed at most once", |_, world: &World| world.executions <= 1),
            Property::always("after the word no nothing was executed", |_, world: &World| {
                world.disk.outcome.is_none_or(|end| end.launched != Said::No || world.executions == 0)
            }),
            Property::always("what is committed was executed", |_, world: &World| {
                world.disk.outcome.is_none_or(|end| !end.committed || world.executions == 1)
            }),
            Property::always("an outcome stays what it was", |_, world: &World| !world.changed_its_mind),
            Property::always("a task that was reported is never lost", |_, world: &World| {
                !world.dispatchers.contains(&Dispatcher::Reported) || world.disk.task
            }),
            // No step leads back (but for faults, of which there are only so many), so that who always ends can be seen
            // where no step is left.
            Property::always("where nothing more can happen the task has ended", |model: &Self, world| {
                let mut steps = Vec::new();
                model.actions(world, &mut steps);
                steps.iter().any(|step| !is_fault(*step)) || has_ended(world)
            }),
            Property::sometimes("a turn succeeds", |_, world: &World| {
                world.disk.outcome.is_some_and(|end| end.committed)
            }),
            Property::sometimes("a turn is cancelled without a launch", |_, world: &World| {
                world.disk.stop && world.disk.outcome.is_some_and(|end| end.launched == Said::No)
            }),
            Property::sometimes("the child of a lost runner is adopted and succeeds", |_, world: &World| {
                world.adopted && world.disk.outcome.is_some_and(|end| end.committed)
            }),
        ]
    }
}

fn is_fault(step: Step) -> bool {
    use Step::{KillCanceller, KillDispatcher, KillRunner, PowerCut, Restart, SyncFails};
    matches!(step, KillDispatcher(_) | KillRunner(_) | KillCanceller(_) | SyncFails(_) | PowerCut | Restart)
}

fn has_ended(world: &World) -> bool {
    world.disk.outcome.is_some()
        && world.lock.is_none()
        && matches!(world.child, Child::None | Child::Ended)
        && world.dispatchers == [Dispatcher::Reported; 2]
}

/// Whether the gate's runner still holds the other end.
fn minds_the_gate(runner: Runner) -> bool {
    matches!(runner, Runner::AtGate | Runner::RecordVisible | Runner::Recorded | Runner::Looked)
}

impl Protocol {
    /// STATE.md 3.1 and 2: a task appears whole, and is reported when it is durable.
    fn dispatcher(&self, world: &mut World, index: usize) -> Option<()> {
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

    fn runner(&self, world: &mut World, index: usize) -> Option<()> {
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
    fn canceller(&self, world: &mut World, index: usize) -> Option<()> {
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
fn watch(world: &mut World, index: usize) -> Option<()> {
    (world.runners[index] == Runner::Watches).then_some(())?;
    let may_end = matches!(world.child, Child::None | Child::Ended);
    (may_end || (world.disk.stop && world.child == Child::Runs)).then_some(())?;
    world.runners[index] = Runner::Sweeps(End::of(Said::Yes));
    Some(())
}

/// A failed sync gives nobody a licence (2): the runner goes, or ends the turn without a launch.
fn sync_fails(world: &mut World, index: usize) -> Option<()> {
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
fn stop_everything(world: &mut World, disk: Disk) {
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
