//! Every profile of this build.

use record::ProfileId;
use record::plan::Predicate;

use crate::judge::Judge;
use crate::profile::Profile;
use crate::{antigravity, claude, codex, offline, opencode, pi, runner};

/// The immutable list of profiles, sorted by id.
pub struct Catalogue {
    profiles: &'static [&'static dyn Profile],
}

static CATALOGUE: Catalogue = Catalogue {
    profiles: &[
        &antigravity::Antigravity,
        &claude::Claude,
        &codex::Codex,
        &runner::DEEPSEEK,
        &runner::GEMINI,
        &runner::GLM,
        &runner::GROK,
        &runner::KIMI,
        &offline::Offline,
        &opencode::Opencode,
        &pi::Pi,
        &runner::QWEN,
    ],
};

/// The catalogue of this build.
pub fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

impl Catalogue {
    /// Every profile, sorted by id.
    pub fn all(&self) -> &[&'static dyn Profile] {
        self.profiles
    }

    /// The profile of an id.
    pub fn get(&self, id: &ProfileId) -> Option<&'static dyn Profile> {
        self.profiles.iter().copied().find(|profile| profile.description().id == *id)
    }

    /// The judge of exactly this identity (STATE.md 3.8).
    pub fn judge(&self, predicate: &Predicate) -> Option<&'static dyn Judge> {
        let mut judges = self.get(&predicate.profile)?.judges().iter().copied();
        judges.find(|judge| judge.predicate(&predicate.profile, predicate.mode) == *predicate)
    }

    /// The profile that a mistyped id most likely means; `None` when nothing is near.
    pub fn nearest(&self, text: &str) -> Option<ProfileId> {
        let text = text.to_lowercase();
        let name = text.split(':').next().unwrap_or_default();
        let candidates = self.profiles.iter().map(|profile| profile.description().id);
        candidates
            .map(|id| (distance(&text, id.as_str()).min(distance(name, id.name())), id))
            .filter(|(distance, id)| *distance <= id.name().len() / 3)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, id)| id)
    }
}

/// Levenshtein distance in characters; texts longer than any id are as far as can be.
fn distance(left: &str, right: &str) -> usize {
    const LONGEST_CHARACTERS: usize = 64;
    if left.chars().count() > LONGEST_CHARACTERS {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (line, one) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, other) in right.chars().enumerate() {
            let replaced = diagonal + usize::from(one != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use record::words::{Permission, ProfileOption};

    use super::*;

    #[test]
    fn sorted_unique_and_complete() {
        let ids: Vec<_> = catalogue().all().iter().map(|profile| profile.description().id).collect();
        assert_eq!(
            ids.iter().map(ProfileId::as_str).collect::<Vec<_>>(),
            [
                "antigravity:print",
                "claude:print",
                "codex:exec",
                "deepseek:run",
                "gemini:run",
                "glm:run",
                "grok:run",
                "kimi:run",
                "offline:survey",
                "opencode:run",
                "pi:json",
                "qwen:run"
            ]
        );
        for profile in catalogue().all() {
            let description = profile.description();
            assert!(!description.supported_modes.is_empty() && description.supported_modes.is_sorted());
            assert!(
                description.supported_options.is_sorted() && description.runtime.required_flags.is_sorted()
            );
            assert!(description.runtime.required_flags.iter().all(|flag| flag.starts_with('-')));
            assert_eq!(
                description.runtime.executable.is_none(),
                description.runtime.required_flags.is_empty()
            );
            assert!(profile.revision() >= 1);
            for mode in [Permission::ReadOnly, Permission::WorkspaceWrite] {
                for (position, judge) in profile.judges().iter().enumerate() {
                    let predicate = judge.predicate(&description.id, mode);
                    assert_eq!(predicate.revision as usize, position + 1);
                    assert!(catalogue().judge(&predicate).is_some());
                    assert!(catalogue().judge(&Predicate { revision: 99, ..predicate.clone() }).is_none());
                    let profile = "no:such".parse().unwrap();
                    assert!(catalogue().judge(&Predicate { profile, ..predicate }).is_none());
                }
            }
            let continues = description.supported_options.contains(&ProfileOption::Continuation);
            assert_eq!(continues, description.continuation == record::words::ContinuationMode::Native);
        }
    }

    #[test]
    fn nearest_suggests_only_what_is_near() {
        for (text, id) in [
            ("antigravty", "antigravity:print"),
            ("codex", "codex:exec"),
            ("codex:run", "codex:exec"),
            ("Codx:exec", "codex:exec"),
            ("open-code", "opencode:run"),
            ("pi", "pi:json"),
            ("ofline", "offline:survey"),
        ] {
            assert_eq!(catalogue().nearest(text).map(|id| id.to_string()).as_deref(), Some(id), "{text}");
        }
        for text in ["", ":", "mistral:print", "é", &"x".repeat(1000)] {
            assert_eq!(catalogue().nearest(text), None, "{text}");
        }
    }
}
