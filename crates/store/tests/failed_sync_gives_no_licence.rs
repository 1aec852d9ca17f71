//! A failed sync gives nobody a licence, and no later sync cures it (STATE.md 2).

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use place::Place;
use record::launch::Launch;
use store::points;

fn launch_is_there(place: &Place, id: record::TaskId) -> bool {
    place.root.task(id).unwrap().unwrap().read::<Launch>().unwrap().is_some()
}

#[test]
fn one_claim_and_never_a_second() {
    let (place, id) = Place::with_task();
    assert_eq!(place.run("claim", id, None), "claimed");
    assert_eq!(place.run("claim", id, None), "none");
}

#[test]
fn a_visible_licence_that_could_not_be_synced_is_nobodys() {
    let (place, id) = Place::with_task();
    let fault = format!("{}=error:EIO", points::LAUNCH.directory_synced);
    assert_eq!(place.run("claim", id, Some(&fault)), "uncertain");
    assert!(launch_is_there(&place, id));
    assert_eq!(place.run("claim", id, None), "none");
}

#[test]
fn a_licence_whose_content_could_not_be_synced_does_not_appear() {
    let (place, id) = Place::with_task();
    let fault = format!("{}=error:EIO", points::LAUNCH.synced);
    assert_eq!(place.run("claim", id, Some(&fault)), "io");
    assert!(!launch_is_there(&place, id));
}

#[test]
fn a_claimer_killed_on_its_way_leaves_at_most_a_spent_licence() {
    for point in [points::RUN_LOCKED, points::CLAIM_TASK_SYNCED].into_iter().chain(points::LAUNCH.all()) {
        let (place, id) = Place::with_task();
        place.run_killed_at("claim", id, point);
        let visible = point == points::LAUNCH.renamed || point == points::LAUNCH.directory_synced;
        assert_eq!(launch_is_there(&place, id), visible, "{point}");
        assert_eq!(place.run("claim", id, None), if visible { "none" } else { "claimed" }, "{point}");
    }
}
