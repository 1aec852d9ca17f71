//! The protocol of STATE.md as a transition system. Each step is one that a process can die after; its rule is named.
//!
//! Left out, because nothing of at-most-once or of always-ends turns on it: the marker and the queue (any runner may come at
//! any time, so any supervisor is covered), the workspace lease, artifacts and budgets, other machines (they write nothing).

use stateright::{Model, Property};

use crate::state::{Canceller, Child, Dispatcher, Runner, Said, Who, World};
use crate::steps::{stop_everything, sync_fails, watch};

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
