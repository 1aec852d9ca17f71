//! Counting: every listed path is looked at once and adds to the totals of the report.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::content::{Reader, Word};
use crate::language;
use crate::limits::{BIGGEST_SHOWN_MAX, MARKS_SHOWN_MAX, READ_TOTAL_MAX_BYTES};
use crate::text::{path as visible_path, visible};
use crate::tree::{Entry, Tree};

/// Files and lines of one language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) files: u64,
    pub(crate) lines: u64,
}

/// One of the biggest files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BigFile {
    pub(crate) path: PathBuf,
    pub(crate) size_bytes: u64,
    /// Nothing for a binary file and for one that was not read to its end.
    pub(crate) lines: Option<u64>,
}

/// The totals of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// Regular files, read or not.
    pub(crate) files: u64,
    pub(crate) size_bytes: u64,
    /// Of text files.
    pub(crate) lines: u64,
    pub(crate) binary_files: u64,
    pub(crate) languages: BTreeMap<&'static str, Tally>,
    /// Biggest first.
    pub(crate) biggest: Vec<BigFile>,
    pub(crate) todo_lines: u64,
    pub(crate) fixme_lines: u64,
    /// The first marks in the order of paths, as `path:line: text`, made visible.
    pub(crate) marks: Vec<String>,
    pub(crate) links: u64,
    pub(crate) special_files: u64,
    /// Repositories inside the workspace that git does not enter.
    pub(crate) nested_repositories: u64,
    pub(crate) refused_files: u64,
    /// Files not read to their end because enough was read before.
    pub(crate) unread_files: u64,
}

/// Looks at every path, in order. `on_path` hears how many paths are behind it.
///
/// # Errors
/// Only those of `on_path`: what is wrong with a file is counted.
pub(crate) fn take(
    tree: &mut Tree,
    paths: &[PathBuf],
    on_path: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Census> {
    take_within(tree, paths, READ_TOTAL_MAX_BYTES, on_path)
}

fn take_within(
    tree: &mut Tree,
    paths: &[PathBuf],
    mut allowance_bytes: u64,
    mut on_path: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Census> {
    let mut census = Census::default();
    let mut reader = Reader::default();
    for (done, path) in (0..).zip(paths) {
        on_path(done)?;
        match tree.entry(path) {
            Entry::File(mut file, size_bytes) => {
                census.files += 1;
                census.size_bytes += size_bytes;
                let marks = |line, word, text: &[u8]| census.mark(path, line, word, text);
                // One byte more than allowed would tell a whole file from a cut one; its size does.
                let content = reader.read(&mut file, allowance_bytes, marks);
                let Ok(content) = content else {
                    census.refused_files += 1;
                    census.keep_if_big(path, size_bytes, None);
                    continue;
                };
                allowance_bytes -= content.read_bytes;
                if content.is_binary {
                    census.binary_files += 1;
                    census.keep_if_big(path, size_bytes, None);
                    continue;
                }
                let tally = census.languages.entry(language::of(path)).or_default();
                tally.files += 1;
                tally.lines += content.lines;
                census.lines += content.lines;
                let is_whole = content.read_bytes >= size_bytes;
                census.unread_files += u64::from(!is_whole);
                census.keep_if_big(path, size_bytes, is_whole.then_some(content.lines));
            }
            Entry::Folder => census.nested_repositories += 1,
            Entry::Link => census.links += 1,
            Entry::Special => census.special_files += 1,
            Entry::Refused => census.refused_files += 1,
            // Tracked and deleted, which git tells, or gone since the list was made.
            Entry::Missing => {}
        }
    }
    Ok(census)
}

impl Census {
    fn mark(&mut self, path: &Path, line: u64, word: Word, text: &[u8]) {
        match word {
            Word::Todo => self.todo_lines += 1,
            Word::Fixme => self.fixme_lines += 1,
        }
        if self.marks.len() < MARKS_SHOWN_MAX {
            let path = visible_path(path);
            self.marks.push(format!("{path}:{line}: {}", visible(text)));
        }
    }

    fn keep_if_big(&mut self, path: &Path, size_bytes: u64, lines: Option<u64>) {
        let place = self.biggest.partition_point(|file| Reverse(file.size_bytes) <= Reverse(size_bytes));
        if place < BIGGEST_SHOWN_MAX {
            self.biggest.truncate(BIGGEST_SHOWN_MAX - 1);
            self.biggest.insert(place, BigFile { path: path.to_owned(), size_bytes, lines });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn totals_add_up() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "1\n// TODO 2\n").unwrap();
        fs::write(folder.path().join("b.rs"), "// FIXME 1").unwrap();
        fs::write(folder.path().join("c.bin"), b"\0\0\0").unwrap();
        fs::create_dir(folder.path().join("nested")).unwrap();
        let mut tree = Tree::open(folder.path()).unwrap();
        let listed = paths(&["a.rs", "b.rs", "c.bin", "gone", "nested"]);
        let mut heard = Vec::new();
        let census = take(&mut tree, &listed, |done| {
            heard.push(done);
            Ok(())
        })
        .unwrap();
        assert_eq!(heard, [0, 1, 2, 3, 4]);
        assert_eq!((census.files, census.lines, census.size_bytes), (3, 3, 25));
        assert_eq!((census.binary_files, census.nested_repositories), (1, 1));
        assert_eq!((census.todo_lines, census.fixme_lines), (1, 1));
        assert_eq!(census.marks, ["a.rs:2: TODO 2", "b.rs:1: FIXME 1"]);
        assert_eq!(census.languages["Rust"], Tally { files: 2, lines: 3 });
        assert_eq!(census.languages.len(), 1);
        assert_eq!(census.biggest[0].path, Path::new("a.rs"));
        assert_eq!(census.biggest[2].lines, None);
    }

    #[test]
    fn reading_stops_at_its_bound_and_counting_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "1\n2\n3\n").unwrap();
        }
        let mut tree = Tree::open(folder.path()).unwrap();
        let census = take_within(&mut tree, &paths(&["a", "b", "c"]), 8, |_| Ok(())).unwrap();
        assert_eq!((census.files, census.size_bytes), (3, 18));
        assert_eq!((census.lines, census.unread_files), (4, 2));
    }

    #[test]
    fn the_biggest_are_kept_in_order_and_equal_ones_by_path() {
        let mut census = Census::default();
        for index in 0..BIGGEST_SHOWN_MAX as u64 * 2 {
            census.keep_if_big(&PathBuf::from(format!("{index:02}")), index / 2, None);
        }
        let sizes: Vec<u64> = census.biggest.iter().map(|file| file.size_bytes).collect();
        assert_eq!(sizes, [9, 9, 8, 8, 7, 7, 6, 6, 5, 5]);
        assert_eq!(census.biggest[0].path, Path::new("18"));
        assert_eq!(census.biggest[1].path, Path::new("19"));
    }
}
