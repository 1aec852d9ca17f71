//! The receipt: verdict, rules, paths, counts and digests; never a line of the patch (patch-verifier.md 5, 8.8).

use serde::{Serialize, Serializer};

use crate::extract::Extraction;
use crate::findings::Violation;
use crate::parse::Operation;
use crate::place::{Mismatch, Placement};
use crate::reading::GitReading;
use crate::shape::Shape;

/// The decision on a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No rule refuses it and git applies it at the one level.
    Accepted,
    /// A rule refuses it.
    Rejected,
    /// Something changed while it was judged.
    AttestationFailed,
}

impl Verdict {
    /// The word of the receipt.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::AttestationFailed => "attestation-failed",
        }
    }

    /// The exit code (patch-verifier.md 2).
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Rejected => 65,
            Self::AttestationFailed => 70,
        }
    }
}

/// How a decision came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionResult {
    /// The rule holds.
    Pass,
    /// It does not.
    Fail,
    /// Nobody asked.
    NotRun,
    /// A flag of the command line allows it.
    AllowedByFlag,
    /// The other level applies too, and would only keep the prefix.
    PrefixOnly,
}

impl From<bool> for DecisionResult {
    fn from(holds: bool) -> Self {
        if holds { Self::Pass } else { Self::Fail }
    }
}

/// One decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Its name.
    pub rule: &'static str,
    /// How it came out.
    pub result: DecisionResult,
}

/// The patch file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatchFacts {
    /// Absolute path; the name of a link is kept.
    pub path: String,
    /// Digest of its bytes; absent when it was not read.
    pub sha256: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
}

/// What `.git` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GitControl {
    /// A directory.
    Directory,
    /// A file that names a directory elsewhere.
    File,
    /// Nothing usable.
    None,
}

/// The worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkdirFacts {
    /// Physical absolute path; absent when it is no directory of its own.
    pub path: Option<String>,
    /// What `.git` in it is.
    pub git_control: GitControl,
}

/// One file of the patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileFacts {
    /// Normalized path.
    pub path: String,
    /// What is done to it.
    pub operation: Operation,
    /// Added lines.
    pub added_lines: u64,
    /// Removed lines.
    pub removed_lines: u64,
    /// Hunks.
    pub hunks: usize,
    /// Digest of the target before the change; absent for an addition or a target that is no readable file.
    pub sha256_before: Option<String>,
}

/// The strip level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Strip {
    /// The level that the headers fix.
    pub required: Option<u8>,
    /// The same, once git has confirmed it.
    pub chosen: Option<u8>,
    /// Always `header-grammar`.
    pub fixed_by: Fixed,
    /// The shape of the headers.
    pub header_style: Option<Shape>,
    /// The other level, once tried.
    pub alternate: Option<u8>,
    /// Whether the patch applies there.
    pub alternate_applies: Option<bool>,
    /// Always false.
    pub alternate_chosen: bool,
}

/// The word `header-grammar`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fixed;

impl Serialize for Fixed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("header-grammar")
    }
}

/// Flags of the command line that open a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AllowFlags {
    /// `--allow-delete`.
    pub allow_delete: bool,
}

/// What `git apply --check` said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// It applies at the required level.
    Clean,
    /// It does not.
    NotApplicable,
    /// It applies at both levels, to different files.
    Ambiguous,
    /// git was not asked.
    NotRun,
}

impl CheckResult {
    /// The word of the receipt.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::NotApplicable => "not-applicable",
            Self::Ambiguous => "ambiguous",
            Self::NotRun => "not-run",
        }
    }
}

/// The check by git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GitApplyCheck {
    /// Whether git was asked.
    pub ran: bool,
    /// The chosen level.
    pub strip: Option<u8>,
    /// What it said.
    pub result: CheckResult,
}

/// The digests before and after; absent where nothing could be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attestation {
    /// Whether every digest is the same before and after.
    pub unchanged: bool,
    /// Digest of the patch before.
    pub patch_sha256_before: Option<String>,
    /// And after.
    pub patch_sha256_after: Option<String>,
    /// Digest of the worktree before.
    pub worktree_state_sha256_before: Option<String>,
    /// And after.
    pub worktree_state_sha256_after: Option<String>,
    /// Digest of the index before, or `absent`.
    pub index_sha256_before: Option<String>,
    /// And after.
    pub index_sha256_after: Option<String>,
    /// Digest of HEAD, configuration and refs before.
    pub git_control_sha256_before: Option<String>,
    /// And after.
    pub git_control_sha256_after: Option<String>,
    /// Always `native`: no git call took them.
    pub method: &'static str,
}

/// Everything that one check has to say, in the order of the printed object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// Version of the form.
    pub schema_version: u32,
    /// The program.
    pub tool: &'static str,
    /// Version of the policy's form.
    pub policy_schema_version: u64,
    /// Version of the policy.
    pub policy_version: String,
    /// Where the policy was.
    pub policy_file: String,
    /// Digest of the policy.
    pub policy_sha256: String,
    /// The decision.
    pub verdict: Verdict,
    /// Always true.
    pub read_only: bool,
    /// Always false.
    pub applies_patch: bool,
    /// Always `lead`.
    pub applied_by: &'static str,
    /// Always `patch-verifier`.
    pub enforcement_authority: &'static str,
    /// Always false.
    pub grants_permissions: bool,
    /// The patch file.
    pub patch: PatchFacts,
    /// The worktree.
    pub workdir: WorkdirFacts,
    /// Sections that were parsed.
    pub file_count: usize,
    /// The files, in patch order.
    pub files: Vec<FileFacts>,
    /// Their operations, sorted, each once.
    pub operations: Vec<Operation>,
    /// The strip level.
    pub strip: Strip,
    /// Flags that were given.
    pub allow_flags: AllowFlags,
    /// Decisions in the order they were taken.
    pub policy_decisions: Vec<Decision>,
    /// The check by git.
    pub git_apply_check: GitApplyCheck,
    /// The digests.
    pub attestation: Attestation,
    /// Everything that refuses the patch.
    pub violations: Vec<Violation>,
    /// Decisions of the hardening rules.
    pub hardening_decisions: Vec<Decision>,
    /// git's reading against ours.
    pub git_reading: GitReading,
    /// Hunks that land away from their declared line.
    pub placements: Vec<Placement>,
    /// The first line that does not match.
    pub first_mismatch: Option<Mismatch>,
    /// The answer to the version query.
    pub git_version: Option<String>,
    /// The neutral command for the lead, of an accepted patch.
    pub apply_command: Option<Vec<String>>,
    /// Where the diff stood in a task's result; absent when it was a file of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction: Option<Extraction>,
}

impl Receipt {
    /// The receipt for people.
    pub fn text(&self) -> String {
        crate::text::receipt(self)
    }

    /// The object as indented JSON with a line end.
    pub fn json(&self) -> String {
        // Strings, numbers and lists only: they always have a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
