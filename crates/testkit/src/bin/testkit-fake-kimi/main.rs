//! A fake of the Kimi Code CLI and of ripgrep, for runners that let their children see nothing but what belongs to the run.
//!
//! Which of the two it is, and how it answers probes, stands behind the program's own last byte (see
//! [`testkit::trailer`]): its file is the one thing that is always readable inside. What a turn does stands in the prompt, as
//! markers `[[KIMI: DEED …]]`; they are done in their order, and each leaves a member in the answer where it has something to say.

mod deeds;

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use testkit::deed::{announce, print, stay_if_asked};
use testkit::trailer;
use testkit::watch::until_there;

/// Exit status when the arguments are not those of a turn, or a marker makes no sense.
const BAD: u8 = 91;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let setup = match trailer::read() {
        Ok(setup) => setup,
        Err(error) => {
            eprintln!("fake: {error}");
            return ExitCode::from(BAD);
        }
    };
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Some(code) = stay_if_asked(&words) {
        return code;
    }
    if setup["role"] == "rg" {
        return print(&setup, "version", "ripgrep 14.1.1 (rev fake)\n\nfeatures:+pcre2\n");
    }
    match words[..] {
        ["--version"] => print(&setup, "version", "2.1.0\n"),
        ["--help"] => print(
            &setup,
            "help",
            "Usage: kimi [options]\n  -p, --prompt\n  --output-format <format>  (choices: \"text\", \"stream-json\")\n  \
             --agent-file <path>\n  --skills-dir <dir>\n",
        ),
        ["doctor", "--help"] => print(&setup, "doctor_help", "Commands:\n  config [path]\n"),
        ["doctor", "config", path] => doctor(&setup, path),
        ["provider", "list", "--json"] => print(&setup, "models", &models(&setup)),
        ["provider", "list"] => print(
            &setup,
            "providers",
            "managed:kimi-code  type=kimi  models=1  source=oauth\n\nDefault model: x\n",
        ),
        [
            "--prompt",
            prompt,
            "--model",
            "kimi-code/k3",
            "--agent-file",
            _,
            "--skills-dir",
            _,
            "--output-format",
            "stream-json",
        ] => deeds::turn(prompt),
        _ => {
            eprintln!("fake: not understood");
            ExitCode::from(BAD)
        }
    }
}

fn doctor(setup: &Value, path: &str) -> ExitCode {
    if let Some(name) = setup.get("refreshes_in_probes").and_then(Value::as_str) {
        deeds::rotate(name);
    }
    if let Some(path) = setup.get("waits_in_probes").and_then(Value::as_str) {
        announce();
        until_there(Path::new(path));
    }
    let is_config = std::fs::read_to_string(path).is_ok_and(|text| text.contains("default_model"));
    if is_config { print(setup, "doctor", "OK\n") } else { ExitCode::FAILURE }
}

fn models(setup: &Value) -> String {
    let or = |member: &str, usual: Value| setup.get(member).cloned().unwrap_or(usual);
    json!({
        "providers": {"managed:kimi-code": {"type": "kimi"}},
        "models": {
            "kimi-code/k3": {
                "provider": "managed:kimi-code",
                "model": or("model", json!("k3")),
                "supportEfforts": or("efforts", json!(["low", "high", "max"])),
                "defaultEffort": or("effort", json!("max")),
            }
        }
    })
    .to_string()
}
