//! Orphans come home: being the subreaper, and reaping what arrives (STATE.md 6).

use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, WaitId, WaitIdOptions, WaitOptions, child_subreaper, getpid, set_child_subreaper, wait, waitid,
};

use crate::child::Ending;
use crate::identity::ProcessIdentity;
use crate::procfs;

/// A child of this process that had ended and was reaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaped {
    /// Its process number, which may be reused from now on.
    pub pid: u32,
    /// How it ended.
    pub ending: Ending,
}

/// Makes this process the parent of every descendant whose own parent ends. Asks the kernel afterwards whether it is so.
///
/// # Errors
/// The kernel refuses or does not know it.
pub fn become_subreaper() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    if is_subreaper()? { Ok(()) } else { Err(io::Error::from(io::ErrorKind::Unsupported)) }
}

/// Whether orphaned descendants become children of this process.
pub(crate) fn is_subreaper() -> io::Result<bool> {
    Ok(child_subreaper()?.is_some())
}

/// Reaps every child of this process that has ended, apart from `keep`, and says how each one ended. Does not wait.
///
/// This takes direct children as well as orphans that came home: whoever waits for a child in another way names it in
/// `keep`. (A [`crate::Child`] left out still learns its ending where the kernel keeps it.)
///
/// # Errors
/// The list of children can not be read, or the kernel could not wait.
pub fn reap_orphans(keep: &[ProcessIdentity]) -> io::Result<Vec<Reaped>> {
    if keep.is_empty() {
        return reap_all();
    }
    let mut reaped = Vec::new();
    for pid in procfs::own_children()? {
        if !keep.iter().any(|kept| kept.pid == pid) {
            reaped.extend(reap_one(pid)?);
        }
    }
    Ok(reaped)
}

fn reap_all() -> io::Result<Vec<Reaped>> {
    let mut reaped = Vec::new();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => reaped.push(Reaped {
                pid: number(pid),
                ending: match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Ending::Exited(code),
                    (None, Some(signal)) => Ending::Signalled(signal),
                    (None, None) => Ending::Ended,
                },
            }),
            Ok(None) | Err(Errno::CHILD) => return Ok(reaped),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reaps that child if it has ended; a number that is no child of ours is left alone.
pub(crate) fn reap_one(pid: u32) -> io::Result<Option<Reaped>> {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    match waitid(WaitId::Pid(target), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
        Ok(status) => Ok(status.map(|status| Reaped { pid, ending: Ending::from_wait_id(&status) })),
        Err(Errno::CHILD) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}
