//! The verifier against `git apply --check` alone, and the grammar against a clock; fails when a bar is missed.
//!
//! `cargo run --release -p patch --example bench [PAIRS]`. A run of the verifier and one of git make a pair, and the
//! median of the pairs' ratios counts. Where the caller may and `chrt` is there, all of it runs at real-time priority, so that
//! what else the machine does stands aside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use patch::{Findings, LoadedPolicy};

/// The first word by which the bench runs itself as the verifier.
const VERIFY: &str = "verify";
/// The first word by which it runs itself at another priority.
const MEASURE: &str = "measure";
const REAL_TIME: [&str; 2] = ["-f", "50"];
const PAIRS: usize = 100;
/// So many times as many pairs of what takes so much less time; after them the large case's files are not new any more.
const SMALL_FACTOR: usize = 4;
const ONE_HUNK_MAX_RATIO: f64 = 4.0;
const MANY_FILES_MAX_RATIO: f64 = 2.0;
const PARSER_MIN_MEGABYTES_PER_SECOND: f64 = 300.0;
const PARSER_TEXT_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|word| word == VERIFY).is_some() {
        let environment = patch::Environment::of_process();
        let (mut out, mut errors) = (std::io::stdout().lock(), std::io::stderr().lock());
        return ExitCode::from(patch::main_entry(arguments, &environment, &mut out, &mut errors));
    }
    if arguments.next_if(|word| word == MEASURE).is_none() && may_run_in_real_time() {
        let program = std::env::current_exe().expect("this program");
        let status = Command::new("chrt").args(REAL_TIME).arg(program).arg(MEASURE).args(arguments).status();
        return if status.is_ok_and(|status| status.success()) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let pairs = arguments.next().and_then(|word| word.to_str()?.parse().ok()).unwrap_or(PAIRS);
    let ground = Ground::new();
    let small = ground.repository("small", 1, 3);
    let large = ground.repository("large", 1000, 24);
    let passed = [
        parser(),
        Ground::compare("one hunk", &small, None, pairs * SMALL_FACTOR, ONE_HUNK_MAX_RATIO),
        Ground::compare("1,000 files, 1 MB", &large, Some(ground.policy()), pairs, MANY_FILES_MAX_RATIO),
    ];
    if passed.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn may_run_in_real_time() -> bool {
    let tried = Command::new("chrt").args(REAL_TIME).arg("true").stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

struct Ground {
    directory: tempfile::TempDir,
}

struct Case {
    workdir: PathBuf,
    patch: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { directory: tempfile::tempdir().expect("a directory") };
        let mut policy: serde_json::Value =
            serde_json::from_str(&LoadedPolicy::embedded().expect("a policy").json()).expect("JSON");
        for (_, limit) in policy["limits"].as_object_mut().expect("limits") {
            *limit = (1_u64 << 30).into();
        }
        fs::write(ground.policy(), policy.to_string()).expect("a policy");
        ground
    }

    fn policy(&self) -> PathBuf {
        self.directory.path().join("policy.json")
    }

    /// A repository of `files` files, and a patch with one hunk of about `lines` lines for each.
    fn repository(&self, name: &str, files: usize, lines: usize) -> Case {
        let workdir = self.directory.path().join(name);
        let mut text = String::new();
        for file in 0..files {
            let path = format!("src/part{}/file{file}.txt", file / 50);
            let old: Vec<String> =
                (0..lines).map(|line| format!("line {line} of file {file}, long enough for code")).collect();
            let target = workdir.join(&path);
            fs::create_dir_all(target.parent().expect("a parent")).expect("directories");
            fs::write(target, old.join("\n") + "\n").expect("a file");
            text += &format!(
                "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{lines} +1,{lines} @@\n"
            );
            for (index, line) in old.iter().enumerate() {
                match index {
                    1 => text += &format!("-{line}\n+changed\n"),
                    _ => text += &format!(" {line}\n"),
                }
            }
        }
        run(git(&workdir).args(["init", "-q"]));
        let patch = self.directory.path().join(format!("{name}.diff"));
        fs::write(&patch, text).expect("a patch");
        Case { workdir, patch }
    }

    /// Whether the verifier takes at most `bar` times as long as git.
    fn compare(name: &str, case: &Case, policy: Option<PathBuf>, pairs: usize, bar: f64) -> bool {
        let program = std::env::current_exe().expect("this program");
        let mut verify = Command::new(program);
        verify
            .args([VERIFY, "check", "--json", "--patch"])
            .arg(&case.patch)
            .arg("--workdir")
            .arg(&case.workdir);
        verify.envs(policy.map(|file| ("DELEGATION_EXTERNAL_PATCH_POLICY_FILE", file)));
        let mut check = git(&case.workdir);
        check.args(["apply", "--check"]).arg(&case.patch);
        let pairs: Vec<[f64; 2]> =
            (0..pairs).map(|_| [run(&mut verify), run(&mut check)].map(|time| time.as_secs_f64())).collect();
        let ours = median(pairs.iter().map(|[ours, _]| *ours));
        let gits = median(pairs.iter().map(|[_, gits]| *gits));
        let ratio = median(pairs.iter().map(|[ours, gits]| ours / gits));
        let [ours, gits] = [ours, gits].map(Duration::from_secs_f64);
        tell(
            ratio <= bar,
            &format!(
                "{name}: verifier {ours:.1?}, git apply --check {gits:.1?}, ratio {ratio:.2} (at most {bar})"
            ),
        )
    }
}

fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory);
    command
}

fn run(command: &mut Command) -> Duration {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a program");
    assert!(status.success(), "{command:?}");
    start.elapsed()
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn tell(passed: bool, line: &str) -> bool {
    println!("{line}{}", if passed { "" } else { " MISSED" });
    passed
}

/// Whether the grammar is fast enough.
fn parser() -> bool {
    let mut text = String::new();
    let mut file = 0;
    while text.len() < PARSER_TEXT_BYTES {
        text += &format!("--- a/src/file{file}.rs\n+++ b/src/file{file}.rs\n@@ -1,40 +1,41 @@\n");
        for line in 0..40 {
            text += &format!("     let value_{line} = compute({line}, file);\n");
        }
        text += "+    let added = 1;\n";
        file += 1;
    }
    let policy = LoadedPolicy::embedded().expect("a policy");
    let seconds = median((0..9).map(|_| {
        let start = Instant::now();
        let parsed = patch::parse::parse(text.as_bytes(), &policy.policy, &mut Findings::default());
        assert_eq!(parsed.sections.len(), file);
        start.elapsed().as_secs_f64()
    }));
    let speed = text.len() as f64 / seconds / 1e6;
    tell(
        speed >= PARSER_MIN_MEGABYTES_PER_SECOND,
        &format!("parser: {speed:.0} MB/s (at least {PARSER_MIN_MEGABYTES_PER_SECOND})"),
    )
}
