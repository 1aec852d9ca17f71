//! The answers (router.md 1.2).

use std::fmt;

use serde::Serialize;

use super::arguments::Producer;
use super::load::Router;
use crate::central::{CentralGate, Lane, Profile};
use crate::finding::{Exit, Refusal};
use crate::json::Json;
use crate::words::{Selection, Status};

static NULL: Json = Json::Null;

/// One profile in one lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry<'a> {
    /// Name of the profile.
    pub profile: &'a str,
    /// Exact model name.
    pub model: &'a str,
    /// Family of the model.
    pub family: &'a str,
    /// Program or service that carries it.
    pub harness: &'a str,
    /// Pinned effort.
    pub effort: &'a str,
    /// Name of the lane.
    pub lane: &'a str,
    /// How far it is trusted.
    pub status: Status,
    /// Who may choose it.
    pub selection: Selection,
    /// Evidence on exactly this variant.
    pub exact_evidence_ids: &'a [String],
    /// Evidence on something near it.
    pub context_evidence_ids: &'a [String],
    /// What a local run showed, as the gate says it.
    pub local_evaluation: &'a Json,
    /// A substitution that the vendor may make.
    pub provider_fallback: &'a Json,
    /// What is not known.
    pub evidence_gap: &'a Json,
}

impl Entry<'_> {
    /// Whether the user may choose it.
    pub fn is_choice(&self) -> bool {
        self.selection != Selection::Blocked && self.status.is_operational()
    }

    /// `model/harness/effort`
    pub(super) fn variant(&self, separator: &str) -> String {
        [self.model, self.harness, self.effort].join(separator)
    }
}

/// Who may review the work of whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewPolicyAnswer<'a> {
    require_cross_family: bool,
    producer_profile: Option<&'a str>,
    producer_family: &'a str,
    availability_must_be_verified: bool,
}

/// What the user may choose for a lane. Never a decision.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Resolution<'a> {
    /// A lane that one profile serves.
    Single(Box<Single<'a>>),
    /// A lane that several profiles serve together: the gate's object and the reminder that the user directs it.
    Compound(Json),
}

/// What the user may choose for a lane that one profile serves.
#[derive(Clone, Debug, Serialize)]
pub struct Single<'a> {
    /// Name of the lane.
    pub lane: &'a str,
    /// The profiles that may be chosen.
    pub choices: Vec<Entry<'a>>,
    /// The choice that was asked about.
    pub selected: Option<Entry<'a>>,
    /// Whether it is one; that is no authorization.
    pub selection_validated: bool,
    /// The profiles that nobody may choose.
    pub blocked: Vec<Entry<'a>>,
    /// Reviewers of the producer's own family.
    pub excluded_same_family: Vec<Entry<'a>>,
    /// Present on review lanes.
    pub review_policy: Option<ReviewPolicyAnswer<'a>>,
    activation_policy: &'a Json,
    requires_user_direction: bool,
    automatic_dispatch: bool,
}

/// The answer to `check`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check<'a> {
    valid: bool,
    file: &'a str,
    profiles: usize,
    compound_lanes: usize,
    read_only: bool,
}

impl fmt::Display for Check<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the gates are valid: {} profiles, {} compound lanes",
            self.profiles, self.compound_lanes
        )
    }
}

#[derive(Clone, Debug)]
pub(super) enum LaneAnswer<'a> {
    Compound(Json),
    Rows(Vec<Entry<'a>>),
}

/// The answer to `table`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Table<'a> {
    profiles: Vec<Entry<'a>>,
    model_families: &'a Json,
    review_policy: &'a Json,
    compound_lanes: &'a Json,
    activation_policy: &'a Json,
}

impl Router {
    /// The gate that was read.
    pub fn central(&self) -> &CentralGate {
        &self.gate
    }

