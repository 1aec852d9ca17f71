//! The texts for people (executor-contract.md 2, 9).

use gates::finding::one_line;

use super::answers::{FamilyEntry, Row, Summary, Verdict};
use crate::model::Contract;

/// The usage.
pub(super) const USAGE: &str = "\
Usage: delegation-executor-contract COMMAND [--json]

Compares the executor contract with the gates and the patch policy, and artifacts of runs with the contract. Read-only.

  check            does everything agree
  families         the families of executors
  family NAME      one family
  classes          the permission classes
  exit-codes       what the exit codes of runners mean
  table            every lane
  validate --envelope status|result|diagnostic --file PATH [--family NAME]
                   is an artifact what the contract says
";

pub(super) fn summary(summary: &Summary<'_>) -> String {
    format!(
        "executor contract {}: {} families, {} lanes, {} dispatchable\n\
         permission classes: {}\n\
         patch policy {} ({}): {} lanes return patches; {} verifies, the {} applies\n\
         the runners enforce; this program only compares\n",
        summary.contract_version,
        summary.families,
        summary.lane_declarations,
        summary.dispatchable_lanes,
        summary.permission_classes.join(", "),
        summary.patch_policy_version,
        one_line(summary.patch_policy_file),
        summary.text_patch_lanes,
        summary.patch_verifier,
        summary.patch_applied_by,
    )
}

pub(super) fn families(families: &[FamilyEntry<'_>]) -> String {
    lines(families.iter().map(|entry| {
        [entry.family, entry.runner, entry.harness, &entry.efforts.join("/"), &entry.lanes.join(",")]
            .map(str::to_owned)
    }))
}

pub(super) fn classes(contract: &Contract) -> String {
    lines(contract.vocabularies.permission_classes.iter().map(|(name, class)| {
        [
            name.clone(),
            format!("worktree_writes={}", class.worktree_writes),
            format!("returns_patch={}", class.returns_patch),
            class.summary.to_string(),
        ]
    }))
}

pub(super) fn exit_codes(contract: &Contract) -> String {
    lines(contract.exit_codes.iter().map(|(number, code)| {
        [
            number.clone(),
            code.name.to_string(),
            format!("universal={}", code.universal),
            format!("retryable={}", code.retryable),
            code.meaning.to_string(),
        ]
    }))
}

pub(super) fn table(rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 9]| {
        let cells = cells.map(|cell| one_line(cell).replace('|', "\\|"));
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    };
    line([
        "Family",
        "Runner",
        "Lane",
        "Exact variant",
        "Permission class",
        "Worktree",
        "Status",
        "Selection",
        "Dispatchable",
    ]);
    line(["---"; 9]);
    for row in rows {
        line([
            row.family,
            row.runner,
            row.lane,
            &[row.model, row.harness, row.effort].join(" / "),
            row.permission_class,
            row.worktree_access,
            row.status,
            row.selection,
            if row.dispatchable { "yes" } else { "no" },
        ]);
    }
    text + "\nA lane that is listed is not thereby permitted: the gates decide, the runners enforce, and the user directs.\n"
}

pub(super) fn verdict(verdict: &Verdict<'_>) -> String {
    let family = verdict.family.map(|family| format!(" of {family}")).unwrap_or_default();
    let extensions = match verdict.extension_fields {
        [] => "none".to_owned(),
        fields => fields.join(", "),
    };
    format!(
        "{} is a valid {}{}\nextension fields: {}\n",
        one_line(verdict.file),
        verdict.envelope,
        one_line(&family),
        one_line(&extensions),
    )
}

/// Tab-separated lines.
fn lines<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> String {
    rows.map(|cells| cells.map(|cell| one_line(&cell).into_owned()).join("\t") + "\n").collect()
}
