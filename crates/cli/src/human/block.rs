//! A few aligned lines, each a label and what belongs to it.

use std::fmt::Write as _;

/// Columns of a label, with the space behind it, unless a block has longer ones.
pub(super) const LABEL_COLUMNS: usize = 12;

/// Lines under construction. A value of several lines continues below itself.
pub(crate) struct Block {
    text: String,
    columns: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self { text: String::new(), columns: LABEL_COLUMNS }
    }
}

impl Block {
    /// A block in which every one of `labels` fits.
    pub(crate) fn for_labels<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let longest = labels.map(str::len).max().unwrap_or_default();
        Self { columns: LABEL_COLUMNS.max(longest + 2), ..Self::default() }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, label: &str, value: &str) -> &mut Self {
        let (mut label, columns) = (label, self.columns);
        for line in value.split('\n') {
            let _ = writeln!(self.text, "{label:<columns$}{line}");
            label = "";
        }
        self
    }

    /// The lines, each with its line feed.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other() {
        let mut block = Block::default();
        block.line("task", "abc").line("answer", "/a\n3 B");
        assert_eq!(block.into_text(), "task        abc\nanswer      /a\n            3 B\n");
    }
}
