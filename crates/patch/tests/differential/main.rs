//! Whatever the verifier accepts, git applies at the recorded level, to exactly the paths of the receipt, with its
//! operations, and without a change of modes. Real git is the judge, over thousands of generated patches.
//!
//! `PATCH_DIFFERENTIAL_CASES` sets how many, `PATCH_DIFFERENTIAL_SEED` where they begin.

#[path = "../support/mod.rs"]
mod support;

mod generate;
mod random;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use patch::{Operation, Receipt, Verdict};
use support::{Repository, embedded, plain_git};

/// Seeds whose patch once broke the invariant; they come first in every run.
const KEPT: [u64; 0] = [];

/// The files that generated patches are about.
pub(crate) const FILES: [(&str, &str, bool); 8] = [
    ("src/main.rs", "fn main() {\n    one();\n    two();\n    three();\n    four();\n}\n", false),
    ("src/lib.rs", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n", false),
    ("src/same.txt", "x\ny\nx\ny\nx\ny\nx\ny\nx\ny\n", false),
    ("run.sh", "#!/bin/sh\nset -e\necho one\necho two\n", true),
    ("end.txt", "first\nsecond\nthird", false),
    ("crlf.txt", "one\r\ntwo\r\nthree\r\n", false),
    ("a/deep/er/path.txt", "--- a\n+++ b\n@@ -1 +1 @@\n\n-- \n", false),
    ("empty.txt", "", false),
];

/// What git may have changed about a file: its time (set long ago before), content and mode.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    modified: SystemTime,
    content: Vec<u8>,
    executable: bool,
}

fn past() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

/// Lays the files anew and removes everything else.
fn lay(repository: &Repository) {
    for entry in
        fs::read_dir(repository.work()).unwrap().flatten().filter(|entry| entry.file_name() != ".git")
    {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
            .unwrap();
    }
    for (name, content, executable) in FILES {
        repository.write(name, content);
        let path = repository.path(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))
            .unwrap();
        fs::File::options().write(true).open(path).unwrap().set_modified(past()).unwrap();
    }
}

fn look(directory: &Path, prefix: &str, seen: &mut BTreeMap<String, Seen>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        let facts = entry.metadata().unwrap();
        if name == ".git" {
        } else if facts.is_dir() {
            look(&entry.path(), &format!("{name}/"), seen);
        } else {
            let content = fs::read(entry.path()).unwrap();
            let executable = facts.permissions().mode() & 0o111 != 0;
            seen.insert(name, Seen { modified: facts.modified().unwrap(), content, executable });
        }
    }
}

/// Applies an accepted patch as the lead would, and compares what git touched with the receipt.
fn hold(receipt: &Receipt, clone: &Repository) -> Result<(), String> {
    let mut before = BTreeMap::new();
    look(&clone.work(), "", &mut before);
    let home = clone.root().join("home");
    let command = receipt.apply_command.as_ref().ok_or("no command")?;
    let other = format!("-p{}", receipt.strip.alternate.ok_or("no other level")?);
    let alternate = plain_git(&home, &clone.work())
        .args(["apply", "--check", &other, command.last().unwrap()])
        .output()
        .unwrap();
    if Some(alternate.status.success()) != receipt.strip.alternate_applies {
        return Err(format!("at the other level git says {}", alternate.status));
    }
    let output = plain_git(&home, &clone.work()).args(&command[1..]).output().unwrap();
    let mut after = BTreeMap::new();
    look(&clone.work(), "", &mut after);
    if !output.status.success() {
        return Err(format!("git refuses it: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut touched = BTreeMap::new();
    for name in before.keys().chain(after.keys()) {
        let operation = match (before.get(name), after.get(name)) {
            (None, Some(new)) if !new.executable => Operation::Add,
            (Some(_), None) => Operation::Delete,
            (Some(old), Some(new)) if old.modified == new.modified && old == new => continue,
            (Some(old), Some(new)) if old.executable == new.executable => Operation::Modify,
            _ => return Err(format!("the mode of {name}")),
        };
        touched.insert(name.clone(), operation);
    }
    let told: BTreeMap<String, Operation> =
        receipt.files.iter().map(|file| (file.path.clone(), file.operation)).collect();
    if touched == told { Ok(()) } else { Err(format!("touched {touched:?}, told {told:?}")) }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn whatever_is_accepted_git_applies_as_told() {
    let cases = number("PATCH_DIFFERENTIAL_CASES", 3000);
    let first = number("PATCH_DIFFERENTIAL_SEED", 1);
    let seeds: Vec<u64> = KEPT.into_iter().chain(first..first + cases).collect();
    let next = AtomicU64::new(0);
    let accepted = AtomicU64::new(0);
    let reached_git = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let (repository, clone) = (Repository::empty(), Repository::empty());
                lay(&repository);
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let text = generate::patch(*seed);
                    let receipt = repository.judge(
                        &patch::Request { allow_delete: seed % 2 == 0, ..repository.request(&text) },
                        &embedded(),
                    );
                    assert!(receipt.attestation.unchanged, "seed {seed}");
                    reached_git.fetch_add(u64::from(receipt.git_reading.ran), Ordering::Relaxed);
                    if receipt.verdict == Verdict::Accepted {
                        accepted.fetch_add(1, Ordering::Relaxed);
                        lay(&clone);
                        if let Err(why) = hold(&receipt, &clone) {
                            panic!(
                                "seed {seed}: {why}\n{}\n{}",
                                String::from_utf8_lossy(&text),
                                receipt.json()
                            );
                        }
                    }
                }
            });
        }
    });
    let (accepted, reached) = (accepted.into_inner(), reached_git.into_inner());
    println!("{} patches, {reached} read by git, {accepted} accepted", seeds.len());
    // The generator must keep both sides busy, or the invariant says nothing.
    let total = seeds.len() as u64;
    assert!(total < 100 || (accepted > total / 10 && reached > accepted && reached < total));
}
