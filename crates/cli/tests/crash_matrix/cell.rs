//! What is done while a turn stands still at a point, and what must be true afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::launch::{Launch, Running, Session, StopRequest};
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::Request;
use record::seal::Seal;
use record::submission::Submission;
use record::words::{Launched, StopCause};
use store::Task;

use crate::point::{Holder, Point, Row, Scene};
use crate::stage::Stage;
use crate::support::{Ran, kill, until};
use crate::{disk, expected};

/// What is done to the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blow {
    /// The runner is killed.
    Runner,
    /// The supervisor is killed; the runner lives.
    Supervisor,
    /// Both are killed, and the waiting command too: nobody is left to look.
    Everybody,
    /// The dispatcher (or the canceller) is killed.
    Command,
    /// The step fails: no space.
    NoSpace,
    /// The step fails: the disk.
    BadDisk,
    /// The power fails, and only what was synced is left.
    PowerCut,
    /// The power fails, and everything that was written is left.
    Restart,
    /// The power fails under a real file system.
    RealPowerCut,
    /// Everybody is killed, and another machine looks at the root.
    Elsewhere,
    /// Nobody is killed; a second runner and another machine come along.
    Second,
    /// Nobody is killed; the task is cancelled.
    Cancel,
}

impl Blow {
    pub(crate) const ALL: [Self; 12] = [
        Self::Runner,
        Self::Supervisor,
        Self::Everybody,
        Self::Command,
        Self::NoSpace,
        Self::BadDisk,
        Self::PowerCut,
        Self::Restart,
        Self::RealPowerCut,
        Self::Elsewhere,
        Self::Second,
        Self::Cancel,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Runner => "runner killed",
            Self::Supervisor => "supervisor killed",
            Self::Everybody => "both and the command killed",
            Self::Command => "dispatcher killed",
            Self::NoSpace => "ENOSPC",
            Self::BadDisk => "EIO",
            Self::PowerCut => "power cut, unsynced gone",
            Self::Restart => "power cut, all kept",
            Self::RealPowerCut => "power cut, ext4",
            Self::Elsewhere => "all killed, other machine looks",
            Self::Second => "second runner",
            Self::Cancel => "cancel",
        }
    }

    /// Whether it makes sense at a point.
    pub(crate) fn fits(self, point: Point) -> bool {
        let has_runner = matches!(point.holder, Holder::Runner | Holder::Gate | Holder::Canceller);
        match self {
            Self::Runner => has_runner,
            Self::Supervisor => has_runner || point.holder == Holder::Supervisor,
            // Steps of `turn` are in memory alone.
            Self::NoSpace | Self::BadDisk => !point.name.starts_with("turn."),
            Self::RealPowerCut => disk::is_possible(),
            _ => true,
        }
    }
}

/// How a task ended, in one word for the table.
pub(crate) fn play(point: Point, blow: Blow) -> String {
    let mut stage = Stage::set(point, blow == Blow::RealPowerCut);
    let holder = stage.run_to_the_point();
    strike(&mut stage, blow, holder);
    let end = settle(&mut stage, blow);
    check_the_end(&stage);
    assert!(expected::is_allowed(point, blow, &end), "ended as {end}");
    end
}

