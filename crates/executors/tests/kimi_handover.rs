//! The right to the user's login, from before the first probe to the end of the run (runners.md 3.6, 3.7).

mod kimi_support;
mod support;

use std::fs;

use kimi_support::{ask, install, lock_file, login, ready, wait_for_start};
use serde_json::json;
use support::Stage;
use support::runs::{Holder, clear, demand_one_holding, demand_one_login, own_words, terminate, told};

const ALONE: &[&str] = &["--allow-provisional"];
const SHARED: &[&str] = &["--allow-provisional", "--oauth", "shared"];

/// Plants a fake that refreshes the login when it is asked whether it takes its configuration.
fn install_refreshing(stage: &Stage, name: &str) {
    install(stage, json!({"role": "kimi", "refreshes_in_probes": name}));
}

#[test]
fn nothing_of_kimi_is_started_while_another_run_has_the_login() {
    let mut stage = ready();
    // Whoever asked this one anything would say that it is not to be used.
    install(&stage, json!({"role": "kimi", "help": "", "refreshes_in_probes": "lost"}));
    let before = login(&stage);
    let holder = Holder::of(lock_file(&stage));
    for mode in ["serialized", "shared"] {
        stage.set("DELEGATION_KIMI_OAUTH_MODE", mode);
        stage.set("DELEGATION_KIMI_OAUTH_WAIT_SECONDS", "0");
        ask(&stage, "scout", "x", &[]).refused(75, "another run has the Kimi login");
        let status = stage.check();
        assert_eq!(status["selected_backend"], "none");
        assert_eq!(status["backends"]["native"]["reason"], "another run has the Kimi login");
    }
    // What never works is still said before what does not work now.
    fs::remove_file(stage.path("bin/kimi")).expect("removed");
    ask(&stage, "scout", "x", &[]).refused(69, "kimi is not on PATH");
    drop(holder);
    assert_eq!((login(&stage), stage.outputs()), (before, Vec::new()));
}

#[test]
fn a_probe_that_refreshes_has_the_login_to_itself_and_hands_it_to_the_turn() {
    let stage = ready();
    let go = stage.path("go-probe");
    install(&stage, json!({"role": "kimi", "refreshes_in_probes": "probe", "waits_in_probes": go}));
    let prompt = "[[KIMI: write began]] [[KIMI: wait go]] [[KIMI: rotate turn]]";
    let started = stage.start(&own_words(&stage, "builder", "first", prompt, ALONE));
    wait_for_start(&stage);
    let second = || stage.start(&own_words(&stage, "scout", "second", "x", ALONE));
    demand_one_holding(&stage, started, &lock_file(&stage), second, || {
        assert!(login(&stage).contains("refresh-rotated-probe"), "kept before the turn begins");
    });
    assert!(login(&stage).contains("refresh-rotated-turn"));
}

#[test]
fn a_probe_beside_a_shared_run_refreshes_the_login_of_both() {
    let stage = ready();
    let prompt = "[[KIMI: started]] [[KIMI: wait go]] [[KIMI: rotate first]]";
    let first = stage.start(&own_words(&stage, "builder", "first", prompt, SHARED));
    wait_for_start(&stage);
    install_refreshing(&stage, "probe");
    let second = || stage.start(&own_words(&stage, "scout", "second", "x", SHARED));
    demand_one_login(&stage, first, second, login);
}

#[test]
fn a_check_that_shares_the_login_refreshes_that_of_the_runs() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    let prompt = "[[KIMI: started]] [[KIMI: wait go]] [[KIMI: rotate first]]";
    let first = stage.start(&own_words(&stage, "builder", "first", prompt, ALONE));
    wait_for_start(&stage);
    install_refreshing(&stage, "probe");
    demand_one_login(&stage, first, || stage.start(&["check"]), login);
}

#[test]
fn a_run_alone_keeps_away_from_shared_ones_and_takes_over_what_they_left() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_OAUTH_WAIT_SECONDS", "0");
    let prompt = "[[KIMI: started]] [[KIMI: wait go]] [[KIMI: rotate late]]";
    let first = stage.start(&own_words(&stage, "builder", "first", prompt, SHARED));
    wait_for_start(&stage);
    let (code, said) = told(&stage.start(&own_words(&stage, "scout", "second", "x", ALONE)).wait());
    assert_eq!(code, Some(75), "{said}");
    assert!(said.contains("runs that share the Kimi login are at work"), "{said}");
    let holder = Holder::of(lock_file(&stage));
    stage.write("work/go", "");
    assert_eq!(stage.finish(first).code, 0);
    assert!(!login(&stage).contains("refresh-rotated-late"), "left to the next run");
    drop(holder);
    clear(&stage);
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
    assert!(login(&stage).contains("refresh-rotated-late"));
}

#[test]
fn a_login_that_is_lost_is_told_whatever_else_went_wrong() {
    let stage = ready();
    let before = login(&stage);
    for more in [ALONE, SHARED] {
        stage.write("prompt.md", "[[KIMI: rotate corrupt]] [[KIMI: started]] [[KIMI: hang]]");
        let started = stage.start(&stage.words("scout", more));
        wait_for_start(&stage);
        terminate(&started);
        for (finished, code, reason) in [
            (stage.finish(started), 130, "caller_cancelled (details: "),
            (
                ask_anew(&stage, "[[KIMI: rotate corrupt]] [[KIMI: exit 1]]", &more[1..]),
                70,
                "dispatch_unclassified",
            ),
        ] {
            let lines: Vec<&str> = finished.stderr.lines().collect();
            assert_eq!((finished.code, lines.len()), (code, 2), "{finished:?}");
            assert!(lines[0].contains("the login that kimi refreshed could not be kept"), "{lines:?}");
            assert!(lines[1].contains(reason), "{lines:?}");
        }
        assert_eq!(login(&stage), before);
        clear(&stage);
    }
    // In a probe that is interrupted, too.
    let never = stage.path("never");
    install(&stage, json!({"role": "kimi", "refreshes_in_probes": "corrupt", "waits_in_probes": never}));
    let started = stage.start(&stage.words("scout", ALONE));
    wait_for_start(&stage);
    terminate(&started);
    let finished = stage.finish(started);
    assert_eq!((finished.code, finished.stderr.lines().count()), (130, 2), "{finished:?}");
    assert!(finished.stderr.contains("the login that kimi refreshed could not be kept"), "{finished:?}");
    assert_eq!(login(&stage), before);
}

/// A run after another one, whose files are cleared away.
fn ask_anew(stage: &Stage, prompt: &str, more: &[&str]) -> support::Finished {
    clear(stage);
    ask(stage, "scout", prompt, more)
}
