//! What the starter and the gate say to each other.
//!
//! Starter to gate: a header (magic, length of the body) that carries the descriptors, the body, later one byte [`GO`].
//! Gate to starter: at most two [`Answer`]s. Both ends are the same program, so the form has no versions: the magic only
//! keeps a gate of another build from misreading a launch.

use std::ffi::{CStr, OsStr};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::{LaunchSpec, Program};
use crate::error::{GateStep, StartError};
use crate::fence::Fence;
use crate::limits::LAUNCH_SPEC_MAX_BYTES;

/// The byte that lets the gate execute.
pub(super) const GO: u8 = b'g';

/// Size of an encoded [`Answer`].
pub(super) const ANSWER_BYTES: usize = 8;

/// Standard input, output and error, and perhaps the executable.
const DESCRIPTORS_MAX: usize = 4;

const MAGIC: &[u8; 8] = b"dlggate1";
const HEADER_BYTES: usize = 16;
const NUMBERS: usize = 14;

/// What the gate says.
#[derive(Debug)]
pub(super) enum Answer {
    /// Everything is arranged.
    Ready,
    /// A step failed; the gate exits.
    Failed(GateStep, io::Error),
}

impl Answer {
    pub(super) fn encode(&self) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        match self {
            Self::Ready => bytes[0] = b'r',
            Self::Failed(step, error) => {
                bytes[0] = b'f';
                bytes[1] = step.number();
                let number = error.raw_os_error().unwrap_or(Errno::PROTO.raw_os_error());
                bytes[4..].copy_from_slice(&number.to_le_bytes());
            }
        }
        bytes
    }

    pub(super) fn decode(bytes: [u8; ANSWER_BYTES]) -> Option<Self> {
        let [kind, step, _, _, number @ ..] = bytes;
        match kind {
            b'r' => Some(Self::Ready),
            b'f' => Some(Self::Failed(
                GateStep::from_number(step)?,
                io::Error::from_raw_os_error(i32::from_le_bytes(number)),
            )),
            _ => None,
        }
    }
}

/// A launch as the gate reads it, borrowed from the received body.
#[derive(Debug)]
pub(super) struct Order<'body> {
    /// Path of the program; `None` when it is executed by the fourth descriptor.
    pub(super) program: Option<&'body CStr>,
    pub(super) directory: &'body CStr,
    pub(super) argv: Vec<&'body CStr>,
    pub(super) environment: Vec<&'body CStr>,
    pub(super) umask: u32,
    pub(super) open_files_limit: Option<u64>,
    /// The fence that the gate has to raise.
    pub(super) fence: Option<FenceOrder<'body>>,
    /// Whether the end of the starter is the end of the child.
    pub(super) dies_with_starter: bool,
}

/// What the fence of an [`Order`] allows, and where it is proved.
#[derive(Debug)]
pub(super) struct FenceOrder<'body> {
    pub(super) directories: Vec<&'body CStr>,
    pub(super) files: Vec<&'body CStr>,
    pub(super) forbidden: Vec<&'body CStr>,
    pub(super) access: Option<AccessOrder<'body>>,
}

/// What the fence of an [`Order`] leaves to be read and executed, and how that is proved.
#[derive(Debug)]
pub(super) struct AccessOrder<'body> {
    pub(super) readable: Vec<&'body CStr>,
    pub(super) executable: Vec<&'body CStr>,
    pub(super) proof_allowed: &'body CStr,
    pub(super) proof_refused: &'body CStr,
}

/// The body: fourteen numbers, then the strings, each ended by NUL.
pub(super) fn encode(spec: &LaunchSpec) -> Result<Vec<u8>, StartError> {
    let fence = match &spec.fence {
        Fence::Ours(fence) => Some(fence),
        Fence::None | Fence::Theirs => None,
    };
    let paths = fence.map_or([&[][..]; 3], |fence| [&fence.directories, &fence.files, &fence.forbidden]);
    let access = fence.and_then(|fence| fence.access.as_ref());
    let reads = access.map_or([&[][..]; 2], |access| [&access.readable, &access.executable]);
    let proofs = access.map(|access| [access.proof_allowed.as_path(), access.proof_refused.as_path()]);
    let numbers: [u64; NUMBERS] = [
        u64::from(matches!(spec.program, Program::Path(_))),
        u64::from(spec.umask),
        u64::from(spec.open_files_limit.is_some()),
        spec.open_files_limit.unwrap_or(0),
        spec.argv.len() as u64,
        spec.environment.len() as u64,
        u64::from(fence.is_some()),
        paths[0].len() as u64,
        paths[1].len() as u64,
        paths[2].len() as u64,
        u64::from(access.is_some()),
        reads[0].len() as u64,
        reads[1].len() as u64,
        u64::from(spec.dies_with_starter),
    ];
    let mut body: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let program = match &spec.program {
        Program::Path(path) => Some(path.as_os_str()),
        Program::Descriptor(_) => None,
    };
    let lists = spec.argv.iter().chain(&spec.environment).map(|string| string.as_os_str());
    let paths = paths.into_iter().chain(reads).flatten().map(|path| path.as_os_str());
    let paths = paths.chain(proofs.into_iter().flatten().map(std::path::Path::as_os_str));
    let strings = program.into_iter().chain([spec.directory.as_os_str()]).chain(lists).chain(paths);
    for string in strings {
        append(&mut body, string)?;
    }
    Ok(body)
}

