//! What models opencode lists: a line with an id, then an object about it (providers.md 6.6).

use record::models::{Model, ModelCatalogue};
use serde_json::{Map, Value};

use crate::events::text;
use crate::models::{ModelListing, listed, refused};
use crate::probe::ProbeOutput;

const SOURCE: &str = "opencode models --verbose";

/// `opencode models --verbose`.
pub(super) struct Verbose;

impl ModelListing for Verbose {
    fn arguments(&self) -> &'static [&'static str] {
        &["models", "--verbose"]
    }

    fn read(&self, output: &ProbeOutput) -> ModelCatalogue {
        if output.exit_code != Some(0) {
            return refused(SOURCE, output);
        }
        listed(SOURCE, str::from_utf8(&output.stdout).ok().and_then(models))
    }
}

fn models(mut text: &str) -> Option<Vec<Model>> {
    let mut models = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return Some(models);
        }
        let (id, rest) = text.split_once('\n')?;
        let id = id.trim_end();
        if id.starts_with('{') || id.contains(char::is_whitespace) {
            return None;
        }
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        models.push(model(id, &objects.next()?.ok()?)?);
        text = &rest[objects.byte_offset()..];
    }
}

fn model(id: &str, about: &Map<String, Value>) -> Option<Model> {
    let first = |names: [&str; 2]| names.iter().find_map(|name| text(about, name)).map(str::to_owned);
    let efforts = match about.get("variants") {
        None | Some(Value::Null) => None,
        Some(Value::Object(variants)) => {
            let mut names: Vec<String> = variants.keys().cloned().collect();
            names.sort();
            Some(names)
        }
        Some(_) => return None,
    };
    Some(Model {
        id: id.to_owned(),
        name: first(["name", "displayName"]),
        efforts,
        default_effort: first(["defaultVariant", "defaultEffort"]),
    })
}

#[cfg(test)]
mod tests {
    use record::models::ModelListStatus;

    use super::*;

    fn read(exit_code: i32, stdout: &str) -> ModelCatalogue {
        let output = ProbeOutput { exit_code: Some(exit_code), stdout: stdout.into(), stderr: Vec::new() };
        Verbose.read(&output)
    }

    #[test]
    fn ids_and_objects_alternate() {
        let text = "p/one\n{\n  \"id\": \"one\",\n  \"name\": \"One\",\n  \"cost\": {\n    \"a\": 0\n  },\n  \"variants\": {\n    \"low\": {},\n    \"high\": {}\n  },\n  \"defaultVariant\": \"low\"\n}\n\
            p/two\n{\n  \"displayName\": \"Two\",\n  \"variants\": {}\n}\np/three\n{\"variants\":null}\n";
        let catalogue = read(0, text);
        assert_eq!((catalogue.status, catalogue.complete), (ModelListStatus::Available, true));
        let ids: Vec<_> = catalogue.models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(ids, ["p/one", "p/two", "p/three"]);
        let [one, two, three] = &catalogue.models[..] else { panic!() };
        assert_eq!(one.efforts.as_deref(), Some(&["high".to_owned(), "low".to_owned()][..]));
        assert_eq!((one.name.as_deref(), one.default_effort.as_deref()), (Some("One"), Some("low")));
        assert_eq!((two.name.as_deref(), two.efforts.as_deref()), (Some("Two"), Some(&[][..])));
        assert_eq!((three.name.as_deref(), &three.efforts), (None, &None));
    }

    #[test]
    fn what_is_no_list() {
        for text in [
            "p/one\n",
            "p/one\np/two\n",
            "{}\n",
            "p/one\n{}\n{}\n",
            "a b\n{}\n",
            "p/one\n{\n",
            "p/one\n{\"variants\":[]}\n",
            "p/one\n{\"variants\":{},\"defaultVariant\":\"x\"}\n",
            "p/one\n{}\np/one\n{}\n",
        ] {
            assert_eq!(read(0, text).reason_code, "invalid_native_output", "{text:?}");
        }
        assert_eq!(read(0, "").reason_code, "models_unavailable");
        assert_eq!(read(1, "p/one\n{}\n").reason_code, "native_command_failed");
    }
}
