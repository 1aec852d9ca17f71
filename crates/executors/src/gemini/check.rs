//! `check`: lanes from the gates, availability from the probe. Availability is data, not an error.

use serde_json::json;

use super::probe;
use crate::common::diagnostic::json_file;
use crate::common::exit::{Exit, Refusal};
use crate::common::program::{Call, Done, Stop};

pub(super) fn check(call: &Call<'_>, json: bool) -> Result<Done, Refusal> {
    let family = call.family;
    let reason = match probe::probe(call, family.efforts) {
        Ok(_) => None,
        Err(Stop::Interrupted(signal)) => return Ok(Done::Interrupted(signal)),
        Err(Stop::Refused(refusal)) if refusal.exit == Exit::Unavailable => Some(refusal.message),
        Err(Stop::Refused(refusal)) => return Err(refusal),
    };
    let lanes = call.gates.inventory();
    let backend = family.backend();
    if !json {
        let availability =
            reason.as_ref().map_or("available".to_owned(), |reason| format!("unavailable: {reason}"));
        return Ok(Done::Text(format!(
            "{} through {backend}: {availability}\nqualified: {}; provisional: {}\n",
            family.model,
            listed(&lanes.qualified),
            listed(&lanes.provisional),
        )));
    }
    let efforts = call.gates.efforts();
    let status = json!({
        "model": family.model,
        "efforts": efforts,
        "selected_backend": if reason.is_none() { backend } else { "none" },
        "qualified_lanes": lanes.qualified,
        "provisional_lanes": lanes.provisional,
        "backends": {backend: {"available": reason.is_none(), "reason": reason, "efforts": efforts}},
    });
    Ok(Done::Text(String::from_utf8_lossy(&json_file(&status)).into_owned()))
}

fn listed(lanes: &[String]) -> String {
    if lanes.is_empty() { "none".to_owned() } else { lanes.join(" ") }
}
