//! The user's login, which runs refresh and must not lose (runners.md 4.6).

mod grok_support;
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use grok_support::{ask, install, lock_file, login, observed, ready, sign_in, wait_for_starts};
use serde_json::{Value, json};
use support::runs::{clear, mode};
use support::small_disk::{self, SmallDisk};
use support::{Stage, Started};
use testkit::watch::until_below;

const SHARED: &[&str] = &["--oauth", "shared"];

fn generations(stage: &Stage) -> Vec<PathBuf> {
    let root = stage.path("home/.local/share/delegation-kit/grok-shared-oauth");
    let entries = fs::read_dir(root).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.is_dir()).collect()
}

#[test]
fn what_a_run_refreshed_is_kept_however_it_ends() {
    let mut stage = ready();
    stage.plant("refresh-rotated-");
    for mode_words in [&[][..], SHARED] {
        for (prompt, code) in [("[[RUN: rotate first]]", 0), ("[[RUN: rotate second]] [[RUN: exit 1]]", 70)] {
            assert_eq!(ask(&stage, prompt, mode_words).code, code);
            let name = if code == 0 { "first" } else { "second" };
            assert!(login(&stage).contains(&format!("refresh-rotated-{name}")), "{name} {mode_words:?}");
            assert_eq!(mode(&stage.path("home/.grok/auth.json")), 0o600);
            assert!(!lock_file(&stage).exists());
            clear(&stage);
        }
    }
}

#[test]
fn a_disk_that_fills_up_during_the_turn_takes_no_login() {
    let mut stage = ready();
    stage.plant("refresh-rotated-");
    if !small_disk::can_be_had() {
        testkit::real::skip("a_disk_that_fills_up_during_the_turn", "no mount namespace of our own");
        return;
    }
    stage.write("prompt.md", "[[RUN: started]] [[RUN: wait go]] [[RUN: rotate kept]]");
    let words = stage.words("builder", &["--allow-provisional"]);
    let started = Started::of(&mut small_disk::command(&stage, "home/.grok", "4m", &words));
    wait_for_starts(&stage, 1);
    let disk = SmallDisk::of(&started, stage.path("home/.grok"));
    disk.fill();
    stage.write("work/go", "");
    assert_eq!(stage.finish(started).code, 0);
    let kept = fs::read_to_string(disk.path("auth.json")).expect("a login");
    assert!(kept.contains("refresh-rotated-kept"), "{kept}");
    assert_eq!(mode(&disk.path("auth.json")), 0o600);
    let mut left: Vec<_> = fs::read_dir(disk.path("."))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["auth.json", "config.toml", "filler"]);
    clear(&stage);
    // Where there is no room from the start, nothing is started.
    let output = small_disk::command(&stage, "home/.grok", "64k", &words).output().expect("a run");
    stage.judge(output).refused(69, "no room for a refreshed login");
}

#[test]
fn room_that_a_killed_run_had_reserved_is_given_back() {
    let stage = ready();
    let abandoned = stage.write("home/.grok/.delegation-kit-room.abcdef", "x");
    let held = stage.write("home/.grok/.delegation-kit-room.ghijkl", "x");
    let lock = fs::File::open(&held).expect("a file");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    assert_eq!(ask(&stage, "x", &[]).code, 0);
    assert_eq!((abandoned.exists(), held.exists()), (false, true));
}

#[test]
fn what_is_no_login_is_not_taken_over() {
    let stage = ready();
    let before = login(&stage);
    for mode_words in [&[][..], SHARED] {
        for kind in ["corrupt", "access", "emptied"] {
            ask(&stage, &format!("[[RUN: rotate {kind}]]"), mode_words).refused(70, "oauth_sync_failed");
            assert_eq!(stage.diagnostic()["phase"], "oauth-sync");
            assert_eq!(login(&stage), before, "{kind}");
            assert_eq!(stage.outputs(), ["answer.txt.error.json"]);
            clear(&stage);
        }
    }
    assert_eq!(ask(&stage, "x", SHARED).code, 0, "the next run has a login that works");
}

#[test]
fn a_login_from_elsewhere_wins() {
    for mode_words in [&[][..], SHARED] {
        let mut stage = ready();
        stage.write("prompt.md", "[[RUN: started]] [[RUN: wait go]] [[RUN: rotate mine]]");
        let words = stage.words("builder", &[&["--allow-provisional"], mode_words].concat());
        let started = stage.start(&words);
        wait_for_starts(&stage, 1);
        sign_in(&mut stage, "access-of-elsewhere", "refresh-of-elsewhere");
        stage.write("work/go", "");
        stage.finish(started).refused(75, "oauth_conflict");
        assert!(login(&stage).contains("refresh-of-elsewhere"));
        assert_eq!(stage.outputs(), ["answer.txt.error.json"]);
        clear(&stage);
        // The next run takes it.
        assert_eq!(ask(&stage, "x", mode_words).code, 0);
        assert!(login(&stage).contains("refresh-of-elsewhere"));
    }
}

