//! Kinds of locks do not see each other, so that the workspace has one (STATE.md 4).

use std::fs;
use std::path::{Path, PathBuf};

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Who locks files that are none of the state root's: runners against programs that are not ours (runners.md 0.1), the patch
/// verifier its scratch directories.
const ELSEWHERE: [&str; 2] = ["crates/executors/", "crates/patch/src/scratch.rs"];

/// Calls of whole-file locks of the other kind. Split, so that this file has none itself.
const FORBIDDEN: [&str; 4] =
    [concat!("flock", "("), concat!("Flock", "Arg"), concat!("Flock", "Operation"), concat!("Flock", "::")];

fn forbidden_in(text: &str) -> Vec<&'static str> {
    FORBIDDEN.into_iter().filter(|word| text.contains(word)).collect()
}

fn is_elsewhere(file: &Path) -> bool {
    let file = file.to_string_lossy();
    ELSEWHERE.iter().any(|place| file.contains(place))
}

#[test]
fn no_source_of_the_workspace_uses_another_kind() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for directory in ["crates", "xtask"] {
        sources(&workspace.join(directory), &mut files);
    }
    assert!(files.iter().any(|file| file.ends_with("store/src/lock.rs")));
    for file in files.iter().filter(|file| !is_elsewhere(file)) {
        let found = forbidden_in(&fs::read_to_string(file).unwrap());
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}

#[test]
fn the_look_finds_what_it_looks_for() {
    assert_eq!(forbidden_in(&format!("rustix::fs::{}&file)", FORBIDDEN[0])), [FORBIDDEN[0]]);
}
