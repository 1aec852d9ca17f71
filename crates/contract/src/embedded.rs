//! The data that stands in where no installation brings its own.

/// File name of the contract.
pub const CONTRACT_FILE: &str = "external-executor-contract.json";
/// The embedded contract.
pub const CONTRACT: &str = include_str!("../config/external-executor-contract.json");
/// The embedded patch policy, by file name.
pub fn policy(name: &str) -> Option<&'static str> {
    const POLICY: &str = include_str!("../../patch/config/external-patch-policy.json");
    (name == "external-patch-policy.json").then_some(POLICY)
}
