//! What each lane may do (runners.md 4.3).

/// A lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Builder,
    FrontendBuilder,
    PolicyAnnotation,
}

impl Lane {
    /// The lane of that name.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "builder" => Some(Self::Builder),
            "frontend-builder" => Some(Self::FrontendBuilder),
            "policy-annotation" => Some(Self::PolicyAnnotation),
            _ => None,
        }
    }

    /// Whether the workspace may be written.
    pub(super) const fn edits(self) -> bool {
        matches!(self, Self::Builder | Self::FrontendBuilder)
    }

    /// Its tools, in the vendor's words.
    pub(super) const fn tools(self) -> &'static str {
        if self.edits() {
            "grep,read_file,search_replace,list_dir,todo_write"
        } else {
            "grep,read_file,list_dir"
        }
    }

    /// The sandbox profile, in our words.
    pub(super) const fn sandbox(self) -> &'static str {
        if self.edits() { "delegation-kit" } else { "delegation-kit-read-only" }
    }

    /// The vendor's profile that ours extends.
    pub(super) const fn extends(self) -> &'static str {
        if self.edits() { "strict" } else { "read-only" }
    }
}
