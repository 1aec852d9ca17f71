//! Serves a folder over HTTP on loopback, as a place of releases does, and breaks off where a test wants it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What goes wrong with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// The connection ends after half of the bytes that were promised.
    Cut,
    /// The last byte is another one.
    Altered,
    /// The server fails with this HTTP status.
    Fails(u16),
}

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub struct ReleaseServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stopping: bool,
    /// By the path in the address: the file or the text that is sent.
    places: BTreeMap<String, Served>,
    mishaps: BTreeMap<String, Mishap>,
    requests: Vec<String>,
}

#[derive(Debug, Clone)]
enum Served {
    File(PathBuf),
    Text(String),
    Elsewhere(String),
}

impl ReleaseServer {
    /// Starts a server that has nothing yet.
    ///
    /// # Errors
    /// No loopback address could be bound.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::<Shared>::default();
        let for_thread = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if for_thread.with(|state| state.stopping) {
                    break;
                }
                // A client that goes away in the middle is an everyday event here.
                let _ = for_thread.answer(stream);
            }
        });
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    /// The root of the server: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves every file of a folder below a path such as `/latest/download`. Files that come later are not served.
    ///
    /// # Errors
    /// The folder can not be read.
    pub fn serve(&self, path: &str, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let place = format!("{path}/{}", entry.file_name().to_string_lossy());
                self.shared.with(|state| state.places.insert(place, Served::File(entry.path())));
            }
        }
        Ok(())
    }

    /// Serves a text at a path.
    pub fn say(&self, path: &str, text: &str) {
        self.shared.with(|state| state.places.insert(path.to_owned(), Served::Text(text.to_owned())));
    }

    /// Sends whoever asks for a path to another address.
    pub fn redirect(&self, path: &str, address: &str) {
        let elsewhere = Served::Elsewhere(address.to_owned());
        self.shared.with(|state| state.places.insert(path.to_owned(), elsewhere));
    }

    /// Serves nothing at a path any more.
    pub fn forget(&self, path: &str) {
        self.shared.with(|state| state.places.remove(path));
    }

    /// Lets every later download of a path go wrong.
    pub fn spoil(&self, path: &str, mishap: Mishap) {
        self.shared.with(|state| state.mishaps.insert(path.to_owned(), mishap));
    }

    /// The paths that were asked for so far.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.shared.with(|state| state.requests.clone())
    }
}

impl Drop for ReleaseServer {
    fn drop(&mut self) {
        self.shared.with(|state| state.stopping = true);
        // The accepting thread wakes up only for a connection.
        let woken = TcpStream::connect(self.address).is_ok();
        if let (true, Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One request a connection.
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        // The head must be read: a socket that is closed with unread bytes cuts off what was sent.
        for line in lines {
            if line?.is_empty() {
                break;
            }
        }
        let path = first.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
        let (served, mishap) = self.with(|state| {
            state.requests.push(path.to_owned());
            (state.places.get(path).cloned(), state.mishaps.get(path).copied())
        });
        let mut body = match served {
            Some(Served::File(file)) => fs::read(file)?,
            Some(Served::Text(text)) => text.into_bytes(),
            Some(Served::Elsewhere(address)) => {
                return send(&mut stream, &format!("302 Found\r\nLocation: {address}"), 0, &[]);
            }
            None => return send(&mut stream, "404 Not Found", 0, &[]),
        };
        let promised = body.len();
        match mishap {
            Some(Mishap::Cut) => body.truncate(promised / 2),
            Some(Mishap::Altered) => {
                if let Some(last) = body.last_mut() {
                    *last ^= 1;
                }
            }
            Some(Mishap::Fails(status)) => {
                return send(&mut stream, &format!("{status} Scripted"), 0, &[]);
            }
            None => {}
        }
        send(&mut stream, "200 OK", promised, &body)
    }
}

fn send(stream: &mut TcpStream, status: &str, promised: usize, body: &[u8]) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {promised}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}
