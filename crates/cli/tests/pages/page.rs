//! Pages, and the blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

/// Why a block of commands is not run. It stands in the line before the block: `<!-- not run: build -->`.
const REASONS: [(&str, &str); 6] = [
    ("build", "it builds or installs this project"),
    ("release", "it needs a published release"),
    ("account", "it needs a CLI that is signed in, and costs money"),
    ("host", "it changes the host"),
    ("pueue", "its own test runs it where Pueue is installed"),
    ("slurm", "its own test runs it where Slurm is installed"),
];

/// A page of the documentation.
pub(crate) struct Page {
    /// Its path in the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A fenced block.
pub(crate) struct Block<'a> {
    pub(crate) language: &'a str,
    pub(crate) content: String,
    /// The number of its first line.
    pub(crate) line: usize,
    /// The reason for which it is not run.
    pub(crate) not_run: Option<&'a str>,
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// Every page that people or agents read.
pub(crate) fn pages() -> Vec<Page> {
    let mut names = vec![
        "README.md".to_owned(),
        "ARCHITECTURE.md".to_owned(),
        "CONTRIBUTING.md".to_owned(),
        "npm/README.md".to_owned(),
        "skills/agent-integration/SKILL.md".to_owned(),
    ];
    let documents = fs::read_dir(repository().join("docs")).unwrap().flatten();
    names.extend(documents.map(|entry| format!("docs/{}", entry.file_name().to_str().unwrap())));
    names.sort();
    names.into_iter().map(|name| Page::read(&name)).collect()
}

impl Page {
    pub(crate) fn read(name: &str) -> Self {
        let text =
            fs::read_to_string(repository().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name: name.to_owned(), text }
    }

    /// Every fenced block.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut is_open = false;
        let mut before = "";
        for (index, line) in self.text.lines().enumerate() {
            match line.trim_start().strip_prefix("```") {
                Some(_) if is_open => is_open = false,
                Some(language) => {
                    is_open = true;
                    let not_run = self.reason(before, index);
                    blocks.push(Block { language, content: String::new(), line: index + 2, not_run });
                }
                None if is_open => {
                    let block = blocks.last_mut().unwrap();
                    block.content.push_str(line);
                    block.content.push('\n');
                }
                None => {}
            }
            before = line;
        }
        assert!(!is_open, "{}: a block does not end", self.name);
        blocks
    }

    /// The text without its fenced blocks.
    pub(crate) fn prose(&self) -> String {
        self.text.split("```").step_by(2).collect()
    }

    fn reason<'a>(&self, line: &'a str, number: usize) -> Option<&'a str> {
        let reason = line.strip_prefix("<!-- not run: ")?.strip_suffix(" -->")?;
        let is_known = REASONS.iter().any(|(known, _)| *known == reason);
        assert!(is_known, "{}:{number}: {reason} is none of {REASONS:?}", self.name);
        Some(reason)
    }
}

/// Blocks that are commands say so in one way, so that none is overlooked.
#[test]
fn commands_are_marked_as_such() {
    for page in pages() {
        for block in page.blocks() {
            let place = format!("{}:{}", page.name, block.line);
            assert!(
                ["", "sh", "text", "json", "toml"].contains(&block.language),
                "{place}: {}",
                block.language
            );
            assert!(block.not_run.is_none() || block.language == "sh", "{place}: nothing that would be run");
            let has_prompt = block.content.lines().any(|line| line.starts_with("$ "));
            assert!(!has_prompt, "{place}: a prompt can not be pasted");
        }
    }
}
