//! What is in a root and what happened in it: `list`, `events`, `logs --follow`.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use support::{Lead, Ran, until};
use testkit::stored::StoredTask;
use testkit::watch::until_below;

/// A turn to its end.
fn ended(lead: &Lead, provider: &str, brief: &str) -> String {
    let ran = lead.turn(provider, brief, &[]);
    ran.answer()["task_id"].as_str().unwrap().to_owned()
}

/// A turn that goes on until the file is there.
fn held(lead: &Lead, file: &str) -> String {
    let path = lead.home().join(".cache").join(file);
    let id = lead.dispatch(
        "codex:exec",
        &format!("[[fake: wait-for-file {}]] [[fake: answer done]]", path.display()),
        &[],
    );
    let directory = lead.task_directory(&id);
    until_below(&directory, "its first output", || {
        let size = fs::metadata(directory.join("raw/stdout")).ok()?.len();
        (size > 0).then_some(())
    });
    id
}

fn release(lead: &Lead, file: &str) {
    fs::create_dir_all(lead.home().join(".cache")).unwrap();
    fs::write(lead.home().join(".cache").join(file), "").unwrap();
}

fn list(lead: &Lead, more: &[&str]) -> Value {
    let ran = lead.json([&["list"], more].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.answer()
}

fn ids(listing: &Value) -> Vec<String> {
    let tasks = listing["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
}

fn lines(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A command that follows something.
struct Follower {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Follower {
    fn of(lead: &Lead, words: &[&str]) -> Self {
        let mut child = lead.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// How it ends by itself.
    fn code(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

#[test]
fn the_newest_tasks_come_first() {
    let lead = Lead::new();
    let first = ended(&lead, "codex:exec", "[[fake: answer one]]");
    let second = ended(&lead, "pi:json", "[[fake: error-event no]]");
    let third = held(&lead, "go");

    let listing = list(&lead, &[]);
    assert_eq!(ids(&listing), [third.as_str(), &second, &first]);
    assert_eq!(listing["truncated"], false);
    let states: Vec<&str> =
        listing["tasks"].as_array().unwrap().iter().map(|task| task["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["running", "rejected", "committed"]);
    let task = |index: usize| &listing["tasks"][index];
    assert_eq!((task(0).get("ended_at"), task(0).get("reason")), (None, None));
    assert_eq!(task(1)["reason"], "provider-failed");
    assert_eq!((&task(2)["reason"], &task(2)["provider"]), (&"completed".into(), &"codex:exec".into()));
    assert!(task(2)["ended_at"].as_str() > task(2)["admitted_at"].as_str());

    for (filter, expected) in [
        (&["--state", "running"][..], vec![&third]),
        (&["--state", "queued"], vec![]),
        (&["--state", "rejected"], vec![&second]),
        (&["--state", "committed"], vec![&first]),
        (&["--provider", "pi:json"], vec![&second]),
        (&["--provider", "codex:exec"], vec![&third, &first]),
        (&["--provider", "codex:exec", "--state", "committed"], vec![&first]),
        (&["--since", "1h"], vec![&third, &second, &first]),
        (&["--since", "0s"], vec![]),
    ] {
        assert_eq!(
            ids(&list(&lead, filter)),
            expected.into_iter().cloned().collect::<Vec<_>>(),
            "{filter:?}"
        );
    }
    let two = list(&lead, &["--limit", "2"]);
    assert_eq!((ids(&two), &two["truncated"]), (vec![third.clone(), second.clone()], &true.into()));
    assert_eq!(list(&lead, &["--limit", "3"])["truncated"], false);

    let ran = lead.run(["list", "--limit", "2"]);
    let shown: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(shown.len(), 3, "{ran:?}");
    assert!(shown[1].starts_with(&third) && shown[1].ends_with("running"), "{ran:?}");
    assert!(shown[2].ends_with("pi:json     rejected: provider-failed"), "{ran:?}");
    assert!(ran.stderr.contains("--limit"), "{ran:?}");

    release(&lead, "go");
    assert_eq!(lead.collect(&third).code, 0);
    assert_eq!(list(&lead, &["--state", "running"])["tasks"], Value::Array(Vec::new()));
}

#[test]
fn a_list_starts_nothing_and_needs_no_root() {
    let lead = Lead::new();
    let listing = list(&lead, &[]);
    assert_eq!((listing.get("root_id"), &listing["tasks"]), (None, &Value::Array(Vec::new())));
    let ran = lead.run(["list"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("the first dispatch makes it"), "{ran:?}");
    assert!(!lead.root().exists());

    let id = held(&lead, "go");
    support::kill(lead.supervisor().unwrap(), "KILL");
    until("the supervisor to be gone", || lead.supervisor().is_none().then_some(()));
    assert_eq!(ids(&list(&lead, &[])), [id.as_str()]);
    assert_eq!(lead.json(["events"]).code, 0);
    assert_eq!(lead.supervisor(), None);
    release(&lead, "go");
    assert_eq!(lead.collect(&id).code, 0);
}

#[test]
fn an_open_task_is_listed_although_the_journal_does_not_tell_of_it() {
    let lead = Lead::new();
    let first = ended(&lead, "codex:exec", "[[fake: answer one]]");
    let journal = lead.root().join("journal.ndjson");
    let before = fs::read(&journal).unwrap();
    let second = held(&lead, "go");
    fs::write(&journal, before).unwrap();
    assert_eq!(ids(&list(&lead, &[])), [second.as_str(), &first]);
    assert_eq!(ids(&list(&lead, &["--limit", "1"])), [second.as_str()]);
    fs::remove_file(&journal).unwrap();
    assert_eq!(ids(&list(&lead, &[])), [second.as_str()]);
    release(&lead, "go");
    assert_eq!(lead.collect(&second).code, 0);
    assert_eq!(lead.json(["doctor", "--repair"]).code, 0);
    assert_eq!(ids(&list(&lead, &[])), [second.as_str(), &first]);
}

/// Whether something lists a directory meanwhile; `None` where the file system does not tell.
fn lists(directory: &Path, work: impl Fn()) -> Option<bool> {
    let accessed = || directory.metadata().unwrap().accessed().unwrap();
    let sees = |work: &dyn Fn()| {
        // So long ago that reading sets it even where that is done rarely.
        let long_ago = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
        fs::File::open(directory).unwrap().set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
        let before = accessed();
        work();
        accessed() != before
    };
    sees(&|| assert!(fs::read_dir(directory).unwrap().count() > 0)).then(|| sees(&work))
}

#[test]
fn looking_at_one_task_or_at_the_newest_lists_no_directory_of_tasks() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec", "[[fake: answer one]]");
    StoredTask::read(&lead.root(), &id).unwrap().copy(200).unwrap();
    let end = list(&lead, &[])["cursor"].as_str().unwrap().to_owned();
    let listed = lists(&lead.root().join("tasks"), || {
        assert_eq!(ids(&list(&lead, &[])).len(), 20);
        assert_eq!(lead.json(["status", &id]).code, 0);
        assert_eq!(lead.json(["collect", &id]).code, 0);
        assert_eq!(lead.json(["events", "--since", &end]).code, 0);
    });
    match listed {
        Some(listed) => assert!(!listed),
        None => eprintln!("not tried: this file system does not tell when a directory is listed"),
    }
}

#[test]
fn a_damaged_task_is_listed_as_undetermined() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec", "[[fake: answer one]]");
    fs::write(lead.task_directory(&id).join("outcome.json"), "{").unwrap();
    let listing = list(&lead, &[]);
    assert_eq!(listing["tasks"][0]["state"], "undetermined");
    assert_eq!(listing["tasks"][0]["provider"], "codex:exec");
}

#[test]
fn events_go_on_behind_a_cursor() {
    let lead = Lead::new();
    let first = ended(&lead, "codex:exec", "[[fake: answer one]]");
    let told = lines(&lead.run(["events"]));
    let kinds: Vec<&str> = told.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["admitted", "launched", "sealed", "published"]);
    assert!(told.iter().all(|line| line["task_id"] == first.as_str()));
    assert_eq!((&told[0]["detail"], &told[3]["detail"]), (&"codex:exec".into(), &"completed".into()));

    let cursor = told[1]["cursor"].as_str().unwrap();
    assert_eq!(lines(&lead.json(["events", "--since", cursor])), told[2..]);
    let end = list(&lead, &[])["cursor"].as_str().unwrap().to_owned();
    assert_eq!(told[3]["cursor"], end.as_str());
    assert_eq!(lines(&lead.json(["events", "--since", &end])), Vec::<Value>::new());

    let ran = lead.json(["events", "--since", "nonsense"]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "invalid_request"));
    let other = format!("{}-{}", "0".repeat(32), 100);
    let ran = lead.json(["events", "--since", &other]);
    assert_eq!((ran.code, ran.failure().as_str()), (2, "cursor_expired"));
    let ran = lead.run(["events", "--since", &other]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("begin without --since"), "{ran:?}");
}

#[test]
fn a_follower_is_told_what_comes_later() {
    let lead = Lead::new();
    ended(&lead, "codex:exec", "[[fake: answer one]]");
    let end = list(&lead, &[])["cursor"].as_str().unwrap().to_owned();
    let mut follower = Follower::of(&lead, &["events", "--follow", "--json", "--since", &end]);
    let id = ended(&lead, "codex:exec", "[[fake: answer two]]");
    for kind in ["admitted", "launched", "sealed", "published"] {
        let line = follower.next();
        assert_eq!((&line["task_id"], &line["event"]), (&id.as_str().into(), &kind.into()));
    }
    // Another journal is another history.
    let journal = lead.root().join("journal.ndjson");
    let text = fs::read_to_string(&journal).unwrap();
    let copy = lead.root().join("copy");
    fs::write(&copy, text.lines().take(1).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    fs::rename(copy, journal).unwrap();
    let line = follower.next();
    assert_eq!(line["failure"]["code"], "cursor_expired");
    assert_eq!(follower.code(), 2);
}

#[test]
fn a_follower_ends_with_its_reader() {
    let lead = Lead::new();
    let id = held(&lead, "go");
    for words in [&["events", "--follow"][..], &["logs", &id, "--follow", "--json"]] {
        let mut follower = Follower::of(&lead, words);
        follower.next();
        let Follower { mut child, lines } = follower;
        drop(lines);
        // It hears of nothing but the loss of its reader.
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}");
    }
    release(&lead, "go");
    assert_eq!(lead.collect(&id).code, 0);
}

#[test]
fn raw_output_is_followed_to_the_end() {
    let lead = Lead::new();
    let id = held(&lead, "go");
    let mut follower = Follower::of(&lead, &["logs", &id, "--follow", "--json"]);
    let mut text = String::new();
    let mut line = follower.next();
    assert_eq!((&line["stream"], &line["offset"]), (&"stdout".into(), &0.into()));
    release(&lead, "go");
    while line.get("command").is_none() {
        assert_eq!(line["task_id"], id.as_str());
        assert_eq!(line["offset"], text.len());
        text.push_str(line["text"].as_str().unwrap());
        assert_eq!(line["offset"].as_u64().unwrap() + line["length"].as_u64().unwrap(), text.len() as u64);
        line = follower.next();
    }
    assert_eq!(text, fs::read_to_string(lead.task_directory(&id).join("raw/stdout")).unwrap());
    assert_eq!((&line["command"], &line["publication"]), (&"logs".into(), &"committed".into()));
    assert_eq!(follower.code(), 0);

    let ran = lead.run(["logs", &id, "--follow"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, text.as_str()));
    assert!(ran.stderr.contains("committed"), "{ran:?}");
    let ran = lead.json(["logs", &"0".repeat(32), "--follow"]);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "task_not_found"));
}

#[test]
fn the_two_streams_are_kept_apart() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec", "[[fake: stderr beware]] [[fake: answer fine]]");
    let ran = lead.run(["logs", &id, "--follow"]);
    assert!(ran.stderr.contains("beware") && !ran.stdout.contains("beware"), "{ran:?}");
    let told = lines(&lead.json(["logs", &id, "--follow"]));
    let streams: Vec<&str> = told.iter().filter_map(|line| line["stream"].as_str()).collect();
    assert_eq!(streams, ["stdout", "stderr"]);
}

#[test]
fn a_queued_task_is_followed_from_its_first_byte() {
    let lead = Lead::with_slots(1);
    let first = held(&lead, "go");
    let second = lead.dispatch("codex:exec", "[[fake: answer later]]", &[]);
    let mut child = lead
        .command(["logs", &second, "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert_eq!(line, "queued\n");
    release(&lead, "go");
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("later"), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(lead.collect(&first).code, 0);
}

#[test]
fn colour_is_for_those_who_want_it() {
    let lead = Lead::new();
    ended(&lead, "codex:exec", "[[fake: answer one]]");
    let text = |words: &[&str], variables: &[(&str, &str)]| {
        let output = lead.command(words).envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let forced = [("CLICOLOR_FORCE", "1")];
    assert!(!text(&["list"], &[]).contains('\u{1b}'));
    assert!(text(&["list"], &forced).contains("\u{1b}[32mcommitted"));
    assert!(!text(&["list"], &[("NO_COLOR", "1")]).contains('\u{1b}'));
    for words in [&["list", "--json"][..], &["help", "list", "--json"], &["version", "--json"]] {
        let json = text(words, &forced);
        assert!(!json.contains('\u{1b}') && !json.contains("\\u001b"), "{json}");
    }
}
