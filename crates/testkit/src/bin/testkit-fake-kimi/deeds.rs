//! What a turn does, marker by marker.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use testkit::deed::{announce, deaf, execute, hang, leave, load, outcome, stubborn, write};
use testkit::marker::Marker;
use testkit::watch::until_there;

/// Does everything that the prompt asks for and says what came of it.
pub(crate) fn turn(prompt: &str) -> ExitCode {
    let mut answer = BTreeMap::new();
    let mut says = None;
    for marker in Marker::all("KIMI", prompt) {
        let argument = |index: usize| marker.argument("", index).unwrap_or_default();
        match marker.name.as_str() {
            "observe" => drop(answer.insert("observed".to_owned(), observe())),
            "read" => record(&mut answer, "read", argument(0), &fs::read(argument(0)).map(drop)),
            "write" => record(&mut answer, "write", argument(0), &write(Path::new(argument(0)))),
            "execute" => record(&mut answer, "execute", argument(0), &execute(argument(0), &[])),
            "load" => record(&mut answer, "load", argument(0), &load(argument(0))),
            "say" => says = Some(argument(0).to_owned()),
            "event" => println!("{}", argument(0)),
            "complain" => eprintln!("{}", argument(0)),
            "rotate" => rotate(argument(0)),
            "session" => session(argument(0)),
            "started" => announce(),
            "wait" => until_there(Path::new(argument(0))),
            "leave" => leave(),
            "deaf" => deaf(),
            "stubborn" => stubborn(),
            "hang" => hang(),
            "exit" => std::process::exit(argument(0).parse().unwrap_or(1)),
            other => {
                eprintln!("fake: no deed {other}");
                return ExitCode::from(super::BAD);
            }
        }
    }
    let text = match says {
        Some(text) => text,
        None if answer.is_empty() => "Done.".to_owned(),
        None => json!(answer).to_string(),
    };
    if !text.is_empty() {
        println!("{}", json!({"role": "assistant", "content": text}));
    }
    println!("{}", json!({"role": "meta", "type": "session.resume_hint", "content": "kimi -r 1"}));
    ExitCode::SUCCESS
}

fn record(answer: &mut BTreeMap<String, Value>, deed: &str, subject: &str, done: &io::Result<()>) {
    answer.insert(format!("{deed} {subject}"), json!(outcome(done)));
}

fn observe() -> Value {
    let mut stdin = Vec::new();
    let _ = io::stdin().read_to_end(&mut stdin);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let flag = |name: &str| {
        let at = arguments.iter().position(|word| word == name).unwrap_or_default();
        PathBuf::from(arguments.get(at + 1).map_or("", String::as_str))
    };
    json!({
        "stdin": stdin.len(),
        "directory": std::env::current_dir().unwrap_or_default(),
        "variables": variables,
        "config": text(&home.join(".kimi-code/config.toml")),
        "terminal": text(&home.join(".kimi-code/tui.toml")),
        "agent": text(&flag("--agent-file")),
        "skills": listing(&flag("--skills-dir")),
        "home": listing(&home),
        "arguments": arguments,
    })
}

/// Every file below a directory with its mode.
fn listing(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let name = entry.path().strip_prefix(directory).unwrap_or(&place).display().to_string();
            if metadata.is_dir() {
                open.push(entry.path());
            } else {
                let kind = if metadata.is_symlink() { "link" } else { "" };
                found.insert(name, format!("{kind}{:o}", metadata.permissions().mode() & 0o7777));
            }
        }
    }
    found
}

fn vendor_home() -> PathBuf {
    PathBuf::from(std::env::var_os("KIMI_CODE_HOME").unwrap_or_default())
}

/// Refreshes the login as the vendor's program does: a new file in the place of the old one.
pub(crate) fn rotate(kind: &str) {
    let path = vendor_home().join("credentials/kimi-code.json");
    let bytes = match kind {
        "access" => json!({"access_token": "access-rotated-0001"}).to_string(),
        "emptied" => json!({"access_token": "", "refresh_token": "", "token_type": "Bearer"}).to_string(),
        "corrupt" => "{".to_owned(),
        "list" => "[]".to_owned(),
        "gone" => {
            let _ = fs::remove_file(path);
            return;
        }
        name => json!({
            "access_token": format!("access-rotated-{name}"),
            "refresh_token": format!("refresh-rotated-{name}"),
        })
        .to_string(),
    };
    let staged = path.with_extension("new");
    if fs::write(&staged, bytes).and_then(|()| fs::rename(&staged, &path)).is_err() {
        eprintln!("fake: the login can not be refreshed");
    }
}

fn session(text: &str) {
    let directory = vendor_home().join("sessions/one/agents/main");
    let _ = fs::create_dir_all(&directory);
    let _ = fs::write(directory.join("wire.jsonl"), format!("{text}\n"));
}
