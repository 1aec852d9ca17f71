//! Damaged state: whatever is done to a file of a task, nobody hangs, nobody says what is not so, and nothing is launched
//! twice. Each damage is done while everybody is dead, at several moments of a turn.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::point::{self, Point};
use crate::stage::Stage;
use crate::support::{Ran, kill, until};

/// Where the turn stands when the damage is done, and the files that it has by then and that matter from there on.
const MOMENTS: [(&str, &[&str]); 5] = [
    (
        "turn.replanned",
        &["request.json", "brief.md", "plan.json", "submission.json", ".run.lock", "../../root.json"],
    ),
    ("turn.recorded", &["request.json", "plan.json", "launch.json", "running.json"]),
    ("turn.swept", &["launch.json", "running.json", "raw/stdout", "raw/stderr"]),
    ("turn.sealed", &["seal.json", "raw/stdout", "plan.json", "reserve/outcome"]),
    (
        "turn.closed",
        &["outcome.json", "result.txt", "seal.json", "session.json", "request.json", "../../root.json"],
    ),
];

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    Emptied,
    Halved,
    /// One bit, so far into the file, in percent.
    Flipped(usize),
    /// The file of another task.
    Swapped,
    Linked,
    Fifo,
    Directory,
    /// Open to others.
    Shared,
    /// Owned by another user.
    Foreign,
}

impl Damage {
    const ALL: [Self; 11] = [
        Self::Emptied,
        Self::Halved,
        Self::Flipped(3),
        Self::Flipped(50),
        Self::Flipped(90),
        Self::Swapped,
        Self::Linked,
        Self::Fifo,
        Self::Directory,
        Self::Shared,
        Self::Foreign,
    ];

    /// Whether only another user's files show it.
    fn needs_root(self) -> bool {
        self == Self::Foreign
    }

    fn inflict(self, file: &Path, other: &Path) {
        let bytes = fs::read(file).unwrap();
        match self {
            Self::Emptied => rewrite(file, b""),
            Self::Halved => rewrite(file, &bytes[..bytes.len() / 2]),
            Self::Flipped(percent) => {
                let mut bytes = bytes;
                let place = bytes.len() * percent / 100;
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 1;
                }
                rewrite(file, &bytes);
            }
            Self::Swapped => {
                if let Ok(bytes) = fs::read(other) {
                    rewrite(file, &bytes);
                }
            }
            Self::Linked => {
                let aside = file.with_extension("aside");
                fs::rename(file, &aside).unwrap();
                symlink(aside, file).unwrap();
            }
            Self::Fifo => {
                fs::remove_file(file).unwrap();
                assert!(Command::new("mkfifo").args(["-m", "600"]).arg(file).status().unwrap().success());
            }
            Self::Directory => {
                fs::remove_file(file).unwrap();
                fs::create_dir(file).unwrap();
            }
            Self::Shared => fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap(),
            Self::Foreign => chown(file, Some(65_534), None).unwrap(),
        }
    }
}

/// In place, so that kind, owner and mode stay.
fn rewrite(file: &Path, bytes: &[u8]) {
    let mode = fs::metadata(file).unwrap().permissions();
    fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    fs::write(file, bytes).unwrap();
    fs::set_permissions(file, mode).unwrap();
}

/// One damage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    point: Point,
    file: &'static str,
    damage: Damage,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        format!("{} {} {:?}", self.point.name, self.file, self.damage)
    }
}

pub(crate) fn all() -> Vec<Case> {
    let points = point::all();
    let is_root = rustix::process::geteuid().is_root();
    MOMENTS
        .iter()
        .flat_map(|(name, files)| {
            let point = *points.iter().find(|point| point.name == *name).expect("a point");
            files.iter().flat_map(move |file| Damage::ALL.map(|damage| Case { point, file, damage }))
        })
        .filter(|case| is_root || !case.damage.needs_root())
        .collect()
}

/// Does the damage, lets others look, and says what they were told.
pub(crate) fn play(case: Case) -> String {
    let mut stage = Stage::set(case.point, false);
    let holder = stage.run_to_the_point();
    // Whoever hands a task over records that while the turn may already run.
    let file = stage.lead.task_directory(&stage.id).join(case.file);
    until("the file to be there", || file.exists().then_some(()));
    stage.kill_command();
    stage.kill_supervisors();
    stage.kill_runners();
    kill(holder, "KILL");
    until("all of ours to be gone", || stage.lead.processes(&["--root"]).is_empty().then_some(()));
    let was_terminal = stage.lead.record(&stage.id, "outcome.json");

    let other = stage.lead.task_directory(stage.predecessor.as_ref().unwrap()).join(case.file);
    case.damage.inflict(&file, &other);

    let told = ["status", "logs", "collect", "cancel"].map(|word| {
        let watch: &[&str] = if word == "collect" { &["--watch", "10s"] } else { &[] };
        let ran = bounded(stage.command([word, &stage.id]).args(watch).arg("--json"));
        assert!([0, 1, 2, 3, 4].contains(&ran.code), "{word}: {ran:?}");
        ran
    });
    let collected = &told[2];
    let launches = stage.launches().len();
    assert!(launches <= 1, "launched {launches} times");
    let unsealed = case.point.name == "turn.swept" && case.file.starts_with("raw/");
    check(&stage, collected, was_terminal.as_ref(), launches, unsealed);
    word_for(collected, launches)
}

/// What was told must be so. What a provider wrote is not protected before it is sealed.
fn check(
    stage: &Stage,
    collected: &Ran,
    was_terminal: Option<&serde_json::Value>,
    launches: usize,
    unsealed: bool,
) {
    let answer = collected.answer();
    let Some(outcome) = answer.get("outcome").filter(|_| [0, 4].contains(&collected.code)) else {
        // Nobody is told to look again at what will never end.
        let failure = &answer["failure"];
        let fault = (collected.code, failure["code"].as_str().unwrap_or_default());
        let faults = [(1, "evidence_damaged"), (2, "root_invalid"), (2, "unsupported_root")];
        assert!(faults.contains(&fault), "no fault is named: {collected:?}");
        assert!(failure["next_action"].is_string() && answer["error"].is_string(), "{collected:?}");
        return;
    };
    if collected.code == 0 {
        assert_eq!(launches, 1, "committed without a launch");
        let text = fs::read_to_string(stage.lead.task_directory(&stage.id).join("result.txt")).unwrap();
        assert!(unsealed || text == "done", "another answer: {text}");
    }
    if outcome["launched"] == "no" {
        assert_eq!(launches, 0, "launched, and the outcome says no");
    }
    if let Some(before) = was_terminal {
        for field in ["verdict", "reason", "launched", "payload"] {
            assert_eq!(outcome[field], before[field], "{field} changed");
        }
    }
}

fn word_for(collected: &Ran, launches: usize) -> String {
    match collected.code {
        0 | 4 => format!("{}/{launches}", collected.reason()),
        _ => format!("{}/{launches}", collected.failure()),
    }
}

/// Runs a command that must come to an end by itself.
fn bounded(command: &mut Command) -> Ran {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command to end", || child.try_wait().unwrap());
    Ran::from(child.wait_with_output().unwrap())
}
