//! `check`: lanes from the gates, availability from the probe. Availability is data, not an error.

use serde_json::json;

use super::probe;
use crate::common::exit::{Exit, Refusal};
use crate::common::program::{Call, Done, Stop};
use crate::common::report::{availability, printed};

pub(super) fn check(call: &Call<'_>, json: bool) -> Result<Done, Refusal> {
    let family = call.family;
    let reason = match probe::probe(call, family.efforts) {
        Ok(_) => None,
        Err(Stop::Interrupted(signal)) => return Ok(Done::Interrupted(signal)),
        Err(Stop::Refused(refusal)) if refusal.exit == Exit::Unavailable => Some(refusal.message),
        Err(Stop::Refused(refusal)) => return Err(refusal),
    };
    if !json {
        return Ok(availability(call, reason.as_deref()));
    }
    let lanes = call.gates.inventory();
    let backend = family.backend();
    let efforts = call.gates.efforts();
    let status = json!({
        "model": family.model,
        "efforts": efforts,
        "selected_backend": if reason.is_none() { backend } else { "none" },
        "qualified_lanes": lanes.qualified,
        "provisional_lanes": lanes.provisional,
        "backends": {backend: {"available": reason.is_none(), "reason": reason, "efforts": efforts}},
    });
    Ok(printed(&status))
}
