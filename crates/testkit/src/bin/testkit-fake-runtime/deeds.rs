//! What a turn does, marker by marker.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use testkit::deed::{announce, execute, hang, leave, outcome, write};
use testkit::marker::Marker;
use testkit::watch::until_there;

/// Does everything that the prompt asks for; the answer says what came of it, or what it was told to say. Observes also the
/// content of `files`. A marker that it does not know is one of the program's own.
pub(crate) fn turn(
    prompt: &str,
    files: &[PathBuf],
    own: &mut dyn FnMut(&Marker),
) -> Result<String, ExitCode> {
    let mut answer = BTreeMap::new();
    let mut says = None;
    for marker in Marker::all("RUN", prompt) {
        let argument = |index: usize| marker.argument("", index).unwrap_or_default();
        match marker.name.as_str() {
            "observe" => drop(answer.insert("observed".to_owned(), observe(prompt, files))),
            "read" => record(&mut answer, "read", argument(0), &fs::read(argument(0)).map(drop)),
            "write" => record(&mut answer, "write", argument(0), &write(Path::new(argument(0)))),
            "execute" => record(&mut answer, "execute", argument(0), &execute(argument(0), &[])),
            "say" => says = Some(argument(0).to_owned()),
            "complain" => eprintln!("{}", argument(0)),
            "started" => announce(),
            "wait" => until_there(Path::new(argument(0))),
            "leave" => leave(),
            "hang" => hang(),
            "exit" => return Err(ExitCode::from(argument(0).parse::<u8>().unwrap_or(1))),
            _ => own(&marker),
        }
    }
    Ok(match says {
        Some(text) => text,
        None if answer.is_empty() => "Done.".to_owned(),
        None => json!(answer).to_string(),
    })
}

fn record(answer: &mut BTreeMap<String, Value>, deed: &str, subject: &str, done: &io::Result<()>) {
    answer.insert(format!("{deed} {subject}"), json!(outcome(done)));
}

fn observe(prompt: &str, files: &[PathBuf]) -> Value {
    let mut stdin = Vec::new();
    let _ = io::stdin().read_to_end(&mut stdin);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let texts: BTreeMap<String, String> = files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap_or_default())
        })
        .collect();
    let directory = std::env::current_dir().unwrap_or_default();
    json!({
        "stdin": stdin.len(),
        "directory_files": listing(&directory),
        "directory_mode": mode(&directory),
        "directory": directory,
        "variables": variables,
        "texts": texts,
        "prompt": prompt,
        "home": listing(&home),
        "arguments": arguments,
    })
}

fn mode(path: &Path) -> String {
    fs::symlink_metadata(path)
        .map(|metadata| format!("{:o}", metadata.permissions().mode() & 0o7777))
        .unwrap_or_default()
}

/// Every file and directory below a directory with its mode.
fn listing(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.path().strip_prefix(directory).unwrap_or(&place).display().to_string();
            let word = if kind.is_symlink() { "link".to_owned() } else { mode(&entry.path()) };
            found.insert(name, word);
            if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}