fn strike(stage: &mut Stage, blow: Blow, holder: u32) {
    let mut goes_on = true;
    match blow {
        Blow::Runner => {
            stage.kill_runners();
            goes_on = stage.point.holder == Holder::Canceller;
        }
        Blow::Supervisor => {
            stage.kill_supervisors();
            goes_on = stage.point.holder != Holder::Supervisor;
        }
        Blow::Everybody => {
            stage.kill_command();
            stage.kill_supervisors();
            stage.kill_runners();
            goes_on = false;
        }
        Blow::Command => {
            stage.kill_command();
            goes_on = !matches!(stage.point.holder, Holder::Dispatcher | Holder::Canceller | Holder::Pruner);
        }
        Blow::NoSpace => {
            stage.answer("ENOSPC");
            goes_on = false;
        }
        Blow::BadDisk => {
            stage.answer("EIO");
            goes_on = false;
        }
        Blow::PowerCut | Blow::Restart | Blow::RealPowerCut => {
            stage.reboot(blow == Blow::Restart);
            goes_on = false;
        }
        Blow::Elsewhere => {
            stage.kill_command();
            stage.kill_supervisors();
            stage.kill_runners();
            kill(holder, "KILL");
            until("all of ours to be gone", || stage.lead.processes(&["--root"]).is_empty().then_some(()));
            look_from_elsewhere(stage, true);
            goes_on = false;
        }
        Blow::Second => {
            a_second_runner(stage);
            look_from_elsewhere(stage, false);
        }
        Blow::Cancel => {
            if stage.task().is_some() {
                let ran = stage.json(["cancel", &stage.id]);
                assert_eq!(ran.code, 0, "the cancel: {ran:?}");
            }
        }
    }
    stage.release();
    if goes_on {
        stage.answer("go");
    }
}

/// A second runner gets nothing while somebody acts on the task.
fn a_second_runner(stage: &Stage) {
    let Some(task) = stage.task() else { return };
    // A runner that nobody stops is at its end sooner or later.
    let stands = !matches!(stage.point.holder, Holder::Supervisor | Holder::Canceller);
    let locked = stands && task.run_locked().unwrap();
    let before = stage.launches().len();
    let ended = second_runner(stage).output().unwrap();
    if locked {
        assert_eq!(ended.status.code(), Some(75), "a second runner: {ended:?}");
        assert_eq!(stage.launches().len(), before, "a second runner launched");
    }
}

fn second_runner(stage: &Stage) -> Command {
    let mut runner = Command::new(Stage::runner_program());
    let like = stage.command::<&str>([]);
    runner.arg("--root").arg(stage.lead.root()).arg(&stage.id).env_clear();
    runner.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    runner
}

/// Another machine sees the root, and writes nothing there.
fn look_from_elsewhere(stage: &Stage, nobody_acts: bool) {
    let Some(task) = stage.task() else { return };
    let is_open = task.read::<Seal>().unwrap().is_none();
    let launched = task.read::<Launch>().unwrap().is_some();
    let before = picture(&stage.lead.root());
    let other_machine = "0".repeat(64);
    let ask = |words: &[&str]| {
        let mut command = stage.command(words);
        command.arg("--json").env(fault::MACHINE_ID_NAME, &other_machine);
        Ran::from(command.output().unwrap())
    };
    let seen = ask(&["status", &stage.id]).answer();
    ask(&["collect", &stage.id, "--watch", "0s"]);
    if nobody_acts && launched && is_open {
        assert_eq!(seen["liveness"], "undetermined", "from elsewhere: {seen}");
        let mut runner = second_runner(stage);
        let ended = runner.env(fault::MACHINE_ID_NAME, &other_machine).output().unwrap();
        assert_eq!(ended.status.code(), Some(1), "a runner elsewhere: {ended:?}");
    }
    let after = picture(&stage.lead.root());
    let changed: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        // What this machine's own supervisor notes is its business.
        .filter(|path| !path.ends_with("log"))
        .collect();
    assert!(changed.is_empty(), "another machine wrote {changed:?}");
}

/// Inode, size and time of change of everything below a directory.
fn picture(directory: &Path) -> BTreeMap<PathBuf, (u64, u64, i64, i64)> {
    let mut seen = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        seen.insert(path, (metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec()));
    }
    seen
}

