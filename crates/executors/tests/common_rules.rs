//! Rules of the core that the chat runners do not use, or not in every form (runners.md 1.5, 2.3, 7).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use executors::chat::QWEN;
use executors::common::environment::{ChildEnvironment, PASS_VARIABLE};
use executors::common::exit::{Exit, Failure, Phase, Refusal};
use executors::common::git::Git;
use executors::common::line::{Command, RunLine, parse};
use executors::common::place::{DebugRule, PathRules, Places};
use executors::common::prompt::Prompt;
use executors::common::publish::{Member, publish, write};
use executors::common::surroundings::Surroundings;
use tempfile::TempDir;

const OPEN: PathRules = PathRules {
    create_parents: true,
    diagnostic_may_exist: true,
    outputs_outside_workdir: false,
    debug: DebugRule::Exists,
    workdir_is_narrow: false,
    reserved: &[".stderr"],
};

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("a path");
    fs::create_dir(path.join("work")).expect("a directory");
    (directory, path)
}

fn line(here: &Path, output: &str, more: &[&str]) -> RunLine {
    let mut words: Vec<OsString> =
        ["run", "--lane", "builder", "--prompt-file", "p", "--output"].map(OsString::from).to_vec();
    words.push(here.join(output).into());
    words.push("--workdir".into());
    words.push(here.join("work").into());
    words.extend(more.iter().map(OsString::from));
    match parse(&QWEN.family, &words) {
        Ok(Command::Run(line)) => *line,
        other => panic!("{other:?}"),
    }
}

