//! The command line: forms, exit codes, what is printed where.

mod support;

use std::path::PathBuf;

use patch::{Environment, Surroundings};
use support::{GOOD, Repository, arguments};

struct Run {
    code: u8,
    out: String,
    errors: String,
}

fn run_in(environment: &Environment, words: &[&str]) -> Run {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let code = patch::main_entry(arguments(words), environment, &mut out, &mut errors);
    Run { code, out: String::from_utf8(out).unwrap(), errors: String::from_utf8(errors).unwrap() }
}

fn environment(repository: &Repository) -> Environment {
    Environment { surroundings: repository.surroundings(), policy_file: None, program: None }
}

fn run(repository: &Repository, words: &[&str]) -> Run {
    run_in(&environment(repository), words)
}

#[test]
fn help() {
    let repository = Repository::new();
    for words in [&[][..], &["-h"], &["--help"]] {
        let run = run(&repository, words);
        assert_eq!((run.code, run.errors.as_str()), (0, ""));
        assert!(run.out.starts_with("usage: delegation-patch-verify check"));
    }
}

#[test]
fn a_wrong_command_line_is_64() {
    let repository = Repository::new();
    let patch = repository.patch(GOOD);
    let (patch, work) = (patch.to_str().unwrap(), repository.work());
    let work = work.to_str().unwrap();
    for (words, message) in [
        (&["apply"][..], "unknown command"),
        (&["--json"], "unknown command"),
        (&["policy", "--text"], "unknown argument of policy"),
        (&["check", "--patch", patch, "--workdir", work, "--apply"], "unknown argument of check"),
        (&["check", patch], "unknown argument of check"),
        (&["check"], "--patch is missing"),
        (&["check", "--workdir", work], "--patch is missing"),
        (&["check", "--patch", patch], "--workdir is missing"),
        (&["check", "--patch", "", "--workdir", ""], "--patch is missing"),
        (&["check", "--patch", patch, "--workdir", ""], "--workdir is missing"),
        (&["check", "--workdir", work, "--patch"], "--patch needs a value"),
        (&["check", "--patch", patch, "--workdir"], "--workdir needs a value"),
    ] {
        let run = run(&repository, words);
        assert_eq!((run.code, run.out.as_str()), (64, ""), "{words:?}");
        assert!(run.errors.starts_with(&format!("delegation-patch-verify: {message}\n")), "{}", run.errors);
    }
}

#[test]
fn verdicts_and_flags_in_any_order() {
    let repository = Repository::new();
    let patch = repository.patch(GOOD);
    let (patch, work) = (patch.to_str().unwrap(), repository.work());
    let work = work.to_str().unwrap();
    for words in [
        &["check", "--patch", patch, "--workdir", work, "--json"][..],
        &["check", "--json", "--allow-delete", "--workdir", work, "--patch", patch],
    ] {
        let run = run(&repository, words);
        assert_eq!((run.code, run.errors.as_str()), (0, ""));
        let receipt: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(receipt["verdict"], "accepted");
    }
    let text = run(&repository, &["check", "--patch", patch, "--workdir", work]);
    for phrase in [
        "strip level: -p1",
        "fixed by the git-prefixed header shape",
        "the lead applies it with -p1 and runs the tests",
    ] {
        assert_eq!(text.out.lines().filter(|line| line.contains(phrase)).count(), 1, "{phrase}");
    }
    repository.patch(GOOD.replace("-two", "-2"));
    assert_eq!(run(&repository, &["check", "--patch", patch, "--workdir", work]).code, 65);
}

#[test]
fn missing_inputs_are_66_with_one_line() {
    let repository = Repository::new();
    let patch = repository.patch(GOOD);
    let (patch, work) = (patch.to_str().unwrap(), repository.work());
    let work = work.to_str().unwrap();
    let missing = repository.root().join("missing");
    let missing = missing.to_str().unwrap();
    std::os::unix::fs::symlink("nowhere", repository.root().join("dangling")).unwrap();
    let dangling = repository.root().join("dangling");
    let dangling = dangling.to_str().unwrap();
    for (patch, work) in [(missing, work), (dangling, work), (patch, missing), (patch, dangling)] {
        let run = run(&repository, &["check", "--patch", patch, "--workdir", work, "--json"]);
        assert_eq!((run.code, run.out.as_str()), (66, ""));
        assert_eq!(run.errors.lines().count(), 1);
    }
}

