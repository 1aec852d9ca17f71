//! The family runners (runners.md): each carries one brief to one external model, in one lane, once, and publishes the answer
//! or a sanitised diagnostic.
//!
//! A runner trusts nobody: it validates the gates on every call, pins model, effort and backend, confines what it starts, and
//! never retries or falls back. It knows neither the executor contract nor the patch verifier.
//!
//! [`common`] is what the runners share; each further module is a family, or two that speak alike, and owns its transport, its
//! isolation and its parsing.

#[cfg(not(target_os = "linux"))]
compile_error!("the runners confine and stop what they start by means that only Linux has");

pub mod chat;
pub mod common;
pub mod gemini;
pub mod glm;
pub mod grok;
pub mod kimi;
