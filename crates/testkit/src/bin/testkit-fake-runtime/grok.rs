//! The Grok Build CLI.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use testkit::deed::print;
use testkit::marker::Marker;

use super::deeds;
use super::not_understood;

const HELP: &str =
    "Usage: grok [options] [command]\n\nCommands:\n  models   list models\n  inspect  show configuration\n";
const MODELS: &str =
    "You are logged in with grok.com.\n\nAvailable models:\n  * grok-4.6 (default)\n  - grok-code\n";
const READ: &str = "grep,read_file,list_dir";
const EDIT: &str = "grep,read_file,search_replace,list_dir,todo_write";

pub(crate) fn main(setup: &Value, words: &[&str]) -> ExitCode {
    match words {
        ["--version"] => print(setup, "version", "grok 1.4.2 (fake)\n"),
        ["--help"] => print(setup, "help", HELP),
        ["models", "--help"] => print(setup, "models_help", "Usage: grok models\n"),
        ["inspect", "--help"] => print(setup, "inspect_help", "Usage: grok inspect [--json]\n"),
        ["models"] => models(setup),
        ["inspect", "--json"] => inspect(setup),
        [turn @ .., "--help"] if Turn::of(turn).is_some() => print(setup, "interface", HELP),
        _ => match Turn::of(words) {
            Some(turn) => turn.play(),
            None => not_understood(words),
        },
    }
}

/// The vendor's directory.
fn vendor() -> PathBuf {
    match std::env::var_os("GROK_HOME") {
        Some(path) => path.into(),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".grok"),
    }
}

fn models(setup: &Value) -> ExitCode {
    if let Some(name) = setup.get("refreshes_in_probes").and_then(Value::as_str) {
        rotate(name);
    }
    if let Some(path) = setup.get("waits_in_probes").and_then(Value::as_str) {
        testkit::deed::announce();
        testkit::watch::until_there(Path::new(path));
    }
    if !vendor().join("auth.json").is_file() {
        println!("You are not logged in.");
        return ExitCode::SUCCESS;
    }
    print(setup, "models", MODELS)
}

/// A workspace with a configuration of its own brings a hook.
fn inspect(setup: &Value) -> ExitCode {
    let hooks =
        if Path::new(".grok/config.toml").exists() { json!([{"command": "true"}]) } else { json!([]) };
    let usual = json!({"mcpServers": {}, "plugins": [], "permissions": {"sources": []}, "hooks": hooks});
    print(setup, "inspect", &usual.to_string())
}

/// The arguments of a turn.
struct Turn {
    prompt: PathBuf,
    profile: String,
}

impl Turn {
    /// Nothing where they are not those of the contract.
    fn of(words: &[&str]) -> Option<Self> {
        let denied = ["config.toml", "sandbox.toml", "auth.json", "sandbox-events.jsonl"];
        let denied: Vec<String> =
            denied.iter().flat_map(|name| ["--deny".to_owned(), format!("Edit(**/.grok/{name})")]).collect();
        let (head, tail) = words.split_at_checked(words.len().checked_sub(denied.len())?)?;
        let ["--prompt-file", prompt, rest @ ..] = head else { return None };
        let ["--model", "grok-4.6", "--reasoning-effort", "high", "--permission-mode", "dontAsk", rest @ ..] =
            rest
        else {
            return None;
        };
        let ["--sandbox", profile, "--output-format", "json", "--no-memory", "--no-subagents", rest @ ..] =
            rest
        else {
            return None;
        };
        let ["--disable-web-search", "--no-auto-update", "--tools", tools, rest @ ..] = rest else {
            return None;
        };
        let is_right = match rest {
            ["--allow", "Edit(**)", "--max-turns", "40"] => *tools == EDIT,
            ["--max-turns", "40"] => *tools == READ,
            _ => false,
        };
        (is_right && tail == denied).then(|| Self { prompt: prompt.into(), profile: (*profile).to_owned() })
    }

    fn play(self) -> ExitCode {
        let Ok(prompt) = fs::read_to_string(&self.prompt) else { return not_understood(&[]) };
        let profiles = fs::read_to_string(vendor().join("sandbox.toml")).unwrap_or_default();
        if !profiles.contains(&format!("[profiles.{}]", self.profile)) {
            eprintln!("error: sandbox profile {} not found", self.profile);
            return ExitCode::FAILURE;
        }
        let attests = !prompt.contains("[[RUN: unattested");
        if attests {
            note(&json!({"event": "ProfileApplied", "profile": self.profile, "enforced": true}).to_string());
        }
        let mut result = json!({
            "thought": "thought-planted",
            "model": "grok-4.6",
            "stopReason": "EndTurn",
            "num_turns": 2,
            "modelUsage": {
                "grok-4.6-build": {
                    "inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 30, "reasoningTokens": 7,
                    "modelCalls": 2, "costUSD": 0.02,
                },
                "grok-helper": {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 1, "costUSD": 0.001},
            },
        });
        let mut raw = None;
        let files = ["config.toml", "sandbox.toml"].map(|name| vendor().join(name));
        let mut own = |marker: &Marker| {
            let argument = marker.argument("", 0).unwrap_or_default();
            match marker.name.as_str() {
                "rotate" => rotate(argument),
                "note" => note(&argument.replace("OWN", &self.profile)),
                "print" => raw = Some(argument.to_owned()),
                // Members of the result: a value, or null for none.
                "set" => {
                    let changes: Value = serde_json::from_str(argument).unwrap_or_default();
                    for (name, value) in changes.as_object().into_iter().flatten() {
                        result[name] = value.clone();
                    }
                }
                _ => {}
            }
        };
        match deeds::turn(&prompt, &files, &mut own) {
            Err(code) => return code,
            Ok(text) if result.get("text").is_none() => result["text"] = json!(text),
            Ok(_) => {}
        }
        println!("{}", raw.unwrap_or_else(|| result.to_string()));
        ExitCode::SUCCESS
    }
}

/// What the sandbox says.
fn note(line: &str) {
    let file = OpenOptions::new().append(true).create(true).open(vendor().join("sandbox-events.jsonl"));
    if file.and_then(|mut file| writeln!(file, "{line}")).is_err() {
        eprintln!("fake: no event can be written");
    }
}

/// Refreshes the login as the vendor does: a new file in the place of the old one.
fn rotate(kind: &str) {
    let path = vendor().join("auth.json");
    let login = |tokens: Value| json!({"https://accounts.x.ai/sign-in": tokens}).to_string();
    let bytes = match kind {
        "corrupt" => "{".to_owned(),
        "access" => login(json!({"key": "access-rotated"})),
        // Signed out, as far as the tokens tell.
        "emptied" => login(json!({"key": "", "refresh_token": "", "token_type": "Bearer"})),
        name => login(json!({
            "key": format!("access-rotated-{name}"),
            "refresh_token": format!("refresh-rotated-{name}"),
        })),
    };
    let staged = path.with_extension("new");
    if fs::write(&staged, bytes).and_then(|()| fs::rename(&staged, &path)).is_err() {
        eprintln!("fake: the login can not be refreshed");
    }
}
