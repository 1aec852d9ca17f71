//! What the model sees of one task: the records, what of them is durable, the child, and where everybody stands.

/// Whether a provider may have been executed, as an outcome says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    No,
    Unknown,
    Yes,
}

/// How a turn ended: what a seal holds, and with `committed` what an outcome holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub(crate) launched: Said,
    pub(crate) committed: bool,
}

impl End {
    pub(crate) fn of(launched: Said) -> Self {
        Self { launched, committed: false }
    }
}

/// The files of a task that the protocol turns on (STATE.md 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Disk {
    /// The task has its name in `tasks/`.
    pub(crate) task: bool,
    pub(crate) launch: bool,
    pub(crate) running: bool,
    pub(crate) stop: bool,
    /// The provider's complete answer in `raw/stdout`.
    pub(crate) answer: bool,
    pub(crate) seal: Option<End>,
    pub(crate) outcome: Option<End>,
}

/// The gate and what becomes of it (STATE.md 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Child {
    None,
    /// It waits for the byte of that runner.
    Gate(usize),
    /// The byte is written and not read.
    Told,
    Runs,
    Ended,
}

/// Where a dispatcher stands (STATE.md 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dispatcher {
    Begins,
    /// Marker and staging directory are there and synced.
    Staged,
    /// The rename was its own; it still has the run lock.
    Renamed,
    /// It found the task of another.
    Found,
    /// It has told the lead that the task is admitted.
    Reported,
}

/// Where a runner stands (STATE.md 3.3 to 3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Runner {
    Away,
    Locked,
    /// It made the task durable and found neither launch nor stop.
    Synced,
    LicenceVisible,
    Licensed,
    AtGate,
    RecordVisible,
    Recorded,
    /// It looked at `stop.json` for the last time before *go*.
    Looked,
    Watches,
    /// Something may still run.
    Sweeps(End),
    /// Nothing runs.
    Ended(End),
    SealVisible,
    Sealed,
    OutcomeVisible,
}

/// Where a canceller stands (STATE.md 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Canceller {
    Begins,
    Requested,
    Locked,
    /// Under the lock there was no launch.
    Ends,
    SealVisible,
    Sealed,
    OutcomeVisible,
    Done,
}

/// Who holds the run lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Dispatcher(usize),
    Runner(usize),
    Canceller(usize),
}

/// One state of the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) disk: Disk,
    /// What a power cut leaves at least.
    pub(crate) durable: Disk,
    pub(crate) lock: Option<Who>,
    pub(crate) child: Child,
    /// The boot in which the licence was made is over.
    pub(crate) rebooted: bool,
    pub(crate) dispatchers: [Dispatcher; 2],
    pub(crate) runners: [Runner; 2],
    pub(crate) cancellers: [Canceller; 2],
    /// Faults that may still happen.
    pub(crate) faults: u8,
    /// A runner found the child of another and watches it.
    pub(crate) adopted: bool,
    /// How often a provider was executed.
    pub(crate) executions: u8,
    /// What an observer may have been told.
    pub(crate) seen: Option<End>,
    /// An outcome differs from one that was seen before.
    pub(crate) changed_its_mind: bool,
}

impl World {
    pub(crate) fn new(faults: u8, cancellers: usize) -> Self {
        let mut present = [Canceller::Done; 2];
        present[..cancellers].fill(Canceller::Begins);
        Self {
            disk: Disk::default(),
            durable: Disk::default(),
            lock: None,
            child: Child::None,
            rebooted: false,
            dispatchers: [Dispatcher::Begins; 2],
            runners: [Runner::Away; 2],
            cancellers: present,
            faults,
            adopted: false,
            executions: 0,
            seen: None,
            changed_its_mind: false,
        }
    }

    /// A sync of the task's directory: everything in it is durable (STATE.md 2).
    pub(crate) fn sync_records(&mut self) {
        self.durable = Disk { task: self.durable.task, answer: self.durable.answer, ..self.disk };
    }

    /// A sync of `tasks/`.
    pub(crate) fn sync_tasks(&mut self) {
        self.durable.task |= self.disk.task;
    }

    /// The seal: the streams are synced first, then the record appears once (STATE.md 3.7).
    pub(crate) fn seal(&mut self, end: End) {
        self.durable.answer = self.disk.answer;
        self.disk.seal.get_or_insert(end);
    }

    /// The outcome: a function of the seal and the sealed bytes (STATE.md 3.8).
    pub(crate) fn publish(&mut self) {
        let Some(seal) = self.disk.seal else { return };
        let outcome =
            End { committed: seal.launched != Said::No && self.disk.answer, launched: seal.launched };
        let outcome = *self.disk.outcome.get_or_insert(outcome);
        self.changed_its_mind |= self.seen.is_some_and(|seen| seen != outcome);
        self.seen = Some(outcome);
    }

    pub(crate) fn give_up(&mut self, who: Who) {
        if self.lock == Some(who) {
            self.lock = None;
        }
    }

    /// The runner goes, whatever the reason; its lock goes with it, and another may come.
    pub(crate) fn leave(&mut self, index: usize) {
        self.runners[index] = Runner::Away;
        self.give_up(Who::Runner(index));
    }

    pub(crate) fn take_lock(&mut self, who: Who) -> Option<()> {
        self.lock.is_none().then(|| self.lock = Some(who))
    }

    /// What is said of a launch that nobody saw end: certain only with output.
    pub(crate) fn lost(&self) -> End {
        End::of(if self.disk.answer { Said::Yes } else { Said::Unknown })
    }
}
