//! One question to a vendor's program before a run: a child with a limit, whose whole text is the answer.

use super::child::{self, End, Launch, Stream};
use super::exit::Refusal;
use super::limits::VERSION_MAX_BYTES;
use super::program::{Call, Stop};
use super::run_directory::RunDirectory;

/// What a program answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Whether it ended with status 0.
    pub is_success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Said {
    /// Both streams.
    pub fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// Runs the program to its end.
///
/// # Errors
/// 69 that names the probe: it could not be started or does not end. The signal that asks this process to end.
pub fn ask(launch: Launch<'_>, run_directory: &RunDirectory, call: &Call<'_>) -> Result<Said, Stop> {
    let (name, limit) = (launch.name.to_owned(), launch.limit);
    let unavailable =
        |why: &dyn std::fmt::Display| Stop::from(Refusal::unavailable(format!("probe {name}: {why}")));
    let ended = child::run(launch, run_directory, call.surroundings, call.signals, &mut |_, _| {});
    let ended = ended.map_err(|error| error.refusal(&format!("probe {name}")))?;
    match ended.end {
        End::Interrupted(signal) => return Err(Stop::Interrupted(signal)),
        End::TimedOut => return Err(unavailable(&format!("no end within {} s", limit.as_secs()))),
        End::TooMuchOutput => return Err(unavailable(&"it never stops writing")),
        End::Exited(_) | End::Signalled(_) => {}
    }
    let text = |stream: &Stream| stream.read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Said {
        is_success: ended.end == End::Exited(0),
        stdout: text(&ended.stdout).map_err(|error| unavailable(&error))?,
        stderr: text(&ended.stderr).map_err(|error| unavailable(&error))?,
    })
}

/// The first word that begins like a version and holds nothing but what versions hold.
pub fn version_of(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.len() <= VERSION_MAX_BYTES
            && word.trim_start_matches('v').starts_with(|first: char| first.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
    };
    text.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn a_version_is_a_word_that_looks_like_one() {
        for (text, version) in [
            ("2.1.0\n", Some("2.1.0")),
            ("kimi, version v0.23.1-rc.1 (linux)", Some("v0.23.1-rc.1")),
            ("kimi", None),
            ("", None),
        ] {
            assert_eq!(version_of(text).as_deref(), version, "{text}");
        }
    }
}
