//! What all runners say of themselves in the same form.

use serde_json::{Map, Value};

use super::program::{Call, Done};

/// The members of an object.
pub fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// A JSON value for standard output.
pub fn printed(value: &Value) -> Done {
    Done::Text(json_text(value))
}

/// A JSON value as the content of a file.
pub fn json_file(value: &Value) -> Vec<u8> {
    json_text(value).into_bytes()
}

fn json_text(value: &Value) -> String {
    let mut text = gates::json::pretty(value);
    text.push('\n');
    text
}

/// What `check` prints for people: whether the backend can be used, or why not, and the lanes that may be run.
pub fn availability(call: &Call<'_>, reason: Option<&str>) -> Done {
    let listed = |lanes: &[String]| if lanes.is_empty() { "none".to_owned() } else { lanes.join(" ") };
    let lanes = call.gates.inventory();
    Done::Text(format!(
        "{} through {}: {}\nqualified: {}; provisional: {}\n",
        call.family.model,
        call.family.backend(),
        reason.map_or_else(|| "available".to_owned(), |reason| format!("unavailable: {reason}")),
        listed(&lanes.qualified),
        listed(&lanes.provisional),
    ))
}
