//! A journal made again from the records loses nothing that is appended meanwhile (STATE.md 9).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs;
use std::thread;

use place::Place;
use record::TaskId;
use record::event::{Event, EventKind};
use sample::{kind, now};
use store::{Root, random_task_id};

fn event(task_id: TaskId, event: EventKind) -> Event {
    Event { at: now(), task_id, event, detail: None }
}

fn events(root: &Root) -> Vec<(TaskId, EventKind)> {
    let reader = root.journal().read_from(None).unwrap().unwrap();
    reader.map(|line| line.unwrap().event).map(|event| (event.task_id, event.event)).collect()
}

#[test]
fn the_events_are_in_the_order_of_time_and_old_cursors_expire() {
    let (place, id) = Place::with_task();
    let mut reader = place.root.journal().read_from(None).unwrap().unwrap();
    let old = reader.next().unwrap().unwrap().cursor;
    let (first, second) = (event(id, EventKind::Admitted), event(id, EventKind::Sealed));
    let mut rebuild = place.root.journal().begin_rebuild().unwrap();
    rebuild.add(second);
    rebuild.add(first);
    assert_eq!(rebuild.finish().unwrap().events, 2);
    assert_eq!(events(&place.root), [(id, EventKind::Admitted), (id, EventKind::Sealed)]);
    assert_eq!(kind(&place.root.journal().read_from(Some(old)).unwrap_err()), "cursor-expired");
}

#[test]
fn what_is_appended_meanwhile_is_taken_over_once() {
    let place = Place::new();
    let (known, new) = (random_task_id(), random_task_id());
    let mut rebuild = place.root.journal().begin_rebuild().unwrap();
    for id in [known, new] {
        place.root.journal().append(&event(id, EventKind::Admitted)).unwrap();
    }
    // The record of this one was seen; of the other not yet.
    rebuild.add(event(known, EventKind::Admitted));
    assert_eq!(rebuild.finish().unwrap().events, 2);
    let mut ids: Vec<TaskId> = events(&place.root).iter().map(|(id, _)| *id).collect();
    ids.sort();
    let mut expected = [known, new];
    expected.sort();
    assert_eq!(ids, expected);
}

#[test]
fn nothing_is_lost_under_many_appenders() {
    const APPENDERS: usize = 4;
    const EACH: usize = 50;
    let place = Place::new();
    let rebuild = place.root.journal().begin_rebuild().unwrap();
    thread::scope(|scope| {
        for _ in 0..APPENDERS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    place.root.journal().append(&event(random_task_id(), EventKind::Sealed)).unwrap();
                }
            });
        }
        rebuild.finish().unwrap();
    });
    assert_eq!(events(&place.root).len(), APPENDERS * EACH);
}

#[test]
fn whatever_stands_in_its_place_is_replaced() {
    let place = Place::new();
    let path = place.path("journal.ndjson");
    for make in [
        (|path| fs::write(path, "no journal").unwrap()) as fn(&std::path::Path),
        |path| std::os::unix::fs::symlink("/dev/null", path).unwrap(),
        |_| {},
    ] {
        let _ = fs::remove_file(&path);
        make(&path);
        let id = random_task_id();
        let mut rebuild = place.root.journal().begin_rebuild().unwrap();
        rebuild.add(event(id, EventKind::Admitted));
        rebuild.finish().unwrap();
        assert_eq!(events(&place.root), [(id, EventKind::Admitted)]);
    }
}
