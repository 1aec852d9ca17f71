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
    /// In a session of its own, and stopped.
    Stopped,
    /// In the same session, with standard output held open.
    HoldingOutput,
}

const WAYS: [(&str, Way); 4] = [
    ("session", Way::Session),
    ("scrubbed-session", Way::ScrubbedSession),
    ("stopped", Way::Stopped),
    ("holding-output", Way::HoldingOutput),
];

/// Leaves processes behind; returns when they are on their own and recorded.
pub(crate) fn leave_behind(way: Way, number: u64, home: &Path) -> io::Result<()> {
    let word = WAYS.iter().find(|(_, known)| *known == way).map_or("", |(word, _)| word);
    let log = Log::of(home);
    let before = log.escaped().len();
    let status = Command::new("/proc/self/exe")
        .args([BETWEEN, word, &number.to_string()])
        .arg(home)
        .stdin(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(io::Error::other("no process was left behind"));
    }
    let _ = log.wait_for_escaped(before + usize::try_from(number).unwrap_or(usize::MAX));
    Ok(())
}

/// Plays the hidden roles of this program.
pub(crate) fn run_if_asked(arguments: &[String]) -> Option<ExitCode> {
    let done = match arguments {
        [_, word, way, home] if word == STAYER => stay(way, Path::new(home)),
        [_, word, way, number, home] if word == BETWEEN => between(way, number, home),
        _ => return None,
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Records itself: only now its environment can be read from outside.
fn stay(word: &str, home: &Path) -> io::Result<()> {
    let own = Process::look_up(std::process::id()).ok_or_else(|| io::Error::other("no /proc"))?;
    Log::of(home).add_escaped(own)?;
    if way(word) == Some(Way::Stopped) {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
    }
    conduct::hang()
}

fn way(word: &str) -> Option<Way> {
    WAYS.iter().find(|(name, _)| *name == word).map(|(_, way)| *way)
}

fn between(word: &str, number: &str, home: &str) -> io::Result<()> {
    let way = way(word);
    let mut stayer = Command::new("/proc/self/exe");
    stayer.args([STAYER, word, home]).stdin(Stdio::null());
    if way != Some(Way::HoldingOutput) {
        rustix::process::setsid()?;
        stayer.stdout(Stdio::null()).stderr(Stdio::null());
    }
    if way == Some(Way::ScrubbedSession) {
        stayer.env_clear();
    }
    for _ in 0..number.parse().unwrap_or(1_u64) {
        // It is not waited for: when this process ends, it is nobody's child.
        let _ = stayer.spawn()?;
    }
    Ok(())
}
