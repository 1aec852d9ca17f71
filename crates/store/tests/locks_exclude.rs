//! Locks exclude across processes, end with their holder, and asking about them disturbs nobody (STATE.md 4).

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use place::Place;
use record::TaskId;
use sample::digest;

/// A process that holds a run lock; killed when dropped.
struct Holder(Child);

impl Holder {
    fn of(place: &Place, id: TaskId) -> Self {
        let mut command = place.command("hold", id, None);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let holder = Self(child);
        assert_eq!(line, "held\n");
        holder
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_run_lock_excludes_another_process_and_ends_when_that_is_killed() {
    let (place, id) = Place::with_task();
    let task = place.task(id);
    let holder = Holder::of(&place, id);
    assert!(task.try_run_lock().unwrap().is_none());
    assert!(task.run_locked().unwrap());
    assert_eq!(place.run("claim", id, None), "busy");
    drop(holder);
    assert!(!task.run_locked().unwrap());
    assert!(task.try_run_lock().unwrap().is_some());
}

#[test]
fn a_run_lock_excludes_within_a_process_and_ends_when_dropped() {
    let (place, id) = Place::with_task();
    let (one, other) = (place.task(id), place.task(id));
    let lock = one.try_run_lock().unwrap().unwrap();
    assert!(other.try_run_lock().unwrap().is_none());
    assert!(one.try_run_lock().unwrap().is_none());
    assert!(other.run_locked().unwrap());
    drop(lock);
    assert!(other.try_run_lock().unwrap().is_some());
}

#[test]
fn asking_about_a_lock_never_takes_it() {
    let (place, id) = Place::with_task();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let task = place.task(id);
                while !done.load(Ordering::Relaxed) {
                    task.run_locked().unwrap();
                }
            });
        }
        let task = place.task(id);
        let refused = (0..2000).filter(|_| task.try_run_lock().unwrap().is_none()).count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(refused, 0);
    });
}

#[test]
fn a_lock_file_that_was_replaced_is_opened_anew() {
    let place = Place::new();
    let lease = place.root.lease("key").unwrap();
    let old = lease.try_exclusive().unwrap().unwrap();
    fs::remove_file(place.path("leases/key.lock")).unwrap();
    let new = lease.try_exclusive().unwrap().unwrap();
    assert!(lease.try_exclusive().unwrap().is_none());
    drop(old);
    assert!(lease.try_exclusive().unwrap().is_none());
    drop(new);
    assert!(lease.try_exclusive().unwrap().is_some());
}

#[test]
fn of_many_that_replace_and_lock_one_file_no_two_hold_it() {
    let place = Place::new();
    let held = AtomicBool::new(false);
    let taken = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let lease = place.root.lease("key").unwrap();
                    let mut taken = 0;
                    for _ in 0..300 {
                        if let Some(lock) = lease.try_exclusive().unwrap() {
                            assert!(!held.swap(true, Ordering::SeqCst), "two hold the lease");
                            held.store(false, Ordering::SeqCst);
                            // From here on another may take the new file.
                            fs::remove_file(place.path("leases/key.lock")).unwrap();
                            drop(lock);
                            taken += 1;
                        }
                    }
                    taken
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
    });
    assert!(taken > 0);
}

#[test]
fn a_lease_is_had_alone_or_shared() {
    let place = Place::new();
    let lease = place.root.lease("key").unwrap();
    let shared = (lease.try_shared().unwrap().unwrap(), lease.try_shared().unwrap().unwrap());
    assert!(lease.try_exclusive().unwrap().is_none());
    drop(shared);
    let alone = lease.try_exclusive().unwrap().unwrap();
    assert!(lease.try_shared().unwrap().is_none());
    assert!(place.root.lease("other").unwrap().try_exclusive().unwrap().is_some());
    drop(alone);
}

#[test]
fn a_lease_names_its_last_holder() {
    let (place, id) = Place::with_task();
    let lease = place.root.lease("key").unwrap();
    assert_eq!(lease.holder().unwrap(), None);
    let held = lease.try_exclusive().unwrap().unwrap();
    held.name_holder(id).unwrap();
    drop(held);
    let held = lease.try_exclusive().unwrap().unwrap();
    assert_eq!(held.holder().unwrap(), Some(id));
    held.clear_holder().unwrap();
    assert_eq!(lease.holder().unwrap(), None);
}

#[test]
fn there_is_one_supervisor_per_machine() {
    let place = Place::new();
    let here = place.root.supervisor_directory(&digest());
    let elsewhere = place.root.supervisor_directory(&record::Sha256Digest::of(b"elsewhere"));
    assert!(!here.is_locked().unwrap());
    let lock = here.try_lock().unwrap().unwrap();
    assert!(here.is_locked().unwrap());
    assert!(here.try_lock().unwrap().is_none());
    assert!(!elsewhere.is_locked().unwrap());
    drop(lock);
    assert!(!here.is_locked().unwrap());
    assert_eq!(here.log_path().parent(), Some(here.path().as_path()));
}
