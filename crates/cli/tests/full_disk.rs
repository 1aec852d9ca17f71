//! A flood of output, on a disk that has room for it and on one that has not: the turn ends, and the disk is not filled.

mod support;

use std::fs;

use support::Lead;

const FLOOD: &str = "[[fake: endless-zeros]]";

#[test]
fn a_disk_that_fills_up_in_the_middle_of_a_turn() {
    let lead = Lead::new();
    fs::create_dir(lead.root()).unwrap();
    let mut arguments = lead.dispatch_arguments("codex:exec", FLOOD, &["--max-output", "1GiB"]);
    arguments.push("--wait".to_owned());
    let Some(ran) = lead.mounted("mount -t tmpfs -o size=128m,mode=700 none \"$0\"", &arguments) else {
        testkit::real::skip("a_disk_that_fills_up_in_the_middle_of_a_turn", "no mount namespace of our own");
        return;
    };
    assert_eq!((ran.code, ran.reason().as_str()), (4, "disk-full"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["stop"], "disk-full");
    assert_eq!(lead.log().launches().len(), 1);
    assert!(lead.log().launches().iter().all(|launch| !launch.process.is_alive()));
}

#[test]
fn zeros_without_end_are_stopped_at_the_usual_cap() {
    let lead = Lead::new();
    let ran = lead.turn("codex:exec", FLOOD, &[]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "output-limit"), "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let kept = fs::metadata(lead.task_directory(&id).join("raw/stdout")).unwrap().len();
    assert_eq!(kept, 256 << 20);
}
