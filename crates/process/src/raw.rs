//! The only `unsafe` code: calls that no safe wrapper offers. Each function here is safe to call.

#![allow(unsafe_code)]

mod spawn;

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::process::Signal;

pub(crate) use spawn::{Execution, spawn_into_cgroup};

/// `CLOSE_RANGE_CLOEXEC` of `linux/close_range.h`: mark instead of closing. Linux 5.11.
const CLOSE_RANGE_CLOSE_ON_EXEC: libc::c_uint = 1 << 2;
/// `PIDFD_SIGNAL_PROCESS_GROUP` of `linux/pidfd.h`. Linux 6.9.
const PIDFD_SIGNAL_PROCESS_GROUP: libc::c_uint = 1 << 2;
/// `PIDFD_INFO_EXIT` of `linux/pidfd.h`: the exit status is asked for, or was answered. Linux 6.15.
const PIDFD_INFO_EXIT: u64 = 1 << 3;

/// `LANDLOCK_CREATE_RULESET_VERSION` of `linux/landlock.h`: nothing is made, the version is answered. Linux 5.13.
const LANDLOCK_CREATE_RULESET_VERSION: libc::c_uint = 1;

/// The largest signal number, `_NSIG` of the kernel.
const SIGNAL_MAX: libc::c_int = 64;

/// `struct pidfd_info` of `linux/pidfd.h` in its first size; the kernel takes the size from the request.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    mask: u64,
    control_group: u64,
    process: u32,
    thread_group: u32,
    parent: u32,
    credentials: [u32; 8],
    exit_status: i32,
}

/// `PIDFD_GET_INFO` of `linux/pidfd.h`.
const PIDFD_GET_INFO: Opcode = opcode::read_write::<PidfdInfo>(0xff, 11);

/// Whether a signal is ignored.
pub(crate) fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed, and the C library fills its own record, for which all zeros are a value as well.
    let action = unsafe {
        if libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        action.assume_init()
    };
    Ok(action.sa_sigaction == libc::SIG_IGN)
}

/// Gives every signal its default disposition: those that the Rust runtime ignores or handles, and those that the C library
/// keeps for itself and a careless ancestor may have left ignored, which is why the library is not asked.
pub(crate) fn reset_signal_dispositions() {
    // The kernel's record is at most this long on any architecture, and all zeros mean: default, no flags, empty mask.
    let default = [0_u64; 8];
    for signal in 1..=SIGNAL_MAX {
        // SAFETY: the kernel reads its record from `default`, which is longer, and is asked for no old one. It refuses
        // the two signals that can not be changed.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null_mut::<u64>(),
                size_of::<u64>(),
            )
        };
    }
}

/// Marks every descriptor from `first` upwards close-on-exec.
pub(crate) fn close_on_exec_from(first: u32) -> io::Result<()> {
    if close_range(first, CLOSE_RANGE_CLOSE_ON_EXEC).is_ok() {
        return Ok(());
    }
    for descriptor in open_descriptors_from(first)? {
        // SAFETY: setting a flag of a descriptor number touches no memory; a number that is closed meanwhile is refused.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}

/// Closes every descriptor from `first` upwards. The caller must own none of them any more: this is for the first act of
/// a process, when nothing but the three standard descriptors belongs to anybody.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    if close_range(first, 0).is_ok() {
        return Ok(());
    }
    for descriptor in open_descriptors_from(first)? {
        // SAFETY: closing touches no memory, and by the contract of this function nobody relies on the descriptor.
        unsafe { libc::close(descriptor) };
    }
    Ok(())
}

fn close_range(first: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes three numbers and touches no memory. That nobody owns the closed descriptors is the
    // contract of the callers.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn open_descriptors_from(first: u32) -> io::Result<Vec<RawFd>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        if let Some(number) = entry?.file_name().to_str()
            && let Ok(number) = number.parse::<u32>()
            && number >= first
            && let Ok(number) = RawFd::try_from(number)
        {
            found.push(number);
        }
    }
    Ok(found)
}

/// Sends `signal` to every process in the group whose number is that of the process behind `pidfd`. The descriptor keeps
/// the number from meaning anything else, so this is exact even after the leader is gone. Linux 6.9.
pub(crate) fn signal_group(pidfd: BorrowedFd<'_>, signal: Signal) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed and open, and the null pointer stands for "no additional information".
    let answer = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal.as_raw(),
            ptr::null::<libc::siginfo_t>(),
            PIDFD_SIGNAL_PROCESS_GROUP,
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The version of Landlock that the kernel offers to this process.
pub(crate) fn landlock_version() -> io::Result<u32> {
    // SAFETY: with this flag the call takes no memory, and asks for the null pointer and the length zero.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// The wait status of the process behind `pidfd`, once its parent has reaped it; `None` while that is not so or where the
/// kernel does not keep it (before Linux 6.15).
pub(crate) fn reaped_wait_status(pidfd: BorrowedFd<'_>) -> Option<i32> {
    let mut info = PidfdInfo { mask: PIDFD_INFO_EXIT, ..PidfdInfo::default() };
    // SAFETY: the request reads and writes one `PidfdInfo`, whose layout is the kernel's, and nothing beyond the size
    // that is part of the request number.
    let request = unsafe { Updater::<'_, PIDFD_GET_INFO, PidfdInfo>::new(&mut info) };
    // SAFETY: as above; the descriptor is borrowed and open. A descriptor of another kind refuses the request.
    unsafe { ioctl(pidfd, request) }.ok()?;
    (info.mask & PIDFD_INFO_EXIT != 0).then_some(info.exit_status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_information_record_has_the_first_size_of_the_kernel() {
        assert_eq!(size_of::<PidfdInfo>(), 64);
    }
}
