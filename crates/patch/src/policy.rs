//! The versioned policy: what a patch may touch, and how much (patch-verifier.md 3).

mod classes;
mod pattern;
mod reindent;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use record::Sha256Digest;
use serde::Deserialize;

pub use classes::PathClasses;
pub use pattern::PatternError;
pub(crate) use reindent::reindent;

use crate::limits::POLICY_MAX_BYTES;

/// The policy that is built in.
const EMBEDDED: &str = include_str!("../config/external-patch-policy.json");
/// What the receipt names when the embedded policy was used.
pub const EMBEDDED_NAME: &str = "embedded:external-patch-policy.json";
/// Where a policy lies under an installation.
const INSTALLED: &str = "config/external-patch-policy.json";

/// Why a policy can not be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file is missing or can not be read (exit 66).
    #[error("the policy {file} can not be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// The file is not strict JSON, lacks a key that is read, or holds a value that bounds nothing (exit 65).
    #[error("the policy {file} can not be used: {why}")]
    Unusable {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
}

/// The bounds of the policy; each is positive.
#[derive(Debug, Clone, Deserialize)]
pub struct Limits {
    /// Largest patch, in bytes.
    pub max_patch_bytes: u64,
    /// Most lines of a patch.
    pub max_patch_lines: u64,
    /// Most file sections.
    pub max_files: u64,
    /// Longest normalized path, in bytes.
    pub max_path_bytes: u64,
    /// Most hunks of one file.
    pub max_hunks_per_file: u64,
    /// Most hunks of all files.
    pub max_hunks_total: u64,
    /// Most added lines of one file.
    pub max_added_lines_per_file: u64,
    /// Most added lines of all files.
    pub max_added_lines_total: u64,
}

impl Limits {
    /// Names and values in the order of the policy.
    pub fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("max_patch_bytes", self.max_patch_bytes),
            ("max_patch_lines", self.max_patch_lines),
            ("max_files", self.max_files),
            ("max_path_bytes", self.max_path_bytes),
            ("max_hunks_per_file", self.max_hunks_per_file),
            ("max_hunks_total", self.max_hunks_total),
            ("max_added_lines_per_file", self.max_added_lines_per_file),
            ("max_added_lines_total", self.max_added_lines_total),
        ]
    }
}

/// Who does what; the rest of the object is for readers.
#[derive(Debug, Clone, Deserialize)]
pub struct Authority {
    /// Who applies an accepted patch.
    pub applied_by: String,
}

/// What may be done to files, in the policy's words.
#[derive(Debug, Clone, Deserialize)]
pub struct Operations {
    /// New files.
    pub add: String,
    /// Edits.
    pub modify: String,
    /// Deletions; the flag of the command line opens them only where this says `denied-by-default`.
    pub delete: String,
    /// Renames.
    pub rename: String,
    /// Copies.
    pub copy: String,
}

/// Modes that headers may carry.
#[derive(Debug, Clone, Deserialize)]
pub struct FileModes {
    /// For new files.
    pub new_file_allowed: Vec<String>,
    /// For files that exist.
    pub existing_file_allowed: Vec<String>,
}

/// One class of paths that are never touched.
#[derive(Debug, Clone, Deserialize)]
pub struct DeniedClass {
    /// Its id; the rule is `denied_path:` and this.
    pub id: String,
    /// A regular expression, matched anywhere in the lower-cased path.
    pub pattern: String,
    /// Why the class is closed.
    pub reason: String,
}

/// Which paths are allowed.
#[derive(Debug, Clone, Deserialize)]
pub struct Paths {
    /// A regular expression that the whole path must match.
    pub allowed_pattern: String,
    /// The closed classes.
    pub denied_patterns: Vec<DeniedClass>,
}

/// The part of the policy that the verifier reads. Other keys are for people and for the contract's validator.
#[derive(Debug, Clone, Deserialize)]
pub struct Policy {
    /// Version of the form.
    pub schema_version: u64,
    /// Version of the content.
    pub policy_version: String,
    /// The program that enforces it.
    pub verifier: String,
    /// The permission class whose patches it judges.
    pub applies_to_permission_class: String,
    /// Who does what.
    pub authority: Authority,
    /// Bounds.
    pub limits: Limits,
    /// Operations.
    pub operations: Operations,
    /// Modes.
    pub file_modes: FileModes,
    /// Paths.
    pub paths: Paths,
}

/// A policy that can be used, and where it came from.
#[derive(Debug)]
pub struct LoadedPolicy {
    /// What it says.
    pub policy: Policy,
    /// Its file as the receipt names it.
    pub file: String,
    /// Digest of its bytes.
    pub sha256: Sha256Digest,
    /// Its patterns, ready to match.
    pub classes: PathClasses,
    text: String,
}

impl LoadedPolicy {
    /// The policy that is built in.
    ///
    /// # Errors
    /// None for the embedded data, which tests read by the strict rules too.
    pub fn embedded() -> Result<Self, PolicyError> {
        let policy = serde_json::from_str(EMBEDDED).map_err(|error| PolicyError::Unusable {
            file: EMBEDDED_NAME.to_owned(),
            why: error.to_string(),
        })?;
        Self::new(policy, EMBEDDED.to_owned(), EMBEDDED_NAME.to_owned())
    }

    fn new(policy: Policy, text: String, file: String) -> Result<Self, PolicyError> {
        let unusable = |why: String| PolicyError::Unusable { file: file.clone(), why };
        if let Some((name, _)) = policy.limits.named().into_iter().find(|(_, value)| *value == 0) {
            return Err(unusable(format!("limits.{name} is not positive")));
        }
        let classes = PathClasses::new(&policy.paths).map_err(|error| unusable(error.to_string()))?;
        let sha256 = Sha256Digest::of(text.as_bytes());
        Ok(Self { policy, file, sha256, classes, text })
    }

    /// The policy in a file.
    ///
    /// # Errors
    /// The file can not be read, or holds no usable policy.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let file = path.display().to_string();
        let unreadable = |why: String| PolicyError::Unreadable { file: file.clone(), why };
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|opened| opened.take(POLICY_MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(error.kind().to_string()))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| PolicyError::Unusable { file: file.clone(), why: "it is not UTF-8".to_owned() })?;
        Self::parse(text, file)
    }

    /// The policy that the kit's rules name: the override, else the one of the installation that `program` lies in, else
    /// the embedded one (patch-verifier.md, settled point 8).
    ///
    /// # Errors
    /// As [`LoadedPolicy::read`].
    pub fn find(override_file: Option<&Path>, program: Option<&Path>) -> Result<Self, PolicyError> {
        if let Some(file) = override_file {
            return Self::read(file);
        }
        let installed = program
            .and_then(|program| program.canonicalize().ok())
            .and_then(|program| Some(program.parent()?.parent()?.join(INSTALLED)))
            .filter(|file: &PathBuf| file.symlink_metadata().is_ok());
        installed.map_or_else(Self::embedded, |file| Self::read(&file))
    }

    /// The policy in a text that goes by the name `file`.
    ///
    /// # Errors
    /// The text holds no usable policy.
    pub fn parse(text: String, file: String) -> Result<Self, PolicyError> {
        let limits = record::json::Limits { allow_null: true, ..record::json::Limits::RECORD };
        let policy: Policy = record::json::decode(text.as_bytes(), limits)
            .map_err(|error| PolicyError::Unusable { file: file.clone(), why: error.to_string() })?;
        Self::new(policy, text, file)
    }

    /// The file's JSON, indented anew.
    pub fn json(&self) -> String {
        reindent(&self.text)
    }
}
