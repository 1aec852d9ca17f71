//! The sections on the project: its history and changes, its commands.

use super::{Survey, more};
use crate::build::Purpose;
use crate::limits::{BUILD_FILES_SHOWN_MAX, COMMANDS_SHOWN_MAX};
use crate::repository::{Repository, State};
use crate::text::{Align, block, code, code_path, count, enumeration, table};

impl Survey<'_> {
    pub(super) fn git(&self) -> String {
        let facts = match self.repository {
            Repository::None => {
                return "\n## Git\n\nThe workspace is in no git repository.\n".to_owned();
            }
            Repository::Unknown(reason) => {
                return format!(
                    "\n## Git\n\nThe workspace is in a git repository, but {reason}. Its files were \
                     listed without git.\n"
                );
            }
            Repository::Known(facts) => facts,
        };
        let mut text = "\n## Git\n\n".to_owned();
        if !facts.prefix.as_os_str().is_empty() {
            let prefix = code_path(&facts.prefix);
            text.push_str(&format!("- The workspace is {prefix} inside its repository.\n"));
        }
        match &facts.state {
            None => text.push_str("- Branch and changes could not be determined.\n"),
            Some(state) => {
                let untracked = self.listing.untracked.unwrap_or(0);
                text.push_str(&format!("- {}.\n- {}.\n", position(state), changes(state, untracked)));
            }
        }
        if self.census.nested_repositories > 0 {
            text.push_str(&format!(
                "- {} inside, not entered.\n",
                count(self.census.nested_repositories, "other repository")
            ));
        }
        if !facts.commits.is_empty() {
            let lines: Vec<String> = facts
                .commits
                .iter()
                .map(|commit| format!("{} {} {}", commit.hash, commit.date, commit.subject))
                .collect();
            text.push_str(&format!("\nLast commits:\n\n{}", block(&lines)));
        }
        text
    }

    pub(super) fn build_and_test(&self) -> String {
        let build = self.build;
        let mut text = "\n## Build and test\n\n".to_owned();
        if build.commands.is_empty() {
            text.push_str("No build or test command was seen at the top of the workspace.\n");
        } else {
            let rows: Vec<_> = build
                .commands
                .iter()
                .take(COMMANDS_SHOWN_MAX)
                .map(|command| {
                    vec![purpose(command.purpose).to_owned(), code(&command.line), code_path(&command.source)]
                })
                .collect();
            let columns = [("For", Align::Left), ("Command", Align::Left), ("Seen in", Align::Left)];
            text.push_str(&table(&columns, &rows));
            text.push_str(&more(build.commands.len() as u64, COMMANDS_SHOWN_MAX));
            text.push_str("\nNone of them was run.\n");
        }
        if !build.workflows.is_empty() {
            text.push_str("\nContinuous integration:\n\n");
            for workflow in &build.workflows {
                let name = workflow.name.as_ref();
                let name = name.map_or(String::new(), |name| format!(" ({})", code(name)));
                text.push_str(&format!("- {}{name}\n", code_path(&workflow.path)));
            }
            text.push_str(&more(build.workflows_total, BUILD_FILES_SHOWN_MAX));
        }
        if !build.nested.is_empty() {
            text.push_str("\nMore build files in folders:\n\n");
            for path in build.nested.iter().take(BUILD_FILES_SHOWN_MAX) {
                text.push_str(&format!("- {}\n", code_path(path)));
            }
            text.push_str(&more(build.nested.len() as u64, BUILD_FILES_SHOWN_MAX));
        }
        text
    }
}

pub(super) fn position(state: &State) -> String {
    let branch = match &state.branch {
        Some(branch) => format!("On branch {}", code(branch)),
        None => "On no branch (detached head)".to_owned(),
    };
    let upstream = state.upstream.as_ref();
    let upstream = upstream.map_or(String::new(), |name| format!(", which follows {}", code(name)));
    let commits = if state.has_commits { "" } else { ", without commits" };
    format!("{branch}{upstream}{commits}")
}

fn changes(state: &State, untracked: u64) -> String {
    let words: Vec<String> = [
        (state.conflicts, "in conflict"),
        (state.staged, "staged"),
        (state.changed, "changed and not staged"),
        (untracked, "untracked"),
    ]
    .into_iter()
    .filter(|(files, _)| *files > 0)
    .map(|(files, what)| format!("{} {what}", count(files, "file")))
    .collect();
    let what = if words.is_empty() { "nothing to commit".to_owned() } else { enumeration(&words) };
    let cut = if state.is_cut { "; more changes were not counted" } else { "" };
    format!("Changes: {what}{cut}")
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Build => "build",
        Purpose::Test => "test",
        Purpose::Check => "check",
        Purpose::Run => "run",
        Purpose::Other => "other",
    }
}
