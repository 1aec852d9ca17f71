//! The README's tour runs as it stands there, and the lists in the documentation are complete.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::failure::FailureCode;
use record::outcome::Note;
use record::words::ReasonCode;
use support::Lead;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn text(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The shell blocks of a section.
fn blocks(markdown: &str, section: &str) -> String {
    let (_, rest) = markdown.split_once(&format!("## {section}\n")).unwrap();
    let rest = rest.split("\n## ").next().unwrap();
    let parts = rest.split("```sh\n").skip(1);
    parts.filter_map(|part| part.split("```").next()).filter(|block| !block.starts_with("cargo ")).collect()
}

#[test]
fn the_tour_of_the_readme() {
    let lead = Lead::new();
    let script =
        blocks(&text("README.md"), "Five minutes").replace("/tmp/", &format!("{}/", lead.path().display()));
    assert!(script.lines().count() > 8, "{script}");
    let programs = Path::new(env!("CARGO_BIN_EXE_delegate")).parent().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-eu", "-c", &script])
        .env_clear()
        .envs(lead.command(["help"]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
        .current_dir(lead.workspace());
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("\"verdict\":\"committed\""), "{printed}");
}

/// The words in the first column of a table.
fn first_column(markdown: &str) -> Vec<&str> {
    markdown.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn every_failure_code_is_documented_with_its_exit_code() {
    let page = text("docs/integration.md");
    let documented = first_column(&page);
    for code in FailureCode::ALL {
        assert!(documented.contains(&code.as_str()), "{code} is not in docs/integration.md");
    }
}

#[test]
fn every_outcome_is_documented() {
    let outcomes = text("docs/outcomes.md");
    let documented = first_column(&outcomes);
    for code in ReasonCode::ALL {
        assert!(documented.contains(&code.as_str()), "{code} is not in docs/outcomes.md");
    }
    for note in Note::ALL {
        assert!(outcomes.contains(&format!("`{note}`")), "{note} is not in docs/outcomes.md");
    }
}

#[test]
fn every_command_and_flag_is_documented() {
    let commands = text("docs/commands.md");
    let lead = Lead::new();
    let help = lead.run(["help"]).stdout;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    for line in listed.lines().take_while(|line| !line.is_empty()) {
        let Some(word) =
            line.strip_prefix("  ").and_then(|line| line.split(' ').next()).filter(|word| !word.is_empty())
        else {
            continue;
        };
        assert!(commands.contains(&format!("[`{word}`]")), "{word} is not in docs/commands.md");
        for flag in lead.run(["help", word]).stdout.split_whitespace().filter(|flag| flag.starts_with("--")) {
            let flag = flag.trim_end_matches([',', ':', ';', '.', ')']);
            assert!(commands.contains(flag), "{word} {flag} is not in docs/commands.md");
        }
    }
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let mut pages = vec!["README.md".to_owned(), "ARCHITECTURE.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in fs::read_dir(repository().join("docs")).unwrap().flatten() {
        pages.push(format!("docs/{}", entry.file_name().to_str().unwrap()));
    }
    for page in pages.iter().filter(|page| page.ends_with(".md")) {
        let here = repository().join(page);
        for target in text(page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(here.parent().unwrap().join(file).exists(), "{page} links to {target}");
        }
    }
}
