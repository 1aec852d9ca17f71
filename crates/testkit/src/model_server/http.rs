//! As much HTTP/1.1 as model clients need: bodies with a length or in chunks, connections that stay open.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::limits::{HTTP_BODY_MAX_BYTES, HTTP_HEAD_MAX_BYTES};

/// A request, read to its end.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Reads the next request of a connection; `None` when the client has gone.
pub(super) fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut budget = HTTP_HEAD_MAX_BYTES;
    let first = read_line(reader, &mut budget)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut length = 0;
    let mut chunked = false;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader, &mut budget)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = parse(value, 10)?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "expect" => reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let body = if chunked { read_chunks(reader)? } else { read_exactly(reader, length)? };
    Ok(Some(Request {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        headers,
        body,
    }))
}

/// Sends a whole response with a JSON body.
pub(super) fn respond(
    stream: &mut TcpStream,
    status: u16,
    retry_after_seconds: Option<u64>,
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        reason(status),
        body.len()
    );
    if let Some(seconds) = retry_after_seconds {
        head.push_str(&format!("Retry-After: {seconds}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// Begins a response that promises more bytes than it brings.
pub(super) fn respond_in_part(stream: &mut TcpStream, body: &[u8]) -> io::Result<()> {
    let promised = body.len() + 1;
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {promised}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// Begins a response of server-sent events in chunks.
pub(super) fn begin_stream(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n",
    )
}

/// Sends one chunk; an empty one ends the response.
pub(super) fn chunk(stream: &mut TcpStream, data: &[u8]) -> io::Result<()> {
    let mut bytes = format!("{:x}\r\n", data.len()).into_bytes();
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\r\n");
    stream.write_all(&bytes)
}

fn read_line(reader: &mut BufReader<TcpStream>, budget: &mut usize) -> io::Result<String> {
    let mut line = Vec::new();
    reader.by_ref().take(*budget as u64).read_until(b'\n', &mut line)?;
    *budget -= line.len();
    if *budget == 0 {
        return Err(io::Error::other("the head of the request is too long"));
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        line.pop();
    }
    String::from_utf8(line).map_err(io::Error::other)
}

fn read_exactly(reader: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    if length > HTTP_BODY_MAX_BYTES {
        return Err(io::Error::other("the body of the request is too long"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut budget = HTTP_HEAD_MAX_BYTES;
        let line = read_line(reader, &mut budget)?;
        let length = parse(line.split(';').next().unwrap_or_default().trim(), 16)?;
        if length > HTTP_BODY_MAX_BYTES - body.len() {
            return Err(io::Error::other("the body of the request is too long"));
        }
        body.extend(read_exactly(reader, length)?);
        read_line(reader, &mut budget)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

fn parse(text: &str, radix: u32) -> io::Result<usize> {
    usize::from_str_radix(text, radix).map_err(io::Error::other)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Scripted",
    }
}
