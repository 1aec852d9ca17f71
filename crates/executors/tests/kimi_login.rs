//! The user's login, which a run may refresh and must not lose (runners.md 3.6, 3.7).

mod kimi_support;
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use kimi_support::{
    ACCESS, REFRESH, ask, install, lock_file, login, observed, ready, sign_in, wait_for_start,
};
use serde_json::json;
use support::runs::{clear, mode};
use support::small_disk::{self, SmallDisk};
use support::{Finished, Stage, Started};
use testkit::watch::until_below;

const CREDENTIAL: &str = "home/.kimi-code/credentials/kimi-code.json";

fn shared(stage: &Stage, name: &str) -> std::path::PathBuf {
    stage.path("home/.local/share/delegation-kit/kimi-shared-oauth").join(name)
}

/// Runs a prompt that waits in its middle, and does something meanwhile.
fn meanwhile(stage: &Stage, before: &str, after: &str, more: &[&str], act: impl FnOnce()) -> Finished {
    stage.write(
        "prompt.md",
        format!("{before} [[KIMI: started]] [[KIMI: wait go]] {after} [[KIMI: say yes]]"),
    );
    let started = stage.start(&stage.words("builder", &[&["--allow-provisional"], more].concat()));
    wait_for_start(stage);
    act();
    stage.write("work/go", "");
    let finished = stage.finish(started);
    fs::remove_file(stage.path("work/go")).expect("removed");
    finished
}

#[test]
fn a_refreshed_login_is_kept_and_the_next_run_has_it() {
    let stage = ready();
    assert_eq!(ask(&stage, "scout", "[[KIMI: rotate one]]", &[]).code, 0);
    let kept = login(&stage);
    assert!(kept.contains("refresh-rotated-one"), "{kept}");
    assert_eq!(mode(&stage.path(CREDENTIAL)), 0o600);
    assert!(!lock_file(&stage).exists());
    clear(&stage);
    let seen = observed(&stage, "scout", "[[KIMI: read .kimi-code/x]] [[KIMI: rotate two]]");
    assert!(seen.is_object());
    assert!(login(&stage).contains("refresh-rotated-two"));
    // Also when the turn fails.
    clear(&stage);
    ask(&stage, "scout", "[[KIMI: rotate three]] [[KIMI: exit 1]]", &[]).refused(70, "dispatch_unclassified");
    assert!(login(&stage).contains("refresh-rotated-three"));
    assert_eq!(stage.diagnostic()["oauth_sync"], "ok");
}

#[test]
fn a_disk_that_fills_up_during_the_turn_takes_no_login() {
    let stage = ready();
    if !small_disk::can_be_had() {
        testkit::real::skip("a_disk_that_fills_up_during_the_turn", "no mount namespace of our own");
        return;
    }
    stage.write("prompt.md", "[[KIMI: started]] [[KIMI: wait go]] [[KIMI: rotate kept]] [[KIMI: say yes]]");
    let words = stage.words("builder", &["--allow-provisional"]);
    let started = Started::of(&mut small_disk::command(&stage, "home/.kimi-code", "4m", &words));
    wait_for_start(&stage);
    let disk = SmallDisk::of(&started, stage.path("home/.kimi-code"));
    disk.fill();
    stage.write("work/go", "");
    assert_eq!(stage.finish(started).code, 0);
    let kept = fs::read_to_string(disk.path("credentials/kimi-code.json")).expect("a login");
    assert!(kept.contains("refresh-rotated-kept"), "{kept}");
    clear(&stage);
    let output = small_disk::command(&stage, "home/.kimi-code", "64k", &words).output().expect("a run");
    stage.judge(output).refused(69, "no room for a refreshed login");
}

#[test]
fn what_is_no_login_is_never_kept() {
    let stage = ready();
    let before = login(&stage);
    for kind in ["access", "emptied", "corrupt", "list", "gone"] {
        ask(&stage, "scout", &format!("[[KIMI: rotate {kind}]]"), &[]).refused(70, "oauth_sync_failed");
        assert_eq!(stage.diagnostic()["phase"], "oauth-sync");
        assert_eq!(stage.diagnostic()["oauth_sync"], "failed");
        assert_eq!(stage.answer(), None);
        assert_eq!(login(&stage), before, "{kind}");
        clear(&stage);
    }
}

