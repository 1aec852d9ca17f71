//! The vocabulary of the fake CLI.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits::{GIANT_LINE_DEFAULT_BYTES, LINGER_MAX_SECONDS, STORM_DEFAULT_PROCESSES};
use crate::marker::Marker;

/// One behaviour. Each variant names how it is written inside `[[fake: …]]`; several may be combined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// `answer TEXT`: the answer. Without it the answer tells the number of bytes of the brief.
    Answer(String),
    /// `wait-for-file PATH`: after its first events, waits until the file is there: a test holds the turn open.
    WaitForFile(PathBuf),
    /// `burn-cpu [SECONDS]`: after its first events, works hard; without a number until it is stopped.
    BurnCpu(Duration),
    /// `read-stdin-to-EOF`: no output before standard input has ended. Every turn does so; the name is there for tests
    /// that are about it.
    ReadStdinToEof,
    /// `need-tty`: hangs unless standard input is a terminal.
    NeedTty,
    /// `silent-forever`: not a byte, no end.
    SilentForever,
    /// `silent-then-final [SECONDS or PATH]`: not a byte for so long (2), or until the file is there; then all at once.
    SilentThenFinal(Until),
    /// `final-then-hang`: the final event, but no end.
    FinalThenHang,
    /// `exit-0-empty`: ends well without a byte.
    Exit0Empty,
    /// `exit-1-after-final`: a complete success, and exit code 1.
    Exit1AfterFinal,
    /// `64-KiB-cut`: the output stops at exactly 65,536 bytes, exit code 0.
    Cut64KiB,
    /// `chatter-before-JSON`: lines of a package manager before the first event.
    ChatterBeforeJson,
    /// `U+2028`: line and paragraph separators inside the answer.
    LineSeparators,
    /// `split-UTF-8`: characters split between two writes, at every 64 KiB.
    SplitUtf8,
    /// `giant-line [BYTES]`: an answer of that length (2 MiB), so a line of at least that.
    GiantLine(u64),
    /// `endless-zeros`: zero bytes on standard output until it is stopped.
    EndlessZeros,
    /// `setsid-escape [scrubbed]`: leaves a process in a session of its own, forked twice; with `scrubbed` it has no
    /// environment.
    SetsidEscape {
        /// The process has no environment.
        scrubbed: bool,
    },
    /// `fork-storm [NUMBER]`: leaves that many processes (500), each in a session that is not the fake's.
    ForkStorm(u64),
    /// `stopped-escape`: leaves a process in a session of its own that has stopped itself (SIGSTOP).
    StoppedEscape,
    /// `double-fork-holding-stdout`: leaves a process that holds standard output open.
    DoubleForkHoldingStdout,
    /// `ignores-SIGTERM`: takes no SIGTERM; its children neither.
    IgnoresSigterm,
    /// `error-event [MESSAGE]`: the provider's own error, exit code 1.
    ErrorEvent(String),
    /// `error-event-then-hang [MESSAGE]`: the provider's own error, but no end.
    ErrorEventThenHang(String),
    /// `quota-words-in-prose`: a good answer that speaks of limits, quotas and logins.
    QuotaWordsInProse,
    /// `other-session-id`: another conversation than the one that was asked for.
    OtherSessionId,
    /// `other-model-name [NAME]`: names another model, where the grammar names one (claude, pi).
    OtherModelName(String),
    /// `unclosed-items`: a tool call that begins and never ends, then success (claude, codex, pi).
    UnclosedItems,
    /// `stderr TEXT`: a line on standard error before the first event.
    StandardError(String),
    /// `opens-browser`: starts what BROWSER names, then waits for a login.
    OpensBrowser,
    /// `rewrites-own-binary`: replaces its own file by other bytes.
    RewritesOwnBinary,
    /// `re-invokes-tool PROGRAM ARGUMENT…`: starts a program (the tool that started it, say) and waits for it.
    ReInvokesTool(Vec<String>),
    /// `writes-outside-workspace PATH`: tries to write that file.
    WritesOutsideWorkspace(PathBuf),
    /// `writes-to-brief`: tries to change its own standard input.
    WritesToBrief,
    /// `deletes-its-cwd`: removes its working directory, if a file `expendable` is in it.
    DeletesItsCwd,
    /// `ENOSPC-maker DIRECTORY`: fills the file system of that directory.
    EnospcMaker(PathBuf),
    /// `version-text TEXT`: what `--version` prints.
    VersionText(String),
    /// `help-lacks FLAG`: a flag that `--help` does not name.
    HelpLacks(String),
    /// `probe-hangs`: `--version` and `--help` never end.
    ProbeHangs,
    /// `probe-fails`: `--version` and `--help` exit with 1.
    ProbeFails,
}

/// What somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// A time to pass.
    Elapsed(Duration),
    /// A file to be there.
    Exists(PathBuf),
}

impl Behaviour {
    /// Every behaviour that a text asks for, in order.
    ///
    /// # Errors
    /// A sentence about the first marker that makes no sense.
    pub fn all(text: &str) -> Result<Vec<Self>, String> {
        Marker::all("fake", text).iter().map(Self::from_marker).collect()
    }