#[test]
fn the_start_is_checked_before_the_command() {
    let repository = Repository::new();
    let file = |text: &str| {
        let path = repository.root().join("policy.json");
        std::fs::write(&path, text).unwrap();
        Environment { policy_file: Some(path), ..environment(&repository) }
    };
    let nowhere = Surroundings { search_path: None, ..repository.surroundings() };
    let no_git = Environment { surroundings: nowhere, ..environment(&repository) };
    let missing = Environment { policy_file: Some(PathBuf::from("/nowhere")), ..environment(&repository) };
    let embedded = support::embedded().json();
    let without = |key: &str| {
        let mut policy: serde_json::Value = serde_json::from_str(&embedded).unwrap();
        let (parent, name) = key.rsplit_once('/').unwrap();
        policy.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
        policy.to_string()
    };
    let mut cases = vec![(no_git, 69), (missing, 66)];
    for unusable in [
        "no JSON".to_owned(),
        "{}".to_owned(),
        without("/limits/max_files"),
        without("/operations/delete"),
        without("/paths/allowed_pattern"),
        without("/file_modes/new_file_allowed"),
        without("/policy_version"),
        embedded.replace("\"max_files\": 50", "\"max_files\": 0"),
        embedded.replace("\"max_files\": 50", "\"max_files\": -1"),
        embedded.replace("\"max_files\": 50", "\"max_files\": \"50\""),
        embedded.replacen("^[A-Za-z0-9._]", "^[", 1),
    ] {
        cases.push((file(&unusable), 65));
        let (environment, code) = cases.last().unwrap();
        for words in [&["--help"][..], &["policy"], &["nonsense"]] {
            let run = run_in(environment, words);
            assert_eq!(
                (run.code, run.out.as_str(), run.errors.lines().count()),
                (*code, "", 1),
                "{unusable}"
            );
        }
    }
    for (environment, code) in &cases[..2] {
        assert_eq!(run_in(environment, &["--help"]).code, *code);
    }
}

#[test]
fn the_policy_is_printed() {
    let repository = Repository::new();
    let json = run(&repository, &["policy", "--json"]);
    assert_eq!((json.code, json.out), (0, support::embedded().json()));
    let text = run(&repository, &["policy"]).out;
    let policy = support::embedded().policy;
    for (name, value) in policy.limits.named() {
        assert!(text.contains(&format!("{name} = {value}\n")));
    }
    for class in &policy.paths.denied_patterns {
        assert!(text.contains(&format!("denied_path:{}: {}\n", class.id, class.reason)));
    }
    assert!(text.contains("applied by lead") && text.contains("delete = denied-by-default"));
}

#[test]
fn an_installation_brings_its_policy() {
    let repository = Repository::new();
    let install = repository.root().join("install");
    for directory in ["bin", "config"] {
        std::fs::create_dir_all(install.join(directory)).unwrap();
    }
    let program = install.join("bin/delegation-patch-verify");
    std::fs::write(&program, "").unwrap();
    let environment = Environment { program: Some(program), ..environment(&repository) };
    let printed = |environment: &Environment| run_in(environment, &["policy"]).out;
    assert!(printed(&environment).contains(patch::EMBEDDED_NAME));
    let own = support::embedded().json().replace("1.0.0", "9.9.9");
    std::fs::write(install.join("config/external-patch-policy.json"), own).unwrap();
    assert!(printed(&environment).starts_with("patch policy 9.9.9"));
    // A broken installation is told, not passed over.
    std::fs::write(install.join("config/external-patch-policy.json"), "{").unwrap();
    assert_eq!(run_in(&environment, &["policy"]).code, 65);
}

#[test]
fn an_answer_that_can_not_be_printed_is_no_acceptance() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let repository = Repository::new();
    let patch = repository.patch(GOOD);
    let work = repository.work();
    let words = ["check", "--patch", patch.to_str().unwrap(), "--workdir", work.to_str().unwrap()];
    let code = patch::main_entry(arguments(&words), &environment(&repository), &mut Closed, &mut Vec::new());
    assert_ne!(code, 0);
}
