//! What a running turn is doing. An observation; nothing acts on it (CLI.md "The task answer").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

/// The live summary of a running task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Activity {
    /// Seconds since the budget began.
    pub elapsed_seconds: f64,
    /// Seconds of budget left; negative when overdue.
    pub budget_remaining_seconds: f64,
    /// The last event of the provider, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_event: Option<LastEvent>,
    /// Bytes on standard output so far.
    pub stdout_bytes: u64,
    /// Bytes on standard error so far.
    pub stderr_bytes: u64,
    /// Seconds since the last byte of output.
    pub idle_seconds: f64,
    /// Processes below the provider, when they can be seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub descendants: Option<u32>,
    /// Processor seconds used by the living processes, when they can be seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_seconds: Option<f64>,
    /// One word for it all.
    pub diagnosis: Diagnosis,
}

/// The last event of the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LastEvent {
    /// The provider's own word for the kind of event.
    pub kind: String,
    /// In words, for example `running tool: bash`.
    pub summary: String,
    /// Seconds since it came.
    pub age_seconds: f64,
}

vocabulary! {
    /// One word for what a running turn does.
    Diagnosis {
        /// A tool runs, and something moves: output, processor time, new processes.
        ToolRunning = "tool-running",
        /// No tool runs, and something moves: the model is at work.
        ModelWorking = "model-working",
        /// A tool runs, and nothing has moved for a while.
        ToolSilent = "tool-silent",
        /// No tool runs, and nothing has moved for a while.
        Waiting = "waiting",
        /// No event has come yet, and it is early.
        Starting = "starting",
    }
}
