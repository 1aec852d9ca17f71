//! The Antigravity CLI.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::Value;
use testkit::deed::print;

use super::deeds;
use super::not_understood;

const HELP: &str = "Usage: agy [flags]\n  -p, --print\n  --model string\n  --effort string\n  --mode string\n  --print-timeout \
                    duration\n  --sandbox\n";
const MODELS: &str =
    "gemini-3.7-flash-medium\tGemini 3.7 Flash (Medium)\ngemini-3.7-flash-high\tGemini 3.7 Flash (High)\n";

pub(crate) fn main(setup: &Value, words: &[&str]) -> ExitCode {
    match words {
        ["--help"] => print(setup, "help", HELP),
        ["plugin", "list"] => print(setup, "plugins", "No imported plugins.\n"),
        // Whoever has no login is shown no model.
        ["models"] if !vendor_file("antigravity-oauth-token").is_file() => ExitCode::FAILURE,
        ["models"] => print(setup, "models", MODELS),
        ["-p", text, "--model", _, "--effort", _, "--mode", "plan", "--sandbox", "--print-timeout", "5m"] => {
            turn(text)
        }
        _ => not_understood(words),
    }
}

fn vendor_file(name: &str) -> PathBuf {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    home.join(".gemini/antigravity-cli").join(name)
}

fn turn(text: &str) -> ExitCode {
    match deeds::turn(text, &[vendor_file("settings.json")], &mut |_| {}) {
        Ok(answer) => {
            print!("{answer}");
            ExitCode::SUCCESS
        }
        Err(code) => code,
    }
}
