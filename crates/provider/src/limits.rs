//! Bounds of planning, summarising and judging.

/// Longest brief that codex takes, in characters (providers.md 3.9).
pub(crate) const CODEX_BRIEF_MAX_CHARACTERS: usize = 1_048_576;
/// Longest look at the first line of an executable, in bytes.
pub(crate) const INTERPRETER_LINE_MAX_BYTES: usize = 4096;
/// Most interpreters that name an interpreter of their own, in steps; the kernel follows fewer.
pub(crate) const INTERPRETER_MAX_STEPS: usize = 4;
/// Largest `package.json` that is read, in bytes.
pub(crate) const PACKAGE_MAX_BYTES: usize = 1 << 20;
/// Longest version text of a CLI, in bytes.
pub(crate) const VERSION_MAX_BYTES: usize = 256;
/// Longest message of a provider that a finding carries, in bytes. Leaves room for code and sentence in a refusal, whose
/// bound is 4 KiB (STATE.md 3.8).
pub(crate) const MESSAGE_MAX_BYTES: usize = 3072;
/// Longest text that is screened before it is cut to [`MESSAGE_MAX_BYTES`], in bytes.
pub(crate) const SCREENED_MAX_BYTES: usize = 16 << 10;
/// Longest summary in words, in characters.
pub(crate) const WORDS_MAX_CHARACTERS: usize = 80;
/// Longest answer that is kept while judging, in bytes: as long as the longest line (providers.md, Decisions 7).
pub(crate) const ANSWER_MAX_BYTES: usize = record::json::LINE_MAX_BYTES;
/// Most retries that claude is allowed, in retries: as many as it makes by itself (providers.md 4.11).
pub(crate) const CLAUDE_RETRIES_MAX_COUNT: u32 = 10;
/// Longest delay before a retry of claude, in seconds.
pub(crate) const CLAUDE_RETRY_DELAY_MAX_SECONDS: f64 = 32.0;
/// Most models that claude's usage may name, in models (providers.md 4.6).
pub(crate) const USAGE_MODELS_MAX_COUNT: usize = 128;
/// Longest name of a model in a usage statement, in bytes (providers.md 4.6).
pub(crate) const USAGE_MODEL_NAME_MAX_BYTES: usize = 256;
/// Most items that one codex turn may have, in items.
pub(crate) const ITEMS_MAX_COUNT: usize = 1 << 16;
/// Longest id of an item, in bytes (providers.md 3.3).
pub(crate) const ITEM_ID_MAX_BYTES: usize = 256;
/// Longest type word of an item, in bytes (providers.md 3.3).
pub(crate) const ITEM_TYPE_MAX_BYTES: usize = 128;
/// Longest number that is kept as text, in bytes (providers.md 2.2).
pub(crate) const DECIMAL_MAX_BYTES: usize = 128;
/// Most usage statements of one turn, in statements (providers.md 5.4). A turn that has more gets none: a part of them
/// would look like all.
pub(crate) const USAGE_MAX_COUNT: usize = 1024;
/// Longest metrics or diagnostic of a family runner, in bytes.
pub(crate) const RUNNER_ENVELOPE_MAX_BYTES: usize = 1 << 20;
/// Longest line of standard error that is looked at, in bytes; the rest of a longer one is passed over.
pub(crate) const ERROR_LINE_MAX_BYTES: usize = 1024;
/// Most lines at the end of standard error that a finding may quote, in lines.
pub(crate) const ERROR_LINES_MAX_COUNT: usize = 8;
/// Longest text that a summariser keeps of one value, in bytes.
pub(crate) const SKIM_TEXT_MAX_BYTES: usize = 512;
/// Deepest nesting that a summariser follows by name, in levels; deeper values are passed over.
pub(crate) const SKIM_MAX_DEPTH: usize = 8;
/// Most open items that a summariser tells apart, in items.
pub(crate) const OPEN_ITEMS_MAX_COUNT: usize = 128;
/// Most models of one list, in models (providers.md 0.2).
pub(crate) const MODELS_MAX_COUNT: usize = 4096;
/// Most efforts of one list of models, in efforts (providers.md 0.2).
pub(crate) const MODEL_EFFORTS_MAX_COUNT: usize = 4096;
/// Longest texts of one list of models together, in bytes (providers.md 0.2).
pub(crate) const MODELS_MAX_BYTES: usize = 512 << 10;
