//! The verifier against `git apply --check` alone, and the grammar against a clock. All figures of one run are taken in
//! turn, so that what else the machine does meets both sides.
//!
//! `cargo run --release -p patch --example bench [ROUNDS]`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use patch::{Findings, LoadedPolicy};

/// The first word by which the bench runs itself as the verifier.
const VERIFY: &str = "verify";
const ROUNDS: usize = 60;
const PARSER_TEXT_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|word| word == VERIFY).is_some() {
        let environment = patch::Environment::of_process();
        let (mut out, mut errors) = (std::io::stdout().lock(), std::io::stderr().lock());
        return ExitCode::from(patch::main_entry(arguments, &environment, &mut out, &mut errors));
    }
    let rounds = arguments.next().and_then(|word| word.to_str()?.parse().ok()).unwrap_or(ROUNDS);
    let ground = Ground::new();
    let small = ground.repository("small", 1, 3);
    Ground::compare("one hunk", &small, None, rounds, 4.0);
    let large = ground.repository("large", 1000, 24);
    Ground::compare("1,000 files, 1 MB", &large, Some(ground.policy()), rounds / 4, 2.0);
    parser();
    ExitCode::SUCCESS
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

    fn compare(name: &str, case: &Case, policy: Option<PathBuf>, rounds: usize, bar: f64) {
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
        let (mut ours, mut gits) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(run(&mut verify));
            gits.push(run(&mut check));
        }
        let (ours, gits) = (median(&mut ours), median(&mut gits));
        let ratio = ours.as_secs_f64() / gits.as_secs_f64();
        println!(
            "{name}: verifier {ours:.1?}, git apply --check {gits:.1?}, ratio {ratio:.2} (at most {bar})"
        );
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

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn parser() {
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
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            let parsed = patch::parse::parse(text.as_bytes(), &policy.policy, &mut Findings::default());
            assert_eq!(parsed.sections.len(), file);
            start.elapsed()
        })
        .collect();
    let speed = text.len() as f64 / median(&mut times).as_secs_f64() / 1e6;
    println!("parser: {speed:.0} MB/s (at least 300)");
}
