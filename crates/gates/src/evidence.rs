//! The evidence store, as far as the gates refer to it (router.md 1.4 rule 6, section 2).
//!
//! Evidence informs people. It never changes a gate; here it is only looked up whether an id that a gate cites is known,
//! and whether exact evidence speaks of exactly the variant that cites it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::finding::Finding;
use crate::json::{Json, decode};

/// The store.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Evidence {
    /// Always 1.
    pub schema_version: u64,
    /// What each lane needs. A store without it makes no demand.
    #[serde(default)]
    lane_evidence: BTreeMap<String, LaneEvidence>,
    evidence: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct LaneEvidence {
    #[serde(default)]
    required_metrics: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Item {
    id: String,
    model: Option<String>,
    harness: Option<String>,
    effort: Option<String>,
    #[serde(default)]
    metrics: Json,
}

/// One row of the store.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a>(&'a Item);

impl Evidence {
    /// Reads the shape.
    ///
    /// # Errors
    /// The first place that has another shape, or another version.
    pub fn read(document: &Json) -> Result<Self, Finding> {
        let store: Self = decode(document, &[]).map_err(|fault| Finding::shape("R-01", fault))?;
        if store.schema_version == 1 {
            Ok(store)
        } else {
            Err(Finding::new("R-01", "/schema_version", "the evidence store has another version than 1"))
        }
    }

    /// The row of an id.
    pub fn get(&self, id: &str) -> Option<Row<'_>> {
        self.evidence.iter().find(|item| item.id == id).map(Row)
    }

    /// The metrics that exact evidence for a lane must carry.
    pub fn required_metrics(&self, lane: &str) -> &[String] {
        self.lane_evidence.get(lane).map_or(&[], |evidence| &evidence.required_metrics)
    }
}

impl Row<'_> {
    /// Whether the row speaks of exactly this variant.
    pub fn is_of(&self, model: &str, harness: &str, effort: &str) -> bool {
        (self.0.model.as_deref(), self.0.harness.as_deref(), self.0.effort.as_deref())
            == (Some(model), Some(harness), Some(effort))
    }

    /// Whether the row carries a metric; the name is a path such as `coding.deep_swe_pass_pct`.
    pub fn has(&self, metric: &str) -> bool {
        let path: Vec<&str> = metric.split('.').collect();
        self.0.metrics.at(&path).is_some_and(|value| *value != Json::Null)
    }
}
