//! `check`: lanes from the gates, availability from the probe. Availability is data, not an error.

use serde_json::{Value, json};

use super::binary;
use super::home::SandboxProfile;
use super::knobs::Knobs;
use super::lane::Lane;
use super::probe::{self, Runtime, Wanted};
use super::report;
use super::{GROK, USAGE_MODEL};
use crate::common::exit::{Exit, Refusal};
use crate::common::login::LoginMode;
use crate::common::program::{Call, Done, Stop, ended};
use crate::common::report::{availability, members, printed};
use crate::common::run_directory::RunDirectory;

pub(super) fn check(call: &Call<'_>, json: bool) -> Result<Done, Refusal> {
    ended(answer(call, json))
}

fn answer(call: &Call<'_>, json: bool) -> Result<Done, Stop> {
    let knobs = Knobs::of(call.surroundings);
    let probed = match &knobs {
        Ok(knobs) => probe(call, knobs),
        Err(refusal) => Err(refusal.clone().into()),
    };
    let (runtime, reason) = match probed {
        Ok(runtime) => (Some(runtime), None),
        Err(Stop::Refused(refusal)) if matches!(refusal.exit, Exit::Unavailable | Exit::Temporary) => {
            (None, Some(refusal.message))
        }
        Err(other) => return Err(other),
    };
    if !json {
        return Ok(availability(call, reason.as_deref()));
    }
    // What can not be used may still be found; of several, nobody knows which it would be.
    let found = match (&runtime, &knobs) {
        (Some(runtime), _) => Some(runtime.binary.clone()),
        (None, Ok(knobs)) => {
            binary::find(call, knobs).ok().filter(|found| found.len() == 1).and_then(|mut found| found.pop())
        }
        (None, Err(_)) => None,
    };
    let lanes = call.gates.inventory();
    let efforts = call.gates.efforts();
    let cli_version = runtime.as_ref().and_then(|runtime| runtime.cli_version.as_deref());
    let timeout = knobs.as_ref().ok().map(|knobs| knobs.limit.as_secs());
    let backend =
        report::backend(reason.as_deref(), &efforts, LoginMode::Serialized, Lane::Builder.sandbox(), timeout);
    let mut status = report::pins(cli_version);
    status.extend(members(json!({
        "usage_model": USAGE_MODEL,
        "runtime_cli_source": found.as_ref().map_or("none", |binary| binary.source),
        "runtime_cli_path": found.as_ref().map(|binary| binary.path.display().to_string()),
        "efforts": efforts,
        "selected_backend": if reason.is_none() { GROK.backend() } else { "none" },
        "qualified_lanes": lanes.qualified,
        "provisional_lanes": lanes.provisional,
        "backends": {GROK.backend(): backend},
    })));
    Ok(printed(&Value::Object(status)))
}

fn probe(call: &Call<'_>, knobs: &Knobs) -> Result<Runtime, Stop> {
    let run_directory = RunDirectory::create(call.family)?;
    let profile = SandboxProfile::of(Lane::Builder, &run_directory);
    let wanted =
        Wanted { lane: Lane::Builder, mode: LoginMode::Serialized, profile: &profile, workdir: None };
    probe::probe(call, knobs, wanted).map(|(runtime, _)| runtime)
}
