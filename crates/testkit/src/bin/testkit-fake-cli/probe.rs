//! `--version` and `--help` (providers.md 1.5).

use std::process::ExitCode;

use testkit::fake::Behaviour;

use crate::conduct;
use crate::grammar::Grammar;

pub(crate) fn answer(
    grammar: Grammar,
    arguments: &[String],
    behaviours: &[Behaviour],
) -> Result<ExitCode, String> {
    let mut lacking = Vec::new();
    let mut version = match grammar {
        Grammar::Codex => "codex-cli 0.171.0",
        Grammar::Claude => "2.1.332 (Claude Code)",
        Grammar::Pi => "1.6.0",
        Grammar::Opencode => "1.18.33",
        Grammar::Agy => "1.2.2",
        Grammar::Worker => "worker 1.0.0",
    };
    for behaviour in behaviours {
        match behaviour {
            Behaviour::ProbeHangs => conduct::hang(),
            Behaviour::ProbeFails => return Ok(ExitCode::FAILURE),
            Behaviour::VersionText(text) => version = text,
            Behaviour::HelpLacks(flag) => lacking.push(flag.as_str()),
            _ => {}
        }
    }
    if arguments.iter().any(|word| word == "--version") {
        println!("{version}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("A fake CLI for tests.\n\nOptions:");
    for flag in flags(grammar).iter().filter(|flag| !lacking.contains(flag)) {
        println!("  {flag} <VALUE>");
    }
    Ok(ExitCode::SUCCESS)
}

fn flags(grammar: Grammar) -> &'static [&'static str] {
    match grammar {
        Grammar::Codex => &[
            "-c",
            "--sandbox",
            "--cd",
            "--output-last-message",
            "--json",
            "--color",
            "--model",
            "--skip-git-repo-check",
        ],
        Grammar::Claude => &[
            "--effort",
            "--input-format",
            "--model",
            "--output-format",
            "--permission-mode",
            "--permission-prompts",
            "--print",
            "--resume",
            "--session-id",
            "--tools",
            "--verbose",
        ],
        Grammar::Pi => &["--mode", "--tools", "--model", "--thinking", "--session", "--list-models"],
        Grammar::Opencode => &["--agent", "--auto", "--dir", "--format", "--model", "--session", "--variant"],
        Grammar::Agy => &[
            "--add-dir",
            "--conversation",
            "--dangerously-skip-permissions",
            "--effort",
            "--input-format",
            "--mode",
            "--model",
            "--output-format",
            "--print-timeout",
            "--sandbox",
        ],
        Grammar::Worker => &[],
    }
}