    /// Every row of the central gate, in file order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.gate.rows().map(|(name, profile, lane, row)| self.entry(name, profile, lane, row))
    }

    fn entry<'a>(&'a self, name: &'a str, profile: &'a Profile, lane: &'a str, row: &'a Lane) -> Entry<'a> {
        let raw = |key| self.raw(&["profiles", name, "lanes", lane, key]);
        Entry {
            profile: name,
            model: &profile.model,
            family: self.family(profile),
            harness: &profile.harness,
            effort: &profile.effort,
            lane,
            status: row.status,
            selection: row.selection,
            exact_evidence_ids: &row.exact_evidence_ids,
            context_evidence_ids: &row.context_evidence_ids,
            local_evaluation: raw("local_evaluation"),
            provider_fallback: raw("provider_fallback"),
            evidence_gap: raw("evidence_gap"),
        }
    }

    fn raw(&self, path: &[&str]) -> &Json {
        self.document.at(path).unwrap_or(&NULL)
    }

    /// Rule 3 gives every model a family.
    fn family(&self, profile: &Profile) -> &str {
        self.gate.model_families.get(&profile.model).map_or("", String::as_str)
    }

    pub(super) fn check(&self) -> Check<'_> {
        Check {
            valid: true,
            file: &self.file,
            profiles: self.gate.profiles.len(),
            compound_lanes: self.gate.compound_lanes.len(),
            read_only: true,
        }
    }

    pub(super) fn table(&self) -> Table<'_> {
        Table {
            profiles: self.entries().collect(),
            model_families: self.raw(&["model_families"]),
            review_policy: self.raw(&["review_policy"]),
            compound_lanes: self.raw(&["compound_lanes"]),
            activation_policy: self.raw(&["activation_policy"]),
        }
    }

    pub(super) fn profile(&self, name: &str) -> Result<Json, Refusal> {
        let profile = self.document.at(&["profiles", name]);
        profile
            .map(|profile| with(profile, [("profile", name.into())]))
            .ok_or_else(|| Refusal::usage(format!("unknown profile {name}")))
    }

    pub(super) fn lane(&self, name: &str) -> Result<LaneAnswer<'_>, Refusal> {
        if let Some(compound) = self.document.at(&["compound_lanes", name]) {
            return Ok(LaneAnswer::Compound(with(compound, [("lane", name.into())])));
        }
        let rows: Vec<Entry<'_>> = self.entries().filter(|entry| entry.lane == name).collect();
        if rows.is_empty() { Err(unknown_lane(name)) } else { Ok(LaneAnswer::Rows(rows)) }
    }

    /// What the user may choose for a lane, and whether `selected` is such a choice.
    ///
    /// # Errors
    /// Exit 64: unknown lane or producer; a producer on a lane that does not review; a review lane without producer.
    /// Exit 78: no reviewer of another family; `selected` is no choice.
    pub fn resolve<'a>(
        &'a self,
        lane: &str,
        producer: Option<&'a Producer>,
        selected: Option<&str>,
    ) -> Result<Resolution<'a>, Refusal> {
        if let Some(compound) = self.document.at(&["compound_lanes", lane]) {
            return self.resolve_compound(lane, compound, producer, selected);
        }
        let rows: Vec<Entry<'_>> = self.entries().filter(|entry| entry.lane == lane).collect();
        let lane = rows.first().ok_or_else(|| unknown_lane(lane))?.lane;
        let review_policy = self.review_policy(lane, producer)?;

        let (open, blocked): (Vec<_>, Vec<_>) = rows.into_iter().partition(Entry::is_choice);
        let (excluded_same_family, choices): (Vec<_>, Vec<_>) = open.into_iter().partition(|entry| {
            review_policy.as_ref().is_some_and(|policy| policy.producer_family == entry.family)
        });
        if review_policy.is_some() && choices.is_empty() {
            return Err(not_dispatchable(format!("no reviewer of another family serves {lane}")));
        }
        let selected = match selected {
            None => None,
            Some(name) => Some(
                choices
                    .iter()
                    .find(|entry| entry.profile == name)
                    .cloned()
                    .ok_or_else(|| not_dispatchable(format!("{name} can not be selected for {lane}")))?,
            ),
        };
        Ok(Resolution::Single(Box::new(Single {
            lane,
            choices,
            selection_validated: selected.is_some(),
            selected,
            blocked,
            excluded_same_family,
            review_policy,
            activation_policy: self.raw(&["activation_policy"]),
            requires_user_direction: true,
            automatic_dispatch: false,
        })))
    }

    fn review_policy<'a>(
        &'a self,
        lane: &str,
        producer: Option<&'a Producer>,
    ) -> Result<Option<ReviewPolicyAnswer<'a>>, Refusal> {
        let reviews = self.gate.review_policy.review_lanes.iter().any(|own| own == lane);
        let (producer_profile, producer_family) = match producer {
            None if reviews => {
                return Err(Refusal::usage(format!("{lane} needs --producer-profile or --producer-family")));
            }
            None => return Ok(None),
            Some(_) if !reviews => {
                return Err(Refusal::usage(format!("{lane} is no review lane and takes no producer")));
            }
            Some(Producer::Profile(name)) => {
                let profile = self.gate.profiles.get(name);
                let profile =
                    profile.ok_or_else(|| Refusal::usage(format!("unknown producer profile {name}")))?;
                (Some(name.as_str()), self.family(profile))
            }
            Some(Producer::Family(family)) => {
                if !self.gate.model_families.values().any(|known| known == family) {
                    return Err(Refusal::usage(format!("unknown producer family {family}")));
                }
                (None, family.as_str())
            }
        };
        Ok(Some(ReviewPolicyAnswer {
            require_cross_family: true,
            producer_profile,
            producer_family,
            availability_must_be_verified: true,
        }))
    }

    fn resolve_compound(
        &self,
        lane: &str,
        compound: &Json,
        producer: Option<&Producer>,
        selected: Option<&str>,
    ) -> Result<Resolution<'_>, Refusal> {
        if producer.is_some() {
            return Err(Refusal::usage(format!("{lane} is no review lane and takes no producer")));
        }
        if selected.is_some() {
            return Err(not_dispatchable(format!(
                "{lane} is served by all its members; none can be selected"
            )));
        }
        Ok(Resolution::Compound(with(
            compound,
            [
                ("lane", lane.into()),
                ("requires_explicit_choice", true.into()),
                ("requires_user_direction", true.into()),
                ("selection_validated", false.into()),
                ("selected", Json::Null),
                ("activation_policy", self.raw(&["activation_policy"]).clone()),
            ],
        )))
    }
}

fn unknown_lane(name: &str) -> Refusal {
    Refusal::usage(format!("unknown lane {name}"))
}

fn not_dispatchable(message: String) -> Refusal {
    Refusal::single(Exit::NotDispatchable, "route", "not_dispatchable", message)
}

/// An object of the gate with keys of the answer behind its own.
fn with<const N: usize>(object: &Json, keys: [(&str, Json); N]) -> Json {
    let mut members = object.as_object().cloned().unwrap_or_default();
    members.extend(keys.map(|(key, value)| (key.to_owned(), value)));
    Json::Object(members)
}
