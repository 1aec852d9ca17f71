//! The worker protocol (CLI.md, "The worker protocol"): what a worker says on its standard output.
//!
//! One JSON object a line: `session` first, then `progress` and `answer` in any order, `result`
//! last and exactly once. The answer of the worker is the text of all `answer` messages, joined in
//! order. [`Writer`] can only be used in that order.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// One line of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Message {
    /// Names the conversation. The first line, once.
    Session {
        /// Identifies this conversation among all others.
        id: String,
    },
    /// What the worker is doing now, for whoever watches. No part of the answer.
    Progress {
        /// One sentence.
        text: String,
    },
    /// A part of the answer.
    Answer {
        /// Markdown, joined to the parts before it without anything in between.
        text: String,
    },
    /// How it ended. The last line, once.
    Result {
        /// Whether the answer is complete.
        status: Status,
        /// What failed, as a word for programs (snake case); only with [`Status::Error`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What failed, as a sentence for people; only with [`Status::Error`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

/// How the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The answer is complete.
    Ok,
    /// There is no complete answer.
    Error,
}

/// Writes the protocol, line by line, each line flushed.
///
/// Opening it writes the session, ending it consumes it: no line can come before the first or
/// after the last.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: W,
}

impl<W: Write> Writer<W> {
    /// Opens the protocol by naming the conversation.
    ///
    /// # Errors
    /// The output can not be written.
    pub fn open(output: W, session_id: &str) -> io::Result<Self> {
        let mut writer = Self { output };
        writer.write(&Message::Session { id: session_id.to_owned() })?;
        Ok(writer)
    }

    /// Says what is being done.
    ///
    /// # Errors
    /// The output can not be written.
    pub fn progress(&mut self, text: impl Into<String>) -> io::Result<()> {
        self.write(&Message::Progress { text: text.into() })
    }

    /// Adds a part to the answer.
    ///
    /// # Errors
    /// The output can not be written.
    pub fn answer(&mut self, text: impl Into<String>) -> io::Result<()> {
        self.write(&Message::Answer { text: text.into() })
    }

    /// Ends the protocol: the answer is complete.
    ///
    /// # Errors
    /// The output can not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.write(&Message::Result { status: Status::Ok, code: None, message: None })
    }

    /// Ends the protocol: the work failed, for the reason named by `code` and told by `message`.
    ///
    /// # Errors
    /// The output can not be written.
    pub fn fail(mut self, code: &str, message: impl Into<String>) -> io::Result<()> {
        self.write(&Message::Result {
            status: Status::Error,
            code: Some(code.to_owned()),
            message: Some(message.into()),
        })
    }

    fn write(&mut self, message: &Message) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.output.write_all(&line)?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_protocol_says() {
        let mut output = Vec::new();
        let mut writer = Writer::open(&mut output, "s-1").unwrap();
        writer.progress("Looking").unwrap();
        writer.answer("a\n").unwrap();
        writer.finish().unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            concat!(
                "{\"type\":\"session\",\"id\":\"s-1\"}\n",
                "{\"type\":\"progress\",\"text\":\"Looking\"}\n",
                "{\"type\":\"answer\",\"text\":\"a\\n\"}\n",
                "{\"type\":\"result\",\"status\":\"ok\"}\n",
            )
        );
    }

    #[test]
    fn a_failure_carries_code_and_message() {
        let mut output = Vec::new();
        let writer = Writer::open(&mut output, "s-1").unwrap();
        writer.fail("brief_unreadable", "No brief.").unwrap();
        let last = output.split(|&byte| byte == b'\n').nth(1).unwrap();
        assert_eq!(
            serde_json::from_slice::<Message>(last).unwrap(),
            Message::Result {
                status: Status::Error,
                code: Some("brief_unreadable".to_owned()),
                message: Some("No brief.".to_owned()),
            }
        );
    }

    #[test]
    fn an_unknown_field_or_type_is_refused() {
        for line in [
            r#"{"type":"session","id":"a","more":1}"#,
            r#"{"type":"thought","text":"a"}"#,
            r#"{"type":"result","status":"fine"}"#,
        ] {
            assert!(serde_json::from_str::<Message>(line).is_err(), "{line}");
        }
    }

    #[test]
    fn each_line_is_flushed() {
        struct Counting(usize);
        impl Write for Counting {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                self.0 += 1;
                Ok(())
            }
        }
        let mut output = Counting(0);
        let mut writer = Writer::open(&mut output, "s").unwrap();
        writer.answer("a").unwrap();
        writer.finish().unwrap();
        assert_eq!(output.0, 3);
    }
}
