//! Step 11 for the status of a family: its backend and its lanes (executor-contract.md 8.3).

use std::collections::BTreeSet;

use gates::json::{Json, Object};

use super::{Problem, list, text};
use crate::model::{Envelope, Family, FewNames};

const BACKENDS: &str = "backends";
const SELECTED: &str = "selected_backend";
/// What stands for a member that is no name.
const NO_NAME: &str = "<not a name>";

pub(super) fn problems(envelope: &Envelope, family: &Family, fields: &Object, problems: &mut Vec<Problem>) {
    let backends = fields.get(BACKENDS).and_then(Json::as_object);
    if backends.is_some_and(|backends| backends.keys().any(|name| *name != *family.backend)) {
        problems.push(Problem::of(BACKENDS, "backends"));
    }
    if let Some(selected) = text(fields, SELECTED)
        && Some(selected) != envelope.none_backend_value.as_deref()
        && !backends.is_some_and(|backends| backends.contains_key(selected))
    {
        problems.push(Problem::of(SELECTED, "selected_backend_is_not_one_of_the_reported_backends"));
    }
    let mut all = Vec::new();
    for (field, statuses) in envelope.lane_status_fields().filter(|(field, _)| fields.contains_key(*field)) {
        let listed = list(fields, field);
        all.extend(listed.iter().filter_map(Json::as_str));
        inventory(field, statuses, listed, family, problems);
    }
    let distinct: BTreeSet<&str> = all.iter().copied().collect();
    if distinct.len() != all.len() {
        problems.push(Problem::of("", "lane_status_lists_overlap"));
    }
}

fn inventory(
    field: &str,
    statuses: &FewNames,
    listed: &[Json],
    family: &Family,
    problems: &mut Vec<Problem>,
) {
    for lane in listed {
        let name = lane.as_str();
        let fits =
            name.and_then(|name| family.lanes.get(name)).is_some_and(|lane| statuses.has(&lane.status));
        if !fits {
            problems.push(Problem::of(field, format!("{field}:{}", name.unwrap_or(NO_NAME))));
        }
    }
    let mut named: Vec<Option<&str>> = listed.iter().map(Json::as_str).collect();
    named.sort_unstable();
    let declared = family
        .lane_names()
        .into_iter()
        .filter(|name| family.lanes.get(*name).is_some_and(|lane| statuses.has(&lane.status)));
    if !named.into_iter().eq(declared.map(Some)) {
        problems.push(Problem::of(field, format!("{field}_does_not_match_the_declared_lane_inventory")));
    }
}
