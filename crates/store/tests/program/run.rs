//! Running the test program from a test.
#![allow(dead_code, reason = "each test uses its own part")]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use record::{AbsolutePath, TaskId};

use crate::place::Place;

const SIGNAL_KILL: i32 = 9;

impl Place {
    pub(crate) fn command(&self, word: &str, id: TaskId, fault: Option<&str>) -> Command {
        command(word, self.root.path(), Some(id), fault)
    }

    /// Runs the program to its end and returns the line that it prints.
    pub(crate) fn run(&self, word: &str, id: TaskId, fault: Option<&str>) -> String {
        printed(&self.command(word, id, fault).output().unwrap())
    }

    /// Runs the program, which must be killed at a fault point.
    pub(crate) fn run_killed_at(&self, word: &str, id: TaskId, point: &str) {
        let output = self.command(word, id, Some(&format!("{point}=kill"))).output().unwrap();
        assert_eq!(output.status.signal(), Some(SIGNAL_KILL), "{point} was not reached: {output:?}");
    }
}

pub(crate) fn command(word: &str, root: &AbsolutePath, id: Option<TaskId>, fault: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_store-test-program"));
    command.arg(word).arg(root.as_path()).args(id.map(|id| id.to_string()));
    command.env_remove(fault::ENVIRONMENT_NAME).stdin(Stdio::null());
    if let Some(fault) = fault {
        command.env(fault::ENVIRONMENT_NAME, fault);
    }
    command
}

/// The same command after a shell script that changes mounts, in a mount namespace of its own; the script gets `argument` as
/// its first. `None` where there is no such namespace.
pub(crate) fn in_mount_namespace(script: &str, argument: &AbsolutePath, command: &Command) -> Option<Output> {
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount"]).env_remove(fault::ENVIRONMENT_NAME);
        unshare
    };
    let possible = unshare().arg("true").status().is_ok_and(|status| status.success());
    if !possible {
        eprintln!("not tried: no mount namespace here");
        return None;
    }
    let script = format!(r#"{script}; shift; exec "$@""#);
    let mut program = unshare();
    program.args(["sh", "-ec", &script, "sh"]).arg(argument.as_path());
    Some(program.arg(command.get_program()).args(command.get_args()).output().unwrap())
}

pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    str::from_utf8(&output.stdout).unwrap().trim_end().to_owned()
}
