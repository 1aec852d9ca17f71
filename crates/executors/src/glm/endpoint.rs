//! Where Claude Code sends its requests.

use crate::common::exit::Refusal;
use crate::common::loopback::is_loopback;
use crate::common::surroundings::Surroundings;

const Z_AI: &str = "https://api.z.ai/api/anthropic";
const VARIABLE: &str = "DELEGATION_GLM_BASE_URL";

/// Z.AI, or the server on loopback that a test named.
///
/// # Errors
/// 64: the variable names anything else.
pub(super) fn base_url(surroundings: &Surroundings) -> Result<String, Refusal> {
    match surroundings.text(VARIABLE)? {
        None => Ok(Z_AI.to_owned()),
        Some(url) if is_loopback(&url) => Ok(url.trim_end_matches('/').to_owned()),
        Some(_) => Err(Refusal::usage(format!("{VARIABLE} must be a plain http URL on loopback"))),
    }
}
