//! The policy's regular expressions over paths.

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::Paths;

/// The compiled patterns of a policy; those of no policy allow nothing.
#[derive(Debug, Default)]
pub struct PathClasses {
    allowed: Option<Regex>,
    denied: RegexSet,
    ids: Vec<String>,
}

impl PathClasses {
    /// Compiles the patterns over bytes: the paths that get this far may hold anything.
    ///
    /// # Errors
    /// A pattern is not a regular expression, or too large to compile.
    pub fn new(paths: &Paths) -> Result<Self, regex::Error> {
        let patterns = paths.denied_patterns.iter().map(|class| &class.pattern);
        Ok(Self {
            allowed: Some(RegexBuilder::new(&paths.allowed_pattern).unicode(false).build()?),
            denied: RegexSetBuilder::new(patterns).unicode(false).build()?,
            ids: paths.denied_patterns.iter().map(|class| class.id.clone()).collect(),
        })
    }

    /// Whether a path is made of allowed characters.
    pub fn allows(&self, path: &str) -> bool {
        self.allowed.as_ref().is_some_and(|allowed| allowed.is_match(path.as_bytes()))
    }

    /// Every closed class that a path is in, whatever its case.
    pub fn denied<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> {
        let lower = path.to_ascii_lowercase();
        self.denied.matches(lower.as_bytes()).into_iter().map(|index| self.ids[index].as_str())
    }
}
