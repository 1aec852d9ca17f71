//! A queue of our own in the root, for whoever wants Pueue and runs none: `supervisor/<machine>/pueue/` (STATE.md 1).
//!
//! Its daemon is started by the first command that needs it, in a session of its own, and stays. Everything of it lies in that
//! directory; the path of the socket is relative to it, for the directory may lie deeper than a socket address can tell.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::{available_parallelism, sleep};
use std::time::Instant;

use record::submission::PueueBinding;
use record::{AbsolutePath, Sha256Digest};
use store::{Root, SupervisorDirectory};

use super::client::Client;
use super::error::{PueueError, at};
use super::{binding, owner::Pueue};
use crate::SuperviseError;
use crate::detached;
use crate::limits::{PUEUE_DAEMON_PATIENCE, PUEUE_DAEMON_RHYTHM};

/// The hidden first word with which our own executable becomes the daemon of a private queue: `__pueued DAEMON CONFIG`.
pub const PUEUE_DAEMON_WORD: &str = "__pueued";

const CONFIG: &str = "pueue.yml";
const SOCKET: &str = "socket";
const PID: &str = "pid";
const LOG: &str = "log";
/// What an interrupted write of the state leaves; a daemon refuses to start beside it.
const PARTIAL_STATES: [&str; 2] = ["state/state.json.partial", "state/state.json.gz.partial"];

/// Becomes the daemon of a private queue; returns only when that fails.
pub fn become_daemon(words: &[OsString]) -> io::Error {
    let [daemon, config] = words else { return io::ErrorKind::InvalidInput.into() };
    let config = Path::new(config);
    let directory = config.parent().unwrap_or(config);
    match process::detach::become_detached(Some(&directory.join(LOG))) {
        Ok(()) => Command::new(daemon).arg("-c").arg(config).current_dir(directory).exec(),
        Err(error) => error,
    }
}

/// The private queue of one root on one machine.
#[derive(Debug)]
pub(super) struct Private {
    parent: SupervisorDirectory,
    directory: PathBuf,
}

impl Private {
    pub(super) fn of(root: &Root, machine: &Sha256Digest) -> Self {
        let parent = root.supervisor_directory(machine);
        Self { directory: parent.path().join("pueue"), parent }
    }

    /// Its configuration, made when there is none. Once made it stays, for tasks are bound to it.
    ///
    /// # Errors
    /// It can not be made.
    pub(super) fn configure(&self) -> Result<AbsolutePath, SuperviseError> {
        let path = self.directory.join(CONFIG);
        if !path.exists() {
            self.parent.make()?;
            self.make(&path).map_err(at(&self.directory))?;
        }
        let config =
            AbsolutePath::new(&path).map_err(|fault| PueueError::Config { path, why: fault.to_string() })?;
        Ok(config)
    }

    /// Of several at once, one gives the file its name.
    fn make(&self, path: &Path) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let draft = self.directory.join(format!("{CONFIG}.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        let linked = fs::hard_link(&draft, path);
        fs::remove_file(&draft)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        File::open(&self.directory)?.sync_all()
    }

    fn text(&self) -> String {
        let place = |name: &str| {
            // A JSON text is a YAML text, whatever the path holds.
            serde_json::Value::from(self.directory.join(name).to_string_lossy()).to_string()
        };
        format!(
            "# A queue of delegate's own. Ask it from this directory: pueue -c {CONFIG} status\n\
             shared:\n  pueue_directory: {}\n  runtime_directory: {}\n  alias_file: {}\n  pid_path: {}\n  \
             use_unix_socket: true\n  unix_socket_path: {SOCKET}\n  unix_socket_permissions: 448\n\
             daemon:\n  pause_group_on_failure: false\n  pause_all_on_failure: false\n  compress_state_file: false\n\
             client:\n  show_confirmation_questions: false\n",
            place("state"),
            place("state"),
            place("aliases.yml"),
            place(PID),
        )
    }

    /// Whether that is the configuration of this queue.
    pub(super) fn is_configured_by(&self, binding: &PueueBinding) -> bool {
        binding.config.as_path() == self.directory.join(CONFIG)
    }

    /// Whether there is such a queue at all.
    pub(super) fn exists(&self) -> bool {
        self.directory.join(CONFIG).exists()
    }

    /// Whether a daemon listens. Costs no process.
    pub(super) fn is_served(&self) -> bool {
        let Ok(directory) = File::open(&self.directory) else { return false };
        // By a short name of the directory: the long one may not fit into an address.
        UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", directory.as_raw_fd())).is_ok()
    }

    /// Starts the daemon unless it is there, and lets go on what it had queued.
    ///
    /// # Errors
    /// It does not come up.
    pub(super) fn serve(
        &self,
        pueue: &Pueue,
        binding: &PueueBinding,
        client: &Client,
    ) -> Result<(), SuperviseError> {
        let deadline = Instant::now() + PUEUE_DAEMON_PATIENCE;
        // Two daemons that start at once would both take the queue.
        let _starting = loop {
            if self.is_served() {
                return Ok(());
            }
            if let Some(lock) = self.parent.try_start_lock()? {
                break lock;
            }
            self.wait(deadline, "another command starts it, without success")?;
        };
        if self.is_served() {
            return Ok(());
        }
        self.clear_the_way()?;
        let words =
            [PUEUE_DAEMON_WORD.into(), binding::daemon_of(binding)?.into(), binding.config.as_str().into()];
        let mut daemon = detached::start(&pueue.delegate, words)
            .map_err(|source| SuperviseError::Start { program: pueue.delegate.clone(), source })?;
        while !self.is_served() {
            self.is_alive(&mut daemon)?;
            self.wait(deadline, "it does not listen")?;
        }
        let slots =
            pueue.slots.or_else(|| u32::try_from(available_parallelism().ok()?.get()).ok()).unwrap_or(1);
        client.ask(["parallel".to_owned(), slots.to_string()])?;
        // A daemon that was lost comes back with its queue halted.
        client.ask(["start"])?;
        Ok(())
    }

    fn is_alive(&self, daemon: &mut Child) -> Result<(), PueueError> {
        match daemon.try_wait() {
            Ok(Some(status)) => Err(self.does_not_start(&format!("it ended ({status}); see its log"))),
            _ => Ok(()),
        }
    }

    /// Nothing tells when a daemon listens.
    fn wait(&self, deadline: Instant, why: &str) -> Result<(), PueueError> {
        if Instant::now() >= deadline {
            return Err(self.does_not_start(why));
        }
        sleep(PUEUE_DAEMON_RHYTHM);
        Ok(())
    }

    fn does_not_start(&self, why: &str) -> PueueError {
        PueueError::Daemon { directory: self.directory.clone(), why: why.to_owned() }
    }

    /// Removes what a lost daemon left and what would keep a new one from starting: Pueue takes any living process with the
    /// number in the pid file for its daemon, also after a restart of the machine.
    fn clear_the_way(&self) -> Result<(), PueueError> {
        let pid = self.directory.join(PID);
        let number = fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse::<u32>().ok());
        let is_ours = number.is_some_and(|number| {
            let config = self.directory.join(CONFIG);
            let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == config.as_os_str().as_encoded_bytes())
        });
        if is_ours {
            return Err(self.does_not_start("one runs and does not listen; end it and try again"));
        }
        for path in PARTIAL_STATES.map(|name| self.directory.join(name)).iter().chain([&pid]) {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(path)(error)),
                _ => {}
            }
        }
        Ok(())
    }
}
