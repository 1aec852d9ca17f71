//! One turn that stops at one fault point.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use record::{AbsolutePath, TaskId};
use rustix::fs::{Mode, OFlags};
use store::{Root, Task};

use crate::disk::Disk;
use crate::point::{Holder, Point, Row, Scene};
use crate::support::{Lead, Ran, kill, task_of, until};

/// The profile of every turn.
const PROVIDER: &str = "codex:exec";
/// A boot id that no machine has.
const OTHER_BOOT: &str = "00000000-0000-4000-8000-000000000000";

/// A world in which a turn is stopped.
pub(crate) struct Stage {
    /// What the root lies on, when that is a disk of its own. Goes first: the rest of the world lies below its place.
    disk: Option<Disk>,
    pub(crate) lead: Lead,
    pub(crate) point: Point,
    pub(crate) id: String,
    arguments: Vec<String>,
    ledger: PathBuf,
    fault: PathBuf,
    go: PathBuf,
    command: Option<Child>,
    /// The dispatcher, when that is another.
    waiting: Option<Child>,
    /// A task that ended before.
    pub(crate) predecessor: Option<String>,
    rebooted: bool,
}

impl Stage {
    /// A world in which everything that the scene needs has happened.
    pub(crate) fn set(point: Point, has_disk: bool) -> Self {
        let lead = Lead::with_slots(2);
        let disk = has_disk.then(|| Disk::mount(&lead.root()).expect("a disk"));
        let ledger = lead.path().join("ledger");
        let go = lead.path().join("go");
        // Every fence leaves the cache open, and the gate has one.
        let fault = lead.home().join(".cache/fault");
        fs::create_dir(&ledger).unwrap();
        fs::create_dir_all(&fault).unwrap();
        let id = store::random_task_id().to_string();
        let mut stage = Self {
            disk,
            lead,
            point,
            id,
            arguments: Vec::new(),
            ledger,
            fault,
            go,
            command: None,
            waiting: None,
            predecessor: None,
            rebooted: false,
        };
        // What is removed is the content of this turn alone.
        stage.predecessor = (!matches!(point.scene, Scene::Fresh | Scene::Pruned)).then(|| stage.one_turn());
        stage.arguments = stage.dispatch_arguments();
        stage
    }

    /// A whole turn; it leaves a root, the answers of the probes and a conversation. Nothing of it runs on.
    fn one_turn(&self) -> String {
        let mut arguments =
            self.lead.dispatch_arguments(PROVIDER, "[[fake: answer before]]", &["--wait", "--json"]);
        arguments.extend(["--id".to_owned(), store::random_task_id().to_string()]);
        let ran = Ran::from(self.command(&arguments).output().unwrap());
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        self.end_supervisor();
        arguments.pop().unwrap()
    }

    /// Asks the supervisor to end, and waits until it has.
    pub(crate) fn end_supervisor(&self) {
        until("the supervisor to leave", || {
            let left = self.lead.processes(&["__supervise"]);
            left.iter().for_each(|pid| kill(*pid, "TERM"));
            left.is_empty().then_some(())
        });
    }

    fn dispatch_arguments(&self) -> Vec<String> {
        let wait = format!("[[fake: wait-for-file {}]] [[fake: answer done]]", self.go.display());
        let (brief, more): (&str, &[&str]) = match self.point.scene {
            _ if self.point.row == Row::Final => ("[[fake: answer done]] [[fake: final-then-hang]]", &[]),
            Scene::Fresh | Scene::Plain | Scene::Continued | Scene::Pruned => (&wait, &[]),
            Scene::Writing => (&wait, &["--permission", "workspace-write"]),
            Scene::Refused => ("[[fake: error-event]]", &[]),
            Scene::Cancelled => ("[[fake: silent-forever]]", &[]),
            Scene::Flooded => ("[[fake: endless-zeros]]", &["--max-output", "1MiB"]),
        };
        let mut arguments = match (self.point.scene, &self.predecessor) {
            (Scene::Continued, Some(predecessor)) => {
                let brief = self.lead.brief(brief);
                ["continue", "--task", predecessor, "--brief", brief.to_str().unwrap()]
                    .map(str::to_owned)
                    .to_vec()
            }
            _ => self.lead.dispatch_arguments(PROVIDER, brief, more),
        };
        arguments.extend(["--id", &self.id, "--wait", "--json"].map(str::to_owned));
        arguments
    }

