//! What a fake CLI leaves below HOME: one line for each real turn, and one for each thing that happened to it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::watch::until_below;

/// One real start of a turn; probes are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The process.
    pub process: Process,
    /// Its arguments, the program name included.
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: String,
    /// The names of its environment variables, sorted.
    pub environment_names: Vec<String>,
    /// SHA-256 of its standard input, in hexadecimal.
    pub stdin_sha256: String,
    /// Value of `DELEGATION_COOKIE`, if it was set.
    pub cookie: Option<String>,
}

/// A process that can not be taken for another one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its start time in clock ticks since boot.
    pub start_time: u64,
}

/// The records of the fakes that run with one HOME.
#[derive(Debug, Clone)]
pub struct Log {
    directory: PathBuf,
}

impl Process {
    /// The process with that id; `None` when it is gone (a zombie is).
    #[must_use]
    pub fn look_up(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let start_time = fields.get(19)?.parse().ok()?;
        (*fields.first()? != "Z").then_some(Self { pid, start_time })
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        Self::look_up(self.pid) == Some(*self)
    }
}

impl Log {
    /// The records below that HOME, in its cache: a fence leaves that open, if a cache variable leads there. Nothing is made
    /// there yet.
    #[must_use]
    pub fn of(home: &Path) -> Self {
        Self { directory: home.join(".cache/fake-cli") }
    }

    /// Every launch, in order.
    ///
    /// # Panics
    /// A line is not a launch: the log was damaged.
    #[must_use]
    pub fn launches(&self) -> Vec<Launch> {
        let launch = |line: &str| Launch::parse(line).unwrap_or_else(|| panic!("not a launch: {line}"));
        self.lines("launches").iter().map(|line| launch(line)).collect()
    }

    /// Waits until there are that many launches, and returns all.
    ///
    /// # Panics
    /// There are fewer after [`TEST_WAIT_MAX_SECONDS`](crate::limits::TEST_WAIT_MAX_SECONDS).
    #[must_use]
    pub fn wait_for_launches(&self, count: usize) -> Vec<Launch> {
        self.wait(|| Some(self.launches()).filter(|launches| launches.len() >= count))
    }

    /// What happened: lines of `BEHAVIOUR: FACT`.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.lines("notes")
    }

    /// Waits for a note of that behaviour, and returns the fact.
    ///
    /// # Panics
    /// There is none after [`TEST_WAIT_MAX_SECONDS`](crate::limits::TEST_WAIT_MAX_SECONDS).
    #[must_use]
    pub fn wait_for_note(&self, behaviour: &str) -> String {
        let prefix = format!("{behaviour}: ");
        self.wait(|| self.notes().iter().find_map(|note| note.strip_prefix(&prefix).map(str::to_owned)))
    }

    /// The processes that were left behind.
    #[must_use]
    pub fn escaped(&self) -> Vec<Process> {
        let process = |line: &String| {
            let (pid, start_time) = line.split_once(' ')?;
            Some(Process { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
        };
        self.lines("escaped").iter().filter_map(process).collect()
    }

    /// Waits until that many processes were left behind, and returns all.
    ///
    /// # Panics
    /// There are fewer after [`TEST_WAIT_MAX_SECONDS`](crate::limits::TEST_WAIT_MAX_SECONDS).
    #[must_use]
    pub fn wait_for_escaped(&self, count: usize) -> Vec<Process> {
        self.wait(|| Some(self.escaped()).filter(|escaped| escaped.len() >= count))
    }

    /// Adds a launch.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn add_launch(&self, launch: &Launch) -> io::Result<()> {
        self.append("launches", &launch.to_line())
    }

    /// Adds a note.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn add_note(&self, behaviour: &str, fact: &str) -> io::Result<()> {
        self.append("notes", &format!("{behaviour}: {}", fact.replace('\n', " ")))
    }

    /// Adds a process that was left behind.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn add_escaped(&self, process: Process) -> io::Result<()> {
        self.append("escaped", &format!("{} {}", process.pid, process.start_time))
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.directory.join(file)).unwrap_or_default();
        // A line without its end is still being written.
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
    }

    fn append(&self, file: &str, line: &str) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let mut log = OpenOptions::new().append(true).create(true).open(self.directory.join(file))?;
        log.write_all(format!("{line}\n").as_bytes())
    }

    /// Looks again whenever something changes in the folder.
    fn wait<T>(&self, look: impl Fn() -> Option<T>) -> T {
        let made = fs::create_dir_all(&self.directory);
        made.unwrap_or_else(|error| panic!("{}: {error}", self.directory.display()));
        until_below(&self.directory, "something of the kind", look)
    }
}

impl Launch {
    fn to_line(&self) -> String {
        json!({"pid": self.process.pid, "start_time": self.process.start_time, "arguments": self.arguments,
               "directory": self.directory, "environment_names": self.environment_names,
               "stdin_sha256": self.stdin_sha256, "cookie": self.cookie})
        .to_string()
    }

    fn parse(line: &str) -> Option<Self> {
        let record: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| record[key].as_str().map(str::to_owned);
        let list = |key: &str| -> Option<Vec<String>> {
            record[key].as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        };
        Some(Self {
            process: Process {
                pid: u32::try_from(record["pid"].as_u64()?).ok()?,
                start_time: record["start_time"].as_u64()?,
            },
            arguments: list("arguments")?,
            directory: text("directory")?,
            environment_names: list("environment_names")?,
            stdin_sha256: text("stdin_sha256")?,
            cookie: text("cookie"),
        })
    }
}