#[test]
fn a_login_from_elsewhere_wins() {
    let stage = ready();
    let theirs = json!({"access_token": "a", "refresh_token": "theirs"}).to_string();
    let finished =
        meanwhile(&stage, "", "[[KIMI: rotate ours]]", &[], || drop(stage.write(CREDENTIAL, &theirs)));
    finished.refused(75, "oauth_conflict");
    assert_eq!(stage.diagnostic()["oauth_sync"], "conflict");
    assert_eq!(login(&stage), theirs);
    assert_eq!(stage.answer(), None);
    clear(&stage);
    // Gone or a link: the same.
    let finished = meanwhile(&stage, "", "[[KIMI: rotate ours]]", &[], || {
        fs::remove_file(stage.path(CREDENTIAL)).expect("removed");
        symlink(stage.path("prompt.md"), stage.path(CREDENTIAL)).expect("a link");
    });
    finished.refused(75, "oauth_conflict");
    assert!(stage.path(CREDENTIAL).is_symlink());
    fs::remove_file(stage.path(CREDENTIAL)).expect("removed");
    stage.write(CREDENTIAL, &theirs);
    clear(&stage);
    // Without a refresh there is nothing to lose.
    assert_eq!(meanwhile(&stage, "", "", &[], || drop(stage.write(CREDENTIAL, "{}"))).code, 0);
}

