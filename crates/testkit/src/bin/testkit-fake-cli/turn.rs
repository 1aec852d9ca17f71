//! One turn, in five steps: before the first byte, first events, deeds, the end of the conversation, the end of the
//! process. A behaviour belongs to one of them.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use nix::sys::signal::{SigSet, Signal};
use sha2::{Digest, Sha256};
use testkit::fake::{Behaviour, Launch, Log, Process, Until};
use testkit::limits::PIPE_EDGE_BYTES;

use crate::conduct;
use crate::deeds;
use crate::escape::{Way, leave_behind};
use crate::grammar::{Grammar, Speaker};
use crate::output::{Output, endless_zeros};

/// Where codex is told to leave its last message.
const LAST_MESSAGE_FLAG: &str = "--output-last-message";

/// How the conversation ends.
enum Close {
    Answer(String),
    Error(String),
}

pub(crate) fn run(
    grammar: Grammar,
    arguments: &[String],
    brief: &str,
    behaviours: &[Behaviour],
) -> Result<ExitCode, String> {
    let home = std::env::home_dir().ok_or("HOME is not set")?;
    let log = Log::of(&home);
    let asked = grammar.asked_session(arguments);
    let other = behaviours.contains(&Behaviour::OtherSessionId);
    let session = match asked {
        Some(session) if !other => session,
        _ => grammar.new_session(new_session_id().map_err(|error| format!("no randomness: {error}"))?),
    };
    let turn = Turn {
        arguments,
        brief,
        behaviours,
        home,
        log,
        speaker: Speaker::new(grammar, session),
        output: Output::default(),
    };
    turn.play().map_err(|error| error.to_string())
}

struct Turn<'a> {
    arguments: &'a [String],
    brief: &'a str,
    behaviours: &'a [Behaviour],
    home: PathBuf,
    log: Log,
    speaker: Speaker,
    output: Output,
}

