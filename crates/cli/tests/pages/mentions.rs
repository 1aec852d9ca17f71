//! A command that is only mentioned exists too, with the flags that stand beside it.

use std::collections::BTreeMap;

use crate::page::{Page, pages};
use crate::support::Lead;

/// Every code span and every line of a block.
fn snippets(page: &Page) -> Vec<String> {
    let prose = page.prose();
    let spans = prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " "));
    let lines = page
        .blocks()
        .into_iter()
        .flat_map(|block| block.content.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>());
    spans.chain(lines).collect()
}

/// What each command prints as its help; under the empty name that of the program.
fn help() -> BTreeMap<String, String> {
    let lead = Lead::new();
    let general = lead.run(["help"]).stdout;
    let (_, listed) = general.split_once("Commands:\n").unwrap();
    let words = listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
        line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty()).map(str::to_owned)
    });
    let mut help: BTreeMap<String, String> =
        words.map(|word| (word.clone(), lead.run(["help", &word]).stdout)).collect();
    help.insert(String::new(), general);
    help
}

#[test]
fn every_command_that_is_mentioned_exists() {
    let help = help();
    let mut mentions = 0;
    for page in pages() {
        for snippet in snippets(&page) {
            let words: Vec<&str> = snippet.split_whitespace().collect();
            let Some(start) = words.iter().position(|word| *word == "delegate") else { continue };
            // Behind a pipe or a comment sign another program or the reader goes on.
            let rest =
                words[start + 1..].iter().take_while(|word| !["|", "||", "&&", "#", ";"].contains(*word));
            let rest: Vec<&str> = rest.copied().collect();
            let Some(command) = rest.iter().find(|word| help.contains_key(**word)) else {
                let is_open = rest.iter().all(|word| {
                    !word.starts_with(|letter: char| letter.is_ascii_lowercase()) || word.starts_with("__")
                });
                assert!(is_open || start > 0, "{}: there is no such command: {snippet}", page.name);
                continue;
            };
            mentions += 1;
            for flag in rest.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                let flag = flag.split('=').next().unwrap().trim_end_matches([',', '.', ']', ')', ':']);
                let is_known = [*command, ""].iter().any(|name| {
                    help[*name].split_whitespace().any(|word| word.trim_end_matches([',', '.']) == flag)
                });
                assert!(is_known, "{}: {command} has no {flag}: {snippet}", page.name);
            }
        }
    }
    assert!(mentions > 60, "only {mentions} mentions were found");
}

/// The chores of the workspace as well.
#[test]
fn every_chore_that_is_mentioned_exists() {
    let source = Page::read("xtask/src/main.rs").text;
    for page in pages() {
        for snippet in snippets(&page) {
            let Some((_, rest)) = snippet.split_once("cargo xtask ") else { continue };
            let chore = rest.split([' ', '`', '[']).next().unwrap();
            let variant: String = chore.split('-').map(capital).collect();
            let exists =
                [" ", "(", ",", "\n"].iter().any(|end| source.contains(&format!("    {variant}{end}")));
            assert!(exists, "{}: {snippet}", page.name);
        }
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1.min(word.len()));
    first.to_uppercase() + rest
}
