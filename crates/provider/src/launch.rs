//! What a profile decides of a launch, beside what every launch has.

use record::ProfileId;
use record::plan::{EffectiveConfig, LaunchPlan};
use record::request::Request;
use record::words::Fence;

use crate::environment::Environment;
use crate::error::PlanError;
use crate::executable::Executable;
use crate::host::Host;
use crate::judge::Judge;
use crate::profile::PlanInput;
use crate::roots::Roots;

/// What a profile has decided for a request.
pub(crate) struct Decided<'a> {
    pub(crate) executable: Executable,
    pub(crate) argv: Vec<String>,
    pub(crate) environment: Environment,
    pub(crate) fence: Fence,
    /// How the CLI was told to answer its own questions for permission.
    pub(crate) approval: &'a str,
    pub(crate) writable: Roots<'a>,
    pub(crate) judge: &'static dyn Judge,
}

impl Decided<'_> {
    /// The launch in the workspace.
    pub(crate) fn into_plan(self, profile: &ProfileId, request: &Request) -> LaunchPlan {
        let permission = request.requested_config.permission;
        LaunchPlan {
            provider_version: None,
            identity: self.executable.identity,
            start: self.executable.start,
            argv: self.argv,
            stdin_prefix: None,
            new_conversation: None,
            environment: self.environment.into_list(),
            directory: request.canonical_cwd.clone(),
            output_artifacts: Vec::new(),
            effective_config: EffectiveConfig {
                permission,
                fence: self.fence,
                approval: self.approval.to_owned(),
                writable_roots: self.writable.into_paths(),
            },
            predicate: self.judge.predicate(profile, permission),
        }
    }
}

/// Where every CLI may write with that fence. Behind our own one its temporary directory is that of the turn.
///
/// # Errors
/// A directory can not be looked at.
pub(crate) fn writable<'a>(
    host: &'a dyn Host,
    environment: &mut Environment,
    fence: Fence,
    input: &PlanInput<'_>,
) -> Result<Roots<'a>, PlanError> {
    let (workspace, permission) = (&input.request.canonical_cwd, input.request.requested_config.permission);
    match fence {
        Fence::Ours => {
            environment.use_temporary(input.temporary_directory);
            Roots::fenced(host, workspace, permission)
        }
        Fence::Theirs | Fence::None => Roots::common(host, environment, workspace, permission),
    }
}

/// Adds the flags that have a value.
pub(crate) fn add_flags(argv: &mut Vec<String>, flags: &[(&str, Option<&str>)]) {
    for (flag, value) in flags {
        argv.extend(value.iter().flat_map(|value| [*flag, *value]).map(str::to_owned));
    }
}
