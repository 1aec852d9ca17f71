//! A fake of the Antigravity CLI (`agy`) and of the Grok Build CLI (`grok`), for runners whose children see nothing but what
//! belongs to the run.
//!
//! Which of the two it is, and how it answers probes, stands behind the program's own last byte (see [`testkit::trailer`]). What a
//! turn does stands in the prompt, as markers `[[RUN: DEED …]]`, done in their order.

mod agy;
mod deeds;
mod grok;

use std::process::ExitCode;

use testkit::trailer;

/// Exit status when the arguments are not those of a turn, or a marker makes no sense.
const BAD: u8 = 91;
/// Exit status when the environment holds what must not be there.
const LEAK: u8 = 90;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Some(code) = testkit::deed::stay_if_asked(&words) {
        return code;
    }
    let setup = match trailer::read() {
        Ok(setup) => setup,
        Err(error) => {
            eprintln!("fake: {error}");
            return ExitCode::from(BAD);
        }
    };
    let leaks = |name: &str| name.starts_with("SSH_") || name.ends_with("_KEY");
    if std::env::vars_os().any(|(name, _)| leaks(&name.to_string_lossy())) {
        return ExitCode::from(LEAK);
    }
    if setup["role"] == "grok" { grok::main(&setup, &words) } else { agy::main(&setup, &words) }
}

/// A status that makes no sense.
fn not_understood(words: &[&str]) -> ExitCode {
    eprintln!("fake: not understood: {} words", words.len());
    ExitCode::from(BAD)
}
