//! What the command line takes and what it refuses.

use std::ffi::OsString;

use record::words::{Permission, SupervisorKind};

use super::{Command, Ended, Globals, built, help, parse, parse_runner};
use crate::limits::HELP_COLUMNS;

const ID: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace()
        .map(|word| match word {
            "ID" => ID.into(),
            "OTHER" => OTHER.into(),
            word => word.into(),
        })
        .collect()
}

fn accepted(line: &str) -> (Globals, Command) {
    parse(&words(line)).unwrap_or_else(|ended| panic!("{line}: {ended:?}"))
}

fn refused(line: &str) -> (Option<String>, String, String) {
    match parse(&words(line)) {
        Err(Ended::Usage { command, error, text }) => (command, error, text),
        other => panic!("{line}: {other:?}"),
    }
}

const DISPATCH: &str = "dispatch --provider codex:exec --brief - --cwd /w";

#[test]
fn lines_that_are_taken() {
    for line in [
        "status ID",
        "status ID --json",
        "--json status ID",
        "--root /r status ID --json",
        "status --root=/r ID",
        "status -- ID",
        "logs ID",
        "logs ID --follow",
        "list",
        "list --state running --provider codex:exec --since 24h --limit 5",
        "events",
        "events --follow --since abc-1",
        "completions bash",
        "man",
        "man dispatch",
        "schema",
        "schema list-answer --json",
        "collect ID --watch 90s",
        "collect --watch=0 ID",
        "wait ID",
        "wait ID OTHER --any",
        "wait --all ID --watch 1h30m OTHER",
        "cancel ID --declare-lost --watch 5s",
        "providers --json",
        "capabilities --provider offline:survey",
        "quickstart",
        "quickstart --cwd . --brief b.md --provider pi:json",
        "help",
        "help dispatch",
        "help --json",
        "version",
        DISPATCH,
    ] {
        accepted(line);
    }
}

#[test]
fn lines_that_are_refused() {
    for line in [
        "bogus",
        "list extra",
        "list --limit 0",
        "list --limit 3001",
        "list --state done",
        "events --since",
        "completions",
        "completions csh",
        "man dispatch extra",
        "mcp",
        "--bogus",
        "--json",
        "--root /r",
        "status",
        "status ID OTHER",
        "status 0123",
        "status ID --bogus",
        "status ID -json",
        "status ID -root /r",
        "status ID --watch 5s",
        "status ID --json=true",
        "status ID --root",
        "--root /a --root /b status ID",
        "--root /a status ID --root /a",
        "--json status ID --json",
        "status ID --json --json",
        "--supervisor embedded status --supervisor embedded ID",
        "status ID --supervisor cron",
        "wait",
        "wait ID --all --any",
        "collect ID --watch -1s",
        "collect ID --watch 5",
        "capabilities",
        "capabilities --provider codex",
        "providers extra",
        "version extra",
        "quickstart extra",
        "dispatch",
        "dispatch --provider codex:exec --brief b.md",
    ] {
        refused(line);
    }
    for flags in [
        "--brief b.md",
        "--wait --wait",
        "--watch 5s",
        "--permission all",
        "--fence maybe",
        "--budget soon",
        "--max-output 0",
        "--max-output 1MB",
        "--id xyz",
        "--auto",
        "--lane",
        "--allow-provisional yes",
        "positional",
    ] {
        refused(&format!("{DISPATCH} {flags}"));
    }
}

#[test]
fn dispatch_has_the_documented_defaults() {
    let (globals, Command::Dispatch(dispatch)) = accepted(DISPATCH) else {
        panic!("another command");
    };
    assert_eq!(dispatch.mode.permission, Permission::ReadOnly);
    assert_eq!(dispatch.mode.budget.to_string(), "30m0s");
    assert_eq!(dispatch.lease_wait.to_string(), "1h0m0s");
    assert_eq!(dispatch.max_output.bytes(), 268_435_456);
    assert_eq!((dispatch.first_output, dispatch.start_by, dispatch.following.watch), (None, None, None));
    assert!(!dispatch.following.wait && !globals.json && globals.supervisor.is_none());
}

