//! The closed vocabularies shared by records and answers (STATE.md 3 to 7, CLI.md "The task answer").

pub use crate::vocabulary::UnknownWord;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// What a turn may change (CLI.md `--permission`).
    Permission {
        /// Nothing in the workspace may be changed.
        ReadOnly = "read-only",
        /// Files below the workspace may be changed.
        WorkspaceWrite = "workspace-write",
    }
}

vocabulary! {
    /// Who owns the life of a task's runner (CLI.md `--supervisor`).
    SupervisorKind {
        /// The built-in supervisor, one process per root and machine (STATE.md 3.2).
        Embedded = "embedded",
        /// A Pueue daemon.
        Pueue = "pueue",
        /// A Slurm cluster.
        Slurm = "slurm",
    }
}

vocabulary! {
    /// Who fences what the provider may write (STATE.md 7).
    Fence {
        /// Our Landlock write fence.
        Ours = "ours",
        /// The CLI's own sandbox or tool list.
        Theirs = "theirs",
        /// Nobody; recorded, never implied.
        None = "none",
    }
}

vocabulary! {
    /// How the processes of a turn are held together (STATE.md 6), strongest first.
    Containment {
        /// A cgroup v2 node of its own.
        Cgroup = "cgroup",
        /// The runner is a child subreaper; orphans come home to it.
        Subreaper = "subreaper",
        /// Only the process group.
        ProcessGroup = "process-group",
    }
}

vocabulary! {
    /// Is the task in the root for good (STATE.md 3)?
    Admission {
        /// No task of that id.
        NotAdmitted = "not-admitted",
        /// The task is committed.
        Admitted = "admitted",
        /// Could not be determined.
        Unknown = "unknown",
    }
}

vocabulary! {
    /// Does the turn run (STATE.md 3)? Computed from locks and processes, never stored.
    Liveness {
        /// Admitted, not launched.
        Queued = "queued",
        /// A provider was licensed and may run.
        Running = "running",
        /// Nothing of the turn runs any more.
        Ended = "ended",
        /// Could not be determined from here.
        Undetermined = "undetermined",
    }
}

vocabulary! {
    /// Is there a verdict (STATE.md 3)?
    Publication {
        /// No verdict and nothing to make one from yet.
        None = "none",
        /// Sealed, or a payload without outcome: any look can publish.
        Pending = "pending",
        /// A committed outcome.
        Committed = "committed",
        /// A rejected outcome.
        Rejected = "rejected",
        /// Could not be determined.
        Unknown = "unknown",
    }
}

vocabulary! {
    /// The verdict of an outcome.
    Verdict {
        /// The answer is in `result.txt`.
        Committed = "committed",
        /// The refusal is in `refusal.txt`.
        Rejected = "rejected",
    }
}

vocabulary! {
    /// May the provider have run, and money have been spent (STATE.md 3.8)?
    Launched {
        /// Certainly not; a lead may dispatch again under a new id.
        No = "no",
        /// Yes.
        Yes = "yes",
        /// Could not be determined.
        Unknown = "unknown",
    }
}

vocabulary! {
    /// What stopped the turn, first cause (STATE.md 3.5, 3.7).
    StopCause {
        /// It ended by itself.
        None = "none",
        /// `delegate cancel`.
        User = "user",
        /// The wall-clock budget.
        Budget = "budget",
        /// A stream or artifact grew over its cap.
        OutputLimit = "output-limit",
        /// The free-space floor.
        DiskFull = "disk-full",
        /// No output within the first-output limit.
        FirstOutput = "first-output",
        /// The final event was followed by too long a silence or too much time.
        AfterFinal = "after-final",
        /// The runner was told to end.
        Supervisor = "supervisor",
    }
}

vocabulary! {
    /// Why an outcome is what it is (STATE.md 3.8, closed).
    ReasonCode {
        /// A complete success.
        Completed = "completed",
        /// The provider reported a failure of no better class.
        ProviderFailed = "provider-failed",
        /// The provider's login is missing or no longer accepted.
        AuthenticationRequired = "authentication-required",
        /// The provider asked to come back later.
        RateLimited = "rate-limited",
        /// A quota or plan is used up.
        QuotaExhausted = "quota-exhausted",
        /// The output breaks the provider's grammar.
        InvalidOutput = "invalid-output",
        /// The output stops before its terminal event.
        IncompleteOutput = "incomplete-output",
        /// A finished turn without an answer.
        EmptyOutput = "empty-output",
        /// Two places that must hold the same answer differ.
        OutputConflict = "output-conflict",
        /// Another conversation answered than the one asked for.
        IdentityMismatch = "identity-mismatch",
        /// Another model answered than the one asked for.
        ModelMismatch = "model-mismatch",
        /// The model or a content filter declined.
        Refusal = "refusal",
        /// Stopped by the lead.
        Cancelled = "cancelled",
        /// Stopped by the budget.
        TimedOut = "timed-out",
        /// Stopped with its supervisor.
        Interrupted = "interrupted",
        /// Stopped by the output cap.
        OutputLimit = "output-limit",
        /// Stopped for want of space.
        DiskFull = "disk-full",
        /// Stopped by the first-output limit.
        FirstOutputTimeout = "first-output-timeout",
        /// The executable changed between admission and launch.
        ExecutableDrift = "executable-drift",
        /// The plan computed at launch differs from the admitted one.
        PlanDrift = "plan-drift",
        /// The workspace is gone or is another directory now.
        WorkspaceGone = "workspace-gone",
        /// The write lease could not be had in time.
        WorkspaceBusy = "workspace-busy",
        /// The fence that the mode needs can not be enforced.
        FenceUnavailable = "fence-unavailable",
        /// The process could not be started.
        StartFailed = "start-failed",
        /// The runner was lost before the turn's end could be seen.
        RunnerLost = "runner-lost",
        /// The storage failed at a point where nothing may be claimed.
        StorageUncertain = "storage-uncertain",
        /// The evidence does not match its seal.
        EvidenceDamaged = "evidence-damaged",
        /// No judge of this profile exists in this build.
        JudgeUnavailable = "judge-unavailable",
        /// Not started within `--start-by`.
        QueueExpired = "queue-expired",
    }
}

vocabulary! {
    /// Whose conversation facility a continuation uses (predecessor-core 1.6).
    ContinuationMode {
        /// The CLI resumes by its own conversation id.
        Native = "native",
        /// No continuation.
        Unsupported = "unsupported",
    }
}

vocabulary! {
    /// What enforces read-only in a profile (providers.md 1.1).
    ReadOnlyMechanism {
        /// A planning mode of the CLI.
        NativePlan = "native-plan",
        /// A sandbox of the CLI.
        NativeSandbox = "native-sandbox",
        /// A list of tools that can not write.
        ToolAllowlist = "tool-allowlist",
        /// The program is ours and has no way to write.
        BuiltIn = "built-in",
    }
}

vocabulary! {
    /// An option of a request that a profile may support.
    ProfileOption {
        /// `--resume-task`.
        Continuation = "continuation",
        /// `--effort`.
        Effort = "effort",
        /// `--lane` and `--allow-provisional`.
        Lane = "lane",
        /// `--model`.
        Model = "model",
        /// `--native-timeout`.
        NativeTimeout = "native-timeout",
    }
}
