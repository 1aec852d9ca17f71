//! When data last came in on the connections of a process, as the kernel says (sock_diag(7)). A program that streams what it
//! reads to nobody gives no other sign of life.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with, sockopt,
};

/// Bytes that are read of the kernel's answer at once; it never sends larger pieces.
const ANSWER_BYTES: usize = 64 << 10;
/// Longest wait for the kernel's answer.
const PATIENCE: Duration = Duration::from_secs(1);

// From linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
const HEADER_BYTES: usize = 16;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST_AND_DUMP: u16 = 0x301;
const REQUEST_BYTES: usize = 56;
const MESSAGE_BYTES: usize = 72;
const INODE_OFFSET: usize = 68;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
const INET_DIAG_INFO: u16 = 2;
const TCP: u8 = 6;
const ESTABLISHED: u32 = 1 << 1;
/// Of `tcpi_last_data_recv` in `struct tcp_info` of linux/tcp.h: milliseconds since the last data.
const LAST_DATA_OFFSET: usize = 52;

/// Time since data last came in, for each established TCP connection of this network namespace, by the number of its socket.
///
/// # Errors
/// The kernel can not be asked.
pub(crate) fn since_last_data() -> io::Result<HashMap<u64, Duration>> {
    let mut found = HashMap::new();
    for family in [AddressFamily::INET, AddressFamily::INET6] {
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
        sendto(&socket, &request(family), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        read_all(&socket, &mut found)?;
    }
    Ok(found)
}

/// The numbers of the sockets that a process holds; none when it may not be looked at.
pub(crate) fn of_process(pid: u32) -> Vec<u64> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    descriptors
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// Asks for all established TCP connections, with what TCP knows of them.
fn request(family: AddressFamily) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + REQUEST_BYTES);
    bytes.extend(((HEADER_BYTES + REQUEST_BYTES) as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST_AND_DUMP.to_ne_bytes());
    // Sequence number and sender: one question, one answer.
    bytes.extend([0; 8]);
    let extension = 1_u8 << (INET_DIAG_INFO - 1);
    bytes.extend([family.as_raw() as u8, TCP, extension, 0]);
    bytes.extend(ESTABLISHED.to_ne_bytes());
    bytes.resize(HEADER_BYTES + REQUEST_BYTES, 0);
    bytes
}

fn read_all(socket: &OwnedFd, found: &mut HashMap<u64, Duration>) -> io::Result<()> {
    let mut buffer = vec![0; ANSWER_BYTES];
    loop {
        let (count, _) = recv(socket, &mut buffer, RecvFlags::empty())?;
        if count == 0 || !read_messages(&buffer[..count], found)? {
            return Ok(());
        }
    }
}

/// Takes in the messages of one piece of the answer; `false` when it was the last.
fn read_messages(mut bytes: &[u8], found: &mut HashMap<u64, Duration>) -> io::Result<bool> {
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let length = length as usize;
        let Some(body) = bytes.get(HEADER_BYTES..length) else { break };
        match kind {
            NLMSG_DONE => return Ok(false),
            NLMSG_ERROR => {
                let error = u32_at(body, 0).unwrap_or_default() as i32;
                return Err(io::Error::from_raw_os_error(-error));
            }
            _ => found.extend(connection(body)),
        }
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    Ok(true)
}

/// Number of the socket and time since its last data.
fn connection(body: &[u8]) -> Option<(u64, Duration)> {
    let inode = u32_at(body, INODE_OFFSET)?;
    let mut attributes = body.get(MESSAGE_BYTES..)?;
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        let value = attributes.get(ATTRIBUTE_HEADER_BYTES..length)?;
        if kind == INET_DIAG_INFO {
            let milliseconds = u32_at(value, LAST_DATA_OFFSET)?;
            return Some((inode.into(), Duration::from_millis(milliseconds.into())));
        }
        attributes = attributes.get(aligned(length)..)?;
    }
    None
}

const fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(offset..offset + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    fn number(stream: &TcpStream) -> u64 {
        let link = fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd())).unwrap();
        link.to_str().unwrap()["socket:[".len()..].trim_end_matches(']').parse().unwrap()
    }

    #[test]
    fn data_that_came_in_is_seen_at_its_own_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let own = of_process(std::process::id());
        assert!(own.contains(&number(&receiver)) && own.contains(&number(&sender)));
        // Nothing ever came in at the sender, so its time goes on while the receiver's begins again.
        let until_older = || loop {
            let found = since_last_data().unwrap();
            if found[&number(&sender)] > Duration::from_millis(20) {
                return;
            }
        };
        until_older();
        sender.write_all(b"x").unwrap();
        receiver.read_exact(&mut [0]).unwrap();
        let found = since_last_data().unwrap();
        assert!(found[&number(&receiver)] < found[&number(&sender)], "{found:?}");
    }

    #[test]
    fn a_torn_answer_is_no_connection() {
        assert_eq!(connection(&[0; MESSAGE_BYTES]), None);
        let mut body = vec![0; MESSAGE_BYTES];
        body.extend(60_u16.to_ne_bytes());
        body.extend(INET_DIAG_INFO.to_ne_bytes());
        body.extend([0; 20]);
        assert_eq!(connection(&body), None);
        let mut found = HashMap::new();
        assert!(read_messages(&[1; 30], &mut found).unwrap() && found.is_empty());
    }
}
