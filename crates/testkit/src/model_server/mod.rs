//! A model server on loopback: OpenAI Chat Completions and Responses, Anthropic Messages, streaming or not.
//!
//! It answers what a [`Script`] says. The script of a request is the last `[[script: …]]` marker that the person's
//! messages of the conversation hold, else the default that the server was started with.

mod chat;
mod conversation;
mod failure;
mod http;
mod messages;
mod raw;
mod reply;
mod responses;
mod script;
mod serve;
mod tools;
mod transcript;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use raw::{Delivery, RawResponse};
pub use script::{Failure, RESET_TIME, Script};

use crate::limits::{SEEN_MAX_REQUESTS, TEST_WAIT_MAX_SECONDS};

/// A request that reached the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The HTTP method.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The headers, names in lower case, in their order.
    pub headers: Vec<(String, String)>,
    /// The model that was asked for; empty when the request names none.
    pub model: String,
    /// Length of the body in bytes.
    pub body_bytes: usize,
    /// The beginning of the body, at most [`crate::limits::SEEN_BODY_MAX_BYTES`].
    pub body: Vec<u8>,
}

/// A running server. Dropping it ends it with every connection.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads of a server share.
#[derive(Debug)]
struct Shared {
    default: Script,
    state: Mutex<State>,
    /// Told when a request came in, and when the server stops.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stopping: bool,
    released: bool,
    seen: Vec<Seen>,
    /// Requests of each flaky script so far.
    counts: HashMap<String, u64>,
    connections: HashMap<u64, TcpStream>,
    next_connection: u64,
}

impl ModelServer {
    /// Starts a server whose default is a plain answer. It lives in the network namespace of the calling thread.
    ///
    /// # Errors
    /// No loopback address could be bound.
    pub fn start() -> io::Result<Self> {
        Self::start_with(Script::Answer { text: None })
    }

    /// Starts a server with another default.
    ///
    /// # Errors
    /// No loopback address could be bound.
    pub fn start_with(default: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { default, state: Mutex::default(), changed: Condvar::new() });
        let for_thread = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || serve::accept(&listener, &for_thread));
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    /// The root of the server: `http://127.0.0.1:PORT`. The OpenAI APIs lie below `/v1` of it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets a [`Delivery::Held`] response go, and all that follow.
    pub fn release(&self) {
        self.shared.lock().released = true;
        self.shared.changed.notify_all();
    }

    /// Every request so far, in the order in which they were read.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.lock().seen.clone()
    }

    /// Waits until that many requests came in, and returns all.
    ///
    /// # Panics
    /// They did not come within [`TEST_WAIT_MAX_SECONDS`].
    #[must_use]
    pub fn wait_for_requests(&self, count: usize) -> Vec<Seen> {
        let limit = Duration::from_secs(TEST_WAIT_MAX_SECONDS);
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(self.shared.lock(), limit, |state| state.seen.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(state.seen.len() >= count, "{} of {count} model requests came", state.seen.len());
        state.seen.clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stopping = true;
        for connection in state.connections.values() {
            // A client that has gone already is no fault.
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        self.shared.changed.notify_all();
        // The accepting thread wakes up only for a connection.
        let woken = TcpStream::connect(self.address).is_ok();
        if let (true, Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request; returns its number, from 1.
    fn remember(&self, seen: Seen) -> u64 {
        let mut state = self.lock();
        if state.seen.len() < SEEN_MAX_REQUESTS {
            state.seen.push(seen);
        }
        let number = state.seen.len() as u64;
        drop(state);
        self.changed.notify_all();
        number
    }

    fn count(&self, subject: &str) -> u64 {
        let mut state = self.lock();
        let count = state.counts.entry(subject.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Waits until held responses may go, or the server ends.
    fn wait_for_release(&self) {
        let held = |state: &mut State| !state.released && !state.stopping;
        let waited = self.changed.wait_while(self.lock(), held);
        drop(waited);
    }

    /// Waits, but not beyond the end of the server.
    fn pause(&self, gap: Duration) {
        let waited = self.changed.wait_timeout_while(self.lock(), gap, |state| !state.stopping);
        drop(waited);
    }

    /// Registers a connection for the end of the server; `None` when that has come.
    fn open(&self, stream: &TcpStream) -> Option<u64> {
        let copy = stream.try_clone().ok()?;
        let mut state = self.lock();
        if state.stopping {
            return None;
        }
        let id = state.next_connection;
        state.next_connection += 1;
        state.connections.insert(id, copy);
        Some(id)
    }

    fn close(&self, id: u64) {
        self.lock().connections.remove(&id);
    }
}
