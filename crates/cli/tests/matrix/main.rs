//! The matrix: what becomes of each kind of turn with each CLI, through `delegate`, in a network that holds loopback only.
//!
//! What is seen must be what each case demands, and what `docs/providers.md` says. With `DELEGATION_MATRIX=full` the
//! cases that need minutes or gigabytes run too, and with `DELEGATION_MATRIX=write` the tables are written instead of compared
//! (`cargo xtask matrix`).

mod antigravity;
mod case;
#[path = "../support/mod.rs"]
mod support;
mod table;
mod world;

use case::CASES;
use testkit::real::{Component, Stage};
use world::World;

/// Runs every case that is due with one CLI, several at once.
fn column(name: &str, component: Component, provider: &'static str) {
    let Some(stage) = Stage::for_test(name, component) else { return };
    let heading = format!("{} {}", component.name(), stage.version());
    let world = World::new(stage, provider);
    let due: Vec<_> = CASES.iter().filter(|case| table::wants_all() || !case.is_heavy()).collect();
    let cells = world.run(&due);
    table::REAL.settle(&heading, &cells);
}

#[test]
fn codex() {
    column("matrix_codex", Component::Codex, "codex:exec");
}

#[test]
fn claude() {
    column("matrix_claude", Component::Claude, "claude:print");
}

#[test]
fn opencode() {
    column("matrix_opencode", Component::Opencode, "opencode:run");
}

#[test]
fn pi() {
    column("matrix_pi", Component::Pi, "pi:json");
}

#[test]
fn antigravity() {
    antigravity::column();
}
