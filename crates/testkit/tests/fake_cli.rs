//! The fake CLI does what its name says.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use testkit::fake::{self, Fake, Log, Process};

/// A fake with a home, a workspace and a brief. What it leaves running goes with it.
struct Place {
    files: TempDir,
    fake: Fake,
}

impl Place {
    fn new(name: &str) -> Self {
        let files = TempDir::new().unwrap();
        for folder in ["home", "workspace", "bin"] {
            fs::create_dir(files.path().join(folder)).unwrap();
        }
        let fake = fake::install(&files.path().join("bin"), name).unwrap();
        Self { files, fake }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.files.path().join(name)
    }

    fn log(&self) -> Log {
        Log::of(&self.path("home"))
    }

    fn command(&self, brief: &str) -> Command {
        let file = self.path("brief");
        fs::write(&file, brief).unwrap();
        let mut command = Command::new(self.fake.path());
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("DELEGATION_COOKIE", "cookie-1")
            .current_dir(self.path("workspace"))
            .stdin(File::open(file).unwrap());
        command
    }

    fn run(&self, brief: &str) -> Output {
        self.command(brief).output().unwrap()
    }

    /// Starts a turn that does not end by itself, with its output in a file.
    fn start(&self, brief: &str) -> Child {
        self.command(brief).stdout(File::create(self.path("stdout")).unwrap()).spawn().unwrap()
    }

