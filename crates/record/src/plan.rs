//! `plan.json`: what will be launched, and why it is allowed. Computed once at admission and once more at the launch
//! boundary from what is recorded here; the two must agree (STATE.md 3.1, 3.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::vocabulary::vocabulary;
use crate::words::{Fence, Permission};
use crate::{AbsolutePath, ProfileId, RootId, Sha256Digest, TaskId};

/// The content of `plan.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always [`Record::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The root that holds the task.
    pub root_id: RootId,
    /// The task.
    pub task_id: TaskId,
    /// Digest of the bytes of `request.json`.
    pub request_sha256: Sha256Digest,
    /// What the launch executes.
    pub launch: LaunchPlan,
    /// Names that the environment file sets, sorted; their values are read at launch and never recorded (STATE.md 8).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub environment_file_names: Vec<String>,
    /// The workspace as a directory, so that another one under the same name is noticed.
    pub workspace: DirectoryIdentity,
    /// The environment in which the plan was made and in which it is made again.
    pub captured: CapturedEnvironment,
    /// Version of the program that made the plan.
    pub publisher_version: String,
}

impl Record for Plan {}

/// What a profile decides about one launch. Pure data: the same request, files and environment give the same value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchPlan {
    /// What the CLI says of its version, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider_version: Option<String>,
    /// Every file whose content decides what runs; the first is the one that is started.
    pub identity: Vec<IdentityFile>,
    /// How it is started.
    pub start: StartMethod,
    /// The arguments, the program's own name first.
    pub argv: Vec<String>,
    /// What standard input gets before the brief; absent = nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stdin_prefix: Option<String>,
    /// The id that the launch gives to a new conversation; absent when it goes on with one, or the CLI makes the id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub new_conversation: Option<String>,
    /// `NAME=VALUE`, sorted by name; exactly what the child gets.
    pub environment: Vec<String>,
    /// The child's working directory.
    pub directory: AbsolutePath,
    /// Names of the artifacts that the child may leave in `output/`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub output_artifacts: Vec<String>,
    /// How the mode is enforced.
    pub effective_config: EffectiveConfig,
    /// Who will judge the evidence.
    pub predicate: Predicate,
}

/// The mode as it will be enforced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EffectiveConfig {
    /// The permission mode.
    pub permission: Permission,
    /// Who fences the child's writes.
    pub fence: Fence,
    /// The CLI's own approval setting.
    pub approval: String,
    /// Directories that the child may write beside its private ones, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub writable_roots: Vec<AbsolutePath>,
}

/// One file of an executable identity (STATE.md 3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityFile {
    /// What the file is to the launch.
    pub role: IdentityRole,
    /// Where it is, symbolic links resolved.
    pub path: AbsolutePath,
    /// Its size in bytes.
    pub size: u64,
    /// Digest of its content.
    pub sha256: Sha256Digest,
}

vocabulary! {
    /// What a file of an executable identity is to the launch.
    IdentityRole {
        /// The program or script that is started.
        Entry = "entry",
        /// The interpreter that a script names.
        Interpreter = "interpreter",
        /// The nearest `package.json`.
        Package = "package",
        /// The native program that the entry starts.
        Native = "native",
    }
}

vocabulary! {
    /// How the entry is executed (STATE.md 3.4).
    StartMethod {
        /// By the descriptor that was hashed.
        Descriptor = "descriptor",
        /// By path: a script, which the kernel opens again.
        Path = "path",
    }
}

/// The identity of a judge (STATE.md 3.8).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// The profile.
    pub profile: ProfileId,
    /// The mode that it judges.
    pub mode: Permission,
    /// Counts from 1.
    pub revision: u32,
    /// Digest of the judge's rules as text.
    pub sha256: Sha256Digest,
}

/// Device and inode of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectoryIdentity {
    /// The device number.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
}

/// What planning may know of the caller: names and non-secret values only (STATE.md 3.1, 8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapturedEnvironment {
    /// `NAME=VALUE`, sorted by name.
    pub variables: Vec<String>,
    /// The file mode creation mask.
    pub umask: u32,
    /// Soft limit on open descriptors.
    pub open_files_limit: u64,
}

impl CapturedEnvironment {
    /// The value of a variable, if captured.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
    }
}
