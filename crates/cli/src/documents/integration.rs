//! `docs/integration.md`: every field, word and exit code of what the program prints, from the types that are printed.

use std::collections::BTreeMap;

use record::failure::FailureCode;
use serde_json::Value;

use super::{cell, hold};
use crate::exit;

/// Schemas of what is printed; the others are of what is stored.
const PRINTED: [&str; 13] = [
    "task-answer",
    "wait-answer",
    "list-answer",
    "event",
    "log-line",
    "providers-answer",
    "capabilities-answer",
    "models-answer",
    "doctor-answer",
    "prune-answer",
    "version-answer",
    "text-answer",
    "failed-answer",
];

#[test]
fn integration_md_tells_every_field_and_word() {
    let schemas = record::schema::all();
    let printed: Vec<&(&str, Value)> = schemas.iter().filter(|(name, _)| PRINTED.contains(name)).collect();
    assert_eq!(printed.len(), PRINTED.len());
    let mut definitions = BTreeMap::new();
    for (_, schema) in &printed {
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            definitions.insert(name.clone(), definition.clone());
        }
    }
    let answers = printed.iter().map(|(name, schema)| object(&format!("`{name}`"), schema)).collect();
    hold(
        "integration.md",
        &[
            ("answers", answers),
            ("objects", objects(&definitions)),
            ("words", words(&definitions)),
            ("texts", texts(&definitions)),
            ("failures", failures()),
            ("records", records(&schemas)),
        ],
    );
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn object(title: &str, schema: &Value) -> String {
    let mut text = format!(
        "### {title}\n\n{}\n\n| field | what | there | meaning |\n|---|---|---|---|\n",
        description(schema)
    );
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().expect("an object has fields");
    // Those that are always there first, in the order in which they are printed.
    let mut names: Vec<&str> = required.clone();
    names.extend(properties.keys().map(String::as_str).filter(|name| !required.contains(name)));
    for name in names {
        let there = if required.contains(&name) { "always" } else { "" };
        let property = &properties[name];
        text.push_str(&format!(
            "| `{name}` | {} | {there} | {} |\n",
            kind(property),
            cell(&description(property))
        ));
    }
    text + "\n"
}

/// What stands in a field, in words.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return match name {
            "Answer" => "[task answer](#task-answer)".to_owned(),
            // It has a table of its own, with exit codes.
            "FailureCode" => "[FailureCode](#failure-codes)".to_owned(),
            name => format!("[{name}](#{})", name.to_lowercase()),
        };
    }
    let name = |word: &str| match word {
        "boolean" => "true or false".to_owned(),
        "array" => format!("list of {}", kind(&schema["items"])),
        "null" => "null".to_owned(),
        "string" => "text".to_owned(),
        word => word.to_owned(),
    };
    match &schema["type"] {
        Value::String(word) => name(word),
        Value::Array(words) => {
            words.iter().filter_map(Value::as_str).map(name).collect::<Vec<_>>().join(" or ")
        }
        _ => panic!("a field without a type: {schema}"),
    }
}

fn objects(definitions: &BTreeMap<String, Value>) -> String {
    let objects = definitions.iter().filter(|(name, schema)| schema["type"] == "object" && *name != "Answer");
    objects.map(|(name, schema)| object(name, schema)).collect()
}

fn words(definitions: &BTreeMap<String, Value>) -> String {
    let mut text = String::new();
    for (name, schema) in definitions {
        let Some(words) = schema["oneOf"].as_array().filter(|_| name != "FailureCode") else { continue };
        text.push_str(&format!("### {name}\n\n{}\n\n| word | meaning |\n|---|---|\n", description(schema)));
        for word in words {
            let word_text = word["const"].as_str().expect("a word");
            text.push_str(&format!("| `{word_text}` | {} |\n", cell(&description(word))));
        }
        text.push('\n');
    }
    text
}

fn texts(definitions: &BTreeMap<String, Value>) -> String {
    let mut text = String::new();
    for (name, schema) in definitions {
        if schema["type"] != "object" && schema.get("oneOf").is_none() {
            let pattern = schema["pattern"]
                .as_str()
                .map(|pattern| format!(" Pattern: `{pattern}`"))
                .unwrap_or_default();
            text.push_str(&format!("### {name}\n\n{}{pattern}\n\n", description(schema)));
        }
    }
    text
}

fn failures() -> String {
    let mut text = String::from("| code | exit | meaning |\n|---|---|---|\n");
    for code in FailureCode::ALL {
        let exit = exit::of_failure(*code) as u8;
        text.push_str(&format!("| `{code}` | {exit} | {} |\n", cell(&code.meaning())));
    }
    text
}

fn records(schemas: &[(&str, Value)]) -> String {
    let mut text = String::from("| schema | what it describes |\n|---|---|\n");
    for (name, schema) in schemas.iter().filter(|(name, _)| !PRINTED.contains(name)) {
        text.push_str(&format!("| [`{name}`](../schemas/{name}.json) | {} |\n", cell(&description(schema))));
    }
    text
}
