//! What the stages found, unique and in the order of the receipt.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::rule::{Rule, Stage};

/// One finding: the rule that refuses, and a short text that is never a line of the patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The identifier; `denied_path:` is followed by the class.
    pub rule: Cow<'static, str>,
    /// A path, or numbers; absent where the rule says all.
    pub detail: Option<String>,
    /// The rule without its class.
    #[serde(skip)]
    pub kind: Rule,
}

impl Ord for Violation {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.detail, &self.rule).cmp(&(&other.detail, &other.rule))
    }
}

impl PartialOrd for Violation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All findings of one check.
#[derive(Debug, Default, Clone)]
pub struct Findings {
    violations: BTreeSet<Violation>,
    paths: HashSet<String>,
}

impl Findings {
    /// Reports a rule that needs no detail.
    pub fn add(&mut self, rule: Rule) {
        self.insert(Cow::Borrowed(rule.id()), None, rule);
    }

    /// Reports a rule with numbers or other text that names no path.
    pub fn add_detail(&mut self, rule: Rule, detail: String) {
        self.insert(Cow::Borrowed(rule.id()), Some(detail), rule);
    }

    /// Reports a rule about one path.
    pub fn add_path(&mut self, rule: Rule, path: &str) {
        self.paths.insert(path.to_owned());
        self.insert(Cow::Borrowed(rule.id()), Some(path.to_owned()), rule);
    }

    /// Reports a path in a denied class of the policy.
    pub fn add_denied(&mut self, class: &str, path: &str) {
        self.paths.insert(path.to_owned());
        let name = format!("{}:{class}", Rule::DeniedPath.id());
        self.insert(Cow::Owned(name), Some(path.to_owned()), Rule::DeniedPath);
    }

    fn insert(&mut self, rule: Cow<'static, str>, detail: Option<String>, kind: Rule) {
        self.violations.insert(Violation { rule, detail, kind });
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether a finding names this path.
    pub fn concern(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether a rule was reported.
    pub fn has(&self, rule: Rule) -> bool {
        self.violations.iter().any(|violation| violation.kind == rule)
    }

    /// Whether a rule of a stage was reported.
    pub fn has_stage(&self, stage: Stage) -> bool {
        self.violations.iter().any(|violation| violation.kind.stage() == stage)
    }

    /// Sorted by detail, absent first, then by rule (patch-verifier.md 5.1).
    pub fn into_violations(self) -> Vec<Violation> {
        self.violations.into_iter().collect()
    }

    /// The findings so far, in the same order.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.violations.iter()
    }
}
