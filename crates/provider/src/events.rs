//! Reading an event stream: one JSON object a line, split at 0x0A only, as it comes (providers.md 1.9 and Decisions 7).

use std::io::{self, Read};

use memchr::memchr;
use record::json::{DecodeError, LINE_MAX_BYTES, LineReader, Object, Value};
use serde_json::Map;

const PIECE_BYTES: usize = 64 << 10;

/// One event.
pub(crate) struct Event<'a> {
    /// Its `type`, not empty.
    pub(crate) kind: &'a str,
    /// All of it.
    pub(crate) fields: Object<'a>,
}

impl<'a> Event<'a> {
    /// A field that must be an object.
    pub(crate) fn object(&self, name: &str) -> Result<Object<'a>, Fault> {
        self.fields.get(name).and_then(Value::as_object).ok_or_else(|| self.malformed())
    }

    /// A field that must be a text.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, Fault> {
        self.fields.text(name).ok_or_else(|| self.malformed())
    }

    /// The event has its kind but not its fields.
    pub(crate) fn malformed(&self) -> Fault {
        Fault(format!("An event `{}` lacks a field or has one of another kind.", self.name()))
    }

    /// The event has no place here.
    pub(crate) fn misplaced(&self) -> Fault {
        Fault(format!("An event `{}` stands where it has no meaning.", self.name()))
    }

    fn name(&self) -> String {
        crate::screen::words(self.kind)
    }
}

/// The text of a field of an object that was copied out of its line.
pub(crate) fn text<'a>(object: &'a Map<String, serde_json::Value>, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

/// A stream breaks its grammar; one sentence that repeats of the content at most an event's kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) String);

/// How a stream ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Events that were taken.
    pub(crate) events: u64,
    /// Lines before the first event that were no JSON object.
    pub(crate) chatter: u64,
    /// The last line has no line feed and is no complete event.
    pub(crate) truncated: bool,
    /// Where reading stopped early.
    pub(crate) fault: Option<Fault>,
}

/// Hands every event to `take`, until the stream ends or a fault shows. Needs memory for one line.
pub(crate) fn read(
    stream: &mut dyn Read,
    mut take: impl FnMut(&Event<'_>) -> Result<(), Fault>,
) -> io::Result<Reading> {
    let mut reading = Reading::default();
    let mut lines = Lines { stream, bytes: Vec::new(), start: 0 };
    let mut reader = LineReader::default();
    while let Some((line, is_complete)) = lines.next()? {
        let taken = match parse(&mut reader, line) {
            Ok(event) => {
                reading.events += 1;
                take(&event)
            }
            Err(_) if !is_complete && line.len() <= LINE_MAX_BYTES => {
                reading.truncated = true;
                Ok(())
            }
            Err(NoEvent::NoObject) if reading.events == 0 => {
                reading.chatter += 1;
                Ok(())
            }
            Err(error) => Err(Fault(error.sentence().to_owned())),
        };
        if let Err(fault) = taken {
            reading.fault = Some(fault);
            break;
        }
    }
    Ok(reading)
}

/// Cuts a stream into lines where it was read to.
struct Lines<'a> {
    stream: &'a mut dyn Read,
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
}

impl Lines<'_> {
    /// The next line without its line feed, and whether it had one. One that is too long is cut behind the bound.
    fn next(&mut self) -> io::Result<Option<(&[u8], bool)>> {
        let mut searched = self.start;
        loop {
            if let Some(length) = memchr(b'\n', &self.bytes[searched..]) {
                let start = std::mem::replace(&mut self.start, searched + length + 1);
                return Ok(Some((&self.bytes[start..searched + length], true)));
            }
            self.bytes.drain(..std::mem::take(&mut self.start));
            searched = self.bytes.len();
            let is_too_long = searched > LINE_MAX_BYTES;
            if is_too_long || (&mut *self.stream).take(PIECE_BYTES as u64).read_to_end(&mut self.bytes)? == 0
            {
                self.start = searched;
                return Ok((searched > 0).then_some((self.bytes.as_slice(), false)));
            }
        }
    }
}

/// Why a line is no event.
enum NoEvent {
    /// It is not one JSON object.
    NoObject,
    /// It is one, of a form that is refused.
    Ambiguous,
    Untyped,
    TooLong,
}

