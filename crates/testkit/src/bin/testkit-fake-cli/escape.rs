//! Processes that are left behind: forked twice, so that they are nobody's children when the fake ends.

use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use testkit::fake::{Log, Process};

use crate::conduct;

/// First word of the process in between. Its second word says how it leaves.
const BETWEEN: &str = "__between";
/// First word of the process that stays.
const STAYER: &str = "__stayer";

/// How a process gets away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A session of its own, nothing held open.
    Session,
    /// The same, without an environment.
    ScrubbedSession,
    /// In the same session, with standard output held open.
    HoldingOutput,
}

const WAYS: [(&str, Way); 3] = [
    ("session", Way::Session),
    ("scrubbed-session", Way::ScrubbedSession),
    ("holding-output", Way::HoldingOutput),
];

/// Leaves a process behind; returns when it is on its own and recorded.
pub(crate) fn leave_behind(way: Way, home: &Path) -> io::Result<()> {
    let word = WAYS.iter().find(|(_, known)| *known == way).map_or("", |(word, _)| word);
    let log = Log::of(home);
    let before = log.escaped().len();
    let status =
        Command::new("/proc/self/exe").args([BETWEEN, word]).arg(home).stdin(Stdio::null()).status()?;
    if !status.success() {
        return Err(io::Error::other("no process was left behind"));
    }
    let _ = log.wait_for_escaped(before + 1);
    Ok(())
}

/// Plays the hidden roles of this program.
pub(crate) fn run_if_asked(arguments: &[String]) -> Option<ExitCode> {
    let done = match arguments {
        [_, word, home] if word == STAYER => stay(Path::new(home)),
        [_, word, way, home] if word == BETWEEN => between(way, home),
        _ => return None,
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Records itself: only now its environment can be read from outside.
fn stay(home: &Path) -> io::Result<()> {
    let own = Process::look_up(std::process::id()).ok_or_else(|| io::Error::other("no /proc"))?;
    Log::of(home).add_escaped(own)?;
    conduct::hang()
}

fn between(word: &str, home: &str) -> io::Result<()> {
    let way = WAYS.iter().find(|(name, _)| *name == word).map(|(_, way)| *way);
    let mut stayer = Command::new("/proc/self/exe");
    stayer.args([STAYER, home]).stdin(Stdio::null());
    if way != Some(Way::HoldingOutput) {
        rustix::process::setsid()?;
        stayer.stdout(Stdio::null()).stderr(Stdio::null());
    }
    if way == Some(Way::ScrubbedSession) {
        stayer.env_clear();
    }
    // It is not waited for: when this process ends, it is nobody's child.
    let _ = stayer.spawn()?;
    Ok(())
}
