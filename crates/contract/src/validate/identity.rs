//! Step 9: fields that name the family itself.

use gates::json::{Json, Object, pointer};

use super::{Problem, text};
use crate::model::{Envelope, EnvelopeKind, Family};

pub(super) fn problems(
    kind: EnvelopeKind,
    envelope: &Envelope,
    family: &Family,
    fields: &Object,
) -> Vec<Problem> {
    let status = kind == EnvelopeKind::Status;
    let text = |field| text(fields, field);
    let mut problems = Vec::new();
    let mut demand = |field: &str, met: bool| {
        if !met {
            problems.push(Problem::named("identity", pointer([field]), field));
        }
    };
    demand("model", text("model").is_none_or(|model| is_model(family, model)));
    demand("backend", status || text("backend").is_none_or(|backend| backend == &*family.backend));
    demand("effort", text("effort").is_none_or(|effort| family.efforts.has(effort)));
    demand("lane", text("lane").is_none_or(|lane| family.lanes.contains_key(lane)));
    if status {
        let none = envelope.none_backend_value.as_deref();
        demand(
            "selected_backend",
            text("selected_backend").is_none_or(|own| Some(own) == none || own == &*family.backend),
        );
        let efforts = fields.get("efforts").and_then(Json::as_array).unwrap_or_default();
        demand(
            "efforts",
            efforts.iter().all(|effort| effort.as_str().is_some_and(|own| family.efforts.has(own))),
        );
    }
    problems
}

/// The model, or its name in the words of the harness. Where that ends with the effort, only an effort of the family
/// counts (executor-contract.md, "Settled points" 4).
fn is_model(family: &Family, model: &str) -> bool {
    if model == &*family.model {
        return true;
    }
    match family.runtime_model_prefix() {
        Some(prefix) => model.strip_prefix(prefix).is_some_and(|effort| family.efforts.has(effort)),
        None => family.identity.runtime_model.as_deref() == Some(model),
    }
}
