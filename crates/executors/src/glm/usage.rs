//! Who took part in a run and what it used (runners.md 2.7).

use gates::json::{Json, Object};
use serde_json::{Map, Value, json};

use super::GLM;
use super::limits::MODEL_NAME_MAX_BYTES;

/// The vendor's word for its own service.
const FIRST_PARTY: &str = "firstParty";
/// What stands for a name that is not repeated.
pub(super) const UNEXPECTED: &str = "<unexpected>";
/// Beginnings of keys.
const KEY_PREFIXES: &[&str] = &["sk-", "xai-", "gsk_", "ghp_"];

/// Five counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

impl Tokens {
    fn read(of: &Object) -> Self {
        let count = |keys: &[&str]| number(of, keys).map(|number| number as u64);
        let details = of.get("output_tokens_details").and_then(Json::as_object);
        let thinking = |details| number(details, &["reasoning_tokens", "thinking_tokens"]);
        Self {
            input: count(&["inputTokens", "input_tokens"]),
            output: count(&["outputTokens", "output_tokens"]),
            reasoning: count(&["reasoningTokens", "reasoning_tokens", "thinkingTokens", "thinking_tokens"])
                .or_else(|| details.and_then(thinking).map(|number| number as u64)),
            cache_read: count(&["cacheReadInputTokens", "cache_read_input_tokens", "cache_read_tokens"]),
            cache_write: count(&[
                "cacheCreationInputTokens",
                "cache_creation_input_tokens",
                "cache_write_tokens",
            ]),
        }
    }

    fn plus(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            reasoning: sum(self.reasoning, other.reasoning),
            cache_read: sum(self.cache_read, other.cache_read),
            cache_write: sum(self.cache_write, other.cache_write),
        }
    }

    fn named(&self) -> [(&'static str, Option<u64>); 5] {
        [
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("input", self.input),
            ("output", self.output),
            ("reasoning", self.reasoning),
        ]
    }

    /// The counters by name, those that nobody sent as 0.
    pub(super) fn value(&self) -> Value {
        Value::Object(
            self.named()
                .into_iter()
                .map(|(name, count)| (name.to_owned(), json!(count.unwrap_or(0))))
                .collect(),
        )
    }

    /// The names of the counters that were sent.
    pub(super) fn reported(&self) -> Vec<&'static str> {
        self.named().into_iter().filter(|(_, count)| count.is_some()).map(|(name, _)| name).collect()
    }
}

/// One model that was counted.
#[derive(Clone, Debug, PartialEq)]
struct Participant {
    model: String,
    canonical_model: Option<String>,
    provider: Option<String>,
    tokens: Tokens,
    model_calls: u64,
    cost_usd: f64,
    raw: Object,
}

impl Participant {
    fn read(name: &str, of: &Object) -> Self {
        let text = |keys: [&str; 2]| keys.iter().find_map(|key| of.get(*key)).and_then(Json::as_str);
        Self {
            model: name.to_owned(),
            canonical_model: text(["canonicalModel", "canonical_model"]).map(str::to_owned),
            provider: text(["provider", "provider"]).map(str::to_owned),
            tokens: Tokens::read(of),
            model_calls: number(of, &["modelCalls", "model_calls"]).unwrap_or(0.0) as u64,
            cost_usd: number(of, &["costUSD", "costUsd", "cost_usd"]).unwrap_or(0.0),
            raw: of.clone(),
        }
    }

    fn is_target(&self) -> bool {
        self.model == GLM.model
    }

    fn is_attested(&self) -> bool {
        self.is_target()
            && self.canonical_model.as_deref() == Some(GLM.model)
            && self.provider.as_deref() == Some(FIRST_PARTY)
    }

    /// Whether it says that it is not what its name says.
    fn contradicts(&self) -> bool {
        let other = |said: &Option<String>, own: &str| said.as_deref().is_some_and(|said| said != own);
        self.is_target() && (other(&self.canonical_model, GLM.model) || other(&self.provider, FIRST_PARTY))
    }

