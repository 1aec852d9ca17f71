//! A network namespace that holds nothing but a loopback interface: no real CLI of a test can reach anybody.
//!
//! As root a single thread leaves for a namespace of its own; what it starts later (threads, processes) goes with it.
//! Anybody else needs a user namespace, which only a process of one thread can make: the program
//! `testkit-closed-network` does so and becomes the command that it was given.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

/// Moves the calling thread into a closed network, unless it already is in one.
///
/// # Errors
/// A sentence for the reader of a test's output, when this host or this user does not allow it.
pub fn enter() -> Result<(), String> {
    if is_closed() {
        return Ok(());
    }
    let user = nix::unistd::geteuid();
    let group = nix::unistd::getegid();
    if user.is_root() {
        unshare(CloneFlags::CLONE_NEWNET)
            .map_err(|error| format!("no network namespace of our own: {error}"))?;
    } else {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(|error| {
            format!("not root, and no user namespace of our own ({error}); run under testkit-closed-network")
        })?;
        map_to_root("setgroups", "deny")
            .and_then(|()| map_to_root("uid_map", &format!("0 {user} 1")))
            .and_then(|()| map_to_root("gid_map", &format!("0 {group} 1")))
            .map_err(|error| format!("no identity in the user namespace: {error}"))?;
    }
    bring_loopback_up().map_err(|error| format!("no loopback interface: {error}"))
}

/// Whether the calling thread sees a loopback interface that is up, and no other interface.
#[must_use]
pub fn is_closed() -> bool {
    let Ok(table) = fs::read_to_string("/proc/thread-self/net/dev") else {
        return false;
    };
    let interfaces: Vec<&str> =
        table.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    // The local address is routed only while the interface is up.
    let up =
        fs::read_to_string("/proc/thread-self/net/fib_trie").is_ok_and(|routes| routes.contains("127.0.0.1"));
    interfaces == ["lo"] && up
}

fn map_to_root(file: &str, text: &str) -> io::Result<()> {
    fs::write(format!("/proc/self/{file}"), text)
}

/// Number of the loopback interface in every network.
const LOOPBACK_INDEX: u32 = 1;
/// An address that is nobody's anywhere (RFC 5737).
const NOBODYS_ADDRESS: [u8; 4] = [192, 0, 2, 1];

fn bring_loopback_up() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const INTERFACE_UP: u32 = 1;
    let mut body = vec![0; 4];
    for field in [LOOPBACK_INDEX, INTERFACE_UP, INTERFACE_UP] {
        body.extend(field.to_ne_bytes());
    }
    tell_the_kernel(NEW_LINK, 0, &body)
}

/// Gives the loopback interface of the closed network a second address: to the C library, a machine that has none but
/// `127.0.0.1` is in no network, and it resolves not even that one for programs that ask for what is configured.
///
/// # Errors
/// The kernel's.
pub fn look_connected() -> io::Result<()> {
    const NEW_ADDRESS: u16 = 20;
    const CREATE: u16 = 0x400;
    const INTERNET: u8 = 2;
    const WHOLE_ADDRESS_BITS: u8 = 32;
    const PEER: u16 = 1;
    const LOCAL: u16 = 2;
    const ATTRIBUTE_BYTES: u16 = 8;
    let mut body = vec![INTERNET, WHOLE_ADDRESS_BITS, 0, 0];
    body.extend(LOOPBACK_INDEX.to_ne_bytes());
    for attribute in [LOCAL, PEER] {
        body.extend(ATTRIBUTE_BYTES.to_ne_bytes());
        body.extend(attribute.to_ne_bytes());
        body.extend(NOBODYS_ADDRESS);
    }
    match tell_the_kernel(NEW_ADDRESS, CREATE, &body) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// By a routing message: the one way that needs neither a program nor an `ioctl`.
fn tell_the_kernel(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    const HEADER_BYTES: usize = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    let length = u32::try_from(HEADER_BYTES + body.len()).map_err(io::Error::other)?;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST_AND_ACKNOWLEDGE | flags).to_ne_bytes());
    // Sequence and port stay zero.
    message.extend([0; 8]);
    message.extend(body);

    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    match answer.get(16..20).and_then(|code| code.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) if length >= 20 => Ok(()),
        Some(code) if length >= 20 => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(io::Error::other("a short answer of the kernel")),
    }
}
