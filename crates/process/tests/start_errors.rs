//! What goes wrong before or at the execution comes back as what it is, and nothing is left.

mod common;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use common::{TEST_PROGRAM, append, launch, test_program};
use process::{Gate, GateStep, LaunchSpec, Program, StartError};

fn spec(argv: &[&str]) -> LaunchSpec {
    launch(argv, append(Path::new("/dev/null")))
}

fn failed_step(spec: LaunchSpec) -> (GateStep, Option<i32>) {
    match Gate::spawn(test_program(), spec).and_then(Gate::go) {
        Err(StartError::Step(step, error)) => (step, error.raw_os_error()),
        other => panic!("expected a failed step, got {other:?}"),
    }
}

#[test]
fn a_missing_program_is_reported_by_the_execution() {
    let missing = spec(&["/nowhere/at/all"]);
    assert_eq!(failed_step(missing), (GateStep::Execute, Some(libc::ENOENT)));
}

#[test]
fn a_file_without_permission_is_reported_by_the_execution() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("program");
    fs::write(&path, "#!/bin/sh\n").expect("a file");
    let refused = spec(&[path.to_str().expect("UTF-8")]);
    assert_eq!(failed_step(refused), (GateStep::Execute, Some(libc::EACCES)));
}

#[test]
fn a_file_of_no_known_format_is_reported_by_the_execution() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("program");
    fs::write(&path, "not a program\n").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    let by_path = spec(&[path.to_str().expect("UTF-8")]);
    assert_eq!(failed_step(by_path), (GateStep::Execute, Some(libc::ENOEXEC)));
    let mut by_descriptor = spec(&["program"]);
    by_descriptor.program = Program::Descriptor(File::open(&path).expect("a file"));
    assert_eq!(failed_step(by_descriptor), (GateStep::Execute, Some(libc::ENOEXEC)));
}

#[test]
fn a_missing_directory_is_reported_before_ready() {
    let mut missing = spec(&["/bin/true"]);
    missing.directory = "/nowhere/at/all".into();
    match Gate::spawn(test_program(), missing) {
        Err(StartError::Step(GateStep::Directory, error)) => {
            assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        }
        other => panic!("expected a failed step, got {other:?}"),
    }
}

#[test]
fn arguments_too_long_for_the_kernel_are_reported_by_the_execution() {
    let mut long = spec(&["/bin/true"]);
    long.argv.push(OsString::from_vec(vec![b'a'; 1 << 20]));
    assert_eq!(failed_step(long), (GateStep::Execute, Some(libc::E2BIG)));
}

#[test]
fn a_launch_that_can_not_be_described_starts_nothing() {
    let mut nul = spec(&["/bin/true"]);
    nul.environment.push(OsString::from_vec(b"A=b\0c".to_vec()));
    assert!(matches!(Gate::spawn(test_program(), nul), Err(StartError::Specification(_))));
    let mut long = spec(&["/bin/true"]);
    long.argv.push(OsString::from_vec(vec![b'a'; 8 << 20]));
    assert!(matches!(Gate::spawn(test_program(), long), Err(StartError::Specification(_))));
}

#[test]
fn a_missing_gate_program_is_a_failed_spawn() {
    let result = Gate::spawn(Path::new("/nowhere/gate"), spec(&["/bin/true"]));
    assert!(matches!(result, Err(StartError::Spawn(_))), "{result:?}");
}

#[test]
fn a_gate_program_that_is_no_gate_is_noticed() {
    let result = Gate::spawn(Path::new("/bin/true"), spec(&["/bin/true"]));
    assert!(matches!(result, Err(StartError::GateEnded | StartError::Channel(_))), "{result:?}");
}

#[test]
fn a_gate_started_by_hand_gives_up() {
    let null = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_CLOEXEC)
        .open("/dev/null")
        .expect("the null device");
    let output = Command::new(TEST_PROGRAM).arg(process::GATE_WORD).stdin(null).output().expect("a program");
    assert_eq!(output.status.code(), Some(127));
    assert!(output.stdout.is_empty());
}

#[test]
fn the_subreaper_containment_needs_a_subreaper() {
    let output = Command::new(TEST_PROGRAM).arg("subreaper-asked").output().expect("a program");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.starts_with("containment Subreaper is not available"), "{said}");
}