    fn value(&self) -> Value {
        let counts = self.tokens;
        json!({
            "model": shown(&self.model),
            "canonical_model": self.canonical_model.as_deref().map(shown),
            "provider": self.provider.as_deref().map(shown),
            "input_tokens": counts.input.unwrap_or(0),
            "output_tokens": counts.output.unwrap_or(0),
            "reasoning_tokens": counts.reasoning.unwrap_or(0),
            "cache_read_tokens": counts.cache_read.unwrap_or(0),
            "cache_write_tokens": counts.cache_write.unwrap_or(0),
            "model_calls": self.model_calls,
            "cost_usd": self.cost_usd,
        })
    }
}

/// The usage of a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    participants: Vec<Participant>,
    aggregate: Tokens,
    total_cost_usd: Option<f64>,
}

impl Usage {
    pub(super) fn read(result: &Object) -> Self {
        let object = |key: &str| result.get(key).and_then(Json::as_object);
        let models = object("modelUsage").or_else(|| object("model_usage"));
        let participants = models.into_iter().flatten().filter(|(name, _)| !name.is_empty());
        let participants =
            participants.filter_map(|(name, of)| Some(Participant::read(name, of.as_object()?)));
        Self {
            participants: participants.collect(),
            aggregate: object("usage").map(Tokens::read).unwrap_or_default(),
            total_cost_usd: number(result, &["total_cost_usd"]),
        }
    }

    /// Whether the pinned model is counted, under its own name and by the vendor's own service.
    pub(super) fn is_attested(&self) -> bool {
        self.participants.iter().any(Participant::is_attested)
    }

    /// Whether what is counted under the pinned name says that it is another.
    pub(super) fn is_contradicted(&self) -> bool {
        !self.is_attested() && self.participants.iter().any(Participant::contradicts)
    }

    /// The participants that metrics may name: none where the pinned one does not say who it is, for the contract lists it only
    /// with its whole identity.
    fn listed(&self) -> &[Participant] {
        let unknown = !self.is_attested() && self.participants.iter().any(Participant::is_target);
        if unknown { &[] } else { &self.participants }
    }

    /// The members of the metrics.
    pub(super) fn members(&self) -> Map<String, Value> {
        let listed = self.listed();
        let summed = listed.iter().map(|one| one.tokens).reduce(Tokens::plus);
        let tokens = summed.unwrap_or(self.aggregate);
        let cost = match summed {
            Some(_) => Some(listed.iter().map(|one| one.cost_usd).sum()),
            None => self.total_cost_usd,
        };
        let raw: Map<String, Value> = self
            .participants
            .iter()
            .map(|one| (if one.is_target() { GLM.model } else { UNEXPECTED }.to_owned(), plain(&one.raw)))
            .collect();
        let members = json!({
            "model_usage": raw,
            "usage_participants": listed.iter().map(Participant::value).collect::<Vec<_>>(),
            "target_usage_participant_present": listed.iter().any(Participant::is_target),
            "target_usage_identity_attested": self.is_attested(),
            "usage_source": if summed.is_some() { "model_usage" } else { "provider_aggregate" },
            "tokens": tokens.value(),
            "reported_token_counters": tokens.reported(),
            "provider_aggregate_tokens": self.aggregate.value(),
            "provider_cost_usd": cost,
            "provider_total_cost_usd": self.total_cost_usd,
        });
        match members {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

/// The first counter of some names that is a number and not negative.
fn number(of: &Object, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| of.get(*key)).and_then(Json::as_f64).filter(|number| *number >= 0.0)
}

/// The members of a participant as they were sent: counters, and the names that tell who it is.
fn plain(raw: &Object) -> Value {
    let member = |(key, value): (&String, &Json)| {
        let value = match value {
            Json::Number(number) => json!(number),
            Json::String(text) => json!(shown(text)),
            _ => return None,
        };
        key.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| (key.clone(), value))
    };
    Value::Object(raw.iter().filter_map(member).collect())
}

/// A name of a model, unless it has another form or that of a key.
pub(super) fn shown(name: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/[]@".contains(&byte);
    let is_name = !name.is_empty() && name.len() <= MODEL_NAME_MAX_BYTES && name.bytes().all(plain);
    if is_name && !KEY_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) { name } else { UNEXPECTED }
}
