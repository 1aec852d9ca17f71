//! The models that pi lists: a table with six columns (providers.md 5.6).

use record::models::{Model, ModelCatalogue};

use super::EFFORTS;
use crate::models::{ModelListing, listed, refused};
use crate::probe::ProbeOutput;

const SOURCE: &str = "pi --list-models";
const HEADER: [&str; 6] = ["provider", "model", "context", "max-out", "thinking", "images"];

/// `pi --list-models`.
pub(super) struct Table;

impl ModelListing for Table {
    fn arguments(&self) -> &'static [&'static str] {
        &["--list-models"]
    }

    fn read(&self, output: &ProbeOutput) -> ModelCatalogue {
        if output.exit_code != Some(0) {
            return refused(SOURCE, output);
        }
        let models = str::from_utf8(&output.stdout).ok().and_then(rows);
        let efforts = EFFORTS.iter().map(|effort| (*effort).to_owned()).collect();
        ModelCatalogue { efforts: Some(efforts), ..listed(SOURCE, models) }
    }
}

fn rows(text: &str) -> Option<Vec<Model>> {
    let mut lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| !words.is_empty());
    if lines.next()? != HEADER {
        return None;
    }
    lines
        .map(|words| match words.as_slice() {
            [provider, model, _, _, _, _] => Some(Model {
                id: format!("{provider}/{model}"),
                name: None,
                efforts: None,
                default_effort: None,
            }),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use record::models::ModelListStatus;

    use super::*;

    fn read(stdout: &str) -> ModelCatalogue {
        Table.read(&ProbeOutput { exit_code: Some(0), stdout: stdout.into(), stderr: Vec::new() })
    }

    #[test]
    fn a_table() {
        let catalogue = read(
            "provider  model       context  max-out  thinking  images\nfake      fake-model  128K     16.4K    no        no\n",
        );
        assert_eq!(catalogue.status, ModelListStatus::Available);
        assert_eq!(catalogue.models[0].id, "fake/fake-model");
        assert!(catalogue.efforts.unwrap().contains(&"xhigh".to_owned()));
    }

    #[test]
    fn what_is_no_table() {
        for wrong in ["", "provider model\n", "provider model context max-out thinking images\na b c\n"] {
            assert_eq!(read(wrong).status, ModelListStatus::Failed, "{wrong}");
        }
    }
}
