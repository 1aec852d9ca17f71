//! How fast streams are judged and summarised, and in how much memory: `cargo run --release -p provider --example judge_speed`.
//!
//! Every stream is a plain turn with one tool call after another, in the words of the recorded fixtures: once with outputs of a
//! few bytes, so that nearly all of it is structure, and once with outputs of some KiB, as real commands have them. The
//! last line says whether the slowest of the latter is as fast as the aim.

mod stream;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use provider::{Evidence, Finding, Profile, catalogue};
use rustix::time::{ClockId, clock_gettime};
use stream::{GRAMMARS, Grammar};

/// The aim for each core, in bytes a second.
const AIM_BYTES_PER_SECOND: f64 = 300e6;
const SPEED_STREAM_BYTES: u64 = 64 << 20;
const MEMORY_STREAM_BYTES: u64 = 1 << 30;
const ROUNDS: usize = 5;
const FEED_BYTES: usize = 64 << 10;
const SHORT_OUTPUT_BYTES: usize = 8;
const LONG_OUTPUT_BYTES: usize = 4 << 10;

fn main() -> ExitCode {
    println!(
        "| grammar | judge, short outputs | judge, outputs of 4 KiB | summary, short | summary, 4 KiB | memory for 1 GiB |"
    );
    println!("|---|---|---|---|---|---|");
    let mut slowest = f64::INFINITY;
    for grammar in &GRAMMARS {
        let profile = catalogue().get(&grammar.profile.parse().expect("an id")).expect("a profile");
        let memory = memory(grammar, profile);
        let [short, long] =
            [SHORT_OUTPUT_BYTES, LONG_OUTPUT_BYTES].map(|output| speeds(grammar, profile, output));
        slowest = slowest.min(long.0);
        println!(
            "| {} | {} | {} | {} | {} | {memory} |",
            grammar.profile,
            megabytes(short.0),
            megabytes(long.0),
            megabytes(short.1),
            megabytes(long.1)
        );
    }
    let is_reached = slowest >= AIM_BYTES_PER_SECOND;
    println!("\nslowest judge: {}, aim {}", megabytes(slowest), megabytes(AIM_BYTES_PER_SECOND));
    if is_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn megabytes(bytes_per_second: f64) -> String {
    format!("{:.0} MB/s", bytes_per_second / 1e6)
}

/// Judging and summarising, in bytes a second: the medians of some rounds.
fn speeds(grammar: &Grammar, profile: &dyn Profile, output_bytes: usize) -> (f64, f64) {
    let mut bytes = Vec::new();
    grammar.stream(output_bytes, SPEED_STREAM_BYTES).read_to_end(&mut bytes).expect("no file is read");
    let median = |mut work: Box<dyn FnMut() + '_>| {
        let mut seconds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let start = processor_seconds();
                work();
                processor_seconds() - start
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        bytes.len() as f64 / seconds[ROUNDS / 2]
    };
    let judging = median(Box::new(|| judge(profile, &mut bytes.as_slice())));
    let summarising = median(Box::new(|| {
        let mut summariser = profile.summariser();
        bytes.chunks(FEED_BYTES).for_each(|piece| summariser.feed(piece));
        assert!(summariser.summary().terminal.is_some(), "{}", grammar.profile);
    }));
    (judging, summarising)
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
    };
    let judge = profile.judges().last().expect("a profile has a judge");
    let judgement = judge.judge(evidence, &mut io::sink()).expect("no file is read");
    assert_eq!(judgement.finding, Finding::Success);
}

/// How much more this process had in memory at once than before, for a long stream that is made as it is read. Only the first
/// grammars show all of their growth: what was had once is not counted again.
fn memory(grammar: &Grammar, profile: &dyn Profile) -> String {
    reset_peak();
    let before = peak_bytes();
    judge(profile, &mut grammar.stream(LONG_OUTPUT_BYTES, grammar.longest_bytes.min(MEMORY_STREAM_BYTES)));
    match (before, peak_bytes()) {
        (Some(before), Some(after)) => format!("{:.1} MiB", (after - before) as f64 / f64::from(1 << 20)),
        _ => "unknown".to_owned(),
    }
}

/// Makes the present resident set the peak.
fn reset_peak() {
    let reset = std::fs::OpenOptions::new().write(true).open("/proc/self/clear_refs");
    let _ = reset.and_then(|mut file| file.write_all(b"5"));
}

fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
