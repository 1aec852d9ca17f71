//! `check`: lanes from the gates, availability from the probe. Availability is data, not an error.

use serde_json::{Value, json};

use super::knobs::Knobs;
use super::lane::Lane;
use super::probe::{self, Runtime};
use super::report::{self, Availability};
use crate::common::exit::{Exit, Refusal};
use crate::common::login::LoginMode;
use crate::common::program::{Call, Done};
use crate::common::report::{availability, members, printed};

pub(super) fn check(call: &Call<'_>, json: bool) -> Result<Done, Refusal> {
    let family = call.family;
    let knobs = optional(Knobs::of(call.surroundings))?;
    let mode = knobs.as_ref().map_or(LoginMode::Serialized, |knobs| knobs.login_mode);
    let probed = match &knobs {
        Ok(knobs) => optional(probe::probe(call, knobs, Lane::Clerk).map(|(runtime, _)| runtime))?,
        Err(refusal) => Err(refusal.clone()),
    };
    let reason = probed.as_ref().err().map(|refusal| refusal.message.as_str());
    let runtime = probed.as_ref().ok();
    if !json {
        return Ok(availability(call, reason));
    }
    let lanes = call.gates.inventory();
    let seen = Availability {
        reason,
        mode,
        cli_version: runtime.and_then(|runtime| runtime.cli_version.as_deref()),
        ripgrep: runtime.map(|Runtime { ripgrep, .. }| ripgrep),
    };
    let mut status = report::status(family.backend(), &call.gates.efforts(), &seen);
    status.extend(members(json!({
        "model": family.model,
        "qualified_lanes": lanes.qualified,
        "provisional_lanes": lanes.provisional,
    })));
    Ok(printed(&Value::Object(status)))
}

/// A refusal that tells of availability is an answer; any other ends the check.
fn optional<T>(probed: Result<T, Refusal>) -> Result<Result<T, Refusal>, Refusal> {
    match probed {
        Err(refusal) if !matches!(refusal.exit, Exit::Unavailable | Exit::Temporary) => Err(refusal),
        other => Ok(other),
    }
}
