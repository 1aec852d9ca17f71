//! The families, one value each.

use record::words::ReadOnlyMechanism;

use super::Runner;

const CHAT_LIMITS: &[&str] = &[
    "The runner has no code that reads or writes the workspace: the model sees the brief and nothing else, and has no tools.",
    "Our write fence limits the runner to the task's output directory and a private temporary directory.",
    "Reading and the network are not limited.",
];

/// What both chat runners are alike in.
const CHAT: Runner = Runner {
    id: "",
    program: "",
    writing_lanes: &[],
    read_only: ReadOnlyMechanism::BuiltIn,
    names: &[],
    key_file_name: None,
    secret_names: &[],
    timeout_name: Some("DELEGATION_TIMEOUT"),
    state: &[],
    fence_limits: CHAT_LIMITS,
};

/// Qwen.
pub(crate) static QWEN: Runner = Runner {
    id: "qwen:run",
    program: "delegation-qwen",
    names: &["DELEGATION_MAX_TOKENS", "DELEGATION_MODEL_ALIASES", "DELEGATION_QWEN_BASE_URL"],
    key_file_name: Some("DELEGATION_QWEN_KEY_FILE"),
    secret_names: &["QWEN_TOKEN_PLAN_API_KEY"],
    ..CHAT
};

/// DeepSeek.
pub(crate) static DEEPSEEK: Runner = Runner {
    id: "deepseek:run",
    program: "delegation-deepseek",
    names: &["DELEGATION_DEEPSEEK_BASE_URL", "DELEGATION_MAX_TOKENS", "DELEGATION_MODEL_ALIASES"],
    key_file_name: Some("DELEGATION_DEEPSEEK_KEY_FILE"),
    secret_names: &["DEEPSEEK_API_KEY"],
    ..CHAT
};
