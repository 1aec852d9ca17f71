//! Commands that describe the program itself: `completions`, `man`, `schema`, `version`.

use std::io;

use record::answers::{TextAnswer, VersionAnswer};
use serde_json::Value;

use super::{fail_in_a_line, fitted, no_such_command};
use crate::arguments::{self, Completions, Globals, Man, Schema};
use crate::exit::Exit;
use crate::failure::Refusal;
use crate::human::block::Block;
use crate::output;

/// Carries out `completions`.
pub(super) fn completions(globals: &Globals, arguments: &Completions) -> io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut arguments::built(), "delegate", &mut script);
    put(globals, "completions", &String::from_utf8_lossy(&script))
}

/// Carries out `man`.
pub(super) fn man(globals: &Globals, arguments: &Man) -> io::Result<Exit> {
    let program = arguments::built();
    let mut described = match &arguments.command {
        None => program,
        Some(word) => match program.find_subcommand(word) {
            Some(command) => command.clone(),
            None => return no_such_command("man", globals.json),
        },
    };
    let mut page = Vec::new();
    let source = format!("delegate {}", env!("CARGO_PKG_VERSION"));
    // The same words as in the help.
    let usage = described.render_usage().to_string();
    let described = described.override_usage(usage.trim_start_matches("Usage: ").to_owned());
    clap_mangen::Man::new(described).source(source).manual("Delegation layer").render(&mut page)?;
    // The text below the help, whose lines are broken by hand.
    let page = String::from_utf8_lossy(&page).replace("\n.SH EXTRA\n", "\n.SH NOTES\n.nf\n");
    put(globals, "man", &page)
}

fn put(globals: &Globals, command: &str, text: &str) -> io::Result<Exit> {
    if globals.json {
        let (command, text) = (command.to_owned(), text.to_owned());
        output::json(&TextAnswer { schema_version: 1, command, text })?;
    } else {
        output::exact(text)?;
    }
    Ok(Exit::Done)
}

/// Carries out `schema`.
pub(super) fn schema(globals: &Globals, arguments: &Schema) -> io::Result<Exit> {
    let schemas = schemas();
    let Some(wanted) = &arguments.name else {
        let mut block = Block::for_labels(schemas.iter().map(|(name, _)| name.as_str()));
        for (name, schema) in &schemas {
            block.line(name, schema["description"].as_str().unwrap_or_default());
        }
        return put(globals, "schema", &block.into_text());
    };
    match schemas.iter().find(|(name, _)| name == wanted.strip_suffix(".json").unwrap_or(wanted)) {
        Some((_, schema)) if globals.json => output::json(schema)?,
        Some((_, schema)) => output::exact(&format!("{schema:#}\n"))?,
        None => {
            let names: Vec<&str> = schemas.iter().map(|(name, _)| name.as_str()).collect();
            let refusal =
                Refusal::invalid_request(format!("there is no such schema; there are {}", names.join(", ")));
            return fail_in_a_line(globals, &refusal.answer("schema"));
        }
    }
    Ok(Exit::Done)
}

/// Every schema with its name: answers and records, then the files of the contract and the gates.
pub(crate) fn schemas() -> Vec<(String, Value)> {
    let own = record::schema::all().into_iter().map(|(name, schema)| (name.to_owned(), schema));
    let contract = contract::schema::all().unwrap_or_default().into_iter().map(|(file, schema)| {
        let name = file.strip_suffix(".json").unwrap_or(&file).to_owned();
        (name, schema)
    });
    own.chain(contract).collect()
}

/// Prints what this program is, and what it was built from.
pub(super) fn version(json: bool) -> io::Result<Exit> {
    let features =
        if cfg!(feature = "fault-injection") { vec!["fault-injection".to_owned()] } else { vec![] };
    let version = VersionAnswer {
        schema_version: 1,
        command: "version".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("DELEGATION_BUILT_FROM").map(str::to_owned),
        target: env!("DELEGATION_TARGET").to_owned(),
        rustc: env!("DELEGATION_RUSTC").to_owned(),
        profile: env!("DELEGATION_PROFILE").to_owned(),
        features,
    };
    if json {
        output::json(&version)?;
        return Ok(Exit::Done);
    }
    let mut block = Block::default();
    block.line("commit", version.commit.as_deref().unwrap_or("not known"));
    block.line("target", &version.target);
    block.line("compiler", &version.rustc);
    block.line("build", &version.profile);
    if !version.features.is_empty() {
        block.line("features", &version.features.join(", "));
    }
    output::text(&format!("delegate {}\n{}", version.version, fitted(&block.into_text())))?;
    Ok(Exit::Done)
}
