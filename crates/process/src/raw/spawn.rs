//! Starting a process that is born in a cgroup. No safe interface offers that, and moving a process there afterwards takes a
//! grace period of the kernel, some ten milliseconds.

use std::ffi::{CStr, c_char};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// `CLONE_INTO_CGROUP` of `linux/sched.h`. Linux 5.7.
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// What a child exits with that could not execute its program.
const EXIT_NOT_EXECUTED: libc::c_int = 127;

/// `struct clone_args` of `linux/sched.h` in its third size; the kernel is told the size.
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    process_descriptor: u64,
    child_thread: u64,
    parent_thread: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    thread_storage: u64,
    set_thread: u64,
    set_thread_size: u64,
    cgroup: u64,
}

/// What is executed, to the letter.
pub(crate) struct Execution<'a> {
    /// Path of the program.
    pub(crate) program: &'a CStr,
    /// Its arguments, the name first.
    pub(crate) arguments: &'a [&'a CStr],
    /// Its environment.
    pub(crate) environment: &'a [&'a CStr],
    /// Standard input. Not one of the three standard descriptors itself.
    pub(crate) input: BorrowedFd<'a>,
    /// Standard output and error; likewise.
    pub(crate) output: BorrowedFd<'a>,
}

/// Starts a child of this process in the cgroup whose directory is `cgroup`, and answers its process number. The child
/// inherits signal mask and dispositions, and every descriptor that is not close-on-exec. One that can not execute the
/// program exits with 127.
pub(crate) fn spawn_into_cgroup(cgroup: BorrowedFd<'_>, execution: &Execution<'_>) -> io::Result<u32> {
    // Everything that needs memory is made before the child exists.
    let arguments = pointers(execution.arguments);
    let environment = pointers(execution.environment);
    let program = execution.program.as_ptr();
    let descriptors = [
        (execution.input.as_raw_fd(), libc::STDIN_FILENO),
        (execution.output.as_raw_fd(), libc::STDOUT_FILENO),
        (execution.output.as_raw_fd(), libc::STDERR_FILENO),
    ];
    let request = CloneArguments {
        flags: CLONE_INTO_CGROUP,
        exit_signal: libc::SIGCHLD.unsigned_abs().into(),
        cgroup: u64::from(cgroup.as_raw_fd().unsigned_abs()),
        ..CloneArguments::default()
    };
    // SAFETY: the kernel reads `request`, whose layout and size are its own. No memory is shared with the child: it goes on
    // here, alone, in a copy, with a copy of this stack.
    let answer = unsafe { libc::syscall(libc::SYS_clone3, &raw const request, size_of::<CloneArguments>()) };
    if answer != 0 {
        return u32::try_from(answer).map_err(|_| io::Error::last_os_error());
    }
    // SAFETY: this is the child, and other threads of the parent may have held any lock: only calls follow that are safe
    // after a fork. The pointers lead to strings and to lists ended by a null pointer, all of which this copy owns.
    unsafe {
        for (from, to) in descriptors {
            if libc::dup2(from, to) < 0 {
                libc::_exit(EXIT_NOT_EXECUTED);
            }
        }
        libc::execve(program, arguments.as_ptr(), environment.as_ptr());
        libc::_exit(EXIT_NOT_EXECUTED)
    }
}

/// A list as `execve` takes it.
fn pointers(strings: &[&CStr]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_has_the_third_size_of_the_kernel() {
        assert_eq!(size_of::<CloneArguments>(), 88);
    }
}
