//! The two streams of a command. Standard output carries the answer and its write errors count; standard error carries
//! remarks and its write errors do not.

use std::io::{self, IsTerminal, Write};

use record::limits::ANSWER_MAX_BYTES;
use serde::Serialize;

use crate::exit::Exit;
use crate::human::paint::{BAD, paint};
use crate::human::safe;

/// Whether standard output is a terminal that would obey control characters.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The same of standard error.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes text for people to standard output; its colours only where they are wanted.
///
/// # Errors
/// Those of the stream.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes text for programs to standard output, as it is.
///
/// # Errors
/// Those of the stream.
pub(crate) fn exact(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes one value as a line of JSON to standard output.
///
/// # Errors
/// Those of the stream; `InvalidData` when the line would be longer than an answer may be.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    if line.len() > ANSWER_MAX_BYTES {
        return Err(too_long());
    }
    exact(&line)
}

/// The error of an answer that does not fit (CLI.md "The task answer": at most 1 MiB, always).
pub(crate) fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the answer is longer than 1 MiB")
}

/// Writes one line to standard error, in one piece. That nobody reads it is no fault.
pub(crate) fn remark(line: &str) {
    let _ = anstream::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// Ends a line that was left open on standard output, where a reader sees the next remark behind it. Nothing is added to what
/// standard output alone is.
pub(crate) fn end_open_line() {
    if streams_are_one() {
        remark("");
    }
}

/// Whether standard output and standard error go into one pipe, file or terminal.
pub(crate) fn streams_are_one() -> bool {
    let of = |stat: rustix::io::Result<rustix::fs::Stat>| stat.map(|stat| (stat.st_dev, stat.st_ino));
    let (stdout, stderr) = (of(rustix::fs::fstat(io::stdout())), of(rustix::fs::fstat(io::stderr())));
    stdout.is_ok() && stdout == stderr
}

/// Writes `error: …`, with whatever could steer a terminal made visible.
pub(crate) fn error(sentence: &str) {
    remark(&format!("{} {}", paint(BAD, "error:"), safe::one_line(sentence)));
}

/// The end of a program whose command ended with `result`. A reader that closed standard output early wants no more words
/// about it.
pub(crate) fn end(result: io::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Exit::Operational,
        Err(fault) => {
            error(&format!("standard output could not be written: {fault}"));
            Exit::Operational
        }
    }
}
