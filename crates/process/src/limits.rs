//! Every limit of this crate.

use std::time::Duration;

/// Largest description of a launch that is sent to the gate, in bytes. Linux refuses more than 6 MiB of arguments and
/// environment, so no launch that could succeed is refused here.
pub(crate) const LAUNCH_SPEC_MAX_BYTES: usize = 8 * 1024 * 1024;

/// How long the gate may take from its start to `ready`, and from *go* to the execution, in seconds. Generous: it only
/// keeps a directory or program on a dead network file system from holding the caller for ever.
pub(crate) const GATE_ANSWER_MAX_SECONDS: u64 = 30;

/// How long a gate that was told to give up may take to exit before it is killed, in seconds.
pub(crate) const GATE_EXIT_MAX_SECONDS: u64 = 5;

/// How long an adopted child may stay a zombie before its exit code is given up, in seconds (STATE.md 3.6).
pub(crate) const ADOPTED_REAP_MAX_SECONDS: u64 = 1;

/// How often a sweep looks for members again.
pub(crate) const SWEEP_MAX_ROUNDS: u32 = 100;

/// How long one sweep may take in all, in seconds: a process in an uninterruptible wait is then reported as a survivor.
pub(crate) const SWEEP_MAX_SECONDS: u64 = 5;

/// How long what is left in a cgroup may take to end once it was killed, in seconds.
pub(crate) const CGROUP_EMPTY_MAX_SECONDS: u64 = 5;

/// Cgroups below one node that are looked through at once.
pub(crate) const CGROUP_DESCENDANTS_MAX_COUNT: usize = 4096;

/// Largest environment of another process that is searched for the cookie, in bytes.
pub(crate) const ENVIRONMENT_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Largest file of `/proc` or `/etc` that is read, apart from environments, in bytes.
pub(crate) const SYSTEM_FILE_MAX_BYTES: u64 = 64 * 1024;

/// The time the gate gets for each answer.
pub(crate) const GATE_ANSWER_TIMEOUT: Duration = Duration::from_secs(GATE_ANSWER_MAX_SECONDS);
/// The time a gate gets to exit.
pub(crate) const GATE_EXIT_TIMEOUT: Duration = Duration::from_secs(GATE_EXIT_MAX_SECONDS);
/// The time the parent of an adopted child gets to reap it.
pub(crate) const ADOPTED_REAP_TIMEOUT: Duration = Duration::from_secs(ADOPTED_REAP_MAX_SECONDS);
/// The time that a killed cgroup gets to be empty.
pub(crate) const CGROUP_EMPTY_TIMEOUT: Duration = Duration::from_secs(CGROUP_EMPTY_MAX_SECONDS);
/// The time one sweep gets.
pub(crate) const SWEEP_TIMEOUT: Duration = Duration::from_secs(SWEEP_MAX_SECONDS);