#[test]
fn a_run_holds_the_lock_and_a_second_one_is_sent_away_at_once() {
    let stage = ready();
    let finished = meanwhile(&stage, "", "", &[], || {
        let owner = fs::read_to_string(lock_file(&stage)).expect("a lock file");
        assert!(owner.trim().parse::<u32>().is_ok());
        let other = stage.path("out/other.txt");
        let prompt = stage.path("other.md");
        stage.write("other.md", "x");
        let output = Command::new(kimi_support::PROGRAM)
            .args(["run", "--lane", "scout", "--allow-provisional", "--prompt-file"])
            .arg(prompt)
            .arg("--output")
            .arg(&other)
            .arg("--workdir")
            .arg(stage.path("work"))
            .env_clear()
            .env("HOME", stage.path("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display()))
            .env("TMPDIR", stage.path("tmp"))
            .output()
            .expect("a second run");
        assert_eq!(output.status.code(), Some(75), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!other.exists());
    });
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(!lock_file(&stage).exists());
}

#[test]
fn a_lock_of_a_living_peer_is_respected_and_one_of_a_dead_one_recovered() {
    let stage = ready();
    let mut peer =
        Command::new("/usr/bin/sleep").arg("600").stdout(Stdio::null()).spawn().expect("a process");
    fs::write(lock_file(&stage), format!("{}\n", peer.id())).expect("written");
    let busy = ask(&stage, "scout", "x", &[]);
    peer.kill().expect("killed");
    peer.wait().expect("ended");
    busy.refused(75, "another run has the Kimi login");
    assert_eq!(stage.outputs(), Vec::<String>::new());
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
    assert!(!lock_file(&stage).exists());
    clear(&stage);
    symlink(stage.path("elsewhere"), lock_file(&stage)).expect("a link");
    ask(&stage, "scout", "x", &[]).refused(69, "no lock file");
    assert!(!stage.path("elsewhere").exists());
}

#[test]
fn a_login_that_a_probe_refreshed_is_kept() {
    let stage = ready();
    install(&stage, json!({"role": "kimi", "refreshes_in_probes": "both"}));
    assert_eq!(stage.check()["selected_backend"], "native");
    assert!(login(&stage).contains("refresh-rotated-both"));
    assert!(!lock_file(&stage).exists());
}

#[test]
fn runs_with_a_shared_login_work_at_the_same_time() {
    let stage = ready();
    let more = ["--oauth", "shared"];
    let finished = meanwhile(&stage, "[[KIMI: rotate first]]", "", &more, || {
        assert!(!lock_file(&stage).exists(), "the lock covers the joining alone");
        // The second run sees the refreshed login of the first, keeps it for the user and refreshes once more.
        let output = stage.path("out/second.txt");
        let words = [
            "run",
            "--lane",
            "scout",
            "--allow-provisional",
            "--oauth",
            "shared",
            "--prompt",
            "[[KIMI: observe]]",
        ];
        let work = stage.path("work");
        let paths = ["--output", output.to_str().expect("UTF-8"), "--workdir", work.to_str().expect("UTF-8")];
        let second = Command::new(kimi_support::PROGRAM)
            .args(words)
            .args(paths)
            .env_clear()
            .env("HOME", stage.path("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display()))
            .env("TMPDIR", stage.path("tmp"))
            .output()
            .expect("a second run");
        assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
        assert!(login(&stage).contains("refresh-rotated-first"), "published by the run that joined");
        let seen: serde_json::Value =
            serde_json::from_slice(&fs::read(&output).expect("an answer")).expect("JSON");
        let home = seen["observed"]["home"].as_object().expect("a listing");
        assert!(
            home[".kimi-code/credentials"].as_str().is_some_and(|kind| kind.starts_with("link")),
            "{home:?}"
        );
        assert!(home[".kimi-code/oauth"].as_str().is_some_and(|kind| kind.starts_with("link")));
    });
    assert_eq!(finished.code, 0, "{finished:?}");
    assert_eq!(stage.metrics()["oauth_refresh_persistence"], "shared-generation-atomic-sync");
    assert!(login(&stage).contains("refresh-rotated-first"));
    assert_eq!(mode(&stage.path(CREDENTIAL)), 0o600);
}

#[test]
fn a_busy_lock_defers_the_publication_to_the_next_run() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    stage.set("DELEGATION_KIMI_OAUTH_WAIT_SECONDS", "0");
    let mut peer =
        Command::new("/usr/bin/sleep").arg("600").stdout(Stdio::null()).spawn().expect("a process");
    let finished = meanwhile(&stage, "", "[[KIMI: rotate late]]", &[], || {
        fs::write(lock_file(&stage), format!("{}\n", peer.id())).expect("written");
    });
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(login(&stage).contains(REFRESH));
    clear(&stage);
    let busy = ask(&stage, "scout", "x", &[]);
    peer.kill().expect("killed");
    peer.wait().expect("ended");
    busy.refused(75, "another run has the Kimi login");
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
    assert!(login(&stage).contains("refresh-rotated-late"));
}

#[test]
fn an_external_login_supersedes_the_generation() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    let theirs = json!({"access_token": "theirs-access", "refresh_token": "theirs-refresh"}).to_string();
    let finished =
        meanwhile(&stage, "", "[[KIMI: rotate ours]]", &[], || drop(stage.write(CREDENTIAL, &theirs)));
    finished.refused(75, "oauth_conflict");
    assert_eq!(login(&stage), theirs);
    clear(&stage);
    let first = fs::read_to_string(shared(&stage, "current")).expect("a generation");
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
    let second = fs::read_to_string(shared(&stage, "current")).expect("a generation");
    assert_ne!(first, second);
    let filled =
        fs::read_to_string(shared(&stage, &second).join("credentials/kimi-code.json")).expect("a login");
    assert_eq!(filled, theirs);
    // Generations that nobody works on do not pile up.
    assert!(!shared(&stage, &first).exists());
}

#[test]
fn a_damaged_generation_is_replaced_by_the_next_run() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    ask(&stage, "scout", "[[KIMI: rotate corrupt]]", &[]).refused(70, "oauth_sync_failed");
    assert!(login(&stage).contains(REFRESH));
    clear(&stage);
    assert_eq!(ask(&stage, "scout", "[[KIMI: rotate fine]]", &[]).code, 0);
    assert!(login(&stage).contains("refresh-rotated-fine"));
}

#[test]
fn a_publication_that_broke_off_in_its_middle_divides_no_runs() {
    let mut stage = ready();
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
    let current = fs::read_to_string(shared(&stage, "current")).expect("a generation");
    clear(&stage);
    // The user has what was refreshed, and the generation does not yet know that.
    let refreshed = json!({"access_token": "access-next", "refresh_token": "refresh-next"}).to_string();
    for place in [shared(&stage, &current).join("credentials/kimi-code.json"), stage.path(CREDENTIAL)] {
        fs::write(place, &refreshed).expect("written");
    }
    assert_eq!(ask(&stage, "scout", "[[KIMI: rotate after]]", &[]).code, 0);
    assert_eq!(fs::read_to_string(shared(&stage, "current")).ok(), Some(current));
    assert!(login(&stage).contains("refresh-rotated-after"));
}

#[test]
fn what_is_no_regular_file_is_not_copied() {
    for name in ["credentials/kimi-code.json", "oauth/kimi-code", "device_id"] {
        let stage = ready();
        let path = stage.path("home/.kimi-code").join(name);
        fs::rename(&path, stage.path("moved")).expect("moved");
        symlink(stage.path("moved"), &path).expect("a link");
        let place = format!("login: {}", path.display());
        ask(&stage, "scout", "x", &[]).refused(69, &place);
        assert_eq!(stage.check()["selected_backend"], "none");
        assert_eq!(stage.outputs(), Vec::<String>::new());
    }
}

#[test]
fn a_login_needs_one_token_and_may_have_expired() {
    let mut stage = ready();
    for (access, refresh, code) in [("x", "", 0), ("", "y", 0), ("", "", 69)] {
        let login = json!({"access_token": access, "refresh_token": refresh, "expires_at": 0});
        stage.write(CREDENTIAL, login.to_string());
        let finished = ask(&stage, "scout", "x", &[]);
        assert_eq!(finished.code, code, "{finished:?}");
        clear(&stage);
    }
    fs::remove_file(stage.path(CREDENTIAL)).expect("removed");
    ask(&stage, "scout", "x", &[]).refused(69, "holds no login");
    stage.set("KIMI_CODE_HOME", stage.path("other"));
    ask(&stage, "scout", "x", &[]).refused(69, "holds no login");
    sign_in(&mut stage, ACCESS, REFRESH);
    fs::rename(stage.path("home/.kimi-code"), stage.path("other")).expect("moved");
    assert_eq!(ask(&stage, "scout", "x", &[]).code, 0);
    let home = stage.path("other");
    until_below(&home, "the end of the lock", || {
        (!home.join(".delegation-kit-oauth.lock").exists()).then_some(())
    });
}
