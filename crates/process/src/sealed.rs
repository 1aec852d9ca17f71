//! The input of a child as bytes that nobody can change any more.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

/// A copy of some bytes in memory that is sealed against every change and positioned at its start (STATE.md 3.4). A
/// child that re-opens its own input can therefore not rewrite what it was asked.
#[derive(Debug)]
pub struct SealedInput(File);

impl SealedInput {
    /// Copies `bytes` and seals the copy.
    ///
    /// # Errors
    /// No memory, no descriptor left, or `/proc` is not there.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let mut writer = File::from(create_memory_file()?);
        writer.write_all(bytes)?;
        fcntl_add_seals(&writer, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        // A second opening, because a descriptor can not give up its right to write and starts where the writer ended.
        OpenOptions::new().read(true).open(format!("/proc/self/fd/{}", writer.as_raw_fd())).map(Self)
    }
}

impl AsFd for SealedInput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn create_memory_file() -> io::Result<std::os::fd::OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know that a memory file can be closed to execution.
    match memfd_create(c"input", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => Ok(memfd_create(c"input", flags)?),
        answer => Ok(answer?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_bytes_are_read_from_the_start() {
        let mut input = SealedInput::from_bytes(b"brief").expect("a sealed input");
        let mut text = String::new();
        input.0.read_to_string(&mut text).expect("readable");
        assert_eq!(text, "brief");
    }

    #[test]
    fn a_new_opening_for_writing_can_not_change_the_bytes() {
        let input = SealedInput::from_bytes(b"brief").expect("a sealed input");
        let path = format!("/proc/self/fd/{}", input.0.as_raw_fd());
        if let Ok(mut writer) = OpenOptions::new().write(true).open(&path) {
            assert!(writer.write_all(b"other").is_err());
            assert!(writer.set_len(0).is_err());
            assert!(writer.set_len(100).is_err());
        }
        assert!((&input.0).write_all(b"other").is_err());
        assert_eq!(std::fs::read(&path).expect("readable"), b"brief");
    }
}
