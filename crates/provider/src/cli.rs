//! What the profiles of CLIs that are installed on the host have in common.

use record::capability::{Description, ReadOnlyDescription, RuntimeDescription};
use record::request::Request;
use record::words::{ContinuationMode, Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::error::PlanError;
use crate::launch::Decided;
use crate::options::{self, Offer, Options};
use crate::probe;
use crate::profile::Draft;

/// The fixed facts of such a CLI. It reads and writes, continues conversations, and is asked for its version and help.
pub(crate) struct Cli {
    /// Id of the profile.
    pub(crate) id: &'static str,
    /// Name of the program.
    pub(crate) program: &'static str,
    /// Options of a request that it knows.
    pub(crate) options: &'static [ProfileOption],
    /// How read-only mode is kept.
    pub(crate) mechanism: ReadOnlyMechanism,
    /// The fence when none is asked for.
    pub(crate) containment: Fence,
    /// Words before `--help`.
    pub(crate) help_arguments: &'static [&'static str],
    /// Flags that every launch uses.
    pub(crate) required_flags: &'static [&'static str],
    /// Variables whose values are secret; all that an environment file may set.
    pub(crate) secret_names: &'static [&'static str],
    /// The shape of its conversation ids.
    pub(crate) is_conversation: fn(&str) -> bool,
}

impl Cli {
    /// What the catalogue says of the profile.
    pub(crate) fn description(&self) -> Description {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Description {
            id: self.id.parse().expect("a well-formed id"),
            supported_modes: vec![Permission::ReadOnly, Permission::WorkspaceWrite],
            supported_options: self.options.to_vec(),
            continuation: ContinuationMode::Native,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: self.mechanism,
                containment: self.containment,
            },
            runtime: RuntimeDescription {
                executable: Some(self.program.to_owned()),
                help_args: owned(self.help_arguments),
                required_flags: owned(self.required_flags),
            },
        }
    }

    /// The options of a request, checked.
    ///
    /// # Errors
    /// The CLI does not serve such a request.
    pub(crate) fn check<'a>(&self, request: &'a Request, fences: &[Fence]) -> Result<Options<'a>, PlanError> {
        let offer = Offer {
            description: &self.description(),
            fences,
            modes_note: "",
            secret_names: self.secret_names,
            is_conversation: self.is_conversation,
        };
        options::check(offer, request)
    }

    /// Refuses a brief of white space: these CLIs trim it, and make nothing or an error of the rest.
    ///
    /// # Errors
    /// It is blank.
    pub(crate) fn demand_text(&self, brief: &[u8]) -> Result<(), PlanError> {
        if String::from_utf8_lossy(brief).trim().is_empty() {
            return Err(self.invalid_brief("it is blank".to_owned()));
        }
        Ok(())
    }

    /// The refusal of a brief.
    pub(crate) fn invalid_brief(&self, why: String) -> PlanError {
        PlanError::InvalidBrief { profile: self.description().id, why }
    }

    /// Refuses an effort that the CLI would pass over or fail at.
    ///
    /// # Errors
    /// It is none of those that it knows.
    pub(crate) fn demand_effort(&self, effort: Option<&str>, known: &[&str]) -> Result<(), PlanError> {
        match effort {
            Some(effort) if !known.contains(&effort) => {
                let why = format!("{} knows {}", self.program, known.join(", "));
                Err(PlanError::InvalidOption { option: ProfileOption::Effort, why })
            }
            _ => Ok(()),
        }
    }

    /// The draft of a launch.
    pub(crate) fn draft(&self, request: &Request, decided: Decided<'_>) -> Draft {
        Draft {
            launch: decided.into_plan(&self.description().id, request),
            probes: probe::version_and_help(self.help_arguments),
            required_flags: self.required_flags.to_vec(),
        }
    }
}
