//! The crash matrix: one turn for each fault point and each blow, and one outcome for each turn (STATE.md 10).
//!
//! `cargo xtask crash-matrix` plays all of it and prints the table; without that a sample is played.

mod cell;
mod disk;
mod expected;
mod hostile;
mod ledger;
mod point;
mod stage;
#[path = "../support/mod.rs"]
mod support;
mod table;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cell::Blow;
use point::Point;
use table::Table;

/// `all`, or the number of cells in the sample, or part of the name of a point.
const CHOICE_VARIABLE: &str = "CRASH_MATRIX";
/// The number that chooses the sample.
const SEED_VARIABLE: &str = "CRASH_MATRIX_SEED";
/// `all`, or part of the name of a damage.
const HOSTILE_VARIABLE: &str = "HOSTILE_STATE";
/// Damages in the sample when nothing else is asked for.
const HOSTILE_SAMPLE_DEFAULT_CASES: usize = 30;
/// Cells in the sample when nothing else is asked for.
const SAMPLE_DEFAULT_CELLS: usize = 44;
/// Turns at once. They wait most of the time.
const WORKERS: usize = 6;

#[test]
fn every_turn_ends_in_one_outcome_whatever_happens() {
    let table = Mutex::new(Table::default());
    on_all(chosen(), |(point, blow)| {
        let end = std::panic::catch_unwind(|| cell::play(point, blow)).map_err(message);
        println!("{} × {blow:?}: {end:?}", point.name);
        table.lock().unwrap().add(point, blow, end);
    });
    let table = table.into_inner().unwrap();
    println!("{table}");
    assert!(table.is_good(), "cells failed");
}

#[test]
fn damaged_state_is_named_and_believed_by_nobody() {
    let all = hostile::all();
    let cases = match std::env::var(HOSTILE_VARIABLE) {
        Ok(part) if part == "all" => all,
        Ok(part) => all.into_iter().filter(|case| case.name().contains(&part)).collect(),
        Err(_) => shuffled(all, seed()).into_iter().take(HOSTILE_SAMPLE_DEFAULT_CASES).collect(),
    };
    let failures = Mutex::new(Vec::new());
    on_all(cases, |case| match std::panic::catch_unwind(|| hostile::play(case)).map_err(message) {
        Ok(told) => println!("{}: {told}", case.name()),
        Err(why) => failures.lock().unwrap().push(format!("{}: {why}", case.name())),
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Plays all, some at once.
fn on_all<T: Copy + Sync>(all: Vec<T>, play: impl Fn(T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(all.len()) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    play(*one);
                }
            });
        }
    });
}

fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

fn chosen() -> Vec<(Point, Blow)> {
    let all: Vec<_> = point::all()
        .into_iter()
        .flat_map(|point| Blow::ALL.map(|blow| (point, blow)))
        .filter(|(point, blow)| blow.fits(*point))
        .collect();
    let choice = std::env::var(CHOICE_VARIABLE).unwrap_or_else(|_| SAMPLE_DEFAULT_CELLS.to_string());
    match choice.parse() {
        Ok(count) => sample(all, count, seed()),
        Err(_) if choice == "all" => all,
        Err(_) => {
            let (name, blow) = choice.split_once(' ').unwrap_or((&choice, ""));
            all.into_iter()
                .filter(|(point, _)| point.name.contains(name))
                .filter(|(_, one)| format!("{one:?}").contains(blow))
                .collect()
        }
    }
}

/// Cells in an order that the seed chooses, each blow and each row in turn.
fn sample(cells: Vec<(Point, Blow)>, count: usize, seed: u64) -> Vec<(Point, Blow)> {
    let mut cells = shuffled(cells, seed);
    let mut picked = Vec::new();
    while picked.len() < count && !cells.is_empty() {
        let blow = Blow::ALL[picked.len() % Blow::ALL.len()];
        let row = point::Row::ALL[picked.len() / Blow::ALL.len() % point::Row::ALL.len()];
        let next = cells
            .iter()
            .position(|(point, one)| *one == blow && point.row == row)
            .or_else(|| cells.iter().position(|(_, one)| *one == blow))
            .unwrap_or(0);
        picked.push(cells.remove(next));
    }
    picked
}

fn seed() -> u64 {
    let seed = std::env::var(SEED_VARIABLE).map_or(1, |seed| seed.parse().expect("the seed is a number"));
    println!("seed {seed}");
    seed
}

/// The same in an order that the seed chooses.
fn shuffled<T>(mut all: Vec<T>, seed: u64) -> Vec<T> {
    let mut state = seed;
    // SplitMix64.
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    all.sort_by_cached_key(|_| random());
    all
}