    /// `delegate` in this world, on this side of the power cut.
    pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = self.lead.command(arguments);
        command.env(fault::LEDGER_NAME, &self.ledger);
        if self.rebooted {
            command.env(fault::BOOT_ID_NAME, OTHER_BOOT);
        }
        command
    }

    /// Runs `delegate … --json`.
    pub(crate) fn json<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran::from(self.command(arguments).arg("--json").output().unwrap())
    }

    /// Starts the turn and waits until somebody stops at the point; answers who.
    pub(crate) fn run_to_the_point(&mut self) -> u32 {
        let answer = self.fault.join("answer");
        assert!(Command::new("mkfifo").arg(&answer).status().unwrap().success());
        let faulty = format!("{}=hold:{}", self.point.name, self.fault.display());
        let mut dispatch = self.command(&self.arguments);
        dispatch.stdout(Stdio::null()).stderr(Stdio::null());
        if self.point.row != Row::Gone {
            self.release();
        }
        if self.point.scene == Scene::Pruned {
            let ran = Ran::from(self.command(&self.arguments).output().unwrap());
            assert_eq!(ran.code, 0, "the turn: {ran:?}");
            self.command = Some(self.prune().env(fault::ENVIRONMENT_NAME, &faulty).spawn().unwrap());
        } else if self.point.scene == Scene::Cancelled {
            if self.point.holder != Holder::Canceller {
                dispatch.env(fault::ENVIRONMENT_NAME, &faulty);
            }
            self.waiting = Some(dispatch.spawn().unwrap());
            until("the launch", || self.launches().first().cloned());
            let mut cancel = self.command(["cancel", &self.id]);
            if self.point.holder == Holder::Canceller {
                cancel.env(fault::ENVIRONMENT_NAME, &faulty);
            }
            self.command = Some(cancel.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        } else {
            self.command = Some(dispatch.env(fault::ENVIRONMENT_NAME, &faulty).spawn().unwrap());
        }
        // The command may end first: it reads the outcome while the one who wrote it stands at its next point.
        until(self.point.name, || {
            let held = fs::read_to_string(self.fault.join("held")).ok()?;
            held.strip_suffix('\n')?.parse().ok()
        })
    }

    /// `delegate prune` of everything that has ended.
    pub(crate) fn prune(&self) -> Command {
        let mut prune = self.command(["prune", "--older-than", "0s", "--json"]);
        prune.stdout(Stdio::null()).stderr(Stdio::null());
        prune
    }

    /// Lets the provider come to its end.
    pub(crate) fn release(&self) {
        fs::write(&self.go, "").unwrap();
    }

    /// Tells the one who stopped how to go on.
    pub(crate) fn answer(&self, word: &str) {
        let fifo = self.fault.join("answer");
        until("the one who stopped to listen", || {
            // Refused as long as nobody listens, so that no word is lost.
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let fifo = rustix::fs::open(&fifo, flags, Mode::empty()).ok()?;
            fs::File::from(fifo).write_all(word.as_bytes()).ok()
        });
    }

    /// Ends the dispatcher, or whichever command it was.
    pub(crate) fn kill_command(&mut self) {
        for command in [&mut self.command, &mut self.waiting].into_iter().flatten() {
            let _ = command.kill();
            let _ = command.wait();
        }
    }

    /// Waits for the end of the command.
    pub(crate) fn wait_for_command(&mut self) {
        if let Some(command) = &mut self.command {
            until("the command to end", || command.try_wait().unwrap());
        }
    }

    pub(crate) fn kill_runners(&self) {
        for pid in self.lead.processes(&["--root", &self.id]) {
            kill(pid, "KILL");
        }
    }

    pub(crate) fn kill_supervisors(&self) {
        for pid in self.lead.processes(&["__supervise"]) {
            kill(pid, "KILL");
        }
    }

    /// Ends everything at once, as a power cut does.
    pub(crate) fn kill_everything(&mut self) {
        // First the one who would start others while they die.
        self.kill_command();
        until("everything to end", || {
            let left = self.lead.everything();
            left.iter().for_each(|pid| kill(*pid, "KILL"));
            left.is_empty().then_some(())
        });
    }

    /// From here on everything sees the machine after its next start.
    pub(crate) fn reboot(&mut self, keeps_everything: bool) {
        self.kill_everything();
        if let Some(disk) = &mut self.disk {
            disk.cut_power();
        } else if !keeps_everything {
            crate::ledger::cut_power(&self.ledger, &self.lead.root());
        }
        self.rebooted = true;
    }

    /// Dispatches the same task again.
    pub(crate) fn dispatch_again(&self) -> Ran {
        Ran::from(self.command(&self.arguments).output().unwrap())
    }

    /// The task, opened as the product opens it.
    pub(crate) fn task(&self) -> Option<Task> {
        let root = AbsolutePath::new(&self.lead.root()).unwrap();
        let id: TaskId = self.id.parse().unwrap();
        Root::open(&root).ok()?.task(id).unwrap_or_else(|error| panic!("the task can not be opened: {error}"))
    }

    /// What the fake noted of launches of this task.
    pub(crate) fn launches(&self) -> Vec<testkit::fake::Launch> {
        self.lead.log().launches().into_iter().filter(|launch| task_of(launch) == self.id).collect()
    }

    pub(crate) fn runner_program() -> &'static Path {
        Path::new(env!("CARGO_BIN_EXE_delegate-run"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill_command();
    }
}
