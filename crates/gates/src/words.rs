//! The closed words of the gates (router.md 1.3).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a lane of a profile has been trusted (router.md 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Not to be used.
    Disabled,
    /// Under evaluation; not to be used.
    Candidate,
    /// Usable where the lead accepts that it is not qualified.
    Provisional,
    /// Usable.
    Qualified,
    /// Usable by a person's decision alone; no evidence ever leads here.
    ManualQualified,
}

/// Who may choose a lane of a profile (router.md 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// The user, by name, for one dispatch.
    ExplicitOnly,
    /// Nobody.
    Blocked,
}

impl Status {
    /// The word in the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Candidate => "candidate",
            Self::Provisional => "provisional",
            Self::Qualified => "qualified",
            Self::ManualQualified => "manual-qualified",
        }
    }

    /// Whether a lane of this status may be dispatched where its selection allows it.
    pub const fn is_operational(self) -> bool {
        matches!(self, Self::Provisional | Self::Qualified | Self::ManualQualified)
    }

    /// Whether the two words may stand together (router.md 1.3).
    pub const fn goes_with(self, selection: Selection) -> bool {
        self.is_operational() == matches!(selection, Selection::ExplicitOnly)
    }
}

impl Selection {
    /// The word in the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ExplicitOnly => "explicit-only",
            Self::Blocked => "blocked",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}
