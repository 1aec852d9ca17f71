//! Retention removes content and never identity, and can be taken up again wherever it was cut off (STATE.md 9).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use place::Place;
use record::TaskId;
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::Request;
use record::retention::Pruned;
use record::seal::Seal;
use record::submission::Submission;
use sample::{kind, now};
use store::{Created, Loaded, StoreError, Task, TaskEntry, random_task_id};

/// A task that has its outcome.
fn ended(place: &Place) -> Task {
    let task = place.admit();
    let lock = task.try_run_lock().unwrap().unwrap();
    let sample = place.sample(task.id());
    let Created::New(sealed) = task.create_reserved(&lock, &sample.seal()).unwrap() else {
        panic!("the task is new")
    };
    let payload = task.write_refusal(&lock, b"no").unwrap();
    task.create_reserved(&lock, &sample.outcome(sealed, payload)).unwrap();
    task
}

fn record_of(task: &Task) -> Pruned {
    let outcome: Loaded<Outcome> = task.read().unwrap().unwrap();
    Pruned {
        schema_version: 1,
        root_id: task.root().id(),
        task_id: task.id(),
        request_sha256: outcome.record.request_sha256,
        plan_sha256: outcome.record.plan_sha256,
        outcome_sha256: outcome.sha256,
        pruned_at: now(),
    }
}

fn prune(task: &Task) -> Result<(), StoreError> {
    let record = record_of(task);
    let lock = task.try_run_lock().unwrap().unwrap();
    task.prune(&lock, &record)
}

#[test]
fn what_a_task_is_stays_readable() {
    let place = Place::new();
    let id = ended(&place).id();
    assert!(!place.task(id).is_pruned().unwrap());
    prune(&place.task(id)).unwrap();
    let task = place.task(id);
    assert!(task.is_pruned().unwrap() && task.is_pruned_whole().unwrap());
    assert!(task.read::<Request>().unwrap().is_some());
    assert!(task.read::<Submission>().unwrap().is_some());
    assert!(task.read::<Seal>().unwrap().is_some());
    assert!(task.read::<Outcome>().unwrap().is_some());
    assert!(task.read::<Pruned>().unwrap().is_some());
    assert!(task.read::<Plan>().unwrap().is_none());
    assert!(task.brief().is_err());
    let names = place.names(&format!("tasks/{id}"));
    let expected =
        [".run.lock", "outcome.json", "pruned.json", "request.json", "seal.json", "submission.json"];
    assert_eq!(names, expected);
}

#[test]
fn a_removal_that_was_cut_off_is_taken_up_again() {
    let place = Place::new();
    let id = ended(&place).id();
    let directory = place.path(&format!("tasks/{id}"));
    // Something that can not be removed: a directory in the place of a file.
    fs::remove_file(directory.join("refusal.txt")).unwrap();
    fs::create_dir(directory.join("refusal.txt")).unwrap();
    assert!(prune(&place.task(id)).is_err());
    assert!(place.task(id).is_pruned().unwrap());
    assert!(!place.task(id).is_pruned_whole().unwrap());
    let first = fs::read(directory.join("pruned.json")).unwrap();
    fs::remove_dir(directory.join("refusal.txt")).unwrap();
    prune(&place.task(id)).unwrap();
    assert!(place.task(id).is_pruned_whole().unwrap());
    assert_eq!(fs::read(directory.join("pruned.json")).unwrap(), first, "it says when it began");
}

#[test]
fn a_task_without_outcome_keeps_everything() {
    let place = Place::new();
    let id = ended(&place).id();
    let record = record_of(&place.task(id));
    let directory = place.path(&format!("tasks/{id}"));
    fs::remove_file(directory.join("outcome.json")).unwrap();
    let before = place.names(&format!("tasks/{id}"));
    let task = place.task(id);
    let lock = task.try_run_lock().unwrap().unwrap();
    assert_eq!(kind(&task.prune(&lock, &record).unwrap_err()), "not-found");
    assert_eq!(place.names(&format!("tasks/{id}")), before);
}

#[test]
fn whatever_a_provider_left_goes() {
    let place = Place::new();
    let id = ended(&place).id();
    let output = place.path(&format!("tasks/{id}/output"));
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("kept"), "x").unwrap();
    std::os::unix::fs::symlink(outside.path(), output.join("link")).unwrap();
    let mut deep = output.clone();
    for _ in 0..100 {
        deep.push("d");
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
    }
    fs::set_permissions(output.join("d"), fs::Permissions::from_mode(0o000)).unwrap();
    prune(&place.task(id)).unwrap();
    assert!(!output.exists());
    assert!(outside.path().join("kept").exists());
}

#[test]
fn everything_in_tasks_is_listed_and_told_apart() {
    let place = Place::new();
    let mut ids: Vec<TaskId> = (0..5).map(|_| place.admit().id()).collect();
    fs::create_dir(place.path("tasks/no-task")).unwrap();
    let (mut found, mut foreign) = (Vec::new(), Vec::new());
    for entry in place.root.task_entries().unwrap() {
        match entry.unwrap() {
            TaskEntry::Task(id) => found.push(id),
            TaskEntry::Foreign(name) => foreign.push(name),
        }
    }
    ids.sort();
    found.sort();
    assert_eq!(found, ids);
    assert_eq!(foreign, ["no-task"]);
}

#[test]
fn a_file_system_is_tried_without_a_trace() {
    let place = Place::new();
    let trial = place.root.try_file_system().unwrap();
    assert!(trial.renames_without_replacing.unwrap());
    assert!(trial.locks_exclude.unwrap());
    trial.syncs.unwrap();
    assert!(place.names("staging").is_empty());
}

#[test]
fn a_marker_can_be_restored_and_has_an_age() {
    let place = Place::new();
    let id = random_task_id();
    assert_eq!(place.root.open_marker_age(id).unwrap(), None);
    place.root.restore_open_marker(id).unwrap();
    place.root.restore_open_marker(id).unwrap();
    assert!(place.root.open_marker_age(id).unwrap().is_some());
    assert_eq!(place.root.open_tasks().unwrap(), [id]);
}
