//! What the program says of a command line, before any task is touched.

mod support;

use std::fs::{self, File};

use support::{Lead, Ran};

const ID: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn without_a_word_it_explains_itself() {
    let lead = Lead::new();
    let ran = lead.run::<&str>([]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("First steps:"), "{ran:?}");
    assert_eq!(ran.stderr, "");
    assert!(!lead.root().exists());
    let version = lead.run(["version"]);
    assert_eq!(version.stdout, lead.run(["--version"]).stdout);
    assert!(version.stdout.starts_with("delegate "), "{version:?}");
}

#[test]
fn help_and_version_can_be_read_by_a_program() {
    let lead = Lead::new();
    assert_eq!(lead.json(["version"]).answer()["command"], "version");
    let help = lead.json(["help", "dispatch"]).answer();
    assert!(help["text"].as_str().unwrap().contains("--provider"));
}

#[test]
fn a_usage_error_goes_to_standard_error() {
    let ran = Lead::new().run(["status"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: "), "{ran:?}");
    assert!(ran.stderr.contains("\n\nUsage: delegate status"), "{ran:?}");
}

#[test]
fn a_usage_error_is_json_where_json_is_asked_for() {
    let lead = Lead::new();
    for (words, command) in [
        (&["status"][..], Some("status")),
        (&["bogus"], None),
        (&["status", ID, "--bogus"], Some("status")),
        (&["--root", "/r", "collect", ID, "--root", "/r"], Some("collect")),
        (&["help", "bogus"], Some("help")),
    ] {
        let ran = lead.json(words);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{ran:?}");
        let answer = ran.answer();
        assert_eq!(answer["schema_version"], 1);
        assert_eq!(answer["command"].as_str(), command, "{answer}");
        assert_eq!(answer["failure"]["code"], "usage_error");
        assert_eq!(answer["failure"]["stage"], "parse-arguments");
        assert_eq!(answer["failure"]["next_action"], "correct_request");
        assert!(!answer["error"].as_str().unwrap().is_empty());
    }
}

#[test]
fn settings_choose_the_supervisor_where_nobody_else_does() {
    let lead = Lead::new();
    let settings = lead.home().join(".config/delegation.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "supervisor = \"slurm\"\n").unwrap();
    let dispatch = |more: &[&str]| {
        let mut command = lead.command(lead.dispatch_arguments("offline:survey", "look", more));
        // No directory that might hold programs of Slurm.
        Ran::from(command.arg("--json").env("PATH", lead.programs()).output().unwrap())
    };
    let ran = dispatch(&[]);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "supervisor_setup_failed"), "{ran:?}");
    assert_eq!(ran.answer()["task_record"], "not_created");
    assert!(ran.answer()["error"].as_str().unwrap().contains("sbatch"), "{ran:?}");
    assert_eq!(dispatch(&["--supervisor", "embedded"]).code, 0);
    fs::write(&settings, "supervisor = \"nobody\"\n").unwrap();
    let ran = dispatch(&["--supervisor", "embedded"]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "invalid_request"), "{ran:?}");
    assert!(ran.answer()["error"].as_str().unwrap().contains("delegation.toml"), "{ran:?}");
}

#[test]
fn a_root_that_can_not_be_used_is_refused() {
    let lead = Lead::new();
    for command in [&["status", ID][..], &["wait", ID], &["quickstart"]] {
        let ran = Lead::json(&lead, [command, &["--root", "relative"]].concat());
        assert_eq!((ran.code, ran.failure().as_str()), (2, "root_invalid"));
        assert_eq!(ran.answer()["command"], command[0]);
    }
}

#[test]
fn a_provider_that_does_not_exist_is_answered_with_the_nearest() {
    let lead = Lead::new();
    let ran = lead.json(["capabilities", "--provider", "codex:exce"]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "provider_unavailable"));
    let answer = ran.answer();
    assert_eq!(answer["capability"]["status"], "unsupported");
    assert!(answer["error"].as_str().unwrap().contains("codex:exec"));

    let ran = lead.run(["capabilities", "--provider", "codex"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean codex:exec?"), "{ran:?}");
}

#[test]
fn the_catalogue_is_the_same_for_people_and_programs() {
    let lead = Lead::new();
    let answer = lead.json(["providers"]).answer();
    let words = lead.run(["providers"]).stdout;
    let providers = answer["providers"].as_array().unwrap();
    assert!(!providers.is_empty());
    for provider in providers {
        let id = provider["id"].as_str().unwrap();
        assert!(words.contains(id), "{words}");
        assert_eq!(lead.run(["capabilities", "--provider", id]).code, 0);
    }
}

#[test]
fn a_reader_that_went_away_is_no_crash() {
    let lead = Lead::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = lead.command(["help"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn an_answer_that_can_not_be_written_is_a_fault() {
    let lead = Lead::new();
    for words in [&["help"][..], &["providers", "--json"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = lead.command(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    }
}

#[test]
fn standard_error_that_can_not_be_written_changes_nothing() {
    let lead = Lead::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = lead.command(["status"]).stderr(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
