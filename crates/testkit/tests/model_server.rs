//! The model server, seen by a plain client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::limits::HTTP_HEAD_MAX_BYTES;
use testkit::model_server::{Delivery, Failure, ModelServer, RawResponse, Script};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";

fn open(url: &str) -> TcpStream {
    TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap()
}

fn send(stream: &mut TcpStream, path: &str, body: &Value) {
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
}

/// Everything the server sends until it closes, or until the text ends so.
fn receive(stream: &mut TcpStream, until: &str) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
        }
        if !until.is_empty() && String::from_utf8_lossy(&bytes).ends_with(until) {
            break;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn exchange(server: &ModelServer, path: &str, body: &Value, until: &str) -> String {
    let mut stream = open(&server.url());
    send(&mut stream, path, body);
    receive(&mut stream, until)
}

/// A request that asks for a script, in the form of each API.
fn request(path: &str, brief: &str, streaming: bool) -> Value {
    let message = json!([{"role": "user", "content": brief}]);
    match path {
        RESPONSES => json!({"model": "asked", "stream": streaming, "input": message}),
        _ => json!({"model": "asked", "stream": streaming, "messages": message}),
    }
}

const END: &str = "0\r\n\r\n";

#[test]
fn every_api_streams_the_answer_and_its_own_end() {
    let server = ModelServer::start().unwrap();
    for (path, end) in
        [(CHAT, "data: [DONE]"), (RESPONSES, "event: response.completed"), (MESSAGES, "event: message_stop")]
    {
        let text = exchange(&server, path, &request(path, "[[script: answer abcdef]]", true), END);
        assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
        for piece in ["\"ab\"", "\"cd\"", "\"ef\"", end] {
            assert!(text.contains(piece), "{path}: no {piece} in {text}");
        }
    }
}

#[test]
fn every_api_answers_in_one_object_too() {
    let server = ModelServer::start().unwrap();
    for path in [CHAT, RESPONSES, MESSAGES] {
        let text = exchange(&server, path, &request(path, "[[script: answer abcdef]]", false), "}");
        let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert!(body.to_string().contains("\"abcdef\""), "{path}: {body}");
        assert_eq!(body["model"], "asked");
    }
}

#[test]
fn failures_are_http_errors_in_the_words_of_the_api() {
    let server = ModelServer::start_with(Script::Failure(Failure::RateLimited {
        retry_after_seconds: Some(7),
        tells_reset: false,
    }))
    .unwrap();
    let text = exchange(&server, CHAT, &request(CHAT, "go", true), "}}");
    assert!(text.starts_with("HTTP/1.1 429 ") && text.contains("Retry-After: 7\r\n"), "{text}");
    let text = exchange(&server, MESSAGES, &request(MESSAGES, "[[script: 503]]", true), "\"}");
    assert!(text.starts_with("HTTP/1.1 529 ") && text.contains("overloaded_error"), "{text}");
    let text = exchange(&server, RESPONSES, &request(RESPONSES, "[[script: quota]]", true), "}}");
    assert!(text.starts_with("HTTP/1.1 429 ") && text.contains("insufficient_quota"), "{text}");
}

#[test]
fn a_cut_stream_has_no_end_and_a_malformed_one_is_no_json() {
    let server = ModelServer::start().unwrap();
    let cut = exchange(&server, CHAT, &request(CHAT, "[[script: cut]]", true), "");
    assert!(cut.contains("Scripted") && !cut.ends_with(END) && !cut.contains("[DONE]"), "{cut}");
    let malformed = exchange(&server, CHAT, &request(CHAT, "[[script: malformed]]", true), END);
    assert!(malformed.contains("no JSON,,") && !malformed.contains("[DONE]"), "{malformed}");
    let error = exchange(&server, RESPONSES, &request(RESPONSES, "[[script: stream-error]]", true), END);
    assert!(error.contains("event: response.failed") && !error.contains("output_text"), "{error}");
}

#[test]
fn a_flaky_model_recovers_on_the_same_connection() {
    let server = ModelServer::start().unwrap();
    let mut stream = open(&server.url());
    let body = request(CHAT, "[[script: flaky times=1 how=500]]", true);
    send(&mut stream, CHAT, &body);
    assert!(receive(&mut stream, "}}").starts_with("HTTP/1.1 500 "));
    send(&mut stream, CHAT, &body);
    assert!(receive(&mut stream, END).contains("[DONE]"));
}

#[test]
fn silence_lasts_until_somebody_ends_it() {
    let server = ModelServer::start().unwrap();
    let mut hanging = open(&server.url());
    send(&mut hanging, CHAT, &request(CHAT, "[[script: hang]]", true));
    let mut stalled = open(&server.url());
    send(&mut stalled, CHAT, &request(CHAT, "[[script: stall]]", true));
    let seen = server.wait_for_requests(2);
    assert_eq!((seen[0].model.as_str(), seen[0].path.as_str()), ("asked", CHAT));
    let ending = std::thread::spawn(move || drop(server));
    assert_eq!(receive(&mut hanging, ""), "");
    assert!(!receive(&mut stalled, "").contains("[DONE]"));
    ending.join().unwrap();
}

#[test]
fn requests_are_remembered_with_their_bodies() {
    let server = ModelServer::start().unwrap();
    let body = request(MESSAGES, "hello", false);
    exchange(&server, "/v1/messages?beta=true", &body, "}");
    let seen = server.requests();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].path, MESSAGES);
    assert_eq!(serde_json::from_slice::<Value>(&seen[0].body).unwrap(), body);
    assert_eq!(seen[0].body_bytes, seen[0].body.len());
}

