//! What a target found, from its exit status and its log.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::ExitStatus;

use super::target::Target;
use crate::failure::Failure;

/// Lines at the end of a log that tell of a finding.
const SHOWN_LINES: usize = 40;

/// How a target ended.
#[derive(Debug)]
pub(crate) struct Report {
    target: Target,
    figures: Figures,
    /// Where the log lies and its last lines, when the target did not end well.
    finding: Option<(PathBuf, String)>,
}

impl Report {
    /// Reads the log of a target that ended so.
    pub(crate) fn read(target: &Target, status: ExitStatus) -> Result<Self, Failure> {
        let log = target.products().join("log");
        let bytes = fs::read(&log).map_err(Failure::file(&log))?;
        let text = String::from_utf8_lossy(&bytes);
        let finding = (!status.success()).then(|| (log, last_lines(&text)));
        Ok(Self { target: target.clone(), figures: Figures::read(&text), finding })
    }

    /// Whether it ended at a finding, or in another way than by its time.
    pub(crate) fn has_finding(&self) -> bool {
        self.finding.is_some()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, figures, finding } = self;
        write!(formatter, "{target}: {figures}, ")?;
        let Some((log, lines)) = finding else { return write!(formatter, "no finding") };
        let (findings, seeds) = (target.products().join("findings"), target.seeds());
        writeln!(formatter, "A FINDING; the last lines of {}:\n{lines}", log.display())?;
        write!(formatter, "Fix it, and keep its input: cp {}/NAME {}/", findings.display(), seeds.display())
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

/// The figures of a run, as libFuzzer prints them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Figures {
    runs: u64,
    edges: u64,
    corpus: u64,
}

impl Figures {
    fn read(log: &str) -> Self {
        let mut figures = Self::default();
        for line in log.lines() {
            if let Some(runs) = line.strip_prefix("stat::number_of_executed_units:") {
                figures.runs = runs.trim().parse().unwrap_or_default();
            } else if line.starts_with('#') {
                // #2048 NEW cov: 1829 ft: 5159 corp: 981/80Kb lim: 150 exec/s: 41160 …
                let words: Vec<&str> = line.split_whitespace().collect();
                let number = |name: &str| {
                    let value =
                        words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1))?;
                    value.split('/').next()?.parse().ok()
                };
                figures.runs = words[0][1..].parse().unwrap_or(figures.runs);
                figures.edges = number("cov:").unwrap_or(figures.edges);
                figures.corpus = number("corp:").unwrap_or(figures.corpus);
            }
        }
        figures
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, edges, corpus } = self;
        write!(formatter, "{runs} runs, {edges} edges covered, {corpus} inputs in the corpus")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_figures_count() {
        let log = "INFO: Seed: 1\n#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                   #4096\tpulse  cov: 1829 ft: 5159 corp: 981/80Kb lim: 150 exec/s: 41160 rss: 30Mb\n\
                   #8192\tREDUCE cov: 1830 ft: 5160 corp: 982/80Kb lim: 150 exec/s: 41160 rss: 30Mb\n";
        assert_eq!(Figures::read(log), Figures { runs: 8192, edges: 1830, corpus: 982 });
        let ended = format!("{log}Done 9000 runs in 1 second(s)\nstat::number_of_executed_units: 9000\n");
        assert_eq!(Figures::read(&ended), Figures { runs: 9000, edges: 1830, corpus: 982 });
        assert_eq!(Figures::read("Cannot start\n"), Figures::default());
    }
}