#[test]
fn limits_are_off_unless_they_are_asked_for() {
    let limits = |flags: &str| {
        let (_, Command::Dispatch(dispatch)) = accepted(&format!("{DISPATCH} {flags}")) else {
            panic!("another command");
        };
        (dispatch.memory.map(record::ByteSize::bytes), dispatch.pids, dispatch.cpus)
    };
    assert_eq!(limits(""), (None, None, None));
    assert_eq!(limits("--memory 2GiB --pids 64 --cpus 3"), (Some(2 << 30), Some(64), Some(3)));
    for flags in ["--memory 0", "--memory much", "--pids 0", "--cpus 0", "--cpus 1.5"] {
        refused(&format!("{DISPATCH} {flags}"));
    }
}

#[test]
fn a_lane_and_the_leads_word_for_it() {
    let (_, Command::Dispatch(dispatch)) =
        accepted(&format!("{DISPATCH} --lane builder --allow-provisional"))
    else {
        panic!("another command");
    };
    assert_eq!((dispatch.lane.lane.as_deref(), dispatch.lane.allow_provisional), (Some("builder"), true));
    let (_, Command::Dispatch(dispatch)) = accepted(DISPATCH) else { panic!("another command") };
    assert_eq!((dispatch.lane.lane, dispatch.lane.allow_provisional), (None, false));
}

#[test]
fn a_value_that_begins_with_a_dash_is_a_value() {
    let (_, Command::Dispatch(dispatch)) = accepted(&format!("{DISPATCH} --model --effort")) else {
        panic!("another command");
    };
    assert_eq!(dispatch.wishes.model.as_deref(), Some("--effort"));
    assert_eq!(dispatch.brief.as_os_str(), "-");
}

#[test]
fn globals_count_from_both_places() {
    let (globals, _) = accepted("--root /r --json status ID --supervisor slurm");
    assert_eq!(globals.root.as_deref(), Some("/r".as_ref()));
    assert_eq!(globals.supervisor, Some(SupervisorKind::Slurm));
    assert!(globals.json);
}

#[test]
fn a_usage_error_is_a_complaint_an_empty_line_and_the_usage() {
    for line in ["--root /a status ID --root /b", "status", "status 0123", "bogus", "--json", "dispatch"] {
        let (_, error, text) = refused(line);
        assert!(text.starts_with("error: "), "{text}");
        assert_eq!(text.matches("\n\nUsage: delegate ").count(), 1, "{text}");
        assert!(!error.is_empty() && !error.contains('\n') && !error.starts_with("error"));
    }
}

#[test]
fn a_usage_error_names_the_command_it_belongs_to() {
    for (line, expected) in [
        ("status", Some("status")),
        ("--root /r --json status", Some("status")),
        ("--root status collect --bogus", Some("collect")),
        ("--root=/r wait", Some("wait")),
        ("--json status ID --json", Some("status")),
        ("bogus status", None),
        ("--bogus", None),
    ] {
        assert_eq!(refused(line).0.as_deref(), expected, "{line}");
    }
}

#[test]
fn control_characters_of_a_word_are_made_visible() {
    let ended = parse(&["status".into(), "\u{1b}[31m\u{7}x\u{202e}".into()]);
    let Err(Ended::Usage { error, text, .. }) = ended else {
        panic!("{ended:?}");
    };
    for shown in [&error, &text] {
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown}");
        assert!(shown.contains("x\\u{202e}"), "{shown}");
    }
}

#[test]
fn help_and_version_end_without_a_command() {
    for line in ["", "-h", "--help", "status -h", "dispatch --help", "--json --help"] {
        assert!(matches!(parse(&words(line)), Err(Ended::Help(_))), "{line}");
    }
    assert!(matches!(parse(&words("--version --json")), Err(Ended::Version)));
    assert!(matches!(parse(&words("-V")), Err(Ended::Version)));
    assert!(refused("continue ID").2.contains("tip: the task is named by '--task <ID>'"));
    assert!(!refused("continue --bogus").2.contains("--task <ID>'"));
}

