//! The texts for people.

use std::fmt::Write as _;

use super::answer::Entry;
use super::load::Router;
use crate::finding::one_line;
use crate::json::Json;

const NONE: &str = "–";

/// One tab-separated line for each row.
pub(super) fn lane_lines(rows: &[Entry<'_>]) -> String {
    let cells = |row: &Entry<'_>| {
        [row.profile, row.status.word(), row.selection.word(), &row.variant("/")]
            .map(|cell| one_line(cell).into_owned())
            .join("\t")
    };
    rows.iter().map(|row| cells(row) + "\n").collect()
}

/// All rows, then the compound lanes.
pub(super) fn markdown(router: &Router) -> String {
    let mut text = String::new();
    line(
        &mut text,
        [
            "Profile",
            "Family",
            "Exact variant",
            "Lane",
            "Exact evidence",
            "Context",
            "Local n",
            "Confidence",
            "Status",
            "Selection",
            "Fallback",
            "Gap",
        ],
    );
    line(&mut text, ["---"; 12]);
    for row in router.entries() {
        let fallback =
            match (word(row.provider_fallback, "target_model"), word(row.provider_fallback, "trigger")) {
                (Some(target), Some(trigger)) => format!("{target} ({trigger})"),
                _ => NONE.to_owned(),
            };
        line(
            &mut text,
            [
                row.profile,
                row.family,
                &row.variant(" / "),
                row.lane,
                &row.exact_evidence_ids.len().to_string(),
                &row.context_evidence_ids.len().to_string(),
                &row.local_evaluation
                    .get("task_count")
                    .and_then(Json::as_f64)
                    .map_or_else(|| NONE.to_owned(), |count| count.to_string()),
                word(row.local_evaluation, "confidence").unwrap_or(NONE),
                row.status.word(),
                row.selection.word(),
                &fallback,
                row.evidence_gap.as_str().unwrap_or(NONE),
            ],
        );
    }
    let lanes = router.central().review_policy.review_lanes.join(", ");
    let _ = write!(
        text,
        "\nA reviewer of another family than the producer's is needed for: {}.\n\n",
        one_line(&lanes)
    );
    line(
        &mut text,
        ["Compound lane", "Members", "Protocol", "Final authority", "Status", "Selection", "Activation"],
    );
    line(&mut text, ["---"; 7]);
    for (name, lane) in &router.central().compound_lanes {
        line(
            &mut text,
            [
                name,
                &lane.members.join(", "),
                &lane.protocol,
                &lane.final_authority,
                lane.status.word(),
                lane.selection.word(),
                &lane.activation,
            ],
        );
    }
    text
}

fn word<'a>(object: &'a Json, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn line<const N: usize>(text: &mut String, cells: [&str; N]) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&one_line(cell).replace('|', "\\|"));
        text.push_str(" |");
    }
    text.push('\n');
}
