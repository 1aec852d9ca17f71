//! The table of what was seen: the rows of STATE.md 10, the blows, and how the tasks ended.

use std::collections::BTreeMap;
use std::fmt;

use crate::cell::Blow;
use crate::point::{Point, Row};

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Table {
    ends: BTreeMap<(Row, Blow), BTreeMap<String, usize>>,
    failures: Vec<String>,
    cells: usize,
}

impl Table {
    pub(crate) fn add(&mut self, point: Point, blow: Blow, end: Result<String, String>) {
        self.cells += 1;
        let end = end.unwrap_or_else(|why| {
            self.failures.push(format!("{} × {blow:?}: {why}", point.name));
            "FAILED".to_owned()
        });
        *self.ends.entry((point.row, blow)).or_default().entry(end).or_default() += 1;
    }

    pub(crate) fn is_good(&self) -> bool {
        self.failures.is_empty()
    }
}

impl fmt::Display for Table {
    /// Each line: reason, whether it was launched, launches that the provider counted, and how often that was seen.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in Row::ALL {
            let mut cells = self.ends.iter().filter(|((seen, _), _)| *seen == row).peekable();
            if cells.peek().is_some() {
                writeln!(formatter, "\n{}", row.title())?;
            }
            for ((_, blow), ends) in cells {
                let ends: Vec<_> = ends.iter().map(|(end, count)| format!("{end} ×{count}")).collect();
                writeln!(formatter, "  {:<32} {}", blow.title(), ends.join(", "))?;
            }
        }
        writeln!(formatter, "\n{} cells, {} failed", self.cells, self.failures.len())?;
        self.failures.iter().try_for_each(|failure| writeln!(formatter, "{failure}"))
    }
}