fn append(body: &mut Vec<u8>, string: &OsStr) -> Result<(), StartError> {
    let bytes = string.as_bytes();
    if bytes.contains(&0) {
        return Err(StartError::Specification("a string holds a NUL byte"));
    }
    if body.len() + bytes.len() >= LAUNCH_SPEC_MAX_BYTES {
        return Err(StartError::Specification("arguments, environment and paths are too long"));
    }
    body.extend_from_slice(bytes);
    body.push(0);
    Ok(())
}

/// Reads a body; `None` when it is not one.
pub(super) fn decode(body: &[u8]) -> Option<Order<'_>> {
    let mut rest = body;
    let mut numbers = [0; NUMBERS];
    for number in &mut numbers {
        let (bytes, after) = rest.split_first_chunk()?;
        rest = after;
        *number = u64::from_le_bytes(*bytes);
    }
    let [by_path, umask, has_limit, limit, arguments, variables, has_fence, rest_of_numbers @ ..] = numbers;
    let [directories, files, forbidden, has_access, readable, executable, dies_with_starter] =
        rest_of_numbers;
    let mut string = || -> Option<&CStr> {
        let string = CStr::from_bytes_until_nul(rest).ok()?;
        rest = rest.get(string.count_bytes() + 1..)?;
        Some(string)
    };
    let program = if by_path != 0 { Some(string()?) } else { None };
    let directory = string()?;
    let mut strings = |count: u64| (0..count).map(|_| string()).collect::<Option<Vec<_>>>();
    let (argv, environment) = (strings(arguments)?, strings(variables)?);
    let (directories, files, forbidden) = (strings(directories)?, strings(files)?, strings(forbidden)?);
    let (readable, executable) = (strings(readable)?, strings(executable)?);
    let access = match has_access {
        0 => None,
        _ => Some(AccessOrder { readable, executable, proof_allowed: string()?, proof_refused: string()? }),
    };
    let fence = FenceOrder { directories, files, forbidden, access };
    rest.is_empty().then_some(Order {
        program,
        directory,
        argv,
        environment,
        umask: u32::try_from(umask).ok()?,
        open_files_limit: (has_limit != 0).then_some(limit),
        fence: (has_fence != 0).then_some(fence),
        dies_with_starter: dies_with_starter != 0,
    })
}

/// Sends a launch: header and descriptors together, then the body.
pub(super) fn send_launch(
    socket: BorrowedFd<'_>,
    body: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::INVAL.into());
    }
    let sent = sendmsg(socket, &[IoSlice::new(&header)], &mut control, SendFlags::NOSIGNAL)?;
    send(socket, &header[sent..])?;
    send(socket, body)
}

/// Sends all bytes. A closed other end is an error and never a signal.
pub(super) fn send(socket: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = bytes.get(sent..).unwrap_or(&[]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Receives a launch: its body and the descriptors, all of them close-on-exec.
pub(super) fn receive_launch(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut header = [0; HEADER_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(&mut header)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptors: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    receive(socket, header.get_mut(received.bytes..).unwrap_or(&mut []))?;
    let (magic, length) = header.split_at(MAGIC.len());
    let length = length
        .first_chunk()
        .map(|length| u64::from_le_bytes(*length))
        .and_then(|length| usize::try_from(length).ok())
        .filter(|length| magic == MAGIC && *length <= LAUNCH_SPEC_MAX_BYTES)
        .ok_or(Errno::PROTO)?;
    let mut body = vec![0; length];
    receive(socket, &mut body)?;
    Ok((body, descriptors))
}

fn receive(socket: BorrowedFd<'_>, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match rustix::io::read(socket, &mut *buffer) {
            Ok(0) => return Err(Errno::PROTO.into()),
            Ok(read) => buffer = buffer.get_mut(read..).unwrap_or(&mut []),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
