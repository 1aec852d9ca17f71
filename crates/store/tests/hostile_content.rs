//! Whatever stands in the place of a record, a lock or a task is refused by name, and nothing hangs (STATE.md 1).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use place::Place;
use record::launch::StopRequest;
use record::plan::Plan;
use record::request::Request;
use record::seal::Seal;
use record::submission::Submission;
use record::{Sha256Digest, TaskId, json};
use rustix::fs::{CWD, FileType, Mode};
use sample::{Sample, kind};
use store::{StoreError, Task, random_nonce, random_task_id};

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn stop_error(task: &Task) -> &'static str {
    kind(&task.read::<StopRequest>().unwrap_err())
}

/// The bytes of a stop request for the sample.
fn stop_bytes(sample: &Sample) -> Vec<u8> {
    json::encode(&sample.stop(random_nonce())).unwrap()
}

#[test]
fn what_is_no_private_regular_file_is_no_record() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let path = task.path().join("stop.json");
    let right = stop_bytes(&place.sample(id));

    write(&place.path("elsewhere.json"), &right, 0o600);
    symlink(place.path("elsewhere.json"), &path).unwrap();
    assert_eq!(stop_error(&task), "damaged");
    assert_eq!(kind(&task.create(&place.sample(id).stop(random_nonce())).unwrap_err()), "damaged");
    assert_eq!(fs::read(place.path("elsewhere.json")).unwrap(), right);
    fs::remove_file(&path).unwrap();

    fifo(&path);
    assert_eq!(stop_error(&task), "damaged");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert_eq!(stop_error(&task), "damaged");
    fs::remove_dir(&path).unwrap();

    for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o666] {
        write(&path, &right, mode);
        assert_eq!(stop_error(&task), "damaged", "{mode:o}");
    }
    write(&path, &right, 0o600);
    assert!(task.read::<StopRequest>().unwrap().is_some());
}

#[test]
fn a_complaint_about_a_mode_names_the_remedy() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let path = task.path().join("request.json");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let error = task.read::<Request>().unwrap_err().to_string();
    assert!(error.contains(&format!("chmod 600 '{}'", path.display())), "{error}");
}

#[test]
fn what_is_no_strict_record_is_damaged() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let path = task.path().join("stop.json");
    let right = String::from_utf8(stop_bytes(&place.sample(id))).unwrap();
    let mut huge = right.clone().into_bytes();
    huge.resize((1 << 20) + 1, b' ');
    let changed = |from: &str, to: &str| right.replacen(from, to, 1).into_bytes();
    let wrong = [
        (Vec::new(), "damaged"),
        (b"{".to_vec(), "damaged"),
        (b"\xff".to_vec(), "damaged"),
        (huge, "damaged"),
        (changed("\"cause\"", "\"Cause\""), "damaged"),
        (changed("user", "somebody"), "damaged"),
        (changed("\"schema_version\":1", "\"schema_version\":2"), "unsupported-version"),
    ];
    for (bytes, expected) in wrong {
        write(&path, &bytes, 0o600);
        assert_eq!(stop_error(&task), expected);
    }
}

#[test]
fn a_record_of_another_task_root_or_request_is_a_mismatch() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let path = task.path().join("stop.json");
    let other_task = place.sample(random_task_id());
    let other_root = Sample::new(record::RootId::from_random([7; 16]), id);
    for other in [&other_task, &other_root] {
        write(&path, &stop_bytes(other), 0o600);
        assert_eq!(stop_error(&task), "identity-mismatch");
    }

    let mut plan = place.sample(id).plan;
    plan.request_sha256 = Sha256Digest::of(b"another request");
    write(&task.path().join("plan.json"), &json::encode(&plan).unwrap(), 0o600);
    assert_eq!(kind(&task.read::<Plan>().unwrap_err()), "identity-mismatch");
    assert!(task.read::<Request>().unwrap().is_some());
}

#[test]
fn a_record_names_the_plan_that_is_there_unless_retention_removed_it() {
    let (place, id) = Place::with_task();
    let path = place.task(id).path().join("plan.json");
    let mut plan = place.sample(id).plan;
    plan.publisher_version = "another".to_owned();
    write(&path, &json::encode(&plan).unwrap(), 0o600);
    assert_eq!(kind(&place.task(id).read::<Submission>().unwrap_err()), "identity-mismatch");
    fs::remove_file(&path).unwrap();
    assert_eq!(kind(&place.task(id).read::<Submission>().unwrap_err()), "damaged");
    write(&path.with_file_name("pruned.json"), b"", 0o600);
    assert!(place.task(id).read::<Submission>().unwrap().is_some());
}

