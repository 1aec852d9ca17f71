//! What a stream costs does not grow with its length. The only test of its program: it looks at the whole process.
#![cfg(target_os = "linux")]

mod common;

use std::io::{self, Read};

use provider::{Evidence, Finding, catalogue};

const STREAM_BYTES: u64 = 256 << 20;
const GROWTH_MAX_BYTES: u64 = 24 << 20;

/// Gives the head once, a line of telemetry until `rest` is used up, then the tail.
struct Telemetry {
    head: &'static [u8],
    line: Vec<u8>,
    position: usize,
    rest: u64,
    tail: &'static [u8],
}

impl Read for Telemetry {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buffer);
        }
        if self.rest == 0 {
            return self.tail.read(buffer);
        }
        let length = (&self.line[self.position..]).read(buffer)?;
        self.position += length;
        if self.position == self.line.len() {
            self.position = 0;
            self.rest = self.rest.saturating_sub(self.line.len() as u64);
        }
        Ok(length)
    }
}

fn telemetry() -> Telemetry {
    let line = format!("{{\"type\":\"metrics.sample\",\"padding\":\"{}\"}}\n", "x".repeat(1 << 20));
    Telemetry {
        head: concat!(
            "{\"type\":\"thread.started\",\"thread_id\":\"01a22bc4-35fe-76d2-9b19-eb939069cedd\"}\n",
            "{\"type\":\"turn.started\"}\n"
        )
        .as_bytes(),
        line: line.into_bytes(),
        position: 0,
        rest: STREAM_BYTES,
        tail: concat!(
            "{\"type\":\"item.completed\",\"item\":{\"id\":\"a\",\"type\":\"agent_message\",\"text\":\"The answer.\"}}\n",
            "{\"type\":\"turn.completed\"}\n"
        )
        .as_bytes(),
    }
}

/// The largest resident set of this process so far, in bytes.
fn most_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_long_stream_needs_little_memory() {
    let profile = catalogue().get(&"codex:exec".parse().unwrap()).unwrap();
    let before = most_resident_bytes();

    let mut answer = Vec::new();
    let evidence = Evidence {
        stdout: &mut telemetry(),
        stderr: &mut io::repeat(b'e').take(STREAM_BYTES),
        artifact: &mut |_| Ok(None),
        expected_session: None,
        requested_model: None,
        cut: false,
        exit_code: None,
    };
    let judgement = profile.judges().last().unwrap().judge(evidence, &mut answer).unwrap();
    assert_eq!((judgement.finding, answer.as_slice()), (Finding::Success, &b"The answer."[..]));

    let mut summariser = profile.summariser();
    let mut stream = telemetry();
    let mut buffer = vec![0; 64 << 10];
    stream.rest /= 8;
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => break,
            length => summariser.feed(&buffer[..length]),
        }
    }
    assert!(summariser.summary().terminal.is_some());

    let growth = most_resident_bytes() - before;
    assert!(growth <= GROWTH_MAX_BYTES, "{growth} bytes for a stream of {STREAM_BYTES}");
}