    fn end(&self, mut child: Child, signal: Signal) -> (Option<i32>, Vec<u8>) {
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        (status.signal(), fs::read(self.path("stdout")).unwrap())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for process in self.log().escaped().iter().filter(|process| process.is_alive()) {
            let pid = Pid::from_raw(process.pid.cast_signed()).unwrap();
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn events(output: &[u8]) -> Vec<Value> {
    let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn kinds(output: &[u8]) -> Vec<String> {
    events(output).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_name_speaks_its_grammar() {
    let codex = Place::new("codex").run("[[fake: answer hello]]");
    assert_eq!(kinds(&codex.stdout), ["thread.started", "turn.started", "item.completed", "turn.completed"]);
    let pi = Place::new("pi").run("[[fake: answer hello]]");
    assert_eq!(kinds(&pi.stdout).last().unwrap(), "agent_settled");
    let claude = Place::new("claude").run("[[fake: answer hello]]");
    assert_eq!(kinds(&claude.stdout), ["system", "assistant", "result"]);
    let opencode = Place::new("opencode").run("[[fake: answer hello]]");
    assert_eq!(kinds(&opencode.stdout), ["step_start", "text", "step_finish"]);
    let agy = Place::new("agy").run("[[fake: answer hello]]");
    assert_eq!(events(&agy.stdout)[0]["status"], "SUCCESS");
    let worker = Place::new("anything").run("[[fake: answer hello]]");
    assert_eq!(kinds(&worker.stdout), ["session", "answer", "result"]);
    for output in [codex, pi, claude, opencode, agy, worker] {
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains("\"hello\""));
    }
}

#[test]
fn a_turn_is_recorded_and_a_probe_is_not() {
    let place = Place::new("codex");
    assert!(place.command("").arg("--version").output().unwrap().status.success());
    assert!(place.log().launches().is_empty());
    let last = place.path("last");
    let output =
        place.command("abc").args(["resume", "id-7", "--output-last-message"]).arg(&last).output().unwrap();
    assert_eq!(events(&output.stdout)[0]["thread_id"], "id-7");
    assert_eq!(fs::read_to_string(last).unwrap(), "The fake read 3 bytes.");
    let launches = place.log().wait_for_launches(1);
    let launch = &launches[0];
    assert_eq!(launch.environment_names, ["DELEGATION_COOKIE", "HOME"]);
    assert_eq!(launch.cookie.as_deref(), Some("cookie-1"));
    assert_eq!(Path::new(&launch.directory), fs::canonicalize(place.path("workspace")).unwrap());
    assert_eq!(launch.arguments[1..3], ["resume", "id-7"]);
    assert_eq!(launch.stdin_sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn probes_can_be_made_to_fail() {
    let place = Place::new("pi");
    let help =
        |place: &Place| String::from_utf8(place.command("").arg("--help").output().unwrap().stdout).unwrap();
    assert!(help(&place).contains("--thinking"));
    place.fake.configure("[[fake: help-lacks --thinking]] [[fake: version-text \"two\\nlines\"]]").unwrap();
    assert!(!help(&place).contains("--thinking") && help(&place).contains("--mode"));
    let version = place.command("").arg("--version").output().unwrap();
    assert_eq!(version.stdout, b"two\nlines\n");
    place.fake.configure("[[fake: probe-fails]]").unwrap();
    assert_eq!(place.command("").arg("--version").output().unwrap().status.code(), Some(1));
}

#[test]
fn silence_is_silence() {
    let place = Place::new("codex");
    for brief in ["[[fake: silent-forever]]", "[[fake: need-tty]]"] {
        let before = place.log().launches().len();
        let child = place.start(brief);
        let _ = place.log().wait_for_launches(before + 1);
        assert_eq!(place.end(child, Signal::TERM), (Some(15), Vec::new()), "{brief}");
    }
    let empty = place.run("[[fake: exit-0-empty]]");
    assert!(empty.status.success() && empty.stdout.is_empty());
}

#[test]
fn a_turn_is_held_open_until_a_file_is_there() {
    for behaviour in ["wait-for-file", "silent-then-final"] {
        let place = Place::new("worker");
        let go = place.path("go");
        let mut child = place.start(&format!("[[fake: {behaviour} {}]]", go.display()));
        let _ = place.log().wait_for_launches(1);
        assert!(child.try_wait().unwrap().is_none());
        fs::write(go, "").unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(kinds(&fs::read(place.path("stdout")).unwrap()), ["session", "answer", "result"]);
    }
}

#[test]
fn the_end_of_the_process_contradicts_the_stream() {
    let place = Place::new("codex");
    let output = place.run("[[fake: exit-1-after-final]]");
    assert_eq!(
        (output.status.code(), kinds(&output.stdout).last().unwrap().as_str()),
        (Some(1), "turn.completed")
    );
    let failed = place.run("[[fake: error-event \"no such luck\"]]");
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(events(&failed.stdout).last().unwrap()["error"]["message"], "no such luck");
}

#[test]
fn streams_break_where_they_should() {
    let place = Place::new("codex");
    let cut = place.run("[[fake: 64-KiB-cut]]");
    assert_eq!((cut.status.code(), cut.stdout.len()), (Some(0), 65_536));
    let chatter = place.run("[[fake: chatter-before-JSON]]");
    assert!(chatter.stdout.starts_with(b"npm notice"));
    let giant = place.run("[[fake: giant-line 100000]]");
    assert_eq!(events(&giant.stdout)[2]["item"]["text"].as_str().unwrap().len(), 100_000);
    let separators = place.run("[[fake: U+2028]]");
    assert!(String::from_utf8(separators.stdout).unwrap().contains('\u{2028}'));
    let split = place.run("[[fake: split-UTF-8]]");
    assert!(!String::from_utf8(split.stdout).unwrap().is_char_boundary(65_536));
}

#[test]
fn zeros_have_no_end() {
    let place = Place::new("codex");
    let mut child = place.command("[[fake: endless-zeros]]").stdout(Stdio::piped()).spawn().unwrap();
    let mut block = [1; 1 << 20];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut block).unwrap();
    assert!(block.iter().all(|byte| *byte == 0));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
}

#[test]
fn escaped_processes_outlive_the_turn() {
    for behaviour in ["setsid-escape", "setsid-escape scrubbed", "double-fork-holding-stdout"] {
        let place = Place::new("codex");
        // A pipe would stay open for as long as the process that was left behind.
        let child = place.start(&format!("[[fake: {behaviour}]]"));
        let own = Process::look_up(child.id());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let escaped = place.log().escaped();
        assert_eq!(escaped.len(), 1);
        assert!(escaped[0].is_alive() && Some(escaped[0]) != own);
        let environment = fs::read(format!("/proc/{}/environ", escaped[0].pid)).unwrap();
        let has_cookie = String::from_utf8_lossy(&environment).contains("DELEGATION_COOKIE=cookie-1");
        assert_eq!(has_cookie, !behaviour.ends_with("scrubbed"));
        let output = fs::read_link(format!("/proc/{}/fd/1", escaped[0].pid)).unwrap();
        assert_eq!(output.ends_with("stdout"), behaviour.ends_with("stdout"));
    }
}

#[test]
fn sigterm_can_be_ignored() {
    let place = Place::new("codex");
    let child = place.start("[[fake: ignores-SIGTERM]] [[fake: silent-forever]]");
    let _ = place.log().wait_for_launches(1);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let blocked = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let pending = blocked.lines().find(|line| line.starts_with("ShdPnd:")).unwrap();
    assert!(pending.ends_with("4000"), "the signal waits: {pending}");
    assert_eq!(place.end(child, Signal::KILL).0, Some(9));
}

#[test]
fn a_final_event_need_not_be_the_end() {
    for (behaviour, last) in [("final-then-hang", "turn.completed"), ("error-event-then-hang", "turn.failed")]
    {
        let place = Place::new("codex");
        let (reader, writer) = std::io::pipe().unwrap();
        let mut child = place.command(&format!("[[fake: {behaviour}]]")).stdout(writer).spawn().unwrap();
        let lines = std::io::BufRead::lines(std::io::BufReader::new(reader));
        let found = lines.map(Result::unwrap).find(|line| line.contains(last));
        assert!(found.is_some() && child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn conversation_model_and_items_can_be_wrong() {
    let codex = Place::new("codex");
    let output = codex.command("[[fake: other-session-id]]").args(["resume", "id-7"]).output().unwrap();
    assert_ne!(events(&output.stdout)[0]["thread_id"], "id-7");
    let unclosed = codex.run("[[fake: unclosed-items]]");
    assert_eq!(kinds(&unclosed.stdout)[2..], ["item.started", "item.completed", "turn.completed"]);
    assert_eq!(events(&unclosed.stdout)[3]["item"]["id"], "item_1");
    let pi = Place::new("pi").run("[[fake: other-model-name other-2]]");
    assert!(String::from_utf8(pi.stdout).unwrap().contains("\"responseModel\":\"other-2\""));
    let claude = Place::new("claude");
    let output =
        claude.command("[[fake: other-model-name other-2]]").args(["--session-id", "id-8"]).output().unwrap();
    let told = events(&output.stdout);
    assert_eq!((&told[0]["session_id"], &told[1]["message"]["model"]), (&"id-8".into(), &"other-2".into()));
    let unclosed = events(&claude.run("[[fake: unclosed-items]]").stdout);
    assert_eq!(unclosed[2]["subtype"], "task_started");
    let failed = claude.run("[[fake: error-event no]]");
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(events(&failed.stdout)[2]["is_error"], true);
    let prose = codex.run("[[fake: quota-words-in-prose]]");
    assert!(
        prose.status.success() && String::from_utf8(prose.stdout).unwrap().contains("usage limit reached")
    );
}

#[test]
fn deeds_are_done_and_noted() {
    let place = Place::new("codex");
    let outside = place.path("outside");
    let before = fs::read(place.fake.path()).unwrap();
    fs::write(place.path("workspace").join(fake::EXPENDABLE_FILE), "").unwrap();
    let brief = format!(
        "[[fake: writes-outside-workspace {}]] [[fake: writes-to-brief]] [[fake: re-invokes-tool /bin/true]] \
         [[fake: rewrites-own-binary]] [[fake: deletes-its-cwd]]",
        outside.display()
    );
    assert!(place.run(&brief).status.success());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "by the fake CLI\n");
    assert_ne!(fs::read(place.fake.path()).unwrap(), before);
    assert!(!place.path("workspace").exists());
    assert_eq!(place.log().wait_for_note("writes-to-brief"), "reopened changed, inherited refused");
    assert_eq!(place.log().wait_for_note("re-invokes-tool"), "exit status: 0");
}

#[test]
fn a_file_system_can_be_filled() {
    const TEST: &str = "a_file_system_can_be_filled";
    let place = Place::new("codex");
    let small = place.path("small");
    fs::create_dir(&small).unwrap();
    // Only the shell and the fake see the small file system; it goes with them.
    let script = "mount -t tmpfs -o size=1m none \"$1\" || exit 99; exec \"$2\"";
    let flag = if nix::unistd::geteuid().is_root() { "-m" } else { "-rm" };
    let brief = place.command(&format!("[[fake: ENOSPC-maker {}]]", small.display()));
    let status = Command::new("unshare")
        .args([flag, "sh", "-c", script, "sh"])
        .args([&small, place.fake.path()])
        .env("HOME", place.path("home"))
        .current_dir(brief.get_current_dir().unwrap())
        .stdin(File::open(place.path("brief")).unwrap())
        .stdout(Stdio::null())
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => assert_eq!(place.log().wait_for_note("ENOSPC-maker"), "full"),
        other => testkit::real::skip(TEST, &format!("no file system of its own: {other:?}")),
    }
}

#[test]
fn work_is_seen_as_work() {
    let place = Place::new("codex");
    let child = place.start("[[fake: burn-cpu]]");
    let _ = place.log().wait_for_launches(1);
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while ticks() < 5 {
        assert!(std::time::Instant::now() < deadline, "no processor time was used");
        std::thread::yield_now();
    }
    assert_eq!(place.end(child, Signal::TERM).0, Some(15));
}

#[test]
fn a_working_directory_that_is_not_expendable_stays() {
    let place = Place::new("codex");
    assert!(place.run("[[fake: deletes-its-cwd]]").status.success());
    assert!(place.path("workspace").exists());
    assert!(place.log().wait_for_note("deletes-its-cwd").starts_with("failed: "));
}

#[test]
fn only_the_browser_of_the_environment_is_opened() {
    let place = Place::new("codex");
    let child =
        place.command("[[fake: opens-browser]]").env("BROWSER", "/bin/false").stdout(Stdio::null()).spawn();
    let mut child = child.unwrap();
    assert_eq!(place.log().wait_for_note("opens-browser"), "/bin/false: exit status: 1");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The three documented envelopes of agy, and that a conversation has the shape that each CLI gives it.
#[test]
fn agy_and_opencode_fail_in_their_own_ways() {
    let agy = Place::new("agy");
    let failed = agy.run("[[fake: error-event \"authentication failed or timed out\"]]");
    let told = &events(&failed.stdout)[0];
    assert_eq!((&told["status"], &told["conversation_id"]), (&"ERROR".into(), &"".into()));
    assert_eq!(failed.status.code(), Some(1));
    let timed_out = agy.run("[[fake: stderr \"[agy] print timeout\"]] [[fake: answer part]]");
    assert_eq!(events(&timed_out.stdout)[0]["status"], "SUCCESS");
    assert_eq!(timed_out.stderr, b"[agy] print timeout\n");
    let continued = agy.command("x").args(["--conversation", "id-7"]).output().unwrap();
    assert_eq!(events(&continued.stdout)[0]["conversation_id"], "id-7");
    let opencode = Place::new("opencode");
    let failed = events(&opencode.run("[[fake: error-event no]]").stdout);
    assert_eq!(failed[1]["error"]["data"]["message"], "no");
    assert!(failed[1]["sessionID"].as_str().unwrap().starts_with("ses_"));
    let continued = opencode.command("x").args(["--session", "ses_7"]).output().unwrap();
    assert_eq!(events(&continued.stdout)[0]["sessionID"], "ses_7");
}

#[test]
fn markers_that_make_no_sense_are_refused() {
    let output = Place::new("codex").run("[[fake: dance]]");
    assert_eq!(output.status.code(), Some(64));
    assert!(output.stdout.is_empty());
}
