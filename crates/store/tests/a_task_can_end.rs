//! From the seal on a task ends whatever happens to whoever ends it: killed, or on a full disk (STATE.md 1, 3.8, 10).

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use place::Place;
use record::AbsolutePath;
use record::outcome::Outcome;
use record::seal::Seal;
use run::{in_mount_namespace, printed};
use store::{PayloadName, points, random_task_id};

fn assert_ended(place: &Place, id: record::TaskId) {
    let task = place.root.task(id).unwrap().unwrap();
    let seal = task.read::<Seal>().unwrap().expect("sealed");
    let outcome = task.read::<Outcome>().unwrap().expect("published").record;
    assert_eq!(outcome.evidence_sha256, seal.sha256);
    let refusal = task.open_payload(PayloadName::Refusal).unwrap().expect("refused");
    assert_eq!(
        record::Sha256Digest::of_reader(refusal).unwrap(),
        (outcome.payload.sha256, outcome.payload.length)
    );
    assert!(!task.path().join("reserve").exists());
    assert_eq!(place.root.open_tasks().unwrap(), []);
}

#[test]
fn killed_anywhere_the_next_one_ends_it() {
    let mut all = vec![points::OTHER_PAYLOAD_REMOVED, points::MARKER_REMOVED, points::RESERVE_REMOVED];
    all.extend(points::SEAL.all());
    all.extend(points::REFUSAL.all());
    all.extend(points::OUTCOME.all());
    for point in all {
        let (place, id) = Place::with_task();
        place.run_killed_at("end", id, point);
        assert_eq!(place.run("end", id, None), "ended", "{point}");
        assert_ended(&place, id);
    }
}

#[test]
fn after_a_failed_step_it_can_be_ended_again() {
    for step in [points::SEAL, points::REFUSAL, points::OUTCOME] {
        for (point, expected) in
            [(step.written, "full"), (step.synced, "full"), (step.directory_synced, "uncertain")]
        {
            let (place, id) = Place::with_task();
            assert_eq!(place.run("end", id, Some(&format!("{point}=error:ENOSPC"))), expected, "{point}");
            assert_eq!(place.run("end", id, None), "ended", "{point}");
            assert_ended(&place, id);
        }
    }
}

#[test]
fn without_its_reserve_it_is_ended_all_the_same() {
    let (place, id) = Place::with_task();
    std::fs::remove_dir_all(place.root.path().as_path().join(format!("tasks/{id}/reserve"))).unwrap();
    assert_eq!(place.run("end", id, None), "ended");
    assert_ended(&place, id);
}

#[test]
fn a_full_disk_does_not_keep_it_from_ending() {
    let directory = tempfile::tempdir().unwrap();
    let mount = AbsolutePath::new(&directory.path().canonicalize().unwrap()).unwrap();
    let root = place::root_path(directory.path());
    let program = run::command("end-on-a-full-disk", &root, Some(random_task_id()), None);
    let script = r#"mount -t tmpfs -o size=1m,mode=700 none "$1""#;
    if let Some(output) = in_mount_namespace(script, &mount, &program) {
        assert_eq!(printed(&output), "ended", "{output:?}");
    }
}
