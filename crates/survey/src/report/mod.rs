//! The report: Markdown, one part a section, the same for the same workspace.

mod contents;
mod project;

use std::ffi::OsStr;

use crate::build::{Build, Purpose};
use crate::census::Census;
use crate::limits::{FILE_HELD_MAX_BYTES, FILES_MAX, FOLDER_DEPTH_MAX, READ_TOTAL_MAX_BYTES};
use crate::repository::{Facts, Repository};
use crate::text::{code, code_name, count, enumeration, number, size};
use crate::walk::Listing;

/// All that a report is made of.
pub(crate) struct Survey<'a> {
    /// The name of the workspace's folder.
    pub(crate) name: &'a OsStr,
    /// The first line of the brief, made visible; nothing if it has none.
    pub(crate) asked: Option<String>,
    pub(crate) repository: &'a Repository,
    pub(crate) listing: &'a Listing,
    pub(crate) census: &'a Census,
    pub(crate) build: &'a Build,
}

impl Survey<'_> {
    /// The sections in their order. Joined, they are the whole report.
    pub(crate) fn sections(&self) -> Vec<String> {
        let mut sections = vec![
            self.head(),
            self.summary(),
            self.languages(),
            self.biggest(),
            self.git(),
            self.build_and_test(),
            self.marks(),
            self.coverage(),
        ];
        sections.retain(|section| !section.is_empty());
        sections
    }

    fn head(&self) -> String {
        let asked = match &self.asked {
            Some(line) => format!("> Asked: {}", code(line)),
            None => "> The brief has no text.".to_owned(),
        };
        format!(
            "# Survey of {}\n\n{asked}\n\nThis is the built-in offline worker. It uses no model and \
             does not follow instructions: whatever\nthe brief asks, it reads the workspace, changes \
             nothing, and reports what it found.\n",
            code_name(self.name)
        )
    }

    fn summary(&self) -> String {
        let census = self.census;
        let mut text = format!("\n## Summary\n\n{} ", code_name(self.name));
        let amount = format!(
            "{}, {} of text, {}",
            count(census.files, "file"),
            count(census.lines, "line"),
            size(census.size_bytes)
        );
        let kinds = enumeration(&self.build.kinds);
        if census.files == 0 {
            text.push_str("holds no files to look at.");
        } else if kinds.is_empty() {
            text.push_str(&format!("holds {amount}."));
        } else {
            let vowel = kinds.starts_with(['A', 'E', 'I', 'O', 'U']);
            let article = if vowel { "an" } else { "a" };
            text.push_str(&format!("is {article} {kinds}: {amount}."));
        }
        text.push_str(&self.main_languages());
        if let Repository::Known(Facts { state: Some(state), .. }) = self.repository {
            text.push_str(&format!(" {}.", project::position(state)));
        }
        let first = |purpose| {
            let mut commands = self.build.commands.iter();
            commands.find(|command| command.purpose == purpose)
        };
        let hints: Vec<String> = [("Build", Purpose::Build), ("test", Purpose::Test)]
            .into_iter()
            .filter_map(|(verb, purpose)| Some(format!("{verb} with {}", code(&first(purpose)?.line))))
            .collect();
        if !hints.is_empty() {
            let hint = enumeration(&hints);
            let hint = hint.strip_prefix("test").map_or(hint.clone(), |rest| format!("Test{rest}"));
            text.push_str(&format!(" {hint}."));
        }
        text.push('\n');
        text
    }

    /// What was left out, and why: a reader must not take silence for absence.
    fn coverage(&self) -> String {
        let census = self.census;
        let listing = self.listing;
        let mut lines = Vec::new();
        if listing.untracked.is_some() {
            lines.push("Files that git ignores are left out.".to_owned());
            lines.push(
                "Tracked files with a `filter` attribute (Git LFS sets one) are not looked at for \
                 changes: that would run the filter."
                    .to_owned(),
            );
        }
        if !listing.skipped.is_empty() {
            let names: Vec<String> = listing.skipped.iter().map(|name| code(name)).collect();
            lines.push(format!("Folders not entered: {}.", enumeration(&names)));
        }
        if listing.is_cut {
            lines.push(format!(
                "Stopped after {}: there are more than a survey takes ({}, and a bound on the \
                 length of all names).",
                count(listing.paths.len() as u64, "path"),
                number(FILES_MAX as u64)
            ));
        }
        if census.unread_files > 0 {
            lines.push(format!(
                "Stopped reading after {}: {} counted by size, without all of {} lines.",
                size(READ_TOTAL_MAX_BYTES),
                count(census.unread_files, "file"),
                if census.unread_files == 1 { "its" } else { "their" },
            ));
        }
        let mut add = |amount: u64, noun: &str, what: &str| {
            if amount > 0 {
                lines.push(format!("{} {what}.", count(amount, noun)));
            }
        };
        add(listing.too_deep_folders, "folder", &format!("deeper than {FOLDER_DEPTH_MAX} not entered"));
        add(listing.refused_folders, "folder", "could not be read");
        add(census.refused_files, "file", "could not be read");
        add(census.links, "symbolic link", "not followed");
        add(census.special_files, "special file", "(pipes, sockets, devices) not opened");
        lines.push(format!(
            "Languages are told by file names; marks are looked for in the first {} of each text file.",
            size(FILE_HELD_MAX_BYTES as u64)
        ));
        format!("\n## How this was counted\n\n- {}\n", lines.join("\n- "))
    }
}

/// The line under a list that does not show all it counted.
fn more(total: u64, shown: usize) -> String {
    match total.saturating_sub(shown as u64) {
        0 => String::new(),
        rest => format!("\n… and {} more.\n", number(rest)),
    }
}
