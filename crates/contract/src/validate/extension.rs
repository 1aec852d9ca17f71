//! Step 10: what no artifact may carry, at any depth (executor-contract.md 8.1).

use gates::json::{Json, Object, pointer};

use super::{Problem, sorted};
use crate::model::ExtensionPolicy;

/// What stands for a value that is never repeated.
pub(super) const CREDENTIAL_MARKER: &str = "<credential-shaped value>";

pub(super) fn problems(policy: &ExtensionPolicy, fields: &Object) -> Vec<Problem> {
    let mut walk = Walk { policy, path: Vec::new(), problems: Vec::new() };
    walk.visit_members(fields);
    sorted(walk.problems)
}

struct Walk<'a> {
    policy: &'a ExtensionPolicy,
    path: Vec<String>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn visit(&mut self, value: &Json) {
        match value {
            Json::Object(members) => self.visit_members(members),
            Json::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.path.push(index.to_string());
                    self.visit(element);
                    self.path.pop();
                }
            }
            Json::String(text) if self.refuses_value(text) => {
                self.problems.push(Problem::named("rejected_value", pointer(&self.path), CREDENTIAL_MARKER));
            }
            _ => {}
        }
    }

    fn visit_members(&mut self, members: &Object) {
        for (key, member) in members {
            self.path.push(key.clone());
            if self.refuses_key(key) {
                self.problems.push(Problem::named("rejected_key", pointer(&self.path), key));
            }
            self.visit(member);
            self.path.pop();
        }
    }

    fn refuses_key(&self, key: &str) -> bool {
        let key = key.to_ascii_lowercase();
        self.policy.rejected_key_names.has(&key)
            || self.policy.rejected_key_substrings.iter().any(|part| key.contains(part.as_str()))
    }

    fn refuses_value(&self, text: &str) -> bool {
        self.policy.rejected_value_patterns.iter().any(|pattern| pattern.matches_before_line_feed(text))
    }
}
