//! Does one thing to a root in a process of its own, so that a test can kill it at a fault point, and prints one line about
//! what came of it. Usage: `store-test-program WORD ROOT [TASK]`.

mod sample;

use std::io::{Read, Write};

use record::event::{Event, EventKind};
use record::launch::StopRequest;
use record::outcome::Outcome;
use record::request::Request;
use record::{AbsolutePath, TaskId};
use sample::{BRIEF, Sample, kind, now};
use store::{Admitted, Created, Root, StoreError, Task, random_nonce};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path: AbsolutePath = arguments[1].parse().expect("a clean path");
    let id = || arguments[2].parse::<TaskId>().expect("a task id");
    let done = match arguments[0].as_str() {
        "root" => Root::open_or_create(&path).map(|root| root.id().to_string()),
        "admit" => admit(&path, id()),
        "stop" => stop(&path, id()),
        "claim" => claim(&path, id()),
        "end" => end(&path, id()),
        "end-on-a-full-disk" => end_on_a_full_disk(&path, id()),
        "hold" => hold(&path, id()),
        "append" => append(&path, id()),
        "observe" => observe(&path, id()),
        word => panic!("unknown word {word}"),
    };
    match done {
        Ok(line) => println!("{line}"),
        Err(error) => {
            eprintln!("{error}");
            println!("{}", kind(&error));
        }
    }
}

fn task(path: &AbsolutePath, id: TaskId) -> Result<(Root, Task, Sample), StoreError> {
    let root = Root::open(path)?;
    let task = root.task(id)?.expect("the task is there");
    let sample = Sample::new(root.id(), id);
    Ok((root, task, sample))
}

fn admit(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let root = Root::open_or_create(path)?;
    Ok(match Sample::new(root.id(), id).admit(&root)? {
        Admitted::New(_) => "new",
        Admitted::Existing(_) => "existing",
    }
    .to_owned())
}

fn stop(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let (_root, task, sample) = task(path, id)?;
    let request = sample.stop(random_nonce());
    Ok(match task.create(&request)? {
        Created::New(_) => format!("new {}", request.request_id),
        Created::Exists(found) => format!("exists {}", found.record.request_id),
    })
}

fn claim(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let (_root, task, sample) = task(path, id)?;
    let Some(lock) = task.try_run_lock()? else { return Ok("busy".to_owned()) };
    Ok(match task.claim_launch(&lock, &sample.launch(random_nonce()))? {
        Some(_) => "claimed",
        None => "none",
    }
    .to_owned())
}

/// What any holder of the run lock does from the seal on.
fn end(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let (root, task, sample) = task(path, id)?;
    let lock = task.try_run_lock()?.expect("nobody else acts on the task");
    if task.read::<Outcome>()?.is_none() {
        let evidence = match task.create_reserved(&lock, &sample.seal())? {
            Created::New(sha256) => sha256,
            Created::Exists(found) => found.sha256,
        };
        let payload = task.write_refusal(&lock, b"empty-output\n")?;
        let _ = task.create_reserved(&lock, &sample.outcome(evidence, payload))?;
    }
    root.remove_open_marker(id)?;
    task.remove_reserve(&lock)?;
    Ok("ended".to_owned())
}

/// Admits a task, fills the file system to the last byte, and ends the task.
fn end_on_a_full_disk(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    admit(path, id)?;
    let mut filler =
        std::fs::File::create(path.as_path().with_file_name("filler")).expect("room for an empty file");
    let block = [1; 4096];
    let full = loop {
        if let Err(error) = filler.write_all(&block) {
            break error;
        }
    };
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let (_root, task, sample) = task(path, id)?;
    let refused = task.create(&sample.stop(random_nonce())).expect_err("nothing else can be written");
    assert_eq!(kind(&refused), "full");
    end(path, id)
}

fn hold(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let (_root, task, _) = task(path, id)?;
    let _lock = task.try_run_lock()?.expect("the lock is free");
    println!("held");
    let _ = std::io::stdin().read(&mut [0]);
    Ok("released".to_owned())
}

fn append(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let journal = Root::open(path)?.journal();
    for _ in 0..100 {
        journal.append(&Event { at: now(), task_id: id, event: EventKind::Sealed, detail: None })?;
    }
    Ok("appended".to_owned())
}

/// All that an observer does, and what it may not do, on a file system that it can not write to.
fn observe(path: &AbsolutePath, id: TaskId) -> Result<String, StoreError> {
    let (root, task, sample) = task(path, id)?;
    assert!(task.read::<Request>()?.is_some());
    assert!(task.read::<StopRequest>()?.is_none());
    assert_eq!(task.brief()?, BRIEF);
    assert!(!task.run_locked()?);
    assert_eq!(root.open_tasks()?, [id]);
    assert!(root.journal().read_from(None)?.is_some());
    assert!(!root.supervisor_directory(&sample::digest()).is_locked()?);
    assert!(root.probe_cache().get("absent").is_none());
    let refused = [
        Root::open_or_create(path).map(drop),
        task.create(&sample.stop(random_nonce())).map(drop),
        root.lease("key")?.try_exclusive().map(drop),
        Sample::new(root.id(), store::random_task_id()).admit(&root).map(drop),
    ];
    for refused in refused {
        assert_eq!(kind(&refused.expect_err("the file system is read-only")), "read-only");
    }
    Ok("observed".to_owned())
}
