//! The tables in `docs/providers.md`: compared with what was seen, or written from it.

use std::fs::{self, File};
use std::path::PathBuf;

use testkit::real::workspace_directory;

/// `full`: the heavy cases too. `write`: the same, and the tables are written.
const VARIABLE: &str = "DELEGATION_MATRIX";

/// A table between two comments of the page: a column for each CLI, a row for each case.
pub(crate) struct Table {
    name: &'static str,
}

/// The real CLIs.
pub(crate) const REAL: Table = Table { name: "measured" };
/// The fake of antigravity.
pub(crate) const FAKE: Table = Table { name: "antigravity" };

/// Whether the heavy cases are due.
pub(crate) fn wants_all() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "full" || value == "write")
}

fn writes() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "write")
}

impl Table {
    /// Compares a column with the page, or writes it there.
    pub(crate) fn settle(&self, heading: &str, cells: &[(&str, String)]) {
        let path = page();
        // Each test of the program has a column, and they run at once.
        let lock = File::open(&path).expect("the page");
        lock.lock().expect("a lock on the page");
        let text = fs::read_to_string(&path).expect("the page");
        let mut rows = self.rows(&text);
        if writes() {
            put(&mut rows, heading, cells);
            fs::write(&path, self.replaced(&text, &rows)).expect("the page is written");
            return;
        }
        let column = rows.first().and_then(|row| row.iter().position(|cell| cell == heading));
        let column = column.unwrap_or_else(|| panic!("no column {heading:?} in {}: {AGAIN}", path.display()));
        for (title, cell) in cells {
            let written = rows.iter().find(|row| row[0] == *title).and_then(|row| row.get(column));
            assert_eq!(written, Some(cell), "{heading}, {title}: {AGAIN}");
        }
    }

    fn edges(&self) -> [String; 2] {
        ["begin", "end"].map(|edge| format!("<!-- {}: {edge} -->\n", self.name))
    }

    /// The cells of each line but the rule.
    fn rows(&self, text: &str) -> Vec<Vec<String>> {
        let [begin, end] = self.edges();
        let table = text.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end));
        let (table, _) = table.expect("the page has a place for the table");
        let cells =
            |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        table.lines().filter(|line| !line.starts_with("|-")).map(cells).collect()
    }

    fn replaced(&self, text: &str, rows: &[Vec<String>]) -> String {
        let [begin, end] = self.edges();
        let (before, rest) = text.split_once(&begin).expect("a place");
        let (_, after) = rest.split_once(&end).expect("a place");
        let mut table = String::new();
        for (index, row) in rows.iter().enumerate() {
            table += &format!("| {} |\n", row.join(" | "));
            if index == 0 {
                table += &format!("|{}\n", "---|".repeat(row.len()));
            }
        }
        format!("{before}{begin}{table}{end}{after}")
    }
}

const AGAIN: &str = "`cargo xtask matrix --write` writes the tables again";

fn page() -> PathBuf {
    workspace_directory().join("docs/providers.md")
}

/// Replaces the column of a CLI, whatever its version was; rows come in the order of the cells.
fn put(rows: &mut Vec<Vec<String>>, heading: &str, cells: &[(&str, String)]) {
    let program = heading.split(' ').next();
    let head = rows.first().cloned().unwrap_or_else(|| vec!["what happens".to_owned()]);
    let found = head.iter().position(|cell| cell.split(' ').next() == program);
    let column = found.unwrap_or(head.len());
    let old = std::mem::take(rows);
    let row_of = |title: &str| old.iter().find(|row| row[0] == title).cloned();
    let mut set = |mut row: Vec<String>, cell: &str| {
        row.resize((column + 1).max(head.len()), "–".to_owned());
        cell.clone_into(&mut row[column]);
        rows.push(row);
    };
    set(head.clone(), heading);
    for (title, cell) in cells {
        set(row_of(title).unwrap_or_else(|| vec![(*title).to_owned()]), cell);
    }
}
