//! Samples, and rows of a Markdown table.

use std::fmt::Write;

/// What a sample counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Milliseconds,
    Seconds,
    Kibibytes,
}

/// Samples of one thing, in rising order; at least one.
#[derive(Debug, Clone)]
pub(super) struct Samples {
    values: Vec<f64>,
    unit: Unit,
}

/// What is hoped for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Aim {
    /// A median of at most so much.
    AtMost(f64),
    /// A ratio to the peer of at most so much.
    RatioAtMost(f64),
}

/// One comparison.
#[derive(Debug)]
pub(super) struct Row {
    /// What was measured of us.
    pub(super) what: String,
    /// Our samples.
    pub(super) ours: Samples,
    /// What it is compared with.
    pub(super) peer: String,
    /// Its samples, or why there are none.
    pub(super) peers: Result<Samples, String>,
    /// What is hoped for.
    pub(super) aim: Option<Aim>,
}

impl Samples {
    pub(super) fn new(mut values: Vec<f64>, unit: Unit) -> Self {
        assert!(!values.is_empty(), "nothing was measured");
        values.sort_by(f64::total_cmp);
        Self { values, unit }
    }

    /// The smallest sample that so many of a hundred do not exceed.
    fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.values.len() * percent).div_ceil(100).max(1);
        self.values[rank - 1]
    }

    pub(super) fn median(&self) -> f64 {
        self.percentile(50)
    }

    fn cell(&self) -> String {
        let (digits, unit) = match self.unit {
            Unit::Milliseconds => (2, "ms"),
            Unit::Seconds => (2, "s"),
            Unit::Kibibytes => (0, "KiB"),
        };
        format!("{:.digits$} {unit} | {:.digits$}", self.median(), self.percentile(95))
    }
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.peers.as_ref().ok().map(|peers| self.ours.median() / peers.median())
    }

    fn aim(&self) -> String {
        let (text, met) = match self.aim {
            None => return String::new(),
            Some(Aim::AtMost(most)) => (format!("≤ {most}"), Some(self.ours.median() <= most)),
            Some(Aim::RatioAtMost(most)) => {
                (format!("ratio ≤ {most}"), self.ratio().map(|ratio| ratio <= most))
            }
        };
        let word = met.map_or("not measured", |met| if met { "met" } else { "missed" });
        format!("{text}: {word}")
    }
}

/// The table; a missing peer is told, never left out.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| what | ours, median | p95 | peer | its median | p95 | ratio of medians | n | aim |\n\
         |---|---:|---:|---|---:|---:|---:|---:|---|\n",
    );
    for row in rows {
        let peers = match &row.peers {
            Ok(samples) => samples.cell(),
            Err(reason) => format!("not measured: {reason} |"),
        };
        let ratio = row.ratio().map_or_else(String::new, |ratio| format!("{ratio:.3}"));
        // Writing to a text can not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {peers} | {ratio} | {} | {} |",
            row.what,
            row.ours.cell(),
            row.peer,
            row.ours.values.len(),
            row.aim(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(values: impl IntoIterator<Item = u32>) -> Samples {
        Samples::new(values.into_iter().map(f64::from).collect(), Unit::Milliseconds)
    }

    #[test]
    fn percentiles_are_samples() {
        let hundred = milliseconds((1..=100).rev());
        assert_eq!((hundred.median(), hundred.percentile(95)), (50.0, 95.0));
        let three = milliseconds([3, 1, 2]);
        assert_eq!((three.median(), three.percentile(95)), (2.0, 3.0));
        assert_eq!(milliseconds([7]).median(), 7.0);
    }

    #[test]
    fn a_row_tells_ratio_and_aim() {
        let row = |peers, aim| Row {
            what: "a".to_owned(),
            ours: milliseconds([1, 2, 3]),
            peer: "b".to_owned(),
            peers,
            aim,
        };
        let line = |row: Row| markdown(&[row]).lines().last().unwrap().to_owned();
        assert_eq!(
            line(row(Ok(milliseconds([4, 4, 5])), Some(Aim::RatioAtMost(0.4)))),
            "| a | 2.00 ms | 3.00 | b | 4.00 ms | 5.00 | 0.500 | 3 | ratio ≤ 0.4: missed |"
        );
        assert_eq!(
            line(row(Err("no b".to_owned()), Some(Aim::AtMost(2.0)))),
            "| a | 2.00 ms | 3.00 | b | not measured: no b | |  | 3 | ≤ 2: met |"
        );
    }
}
