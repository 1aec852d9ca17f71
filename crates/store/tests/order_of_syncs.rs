//! What must be durable is synced before anything relies on it, and nothing else is synced (STATE.md 2). A killed process
//! does not lose what it wrote, so that only the order of the calls can tell.

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use std::process::Command;

use place::Place;
use record::TaskId;
use store::random_task_id;

/// The syncs and renames of one run of the program, or `None` where calls can not be traced.
fn trace(place: &Place, word: &str, id: TaskId) -> Option<Vec<String>> {
    let logs = tempfile::tempdir().unwrap();
    let program = place.command(word, id, None);
    let mut strace = Command::new("strace");
    // A file for each thread, so that no call is cut in two; the times put them together again.
    strace.args([
        "-ff",
        "-ttt",
        "-T",
        "-y",
        "-s",
        "200",
        "-e",
        "trace=fsync,fdatasync,rename,renameat,renameat2",
        "-o",
    ]);
    strace
        .arg(logs.path().join("trace"))
        .env_remove(fault::ENVIRONMENT_NAME)
        .arg(program.get_program())
        .args(program.get_args());
    if !strace.output().is_ok_and(|output| output.status.success()) {
        eprintln!("not tried: system calls can not be traced here");
        return None;
    }
    let root = place.root.path().as_str();
    let mut calls: Vec<(f64, String)> = Vec::new();
    for log in std::fs::read_dir(logs.path()).unwrap() {
        let log = std::fs::read_to_string(log.unwrap().path()).unwrap();
        calls.extend(log.lines().filter_map(|line| Some((end_of_success(line)?, step(line, root, id)))));
    }
    calls.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(calls.into_iter().map(|(_, step)| step).collect())
}

/// When a call that succeeded was over.
fn end_of_success(line: &str) -> Option<f64> {
    let (begin, rest) = line.split_once(' ')?;
    let (call, duration) = rest.rsplit_once(" <")?;
    let is_success = call.ends_with("= 0");
    is_success.then(|| begin.parse::<f64>().unwrap() + duration.trim_end_matches('>').parse::<f64>().unwrap())
}

/// `sync PATH`, or `name PATH` for a rename, relative to the root, without what is random.
fn step(line: &str, root: &str, id: TaskId) -> String {
    let below = |path: &str| {
        let path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
        let components = path.split('/').map(|component| match component {
            component if component == id.to_string() => "ID",
            component if component.starts_with(".new-") => ".new",
            component if component.parse::<TaskId>().is_ok() => "RANDOM",
            component => component,
        });
        components.collect::<Vec<_>>().join("/")
    };
    let descriptors: Vec<&str> =
        line.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()).collect();
    match line.split('"').nth(3) {
        Some(name) => format!("name {}", below(&format!("{}/{name}", descriptors[1]))),
        None => format!("sync {}", below(descriptors[0])),
    }
}

#[test]
fn a_task_and_its_marker_are_durable_before_the_task_has_its_name() {
    let (place, _) = Place::with_task();
    let Some(steps) = trace(&place, "admit", random_task_id()) else { return };
    let (before, after) = steps.split_at(6);
    let mut before = before.to_vec();
    before.sort();
    let expected = [
        "sync open",
        "sync staging/RANDOM",
        "sync staging/RANDOM/brief.md",
        "sync staging/RANDOM/plan.json",
        "sync staging/RANDOM/request.json",
        "sync staging/RANDOM/submission.json",
    ];
    assert_eq!(before, expected);
    assert_eq!(after, ["name tasks/ID", "sync tasks"]);
}

#[test]
fn an_existing_task_is_made_durable_before_it_is_reported() {
    let (place, id) = Place::with_task();
    let Some(steps) = trace(&place, "admit", id) else { return };
    assert_eq!(steps, ["sync tasks", "sync tasks/ID"]);
}

#[test]
fn a_licence_is_never_more_durable_than_its_task() {
    let (place, id) = Place::with_task();
    let Some(steps) = trace(&place, "claim", id) else { return };
    let expected =
        ["sync tasks", "sync tasks/ID", "sync tasks/ID/.new", "name tasks/ID/launch.json", "sync tasks/ID"];
    assert_eq!(steps, expected);
}

#[test]
fn an_ending_goes_step_by_step_through_the_reserve() {
    let (place, id) = Place::with_task();
    let Some(steps) = trace(&place, "end", id) else { return };
    let expected = [
        "sync tasks/ID/reserve/seal",
        "name tasks/ID/seal.json",
        "sync tasks/ID",
        "sync tasks/ID/reserve/refusal",
        "name tasks/ID/refusal.txt",
        "sync tasks/ID",
        "sync tasks/ID/reserve/outcome",
        "name tasks/ID/outcome.json",
        "sync tasks/ID",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_new_root_is_durable_from_its_parent_on() {
    let place = Place::new();
    std::fs::remove_dir_all(place.root.path()).unwrap();
    let Some(steps) = trace(&place, "root", random_task_id()) else { return };
    let parent = place.root.path().as_path().parent().unwrap().display().to_string();
    let expected = [
        &format!("sync {}", parent.trim_start_matches('/')),
        "sync ",
        "sync .new",
        "name root.json",
        "sync ",
        "sync ",
    ];
    assert_eq!(steps, expected);
}
