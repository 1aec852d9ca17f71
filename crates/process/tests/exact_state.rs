//! The child finds exactly what was asked for, and nothing of its starter.

mod common;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use common::{launch, output_of, shell};
use process::{Program, SealedInput};

/// The bytes of a file under `/proc/self`, as the child sees it.
fn seen_by_child(file: &str) -> String {
    output_of(|output| launch(&["/bin/cat", &format!("/proc/self/{file}")], output))
}

fn value_of<'text>(text: &'text str, name: &str) -> &'text str {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or_else(|| panic!("no {name} in {text}"))
        .trim()
}

#[test]
fn the_environment_is_used_to_the_letter() {
    let seen = output_of(|output| {
        let mut spec = launch(&["/bin/cat", "/proc/self/environ"], output);
        spec.environment = ["B=2", "A=1", "EMPTY=", "A=again"].map(OsString::from).into();
        spec
    });
    assert_eq!(seen, "B=2\0A=1\0EMPTY=\0A=again\0");
    let seen = output_of(|output| {
        let mut spec = launch(&["/bin/cat", "/proc/self/environ"], output);
        spec.environment.clear();
        spec
    });
    assert_eq!(seen, "");
}

#[test]
fn the_arguments_are_used_to_the_letter() {
    let seen = output_of(|output| {
        let mut spec = launch(&["/bin/cat", "/proc/self/cmdline"], output);
        spec.argv = ["a name", "/proc/self/cmdline", "-"].map(OsString::from).into();
        spec
    });
    assert_eq!(seen, "a name\0/proc/self/cmdline\0-\0");
}

#[test]
fn the_working_directory_is_the_one_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let canonical = directory.path().canonicalize().expect("a path");
    let seen = output_of(|output| {
        let mut spec = launch(&["/bin/readlink", "/proc/self/cwd"], output);
        spec.directory = canonical.clone();
        spec
    });
    assert_eq!(seen.trim_end(), canonical.to_str().expect("UTF-8"));
}

#[test]
fn signals_have_their_default_effect_and_none_is_blocked() {
    let status = seen_by_child("status");
    for name in ["SigBlk:", "SigIgn:", "SigCgt:", "SigPnd:", "ShdPnd:"] {
        assert_eq!(value_of(&status, name), "0000000000000000", "{name}");
    }
}

#[test]
fn the_mask_of_file_modes_is_the_one_asked_for() {
    let status = output_of(|output| {
        let mut spec = launch(&["/bin/cat", "/proc/self/status"], output);
        spec.umask = 0o027;
        spec
    });
    assert_eq!(value_of(&status, "Umask:"), "0027");
}

#[test]
fn only_the_three_standard_descriptors_are_open() {
    // Not close-on-exec, as a careless starter would leave it.
    let careless = File::open("/dev/null").expect("the null device");
    rustix::io::fcntl_setfd(&careless, rustix::io::FdFlags::empty()).expect("a flag");
    let seen = output_of(|output| {
        let mut spec = launch(&["/bin/ls", "/proc/self/fd"], output);
        spec.program = Program::Descriptor(File::open("/bin/ls").expect("a program"));
        spec
    });
    // Descriptor 3 is the directory that ls reads.
    assert_eq!(seen.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

#[test]
fn it_leads_a_session_without_a_terminal() {
    let seen = output_of(|output| shell("echo $$; cat /proc/$$/stat; : < /dev/tty", output));
    let (pid, rest) = seen.split_once('\n').expect("two lines");
    let (_, stat) = rest.split_once(") ").expect("a name");
    let fields: Vec<&str> = stat.split_ascii_whitespace().collect();
    // State, parent, group, session, terminal.
    assert_eq!(fields[2..5], [pid, pid, "0"]);
    assert!(rest.contains("/dev/tty"), "opening the terminal fails: {rest}");
}

#[test]
fn there_are_no_core_dumps_and_files_are_limited_as_asked() {
    let limits = output_of(|output| {
        let mut spec = launch(&["/bin/cat", "/proc/self/limits"], output);
        spec.open_files_limit = Some(77);
        spec
    });
    let words = |name| value_of(&limits, name).split_whitespace().collect::<Vec<_>>();
    assert_eq!(words("Max core file size")[..2], ["0", "0"]);
    assert_eq!(words("Max open files")[0], "77");
}

#[test]
fn the_limit_of_files_goes_no_higher_than_the_hard_one() {
    let limits = output_of(|output| {
        let mut spec = launch(&["/bin/cat", "/proc/self/limits"], output);
        spec.open_files_limit = Some(u64::MAX - 1);
        spec
    });
    let words: Vec<_> = value_of(&limits, "Max open files").split_whitespace().collect();
    assert_eq!(words[0], words[1]);
}

#[test]
fn a_program_runs_by_its_descriptor_after_its_path_is_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("program");
    fs::copy("/bin/cat", &path).expect("a copy");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("permissions");
    let program = File::open(&path).expect("a program");
    fs::remove_file(&path).expect("removed");
    let seen = output_of(|output| {
        let mut spec = launch(&["cat"], output);
        spec.program = Program::Descriptor(program);
        spec.stdin = SealedInput::from_bytes(b"brief").expect("an input");
        spec
    });
    assert_eq!(seen, "brief");
}

#[test]
fn a_script_runs_by_its_path() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("script");
    fs::write(&path, "#!/bin/sh\necho \"$0 $1\"\n").expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("permissions");
    let seen = output_of(|output| {
        let mut spec = launch(&["script", "argument"], output);
        spec.program = Program::Path(PathBuf::from(&path));
        spec
    });
    assert_eq!(seen.trim_end(), format!("{} argument", path.display()));
}

#[test]
fn output_and_error_go_to_their_own_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let error = directory.path().join("error");
    let seen = output_of(|output| {
        let mut spec = shell("echo out; echo err >&2", output);
        spec.stderr = common::append(&error);
        spec
    });
    assert_eq!(seen, "out\n");
    assert_eq!(fs::read_to_string(&error).expect("error"), "err\n");
}

#[test]
fn a_large_environment_and_input_arrive_whole() {
    let value = "x".repeat(100_000);
    let seen = output_of(|output| {
        let mut spec = shell("cat; echo; cat /proc/$$/environ", output);
        spec.environment = (0..5).map(|number| format!("V{number}={value}").into()).collect();
        spec.stdin = SealedInput::from_bytes(&vec![b'i'; 1 << 20]).expect("an input");
        spec
    });
    let mut input = String::new();
    seen.as_bytes().take(1 << 20).read_to_string(&mut input).expect("UTF-8");
    assert!(input.bytes().all(|byte| byte == b'i'));
    assert_eq!(seen.matches(&value).count(), 5);
}
