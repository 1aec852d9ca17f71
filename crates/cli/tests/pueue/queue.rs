//! A lead whose runs a real Pueue owns.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::real::pueue_for_test;

use crate::support::{Lead, Ran, kill, until};

/// A lead with a queue in a folder of its own, as somebody has it who runs Pueue already. Everything ends with the value.
pub(crate) struct Queue {
    lead: Lead,
    directory: PathBuf,
    programs: PathBuf,
    daemon: Option<Child>,
}

impl Deref for Queue {
    type Target = Lead;

    fn deref(&self) -> &Lead {
        &self.lead
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.kill_daemon();
    }
}

/// A lead who finds the real programs on PATH; `None` after a skip.
pub(crate) fn lead_with_programs(test: &str) -> Option<(Lead, PathBuf)> {
    let programs = pueue_for_test(test)?;
    let lead = Lead::new();
    for name in ["pueue", "pueued"] {
        symlink(programs.join(name), lead.programs().join(name)).unwrap();
    }
    Some((lead, programs))
}

impl Queue {
    /// A queue with that many slots, served; `None` after a skip.
    pub(crate) fn new(test: &str, slots: u32) -> Option<Self> {
        let (lead, programs) = lead_with_programs(test)?;
        let directory = lead.path().join("queue");
        fs::create_dir(&directory).unwrap();
        let place = directory.display();
        // The address of a socket is short, the path of a test is not.
        let text = format!(
            "shared:\n  pueue_directory: {place}\n  runtime_directory: {place}\n  unix_socket_path: socket\n\
             client:\n  show_confirmation_questions: false\n"
        );
        fs::write(directory.join("pueue.yml"), text).unwrap();
        let config = directory.join("pueue.yml");
        let lead = lead.and("DELEGATE_PUEUE_CONFIG", config);
        let mut queue = Self { lead, directory, programs, daemon: None };
        queue.serve();
        queue.ask(&["parallel", &slots.to_string()]);
        Some(queue)
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.directory.join("pueue.yml")
    }

    /// Its files.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Starts the daemon and waits until it answers.
    pub(crate) fn serve(&mut self) {
        let log = || fs::File::create(self.directory.join("daemon.log")).unwrap();
        let mut command = self.program("pueued");
        // Its jobs shall not be in the test's process group.
        let daemon = command.stdout(log()).stderr(log()).process_group(0).spawn().unwrap();
        self.daemon = Some(daemon);
        until("the daemon", || {
            self.program("pueue").arg("status").output().unwrap().status.success().then_some(())
        });
    }

    pub(crate) fn kill_daemon(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill().unwrap();
            daemon.wait().unwrap();
        }
    }

    pub(crate) fn daemon(&self) -> u32 {
        self.daemon.as_ref().unwrap().id()
    }

    /// A real program of Pueue with the configuration of the queue.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command
            .arg("-c")
            .arg(self.config())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(&self.directory)
            .stdin(Stdio::null());
        command
    }

    /// Asks the daemon; it must answer.
    pub(crate) fn ask(&self, words: &[&str]) -> String {
        let output = self.program("pueue").args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// All rows of the queue.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let status: Value = serde_json::from_str(&self.ask(&["status", "--json"])).unwrap();
        status["tasks"].as_object().unwrap().values().cloned().collect()
    }

    /// The rows of a task.
    pub(crate) fn rows_of(&self, id: &str) -> Vec<Value> {
        let is_of = |row: &Value| row["label"].as_str().is_some_and(|label| label.ends_with(id));
        self.rows().into_iter().filter(is_of).collect()
    }

    /// The number of the only row of a task, as a word of a question.
    pub(crate) fn number(&self, id: &str) -> String {
        let rows = self.rows_of(id);
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows[0]["id"].to_string()
    }

    /// Puts a script in the place of the client that leads find. `$PUEUE` is the real one.
    pub(crate) fn replace_client(&self, script: &str) {
        let client = self.lead.programs().join("pueue");
        fs::remove_file(&client).unwrap();
        let real = self.programs.join("pueue");
        fs::write(&client, format!("#!/bin/sh\nPUEUE={}\n{script}\n", real.display())).unwrap();
        fs::set_permissions(&client, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// A turn that stays open until the file is there.
    pub(crate) fn dispatch_held(&self, name: &str) -> (String, PathBuf) {
        let gate = self.path().join(name);
        let brief = format!("[[fake: wait-for-file {}]] [[fake: answer held]]", gate.display());
        (self.dispatch("codex:exec", &brief, &[]), gate)
    }

    /// Collects a task that must be complete, after exactly that many launches of all tasks here.
    pub(crate) fn collect_one(&self, id: &str, launches: usize) -> Ran {
        let ran = self.collect(id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        assert_eq!(self.log().launches().len(), launches);
        ran
    }
}

/// A field of `/proc/PID/stat`, counted from 1.
pub(crate) fn stat(pid: u32, field: usize) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().nth(field - 3).unwrap().to_owned()
}

/// What an open descriptor of a process leads to.
pub(crate) fn descriptor(pid: u32, number: u32) -> PathBuf {
    fs::read_link(Path::new("/proc").join(pid.to_string()).join("fd").join(number.to_string())).unwrap()
}

/// Ends a process and waits until it is gone.
pub(crate) fn end(pid: u32) {
    kill(pid, "KILL");
    until("the end of a process", || testkit::fake::Process::look_up(pid).is_none().then_some(()));
}
