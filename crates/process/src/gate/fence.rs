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
use rustix::thread::{CapabilitySet, capabilities, clear_ambient_capability_set, set_capabilities};

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
    for proof in order.access.iter().flat_map(|access| [access.proof_allowed, access.proof_refused]) {
        // What can not be read now would seem to be refused by the fence.
        open_to_read(proof).map_err(|error| (GateStep::Grants, error.into()))?;
    }
    let places = open_directories(&order.forbidden).map_err(|error| (GateStep::FenceProof, error))?;
    let provable = places.iter().any(is_writable_without_fence);
    restrict(directories, files, order.access.as_ref()).map_err(|error| (GateStep::Fence, error))?;
    if order.access.is_some() {
        give_up_sight().map_err(|error| (GateStep::Fence, error))?;
    }
    let proof = || {
        if !provable {
            return Err(Errno::NOTRECOVERABLE.into());
        }
        places.iter().try_for_each(prove_refused)?;
        order.access.as_ref().map_or(Ok(()), prove_access)
    };
    proof().map_err(|error| (GateStep::FenceProof, error))
}

/// Gives up the capabilities with which a superuser's process sees the memory and environment of processes outside of the
/// fence, whatever Landlock says (newer kernels let CAP_PERFMON read both).
fn give_up_sight() -> io::Result<()> {
    let sight = CapabilitySet::PERFMON | CapabilitySet::SYS_ADMIN;
    let mut own = capabilities(None)?;
    if !own.permitted.intersects(sight) {
        // No program that this one executes can get more: the fence has taken that away from all of them.
        return Ok(());
    }
    clear_ambient_capability_set()?;
    own.effective.remove(sight);
    own.permitted.remove(sight);
    own.inheritable.remove(sight);
    Ok(set_capabilities(None, own)?)
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

fn restrict(
    directories: Vec<OwnedFd>,
    files: Vec<OwnedFd>,
    access: Option<&AccessOrder<'_>>,
) -> io::Result<()> {
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
            ruleset =
                ruleset.add_rule(PathBeneath::new(file, reads | AccessFs::WriteFile | AccessFs::Truncate))?;
        }
        Ok(ruleset)
    };
    let mut ruleset = build().map_err(|error| system_error(&error))?;
    if let Some(access) = access {
        ruleset = grant(ruleset, &access.readable, AccessFs::ReadFile.into())?;
        ruleset = grant(ruleset, &access.executable, AccessFs::ReadFile | AccessFs::Execute)?;
    }
    let status = ruleset.restrict_self().map_err(|error| system_error(&error))?;
    if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
        Ok(())
    } else {
        Err(Errno::OPNOTSUPP.into())
    }
}

/// Grants what is there of some paths. One is open at a time: "all but a directory" can be thousands.
fn grant(
    mut ruleset: RulesetCreated,
    paths: &[&CStr],
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    for path in paths.iter().copied() {
        match retry_on_intr(|| open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())) {
            Ok(granted) => {
                let rule = PathBeneath::new(granted, access);
                ruleset = ruleset.add_rule(rule).map_err(|error| system_error(&error))?;
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(ruleset)
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
