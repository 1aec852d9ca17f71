//! The policy's patterns over paths.

use super::Paths;
use super::pattern::{Pattern, PatternError};

/// The compiled patterns of a policy; those of no policy allow nothing.
#[derive(Debug, Default)]
pub struct PathClasses {
    allowed: Option<Pattern>,
    denied: Vec<(String, Pattern)>,
}

impl PathClasses {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// A pattern is not of the supported syntax.
    pub fn new(paths: &Paths) -> Result<Self, PatternError> {
        let denied = paths.denied_patterns.iter();
        Ok(Self {
            allowed: Some(Pattern::new(&paths.allowed_pattern)?),
            denied: denied
                .map(|class| Ok((class.id.clone(), Pattern::new(&class.pattern)?)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether a path is made of allowed characters; one that takes too long to tell is not.
    pub fn allows(&self, path: &str) -> bool {
        self.allowed.as_ref().is_some_and(|allowed| allowed.is_in(path.as_bytes()) == Some(true))
    }

    /// Every closed class that a path is in, whatever its case; also one that takes too long to tell.
    pub fn denied<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> {
        let lower = path.to_ascii_lowercase();
        self.denied
            .iter()
            .filter(move |(_, pattern)| pattern.is_in(lower.as_bytes()) != Some(false))
            .map(|(id, _)| id.as_str())
    }
}
