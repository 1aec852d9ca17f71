//! Numbers of tests, read from the summaries of cargo test and nextest.

use std::fmt;

/// How many tests ended how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Reads a line of a test runner; only summaries count.
    pub(crate) fn read(&mut self, line: &str) {
        // nextest shows the output of a failed test, with this line in it, further to the right.
        if let Some(counts) = line.strip_prefix("test result: ") {
            // ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
            let counts = counts.split_once(". ").map_or("", |(_, counts)| counts);
            counts.split(';').for_each(|part| self.read_count(part));
        } else if line.trim_start().starts_with("Summary [")
            && let Some((_, counts)) = line.split_once(" run: ")
        {
            // 4 tests run: 2 passed (1 leaky), 1 failed, 1 timed out, 3 skipped
            counts.split(',').for_each(|part| self.read_count(part));
        }
    }

    fn read_count(&mut self, part: &str) {
        let mut words = part.split_whitespace();
        let (Some(number), Some(word)) =
            (words.next().and_then(|word| word.parse::<u64>().ok()), words.next())
        else {
            return;
        };
        match word {
            "passed" => self.passed += number,
            "ignored" | "skipped" => self.skipped += number,
            "failed" | "timed" | "exec" => self.failed += number,
            _ => {}
        }
    }

    /// Adds another one.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Tests that passed only because they did nothing.
    pub(crate) fn move_to_skipped(&mut self, number: u64) {
        let number = number.min(self.passed);
        self.passed -= number;
        self.skipped += number;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(formatter, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lines: &[&str]) -> String {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| tally.read(line));
        tally.to_string()
    }

    #[test]
    fn both_runners_are_read() {
        let cargo = "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(tally(&[cargo, "test a ... ok", cargo]), "6 passed, 2 failed, 4 skipped");
        let nextest =
            "     Summary [   1.2s] 5/9 tests run: 2 passed (1 leaky), 1 failed, 2 timed out, 3 skipped";
        let shown = format!("    {cargo}");
        assert_eq!(tally(&[&shown, nextest]), "2 passed, 3 failed, 3 skipped");
    }

    #[test]
    fn a_test_that_did_nothing_has_not_passed() {
        let mut tally = Tally { passed: 5, failed: 0, skipped: 1 };
        tally.move_to_skipped(2);
        assert_eq!(tally.to_string(), "3 passed, 0 failed, 3 skipped");
    }
}
