//! The end of a run that was prepared and failed: a sanitised diagnostic, and raw material where the user asked for it
//! (runners.md 1.7).

use std::path::Path;

use serde_json::{Map, Value, json};

use super::debug::DebugDirectory;
use super::exit::Failure;
use super::family::Family;
use super::place::Places;
use super::program::Done;
use super::publish;
use super::redaction::redacted;
use super::report::json_file;

/// What a family says of a failed run beside phase and reason.
#[derive(Debug)]
pub struct Account<'a> {
    /// The runner.
    pub family: &'a Family,
    /// The paths of the run.
    pub places: &'a Places,
    /// The members of the diagnostic. Never any text of prompt, key or provider.
    pub members: Map<String, Value>,
    /// The member that names the debug directory: `debug_dir` or `debug_path`.
    pub debug_member: &'static str,
    /// Raw material by file name, kept only with `--debug-dir`, and without keys and tokens.
    pub material: Vec<(&'static str, Vec<u8>)>,
    /// The keys and tokens that are known.
    pub secrets: Vec<String>,
    /// Whether the diagnostic is kept with the material.
    pub keeps_diagnostic: bool,
    /// Whether a last line names the debug directory (GLM).
    pub names_debug: bool,
}

/// Writes the diagnostic and answers with the end of the run. That something could not be kept changes no exit code.
pub fn fail(account: Account<'_>, failure: Failure) -> Done {
    let Account {
        family,
        places,
        mut members,
        debug_member,
        material,
        secrets,
        keeps_diagnostic,
        names_debug,
    } = account;
    let mut lines = Vec::new();
    let debug = places.debug.as_deref().and_then(|debug| match keep(debug, family, &material, &secrets) {
        Ok(directory) => Some(directory),
        Err(error) => {
            lines.push(format!("the debug material could not be kept: {error}"));
            None
        }
    });
    let shown = debug.as_ref().map(|directory| directory.path().display().to_string());
    members.insert("phase".to_owned(), json!(failure.phase.word()));
    members.insert("reason".to_owned(), json!(failure.reason));
    members.insert(debug_member.to_owned(), json!(shown.as_deref()));
    let bytes = json_file(&Value::Object(members));
    if let Some(directory) = debug.as_ref().filter(|_| keeps_diagnostic)
        && let Err(error) = directory.write("diagnostic.json", &bytes)
    {
        lines.push(format!("the debug material could not be kept: {error}"));
    }
    let path = places.diagnostic.path();
    let reason = failure.reason;
    match publish::write(&places.diagnostic, &bytes, places.replaces_diagnostic()) {
        Ok(()) => lines.push(format!("{reason} (details: {})", path.display())),
        Err(error) => {
            lines.push(format!("{reason} (no details: {} can not be written: {error})", path.display()))
        }
    }
    lines.extend(shown.filter(|_| names_debug).map(|path| format!("debug material: {path}")));
    Done::Failed { exit: failure.exit, lines }
}

fn keep(
    debug: &Path,
    family: &Family,
    material: &[(&str, Vec<u8>)],
    secrets: &[String],
) -> std::io::Result<DebugDirectory> {
    let directory = DebugDirectory::create(debug, family)?;
    material.iter().try_for_each(|(name, bytes)| directory.write(name, &redacted(bytes, secrets)))?;
    Ok(directory)
}
