//! The data that stands in where no installation brings its own (executor-contract.md, "Settled points").

/// File name of the central gate.
pub const CENTRAL_GATE_FILE: &str = "routing-gates.json";
/// Environment variable that names another central gate.
pub const CENTRAL_GATE_VARIABLE: &str = "DELEGATION_ROUTING_GATES_FILE";
/// File name of the evidence store.
pub const EVIDENCE_FILE: &str = "model-evidence.json";

const FILES: [(&str, &str); 8] = [
    (CENTRAL_GATE_FILE, include_str!("../config/routing-gates.json")),
    (EVIDENCE_FILE, include_str!("../config/model-evidence.json")),
    ("glm-5.3-flash-max-routing.json", include_str!("../config/glm-5.3-flash-max-routing.json")),
    ("kimi-k3-routing.json", include_str!("../config/kimi-k3-routing.json")),
    ("grok-4.6-routing.json", include_str!("../config/grok-4.6-routing.json")),
    ("qwen3.8-max-routing.json", include_str!("../config/qwen3.8-max-routing.json")),
    ("deepseek-v4-pro-routing.json", include_str!("../config/deepseek-v4-pro-routing.json")),
    ("gemini-3.7-flash-routing.json", include_str!("../config/gemini-3.7-flash-routing.json")),
];

/// The embedded text of a gate or of the evidence store, by file name.
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}
