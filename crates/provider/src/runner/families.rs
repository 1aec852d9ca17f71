//! The families, one value each.

use record::words::ReadOnlyMechanism;

use super::Runner;
use crate::login::{LoginFile, ProgramBehind};

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
    settings: &[],
    key_file_name: None,
    secret_names: &[],
    behind: None,
    login: None,
    timeout_name: Some("DELEGATION_TIMEOUT"),
    shared_logins: None,
    further_artifacts: &[],
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

/// GLM.
pub(crate) static GLM: Runner = Runner {
    id: "glm:run",
    program: "delegation-glm",
    writing_lanes: &["builder"],
    read_only: ReadOnlyMechanism::NativeSandbox,
    names: &[
        "DELEGATION_GLM_BASE_URL",
        "DELEGATION_GLM_CAPABILITY_TIMEOUT_SECONDS",
        "DELEGATION_GLM_CLAUDE_BIN",
    ],
    settings: &[],
    key_file_name: Some("DELEGATION_GLM_KEY_FILE"),
    secret_names: &["ZAI_API_KEY"],
    behind: Some(ProgramBehind { name: "claude", variables: &["DELEGATION_GLM_CLAUDE_BIN"], store: None }),
    login: None,
    timeout_name: Some("DELEGATION_GLM_TIMEOUT_SECONDS"),
    shared_logins: None,
    further_artifacts: &[],
    fence_limits: &[
        "The runner's own fence holds claude: it writes only to private directories of the run and, in the builder lane, to the \
         workspace.",
        "Our fence limits the runner itself.",
        "Reading, executing and the network are not limited.",
    ],
};

/// Kimi.
pub(crate) static KIMI: Runner = Runner {
    id: "kimi:run",
    program: "delegation-kimi",
    writing_lanes: &["builder", "frontend-builder"],
    read_only: ReadOnlyMechanism::NativeSandbox,
    names: &[
        "DELEGATION_DATA_HOME",
        "DELEGATION_KIMI_HEARTBEAT_SECONDS",
        "DELEGATION_KIMI_OAUTH_MODE",
        "DELEGATION_KIMI_OAUTH_WAIT_SECONDS",
        "DELEGATION_KIMI_RG_STORE",
        "KIMI_CODE_HOME",
        "XDG_DATA_HOME",
    ],
    // Everything of a task is killed ten seconds after TERM (STATE.md 3.5), and only when kimi is gone does the runner keep the
    // login that kimi refreshed. So kimi gets less than half of that time, whatever the caller's own runs get.
    settings: &[("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", "3")],
    key_file_name: None,
    secret_names: &[],
    behind: Some(ProgramBehind { name: "kimi", variables: &[], store: None }),
    login: Some(LoginFile {
        directory_variable: "KIMI_CODE_HOME",
        directory: ".kimi-code",
        name: "credentials/kimi-code.json",
        sign_in: "kimi, then /login",
    }),
    timeout_name: None,
    // Not the ripgrep that is pinned beside it: what a turn could change there, every later run would execute.
    shared_logins: Some("kimi-shared-oauth"),
    further_artifacts: &["answer.txt.stderr"],
    fence_limits: &[
        "The runner's own fence holds kimi: it reads nothing in the home directory but the workspace, executes nothing but itself \
         and one verified ripgrep, and writes only to a private home and, in the builder lanes, to the workspace.",
        "Our fence limits the runner itself, which also keeps the login that kimi refreshes.",
        "The network is not limited.",
    ],
};

/// Gemini.
pub(crate) static GEMINI: Runner = Runner {
    id: "gemini:run",
    program: "delegation-gemini",
    writing_lanes: &[],
    read_only: ReadOnlyMechanism::NativeSandbox,
    names: &[],
    settings: &[],
    key_file_name: None,
    secret_names: &[],
    behind: Some(ProgramBehind { name: "agy", variables: &[], store: None }),
    login: None,
    timeout_name: Some("DELEGATION_GEMINI_TIMEOUT_SECONDS"),
    shared_logins: None,
    further_artifacts: &[],
    fence_limits: &[
        "The runner's own fence holds agy: it reads nothing in the home directory and in the temporary directories of others, and \
         writes only to a private home and an empty workspace.",
        "Our write fence limits the runner to the task's output directory and a private temporary directory.",
        "The network is not limited.",
    ],
};

/// Grok.
pub(crate) static GROK: Runner = Runner {
    id: "grok:run",
    program: "delegation-grok",
    writing_lanes: &["builder", "frontend-builder"],
    read_only: ReadOnlyMechanism::NativeSandbox,
    names: &[
        "DELEGATION_DATA_HOME",
        "DELEGATION_GROK_BIN",
        "DELEGATION_GROK_BIN_STORE",
        "DELEGATION_GROK_HOME",
        "DELEGATION_GROK_RUNTIME_SOCKET_ENDPOINTS",
        "XDG_DATA_HOME",
    ],
    settings: &[],
    key_file_name: None,
    secret_names: &[],
    behind: Some(ProgramBehind {
        name: "grok",
        variables: &["DELEGATION_GROK_BIN", "DELEGATION_GROK_BIN_STORE"],
        store: Some("grok-cli"),
    }),
    login: Some(LoginFile {
        directory_variable: "DELEGATION_GROK_HOME",
        directory: ".grok",
        name: "auth.json",
        sign_in: "grok login",
    }),
    timeout_name: Some("DELEGATION_GROK_TIMEOUT_SECONDS"),
    // A task has the login alone: nothing passes `--oauth shared`.
    shared_logins: None,
    further_artifacts: &[],
    fence_limits: &[
        "Grok's own sandbox holds grok, and a run whose sandbox does not say that it is enforced publishes nothing.",
        "Our write fence limits the runner and grok to the login, the task's directories and, in the builder lanes, \
         the workspace.",
        "Reading and the network are not limited by us.",
    ],
};