/// Brings the task to its end as a lead would, and says how it ended.
fn settle(stage: &mut Stage, blow: Blow) -> String {
    if matches!(blow, Blow::Second | Blow::Cancel | Blow::NoSpace | Blow::BadDisk)
        || (blow == Blow::Command && stage.point.holder == Holder::Dispatcher)
    {
        stage.wait_for_command();
    }
    let mut end = String::new();
    if stage.task().is_none() {
        assert_eq!(stage.launches().len(), 0, "a launch without a task");
        let ran = stage.json(["collect", &stage.id]);
        assert!([1, 2].contains(&ran.code), "no task: {ran:?}");
        "no task, then ".clone_into(&mut end);
        let again = stage.dispatch_again();
        assert!([0, 4].contains(&again.code), "dispatched again: {again:?}");
    }
    if stage.point.scene == Scene::Cancelled {
        // A lead whose cancel was lost cancels again.
        let ran = stage.json(["cancel", &stage.id]);
        assert_eq!(ran.code, 0, "the cancel: {ran:?}");
    }
    if stage.point.scene == Scene::Pruned {
        return end + &settle_the_removal(stage);
    }
    let ran = stage.json(["collect", &stage.id, "--watch", "90s"]);
    assert!([0, 4].contains(&ran.code), "collect: {ran:?}");
    let again = stage.json(["collect", &stage.id]);
    assert_eq!(again.answer()["outcome"], ran.answer()["outcome"], "a second collect");
    let outcome = &ran.answer()["outcome"];
    let launches = stage.launches().len();
    end + &format!("{}/{}/{launches}", ran.reason(), outcome["launched"].as_str().unwrap())
}

/// A removal of content that was cut off is never taken for damage, and taken up again by the next.
fn settle_the_removal(stage: &Stage) -> String {
    let ran = stage.json(["collect", &stage.id]);
    let told = if ran.code == 0 { ran.reason() } else { ran.failure() };
    assert!(["completed", "content_pruned"].contains(&told.as_str()), "in the middle: {ran:?}");
    assert!(stage.prune().status().unwrap().success(), "the next removal");
    let ran = stage.json(["collect", &stage.id]);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "content_pruned"), "{ran:?}");
    assert!(stage.task().unwrap().is_pruned_whole().unwrap());
    let outcome = &ran.answer()["outcome"];
    format!("pruned, {}/{}/{}", ran.reason(), outcome["launched"].as_str().unwrap(), stage.launches().len())
}

/// What holds for every task, whatever happened.
fn check_the_end(stage: &Stage) {
    let task = stage.task().expect("a task");
    let outcome = records(&task);
    let launches = stage.launches();
    assert!(launches.len() <= 1, "launched {} times", launches.len());
    match outcome.launched {
        Launched::No => assert_eq!(launches.len(), 0, "launched, and the outcome says no"),
        // A provider that is stopped in its first moment may not come to count.
        Launched::Yes => assert!(
            launches.len() == 1 || outcome.stop != StopCause::None,
            "not launched, and the outcome says yes"
        ),
        Launched::Unknown => {}
    }
    let cancelled = outcome.reason.code.as_str() == "cancelled";
    if stage.point.scene != Scene::Cancelled && cancelled && stage.point.row < Row::Recorded {
        assert_eq!(outcome.launched, Launched::No, "cancelled and launched");
    }
    assert!(launches.iter().all(|launch| !launch.process.is_alive()), "the provider runs on");
    stage.end_supervisor();
    until("nothing to be left", || stage.lead.everything().is_empty().then_some(()));
}

/// Reads every record strictly; all that an ending needs must be there.
fn records(task: &Task) -> Outcome {
    fn valid<R: store::TaskRecord>(task: &Task) -> Option<R> {
        task.read::<R>().unwrap_or_else(|error| panic!("{}: {error}", R::FILE)).map(|loaded| loaded.record)
    }
    valid::<Request>(task).expect("request.json");
    let has_content = !task.is_pruned_whole().unwrap();
    assert_eq!(valid::<Plan>(task).is_some(), has_content, "plan.json");
    valid::<Submission>(task).expect("submission.json");
    valid::<Session>(task);
    valid::<StopRequest>(task);
    let launch = valid::<Launch>(task);
    assert!(launch.is_some() || valid::<Running>(task).is_none(), "running.json without launch.json");
    let seal = valid::<Seal>(task).expect("seal.json");
    let outcome = valid::<Outcome>(task).expect("outcome.json");
    assert_eq!(seal.launched, outcome.launched);
    assert_eq!(seal.stop, outcome.stop);
    outcome
}
