//! A task appears whole or not at all, whatever happens to its dispatcher (STATE.md 2, 3.1, 10).

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use place::Place;
use record::TaskId;
use record::plan::Plan;
use record::request::Request;
use record::submission::Submission;
use run::printed;
use sample::{BRIEF, Sample, kind};
use store::{Admitted, points, random_task_id};

fn assert_no_task(place: &Place, id: TaskId) {
    assert!(place.root.task(id).unwrap().is_none());
    assert_eq!(place.names("tasks"), Vec::<String>::new());
}

fn assert_whole(place: &Place, id: TaskId) {
    let task = place.root.task(id).unwrap().expect("the task is there");
    let sample = Sample::new(place.root.id(), id);
    assert_eq!(task.read::<Request>().unwrap().unwrap().record, sample.request);
    assert_eq!(task.read::<Plan>().unwrap().unwrap().record, sample.plan);
    assert_eq!(task.read::<Submission>().unwrap().unwrap().record, sample.submission);
    assert_eq!(task.brief().unwrap(), BRIEF);
    assert!(!task.run_locked().unwrap());
    let names = place.names(&format!("tasks/{id}"));
    let expected =
        [".run.lock", "brief.md", "output", "plan.json", "raw", "request.json", "reserve", "submission.json"];
    assert_eq!(names, expected);
    for name in ["seal", "refusal", "outcome"] {
        let length = task.path().join("reserve").join(name).metadata().unwrap().len();
        assert_eq!(length, store::RESERVE_BYTES);
    }
    assert_eq!(place.root.open_tasks().unwrap(), [id]);
    assert_eq!(place.names("staging"), Vec::<String>::new());
}

#[test]
fn a_dispatcher_killed_before_the_task_has_its_name_leaves_no_task_and_a_free_id() {
    for point in points::BEFORE_TASK {
        let place = Place::new();
        let id = random_task_id();
        place.run_killed_at("admit", id, point);
        assert_no_task(&place, id);
        let debris = usize::from(point != points::MARKER_MADE);
        assert_eq!(place.names("staging").len(), debris, "{point}");
        assert_eq!(place.root.clean_staging().unwrap(), debris, "{point}");
        assert_eq!(place.run("admit", id, None), "new", "{point}");
        assert_whole(&place, id);
    }
}

#[test]
fn a_dispatcher_killed_after_the_task_has_its_name_leaves_a_whole_task() {
    for point in points::AFTER_TASK {
        let place = Place::new();
        let id = random_task_id();
        place.run_killed_at("admit", id, point);
        assert_whole(&place, id);
        assert_eq!(place.run("admit", id, None), "existing", "{point}");
    }
}

#[test]
fn a_failed_step_leaves_no_half_task_and_a_free_id() {
    for (error, expected) in [("ENOSPC", "full"), ("EIO", "io")] {
        for point in points::BEFORE_TASK {
            let place = Place::new();
            let id = random_task_id();
            assert_eq!(place.run("admit", id, Some(&format!("{point}=error:{error}"))), expected, "{point}");
            assert_no_task(&place, id);
            assert_eq!(place.names("staging"), Vec::<String>::new(), "{point}");
            assert_eq!(place.run("admit", id, None), "new", "{point}");
            assert_whole(&place, id);
        }
    }
}

#[test]
fn a_rename_that_reports_an_error_but_happened_counts() {
    let place = Place::new();
    let id = random_task_id();
    assert_eq!(place.run("admit", id, Some(&format!("{}=error:EIO", points::TASK_RENAMED))), "new");
    assert_whole(&place, id);
}

#[test]
fn a_failed_sync_of_a_visible_task_is_uncertain_and_the_task_exists() {
    let place = Place::new();
    let id = random_task_id();
    assert_eq!(
        place.run("admit", id, Some(&format!("{}=error:EIO", points::TASK_DIRECTORY_SYNCED))),
        "uncertain"
    );
    assert_whole(&place, id);
}

#[test]
fn a_journal_that_can_not_be_written_costs_no_task() {
    let place = Place::new();
    let id = random_task_id();
    assert_eq!(place.run("admit", id, Some(&format!("{}=error:ENOSPC", points::JOURNAL_APPENDED))), "new");
    assert_whole(&place, id);
}

#[test]
fn of_many_dispatchers_of_one_id_exactly_one_makes_the_task() {
    let place = Place::new();
    for _ in 0..10 {
        let id = random_task_id();
        let children: Vec<_> = (0..6)
            .map(|_| place.command("admit", id, None).stdout(Stdio::piped()).spawn().unwrap())
            .collect();
        let made_here = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..3).map(|_| scope.spawn(|| Sample::new(place.root.id(), id).admit(&place.root))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap().unwrap())
                .filter(|admitted| matches!(admitted, Admitted::New(_)))
                .count()
        });
        let answers: Vec<String> =
            children.into_iter().map(|child| printed(&child.wait_with_output().unwrap())).collect();
        let made_there = answers.iter().filter(|answer| *answer == "new").count();
        assert_eq!(made_here + made_there, 1, "{answers:?}");
        assert!(answers.iter().all(|answer| answer == "new" || answer == "existing"), "{answers:?}");
    }
    assert_eq!(place.names("staging"), Vec::<String>::new());
}

#[test]
fn a_cleaner_takes_nothing_from_a_living_dispatcher() {
    let place = Place::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let cleaner = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                place.root.clean_staging().unwrap();
            }
        });
        let ids: Vec<TaskId> = (0..100).map(|_| random_task_id()).collect();
        let admitted: Vec<_> =
            ids.iter().map(|id| Sample::new(place.root.id(), *id).admit(&place.root)).collect();
        done.store(true, Ordering::Relaxed);
        cleaner.join().unwrap();
        for (id, admitted) in ids.iter().zip(admitted) {
            assert!(matches!(admitted.unwrap(), Admitted::New(_)));
            let task = place.root.task(*id).unwrap().unwrap();
            assert_eq!(task.brief().unwrap(), BRIEF);
            assert!(!task.run_locked().unwrap());
        }
    });
}

#[test]
fn parts_that_do_not_belong_together_make_no_task() {
    let place = Place::new();
    let id = random_task_id();
    let other = Sample::new(place.root.id(), random_task_id());
    let elsewhere = Sample::new(record::RootId::from_random([7; 16]), id);
    let sample = Sample::new(place.root.id(), id);
    let wrong = [
        store::NewTask { brief: b"Another brief", ..sample.new_task() },
        store::NewTask { plan: &other.plan, ..sample.new_task() },
        store::NewTask { submission: &other.submission, ..sample.new_task() },
        elsewhere.new_task(),
    ];
    for wrong in wrong {
        assert_eq!(kind(&place.root.admit(wrong).unwrap_err()), "identity-mismatch");
    }
    assert_no_task(&place, id);
    assert_eq!(place.names("open"), Vec::<String>::new());
}