fn refused(line: &RunLine, rules: PathRules, words: &str) {
    match Places::check(line, rules) {
        Err(Refusal { exit: Exit::Usage, message }) => assert!(message.contains(words), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn missing_parents_are_made_only_when_all_is_decided() {
    let (_directory, here) = place();
    let places = Places::check(&line(&here, "a/b/answer", &[]), OPEN).expect("allowed");
    assert_eq!(places.output.path(), here.join("a/b/answer"));
    assert!(!here.join("a").exists());
    places.create_parents().expect("made");
    assert!(here.join("a/b").is_dir());
    refused(&line(&here, "a/missing/../../answer", &[]), OPEN, "its directory");
    symlink(here.join("nowhere"), here.join("dangling")).expect("a link");
    refused(&line(&here, "dangling/answer", &[]), OPEN, "its directory");
    // Through a link to a directory the physical place counts.
    symlink(here.join("work"), here.join("linked")).expect("a link");
    let places = Places::check(&line(&here, "linked/sub/answer", &[]), OPEN).expect("allowed");
    assert_eq!(places.output.path(), here.join("work/sub/answer"));
    let outside = PathRules { outputs_outside_workdir: true, ..OPEN };
    refused(&line(&here, "linked/sub/answer", &[]), outside, "lies in the workspace");
}

#[test]
fn a_diagnostic_of_an_earlier_run_may_lie_there_where_the_family_says_so() {
    let (_directory, here) = place();
    let asked = line(&here, "answer", &[]);
    fs::write(here.join("answer.error.json"), "earlier").expect("written");
    let places = Places::check(&asked, OPEN).expect("allowed");
    assert!(places.replaces_diagnostic());
    write(&places.diagnostic, b"later", true).expect("replaced");
    assert_eq!(fs::read(here.join("answer.error.json")).expect("readable"), b"later");
    assert!(write(&places.diagnostic, b"again", false).is_err());
    refused(&asked, PathRules { diagnostic_may_exist: false, ..OPEN }, "exists");
    fs::remove_file(here.join("answer.error.json")).expect("removed");
    symlink(here.join("work"), here.join("answer.error.json")).expect("a link");
    refused(&asked, OPEN, "is a symbolic link");
}

#[test]
fn reserved_names_count_as_outputs() {
    let (_directory, here) = place();
    let metrics = here.join("answer.stderr");
    refused(&line(&here, "answer", &["--metrics", metrics.to_str().expect("UTF-8")]), OPEN, "the same file");
    fs::write(&metrics, "theirs").expect("written");
    refused(&line(&here, "answer", &[]), OPEN, "exists");
}

#[test]
fn a_name_leaves_room_for_what_is_staged_beside_it() {
    let (_directory, here) = place();
    let staged = |name: &str, suffix: &str| format!(".{name}{suffix}.XXXXXX").len();
    for parent in ["", "missing/"] {
        for bytes in 230..=255 {
            let name = "n".repeat(bytes);
            let asked = line(&here, &format!("{parent}{name}"), &[]);
            if staged(&name, ".metrics.json") > 255 {
                refused(&asked, OPEN, "its name is too long");
            } else {
                let places = Places::check(&asked, OPEN).expect("allowed");
                places.create_parents().expect("made");
                for place in [&places.output, &places.metrics, &places.diagnostic, &places.reserved[0]] {
                    write(place, b"x", false).expect("written");
                    fs::remove_file(place.path()).expect("removed");
                }
                let _ = fs::remove_dir(here.join("missing"));
            }
        }
    }
    let longer = "n".repeat(236);
    let metrics = here.join("metrics").into_os_string().into_string().expect("UTF-8");
    let places = Places::check(&line(&here, &longer, &["--metrics", &metrics]), OPEN).expect("allowed");
    write(&places.diagnostic, b"x", false).expect("written");
    // Bytes count, whatever they mean.
    let name = OsString::from_vec(vec![0xff; 200]);
    let mut asked = line(&here, "answer", &[]);
    asked.output = here.join(name);
    let places = Places::check(&asked, OPEN).expect("allowed");
    write(&places.metrics, b"x", false).expect("written");
}

#[test]
fn a_narrow_workspace_and_a_private_debug_directory() {
    let (_directory, here) = place();
    let narrow = PathRules { workdir_is_narrow: true, debug: DebugRule::PrivateOutsideWorkdir, ..OPEN };
    let mut asked = line(&here, "answer", &[]);
    Places::check(&asked, narrow).expect("allowed");
    asked.workdir = Some("/".into());
    refused(&asked, narrow, "too wide");
    if let Some(home) = std::env::var_os("HOME").filter(|home| Path::new(home).is_dir()) {
        asked.workdir = Some(home.into());
        refused(&asked, narrow, "too wide");
    }
    let debug = here.join("debug");
    fs::create_dir(&debug).expect("a directory");
    let asked = line(&here, "answer", &["--debug-dir", debug.to_str().expect("UTF-8")]);
    fs::set_permissions(&debug, fs::Permissions::from_mode(0o750)).expect("a mode");
    refused(&asked, narrow, "closed to others");
    fs::set_permissions(&debug, fs::Permissions::from_mode(0o700)).expect("a mode");
    assert_eq!(Places::check(&asked, narrow).expect("allowed").debug, Some(debug));
    let inside = here.join("work/debug");
    fs::create_dir(&inside).expect("a directory");
    let asked = line(&here, "answer", &["--debug-dir", inside.to_str().expect("UTF-8")]);
    refused(&asked, narrow, "lies in the workspace");
    Places::check(&asked, OPEN).expect("allowed");
}

#[test]
fn what_can_not_be_staged_publishes_nothing() {
    let (_directory, here) = place();
    let places = Places::check(
        &line(&here, "answer", &["--metrics", here.join("m/metrics").to_str().expect("UTF-8")]),
        OPEN,
    )
    .expect("allowed");
    let failure = |reason| Failure::new(Exit::Failed, Phase::Extract, reason);
    // The directory of the metrics was never made.
    let members = [
        Member {
            destination: &places.output,
            bytes: b"x".to_vec(),
            stage_failure: failure("first"),
            publish_reason: "p",
        },
        Member {
            destination: &places.metrics,
            bytes: b"y".to_vec(),
            stage_failure: failure("second"),
            publish_reason: "p",
        },
    ];
    assert_eq!(publish(&members), Err(failure("second")));
    let left: Vec<_> =
        fs::read_dir(&here).expect("readable").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left, ["work"]);
}

#[test]
fn a_prompt_that_becomes_an_argument_must_fit_into_one() {
    let prompt = |length: usize| Prompt::of_argument("x".repeat(length).as_ref()).expect("text");
    assert!(prompt(131_071).demand_argument(0).is_ok());
    for (prompt, before) in
        [(prompt(131_072), 0), (prompt(131_071), 1), (Prompt::of_argument("a\0b".as_ref()).expect("text"), 0)]
    {
        assert_eq!(prompt.demand_argument(before).map_err(|refusal| refusal.exit), Err(Exit::Usage));
    }
    assert!(prompt(0).demand_text().is_err() && prompt(1).demand_text().is_ok());
}

/// Runs a test of this program again in another environment.
fn again(test: &str, variables: &[(&str, &str)]) {
    let output = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env_clear()
        .envs(variables.iter().copied())
        .env("AGAIN", "1")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_child_sees_what_is_allowed_and_no_key() {
    if std::env::var_os("AGAIN").is_none() {
        let keys = [
            ("ANTHROPIC_API_KEY", "k"),
            ("GROK_HOME", "/x"),
            ("OWN", "o"),
            ("HOME", "/h"),
            ("LANG", "C"),
            ("DELEGATION_COOKIE", "c"),
        ];
        again(
            "a_child_sees_what_is_allowed_and_no_key",
            &[&keys[..], &[(PASS_VARIABLE, "OWN, MISSING")]].concat(),
        );
        for bad in
            ["ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS", "XAIKEY", "my_token", "A=B", "DB_PASSWORD"]
        {
            again("a_child_sees_what_is_allowed_and_no_key", &[(PASS_VARIABLE, bad), ("REFUSED", "1")]);
        }
        return;
    }
    let surroundings = Surroundings { program: PathBuf::new(), root: PathBuf::new() };
    let environment = ChildEnvironment::of_user(&surroundings);
    if std::env::var_os("REFUSED").is_some() {
        assert_eq!(environment.map_err(|refusal| refusal.exit), Err(Exit::Usage));
        return;
    }
    let environment = environment.expect("an environment");
    for (name, value) in [("OWN", "o"), ("HOME", "/h"), ("LANG", "C"), ("DELEGATION_COOKIE", "c")] {
        assert_eq!(environment.get(name), Some(value.as_ref()), "{name}");
    }
    for name in ["ANTHROPIC_API_KEY", "GROK_HOME", "AGAIN", PASS_VARIABLE] {
        assert_eq!(environment.get(name), None, "{name}");
    }
    // What is shown of it are names.
    assert!(!format!("{environment:?}").contains("/h"));
    assert_eq!(ChildEnvironment::nothing().get("HOME"), None);
}

#[test]
fn a_checkout_is_the_same_through_a_link() {
    let (_directory, here) = place();
    let initialised = std::process::Command::new("git").args(["init", "-q"]).arg(here.join("work")).status();
    assert!(initialised.expect("git").success());
    fs::create_dir(here.join("work/below")).expect("a directory");
    symlink(here.join("work"), here.join("link")).expect("a link");
    for (name, expected) in [("work", true), ("link", true), ("work/below", false), ("link/below", false)] {
        let git = Git::of(&here.join(name)).expect("git");
        assert_eq!(git.is_top(), Some(expected), "{name}");
    }
}
