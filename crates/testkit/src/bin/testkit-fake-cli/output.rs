//! Standard output, and where it stops or splits.

use std::io::{self, Write};

use serde_json::Value;
use testkit::limits::{ENDLESS_MAX_BYTES, PIPE_EDGE_BYTES};

/// Counts what was written.
#[derive(Debug, Default)]
pub(crate) struct Output {
    written: usize,
    /// Stop at the first edge.
    pub(crate) cut: bool,
    /// Write up to each edge and go on in another write.
    pub(crate) split: bool,
}

impl Output {
    /// The position in the stream of what comes next.
    pub(crate) fn position(&self) -> usize {
        self.written
    }

    /// Events as lines.
    pub(crate) fn events(&mut self, events: &[Value]) -> io::Result<()> {
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        self.text(&lines)
    }

    /// Text as it is.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        if self.cut {
            rest = &rest[..rest.len().min(PIPE_EDGE_BYTES.saturating_sub(self.written))];
        }
        let mut stdout = io::stdout().lock();
        while !rest.is_empty() {
            let to_edge = PIPE_EDGE_BYTES - self.written % PIPE_EDGE_BYTES;
            let length = if self.split { rest.len().min(to_edge) } else { rest.len() };
            stdout.write_all(&rest[..length])?;
            stdout.flush()?;
            self.written += length;
            rest = &rest[length..];
        }
        Ok(())
    }
}

/// Zeros for as long as somebody takes them.
pub(crate) fn endless_zeros(to: &mut dyn Write) -> io::Result<u64> {
    let block = [0; 64 << 10];
    let mut written = 0;
    while written < ENDLESS_MAX_BYTES {
        to.write_all(&block)?;
        written += block.len() as u64;
    }
    Ok(written)
}
