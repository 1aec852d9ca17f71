//! Tells the program what it is built from.

use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo::rerun-if-env-changed=DELEGATION_COMMIT");
    println!("cargo::rustc-env=DELEGATION_TARGET={}", variable("TARGET"));
    let compiler = said(&variable("RUSTC"), &["--version"]).unwrap_or_default();
    println!("cargo::rustc-env=DELEGATION_RUSTC={compiler}");
    println!("cargo::rustc-env=DELEGATION_PROFILE={}", variable("PROFILE"));
    if let Some(commit) = commit(&variable("DELEGATION_COMMIT"), &variable("PROFILE")) {
        println!("cargo::rustc-env=DELEGATION_BUILT_FROM={commit}");
    }
}

/// The commit that the caller names, else in a release build that of the repository. A debug build would have to be made again
/// after every commit.
fn commit(named: &str, profile: &str) -> Option<String> {
    if !named.is_empty() || profile != "release" {
        println!("cargo::rerun-if-changed=build.rs");
        return Some(named.to_owned()).filter(|name| !name.is_empty());
    }
    // Sources that were unpacked inside of another repository are not of its commit.
    if said("git", &["rev-parse", "--show-prefix"])? != "crates/cli/" {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = said("git", &["rev-parse", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    said("git", &["rev-parse", "HEAD"])
}

fn said(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}