impl NoEvent {
    fn sentence(&self) -> &'static str {
        match self {
            Self::NoObject => "A line after the first event is no JSON object.",
            Self::Ambiguous => "A line is JSON of an ambiguous or excessive form.",
            Self::Untyped => "A line is an object that names no event type.",
            Self::TooLong => "A line is longer than 64 MiB.",
        }
    }
}

fn parse<'a>(reader: &'a mut LineReader, line: &'a [u8]) -> Result<Event<'a>, NoEvent> {
    let fields = reader.read(line).map_err(|error| match error {
        DecodeError::TooLarge { .. } => NoEvent::TooLong,
        DecodeError::NotUtf8 { .. }
        | DecodeError::Syntax { .. }
        | DecodeError::Trailing { .. }
        | DecodeError::NotAnObject => NoEvent::NoObject,
        _ => NoEvent::Ambiguous,
    })?;
    match fields.text("type") {
        Some(kind) if !kind.is_empty() => Ok(Event { kind, fields }),
        _ => Err(NoEvent::Untyped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(stream: &[u8]) -> (Vec<String>, Reading) {
        let mut kinds = Vec::new();
        let mut stream = stream;
        let reading = read(&mut stream, |event| {
            kinds.push(event.kind.to_owned());
            Ok(())
        });
        (kinds, reading.unwrap())
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        let (found, reading) =
            kinds("{\"type\":\"a\",\"t\":\"x\u{2028}y\u{85}z\"}\r\n{\"type\":\"b\"}".as_bytes());
        assert_eq!(found, ["a", "b"]);
        assert_eq!(reading, Reading { events: 2, ..Reading::default() });
    }

    #[test]
    fn chatter_is_counted_before_the_first_event_only() {
        let (found, reading) = kinds(b"changed 1 package\n\n\xff\n17\n{\"type\":\"a\"}\n");
        assert_eq!((found.len(), reading.chatter, reading.fault), (1, 4, None));
        for bad in [
            &b"{\"type\":\"a\"}\nwords\n"[..],
            b"{\"type\":\"a\"}\n\n",
            b"{\"type\":\"a\"}\n\xff\n",
            b"{\"type\":\"a\"}\n[]\n",
        ] {
            let (found, reading) = kinds(bad);
            assert!(found.len() == 1 && reading.fault.is_some(), "{bad:?}");
        }
    }

    #[test]
    fn ambiguous_objects_are_faults_everywhere() {
        for bad in [
            "{\"type\":\"a\",\"type\":\"b\"}\n",
            "{\"type\":\"a\",\"Type\":\"b\"}\n",
            "{\"a\":1}\n",
            "{\"type\":\"\"}\n",
            "{\"type\":1}\n",
        ] {
            let (found, reading) = kinds(bad.as_bytes());
            assert!(found.is_empty() && reading.fault.is_some(), "{bad}");
        }
    }

    #[test]
    fn a_cut_last_line_is_no_fault() {
        for tail in [&b"{\"type\":\"b"[..], b"{", b"{\"type\":\"\xe2\x82", b"{\"type\":\"b\"} x"] {
            let stream = [b"{\"type\":\"a\"}\n", tail].concat();
            let (found, reading) = kinds(&stream);
            assert_eq!((found.len(), reading.truncated, reading.fault), (1, true, None), "{tail:?}");
        }
    }

    #[test]
    fn a_line_over_the_bound_is_a_fault_even_without_end() {
        let long = |length: u64, end: &'static [u8]| {
            let mut stream = io::repeat(b' ').take(length - 12).chain(&b"{\"type\":\"a\"}"[..]).chain(end);
            read(&mut stream, |_| Ok(())).unwrap()
        };
        let most = LINE_MAX_BYTES as u64;
        assert_eq!(long(most, b"\n"), Reading { events: 1, ..Reading::default() });
        assert_eq!(long(most, b""), Reading { events: 1, ..Reading::default() });
        for end in [&b"\n"[..], b""] {
            assert!(long(most + 1, end).fault.is_some());
        }
    }

    #[test]
    fn an_error_of_the_reader_is_no_finding() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        assert!(read(&mut Broken, |_| Ok(())).is_err());
    }
}
