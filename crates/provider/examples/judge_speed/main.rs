//! How fast streams are judged and summarised, and in how much memory: `cargo run --release -p provider --example judge_speed`.
//!
//! Every stream is a plain turn with one tool call after another, in the words of the recorded fixtures: once with outputs of a
//! few bytes, so that nearly all of it is structure, and once with outputs of some KiB, as real commands have them. The
//! last lines name the worst of all grammars and columns and say whether it reaches the aim; the exit status does too.

mod stream;

use std::io::{self, Read};
use std::process::{Command, ExitCode, Stdio};

use provider::{Evidence, Finding, Profile, catalogue};
use rustix::time::{ClockId, clock_gettime};
use stream::{GRAMMARS, Grammar};

/// The aim for each core, in bytes a second.
const AIM_BYTES_PER_SECOND: f64 = 300e6;
/// The aim for the memory that judging one stream takes, however long it is, in bytes.
const AIM_MEMORY_BYTES: u64 = 24 << 20;
const SPEED_STREAM_BYTES: u64 = 64 << 20;
const MEMORY_STREAM_BYTES: u64 = 1 << 30;
const ROUNDS: usize = 5;
const FEED_BYTES: usize = 64 << 10;
const SHORT_OUTPUT_BYTES: usize = 8;
const LONG_OUTPUT_BYTES: usize = 4 << 10;

/// The columns of speeds: what is measured, and with outputs of how many bytes.
const SPEEDS: [(Work, &str, usize); 4] = [
    (Work::Judge, "judge, short outputs", SHORT_OUTPUT_BYTES),
    (Work::Judge, "judge, outputs of 4 KiB", LONG_OUTPUT_BYTES),
    (Work::Summarise, "summary, short outputs", SHORT_OUTPUT_BYTES),
    (Work::Summarise, "summary, outputs of 4 KiB", LONG_OUTPUT_BYTES),
];

#[derive(Clone, Copy)]
enum Work {
    Judge,
    Summarise,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next() {
        None => table(),
        Some(profile) => {
            let grammar = GRAMMARS.iter().find(|grammar| grammar.profile == profile).expect("a grammar");
            println!("{}", memory_bytes(grammar).expect("the kernel tells"));
            ExitCode::SUCCESS
        }
    }
}

fn table() -> ExitCode {
    let columns = SPEEDS.map(|(_, column, _)| column).join(" | ");
    println!("| grammar | {columns} | memory for a stream |");
    println!("|---|---|---|---|---|---|");
    let mut slowest = (f64::INFINITY, String::new());
    let mut largest = (0, String::new());
    for grammar in &GRAMMARS {
        print!("| {} |", grammar.profile);
        for (work, column, output_bytes) in SPEEDS {
            let speed = speed(grammar, work, output_bytes);
            print!(" {} |", megabytes(speed));
            if speed < slowest.0 {
                slowest = (speed, format!("{}, {column}", grammar.profile));
            }
        }
        let memory = memory_of_its_own_process(grammar);
        println!(" {} of {} |", mebibytes(memory), mebibytes(grammar.longest_bytes.min(MEMORY_STREAM_BYTES)));
        if memory >= largest.0 {
            largest = (memory, grammar.profile.to_owned());
        }
    }
    let is_reached = slowest.0 >= AIM_BYTES_PER_SECOND && largest.0 <= AIM_MEMORY_BYTES;
    println!("\nslowest: {} ({}), aim {}", megabytes(slowest.0), slowest.1, megabytes(AIM_BYTES_PER_SECOND));
    println!("most memory: {} ({}), aim {}", mebibytes(largest.0), largest.1, mebibytes(AIM_MEMORY_BYTES));
    println!("{}", if is_reached { "reached" } else { "missed" });
    if is_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn megabytes(bytes_per_second: f64) -> String {
    format!("{:.0} MB/s", bytes_per_second / 1e6)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The best of some rounds, in bytes a second: whatever else runs can only make a round slower.
fn speed(grammar: &Grammar, work: Work, output_bytes: usize) -> f64 {
    let profile = profile(grammar);
    let mut bytes = Vec::new();
    grammar.stream(output_bytes, SPEED_STREAM_BYTES).read_to_end(&mut bytes).expect("no file is read");
    let seconds = (0..ROUNDS).map(|_| {
        let start = processor_seconds();
        match work {
            Work::Judge => judge(profile, &mut bytes.as_slice()),
            Work::Summarise => {
                let mut summariser = profile.summariser();
                bytes.chunks(FEED_BYTES).for_each(|piece| summariser.feed(piece));
                assert!(summariser.summary().terminal.is_some(), "{}", grammar.profile);
            }
        }
        processor_seconds() - start
    });
    bytes.len() as f64 / seconds.fold(f64::INFINITY, f64::min)
}

fn profile(grammar: &Grammar) -> &'static dyn Profile {
    catalogue().get(&grammar.profile.parse().expect("an id")).expect("a profile")
}

/// What this thread used of its core, so that what else runs on the machine counts for nothing.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn judge(profile: &dyn Profile, stdout: &mut dyn Read) {
    let evidence = Evidence {
        stdout,
        stderr: &mut io::empty(),
        artifact: &mut |_| Ok(None),
        expected_session: None,
        requested_model: None,
        cut: false,
        exit_code: None,
    };
    let judge = profile.judges().last().expect("a profile has a judge");
    let judgement = judge.judge(evidence, &mut io::sink()).expect("no file is read");
    assert_eq!(judgement.finding, Finding::Success);
}

/// The same in a process that does nothing else, since one that has had memory shows no growth when it takes it again.
fn memory_of_its_own_process(grammar: &Grammar) -> u64 {
    let program = std::env::current_exe().expect("a program");
    let output =
        Command::new(program).arg(grammar.profile).stderr(Stdio::inherit()).output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("it measures")
}

/// How much more this process had in memory at once than before, for a long stream that is made as it is read.
fn memory_bytes(grammar: &Grammar) -> Option<u64> {
    let before = peak_bytes()?;
    let stream_bytes = grammar.longest_bytes.min(MEMORY_STREAM_BYTES);
    judge(profile(grammar), &mut grammar.stream(LONG_OUTPUT_BYTES, stream_bytes));
    Some(peak_bytes()? - before)
}

fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
