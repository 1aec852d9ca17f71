//! A record appears once, whole, and is never overwritten (STATE.md 2).

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use std::process::Stdio;
use std::thread;

use place::Place;
use record::launch::StopRequest;
use run::printed;
use sample::{Sample, kind};
use store::{Created, points, random_nonce};

#[test]
fn of_many_writers_exactly_one_wins_and_all_report_the_same_record() {
    for _ in 0..10 {
        let (place, id) = Place::with_task();
        let children: Vec<_> =
            (0..6).map(|_| place.command("stop", id, None).stdout(Stdio::piped()).spawn().unwrap()).collect();
        let mut answers: Vec<String> = thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let task = place.root.task(id).unwrap().unwrap();
                        let request = Sample::new(place.root.id(), id).stop(random_nonce());
                        match task.create(&request).unwrap() {
                            Created::New(_) => format!("new {}", request.request_id),
                            Created::Exists(found) => format!("exists {}", found.record.request_id),
                        }
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        answers.extend(children.into_iter().map(|child| printed(&child.wait_with_output().unwrap())));
        let task = place.root.task(id).unwrap().unwrap();
        let there = task.read::<StopRequest>().unwrap().unwrap().record.request_id;
        let (new, exists): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|answer| answer.starts_with("new"));
        assert_eq!(new, [format!("new {there}")]);
        assert!(exists.iter().all(|answer| *answer == format!("exists {there}")), "{exists:?}");
    }
}

#[test]
fn a_writer_killed_on_its_way_leaves_nothing_or_the_whole_record() {
    for point in points::STOP.all() {
        let (place, id) = Place::with_task();
        place.run_killed_at("stop", id, point);
        let task = place.root.task(id).unwrap().unwrap();
        let visible = point == points::STOP.renamed || point == points::STOP.directory_synced;
        assert_eq!(task.read::<StopRequest>().unwrap().is_some(), visible, "{point}");
        let again = place.run("stop", id, None);
        assert!(again.starts_with(if visible { "exists" } else { "new" }), "{point}: {again}");
    }
}

#[test]
fn a_failed_step_leaves_no_record_and_no_temporary_file() {
    for point in [points::STOP.created, points::STOP.written, points::STOP.synced] {
        let (place, id) = Place::with_task();
        let before = place.names(&format!("tasks/{id}"));
        assert_eq!(place.run("stop", id, Some(&format!("{point}=error:ENOSPC"))), "full", "{point}");
        assert_eq!(place.names(&format!("tasks/{id}")), before, "{point}");
        assert!(place.run("stop", id, None).starts_with("new"), "{point}");
    }
}

#[test]
fn a_rename_that_reports_an_error_but_happened_counts() {
    let (place, id) = Place::with_task();
    let answer = place.run("stop", id, Some(&format!("{}=error:EIO", points::STOP.renamed)));
    assert!(answer.starts_with("new"), "{answer}");
    assert!(place.run("stop", id, None).starts_with("exists"));
}

#[test]
fn a_record_of_another_task_is_not_written() {
    let (place, id) = Place::with_task();
    let task = place.root.task(id).unwrap().unwrap();
    let other = Sample::new(place.root.id(), store::random_task_id());
    assert_eq!(kind(&task.create(&other.stop(random_nonce())).unwrap_err()), "identity-mismatch");
    assert!(task.read::<StopRequest>().unwrap().is_none());
}

#[test]
fn of_many_makers_of_one_root_all_get_the_same() {
    for _ in 0..10 {
        let directory = tempfile::tempdir().unwrap();
        let path = place::root_path(directory.path());
        let children: Vec<_> = (0..8)
            .map(|_| run::command("root", &path, None, None).stdout(Stdio::piped()).spawn().unwrap())
            .collect();
        let answers: Vec<String> =
            children.into_iter().map(|child| printed(&child.wait_with_output().unwrap())).collect();
        let id = store::Root::open(&path).unwrap().id().to_string();
        assert!(answers.iter().all(|answer| *answer == id), "{answers:?}");
    }
}

#[test]
fn a_maker_of_a_root_killed_on_its_way_is_finished_by_the_next() {
    for point in [points::ROOT_DIRECTORIES_SYNCED].into_iter().chain(points::ROOT.all()) {
        let directory = tempfile::tempdir().unwrap();
        let path = place::root_path(directory.path());
        let killed = run::command("root", &path, None, Some(&format!("{point}=kill"))).output().unwrap();
        assert!(!killed.status.success(), "{point} was not reached");
        let id = printed(&run::command("root", &path, None, None).output().unwrap());
        assert_eq!(store::Root::open(&path).unwrap().id().to_string(), id, "{point}");
    }
}
