//! Server-sent events: an answer as the frames in which an API streams it.

use serde_json::Value;

/// One event, ready to send.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: String,
    /// Carries a piece of the answer's text: what pauses and faults count.
    pub(super) is_text: bool,
}

/// The events of one answer, in order.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) frames: Vec<Frame>,
}

impl Transcript {
    /// An event without a name.
    pub(super) fn data(&mut self, body: &Value) {
        self.push(format!("data: {body}\n\n"), false);
    }

    /// An event without a name that carries a piece of text.
    pub(super) fn text_data(&mut self, body: &Value) {
        self.push(format!("data: {body}\n\n"), true);
    }

    /// An event that is named as its own `type`.
    pub(super) fn named(&mut self, body: &Value) {
        self.push(Self::with_name(body), false);
    }

    /// A named event that carries a piece of text.
    pub(super) fn named_text(&mut self, body: &Value) {
        self.push(Self::with_name(body), true);
    }

    /// Bytes as they are.
    pub(super) fn raw(&mut self, text: &str) {
        self.push(text.to_owned(), false);
    }

    fn with_name(body: &Value) -> String {
        let name = body["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {body}\n\n")
    }

    fn push(&mut self, bytes: String, is_text: bool) {
        self.frames.push(Frame { bytes, is_text });
    }
}

/// What an answer needs beside its content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    /// Number of the request on this server, from 1: makes ids distinct.
    pub(super) number: u64,
    /// Rough number of input tokens.
    pub(super) input_tokens: u64,
}