impl Turn<'_> {
    fn play(mut self) -> io::Result<ExitCode> {
        if self.wants(&Behaviour::IgnoresSigterm) {
            let mut signals = SigSet::empty();
            signals.add(Signal::SIGTERM);
            signals.thread_block()?;
        }
        self.record()?;
        if self.before_first_byte()? {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(path) = self.last_message_path() {
            // The real one makes the file before the turn, whatever comes of it.
            fs::write(path, "")?;
        }
        let events = self.speaker.begin(self.brief);
        self.output.events(&events)?;
        self.deeds()?;
        let code = self.close()?;
        if self.wants(&Behaviour::FinalThenHang)
            || self.any(|one| matches!(one, Behaviour::ErrorEventThenHang(_)))
        {
            conduct::hang();
        }
        Ok(code)
    }

    fn wants(&self, behaviour: &Behaviour) -> bool {
        self.behaviours.contains(behaviour)
    }

    fn any(&self, matches: impl Fn(&Behaviour) -> bool) -> bool {
        self.behaviours.iter().any(matches)
    }

    fn record(&self) -> io::Result<()> {
        let mut environment_names: Vec<String> =
            std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        environment_names.sort();
        let digest = Sha256::digest(self.brief.as_bytes());
        self.log.add_launch(&Launch {
            process: Process::look_up(std::process::id()).ok_or_else(|| io::Error::other("no /proc"))?,
            arguments: self.arguments.to_vec(),
            directory: std::env::current_dir()?.to_string_lossy().into_owned(),
            environment_names,
            stdin_sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            cookie: std::env::var("DELEGATION_COOKIE").ok(),
        })
    }

    /// Returns whether the process shall end at once.
    fn before_first_byte(&mut self) -> io::Result<bool> {
        for behaviour in self.behaviours {
            match behaviour {
                Behaviour::NeedTty if !io::stdin().is_terminal() => conduct::hang(),
                Behaviour::SilentForever => conduct::hang(),
                Behaviour::SilentThenFinal(Until::Elapsed(time)) => std::thread::sleep(*time),
                Behaviour::SilentThenFinal(Until::Exists(path)) => testkit::watch::until_there(path),
                Behaviour::Exit0Empty => return Ok(true),
                Behaviour::ChatterBeforeJson => {
                    self.output.text("npm notice a new version is there\nchanged 1 package in 2s\n\n")?;
                }
                Behaviour::EndlessZeros => {
                    endless_zeros(&mut io::stdout())?;
                    return Ok(true);
                }
                Behaviour::Cut64KiB => self.output.cut = true,
                Behaviour::SplitUtf8 => self.output.split = true,
                Behaviour::StandardError(text) => eprintln!("{text}"),
                Behaviour::OtherModelName(name) => self.speaker.other_model = Some(name.clone()),
                _ => {}
            }
        }
        Ok(false)
    }

    fn deeds(&mut self) -> io::Result<()> {
        for behaviour in self.behaviours {
            let (name, done) = match behaviour {
                Behaviour::WaitForFile(path) => {
                    testkit::watch::until_there(path);
                    continue;
                }
                Behaviour::BurnCpu(time) => {
                    conduct::burn(*time);
                    continue;
                }
                Behaviour::UnclosedItems => {
                    let events = self.speaker.begin_tool();
                    self.output.events(&events)?;
                    continue;
                }
                Behaviour::SetsidEscape { scrubbed } => {
                    let way = if *scrubbed { Way::ScrubbedSession } else { Way::Session };
                    leave_behind(way, 1, &self.home)?;
                    continue;
                }
                Behaviour::ForkStorm(number) => {
                    leave_behind(Way::Session, *number, &self.home)?;
                    continue;
                }
                Behaviour::StoppedEscape => {
                    leave_behind(Way::Stopped, 1, &self.home)?;
                    continue;
                }
                Behaviour::DoubleForkHoldingStdout => {
                    leave_behind(Way::HoldingOutput, 1, &self.home)?;
                    continue;
                }
                Behaviour::OpensBrowser => {
                    deeds::note(&self.log, "opens-browser", deeds::open_browser())?;
                    conduct::hang();
                }
                Behaviour::RewritesOwnBinary => ("rewrites-own-binary", deeds::rewrite_own_binary()),
                Behaviour::ReInvokesTool(words) => ("re-invokes-tool", deeds::invoke(words)),
                Behaviour::WritesOutsideWorkspace(path) => {
                    ("writes-outside-workspace", deeds::write_outside(path))
                }
                Behaviour::WritesToBrief => ("writes-to-brief", deeds::write_to_brief()),
                Behaviour::DeletesItsCwd => ("deletes-its-cwd", deeds::delete_working_directory()),
                Behaviour::EnospcMaker(directory) => ("ENOSPC-maker", deeds::fill(directory)),
                _ => continue,
            };
            deeds::note(&self.log, name, done)?;
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<ExitCode> {
        match self.ending() {
            Close::Error(message) => {
                let events = self.speaker.fail(&message);
                self.output.events(&events)?;
                Ok(ExitCode::FAILURE)
            }
            Close::Answer(answer) => {
                let events = self.speaker.succeed(&answer);
                self.output.events(&events)?;
                if let Some(path) = self.last_message_path() {
                    fs::write(path, &answer)?;
                }
                let fails = self.wants(&Behaviour::Exit1AfterFinal);
                Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
            }
        }
    }

    /// The last behaviour that says something about the answer decides.
    fn ending(&self) -> Close {
        let plain = Close::Answer(format!("The fake read {} bytes.", self.brief.len()));
        self.behaviours.iter().rev().find_map(|behaviour| self.ending_of(behaviour)).unwrap_or(plain)
    }

    fn ending_of(&self, behaviour: &Behaviour) -> Option<Close> {
        Some(Close::Answer(match behaviour {
            Behaviour::Answer(text) => text.clone(),
            Behaviour::LineSeparators => "one\u{2028}two\u{2029}three\u{85}four".to_owned(),
            Behaviour::SplitUtf8 => self.text_with_a_split_character(),
            Behaviour::GiantLine(bytes) => "x".repeat(usize::try_from(*bytes).unwrap_or(usize::MAX)),
            Behaviour::Cut64KiB => "x".repeat(3 * PIPE_EDGE_BYTES),
            Behaviour::QuotaWordsInProse => {
                "All done. By the way: usage limit reached, 429 Too Many Requests, quota \
                exceeded, please log in, unauthorized, authentication required, API key, credentials."
                    .to_owned()
            }
            Behaviour::ErrorEvent(message) | Behaviour::ErrorEventThenHang(message) => {
                return Some(Close::Error(message.clone()));
            }
            _ => return None,
        }))
    }

    /// Three-byte characters across the next edge, one of which the edge splits wherever the line begins.
    fn text_with_a_split_character(&self) -> String {
        (0..3)
            .map(|shift| "a".repeat(shift) + &"€".repeat(PIPE_EDGE_BYTES / 2))
            .find(|text| {
                let mut probe = Speaker::new(self.speaker.grammar, self.speaker.session.clone());
                let lines: String = probe.succeed(text).iter().map(|event| format!("{event}\n")).collect();
                let edge = PIPE_EDGE_BYTES - self.output.position() % PIPE_EDGE_BYTES;
                !lines.is_char_boundary(edge)
            })
            .unwrap_or_default()
    }

    fn last_message_path(&self) -> Option<PathBuf> {
        let index = self.arguments.iter().position(|word| word == LAST_MESSAGE_FLAG)?;
        self.arguments.get(index + 1).map(PathBuf::from)
    }
}

/// A random id in the shape of a UUID.
fn new_session_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}
