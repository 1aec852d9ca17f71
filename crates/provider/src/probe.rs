//! Asking a CLI for its version and flags (providers.md 1.5).

use record::plan::LaunchPlan;

use crate::error::PlanError;
use crate::limits::VERSION_MAX_BYTES;
use crate::profile::Draft;

/// One question to the CLI: the entry with these arguments, in the workspace, with the planned environment, empty standard
/// input, contained and bounded like a turn (STATE.md 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The arguments after the program's own name.
    pub arguments: Vec<String>,
}

/// What a probe gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeOutput {
    /// The exit code; `None` when it did not exit by itself.
    pub exit_code: Option<i32>,
    /// Standard output, at most 1 MiB.
    pub stdout: Vec<u8>,
    /// Standard error, at most 1 MiB.
    pub stderr: Vec<u8>,
}

/// The two questions that every CLI is asked: its version, then its help.
pub(crate) fn version_and_help(help_arguments: &[&str]) -> Vec<Probe> {
    let help = help_arguments.iter().chain(&["--help"]);
    vec![
        Probe { arguments: vec!["--version".to_owned()] },
        Probe { arguments: help.map(|word| (*word).to_owned()).collect() },
    ]
}

/// Checks the answers to [`version_and_help`]; a draft without probes is finished as it is.
pub(crate) fn finish(draft: Draft, facts: &[ProbeOutput]) -> Result<LaunchPlan, PlanError> {
    let Draft { mut launch, probes, required_flags } = draft;
    if probes.is_empty() {
        return Ok(launch);
    }
    let [version_probe, help_probe] = probes.as_slice() else {
        unreachable!("a draft has the probes of version_and_help or none");
    };
    let refused = |probe: &Probe, why| PlanError::Probe { arguments: probe.arguments.join(" "), why };
    let [version, help] = facts else {
        return Err(refused(version_probe, "it was not asked everything"));
    };
    for (probe, output) in [(version_probe, version), (help_probe, help)] {
        if output.exit_code != Some(0) {
            return Err(refused(probe, "it did not exit with code 0"));
        }
    }
    launch.provider_version = Some(
        version_text(&version.stdout)
            .ok_or_else(|| refused(version_probe, "it is not one line of plain text"))?,
    );
    match required_flags.into_iter().find(|flag| !offers(help, flag)) {
        Some(flag) => Err(PlanError::MissingFlag { flag: flag.to_owned() }),
        None => Ok(launch),
    }
}

fn version_text(stdout: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(stdout).ok()?.trim();
    let plain = !text.is_empty() && text.len() <= VERSION_MAX_BYTES && !text.chars().any(char::is_control);
    plain.then(|| text.to_owned())
}

/// Whether the help names a flag.
pub(crate) fn offers(help: &ProbeOutput, flag: &str) -> bool {
    names_flag(&help.stdout, flag) || names_flag(&help.stderr, flag)
}

/// Whether a help text names a flag as a whole word.
fn names_flag(help: &[u8], flag: &str) -> bool {
    let part_of_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
    help.windows(flag.len()).enumerate().any(|(start, window)| {
        window == flag.as_bytes()
            && !part_of_word(start.checked_sub(1).and_then(|before| help.get(before)))
            && !part_of_word(help.get(start + flag.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_whole_words() {
        let help = b"  -c, --config <key=value>\n  --json  Print\n  --modeled\n  x--tools [--mode=json]";
        for flag in ["-c", "--config", "--json", "--mode"] {
            assert!(names_flag(help, flag), "{flag}");
        }
        for flag in ["--js", "--model", "--tools", "-m", "--print"] {
            assert!(!names_flag(help, flag), "{flag}");
        }
    }

    #[test]
    fn a_version_is_one_plain_line() {
        assert_eq!(version_text(b" codex-cli 0.171.0\r\n").as_deref(), Some("codex-cli 0.171.0"));
        for wrong in [&b""[..], b" \n", b"1\n2", b"1\x1b[0m", b"\xff1", "1\u{85}2".as_bytes(), &[b'1'; 257]] {
            assert_eq!(version_text(wrong), None, "{wrong:?}");
        }
    }
}
