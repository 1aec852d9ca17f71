//! One target under way.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::build;
use super::report::Report;
use super::target::Target;
use crate::failure::Failure;

/// Longest time that one input may take, in seconds of a clock on the wall: a target that shares two cores with every
/// test of the project is slow, and one that hangs is a finding all the same.
const INPUT_MAX_SECONDS: u32 = 120;
/// Most memory of a target; beyond it the input is a finding.
const MEMORY_MAX_MEBIBYTES: u32 = 2048;

/// Beside whom a target runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// It is what the caller waits for.
    Normal,
    /// It takes what others leave.
    Lowest,
}

/// A target under way. Dropped before its end, it is killed.
#[derive(Debug)]
pub(crate) struct Campaign {
    target: Target,
    child: Child,
    ended: bool,
}

impl Campaign {
    /// Starts a target that was built. It ends by itself after that time or at the first finding.
    pub(crate) fn start(target: Target, duration: Duration, priority: Priority) -> Result<Self, Failure> {
        let program = build::program(&target)?;
        let products = target.products();
        let (corpus, findings) = (products.join("corpus"), products.join("findings"));
        for directory in [&corpus, &findings] {
            fs::create_dir_all(directory).map_err(Failure::file(directory))?;
        }
        let log = products.join("log");
        let output = File::create(&log).map_err(Failure::file(&log))?;
        let errors = output.try_clone().map_err(Failure::file(&log))?;
        let mut command = match priority {
            Priority::Normal => Command::new(&program),
            Priority::Lowest => {
                let mut command = Command::new("nice");
                command.args(["-n", "19"]).arg(&program);
                command
            }
        };
        command
            .args(options(duration))
            .arg(prefixed("-artifact_prefix=", findings.join("")))
            .args(
                Some(target.dictionary()).filter(|file| file.is_file()).map(|file| prefixed("-dict=", file)),
            )
            .arg(corpus)
            .args(Some(target.seeds()).filter(|seeds| seeds.is_dir()))
            .current_dir(&products)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        let child = command
            .spawn()
            .map_err(|source| Failure::Start { program: program.display().to_string(), source })?;
        Ok(Self { target, child, ended: false })
    }

    /// Waits for the end, and tells what came out.
    pub(crate) fn finish(mut self) -> Result<Report, Failure> {
        let status = self
            .child
            .wait()
            .map_err(|source| Failure::Start { program: self.target.to_string(), source })?;
        self.ended = true;
        Report::read(&self.target, status)
    }
}

impl Drop for Campaign {
    fn drop(&mut self) {
        if !self.ended {
            // It may have ended by itself.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn options(duration: Duration) -> [String; 4] {
    [
        format!("-max_total_time={}", duration.as_secs()),
        format!("-timeout={INPUT_MAX_SECONDS}"),
        format!("-rss_limit_mb={MEMORY_MAX_MEBIBYTES}"),
        "-print_final_stats=1".to_owned(),
    ]
}

fn prefixed(option: &str, path: PathBuf) -> std::ffi::OsString {
    let mut word = std::ffi::OsString::from(option);
    word.push(path);
    word
}
