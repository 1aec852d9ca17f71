//! Raises the write fence around this very process, and proves it (STATE.md 3.4, 7).

use std::error::Error;
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use landlock::{
    AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};
use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, ResolveFlags, accessat, open, openat, openat2, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::getpid;

use super::wire::{AccessOrder, FenceOrder};
use crate::error::GateStep;
use crate::fence::{FenceSupport, fence_support};

type Failure = (GateStep, io::Error);

/// Everything that changes what is in a directory or file. The control of devices (`ioctl`) is left alone, because
/// programs control the terminals that they were given.
const WRITES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | Refer | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym |
    MakeChar | MakeBlock
});
/// What is allowed below a granted directory. A device file made there would lead to the whole disk.
const WRITES_BELOW: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | Refer | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym
});

/// Restricts this process, and all that it will start, to what the order allows.
pub(super) fn raise(order: &FenceOrder<'_>) -> Result<(), Failure> {
    let directories = open_directories(&order.directories).map_err(|error| (GateStep::Grants, error))?;
    let files = open_files(&order.files).map_err(|error| (GateStep::Grants, error))?;
    let access = order.access.as_ref().map(AccessGrants::open).transpose();
    let access = access.map_err(|error| (GateStep::Grants, error))?;
    let places = open_directories(&order.forbidden).map_err(|error| (GateStep::FenceProof, error))?;
    let provable = places.iter().any(is_writable_without_fence);
    restrict(directories, files, access).map_err(|error| (GateStep::Fence, error))?;
    let proof = || {
        if !provable {
            return Err(Errno::NOTRECOVERABLE.into());
        }
        places.iter().try_for_each(prove_refused)?;
        order.access.as_ref().map_or(Ok(()), prove_access)
    };
    proof().map_err(|error| (GateStep::FenceProof, error))
}

fn open_directories(paths: &[&CStr]) -> io::Result<Vec<OwnedFd>> {
    // A link that somebody put in the place of a granted directory must not carry the grant away.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |path| {
        retry_on_intr(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))
            .map_err(io::Error::from)
    };
    paths.iter().copied().map(open).collect()
}

fn open_files(paths: &[&CStr]) -> io::Result<Vec<OwnedFd>> {
    let mut opened = Vec::with_capacity(paths.len());
    for path in paths.iter().copied() {
        match retry_on_intr(|| open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())) {
            Ok(file) => opened.push(file),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(opened)
}

/// What is left to be read and executed, opened.
struct AccessGrants {
    readable: Vec<OwnedFd>,
    executable: Vec<OwnedFd>,
}

impl AccessGrants {
    /// A file that the proof would take for granted or for refused must be there and readable now; else nothing is proved.
    fn open(order: &AccessOrder<'_>) -> io::Result<Self> {
        for proof in [order.proof_allowed, order.proof_refused] {
            open_to_read(proof)?;
        }
        Ok(Self { readable: open_files(&order.readable)?, executable: open_files(&order.executable)? })
    }
}

fn open_to_read(path: &CStr) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty()))
}

fn prove_access(order: &AccessOrder<'_>) -> io::Result<()> {
    open_to_read(order.proof_allowed)?;
    match open_to_read(order.proof_refused) {
        Err(Errno::ACCESS) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(Errno::NOTRECOVERABLE.into()),
    }
}

fn restrict(directories: Vec<OwnedFd>, files: Vec<OwnedFd>, access: Option<AccessGrants>) -> io::Result<()> {
    let support = fence_support();
    if !support.is_sufficient() {
        return Err(Errno::OPNOTSUPP.into());
    }
    let build = || -> Result<RulesetCreated, landlock::RulesetError> {
        // A directory or file that may be written may be read as well.
        let reads = if access.is_some() { BitFlags::from(AccessFs::ReadFile) } else { BitFlags::empty() };
        let mut ruleset =
            Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(WRITES)?;
        if access.is_some() {
            ruleset = ruleset.handle_access(reads | AccessFs::Execute)?;
        }
        if matches!(support, FenceSupport::WritesAndSignals { .. }) {
            ruleset = ruleset.scope(Scope::Signal)?;
        }
        let mut ruleset = ruleset.create()?;
        for directory in directories {
            ruleset = ruleset.add_rule(PathBeneath::new(directory, WRITES_BELOW | reads))?;
        }
        for file in files {
            ruleset = ruleset.add_rule(PathBeneath::new(file, reads | AccessFs::WriteFile))?;
        }
        for granted in access.iter().flat_map(|access| &access.readable) {
            ruleset = ruleset.add_rule(PathBeneath::new(granted, AccessFs::ReadFile))?;
        }
        for granted in access.iter().flat_map(|access| &access.executable) {
            ruleset = ruleset.add_rule(PathBeneath::new(granted, AccessFs::ReadFile | AccessFs::Execute))?;
        }
        Ok(ruleset)
    };
    let status = build().and_then(RulesetCreated::restrict_self).map_err(|error| system_error(&error))?;
    if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
        Ok(())
    } else {
        Err(Errno::OPNOTSUPP.into())
    }
}

/// The error of the system call at the bottom of an error; without one the library refused by itself.
fn system_error(error: &(dyn Error + 'static)) -> io::Error {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(code) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(code);
        }
        next = error.source();
    }
    Errno::OPNOTSUPP.into()
}

/// Whether user, modes and mount would allow to create a file there: the fence is no part of this answer.
fn is_writable_without_fence(place: &OwnedFd) -> bool {
    accessat(place, c".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

fn prove_refused(place: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    // A name of this process alone: a file that is there already would answer instead of the fence.
    let name = format!(".write-fence-proof-{}", getpid().as_raw_pid());
    match retry_on_intr(|| openat(place, &name, flags, Mode::RUSR | Mode::WUSR)) {
        // Where user or mount forbid it anyway, the other places prove the fence.
        Err(Errno::ACCESS | Errno::ROFS) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(created) => {
            drop(created);
            unlinkat(place, &name, AtFlags::empty())?;
            Err(Errno::NOTRECOVERABLE.into())
        }
    }
}
