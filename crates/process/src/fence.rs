//! The write fence: what a child may write, whatever it or its program promises (STATE.md 7).

use std::fmt;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::raw;

/// What keeps a child from writing where it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fence {
    /// Nothing.
    None,
    /// The sandbox that the program brings itself; nothing is added here.
    Theirs,
    /// The kernel (Landlock), for the child and all its descendants, for as long as they live.
    Ours(WriteFence),
}

/// Where a child may write; everywhere else the kernel refuses to create, write, truncate, rename, link and remove. Not
/// limited: reading, executing, changing modes, owners and times, Unix sockets, the network.
///
/// The child gains no privilege by executing (`no_new_privs`), and where the kernel can tell (Landlock 6), it signals only
/// processes behind the same fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteFence {
    /// Directories, below which everything but making device files is allowed. Each must exist and be named without a
    /// symbolic link.
    pub directories: Vec<PathBuf>,
    /// Existing files, devices above all, and directories of such, that may be opened for writing and be cut, and nothing else. One that
    /// is missing is not granted.
    pub files: Vec<PathBuf>,
    /// Directories by which the gate proves the fence: creating a file there must be refused once it stands. In at least one
    /// of them this user could create a file without the fence; else nothing would be proved.
    pub forbidden: Vec<PathBuf>,
    /// What may be read and executed; without a value neither is limited.
    pub access: Option<AccessFence>,
}

/// What a child may read and execute beside what it may write. The contents of files alone are kept back: names, kinds and
/// modes stay visible everywhere, so that a program can walk to what it may read.
///
/// A file that may be written may be read too. A program that is executed needs its loader and, for a script, its interpreter
/// among the executable files; libraries are only read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessFence {
    /// Files and directories below which file contents may be read. What is missing is not granted.
    pub readable: Vec<PathBuf>,
    /// Files, and directories below which files, may be executed and read. What is missing is not granted.
    pub executable: Vec<PathBuf>,
    /// An existing file that is granted: the gate proves that it can be opened once the fence stands.
    pub proof_allowed: PathBuf,
    /// An existing file that is not granted and that this user could read: the gate proves that opening it is refused.
    pub proof_refused: PathBuf,
}

/// How much of the fence this kernel offers to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenceSupport {
    /// Writes and signals (Landlock 6, Linux 6.12).
    WritesAndSignals {
        /// The version of the kernel's interface.
        abi: u32,
    },
    /// Writes of every kind (Landlock 3, Linux 6.2).
    Writes {
        /// The version of the kernel's interface.
        abi: u32,
    },
    /// Not every kind of write: a kernel before Linux 6.2 can not refuse to truncate.
    TooOld {
        /// The version of the kernel's interface.
        abi: u32,
    },
    /// The kernel has Landlock, and it is switched off at boot.
    Disabled,
    /// The kernel has no Landlock (before Linux 5.13, or built without), or a filter of system calls hides it.
    Missing,
}

impl FenceSupport {
    /// Whether [`Fence::Ours`] can be had.
    pub fn is_sufficient(self) -> bool {
        matches!(self, Self::WritesAndSignals { .. } | Self::Writes { .. })
    }
}

impl fmt::Display for FenceSupport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WritesAndSignals { abi } => write!(formatter, "Landlock {abi}: writes and signals"),
            Self::Writes { abi } => write!(formatter, "Landlock {abi}: writes, not signals"),
            Self::TooOld { abi } => {
                write!(formatter, "Landlock {abi} is too old: version 3 is needed (Linux 6.2)")
            }
            Self::Disabled => formatter.write_str("Landlock is switched off in this kernel"),
            Self::Missing => formatter.write_str("the kernel offers no Landlock to this process"),
        }
    }
}

/// Asks the kernel how much of the fence it offers. Cheap: one system call.
pub fn fence_support() -> FenceSupport {
    match raw::landlock_version() {
        Ok(abi @ 6..) => FenceSupport::WritesAndSignals { abi },
        Ok(abi @ 3..6) => FenceSupport::Writes { abi },
        Ok(abi) => FenceSupport::TooOld { abi },
        Err(error) if error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error()) => FenceSupport::Disabled,
        Err(_) => FenceSupport::Missing,
    }
}
