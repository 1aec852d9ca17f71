//! A fake of Claude Code as the GLM runner starts it.
//!
//! How it answers probes stands behind the program's own last byte (see [`testkit::trailer`]); without that it answers as the
//! real one. What a turn does stands in the prompt on standard input, as markers `[[GLM: DEED …]]`; they are done in their
//! order. A turn ends with a good event stream, whose answer tells what came of the deeds, unless deeds wrote lines of their own.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use testkit::deed::{announce, deaf, execute, hang, load, outcome, write};
use testkit::marker::Marker;
use testkit::trailer;
use testkit::watch::until_there;

/// Exit status when a marker makes no sense.
const BAD: u8 = 91;
const HELP: &str = "Usage: claude [options]\n  -p, --print\n  --effort <level>\n";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--help") {
        return help(&trailer::read().unwrap_or_default());
    }
    let mut prompt = String::new();
    if io::stdin().read_to_string(&mut prompt).is_err() {
        return ExitCode::from(BAD);
    }
    turn(&prompt)
}

fn help(setup: &Value) -> ExitCode {
    match setup["help"].as_str() {
        Some("hang") => hang(),
        Some("fail") => ExitCode::FAILURE,
        Some(other) => {
            print!("{other}");
            ExitCode::SUCCESS
        }
        None => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
    }
}

fn turn(prompt: &str) -> ExitCode {
    let mut answer = BTreeMap::new();
    let mut says = None;
    let mut has_spoken = false;
    let mut structured = None;
    for marker in Marker::all("GLM", prompt) {
        let argument = |index: usize| marker.argument("", index).unwrap_or_default();
        let subject = argument(0);
        let attempt = match marker.name.as_str() {
            "read" => fs::read(subject).map(drop),
            "write" => write(Path::new(subject)),
            "replace" => fs::write(subject, "replaced by the fake\n"),
            "mode" => fs::set_permissions(subject, fs::Permissions::from_mode(0o755)),
            "remove" => fs::remove_file(subject),
            "execute" => execute(subject, &[]),
            "load" => load(subject),
            other => {
                match other {
                    "observe" => drop(answer.insert("observed".to_owned(), observe(prompt))),
                    "say" => says = Some(subject.to_owned()),
                    "structured" => structured = serde_json::from_str::<Value>(subject).ok(),
                    "line" => {
                        has_spoken = true;
                        println!("{subject}");
                    }
                    "complain" => eprintln!("{subject}"),
                    "started" => announce(),
                    "wait" => until_there(Path::new(subject)),
                    "deaf" => deaf(),
                    "hang" => hang(),
                    "exit" => std::process::exit(subject.parse().unwrap_or(1)),
                    _ => {
                        eprintln!("fake: no deed {other}");
                        return ExitCode::from(BAD);
                    }
                }
                continue;
            }
        };
        answer.insert(format!("{} {subject}", marker.name), json!(outcome(&attempt)));
    }
    if !has_spoken {
        let text = match says {
            Some(text) => text,
            None if answer.is_empty() => "Done.".to_owned(),
            None => json!(answer).to_string(),
        };
        good_stream(&text, structured);
    }
    ExitCode::SUCCESS
}

/// What a good turn of the real program says, as far as the runner reads it.
fn good_stream(text: &str, structured: Option<Value>) {
    let model = std::env::var("ANTHROPIC_DEFAULT_OPUS_MODEL").unwrap_or_default();
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text, "total_cost_usd": 0.25,
        "usage": {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2},
        "modelUsage": {&model: {
            "inputTokens": 11, "outputTokens": 7, "cacheReadInputTokens": 3, "cacheCreationInputTokens": 2, "thinkingTokens": 5,
            "costUSD": 0.25, "canonicalModel": &model, "provider": "firstParty",
        }},
    });
    if let Some(structured) = structured {
        result["structured_output"] = structured;
    }
    println!("{}", json!({"type": "system", "subtype": "init", "model": &model}));
    println!("{}", json!({"type": "assistant", "message": {"model": &model, "content": []}}));
    println!("{result}");
}

fn observe(prompt: &str) -> Value {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    let mode = |name: &str| {
        let metadata = fs::metadata(variables.get(name)?).ok()?;
        Some(format!("{:o}", metadata.permissions().mode() & 0o7777))
    };
    json!({
        "prompt": prompt,
        "arguments": arguments,
        "directory": std::env::current_dir().unwrap_or_default(),
        "configuration_mode": mode("CLAUDE_CONFIG_DIR"),
        "variables": variables,
    })
}
