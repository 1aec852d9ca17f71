//! Every limit of the chat runners.

/// Longest answer of the provider, as sent, in tokens (runners.md 5.2).
pub const OUTPUT_DEFAULT_TOKENS: u64 = 4096;
/// The same in an evaluation.
pub const OUTPUT_EVALUATION_TOKENS: u64 = 16384;
/// The most that `DELEGATION_MAX_TOKENS` may ask for.
pub const OUTPUT_MAX_TOKENS: u64 = 1_000_000;
/// Time to connect, in seconds.
pub const CONNECT_MAX_SECONDS: u64 = 20;
/// Time for the whole exchange, in seconds.
pub const EXCHANGE_DEFAULT_SECONDS: u64 = 600;
/// The most that `DELEGATION_TIMEOUT` may ask for, in seconds.
pub const EXCHANGE_MAX_SECONDS: u64 = 86_400;
/// The most that an evaluation manifest may ask for, in seconds.
pub const EVALUATION_MAX_SECONDS: u64 = 900;
/// Time to connect for a list of models, in seconds.
pub const MODELS_CONNECT_MAX_SECONDS: u64 = 10;
/// Time for a list of models, in seconds.
pub const MODELS_MAX_SECONDS: u64 = 20;
/// Longest response, unpacked, in bytes.
pub const RESPONSE_MAX_BYTES: u64 = 64 << 20;
/// Longest list of models, unpacked, in bytes.
pub const MODELS_MAX_BYTES: u64 = 4 << 20;
