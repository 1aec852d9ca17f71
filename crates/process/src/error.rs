//! Why a child could not be started.

use std::fmt;
use std::io;

use crate::gate::Containment;

/// A child was not started, or it is not known whether it was.
///
/// Only [`StartError::ExecutionUndetermined`] leaves open whether the program ran; after every other kind it did not.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The launch can not be described: a string holds a NUL byte, or everything together is too long.
    #[error("the launch can not be described: {0}")]
    Specification(&'static str),
    /// The containment that was asked for can not be had in this process.
    #[error("containment {0:?} is not available: {1}")]
    Containment(Containment, #[source] io::Error),
    /// The gate itself could not be started.
    #[error("the gate could not be started: {0}")]
    Spawn(#[source] io::Error),
    /// The gate runs but could not be identified or watched; it was ended.
    #[error("the gate could not be watched: {0}")]
    Watch(#[source] io::Error),
    /// The gate could not be spoken to; it was ended.
    #[error("the gate could not be spoken to: {0}")]
    Channel(#[source] io::Error),
    /// The gate could not do one of its steps.
    #[error("the gate failed to {0}: {1}")]
    Step(GateStep, #[source] io::Error),
    /// The gate ended before it executed anything, without saying why.
    #[error("the gate ended without an answer")]
    GateEnded,
    /// The gate gave no answer in time and was ended before it was told to go.
    #[error("the gate gave no answer in time")]
    GateSilent,
    /// The gate was told to go, and what followed is not known. The process was killed.
    #[error("it is not known whether the program was executed: {0}")]
    ExecutionUndetermined(#[source] io::Error),
}

/// What the gate does, in this order, each of which may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateStep {
    /// Receive the description of the launch and its descriptors.
    Receive,
    /// Start a session of its own, without a controlling terminal.
    Session,
    /// Set the resource limits.
    Limits,
    /// Enter the working directory.
    Directory,
    /// Put the three standard descriptors in place and close the others at execution.
    Descriptors,
    /// Open what the child may write.
    Grants,
    /// Raise the write fence.
    Fence,
    /// Prove that the write fence stands.
    FenceProof,
    /// Be killed when the starter ends.
    Starter,
    /// Execute the program.
    Execute,
}

impl GateStep {
    const ALL: [Self; 10] = [
        Self::Receive,
        Self::Session,
        Self::Limits,
        Self::Directory,
        Self::Descriptors,
        Self::Grants,
        Self::Fence,
        Self::FenceProof,
        Self::Starter,
        Self::Execute,
    ];

    /// The number that stands for the step between gate and caller.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    /// The step with that number, if there is one.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.number() == number)
    }
}

impl fmt::Display for GateStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Receive => "receive the launch",
            Self::Session => "start a session",
            Self::Limits => "set the resource limits",
            Self::Directory => "enter the working directory",
            Self::Descriptors => "arrange the descriptors",
            Self::Grants => "open what the child may write",
            Self::Fence => "raise the write fence",
            Self::FenceProof => "prove the write fence",
            Self::Starter => "be bound to its starter",
            Self::Execute => "execute the program",
        })
    }
}
