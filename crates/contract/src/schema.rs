//! JSON Schemas of the contract, the gates, the patch policy and the three kinds of artifacts.
//!
//! Those of files come from the types that read them. Those of artifacts come from the embedded contract and say what a
//! schema can say of step 6 to 8 of `validate`; the steps behind them are beyond a schema.

use gates::central::CentralGate;
use gates::executable::ExecutableGate;
use gates::finding::Finding;
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use crate::embedded::CONTRACT;
use crate::model::{Contract, EnvelopeKind, FieldType};
use crate::policy::PatchPolicy;

/// Every schema with its file name.
///
/// # Errors
/// The embedded contract has not the shape of a contract.
pub fn all() -> Result<Vec<(String, Value)>, Finding> {
    let document = gates::json::parse(CONTRACT.as_bytes())
        .map_err(|error| Finding::new("S-01", "", error.to_string()))?;
    let contract = Contract::read(&document)?;
    let mut schemas = vec![
        ("executor-contract.json".to_owned(), of::<Contract>()),
        ("central-gate.json".to_owned(), of::<CentralGate>()),
        ("executable-gate.json".to_owned(), of::<ExecutableGate>()),
        ("patch-policy.json".to_owned(), of::<PatchPolicy>()),
    ];
    for kind in EnvelopeKind::ALL {
        schemas.push((format!("envelope-{}.json", kind.word()), envelope(&contract, kind)));
    }
    Ok(schemas)
}

fn of<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

fn envelope(contract: &Contract, kind: EnvelopeKind) -> Value {
    let declaration = contract.envelopes.get(kind);
    let properties: serde_json::Map<String, Value> = declaration
        .field_types
        .iter()
        .map(|(field, word)| {
            let mut property = json!({ "type": FieldType::of(word).map(FieldType::schema_names) });
            if declaration.closed_value_fields().contains(field)
                && let Some(words) = contract.vocabularies.list(&format!("{field}_values"))
            {
                property["enum"] = words.iter().cloned().collect();
            }
            if declaration.nonnegative_fields().contains(field) {
                property["minimum"] = json!(0);
            }
            if field == "reason"
                && let Some(pattern) = &declaration.reason_pattern
            {
                property["pattern"] = json!(pattern.as_str());
            }
            (field.clone(), property)
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{} envelope", kind.word()),
        "description": format!("Written by: {}", &*declaration.produced_by),
        "type": "object",
        "required": declaration.required.to_vec(),
        "properties": properties,
        "additionalProperties": true,
    })
}