#[test]
fn help_names_every_command_and_nothing_that_is_not_there() {
    let text = help(None).unwrap();
    for word in [
        "dispatch",
        "status",
        "collect",
        "wait",
        "logs",
        "cancel",
        "providers",
        "capabilities",
        "continue",
        "preflight",
        "models",
        "doctor",
        "prune",
        "verify",
        "quickstart",
        "help",
        "version",
        "First steps:",
    ] {
        assert!(text.contains(word), "{word}");
    }
    for word in ["mcp", "__"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(help(Some("dispatch")).unwrap().contains("--provider"));
    assert!(help(Some("bogus")).is_none());
}

#[test]
fn the_runner_takes_a_root_and_a_task() {
    let line = parse_runner(&words("--root /r ID")).unwrap();
    assert_eq!((line.root.to_str(), line.task.to_string().as_str(), line.json), (Some("/r"), ID, false));
    assert!(parse_runner(&words("ID --root=/r --json")).unwrap().json);
    for line in ["", "ID", "--root /r", "--root /r ID OTHER", "--root /r --root /r ID"] {
        let ended = parse_runner(&words(line));
        assert!(matches!(ended, Err(Ended::Usage { .. })), "{line}");
    }
}

#[test]
fn help_and_usage_fit_a_terminal() {
    let program = built();
    let words = program.get_subcommands().map(|command| command.get_name().to_owned());
    let mut texts: Vec<String> = words.map(|word| help(Some(&word)).unwrap()).collect();
    texts.push(help(None).unwrap());
    texts.extend(["dispatch", "status", "bogus", "list --state x"].map(|line| refused(line).2));
    for text in texts {
        for line in anstream::adapter::strip_str(&text).to_string().lines() {
            assert!(line.chars().count() <= HELP_COLUMNS, "{line}");
        }
    }
}

#[test]
fn the_usage_of_a_command_names_everything_that_it_needs() {
    for command in built().get_subcommands_mut() {
        let usage = command.render_usage().to_string();
        let required = command.get_arguments().filter(|argument| argument.is_required_set());
        let either = command.get_groups().filter(|group| group.is_required_set());
        let either = either.flat_map(|group| group.get_args()).map(|id| id.as_str().to_owned());
        let names = required.map(|argument| {
            argument
                .get_long()
                .map_or_else(|| argument.get_value_names().unwrap_or_default()[0].to_string(), str::to_owned)
        });
        for name in names.chain(either) {
            assert!(usage.contains(&name), "{name}: {usage}");
        }
    }
    let (_, error, text) = refused("dispatch --brief b.md --cwd /w");
    assert!(error.contains("--provider") && error.contains("--auto"), "{error}");
    assert!(text.contains("(--provider <NAME> | --auto)"), "{text}");
}

#[test]
fn what_is_too_large_is_told_the_most() {
    let lines = [
        (DISPATCH, &["--budget", "--native-timeout", "--first-output", "--start-by", "--lease-wait"][..]),
        (&format!("{DISPATCH} --wait"), &["--watch"]),
        ("continue --task ID", &["--budget", "--native-timeout"]),
        ("continue --task ID --wait", &["--watch"]),
        ("preflight --provider codex:exec --cwd /w", &["--budget", "--native-timeout"]),
        ("collect ID", &["--watch"]),
        ("wait ID", &["--watch"]),
        ("cancel ID", &["--watch"]),
        ("list", &["--since"]),
        ("prune", &["--older-than"]),
    ];
    for (line, flags) in lines {
        for (flag, value) in flags.iter().flat_map(|flag| [(flag, "99999999999d"), (flag, "99999999999h")]) {
            let (_, error, _) = refused(&format!("{line} {flag} {value}"));
            assert!(error.contains(flag) && error.contains("at most 2562047h"), "{error}");
        }
    }
    for (flag, value) in
        [("--max-output", "99999999999GiB"), ("--memory", "99999999999GiB"), ("--memory", "1TiB")]
    {
        let (_, error, _) = refused(&format!("{DISPATCH} {flag} {value}"));
        assert!(error.contains(flag) && error.contains("at most 17179869183GiB"), "{error}");
    }
}
