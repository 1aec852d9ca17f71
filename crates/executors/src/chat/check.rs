//! What a chat runner says of itself: lanes from the gates, availability from the key. Availability is data, not an error.

use std::time::Duration;

use gates::json::{Json, parse};
use serde_json::{Map, json};

use super::exchange::{Exchange, Order, exchange};
use super::limits::{MODELS_CONNECT_MAX_SECONDS, MODELS_MAX_BYTES, MODELS_MAX_SECONDS};
use super::service::{Endpoint, Service};
use crate::common::exit::Refusal;
use crate::common::key::Key;
use crate::common::program::{Call, Done};
use crate::common::report::{availability, printed};

pub(super) fn check(service: &Service, call: &Call<'_>, json: bool) -> Result<Done, Refusal> {
    let family = call.family;
    let endpoint = service.endpoint(call.surroundings)?;
    let key = service.key(&endpoint, call.surroundings);
    let reason = key.as_ref().err().map(|refusal| refusal.message.clone());
    let selected = if key.is_ok() { family.backend() } else { "none" };
    if !json {
        return Ok(availability(call, reason.as_deref()));
    }
    let lanes = call.gates.inventory();
    let efforts = call.gates.efforts();
    let mut backends = Map::new();
    backends.insert(family.backend().to_owned(), json!({"available": key.is_ok(), "reason": reason}));
    let mut status = json!({
        "model": family.model,
        "adapter": family.gate.harness,
        "roles": family.lanes,
        "efforts": efforts,
        "default_effort": efforts.first(),
        "selected_backend": selected,
        "qualified_lanes": lanes.qualified,
        "provisional_lanes": lanes.provisional,
        "candidate_lanes": lanes.candidate,
        "backends": backends,
    });
    if let Some(model) = service.next_snapshot {
        let availability = match key {
            Err(_) => "unknown",
            Ok(key) => match listing(service, endpoint, key, call) {
                Exchange::Interrupted(signal) => return Ok(Done::Interrupted(signal)),
                Exchange::Complete { status: 200, body } => snapshot(&body, model),
                Exchange::Complete { .. } | Exchange::Broken { .. } => "unknown",
            },
        };
        status["next_snapshot"] = json!({"model": model, "availability": availability});
    }
    Ok(printed(&status))
}

/// Asks for the list of models. Informational: which snapshot is pinned is the gate's decision.
fn listing(service: &Service, endpoint: Endpoint, key: Option<Key>, call: &Call<'_>) -> Exchange {
    let order = Order {
        url: format!("{}/models", endpoint.base_url),
        key,
        body: None,
        connect: Duration::from_secs(MODELS_CONNECT_MAX_SECONDS),
        total: Duration::from_secs(MODELS_MAX_SECONDS),
        response_max_bytes: MODELS_MAX_BYTES,
        user_agent: service.family.program,
        is_loopback: endpoint.is_loopback,
    };
    exchange(order, call.signals)
}

fn snapshot(body: &[u8], model: &str) -> &'static str {
    let Ok(document) = parse(body) else { return "unknown" };
    match document.get("data").and_then(Json::as_array) {
        None => "unknown",
        Some(models) if models.iter().any(|entry| entry.get("id").and_then(Json::as_str) == Some(model)) => {
            "available"
        }
        Some(_) => "not-yet-available",
    }
}
