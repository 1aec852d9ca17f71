//! What `doctor` and `prune` print.

use record::health::{Check, CheckStatus};
use record::retention::Retention;

use super::{amount, safe};

/// A line for each check, its remedy below it, and a last line on all of them.
pub(crate) fn checks(checks: &[Check]) -> String {
    let columns = checks.iter().map(|check| check.id.len()).max().unwrap_or_default();
    let status_columns =
        CheckStatus::ALL.iter().map(|status| status.as_str().len()).max().unwrap_or_default();
    let mut text = String::new();
    for check in checks {
        let detail = safe::one_line(&check.detail);
        text.push_str(&format!("{:<status_columns$}  {:<columns$}  {detail}\n", check.status, check.id));
        if let Some(fix) = &check.fix {
            let indent = status_columns + columns + 4;
            text.push_str(&format!("{:indent$}fix: {}\n", "", safe::one_line(fix)));
        }
    }
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    text.push_str(&format!(
        "{} failed, {} to know about, {} could not be determined\n",
        count(CheckStatus::Failed),
        count(CheckStatus::Warning),
        count(CheckStatus::Unknown)
    ));
    text
}

/// What was removed, and what was kept and why.
pub(crate) fn retention(retention: &Retention) -> String {
    let done = if retention.dry_run { "would be removed" } else { "was removed" };
    let mut text = format!(
        "the content of {} {done}: {}\n",
        amount::of(retention.pruned_count, "task", "tasks"),
        amount::bytes(retention.freed_bytes)
    );
    for id in &retention.pruned {
        text.push_str(&format!("pruned  {id}\n"));
    }
    for kept in &retention.kept {
        text.push_str(&format!("kept    {}  {}\n", kept.task_id, safe::one_line(&kept.why)));
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
            checks(&found),
            "ok       kernel   new\nwarning  journal  torn\\u{1b}[31m\n                  fix: repair it\n\
             0 failed, 1 to know about, 0 could not be determined\n"
        );
    }
}
