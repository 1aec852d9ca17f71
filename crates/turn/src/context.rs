//! Where and as whom a command works.

use record::plan::CapturedEnvironment;
use record::words::SupervisorKind;
use record::{AbsolutePath, Timestamp};
use rustix::process::{Resource, getrlimit};

/// Everything that a command knows before it opens the root.
#[derive(Clone, Debug)]
pub struct Context {
    /// The state root, symbolic links resolved; may not exist yet.
    pub root: AbsolutePath,
    /// The supervisor for new tasks.
    pub supervisor: SupervisorKind,
    /// Whether the lead named the supervisor, so that another recorded one is a mismatch.
    pub supervisor_is_explicit: bool,
    /// The configuration of the Pueue that owns new tasks; `None` for a private one in the root.
    pub pueue_config: Option<AbsolutePath>,
    /// What new jobs of Slurm are asked for.
    pub slurm: supervise::SlurmSettings,
    /// The runner given with `--runner`.
    pub runner: Option<AbsolutePath>,
    /// Our own executable; it takes the hidden words.
    pub program: AbsolutePath,
    /// The caller's whole environment. Only what planning asks for enters a record.
    pub captured: CapturedEnvironment,
    /// Slots for an embedded supervisor, or a private Pueue, that this command may start.
    pub slots: Option<u32>,
}

/// The caller's environment, umask and descriptor limit. Variables that are not UTF-8 are left out: no record can hold them.
pub fn capture_environment() -> CapturedEnvironment {
    let mut variables: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| {
            Some(format!("{}={}", name.into_string().ok()?, value.into_string().ok()?))
        })
        .collect();
    variables.sort();
    CapturedEnvironment {
        variables,
        umask: process::current_umask(),
        open_files_limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
    }
}

/// The wall clock.
pub fn now() -> Timestamp {
    Timestamp::from_system_time(std::time::SystemTime::now()).unwrap_or_else(|_| {
        Timestamp::from_system_time(std::time::UNIX_EPOCH).expect("the epoch is a valid time")
    })
}
