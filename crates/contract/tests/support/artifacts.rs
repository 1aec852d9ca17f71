//! Good artifacts of every family, made from what the contract declares.

use contract::embedded::CONTRACT;
use contract::model::{Contract, EnvelopeKind, Family};
use gates::json::{Json, Object, parse};

use super::{Answer, PROGRAM, ask};

pub(crate) fn contract() -> Contract {
    Contract::read(&parse(CONTRACT.as_bytes()).expect("JSON")).expect("a contract")
}

/// An artifact with every field that its family always writes.
pub(crate) fn good(kind: EnvelopeKind, name: &str) -> Artifact {
    let contract = contract();
    let family = contract.family(name).expect("a family");
    let mut fields = Object::new();
    for field in family.envelope_fields.get(kind).expect("written").iter() {
        fields.insert(field.clone(), value(kind, family, field));
    }
    Artifact { kind, family: Some(name.to_owned()), fields }
}

fn value(kind: EnvelopeKind, family: &Family, field: &str) -> Json {
    let counts = &*family.identity.usage_participation != "none";
    let lane = || family.lanes.first().map(|(name, _)| name.clone()).expect("a lane");
    let listed = |statuses: &[&str]| {
        let lanes = family.lanes.iter().filter(|(_, lane)| statuses.contains(&&*lane.status));
        Json::Array(lanes.map(|(name, _)| Json::from(name.as_str())).collect())
    };
    let names = |names: &[String]| Json::Array(names.iter().map(|name| Json::from(name.as_str())).collect());
    match field {
        "model" | "requested_model" | "effective_content_model" => Json::from(&*family.model),
        "backend" | "selected_backend" => Json::from(&*family.backend),
        "effort" => Json::from(family.efforts[0].as_str()),
        "efforts" => names(&family.efforts),
        "lane" => Json::from(lane().as_str()),
        "backends" => json(&format!("{{\"{}\": {{\"available\": true}}}}", &*family.backend)),
        "qualified_lanes" => listed(&["qualified", "manual-qualified"]),
        "provisional_lanes" => listed(&["provisional"]),
        "candidate_lanes" => listed(&["candidate"]),
        "runtime_model" => {
            let declared = family.identity.runtime_model.as_deref().expect("declared");
            let effort = if kind == EnvelopeKind::Status { "" } else { &family.efforts[0] };
            Json::from(declared.replace("<effort>", effort).as_str())
        }
        "started_at_epoch" => json("1700000000"),
        "finished_at_epoch" => json("1700000010.5"),
        "duration_seconds" | "elapsed_seconds" => json("10.25"),
        "tokens" if counts => json("{\"input\": 12, \"output\": 3.0, \"reasoning\": 0}"),
        "tokens" => json("{\"input\": 0, \"output\": 0}"),
        "provider_cost_usd" | "provider_total_cost_usd" if counts => json("0.01"),
        "provider_cost_usd" => Json::Null,
        "exact_model_identity_attested" | "target_usage_participant_present" => Json::Bool(true),
        "usage_source" => Json::from("model_usage"),
        "usage_reported" => Json::Bool(counts),
        "usage_participants" => Json::Array(vec![participant(family)]),
        "phase" => Json::from("dispatch"),
        "reason" => Json::from("rate_limited"),
        "schema_version" => json("1"),
        "cli_exit_code" => json("1"),
        "runtime_cli_version" | "debug_dir" | "debug_path" => Json::Null,
        "runtime_cli_compatibility" => Json::from("capability-probed"),
        other => panic!("no value for {other}"),
    }
}

fn participant(family: &Family) -> Json {
    let model = family.identity.usage_participant_model.as_deref().expect("declared");
    let provider = family.identity.usage_participant_provider.as_deref();
    let mut fields = json("{\"input_tokens\": 12, \"output_tokens\": 3, \"cost_usd\": 0.01}");
    let members = super::members(&mut fields);
    members.insert("model".to_owned(), model.into());
    if family.identity.usage_participant_canonical_model {
        members.insert("canonical_model".to_owned(), model.into());
    }
    members.insert("provider".to_owned(), provider.map_or(Json::Null, Json::from));
    fields
}

pub(crate) fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// An artifact to be changed and validated.
#[derive(Clone)]
pub(crate) struct Artifact {
    pub(crate) kind: EnvelopeKind,
    pub(crate) family: Option<String>,
    pub(crate) fields: Object,
}

impl Artifact {
    /// Sets a field.
    pub(crate) fn with(mut self, field: &str, value: &str) -> Self {
        self.fields.insert(field.to_owned(), json(value));
        self
    }

    /// Removes a field.
    pub(crate) fn without(mut self, field: &str) -> Self {
        assert!(self.fields.shift_remove(field).is_some(), "no {field}");
        self
    }

    /// Removes a field where it is.
    pub(crate) fn without_if(mut self, field: &str) -> Self {
        self.fields.shift_remove(field);
        self
    }

    /// The same, of a family that the caller does not name.
    pub(crate) fn anonymous(mut self) -> Self {
        self.family = None;
        self
    }

    pub(crate) fn validate(&self) -> Answer {
        validate(
            self.kind.word(),
            self.family.as_deref(),
            Json::Object(self.fields.clone()).pretty().as_bytes(),
        )
    }

    /// Asserts that it is valid.
    #[track_caller]
    pub(crate) fn passes(&self) -> Json {
        let answer = self.validate();
        assert_eq!(answer.code, 0, "{answer:?}");
        answer.json()
    }

    /// Asserts that a stage finds exactly these words.
    #[track_caller]
    pub(crate) fn fails(&self, stage: &str, words: &[&str]) {
        let answer = self.validate();
        assert_eq!(answer.code, 65, "{answer:?}");
        let (found, _) = answer.refusal(PROGRAM);
        let list = Json::Array(words.iter().map(|&word| word.into()).collect());
        let list = serde_json::to_string(&list).expect("JSON");
        assert_eq!(found, stage, "{}", answer.stderr);
        assert!(answer.stderr.trim_end().ends_with(&format!(": {list}")), "{} is not {list}", answer.stderr);
    }
}

/// Validates a text.
pub(crate) fn validate(envelope: &str, family: Option<&str>, text: &[u8]) -> Answer {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("artifact.json");
    std::fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8");
    let mut arguments = vec!["validate", "--json", "--envelope", envelope, "--file", path];
    if let Some(family) = family {
        arguments.extend(["--family", family]);
    }
    ask(&arguments, &[], None)
}

/// Names of all families.
pub(crate) fn families() -> Vec<String> {
    contract().families.keys().cloned().collect()
}
