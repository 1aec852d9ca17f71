//! One turn of a real CLI, run by hand: what tests compare the product with, and what fixtures are made from.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::rand::{GetRandomFlags, getrandom};

use super::component::Component;
use super::stage::Stage;

/// What opencode is denied in read-only mode (providers.md, Decisions 3), and what it would ask about.
const OPENCODE_PERMISSION: &str = r#"{"bash":"deny","doom_loop":"deny","edit":"deny","external_directory":"deny","task":"deny","webfetch":"deny","websearch":"deny"}"#;

/// What the CLI may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Look only.
    ReadOnly,
    /// Write in the workspace.
    WorkspaceWrite,
}

/// How a turn comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Own,
    /// SIGTERM, once the model server has seen that many requests on this stage.
    TerminatedAtRequest(usize),
}

/// One turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The brief, on standard input.
    pub brief: String,
    /// What it may do.
    pub permission: Permission,
    /// The conversation that it goes on with.
    pub session: Option<String>,
    /// How it ends.
    pub ending: Ending,
}

/// What a turn left.
#[derive(Debug)]
pub struct Finished {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// How the process ended.
    pub status: ExitStatus,
    /// codex: the file with the last message, when it was written.
    pub last_message: Option<Vec<u8>>,
}

impl Turn {
    /// A new conversation in read-only mode that ends by itself.
    #[must_use]
    pub fn new(brief: impl Into<String>) -> Self {
        Self { brief: brief.into(), permission: Permission::ReadOnly, session: None, ending: Ending::Own }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// The CLI could not be started, or has no turn of this kind.
    pub fn run(&self, stage: &Stage) -> io::Result<Finished> {
        let last_message = stage.temporary().join("last-message.txt");
        let mut input = tempfile::tempfile()?;
        input.write_all(self.brief.as_bytes())?;
        input.rewind()?;
        let mut stdout = tempfile::tempfile()?;
        let mut stderr = tempfile::tempfile()?;
        let mut command = stage.command();
        self.add_arguments(&mut command, stage, &last_message)?;
        let mut child = command
            .stdin(input)
            .stdout(Stdio::from(stdout.try_clone()?))
            .stderr(Stdio::from(stderr.try_clone()?))
            .spawn()?;
        if let Ending::TerminatedAtRequest(count) = self.ending {
            let _ = stage.server().wait_for_requests(count);
            kill_process(Pid::from_child(&child), Signal::TERM)?;
        }
        let status = child.wait()?;
        let finished = Finished {
            stdout: read_all(&mut stdout)?,
            stderr: read_all(&mut stderr)?,
            status,
            last_message: fs::read(&last_message).ok(),
        };
        if finished.last_message.is_some() {
            fs::remove_file(last_message)?;
        }
        Ok(finished)
    }

    /// The argument lists of providers.md 3.1 (with decision 5), 4.1 (with decision 4) and 5.1.
    fn add_arguments(&self, command: &mut Command, stage: &Stage, last_message: &PathBuf) -> io::Result<()> {
        let read_only = self.permission == Permission::ReadOnly;
        let session = self.session.as_deref();
        match stage.component() {
            Component::Codex => {
                let sandbox = if read_only { "read-only" } else { "workspace-write" };
                command
                    .args([
                        "exec",
                        "--json",
                        "--color",
                        "never",
                        "--skip-git-repo-check",
                        "--sandbox",
                        sandbox,
                    ])
                    .args([
                        "-c",
                        "approval_policy=\"never\"",
                        "-c",
                        "features.unbounded_connection_retries=false",
                    ])
                    .arg("--cd")
                    .arg(stage.workspace())
                    .arg("--output-last-message")
                    .arg(last_message)
                    .args(session.map(|id| ["resume", id]).into_iter().flatten())
                    .arg("-");
            }
            Component::Pi => {
                command
                    .args(["--mode", "json"])
                    .args(read_only.then_some(["--tools", "read,grep,find,ls"]).into_iter().flatten())
                    .args(session.map(|id| ["--session", id]).into_iter().flatten());
            }
            Component::Claude => {
                let mode = if read_only { "dontAsk" } else { "bypassPermissions" };
                command
                    .args(["--print", "--input-format", "text", "--output-format", "stream-json"])
                    .args(["--verbose", "--permission-mode", mode])
                    .args(read_only.then_some(["--tools", "Read,Grep,Glob"]).into_iter().flatten())
                    .args(["--permission-prompts", "none"])
                    .args(match session {
                        Some(id) => ["--resume".to_owned(), id.to_owned()],
                        None => ["--session-id".to_owned(), new_session_id()?],
                    })
                    // Ten are its own choice; the second lets root use this mode.
                    .envs([("CLAUDE_CODE_MAX_RETRIES", "2"), ("IS_SANDBOX", "1")]);
            }
            Component::Opencode => {
                let agent = if read_only { "plan" } else { "build" };
                command
                    .args(["run", "--format", "json", "--dir"])
                    .arg(stage.workspace())
                    .args(["--agent", agent])
                    .args((!read_only).then_some("--auto"))
                    .args(session.map(|id| ["--session", id]).into_iter().flatten())
                    .envs(read_only.then_some(("OPENCODE_PERMISSION", OPENCODE_PERMISSION)));
            }
            Component::Node | Component::Pnpm | Component::Bun => {
                return Err(io::Error::from(io::ErrorKind::Unsupported));
            }
        }
        Ok(())
    }
}

impl Finished {
    /// The exit code, or the number of the signal that ended the process, negative.
    #[must_use]
    pub fn exit(&self) -> i32 {
        let signal = self.status.signal().map(|signal| -signal);
        self.status.code().or(signal).unwrap_or_default()
    }
}

/// A conversation that is certain to be new: claude refuses an id that it knows.
fn new_session_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}

fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    io::copy(file, &mut bytes)?;
    Ok(bytes)
}
