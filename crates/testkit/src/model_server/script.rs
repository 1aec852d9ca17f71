//! What the model server does with a request.

use std::time::Duration;

use super::raw::RawResponse;
use crate::limits::{HUGE_ANSWER_DEFAULT_BYTES, HUGE_ANSWER_MAX_BYTES};
use crate::marker::Marker;

/// The time that a rate limit names when it says when it ends: far from now, so that no client waits for it.
pub const RESET_TIME: &str = "2099-01-01T00:00:00Z";

/// The behaviour of one conversation turn. In a brief it is written `[[script: NAME …]]`; each variant names its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// `answer [text]`: a plain answer. The default text counts the turns and tool results of the conversation.
    Answer {
        /// The whole answer; absent: the default text.
        text: Option<String>,
    },
    /// `shell command [times]`: calls of the CLI's shell tool, then an answer.
    Shell {
        /// The command line.
        command: String,
        /// How many calls, one in each model turn.
        times: u64,
    },
    /// `write path content`: one call of the tool that writes a file, then an answer.
    Write {
        /// Path of the file.
        path: String,
        /// Its content.
        content: String,
    },
    /// `edit path old new`: a call of the tool that shows a file, one of the tool that replaces a text in it, then an answer.
    Edit {
        /// Path of the file.
        path: String,
        /// The text that is there.
        old: String,
        /// The text in its place.
        new: String,
    },
    /// `read path`: one call of the tool that shows a file, then an answer.
    Read {
        /// Path of the file.
        path: String,
    },
    /// `unknown-tool`: a call of a tool that nobody offered, then an answer.
    UnknownTool,
    /// `reasoning`: some reasoning, then an answer.
    Reasoning,
    /// `empty`: a finished answer without text.
    Empty,
    /// `length`: an answer cut by the output token limit.
    Length,
    /// `refusal`: an answer withheld by a content filter.
    Refusal,
    /// `other-model [name]`: the response names another model than the request.
    OtherModel {
        /// The name it gives.
        name: String,
    },
    /// `control-characters`: an answer with escape sequences, NUL, carriage returns, and direction marks.
    ControlCharacters,
    /// `slow [deltas] [gap_ms]`: an answer that trickles.
    Slow {
        /// How many pieces.
        deltas: u64,
        /// Pause before each piece.
        gap: Duration,
    },
    /// `huge [bytes]`: a long answer.
    Huge {
        /// Its length in bytes.
        bytes: u64,
    },
    /// `401`, `403`, `404`, `429 [after] [reset]`, `500`, `503`, `quota`, `context`: an HTTP error. `after=none` leaves the header
    /// out; `reset=told` names [`RESET_TIME`] in the message.
    Failure(Failure),
    /// `hang`: the request is read and never answered.
    Hang,
    /// `reset`: the connection is reset after the request.
    Reset,
    /// `stall`: the answer starts, then nothing more comes.
    Stall,
    /// `cut`: the connection closes in the middle of the answer.
    Cut,
    /// `malformed`: the answer turns into something that is not JSON.
    Malformed,
    /// `stream-error`: HTTP 200, then the API's own error event.
    StreamError,
    /// A response to the letter; only as the default of a server.
    Raw(RawResponse),
    /// `flaky [times] [how]`: the first requests go wrong (how: any behaviour without arguments, default `500`), later ones are answered.
    Flaky {
        /// How many requests go wrong.
        times: u64,
        /// What they get.
        how: Box<Script>,
    },
}

/// An error that the server reports as an HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// 401: the key is wrong.
    Unauthorized,
    /// 403: the key may not do this.
    Forbidden,
    /// 404: there is no such model.
    ModelNotFound,
    /// 429: too many requests.
    RateLimited {
        /// Value of the `Retry-After` header, if there is one.
        retry_after_seconds: Option<u64>,
        /// The message says until when the limit lasts: [`RESET_TIME`].
        tells_reset: bool,
    },
    /// 429: the quota is used up; trying again is of no use.
    QuotaExhausted,
    /// 400: the conversation does not fit the model's context.
    ContextOverflow,
    /// 500: the server failed.
    ServerError,
    /// 503 (529 in the Anthropic API): the server is overloaded.
    Overloaded,
}

