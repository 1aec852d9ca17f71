//! The right to the user's login, from before the first probe to the end of the run (runners.md 4.6).

mod grok_support;
mod support;

use std::fs;

use grok_support::{ask, install, lock_file, login, ready, wait_for_starts};
use serde_json::json;
use support::runs::{Holder, clear, demand_one_holding, demand_one_login, own_words, terminate, told};

const SHARED: &[&str] = &["--allow-provisional", "--oauth", "shared"];

#[test]
fn nothing_of_grok_is_started_while_another_run_has_the_login() {
    let stage = ready();
    // Whoever asked this one anything would say that it is not to be used.
    install(&stage, "bin/grok", json!({"interface": null, "refreshes_in_probes": "lost"}));
    let before = login(&stage);
    let holder = Holder::of(lock_file(&stage));
    ask(&stage, "x", &[]).refused(75, "another run has the Grok login");
    let status = stage.check();
    assert_eq!(status["selected_backend"], "none");
    assert_eq!(status["backends"]["grok-build"]["reason"], "another run has the Grok login");
    // What never works is still said before what does not work now.
    fs::remove_file(stage.path("bin/grok")).expect("removed");
    ask(&stage, "x", &[]).refused(69, "run: delegation-grok pin");
    drop(holder);
    assert_eq!((login(&stage), stage.outputs()), (before, Vec::new()));
}

#[test]
fn a_probe_that_refreshes_has_the_login_to_itself_and_hands_it_to_the_turn() {
    let mut stage = ready();
    stage.plant("refresh-rotated-");
    let setup = json!({"refreshes_in_probes": "probe", "waits_in_probes": stage.path("go-probe")});
    install(&stage, "bin/grok", setup);
    let prompt = "[[RUN: write began]] [[RUN: wait go]] [[RUN: rotate turn]]";
    let started = stage.start(&own_words(&stage, "builder", "first", prompt, &["--allow-provisional"]));
    wait_for_starts(&stage, 1);
    let second = || stage.start(&own_words(&stage, "builder", "second", "x", &["--allow-provisional"]));
    demand_one_holding(&stage, started, &lock_file(&stage), second, || {
        assert!(login(&stage).contains("refresh-rotated-probe"), "kept before the turn begins");
    });
    assert!(login(&stage).contains("refresh-rotated-turn"));
}

#[test]
fn a_probe_beside_a_shared_run_refreshes_the_login_of_both() {
    let mut stage = ready();
    stage.plant("refresh-rotated-");
    let prompt = "[[RUN: started]] [[RUN: wait go]] [[RUN: rotate first]]";
    let first = stage.start(&own_words(&stage, "builder", "first", prompt, SHARED));
    wait_for_starts(&stage, 1);
    let refreshing = install(&stage, "other/grok", json!({"refreshes_in_probes": "probe"}));
    stage.set("DELEGATION_GROK_BIN", refreshing);
    let second = || stage.start(&own_words(&stage, "builder", "second", "x", SHARED));
    demand_one_login(&stage, first, second, login);
}

#[test]
fn a_run_alone_keeps_away_from_shared_ones() {
    let mut stage = ready();
    stage.plant("refresh-rotated-");
    let prompt = "[[RUN: started]] [[RUN: wait go]] [[RUN: rotate shared]]";
    let first = stage.start(&own_words(&stage, "builder", "first", prompt, SHARED));
    wait_for_starts(&stage, 1);
    let words = own_words(&stage, "builder", "second", "x", &["--allow-provisional"]);
    let (code, said) = told(&stage.start(&words).wait());
    assert_eq!(code, Some(75), "{said}");
    assert!(said.contains("runs that share the Grok login are at work"), "{said}");
    stage.write("work/go", "");
    assert_eq!(stage.finish(first).code, 0);
    clear(&stage);
    assert_eq!(ask(&stage, "x", &[]).code, 0);
}

#[test]
fn a_login_that_is_lost_is_told_whatever_else_went_wrong() {
    let stage = ready();
    let before = login(&stage);
    for more in [&["--allow-provisional"][..], SHARED] {
        stage.write("prompt.md", "[[RUN: rotate corrupt]] [[RUN: started]] [[RUN: hang]]");
        let started = stage.start(&stage.words("builder", more));
        wait_for_starts(&stage, 1);
        terminate(&started);
        stage.finish(started).refused(-15, "the login that grok refreshed could not be kept");
        assert_eq!((login(&stage), stage.outputs()), (before.clone(), Vec::new()));
        let finished = ask(&stage, "[[RUN: rotate corrupt]] [[RUN: exit 1]]", &more[1..]);
        let lines: Vec<&str> = finished.stderr.lines().collect();
        assert_eq!((finished.code, lines.len()), (70, 2), "{finished:?}");
        assert!(lines[0].contains("the login that grok refreshed could not be kept"), "{lines:?}");
        assert!(lines[1].contains("dispatch_failed (details: "), "{lines:?}");
        clear(&stage);
    }
    // In a probe that is interrupted, too.
    let never = stage.path("never");
    install(&stage, "bin/grok", json!({"refreshes_in_probes": "corrupt", "waits_in_probes": never}));
    let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
    wait_for_starts(&stage, 1);
    terminate(&started);
    stage.finish(started).refused(-15, "the login that grok refreshed could not be kept");
    assert_eq!(login(&stage), before);
}
