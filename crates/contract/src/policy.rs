//! The patch policy, as far as the contract relies on it (executor-contract.md 7.3).
//!
//! Open to further keys at every level: the verifier reads more of it, and its texts are for people.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{Applier, Names, Never, PatchEnforcer, RunnerName, Text, Texts, Version, Versioned};

/// The patch policy. Where a value is fixed here, another one would open the policy.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct PatchPolicy {
    /// Always 1.
    pub schema_version: Versioned,
    /// Version of the content; that of the contract's reference.
    pub policy_version: Version,
    /// The program that enforces it; that of the contract's reference.
    pub verifier: RunnerName,
    /// The class whose patches it governs; that of the contract's reference.
    pub applies_to_permission_class: Text,
    /// Who does what.
    pub authority: Authority,
    /// What the patch file must be.
    pub patch_file: PatchFile,
    /// What the directory must be that the patch is for.
    pub workdir: Workdir,
    /// How large a patch may be.
    pub limits: Limits,
    /// What a patch may do.
    pub operations: Operations,
    /// Which file modes it may name.
    pub file_modes: FileModes,
    /// Which paths it may touch.
    pub paths: Paths,
    /// How path prefixes are read.
    pub strip: Strip,
    /// How git is asked.
    pub git_apply: GitApply,
    /// What a receipt may say.
    pub receipt: Receipt,
}

/// The role of the verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum PolicyRole {
    /// It validates and describes.
    #[serde(rename = "validate-and-describe")]
    ValidateAndDescribe,
}

/// Who does what.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Authority {
    /// It validates and describes.
    pub role: PolicyRole,
    /// The verifier alone judges.
    pub enforcement_authority: PatchEnforcer,
    /// The lead alone applies.
    pub applied_by: Applier,
    /// Always false.
    pub applies_patch: Never<false>,
    /// Always false.
    pub writes_worktree: Never<false>,
    /// Always false.
    pub grants_permissions: Never<false>,
}

/// What the patch file must be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PatchFile {
    /// Always true.
    pub must_be_regular_file: Never<true>,
    /// Always true.
    pub must_not_be_symlink: Never<true>,
}

/// What the directory must be that the patch is for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Workdir {
    /// Always true.
    pub must_be_git_worktree: Never<true>,
    /// Always true.
    pub must_not_be_symlink: Never<true>,
}

/// A number above zero.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
pub struct Positive(#[schemars(extend("exclusiveMinimum" = 0))] f64);

impl TryFrom<f64> for Positive {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number > 0.0 { Ok(Self(number)) } else { Err("must be above zero") }
    }
}

/// How large a patch may be; each of the eight bounds is there.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Limits {
    /// Longest patch, in bytes.
    pub max_patch_bytes: Positive,
    /// Most lines of a patch.
    pub max_patch_lines: Positive,
    /// Most files of a patch.
    pub max_files: Positive,
    /// Longest path, in bytes.
    pub max_path_bytes: Positive,
    /// Most hunks of one file.
    pub max_hunks_per_file: Positive,
    /// Most hunks of a patch.
    pub max_hunks_total: Positive,
    /// Most lines added to one file.
    pub max_added_lines_per_file: Positive,
    /// Most lines added by a patch.
    pub max_added_lines_total: Positive,
}

/// What is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allowed {
    /// Always.
    Allowed,
}

/// What needs a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeniedByDefault {
    /// Unless the caller allows it.
    DeniedByDefault,
}

/// What is never allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Denied {
    /// Never.
    Denied,
}

/// What a patch may do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Operations {
    /// Adding files.
    pub add: Allowed,
    /// Changing files.
    pub modify: Allowed,
    /// Deleting files.
    pub delete: DeniedByDefault,
    /// Renaming files.
    pub rename: Denied,
    /// Copying files.
    pub copy: Denied,
}

/// The mode of an ordinary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum OrdinaryMode {
    /// `100644`
    #[serde(rename = "100644")]
    Ordinary,
}

/// Which file modes a patch may name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FileModes {
    /// Modes are never changed.
    pub mode_change_denied: Never<true>,
    /// New files are ordinary.
    pub new_file_allowed: [OrdinaryMode; 1],
    /// Modes that a changed file may have; never a symbolic link or a submodule.
    pub existing_file_allowed: Vec<String>,
}

/// Which paths a patch may touch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Paths {
    /// The form of every path.
    pub allowed_pattern: Text,
    /// Paths that are refused.
    #[schemars(length(min = 1))]
    pub denied_patterns: Vec<DeniedPattern>,
}

/// A class of paths that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct DeniedPattern {
    /// Name of the class, once in the list.
    pub id: Text,
    /// Which paths belong to it.
    pub pattern: Text,
    /// Why it is refused.
    pub reason: Text,
}

/// How path prefixes are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Strip {
    /// Always 0 and 1.
    #[schemars(extend("const" = [0, 1]))]
    pub candidates: Vec<u64>,
    /// Always true.
    pub require_single_applicable_level: Never<true>,
}

/// How git is asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct GitApply {
    /// Options that git is never given.
    pub never_passed: Names,
}

/// What a receipt may say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Receipt {
    /// What it never says.
    pub never_contains: Texts,
}