impl Script {
    /// Reads a marker.
    ///
    /// # Errors
    /// A sentence, when the name is unknown or an argument can not be read.
    pub fn from_marker(marker: &Marker) -> Result<Self, String> {
        let text = |key: &str, index: usize, default: &str| {
            marker.argument(key, index).unwrap_or(default).to_owned()
        };
        Ok(match marker.name.as_str() {
            "answer" => Self::Answer { text: marker.argument("text", 0).map(str::to_owned) },
            "shell" => Self::Shell {
                command: text("command", 0, "echo scripted"),
                times: marker.number("times", 1, 1)?,
            },
            "write" => Self::Write {
                path: text("path", 0, "scripted.txt"),
                content: text("content", 1, "scripted content\n"),
            },
            "edit" => Self::Edit {
                path: text("path", 0, "README.md"),
                old: text("old", 1, "file"),
                new: text("new", 2, "scripted file"),
            },
            "read" => Self::Read { path: text("path", 0, "README.md") },
            "unknown-tool" => Self::UnknownTool,
            "reasoning" => Self::Reasoning,
            "empty" => Self::Empty,
            "length" => Self::Length,
            "refusal" => Self::Refusal,
            "other-model" => Self::OtherModel { name: text("name", 0, "another-model-1") },
            "control-characters" => Self::ControlCharacters,
            "slow" => Self::Slow {
                deltas: marker.number("deltas", 0, 10)?,
                gap: Duration::from_millis(marker.number("gap_ms", 1, 100)?),
            },
            "huge" => {
                let bytes = marker.number("bytes", 0, HUGE_ANSWER_DEFAULT_BYTES)?;
                if bytes > HUGE_ANSWER_MAX_BYTES {
                    return Err(format!("huge: at most {HUGE_ANSWER_MAX_BYTES} bytes"));
                }
                Self::Huge { bytes }
            }
            "401" => Self::Failure(Failure::Unauthorized),
            "403" => Self::Failure(Failure::Forbidden),
            "404" => Self::Failure(Failure::ModelNotFound),
            "429" => {
                let retry_after_seconds = match marker.argument("after", 0) {
                    Some("none") => None,
                    _ => Some(marker.number("after", 0, 1)?),
                };
                let tells_reset = marker.argument("reset", 1) == Some("told");
                Self::Failure(Failure::RateLimited { retry_after_seconds, tells_reset })
            }
            "quota" => Self::Failure(Failure::QuotaExhausted),
            "context" => Self::Failure(Failure::ContextOverflow),
            "500" => Self::Failure(Failure::ServerError),
            "503" => Self::Failure(Failure::Overloaded),
            "hang" => Self::Hang,
            "reset" => Self::Reset,
            "stall" => Self::Stall,
            "cut" => Self::Cut,
            "malformed" => Self::Malformed,
            "stream-error" => Self::StreamError,
            "flaky" => match text("how", 1, "500").as_str() {
                "flaky" => return Err("flaky: how must be another behaviour".to_owned()),
                how => Self::Flaky {
                    times: marker.number("times", 0, 2)?,
                    how: Box::new(Self::from_marker(&Marker::bare(how))?),
                },
            },
            other => return Err(format!("no script is called {other:?}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Script, String> {
        Script::from_marker(&Marker::all("script", text)[0])
    }

    #[test]
    fn every_name_is_understood_without_arguments() {
        for name in [
            "answer",
            "shell",
            "write",
            "edit",
            "read",
            "unknown-tool",
            "reasoning",
            "empty",
            "length",
            "refusal",
            "other-model",
            "control-characters",
            "slow",
            "huge",
            "401",
            "403",
            "404",
            "429",
            "quota",
            "context",
            "500",
            "503",
            "hang",
            "reset",
            "stall",
            "cut",
            "malformed",
            "stream-error",
            "flaky",
        ] {
            parse(&format!("[[script: {name}]]")).unwrap();
        }
    }

    #[test]
    fn arguments_reach_the_script() {
        assert_eq!(
            parse("[[script: flaky times=3 how=cut]]"),
            Ok(Script::Flaky { times: 3, how: Box::new(Script::Cut) })
        );
        assert_eq!(
            parse("[[script: 429 after=7]]"),
            Ok(Script::Failure(Failure::RateLimited { retry_after_seconds: Some(7), tells_reset: false }))
        );
        assert_eq!(
            parse("[[script: 429 after=none reset=told]]"),
            Ok(Script::Failure(Failure::RateLimited { retry_after_seconds: None, tells_reset: true }))
        );
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        assert!(parse("[[script: dance]]").unwrap_err().contains("dance"));
        assert!(parse("[[script: flaky how=flaky]]").is_err());
        assert!(parse("[[script: huge bytes=99999999999]]").is_err());
    }
}
