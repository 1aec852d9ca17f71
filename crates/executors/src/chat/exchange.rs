//! One HTTP exchange by this program's own client: no proxy, no redirect, no retry, no other tool's configuration
//! (runners.md 5.2).

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, TryRecvError};
use std::time::Duration;

use process::TerminationSignals;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::common::key::Key;

/// What is sent, and how long it may take.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) url: String,
    pub(super) key: Option<Key>,
    /// The JSON body of a POST; nothing for a GET.
    pub(super) body: Option<Vec<u8>>,
    pub(super) connect: Duration,
    pub(super) total: Duration,
    pub(super) response_max_bytes: u64,
    pub(super) user_agent: &'static str,
    pub(super) is_loopback: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Exchange {
    /// A whole response. A body that is too long is cut one byte beyond the limit.
    Complete { status: u16, body: Vec<u8> },
    /// None, with curl's number for the trouble: the field of the diagnostic is older than this program.
    Broken { curl_exit_code: u8, words: String },
    /// This process was asked to end meanwhile.
    Interrupted(i32),
}

/// What curl calls a time limit that passed.
pub(super) const TIMED_OUT: u8 = 28;
/// What curl calls a name that nobody knows.
const HOST_NOT_FOUND: u8 = 6;
/// What curl calls a server that is not there.
const NOT_CONNECTED: u8 = 7;
/// What curl calls an exchange that broke; every other trouble counts as one.
const NOT_RECEIVED: u8 = 56;

/// Sends a request once and waits for the response, the end of the time, or a signal.
pub(super) fn exchange(order: Order, signals: &TerminationSignals) -> Exchange {
    done_by_another_thread(move || perform(&order), signals)
}

/// Waits for what another thread does, or for a signal.
fn done_by_another_thread(
    work: impl FnOnce() -> Exchange + Send + 'static,
    signals: &TerminationSignals,
) -> Exchange {
    let broken =
        |error: io::Error| Exchange::Broken { curl_exit_code: NOT_RECEIVED, words: error.to_string() };
    let (ours, theirs) = match UnixStream::pair() {
        Ok(pair) => pair,
        Err(error) => return broken(error),
    };
    let (send, receive) = mpsc::channel();
    let spawned = std::thread::Builder::new().spawn(move || {
        // Nobody receives it once a signal came.
        let _ = send.send(work());
        drop(theirs);
    });
    if let Err(error) = spawned {
        return broken(error);
    }
    loop {
        let mut descriptors = [
            PollFd::from_borrowed_fd(signals.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(ours.as_fd(), PollFlags::IN),
        ];
        match poll(&mut descriptors, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return broken(error.into()),
        }
        match receive.try_recv() {
            Ok(done) => return done,
            Err(TryRecvError::Disconnected) => {
                return broken(io::Error::other("the thread of the request ended without a word"));
            }
            Err(TryRecvError::Empty) => {}
        }
        if let Some(signal) = signals.take() {
            return Exchange::Interrupted(signal);
        }
    }
}

fn perform(order: &Order) -> Exchange {
    let answered = answered(order).and_then(|mut response| {
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let limit = order.response_max_bytes + 1;
        // Our own limit counts what is unpacked; that of the client would be an error of its own.
        let reader = response.body_mut().with_config().limit(u64::MAX).reader();
        reader.take(limit).read_to_end(&mut body)?;
        Ok(Exchange::Complete { status, body })
    });
    answered.unwrap_or_else(|error| Exchange::Broken {
        curl_exit_code: curl_exit_code(&error),
        words: error.to_string(),
    })
}

fn answered(order: &Order) -> Result<Response<ureq::Body>, ureq::Error> {
    let agent: Agent = Agent::config_builder()
        .proxy(None)
        .https_only(!order.is_loopback)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_connect(Some(order.connect))
        .timeout_global(Some(order.total))
        .user_agent(order.user_agent)
        .accept("application/json")
        .build()
        .into();
    let mut request = Request::builder().uri(&order.url);
    if let Some(key) = &order.key {
        request = request.header("Authorization", format!("Bearer {}", key.expose()));
    }
    match &order.body {
        Some(body) => agent
            .run(request.method("POST").header("Content-Type", "application/json").body(body.as_slice())?),
        None => agent.run(request.method("GET").body(())?),
    }
}

fn curl_exit_code(error: &ureq::Error) -> u8 {
    use io::ErrorKind::{ConnectionRefused, TimedOut, WouldBlock};
    match error {
        ureq::Error::Timeout(_) => TIMED_OUT,
        ureq::Error::HostNotFound => HOST_NOT_FOUND,
        ureq::Error::ConnectionFailed => NOT_CONNECTED,
        ureq::Error::Io(error) => match error.kind() {
            TimedOut | WouldBlock => TIMED_OUT,
            ConnectionRefused => NOT_CONNECTED,
            _ => NOT_RECEIVED,
        },
        _ => NOT_RECEIVED,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_request_that_panics_is_a_broken_exchange() {
        let signals = TerminationSignals::block().unwrap();
        let ended = done_by_another_thread(|| panic!("planned"), &signals);
        assert!(matches!(ended, Exchange::Broken { curl_exit_code: NOT_RECEIVED, .. }), "{ended:?}");
    }

    /// No certificate of a test is trusted, and no other server than the pinned one is reached over TLS: that the client can
    /// speak it at all is seen by what it makes of a server that does not.
    #[test]
    fn a_server_without_tls_is_no_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = [0; 5];
            stream.read_exact(&mut hello).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
            hello
        });
        let order = Order {
            url,
            key: None,
            body: Some(b"{}".to_vec()),
            connect: Duration::from_secs(60),
            total: Duration::from_secs(60),
            response_max_bytes: 100,
            user_agent: "test",
            is_loopback: false,
        };
        let answered = perform(&order);
        assert!(matches!(answered, Exchange::Broken { curl_exit_code: NOT_RECEIVED, .. }), "{answered:?}");
        // A handshake of TLS 1.x, and nothing in the clear.
        assert_eq!(server.join().unwrap()[..2], [0x16, 3]);
        let plain = Order { url: order.url.replace("https", "http"), ..order };
        assert!(matches!(perform(&plain), Exchange::Broken { .. }));
    }
}
