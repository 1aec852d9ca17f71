//! What models antigravity lists: lines of an id and a name (providers.md 2.7).

use record::models::{Model, ModelCatalogue};

use crate::models::{ModelListing, listed, refused};
use crate::probe::ProbeOutput;

const SOURCE: &str = "agy models";
const PROGRESS: &str = "Fetching available models...";

/// `agy models`.
pub(super) struct Table;

impl ModelListing for Table {
    fn arguments(&self) -> &'static [&'static str] {
        &["models"]
    }

    fn read(&self, output: &ProbeOutput) -> ModelCatalogue {
        if output.exit_code != Some(0) {
            return refused(SOURCE, output);
        }
        listed(SOURCE, str::from_utf8(&output.stdout).ok().and_then(models))
    }
}

fn models(text: &str) -> Option<Vec<Model>> {
    let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
    lines
        .filter(|line| !line.trim().is_empty() && *line != PROGRESS)
        .map(|line| {
            let (id, name) = line.split_once('\t').filter(|(_, name)| !name.contains('\t'))?;
            let name = Some(name.to_owned()).filter(|name| !name.is_empty());
            Some(Model { id: id.to_owned(), name, efforts: None, default_effort: None })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(exit_code: i32, stdout: &str) -> ModelCatalogue {
        let output = ProbeOutput { exit_code: Some(exit_code), stdout: stdout.into(), stderr: Vec::new() };
        Table.read(&output)
    }

    #[test]
    fn lines_of_two_fields() {
        let catalogue =
            read(0, "Fetching available models...\n\nmodel-1-high\tModel 1 (High)\r\nmodel-2\t\n");
        assert_eq!((catalogue.reason_code.as_str(), catalogue.complete), ("ok", true));
        let found: Vec<_> =
            catalogue.models.iter().map(|model| (model.id.as_str(), model.name.as_deref())).collect();
        assert_eq!(found, [("model-1-high", Some("Model 1 (High)")), ("model-2", None)]);
        assert!(catalogue.models.iter().all(|model| model.efforts.is_none()));
    }

    #[test]
    fn what_is_no_list() {
        for text in ["one\n", "a\tb\tc\n", "\tname\n", "a\tb\na\tc\n"] {
            assert_eq!(read(0, text).reason_code, "invalid_native_output", "{text:?}");
        }
        assert_eq!(read(0, "Fetching available models...\n").reason_code, "models_unavailable");
        assert_eq!(read(1, "authentication failed or timed out").reason_code, "authentication_unavailable");
    }
}
