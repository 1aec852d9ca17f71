//! The process: set up, hold the lock, work, leave.

use std::io;
use std::process::ExitCode;

use process::TerminationSignals;
use process::detach::become_detached;
use store::{Lock, Root};

use super::children::ChildSignal;
use super::log;
use super::options::ServeOptions;
use super::work::{Signals, Stop, Work};
use crate::{SuperviseError, machine, points};

/// Is the supervisor of a root until nothing is left to do. It must be the first act of a freshly started process: it
/// detaches from the caller's session and terminal, closes every descriptor that it finds, and becomes a child subreaper.
///
/// Success also when another supervisor of this root and machine lives, or when a signal asked it to end: it starts nothing
/// more then and leaves its runners alone. Errors are in its log.
pub fn serve(options: &ServeOptions) -> ExitCode {
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::line(format_args!("supervisor failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &ServeOptions) -> Result<(), SuperviseError> {
    let machine = machine()?;
    let log = {
        // Nothing of this may stay open: detaching closes all descriptors.
        let directory = Root::open(&options.root)?.supervisor_directory(&machine);
        if directory.is_locked()? {
            return Ok(());
        }
        directory.make()?;
        directory.log_path()
    };
    become_detached(Some(&log)).map_err(SuperviseError::Setup)?;
    let signals = Signals {
        termination: TerminationSignals::block().map_err(SuperviseError::Setup)?,
        children: ChildSignal::block().map_err(SuperviseError::Setup)?,
    };
    process::become_subreaper().map_err(SuperviseError::Setup)?;

    let root = Root::open(&options.root)?;
    let directory = root.supervisor_directory(&machine);
    let mut work = Work::new(&root, machine, options, signals);
    let own = process::identity_of(std::process::id()).map_err(SuperviseError::Setup)?;
    while let Some(lock) = directory.try_lock()? {
        if let Some(own) = own {
            directory.name_holder(&lock, &own.to_string())?;
        }
        fault::point(points::LOCK_TAKEN).map_err(SuperviseError::Setup)?;
        if work.run()? != Stop::Idle {
            return Ok(());
        }
        if !release(lock, &mut work, || fault::point(points::LOCK_RELEASED))? {
            log::line("supervisor leaves: nothing is open");
            return Ok(());
        }
    }
    Ok(())
}

/// Releases the lock and looks once more: a dispatcher that committed before and saw the lock held relies on that look
/// (STATE.md 3.2). Whether something is open. `released` happens between the two.
fn release(
    lock: Lock,
    work: &mut Work<'_>,
    released: impl FnOnce() -> io::Result<()>,
) -> Result<bool, SuperviseError> {
    drop(lock);
    released().map_err(SuperviseError::Setup)?;
    work.scan();
    Ok(!work.is_idle())
}

#[cfg(test)]
mod tests;
