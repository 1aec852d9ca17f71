//! Directories of libraries, in which a child may read everything but programs: the loader, which must be executable, would start
//! whatever it can read (runners.md 0.1).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::limits::PROGRAM_SEARCH_MAX_COUNT;

/// The directories just below one that hold a program at any depth. A directory that holds libraries itself stays readable,
/// since nothing would start without them.
pub fn directories_of_programs(libraries: &Path) -> Vec<PathBuf> {
    let Ok(libraries) = libraries.canonicalize() else { return Vec::new() };
    let entries = fs::read_dir(&libraries).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories
        .map(|entry| entry.path())
        .filter(|path| !holds_libraries(path) && holds_program(path))
        .collect()
}

fn holds_libraries(directory: &Path) -> bool {
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.any(|entry| is_library(&entry.file_name().to_string_lossy()))
}

fn is_library(name: &str) -> bool {
    name.starts_with("lib") && name.contains(".so")
}

/// A directory with too much in it counts as one that holds a program.
fn holds_program(directory: &Path) -> bool {
    let mut open = vec![directory.to_path_buf()];
    let mut seen = 0;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            seen += 1;
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                open.push(entry.path());
            }
            let is_program = metadata.is_file()
                && metadata.permissions().mode() & 0o111 != 0
                && !entry.file_name().to_string_lossy().contains(".so");
            if is_program || seen > PROGRAM_SEARCH_MAX_COUNT {
                return true;
            }
        }
    }
    false
}

/// What may be read of a directory of libraries: what lies in it, without the directories that hold programs. Nothing where it is
/// missing.
pub fn without_programs(libraries: &Path) -> Vec<PathBuf> {
    let Ok(libraries) = libraries.canonicalize() else { return Vec::new() };
    let closed = directories_of_programs(&libraries);
    let entries = fs::read_dir(&libraries).into_iter().flatten().flatten();
    // A link grants nothing by itself: its target is listed where it is.
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    plain.map(|entry| entry.path()).filter(|path| !closed.contains(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_with_programs_are_found_at_any_depth_and_those_of_libraries_are_left() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path().canonicalize().expect("a path");
        for (path, mode) in [
            ("tool/libexec/deep/program", 0o755),
            ("data/file", 0o644),
            ("machine/libc.so.6", 0o755),
            ("machine/program", 0o755),
            ("plugins/plugin.so", 0o755),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(&path, "").expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        }
        assert_eq!(directories_of_programs(&root), [root.join("tool")]);
        let mut open = without_programs(&root);
        open.sort();
        assert_eq!(open, ["data", "machine", "plugins"].map(|name| root.join(name)));
        assert_eq!(without_programs(&root.join("missing")), Vec::<PathBuf>::new());
    }
}
