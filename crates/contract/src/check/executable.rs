//! The lanes of each family are those of its executable gate, controls included (executor-contract.md 7.7).

use gates::embedded;
use gates::finding::{Exit, Finding, Refusal};
use gates::json::{Json, decode, pointer};
use gates::source::Environment;
use indexmap::IndexMap;
use serde::Deserialize;

use super::{beside_the_gates, same_set};
use crate::model::{Contract, Family, Lane};

/// The controls that every row has and that are compared.
pub(super) const CONTROLS: [&str; 10] = [
    "permission_mode",
    "worktree_edits",
    "worktree_access",
    "write_scope",
    "terminal",
    "network",
    "mcp",
    "plugins",
    "subagents",
    "tools",
];

const STAGE: &str = "executable-gates";

/// The part of an executable gate that is compared.
#[derive(Deserialize)]
struct Gate {
    #[serde(default)]
    model: Json,
    lanes: IndexMap<String, GateLane>,
}

#[derive(Deserialize)]
struct GateLane {
    #[serde(default)]
    default_effort: Json,
    #[serde(default)]
    backends: IndexMap<String, Option<Row>>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    status: Json,
    #[serde(default)]
    selection: Json,
    #[serde(default)]
    effort: Json,
    #[serde(default)]
    runtime_controls: Json,
}

/// The families in alphabetical order; the first that fails ends the run.
pub(super) fn check(contract: &Contract, environment: &Environment<'_>) -> Result<(), Refusal> {
    let mut names: Vec<&String> = contract.families.keys().collect();
    names.sort_unstable();
    for name in names {
        let family = &contract.families[name];
        let file = &*family.executable_gate;
        let text = beside_the_gates(environment, file, embedded::file(file))?;
        let message = format!("{name}: {} disagrees with the contract", text.label);
        let document = text.parse(STAGE)?;
        let gate = decode::<Gate>(&document, &[])
            .map_err(|fault| Refusal::of_findings(STAGE, &message, vec![Finding::shape("X-0", fault)]))?;
        let comparison = Comparison { contract, name, family, gate: &gate };
        let findings = comparison.findings();
        if !findings.is_empty() {
            let words: Vec<&str> = findings.iter().map(|finding| finding.detail.as_str()).collect();
            let list = serde_json::to_string(&words).unwrap_or_default();
            return Err(Refusal {
                exit: Exit::Invalid,
                stage: STAGE,
                message: format!("{message}: {list}"),
                findings,
            });
        }
    }
    Ok(())
}

/// One family and its gate.
#[derive(Clone, Copy)]
struct Comparison<'a> {
    contract: &'a Contract,
    name: &'a str,
    family: &'a Family,
    gate: &'a Gate,
}

impl<'a> Comparison<'a> {
    fn findings(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let whole = || pointer(["families", self.name]);
        if self.gate.model != Json::from(&*self.family.model) {
            findings.push(Finding::new("X-model", whole(), "model"));
        }
        let own = self.family.lanes.keys().map(String::as_str);
        if !same_set(own, self.gate.lanes.keys().map(String::as_str)) {
            findings.push(Finding::new("X-lane-set", whole(), "lane-set"));
        }
        for key in self.isolation_keys() {
            let declared = self.family.runtime_isolation.declared(key) != Json::Null;
            let stated = || {
                let mut lanes = self.family.lanes.keys();
                lanes.any(|lane| {
                    self.row(lane).is_some_and(|(row, _)| row.runtime_controls.get(key).is_some())
                })
            };
            if declared && !stated() {
                let detail = format!("isolation-claim-unevidenced:{key}");
                findings.push(Finding::new("X-isolation-claim-unevidenced", whole(), detail));
            }
        }
        for (name, lane) in &self.family.lanes {
            if let Some((id, detail)) = self.lane(name, lane) {
                let at = pointer(["families", self.name, "lanes", name]);
                findings.push(Finding::new(id, at, format!("{name}:{detail}")));
            }
        }
        findings
    }

    fn isolation_keys(self) -> impl Iterator<Item = &'a str> {
        self.contract.executable_gate_controls.isolation_cross_checked_against.keys().map(String::as_str)
    }

    /// The row of a lane, and its effort.
    fn row(self, lane: &str) -> Option<(&'a Row, &'a Json)> {
        let lane = self.gate.lanes.get(lane)?;
        let row = lane.backends.get(&*self.family.backend)?.as_ref()?;
        Some((row, if row.effort == Json::Null { &lane.default_effort } else { &row.effort }))
    }

    /// The first thing that is wrong with a lane.
    fn lane(self, name: &str, lane: &Lane) -> Option<(&'static str, String)> {
        let Some((row, effort)) = self.row(name) else {
            return Some(("X-missing-row", "missing-row".to_owned()));
        };
        for (id, key, found, expected) in [
            ("X-status", "status", &row.status, &lane.status),
            ("X-selection", "selection", &row.selection, &lane.selection),
            ("X-effort", "effort", effort, &lane.effort),
        ] {
            if *found != Json::from(&**expected) {
                return Some((id, key.to_owned()));
            }
        }
        let Some(controls) = row.runtime_controls.as_object() else {
            return Some(("X-missing-runtime-controls", "missing-runtime-controls".to_owned()));
        };
        let declared = &self.contract.executable_gate_controls;
        let missing: Vec<&str> = declared
            .required_fields
            .iter()
            .map(String::as_str)
            .filter(|field| !controls.contains_key(*field))
            .collect();
        if !missing.is_empty() {
            return Some(("X-missing-controls", format!("missing-controls:{}", missing.join(","))));
        }
        let unknown: Vec<&str> = controls
            .keys()
            .map(String::as_str)
            .filter(|field| !declared.required_fields.has(field) && !declared.descriptive_fields.has(field))
            .collect();
        if !unknown.is_empty() {
            return Some(("X-unknown-controls", format!("unknown-controls:{}", unknown.join(","))));
        }
        let isolation = self.isolation_keys().filter(|key| {
            controls.get(*key).is_some_and(|stated| *stated != self.family.runtime_isolation.declared(key))
        });
        let compared = declared.required_fields.iter().map(String::as_str);
        let compared = compared
            .filter(|field| expected(lane, field).is_none_or(|value| controls.get(*field) != Some(&value)));
        let different: Vec<&str> = isolation.chain(compared).collect();
        if different.is_empty() { None } else { Some(("X-controls", different.join(","))) }
    }
}

/// What the contract says of a control.
fn expected(lane: &Lane, field: &str) -> Option<Json> {
    let tools = &lane.tool_policy;
    Some(match field {
        "permission_mode" => tools.permission_mode.as_deref().map_or(Json::Null, Json::from),
        "worktree_edits" => Json::Bool(&*tools.write_scope == "workdir"),
        "worktree_access" => Json::from(&*lane.worktree_access),
        "write_scope" => Json::from(&*tools.write_scope),
        "tools" => tools.allowed_tools.as_ref().map_or(Json::Null, |tools| {
            Json::Array(tools.iter().map(|tool| Json::from(tool.as_str())).collect())
        }),
        capability => {
            let (_, word) = tools.capabilities().into_iter().find(|(name, _)| *name == capability)?;
            Json::from(word)
        }
    })
}