#[test]
fn a_changed_brief_is_noticed() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let path = task.path().join("brief.md");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o400);
    fs::remove_file(&path).unwrap();
    assert_eq!(kind(&task.brief().unwrap_err()), "damaged");
    write(&path, b"Say goodby\n", 0o400);
    assert_eq!(kind(&task.brief().unwrap_err()), "damaged");
}

fn task_error(place: &Place, id: TaskId) -> &'static str {
    kind(&place.root.task(id).unwrap_err())
}

#[test]
fn what_is_no_whole_task_is_damaged_and_never_absent() {
    let place = Place::new();
    let id = random_task_id();
    let path = place.path(&format!("tasks/{id}"));
    fs::create_dir(&path).unwrap();
    assert_eq!(task_error(&place, id), "damaged", "mode");
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(task_error(&place, id), "damaged", "no request");
    fs::remove_dir(&path).unwrap();

    let real = place.admit();
    symlink(real.path(), &path).unwrap();
    assert_eq!(task_error(&place, id), "damaged", "link");
    fs::remove_file(&path).unwrap();

    fifo(&path);
    assert_eq!(task_error(&place, id), "damaged", "fifo");
    assert!(matches!(place.sample(id).admit(&place.root), Err(StoreError::Damaged { .. })));
}

#[test]
fn what_is_no_lock_file_is_damaged() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let path = task.path().join(".run.lock");
    fs::remove_file(&path).unwrap();
    assert_eq!(kind(&task.run_locked().unwrap_err()), "damaged");
    assert_eq!(kind(&task.try_run_lock().unwrap_err()), "damaged");
    fifo(&path);
    assert_eq!(kind(&task.run_locked().unwrap_err()), "damaged");
    assert_eq!(kind(&task.try_run_lock().unwrap_err()), "damaged");
}

#[test]
fn left_over_temporary_files_are_ignored() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    fs::write(task.path().join(".new-left-over"), "debris").unwrap();
    assert!(task.read::<Request>().unwrap().is_some());
    assert!(task.create(&place.sample(id).stop(random_nonce())).is_ok());
}

#[test]
fn names_that_are_no_plain_names_are_refused() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let long = "x".repeat(store::NAME_MAX_BYTES + 1);
    for name in ["", ".", "..", ".hidden", "a/b", "/a", "a\0b", &long] {
        assert_eq!(kind(&task.open_raw(name).unwrap_err()), "invalid-name", "{name}");
        assert_eq!(kind(&place.root.lease(name).unwrap_err()), "invalid-name", "{name}");
        assert_eq!(kind(&place.root.probe_cache().put(name, b"").unwrap_err()), "invalid-name", "{name}");
    }
}

#[test]
fn markers_that_are_no_ids_are_ignored() {
    let (place, id) = Place::with_task();
    fs::write(place.path("open/note"), "").unwrap();
    assert_eq!(place.root.open_tasks().unwrap(), [id]);
    place.root.remove_open_marker(id).unwrap();
    place.root.remove_open_marker(id).unwrap();
    assert_eq!(place.root.open_tasks().unwrap(), []);
}

#[test]
fn a_record_that_tells_of_damage_is_not_contradicted_by_it() {
    let (place, id) = Place::with_task();
    let lock = place.task(id).try_run_lock().unwrap().unwrap();
    let sample = place.sample(id);
    let damaged = Seal { damaged: true, ..sample.seal() };
    place.task(id).create_reserved(&lock, &damaged).unwrap();
    write(&place.task(id).path().join("request.json"), b"{}", 0o600);
    assert!(place.task(id).read::<Seal>().unwrap().is_some());

    // Any other record belongs to another request now, and says so; what it says apart from that can be read.
    assert_eq!(kind(&place.task(id).read::<Submission>().unwrap_err()), "identity-mismatch");
    assert!(place.task(id).read_apart::<Submission>().unwrap().is_some());
    assert!(place.task(id).has::<Request>().unwrap() && !place.task(id).has::<StopRequest>().unwrap());
}