#[test]
fn one_serialized_run_at_a_time() {
    let stage = ready();
    stage.write("prompt.md", "[[RUN: started]] [[RUN: wait go]]");
    let started = stage.start(&stage.words("builder", &["--allow-provisional"]));
    wait_for_starts(&stage, 1);
    let held = fs::read_to_string(lock_file(&stage)).expect("a lock");
    assert_eq!(held.trim(), started.pid().to_string());
    // A second one has its own outputs and an empty temporary directory.
    let mut other = stage.words("builder", &["--allow-provisional"]);
    let at = other.iter().position(|word| word == "--output").expect("a flag") + 1;
    other[at] = stage.path("out/other.txt").into();
    let second = stage.start(&other).wait();
    assert_eq!(second.status.code(), Some(75));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another run has the Grok login"));
    stage.write("work/go", "");
    assert_eq!(stage.finish(started).code, 0);
    assert!(!lock_file(&stage).exists());
}

#[test]
fn a_lock_of_a_living_peer_holds_one_of_a_dead_one_does_not_and_a_link_is_none() {
    let stage = ready();
    let mut peer = std::process::Command::new("sleep").arg("600").spawn().expect("a peer");
    fs::write(lock_file(&stage), format!("{}\n", peer.id())).expect("written");
    ask(&stage, "x", &[]).refused(75, "another run has the Grok login");
    peer.kill().expect("a signal");
    peer.wait().expect("an end");
    assert_eq!(ask(&stage, "x", &[]).code, 0);
    clear(&stage);
    symlink("nowhere", lock_file(&stage)).expect("a link");
    for mode_words in [&[][..], SHARED] {
        ask(&stage, "x", mode_words).refused(69, "is no lock file");
    }
    assert_eq!(stage.outputs(), Vec::<String>::new());
}

#[test]
fn a_login_that_a_probe_refreshed_is_kept() {
    let mut stage = ready();
    install(&stage, "bin/grok", json!({"refreshes_in_probes": "probe"}));
    stage.plant("refresh-rotated-");
    assert_eq!(stage.check()["selected_backend"], "grok-build");
    assert!(login(&stage).contains("refresh-rotated-probe"));
}

#[test]
fn shared_runs_work_in_one_directory_at_the_same_time() {
    let stage = ready();
    let mut running = Vec::new();
    for number in 0..2 {
        let go = format!("go-{number}");
        let prompt = format!("[[RUN: observe]] [[RUN: started]] [[RUN: wait {go}]]");
        let file = stage.write(&format!("prompt-{number}.md"), prompt);
        let output = stage.path(&format!("out/answer-{number}.txt"));
        let mut words = stage.words("builder", &["--allow-provisional", "--oauth", "shared"]);
        for (flag, path) in [("--prompt-file", file), ("--output", output)] {
            let at = words.iter().position(|word| word == flag).expect("a flag") + 1;
            words[at] = path.into();
        }
        running.push(stage.start(&words));
        wait_for_starts(&stage, number + 1);
    }
    let generation = generations(&stage);
    assert_eq!(generation.len(), 1, "{generation:?}");
    let vendor = generation[0].join(".grok");
    assert_eq!((mode(&generation[0]), mode(&vendor), mode(&vendor.join("auth.json"))), (0o700, 0o700, 0o600));
    assert!(!lock_file(&stage).exists(), "it covers joining alone");
    let profiles = fs::read_to_string(vendor.join("sandbox.toml")).expect("profiles");
    assert_eq!(profiles.matches("extends = \"strict\"").count(), 2, "{profiles}");
    let mut ended = Vec::new();
    for (number, started) in running.into_iter().enumerate() {
        stage.write(&format!("work/go-{number}"), "");
        ended.push(started.wait());
    }
    for output in ended {
        assert_eq!(stage.judge(output).code, 0);
    }
    let seen: Value =
        serde_json::from_slice(&fs::read(stage.path("out/answer-1.txt")).expect("an answer")).expect("JSON");
    let variables = &seen["observed"]["variables"];
    assert_eq!(variables["GROK_HOME"].as_str(), vendor.to_str());
    assert!(variables["HOME"].as_str().is_some_and(|home| home.contains("/tmp/delegation-grok.")));
    assert_eq!(fs::read_dir(generation[0].join("runs")).expect("a directory").count(), 0, "both have left");
    clear(&stage);
    assert_eq!(ask(&stage, "x", SHARED).code, 0);
    let profiles = fs::read_to_string(vendor.join("sandbox.toml")).expect("profiles");
    assert_eq!(
        profiles.matches("extends = \"strict\"").count(),
        1,
        "who has left has no profile: {profiles}"
    );
}

#[test]
fn generations_that_nobody_works_in_are_removed() {
    let mut stage = ready();
    for name in ["a", "b", "c"] {
        sign_in(&mut stage, &format!("access-{name}-0123456789"), &format!("refresh-{name}-0123456789"));
        assert_eq!(ask(&stage, "x", SHARED).code, 0);
        assert_eq!(generations(&stage).len(), 1, "{name}");
        clear(&stage);
    }
    // One that is damaged is left at once.
    let old = generations(&stage);
    fs::write(old[0].join(".grok/auth.json"), "{").expect("written");
    assert_eq!(ask(&stage, "x", SHARED).code, 0);
    assert_ne!(generations(&stage), old);
    clear(&stage);
    // The traces of a run that died are taken away.
    let current = generations(&stage).remove(0);
    fs::write(current.join("runs/dead"), "[profiles.dead]\n").expect("written");
    let seen = observed(&stage, "[[RUN: observe]]", SHARED);
    assert!(!seen["observed"]["texts"]["sandbox.toml"].as_str().expect("text").contains("dead"));
    until_below(&current, "its end", || (!current.join("runs/dead").exists()).then_some(()));
}
