//! The schemas in `schemas/` are those of the types.
//!
//! To write them anew: `DELEGATION_WRITE_DOCS=1 cargo test -p record --test schemas`.

use std::path::Path;

use serde_json::Value;

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).expect("a schema is JSON") + "\n"
}

#[test]
fn no_schema_has_drifted() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let write = std::env::var_os("DELEGATION_WRITE_DOCS").is_some();
    for (name, schema) in record::schema::all() {
        let path = directory.join(format!("{name}.json"));
        let expected = pretty(&schema);
        if write {
            std::fs::write(&path, &expected).expect("written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("schemas/{name}: {error}"));
        assert_eq!(found, expected, "schemas/{name}.json is not the schema of the type");
    }
}

fn schema(name: &str) -> Value {
    record::schema::all().into_iter().find(|(own, _)| *own == name).expect("a schema").1
}

#[test]
fn records_are_closed_and_answers_are_open() {
    for name in ["request", "plan", "outcome", "seal", "pruned", "root", "journal-event"] {
        assert_eq!(schema(name)["additionalProperties"], false, "{name}");
    }
    for name in ["task-answer", "list-answer", "event", "doctor-answer"] {
        assert_eq!(schema(name).get("additionalProperties"), None, "{name}");
    }
}

#[test]
fn what_may_be_absent_is_never_null() {
    let answer = schema("task-answer");
    let required: Vec<&str> =
        answer["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(required, ["schema_version", "command", "admission", "liveness", "publication"]);
    assert_eq!(answer["properties"]["error"]["type"], "string");
    assert_eq!(answer["properties"]["outcome"]["$ref"], "#/$defs/Outcome");
    assert_eq!(answer["properties"]["outcome"]["description"], "The outcome of a terminal task.");
    // Here null is a word of its own: not known.
    let models = schema("models-answer");
    assert!(models["required"].as_array().unwrap().contains(&"efforts".into()), "{models}");
    assert_eq!(models["properties"]["efforts"]["type"], serde_json::json!(["array", "null"]));
}

#[test]
fn words_are_listed_with_their_meaning() {
    let answer = schema("task-answer");
    let words = answer["$defs"]["Liveness"]["oneOf"].as_array().unwrap();
    assert_eq!(words[0], serde_json::json!({ "const": "queued", "description": "Admitted, not launched." }));
    assert_eq!(words.len(), record::words::Liveness::ALL.len());
}
