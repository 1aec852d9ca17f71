//! JSON Schemas of everything that a program may read: the answers of the command line and the records of a root.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::answer::Answer;
use crate::answers::{
    CapabilitiesAnswer, DoctorAnswer, FailedAnswer, ModelsAnswer, ProvidersAnswer, PruneAnswer, TextAnswer,
    VersionAnswer, WaitAnswer,
};
use crate::event::Event;
use crate::history::{EventLine, Listing, LogLine};
use crate::launch::{Launch, Running, Session, StopRequest};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::request::Request;
use crate::retention::Pruned;
use crate::seal::Seal;
use crate::submission::{RootRecord, Submission};

/// Every schema with its name: first the answers, then the records.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("task-answer", of::<Answer>()),
        ("wait-answer", of::<WaitAnswer>()),
        ("list-answer", of::<Listing>()),
        ("event", of::<EventLine>()),
        ("log-line", of::<LogLine>()),
        ("providers-answer", of::<ProvidersAnswer>()),
        ("capabilities-answer", of::<CapabilitiesAnswer>()),
        ("models-answer", of::<ModelsAnswer>()),
        ("doctor-answer", of::<DoctorAnswer>()),
        ("prune-answer", of::<PruneAnswer>()),
        ("version-answer", of::<VersionAnswer>()),
        ("text-answer", of::<TextAnswer>()),
        ("failed-answer", of::<FailedAnswer>()),
        ("root", of::<RootRecord>()),
        ("request", of::<Request>()),
        ("plan", of::<Plan>()),
        ("submission", of::<Submission>()),
        ("launch", of::<Launch>()),
        ("running", of::<Running>()),
        ("session", of::<Session>()),
        ("stop", of::<StopRequest>()),
        ("seal", of::<Seal>()),
        ("outcome", of::<Outcome>()),
        ("pruned", of::<Pruned>()),
        ("journal-event", of::<Event>()),
    ]
}

fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(AbsentIsNeverNull)
        .with_transform(WithoutSources);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// What need not be there is left out when there is nothing to say, and never null.
#[derive(Clone, Debug)]
struct AbsentIsNeverNull;

impl Transform for AbsentIsNeverNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        let required: Vec<String> = object
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
            .unwrap_or_default();
        let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
        for (name, property) in properties.iter_mut() {
            if !required.contains(name) {
                without_null(property);
            }
        }
    }
}

fn without_null(property: &mut Value) {
    let Some(object) = property.as_object_mut() else { return };
    object.remove("default");
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else { return };
    choices.retain(|choice| choice["type"] != "null");
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        // What is said of the field here counts before what is said of its type.
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

/// Where a rule comes from matters to those who build the program, not to those who read its output.
#[derive(Clone, Debug)]
struct WithoutSources;

impl Transform for WithoutSources {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = without_sources(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

fn without_sources(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(" (") {
        let Some((inner, after)) = behind.split_once(')') else { break };
        kept.push_str(before);
        if !inner.contains(".md") && !inner.starts_with("predecessor-core") {
            kept.push_str(&format!(" ({inner})"));
        }
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_are_left_out() {
        assert_eq!(without_sources("Is it (STATE.md 3)?"), "Is it?");
        assert_eq!(
            without_sources(
                "Git (settings, hooks) as before (STATE.md 7), or (CLI.md, predecessor-core 1) not"
            ),
            "Git (settings, hooks) as before, or not"
        );
        assert_eq!(without_sources("open (end"), "open (end");
    }

    #[test]
    fn no_schema_names_a_page_that_readers_do_not_have() {
        for (name, schema) in all() {
            let text = schema.to_string();
            for page in ["STATE.md", "CLI.md", "predecessor-core", "providers.md"] {
                assert!(!text.contains(page), "{name}: {page}");
            }
        }
    }
}
