//! The sections on what the files hold: languages, sizes, marks.

use std::cmp::Reverse;

use super::{Survey, more};
use crate::language::{self, is_programming};
use crate::limits::LANGUAGES_SHOWN_MAX;
use crate::text::{Align, block, code_path, count, enumeration, number, share, size, table};

impl Survey<'_> {
    /// The three languages with the most lines, programs before descriptions.
    pub(super) fn main_languages(&self) -> String {
        let ranked = self.ranked_languages();
        let (programs, others): (Vec<_>, Vec<_>) = ranked
            .into_iter()
            .filter(|(language, _, lines)| {
                *lines > 0 && *language != language::OTHER && *language != language::LOCK_FILE
            })
            .partition(|(language, _, _)| is_programming(language));
        let shown = if programs.is_empty() { others } else { programs };
        let words: Vec<String> = shown
            .iter()
            .take(3)
            .map(|(language, _, lines)| format!("{language} ({})", share(*lines, self.census.lines)))
            .collect();
        if words.is_empty() {
            return String::new();
        }
        format!(" Written in {}.", enumeration(&words))
    }

    pub(super) fn languages(&self) -> String {
        let census = self.census;
        if census.files == 0 {
            return String::new();
        }
        let row = |name: &str, files: u64, lines: u64| {
            vec![name.to_owned(), number(files), number(lines), share(lines, census.lines)]
        };
        let ranked = self.ranked_languages();
        let (shown, rest) = ranked.split_at(ranked.len().min(LANGUAGES_SHOWN_MAX));
        let mut rows: Vec<_> = shown.iter().map(|(name, files, lines)| row(name, *files, *lines)).collect();
        if !rest.is_empty() {
            let files = rest.iter().map(|(_, files, _)| files).sum();
            let lines = rest.iter().map(|(_, _, lines)| lines).sum();
            let name = format!("{} more", count(rest.len() as u64, "language"));
            rows.push(row(&name, files, lines));
        }
        if census.binary_files > 0 {
            let dash = "–".to_owned();
            let files = number(census.binary_files);
            rows.push(vec!["(binary)".to_owned(), files, dash.clone(), dash]);
        }
        let columns = [
            ("Language", Align::Left),
            ("Files", Align::Right),
            ("Lines", Align::Right),
            ("Share", Align::Right),
        ];
        format!("\n## Files by language\n\n{}", table(&columns, &rows))
    }

    pub(super) fn biggest(&self) -> String {
        if self.census.biggest.is_empty() {
            return String::new();
        }
        let rows: Vec<_> = self
            .census
            .biggest
            .iter()
            .map(|file| {
                vec![size(file.size_bytes), file.lines.map_or("–".to_owned(), number), code_path(&file.path)]
            })
            .collect();
        let columns = [("Size", Align::Right), ("Lines", Align::Right), ("File", Align::Left)];
        format!("\n## Biggest files\n\n{}", table(&columns, &rows))
    }

    pub(super) fn marks(&self) -> String {
        let census = self.census;
        let total = census.todo_lines + census.fixme_lines;
        let mut text = "\n## TODO and FIXME\n\n".to_owned();
        if total == 0 {
            text.push_str("None found.\n");
            return text;
        }
        text.push_str(&format!(
            "{} and {}.\n\n{}",
            count(census.todo_lines, "TODO"),
            count(census.fixme_lines, "FIXME"),
            block(&census.marks)
        ));
        text.push_str(&more(total, census.marks.len()));
        text
    }

    /// Languages with their files and lines, the most lines first.
    fn ranked_languages(&self) -> Vec<(&'static str, u64, u64)> {
        let mut ranked: Vec<_> = self
            .census
            .languages
            .iter()
            .map(|(language, tally)| (*language, tally.files, tally.lines))
            .collect();
        // The map is in order of names, and the sort is stable.
        ranked.sort_by_key(|(_, files, lines)| Reverse((*lines, *files)));
        ranked
    }
}
