//! Responses to the letter: what no API would say, in the ways in which it may arrive.

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::{Shared, http};

/// A response that is sent for every request, whatever it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    /// The status.
    pub status: u16,
    /// Headers beside those of the length.
    pub headers: Vec<(String, String)>,
    /// The body, to the byte.
    pub body: Vec<u8>,
    /// How it arrives.
    pub delivery: Delivery,
}

/// How a raw response arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// At once, with its length.
    Whole,
    /// In chunks of at most that many bytes.
    Chunked(usize),
    /// That many bytes, then the connection closes, although more was promised.
    Cut(usize),
    /// Byte by byte with a pause before each: a slow loris.
    Slow(Duration),
    /// At once, but only after [`super::ModelServer::release`].
    Held,
}

impl RawResponse {
    /// A JSON body with status 200 that arrives at once.
    #[must_use]
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: body.into(),
            delivery: Delivery::Whole,
        }
    }

    /// With another status.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// With one header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Arriving in another way.
    #[must_use]
    pub fn delivered(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }
}

/// Sends a response; the connection is not used again.
pub(super) fn send(stream: &mut TcpStream, shared: &Shared, response: &RawResponse) -> io::Result<()> {
    let RawResponse { status, headers, body, delivery } = response;
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match delivery {
        Delivery::Chunked(_) => head.push_str("Transfer-Encoding: chunked\r\n\r\n"),
        _ => head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len())),
    }
    if *delivery == Delivery::Held {
        shared.wait_for_release();
    }
    stream.write_all(head.as_bytes())?;
    match delivery {
        Delivery::Whole | Delivery::Held => stream.write_all(body),
        Delivery::Cut(bytes) => stream.write_all(&body[..*bytes]),
        Delivery::Chunked(size) => {
            body.chunks(*size).try_for_each(|piece| http::chunk(stream, piece))?;
            http::chunk(stream, b"")
        }
        Delivery::Slow(gap) => body.iter().try_for_each(|byte| {
            shared.pause(*gap);
            stream.write_all(&[*byte])
        }),
    }
}
