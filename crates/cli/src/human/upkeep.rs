//! What `doctor` and `prune` print.

use record::health::{Check, CheckStatus};
use record::retention::Retention;

use super::{amount, paint, safe, wrap};

/// A line for each check, its remedy below it, and a last line on all of them.
pub(crate) fn checks(checks: &[Check], terminal: Option<usize>) -> String {
    let columns = checks.iter().map(|check| check.id.len()).max().unwrap_or_default();
    let status_columns =
        CheckStatus::ALL.iter().map(|status| status.as_str().len()).max().unwrap_or_default();
    let mut text = String::new();
    for check in checks {
        let indent = status_columns + columns + 4;
        let detail = wrap::hanging(&safe::one_line(&check.detail), indent, terminal);
        let status = paint::paint(style(check.status), &format!("{:<status_columns$}", check.status));
        text.push_str(&format!("{status}  {:<columns$}  {detail}\n", check.id));
        if let Some(fix) = &check.fix {
            let fix = wrap::hanging(&safe::one_line(fix), indent + "fix: ".len(), terminal);
            text.push_str(&format!("{:indent$}{} {fix}\n", "", paint::paint(paint::TITLE, "fix:")));
        }
    }
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    text.push_str(&format!(
        "{} in order, {} failed, {} to know about, {} could not be determined\n",
        count(CheckStatus::Ok),
        count(CheckStatus::Failed),
        count(CheckStatus::Warning),
        count(CheckStatus::Unknown)
    ));
    text
}

const fn style(status: CheckStatus) -> anstyle::Style {
    match status {
        CheckStatus::Ok => paint::GOOD,
        CheckStatus::Warning => paint::NOTABLE,
        CheckStatus::Failed => paint::BAD,
        CheckStatus::Unknown => paint::FAINT,
    }
}

/// What was removed, and what was kept and why.
pub(crate) fn retention(retention: &Retention) -> String {
    let done = if retention.dry_run { "would be removed" } else { "was removed" };
    let mut text = format!(
        "the content of {} {done}: {}\n",
        amount::of(retention.pruned_count, "task", "tasks"),
        amount::bytes(retention.freed_bytes)
    );
    let pruned = if retention.dry_run { "would go" } else { "pruned  " };
    for id in &retention.pruned {
        text.push_str(&format!("{pruned}  {id}\n"));
    }
    for kept in &retention.kept {
        text.push_str(&format!("kept      {}  {}\n", kept.task_id, safe::one_line(&kept.why)));
    }
    let shown = (retention.pruned.len() + retention.kept.len()) as u64;
    let others = retention.pruned_count + retention.kept_count - shown;
    if others > 0 {
        text.push_str(&format!("and {}\n", amount::of(others, "other task", "other tasks")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_stand_below_what_they_cure() {
        let found = [
            Check::new("kernel", CheckStatus::Ok, "new"),
            Check::new("journal", CheckStatus::Warning, "torn\u{1b}[31m").with_fix("repair it"),
        ];
        assert_eq!(
            anstream::adapter::strip_str(&checks(&found, None)).to_string(),
            "ok       kernel   new\nwarning  journal  torn\\u{1b}[31m\n                  fix: repair it\n\
             1 in order, 0 failed, 1 to know about, 0 could not be determined\n"
        );
    }
}
