//! The threads of the server: one accepts, each connection has its own.

use std::io::{self, BufReader, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::{Api, Conversation};
use super::http::{self, Request};
use super::reply::{self, Action, Fault, Reply};
use super::transcript::{Exchange, Transcript};
use super::{Script, Seen, Shared, chat, failure, messages, raw, responses};
use crate::limits::SEEN_BODY_MAX_BYTES;

/// Whether a connection goes on after a response.
#[derive(PartialEq, Eq)]
enum Next {
    KeepOpen,
    Close,
}

/// Accepts until the server stops, then waits for the connections to end.
pub(super) fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections = Vec::new();
    for stream in listener.incoming().flatten() {
        let Some(id) = shared.open(&stream) else {
            break;
        };
        let for_thread = Arc::clone(shared);
        connections.push(std::thread::spawn(move || {
            // A client that goes away in the middle is an everyday event here.
            let _ = converse(stream, &for_thread);
            for_thread.close(id);
        }));
    }
    for connection in connections {
        let _ = connection.join();
    }
}

fn converse(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = http::read_request(&mut reader)? {
        if answer(&request, reader.get_mut(), shared)? == Next::Close {
            break;
        }
    }
    // The registered copy of the socket would keep the connection open.
    reader.get_mut().shutdown(Shutdown::Both)
}

fn answer(request: &Request, stream: &mut TcpStream, shared: &Shared) -> io::Result<Next> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let number = shared.remember(Seen {
        method: request.method.clone(),
        path: request.path.clone(),
        headers: request.headers.clone(),
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        body_bytes: request.body.len(),
        body: request.body[..request.body.len().min(SEEN_BODY_MAX_BYTES)].to_vec(),
    });
    if let Script::Raw(response) = &shared.default {
        return raw::send(stream, shared, response).map(|()| Next::Close);
    }
    let exchange = Exchange { number, input_tokens: request.body.len() as u64 / 4 };
    let (api, streamed): (_, fn(&Reply, Exchange, &Value) -> Transcript) = match request.path.as_str() {
        path if path.ends_with("/chat/completions") => (Api::Chat, |reply, exchange, body| {
            let with_usage = body["stream_options"]["include_usage"] == true;
            chat::stream(reply, exchange, with_usage)
        }),
        path if path.ends_with("/responses") => {
            (Api::Responses, |reply, exchange, _| responses::stream(reply, exchange))
        }
        path if path.ends_with("/messages") => {
            (Api::Messages, |reply, exchange, _| messages::stream(reply, exchange))
        }
        path => {
            let (status, body) = other_endpoint(path, exchange);
            return respond(stream, status, &body);
        }
    };
    if !body.is_object() {
        return respond(stream, 400, &plain_error("the body is not a JSON object"));
    }
    let conversation = Conversation::read(api, &body);
    let chosen = match reply::choose(&conversation, &shared.default) {
        Ok(chosen) => chosen.settle(|subject| shared.count(subject)),
        Err(message) => return respond(stream, 400, &plain_error(&message)),
    };
    match reply::plan(&chosen, &conversation) {
        Action::Fail(reason) => {
            let (status, body, retry_after) = failure::response(api, reason);
            http::respond(stream, status, retry_after, body.to_string().as_bytes())?;
            Ok(Next::KeepOpen)
        }
        Action::Hang => wait_for_client_to_go(stream),
        Action::Reset => {
            rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO))?;
            Ok(Next::Close)
        }
        Action::Say(reply) if conversation.streaming => {
            let transcript = streamed(&reply, exchange, &body);
            send_stream(stream, shared, &reply, &transcript)
        }
        Action::Say(reply) => send_whole(stream, api, &reply, exchange),
    }
}

/// Endpoints that are asked for beside the model itself.
fn other_endpoint(path: &str, exchange: Exchange) -> (u16, Value) {
    if path.ends_with("/count_tokens") {
        return (200, json!({"input_tokens": exchange.input_tokens}));
    }
    if path.ends_with("/models") {
        let model = json!({"id": "scripted-model", "object": "model", "type": "model", "created": 1,
                           "created_at": "2026-01-01T00:00:00Z", "display_name": "Scripted", "owned_by": "testkit"});
        return (200, json!({"object": "list", "data": [model], "has_more": false}));
    }
    (404, plain_error("no such endpoint"))
}

fn plain_error(message: &str) -> Value {
    json!({"error": {"message": format!("testkit: {message}"), "type": "invalid_request_error"}})
}

fn respond(stream: &mut TcpStream, status: u16, body: &Value) -> io::Result<Next> {
    http::respond(stream, status, None, body.to_string().as_bytes())?;
    Ok(Next::KeepOpen)
}

fn send_stream(
    stream: &mut TcpStream,
    shared: &Shared,
    reply: &Reply,
    transcript: &Transcript,
) -> io::Result<Next> {
    http::begin_stream(stream)?;
    for frame in &transcript.frames {
        if frame.is_text && !reply.gap.is_zero() {
            shared.pause(reply.gap);
        }
        http::chunk(stream, frame.bytes.as_bytes())?;
        if !frame.is_text {
            continue;
        }
        match reply.fault {
            Some(Fault::Cut) => return Ok(Next::Close),
            Some(Fault::Stall) => return wait_for_client_to_go(stream),
            Some(Fault::Malformed) => {
                http::chunk(stream, b"data: {\"this is\": no JSON,,\n\n")?;
                break;
            }
            Some(Fault::ErrorEvent) | None => {}
        }
    }
    http::chunk(stream, b"")?;
    Ok(Next::KeepOpen)
}

fn send_whole(stream: &mut TcpStream, api: Api, reply: &Reply, exchange: Exchange) -> io::Result<Next> {
    let body = match api {
        Api::Chat => chat::whole(reply, exchange),
        Api::Responses => responses::whole(reply, exchange),
        Api::Messages => messages::whole(reply, exchange),
    };
    let bytes = body.to_string().into_bytes();
    let half = &bytes[..bytes.len() / 2];
    match reply.fault {
        Some(Fault::Cut) => http::respond_in_part(stream, half).map(|()| Next::Close),
        Some(Fault::Stall) => {
            http::respond_in_part(stream, half)?;
            wait_for_client_to_go(stream)
        }
        Some(Fault::Malformed) => http::respond(stream, 200, None, half).map(|()| Next::KeepOpen),
        Some(Fault::ErrorEvent) => {
            let (status, body, _) = failure::response(api, super::Failure::ServerError);
            respond(stream, status, &body)
        }
        None => http::respond(stream, 200, None, &bytes).map(|()| Next::KeepOpen),
    }
}

/// Blocks until the client closes, or the server ends and shuts the socket down.
fn wait_for_client_to_go(stream: &mut TcpStream) -> io::Result<Next> {
    let mut ignored = [0; 512];
    while stream.read(&mut ignored)? > 0 {}
    Ok(Next::Close)
}
