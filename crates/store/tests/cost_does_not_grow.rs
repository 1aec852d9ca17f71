//! What a call on one task costs does not depend on how many there are: `tasks/` is never listed (STATE.md 9).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime};

use place::Place;
use record::launch::StopRequest;
use record::outcome::Outcome;
use record::request::Request;
use record::submission::Submission;
use store::{Admitted, PayloadName, Root, random_nonce, random_task_id};

const TASKS: usize = 2000;
/// Long enough ago that reading a directory sets its access time even where that is done rarely.
const LONG_AGO: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// Whether something lists `directory` while `work` is done.
fn lists(directory: &std::path::Path, work: impl FnOnce()) -> bool {
    let long_ago = SystemTime::now() - LONG_AGO;
    File::open(directory).unwrap().set_times(FileTimes::new().set_accessed(long_ago)).unwrap();
    let before = directory.metadata().unwrap().accessed().unwrap();
    work();
    directory.metadata().unwrap().accessed().unwrap() != before
}

#[test]
fn no_call_on_one_task_lists_the_tasks() {
    let (place, id) = Place::with_task();
    let tasks = place.path("tasks");
    for _ in 1..TASKS {
        fs::create_dir(tasks.join(random_task_id().to_string())).unwrap();
    }
    if !lists(&tasks, || assert_eq!(place.names("tasks").len(), TASKS)) {
        eprintln!("not tried: this file system does not tell when a directory is listed");
        return;
    }
    let listed = lists(&tasks, || {
        let root = Root::open_or_create(place.root.path()).unwrap();
        assert!(matches!(place.sample(random_task_id()).admit(&root).unwrap(), Admitted::New(_)));
        assert!(matches!(place.sample(id).admit(&root).unwrap(), Admitted::Existing(_)));
        let task = root.task(id).unwrap().unwrap();
        assert!(task.read::<Request>().unwrap().is_some());
        assert!(task.read::<Submission>().unwrap().is_some());
        assert!(task.read::<Outcome>().unwrap().is_none());
        task.brief().unwrap();
        task.run_locked().unwrap();
        task.create(&place.sample(id).stop(random_nonce())).unwrap();
        assert!(task.read::<StopRequest>().unwrap().is_some());
        let lock = task.try_run_lock().unwrap().unwrap();
        let claim = task.claim_launch(&lock, &place.sample(id).launch(random_nonce())).unwrap().unwrap();
        task.create_raw(&claim).unwrap();
        task.create_reserved(&lock, &place.sample(id).seal()).unwrap();
        task.write_refusal(&lock, b"no").unwrap();
        task.open_payload(PayloadName::Refusal).unwrap().unwrap();
        root.open_tasks().unwrap();
        root.clean_staging().unwrap();
        root.remove_open_marker(id).unwrap();
    });
    assert!(!listed);
}
