//! The inspectors as programs: they answer from what is embedded, print one thing, and end with the documented code.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(program: &str, arguments: &[&str]) -> Output {
    let path = Path::new(env!("CARGO_BIN_EXE_delegate")).with_file_name(program);
    Command::new(path).args(arguments).env_clear().current_dir("/").output().unwrap()
}

fn json(program: &str, arguments: &[&str]) -> Value {
    let output = run(program, arguments);
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_contract() {
    let program = env!("CARGO_BIN_EXE_delegation-executor-contract");
    assert!(run(program, &["check"]).status.success());
    let families = json(program, &["families", "--json"]);
    assert_eq!(families.as_array().unwrap().len(), 6);
    for family in families.as_array().unwrap() {
        json(program, &["family", family["family"].as_str().unwrap(), "--json"]);
    }
    for command in ["classes", "exit-codes"] {
        json(program, &[command, "--json"]);
    }
    assert!(!run(program, &["table"]).stdout.is_empty());
    let refused = run(program, &["bogus"]);
    assert_eq!(refused.status.code(), Some(64));
    assert!(refused.stdout.is_empty());
}

#[test]
fn the_router() {
    let program = env!("CARGO_BIN_EXE_delegation-route");
    assert!(run(program, &["check"]).status.success());
    let lane = json(program, &["resolve", "--lane", "clerk", "--json"]);
    assert_eq!(lane["requires_user_direction"], true, "{lane}");
    assert_eq!(run(program, &["resolve", "--lane", "nowhere"]).status.code(), Some(64));
    assert!(!run(program, &["table"]).stdout.is_empty());
}
