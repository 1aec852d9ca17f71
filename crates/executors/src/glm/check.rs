//! `check`: lanes from the gates, availability from the probe. Availability is data, not an error.

use serde_json::{Map, Value, json};

use super::runtime::{self, Host, Unready};
use crate::common::exit::{Exit, Refusal};
use crate::common::program::{Call, Done};
use crate::common::report::{availability, printed};

pub(super) fn check(call: &Call<'_>, json: bool) -> Result<Done, Refusal> {
    let family = call.family;
    let host = Host::look(call.surroundings);
    let reason = match runtime::probe(call, &host) {
        Ok(_) => None,
        Err(Unready::Refused(refusal)) if refusal.exit == Exit::Unavailable => Some(refusal.message),
        Err(Unready::Refused(refusal)) => return Err(refusal),
        Err(Unready::Interrupted(signal)) => return Ok(Done::Interrupted(signal)),
    };
    if !json {
        return Ok(availability(call, reason.as_deref()));
    }
    let lanes = call.gates.inventory();
    let mut backends = Map::new();
    backends.insert(family.backend().to_owned(), json!({"available": reason.is_none(), "reason": reason}));
    let missing = host.missing();
    let status = json!({
        "model": family.model,
        "roles": family.lanes,
        "efforts": call.gates.efforts(),
        "selected_backend": if reason.is_none() { family.backend() } else { "none" },
        "host": {
            "available": missing.is_none(),
            "reason": missing,
            "claude": host.claude.is_some(),
            "codex": host.codex.is_some(),
        },
        "qualified_lanes": lanes.qualified,
        "provisional_lanes": lanes.provisional,
        "backends": Value::Object(backends),
    });
    Ok(printed(&status))
}
