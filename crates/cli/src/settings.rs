//! The user's settings: `delegation.toml` in the configuration directory (CLI.md "delegate"). Flags and variables count before
//! them.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use record::AbsolutePath;
use record::words::SupervisorKind;
use serde::Deserialize;

use crate::failure::Refusal;
use crate::limits::SETTINGS_MAX_BYTES;
use crate::root;

/// Name of the file.
const NAME: &str = "delegation.toml";
/// Where Slurm's own programs look for a configuration in another place than the usual one.
const SLURM_CONFIG_VARIABLE: &str = "SLURM_CONF";

/// What the file may hold.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// The owner of new tasks.
    pub(crate) supervisor: Option<SupervisorKind>,
    /// Runners at once of a supervisor that a command starts.
    pub(crate) slots: Option<NonZeroU32>,
    /// The configuration of the Pueue that owns new tasks.
    pub(crate) pueue_config: Option<PathBuf>,
    /// What new jobs of Slurm are asked for.
    #[serde(default)]
    pub(crate) slurm: Slurm,
}

/// The table `[slurm]`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Slurm {
    config: Option<PathBuf>,
    partition: Option<String>,
    account: Option<String>,
    qos: Option<String>,
    #[serde(default)]
    options: Vec<String>,
}

impl Settings {
    /// Those of the user; none when there is no file.
    ///
    /// # Errors
    /// The file can not be read or understood.
    pub(crate) fn read() -> Result<Self, Refusal> {
        match root::user_configuration() {
            Some(directory) => Self::of(&directory.join(NAME)),
            None => Ok(Self::default()),
        }
    }

    fn of(path: &Path) -> Result<Self, Refusal> {
        let refused = |why: &str| Err(Refusal::invalid_request(format!("{}: {why}", path.display())));
        let mut text = String::new();
        match File::open(path).and_then(|file| file.take(SETTINGS_MAX_BYTES + 1).read_to_string(&mut text)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return refused(&error.to_string()),
            Ok(length) if length as u64 > SETTINGS_MAX_BYTES => return refused("it is too large"),
            Ok(_) => {}
        }
        toml::from_str(&text).or_else(|error| refused(&complaint(&error, &text)))
    }
}

/// What is wrong and where, in one sentence; the parser's own report draws a picture of several lines.
fn complaint(error: &toml::de::Error, text: &str) -> String {
    let words = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let before = error.span().and_then(|place| text.get(..place.start));
    match before {
        Some(before) => format!("line {}: {words}", before.matches('\n').count() + 1),
        None => words,
    }
}

impl Slurm {
    /// What they come to for `sbatch`.
    ///
    /// # Errors
    /// The path of the configuration can not be recorded.
    pub(crate) fn options(self) -> Result<turn::SlurmSettings, Refusal> {
        let variable = std::env::var_os(SLURM_CONFIG_VARIABLE).filter(|value| !value.is_empty());
        let config = variable.map(PathBuf::from).or(self.config).map(|path| {
            AbsolutePath::new(&path).map_err(|fault| {
                Refusal::invalid_request(format!("the configuration of Slurm {}: {fault}", path.display()))
            })
        });
        let named = [("partition", self.partition), ("account", self.account), ("qos", self.qos)];
        let named = named.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
        Ok(turn::SlurmSettings { config: config.transpose()?, options: named.chain(self.options).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, Refusal> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Settings::of(file.path())
    }

    #[test]
    fn a_file_that_is_not_there_says_nothing() {
        assert_eq!(Settings::of(Path::new("/nowhere/delegation.toml")), Ok(Settings::default()));
        assert_eq!(read(""), Ok(Settings::default()));
    }

    #[test]
    fn every_setting() {
        let settings = read(
            "supervisor = \"slurm\"\nslots = 3\npueue-config = \"/q\"\n[slurm]\nconfig = \"/etc/slurm.conf\"\n\
             partition = \"cpu\"\naccount = \"lab\"\nqos = \"low\"\noptions = [\"--exclusive\"]\n",
        )
        .unwrap();
        assert_eq!((settings.supervisor, settings.slots), (Some(SupervisorKind::Slurm), NonZeroU32::new(3)));
        assert_eq!(settings.pueue_config.as_deref(), Some(Path::new("/q")));
        let slurm = settings.slurm.options().unwrap();
        assert_eq!(slurm.options, ["--partition=cpu", "--account=lab", "--qos=low", "--exclusive"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["supervisor = \"bogus\"", "slot = 3", "slots = 0", "[slurm]\nqueue = \"x\"", "= 3"] {
            let refusal = read(text).unwrap_err();
            assert_eq!(refusal.failure.code, record::failure::FailureCode::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn a_complaint_is_one_sentence_that_says_where() {
        for (text, line, words) in [
            ("supervisor = \"bogus\"", 1, "embedded"),
            ("slots = 2\n\nslot = 3\n", 3, "slot"),
            ("slots = 0", 1, "zero"),
            ("[slurm]\nqueue = \"x\"", 2, "queue"),
            ("slots = 3\n= 3", 2, "key"),
            ("slots = \"", 1, "string"),
            ("[slurm\n", 1, ""),
        ] {
            let error = read(text).unwrap_err().error;
            assert!(error.contains(&format!(": line {line}: ")) && error.contains(words), "{error}");
            assert!(!error.contains(char::is_control) && !error.contains(" | "), "{error}");
        }
    }
}
