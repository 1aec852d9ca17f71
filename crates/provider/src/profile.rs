//! What a profile is: the one interface behind which everything provider-specific lives.

use record::AbsolutePath;
use record::capability::Description;
use record::plan::LaunchPlan;
use record::request::Request;

use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::login::{LoginFile, ProgramBehind};
use crate::models::ModelListing;
use crate::probe::{self, Probe, ProbeOutput};
use crate::summary::Summariser;

/// What a plan is made from, beside the [`Host`].
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// What was asked.
    pub request: &'a Request,
    /// The brief's exact bytes.
    pub brief: &'a [u8],
    /// Where the CLI may leave declared artifacts.
    pub output_directory: &'a AbsolutePath,
    /// The turn's private temporary directory, made before the launch; the only one behind our fence (STATE.md 7).
    pub temporary_directory: &'a AbsolutePath,
}

/// A plan before the CLI was asked for its version and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The launch; its version is set only where nobody has to be asked.
    pub launch: LaunchPlan,
    /// What to ask, in this order; empty when nothing has to be asked.
    pub probes: Vec<Probe>,
    /// Flags that the help text must name: those of the profile and those that this request uses (providers.md 1.5).
    pub required_flags: Vec<&'static str>,
}

/// One profile: how a CLI is launched, watched and judged.
pub trait Profile: Sync {
    /// What the catalogue says of the profile, without any look at the host.
    fn description(&self) -> Description;

    /// Revision of the planning rules; part of the key under which probes are cached (STATE.md 3.1).
    fn revision(&self) -> u32;

    /// Names of the variables that planning may ask the host for, which are all that have to be captured.
    fn environment_names(&self) -> Vec<&'static str>;

    /// Names of variables whose values are secret and may come from an environment file only (STATE.md 8).
    fn secret_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Where the CLI keeps its login; `None` when no file tells whether it is signed in.
    fn login_file(&self) -> Option<LoginFile> {
        None
    }

    /// Where the login is when [`Self::login_file`] does not tell, in words.
    fn login_words(&self) -> String {
        "whether it is signed in is in no file".to_owned()
    }

    /// How to give it the login that [`Self::login_words`] speaks of.
    fn login_advice(&self) -> Option<String> {
        None
    }

    /// The program that the executable of this profile starts; `None` when it does the work itself.
    fn program_behind(&self) -> Option<ProgramBehind> {
        None
    }

    /// How the CLI lists its models; `None` when it can not (providers.md 7).
    fn models(&self) -> Option<&'static dyn ModelListing> {
        None
    }

    /// The static plan: arguments, environment, identity of the executable, and the probes that are wanted.
    ///
    /// # Errors
    /// When the request can not be served by this profile on this host.
    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError>;

    /// The plan with what the probes of the draft gave, in their order. Pure.
    ///
    /// # Errors
    /// When the CLI lacks what the launch needs.
    fn finish(&self, draft: Draft, facts: &[ProbeOutput]) -> Result<LaunchPlan, PlanError> {
        probe::finish(draft, facts)
    }

    /// What the profile's default fence limits and what not, one sentence each (STATE.md 7).
    fn fence_limits(&self) -> &'static [&'static str];

    /// A new reader of the growing event stream.
    fn summariser(&self) -> Box<dyn Summariser>;

    /// Every judge that this profile ever had, newest last; never empty.
    fn judges(&self) -> &'static [&'static dyn Judge];
}
