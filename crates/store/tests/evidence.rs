//! What a turn left is captured, imported, cut and listed (STATE.md 3.5, 3.7), and becomes a payload (3.8).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;

use place::Place;
use record::Sha256Digest;
use rustix::fs::{CWD, FileType, Mode};
use sample::kind;
use store::{Import, PayloadName, RunLock, Task, random_nonce};

fn locked() -> (Place, Task, RunLock) {
    let place = Place::new();
    let task = place.admit();
    let lock = task.try_run_lock().unwrap().unwrap();
    (place, task, lock)
}

fn content(file: Option<fs::File>) -> String {
    let mut text = String::new();
    file.unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_streams_are_made_once_and_appended_to() {
    let (place, task, lock) = locked();
    let launch = place.sample(task.id()).launch(random_nonce());
    let claim = task.claim_launch(&lock, &launch).unwrap().unwrap();
    let mut streams = task.create_raw(&claim).unwrap();
    streams.stdout.write_all(b"one ").unwrap();
    let mut other = fs::OpenOptions::new().append(true).open(task.raw_path("stdout")).unwrap();
    other.write_all(b"two ").unwrap();
    streams.stdout.write_all(b"three").unwrap();
    assert_eq!(content(task.open_raw("stdout").unwrap()), "one two three");
    assert_eq!(content(task.open_raw("stderr").unwrap()), "");
    assert!(task.open_raw("absent").unwrap().is_none());
    assert_eq!(kind(&task.create_raw(&claim).unwrap_err()), "io");
}

#[test]
fn an_artifact_is_copied_and_cut_and_can_be_imported_again() {
    let (_place, task, lock) = locked();
    assert_eq!(task.import_artifact(&lock, "answer", 5).unwrap(), Import::Absent);
    fs::write(task.output_path().join("answer"), "12345").unwrap();
    assert_eq!(task.import_artifact(&lock, "answer", 5).unwrap(), Import::Imported { cut_from: None });
    fs::write(task.output_path().join("answer"), "123456").unwrap();
    assert_eq!(task.import_artifact(&lock, "answer", 5).unwrap(), Import::Imported { cut_from: Some(6) });
    assert_eq!(content(task.open_raw("answer").unwrap()), "12345");
    fs::remove_dir_all(task.output_path()).unwrap();
    assert_eq!(task.import_artifact(&lock, "answer", 5).unwrap(), Import::Absent);
}

#[test]
fn what_is_no_plain_artifact_is_refused_and_never_followed() {
    let (place, task, lock) = locked();
    let artifact = task.output_path().join("answer");
    fs::write(place.path("secret"), "secret").unwrap();
    let refused = |what: &str| {
        let import = task.import_artifact(&lock, "answer", 100).unwrap();
        assert!(matches!(import, Import::Refused { .. }), "{what}: {import:?}");
        assert!(task.open_raw("answer").unwrap().is_none(), "{what}");
    };

    symlink(place.path("secret"), &artifact).unwrap();
    refused("link");
    fs::remove_file(&artifact).unwrap();

    fs::hard_link(place.path("secret"), &artifact).unwrap();
    refused("second name");
    fs::remove_file(&artifact).unwrap();

    rustix::fs::mknodat(CWD, &artifact, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    refused("fifo");
    fs::remove_file(&artifact).unwrap();

    fs::create_dir(&artifact).unwrap();
    refused("directory");

    fs::rename(task.output_path(), place.path("moved")).unwrap();
    symlink(place.path("moved"), task.output_path()).unwrap();
    refused("linked directory");
}

#[test]
fn an_artifact_can_not_take_the_name_of_a_stream() {
    let (_place, task, lock) = locked();
    for name in ["stdout", "stderr", "../request.json", ""] {
        assert_eq!(kind(&task.import_artifact(&lock, name, 1).unwrap_err()), "invalid-name");
    }
}

#[test]
fn the_manifest_lists_what_is_there_sorted_by_path() {
    let (_place, task, lock) = locked();
    fs::write(task.raw_path("stdout"), "0123456789").unwrap();
    fs::write(task.raw_path("answer"), "42").unwrap();
    task.cut_raw(&lock, "stdout", 4).unwrap();
    task.cut_raw(&lock, "answer", 4).unwrap();
    assert_eq!(kind(&task.cut_raw(&lock, "absent", 4).unwrap_err()), "not-found");
    let names = ["stdout", "stderr", "answer"];
    task.sync_raw(&names).unwrap();
    let manifest = task.manifest(&names, u64::MAX).unwrap();
    let listed: Vec<_> =
        manifest.iter().map(|entry| (entry.path.as_str(), entry.size, entry.sha256)).collect();
    assert_eq!(
        listed,
        [("raw/answer", 2, Sha256Digest::of(b"42")), ("raw/stdout", 4, Sha256Digest::of(b"0123"))]
    );
}

#[test]
fn a_payload_replaces_a_left_over_of_either_name() {
    let (_place, task, lock) = locked();
    for text in ["first", "second, and longer"] {
        let payload = task.write_refusal(&lock, text.as_bytes()).unwrap();
        assert_eq!((payload.length, payload.sha256), (text.len() as u64, Sha256Digest::of(text.as_bytes())));
        assert_eq!(content(task.open_payload(PayloadName::Refusal).unwrap()), text);

        let mut draft = task.draft_result(&lock).unwrap();
        draft.write_all(text.as_bytes()).unwrap();
        let payload = draft.commit().unwrap();
        assert_eq!((payload.length, payload.sha256), (text.len() as u64, Sha256Digest::of(text.as_bytes())));
        assert_eq!(payload.basename, "result.txt");
        assert_eq!(content(task.open_payload(PayloadName::Result).unwrap()), text);
        assert!(task.open_payload(PayloadName::Refusal).unwrap().is_none());
    }
    task.write_refusal(&lock, b"last").unwrap();
    assert!(task.open_payload(PayloadName::Result).unwrap().is_none());
}

#[test]
fn a_dropped_draft_leaves_nothing() {
    let (place, task, lock) = locked();
    let before = place.names(&format!("tasks/{}", task.id()));
    let mut draft = task.draft_result(&lock).unwrap();
    draft.write_all(b"never mind").unwrap();
    drop(draft);
    assert_eq!(place.names(&format!("tasks/{}", task.id())), before);
}

#[test]
fn a_published_payload_is_not_changed_any_more() {
    let (place, task, lock) = locked();
    let sample = place.sample(task.id());
    let payload = task.write_refusal(&lock, b"no").unwrap();
    task.create_reserved(&lock, &sample.outcome(sample::digest(), payload)).unwrap();
    assert_eq!(kind(&task.write_refusal(&lock, b"yes").unwrap_err()), "already-published");
    assert!(matches!(task.draft_result(&lock), Err(store::StoreError::AlreadyPublished { .. })));
    assert_eq!(content(task.open_payload(PayloadName::Refusal).unwrap()), "no");
}

#[test]
fn the_lock_of_another_task_is_a_mistake() {
    let (place, task, lock) = locked();
    let other = place.admit();
    let wrong = std::panic::catch_unwind(|| other.write_refusal(&lock, b"no").map(drop));
    assert!(wrong.is_err());
    assert!(task.write_refusal(&lock, b"no").is_ok());
}

#[test]
fn a_damaged_probe_counts_as_absent() {
    let place = Place::new();
    let cache = place.root.probe_cache();
    assert_eq!(cache.get("key"), None);
    cache.put("key", b"{}").unwrap();
    cache.put("key", b"{\"version\":\"1\"}").unwrap();
    assert_eq!(cache.get("key").as_deref(), Some(&b"{\"version\":\"1\"}"[..]));
    let path = place.path("probes/key.json");
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(cache.get("key"), None, "{length}");
    }
    cache.put("key", b"").unwrap();
    assert_eq!(cache.get("key").as_deref(), Some(&b""[..]));
    assert_eq!(place.names("probes"), ["key.json"]);
}