    fn from_marker(marker: &Marker) -> Result<Self, String> {
        let text = |default: &str| marker.argument("text", 0).unwrap_or(default).to_owned();
        let required = || match marker.argument("path", 0) {
            Some(path) => Ok(path.to_owned()),
            None => Err(format!("{}: an argument is missing", marker.name)),
        };
        Ok(match marker.name.as_str() {
            "answer" => Self::Answer(required()?),
            "wait-for-file" => Self::WaitForFile(required()?.into()),
            "burn-cpu" => {
                Self::BurnCpu(Duration::from_secs(marker.number("seconds", 0, LINGER_MAX_SECONDS)?))
            }
            "read-stdin-to-EOF" => Self::ReadStdinToEof,
            "need-tty" => Self::NeedTty,
            "silent-forever" => Self::SilentForever,
            "silent-then-final" => match marker.argument("path", 0) {
                Some(path) if path.starts_with('/') => Self::SilentThenFinal(Until::Exists(path.into())),
                _ => Self::SilentThenFinal(Until::Elapsed(Duration::from_secs(
                    marker.number("seconds", 0, 2)?,
                ))),
            },
            "final-then-hang" => Self::FinalThenHang,
            "exit-0-empty" => Self::Exit0Empty,
            "exit-1-after-final" => Self::Exit1AfterFinal,
            "64-KiB-cut" => Self::Cut64KiB,
            "chatter-before-JSON" => Self::ChatterBeforeJson,
            "U+2028" => Self::LineSeparators,
            "split-UTF-8" => Self::SplitUtf8,
            "giant-line" => Self::GiantLine(marker.number("bytes", 0, GIANT_LINE_DEFAULT_BYTES)?),
            "endless-zeros" => Self::EndlessZeros,
            "setsid-escape" => Self::SetsidEscape { scrubbed: marker.argument("how", 0) == Some("scrubbed") },
            "fork-storm" => Self::ForkStorm(marker.number("number", 0, STORM_DEFAULT_PROCESSES)?),
            "stopped-escape" => Self::StoppedEscape,
            "double-fork-holding-stdout" => Self::DoubleForkHoldingStdout,
            "ignores-SIGTERM" => Self::IgnoresSigterm,
            "error-event" => Self::ErrorEvent(text("The fake provider failed.")),
            "error-event-then-hang" => Self::ErrorEventThenHang(text("The fake provider failed.")),
            "quota-words-in-prose" => Self::QuotaWordsInProse,
            "other-session-id" => Self::OtherSessionId,
            "other-model-name" => Self::OtherModelName(text("another-model-1")),
            "unclosed-items" => Self::UnclosedItems,
            "stderr" => Self::StandardError(required()?),
            "opens-browser" => Self::OpensBrowser,
            "rewrites-own-binary" => Self::RewritesOwnBinary,
            "re-invokes-tool" => {
                required()?;
                Self::ReInvokesTool(marker.words().to_vec())
            }
            "writes-outside-workspace" => Self::WritesOutsideWorkspace(required()?.into()),
            "writes-to-brief" => Self::WritesToBrief,
            "deletes-its-cwd" => Self::DeletesItsCwd,
            "ENOSPC-maker" => Self::EnospcMaker(required()?.into()),
            "version-text" => Self::VersionText(required()?),
            "help-lacks" => Self::HelpLacks(required()?),
            "probe-hangs" => Self::ProbeHangs,
            "probe-fails" => Self::ProbeFails,
            other => return Err(format!("no behaviour is called {other:?}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_complete() {
        let catalogue = "read-stdin-to-EOF; need-tty; silent-forever; silent-then-final; final-then-hang; exit-0-empty; \
            exit-1-after-final; 64-KiB-cut; chatter-before-JSON; U+2028; split-UTF-8; giant-line; endless-zeros; \
            setsid-escape; fork-storm; stopped-escape; double-fork-holding-stdout; ignores-SIGTERM; error-event-then-hang; quota-words-in-prose; \
            other-session-id; other-model-name; unclosed-items; stderr x; opens-browser; rewrites-own-binary; re-invokes-tool x; \
            writes-outside-workspace /x; writes-to-brief; deletes-its-cwd; ENOSPC-maker /x; wait-for-file /x; answer x; \
            burn-cpu; error-event; version-text x; help-lacks x; probe-hangs; probe-fails";
        for name in catalogue.split("; ") {
            let found = Behaviour::all(&format!("[[fake: {name}]]"));
            assert_eq!(found.map(|all| all.len()), Ok(1), "{name}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Behaviour::all("[[fake: dance]]").unwrap_err().contains("dance"));
        assert!(Behaviour::all("[[fake: wait-for-file]]").is_err());
        assert!(Behaviour::all("[[fake: giant-line much]]").is_err());
    }

    #[test]
    fn silence_ends_with_time_or_a_file() {
        let found = Behaviour::all("[[fake: silent-then-final /go]] [[fake: silent-then-final 3]]").unwrap();
        assert_eq!(
            found,
            [
                Behaviour::SilentThenFinal(Until::Exists("/go".into())),
                Behaviour::SilentThenFinal(Until::Elapsed(Duration::from_secs(3))),
            ]
        );
    }
}
