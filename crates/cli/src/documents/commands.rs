//! `docs/commands.md`: every command and flag, from the parser.

use clap::{Arg, Command};

use super::{cell, hold};
use crate::arguments::built;

#[test]
fn commands_md_is_what_the_parser_takes() {
    let program = built();
    hold(
        "commands.md",
        &[
            ("globals", globals(&program)),
            ("commands", overview(&program)),
            ("reference", reference(&program)),
        ],
    );
}

fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    program.get_subcommands().filter(|command| !command.is_hide_set())
}

/// The arguments of a command of its own, in the order of its help.
fn own<'a>(program: &'a Command, command: &'a Command) -> impl Iterator<Item = &'a Arg> {
    let global: Vec<&str> = program.get_arguments().filter_map(Arg::get_long).collect();
    command.get_arguments().filter(move |argument| {
        argument.get_long().is_none_or(|long| !global.contains(&long) && long != "help")
    })
}

fn globals(program: &Command) -> String {
    table(program.get_arguments().filter(|argument| !matches!(argument.get_long(), Some("help" | "version"))))
}

fn overview(program: &Command) -> String {
    let mut text = String::from("| command | what it does |\n|---|---|\n");
    for command in commands(program) {
        let name = command.get_name();
        text.push_str(&format!("| [`{name}`](#{name}) | {} |\n", cell(&about(command))));
    }
    text
}

fn reference(program: &Command) -> String {
    let mut text = String::new();
    for command in commands(program) {
        let usage = command.clone().render_usage().to_string();
        // Its further lines stand below the first one.
        let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).trim().replace("\n       ", "\n");
        text.push_str(&format!("### {}\n\n{}.\n\n```\n{usage}\n```\n\n", command.get_name(), about(command)));
        if own(program, command).next().is_some() {
            text.push_str(&table(own(program, command)));
            text.push('\n');
        }
    }
    text
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let mut text = String::from("| argument | meaning |\n|---|---|\n");
    for argument in arguments {
        let mut meaning = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let takes_value = argument.get_action().takes_values();
        if takes_value && !argument.is_hide_possible_values_set() {
            let words: Vec<String> =
                argument.get_possible_values().iter().map(|word| format!("`{}`", word.get_name())).collect();
            if !words.is_empty() {
                meaning.push_str(&format!(" ({})", words.join(", ")));
            }
        }
        let default = argument.get_default_values().first().and_then(|value| value.to_str());
        if let Some(default) = default.filter(|_| takes_value && !argument.is_hide_default_value_set()) {
            meaning.push_str(&format!(" [default: {default}]"));
        }
        text.push_str(&format!("| `{}` | {} |\n", spelled(argument), cell(&meaning)));
    }
    text
}

fn spelled(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = values.first().map(ToString::to_string).filter(|_| argument.get_action().takes_values());
    match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => {
            let many = argument.get_num_args().is_some_and(|count| count.max_values() > 1);
            format!("{}{}", value.unwrap_or_default(), if many { "…" } else { "" })
        }
    }
}
