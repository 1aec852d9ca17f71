//! Observers work on a read-only file system, and whoever would write says so plainly.

#[path = "program/place.rs"]
mod place;
#[path = "program/run.rs"]
mod run;
#[path = "program/sample.rs"]
mod sample;

use place::Place;
use run::{in_mount_namespace, printed};

#[test]
fn a_read_only_file_system_can_be_observed() {
    let (place, id) = Place::with_task();
    let script = r#"mount --bind "$1" "$1"; mount -o remount,bind,ro "$1""#;
    let program = place.command("observe", id, None);
    if let Some(output) = in_mount_namespace(script, place.root.path(), &program) {
        assert_eq!(printed(&output), "observed", "{output:?}");
    }
}
