//! The six families that have an executable gate (router.md 1.1, 1.6).

/// One family: where its executable gate lies and how its rows are found in the central gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Short name, as in `delegation-<name>`.
    pub name: &'static str,
    /// File name of the executable gate.
    pub gate_file: &'static str,
    /// Environment variable that names another executable gate.
    pub variable: &'static str,
    /// Harness of its profiles in the central gate; no other profile has it.
    pub harness: &'static str,
    /// Backend whose rows of the executable gate are compared.
    pub backend: &'static str,
    /// Whether evaluation manifests are compared: not for Gemini (router.md 1.4, rule 11).
    pub compares_manifests: bool,
}

const fn family(
    name: &'static str,
    gate_file: &'static str,
    variable: &'static str,
    harness: &'static str,
    backend: &'static str,
) -> Family {
    Family { name, gate_file, variable, harness, backend, compares_manifests: true }
}

/// GLM.
pub const GLM: Family = family(
    "glm",
    "glm-5.3-flash-max-routing.json",
    "DELEGATION_GLM_ROUTING_FILE",
    "claude-zai",
    "claude-zai",
);
/// Kimi.
pub const KIMI: Family =
    family("kimi", "kimi-k3-routing.json", "DELEGATION_KIMI_ROUTING_FILE", "kimi-code-cli", "native");
/// Grok.
pub const GROK: Family =
    family("grok", "grok-4.6-routing.json", "DELEGATION_GROK_ROUTING_FILE", "grok-build-cli", "grok-build");
/// Qwen.
pub const QWEN: Family = family(
    "qwen",
    "qwen3.8-max-routing.json",
    "DELEGATION_QWEN_ROUTING_FILE",
    "token-plan-openai",
    "token-plan-openai",
);
/// DeepSeek.
pub const DEEPSEEK: Family = family(
    "deepseek",
    "deepseek-v4-pro-routing.json",
    "DELEGATION_DEEPSEEK_ROUTING_FILE",
    "deepseek-api",
    "deepseek-api",
);
/// Gemini.
pub const GEMINI: Family = Family {
    compares_manifests: false,
    ..family("gemini", "gemini-3.7-flash-routing.json", "DELEGATION_GEMINI_ROUTING_FILE", "agy", "agy")
};

/// All six, in the order of the executor contract.
pub const FAMILIES: [Family; 6] = [GLM, KIMI, GROK, QWEN, DEEPSEEK, GEMINI];