#[test]
fn nonsense_gets_an_error_and_no_crash() {
    let server = ModelServer::start().unwrap();
    let unknown = exchange(&server, CHAT, &request(CHAT, "[[script: dance]]", true), "}}");
    assert!(unknown.starts_with("HTTP/1.1 400 ") && unknown.contains("dance"), "{unknown}");
    assert!(exchange(&server, CHAT, &json!(1), "}}").starts_with("HTTP/1.1 400 "));
    assert!(exchange(&server, "/elsewhere", &json!({}), "}}").starts_with("HTTP/1.1 404 "));
    let mut endless = open(&server.url());
    // The server may close before all of it is taken.
    let _ = endless.write_all(&vec![b'x'; HTTP_HEAD_MAX_BYTES + 1]);
    assert_eq!(receive(&mut endless, ""), "");
    assert!(exchange(&server, CHAT, &request(CHAT, "go on", true), END).contains("[DONE]"));
}

#[test]
fn bodies_may_come_in_chunks() {
    let server = ModelServer::start().unwrap();
    let body = request(CHAT, "[[script: answer abcdef]]", true).to_string();
    let (first, second) = body.split_at(10);
    let mut stream = open(&server.url());
    write!(
        stream,
        "POST {CHAT} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x};x=y\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    )
    .unwrap();
    assert!(receive(&mut stream, END).contains("\"ab\""));
}

#[test]
fn a_long_answer_has_exactly_the_bytes_that_were_asked_for() {
    let server = ModelServer::start().unwrap();
    let body = request(CHAT, "[[script: huge bytes=200001]]", false);
    let text = exchange(&server, CHAT, &body, "}}");
    let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"].as_str().unwrap().len(), 200_001);
}

#[test]
fn the_program_serves_until_its_input_closes() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_testkit-model-server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(program.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let mut stream = open(line.trim());
    send(&mut stream, CHAT, &request(CHAT, "hello", true));
    assert!(receive(&mut stream, END).contains("[DONE]"));
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
}

#[test]
fn a_raw_response_comes_to_the_letter() {
    let body = json!({"raw": "body"}).to_string();
    let raw = RawResponse::json(body.clone()).status(203).header("X-Own", "value");
    for (delivery, end) in [
        (Delivery::Whole, format!("Content-Length: {}\r\n\r\n{body}", body.len())),
        (Delivery::Slow(std::time::Duration::ZERO), format!("\r\n\r\n{body}")),
        (Delivery::Cut(3), format!("Content-Length: {}\r\n\r\n{}", body.len(), &body[..3])),
        (Delivery::Chunked(9), format!("\r\n\r\n9\r\n{}\r\n5\r\n{}\r\n0\r\n\r\n", &body[..9], &body[9..])),
    ] {
        let server = ModelServer::start_with(Script::Raw(raw.clone().delivered(delivery))).unwrap();
        let text = exchange(&server, "/anything", &json!({}), "");
        assert!(text.starts_with("HTTP/1.1 203 Scripted\r\n") && text.contains("X-Own: value\r\n"), "{text}");
        assert!(text.ends_with(&end), "{text}");
        assert!(server.requests()[0].headers.contains(&("host".to_owned(), "x".to_owned())));
    }
    let server = ModelServer::start_with(Script::Raw(raw.delivered(Delivery::Held))).unwrap();
    let mut stream = open(&server.url());
    send(&mut stream, CHAT, &json!({}));
    let _ = server.wait_for_requests(1);
    stream.set_nonblocking(true).unwrap();
    assert!(stream.read(&mut [0]).is_err());
    stream.set_nonblocking(false).unwrap();
    server.release();
    assert!(receive(&mut stream, "").ends_with(&body));
}
