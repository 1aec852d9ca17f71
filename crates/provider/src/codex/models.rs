//! The models that codex knows: `codex debug models`, one JSON object (providers.md 3.7, 3.9).

use record::models::{Model, ModelCatalogue};
use serde_json::{Map, Value};

use crate::events::text;
use crate::models::{ModelListing, listed, refused};
use crate::probe::ProbeOutput;

const SOURCE: &str = "codex debug models";

/// `codex debug models`. The listing by its application server needs a conversation in both directions and says no more.
pub(super) struct Debug;

impl ModelListing for Debug {
    fn arguments(&self) -> &'static [&'static str] {
        &["debug", "models"]
    }

    fn read(&self, output: &ProbeOutput) -> ModelCatalogue {
        if output.exit_code != Some(0) {
            return refused(SOURCE, output);
        }
        let catalogue = serde_json::from_slice::<Map<String, Value>>(&output.stdout).ok();
        listed(SOURCE, catalogue.as_ref().and_then(models))
    }
}

/// The models that codex itself shows in a list.
fn models(catalogue: &Map<String, Value>) -> Option<Vec<Model>> {
    let rows = catalogue.get("models")?.as_array()?;
    let shown =
        rows.iter().filter_map(Value::as_object).filter(|row| text(row, "visibility") != Some("hide"));
    shown.map(model).collect()
}

fn model(row: &Map<String, Value>) -> Option<Model> {
    let efforts = match row.get("supported_reasoning_levels") {
        None | Some(Value::Null) => None,
        Some(levels) => {
            let effort = |level: &Value| Some(level.as_object()?.get("effort")?.as_str()?.to_owned());
            Some(levels.as_array()?.iter().map(effort).collect::<Option<_>>()?)
        }
    };
    Some(Model {
        id: text(row, "slug")?.to_owned(),
        name: text(row, "display_name").map(str::to_owned),
        efforts,
        default_effort: text(row, "default_reasoning_level").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use record::models::ModelListStatus;

    use super::*;

    fn read(stdout: &str) -> ModelCatalogue {
        Debug.read(&ProbeOutput { exit_code: Some(0), stdout: stdout.into(), stderr: Vec::new() })
    }

    #[test]
    fn rows() {
        let catalogue = read(
            r#"{"models":[{"slug":"m-1","display_name":"M 1","visibility":"list","default_reasoning_level":"low",
            "supported_reasoning_levels":[{"effort":"low"},{"effort":"high"}]},{"slug":"m-2","visibility":"hide"},
            {"slug":"m-3"}]}"#,
        );
        assert_eq!(catalogue.status, ModelListStatus::Available);
        let ids: Vec<&str> = catalogue.models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(ids, ["m-1", "m-3"]);
        assert_eq!(catalogue.models[0].efforts, Some(vec!["low".to_owned(), "high".to_owned()]));
        assert_eq!(catalogue.models[1].efforts, None);
    }

    #[test]
    fn what_is_no_list() {
        for wrong in ["", "[]", "{}", r#"{"models":[{}]}"#, r#"{"models":[{"slug":1}]}"#] {
            assert_eq!(read(wrong).status, ModelListStatus::Failed, "{wrong}");
        }
    }
}
