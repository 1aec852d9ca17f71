//! Every limit of the GLM runner.

use std::ops::RangeInclusive;

/// What a run may cost where nobody says otherwise, and what an evaluation of policy-annotation may cost, in US dollars.
pub const BUDGET_DEFAULT_USD: &str = "2.00";
/// What a lane evaluation may cost, in US dollars.
pub const BUDGET_EVALUATION_USD: RangeInclusive<f64> = 0.01..=25.0;
/// The most that `--max-cost-usd` may ask for, in US dollars.
pub const BUDGET_MAX_USD: f64 = 1000.0;
/// The time of a run in a lane that only reads, in seconds (runners.md 2.3).
pub const READING_DEFAULT_SECONDS: u64 = 900;
/// The time of a run of the builder, in seconds.
pub const BUILDING_DEFAULT_SECONDS: u64 = 3600;
/// The most that `DELEGATION_GLM_TIMEOUT_SECONDS` may ask for, in seconds.
pub const RUN_MAX_SECONDS: u64 = 86_400;
/// The most that an evaluation of policy-annotation may take, in seconds.
pub const POLICY_EVALUATION_MAX_SECONDS: u64 = 600;
/// The most that an evaluation of another lane may take, in seconds.
pub const LANE_EVALUATION_MAX_SECONDS: u64 = 900;
/// How long Claude Code may take to print its help, in seconds.
pub const CAPABILITY_DEFAULT_SECONDS: u64 = 10;
/// What `DELEGATION_GLM_CAPABILITY_TIMEOUT_SECONDS` may be, in seconds.
pub const CAPABILITY_SECONDS: RangeInclusive<u64> = 1..=30;
/// How many tasks a lane evaluation may be one of.
pub const TASKS_COUNT: RangeInclusive<u64> = 1..=100;
/// Longest file of git settings of a workspace under evaluation, in bytes.
pub const GIT_SETTINGS_MAX_BYTES: u64 = 1 << 20;
/// How long the schema compiler may take, in seconds.
pub const COMPILER_MAX_SECONDS: u64 = 30;
/// Longest compiled schema, in bytes: it is one argument.
pub const SCHEMA_MAX_BYTES: usize = crate::common::limits::ARGUMENT_MAX_BYTES - 1;
/// Longest name of a model that is repeated in metrics, in bytes.
pub const MODEL_NAME_MAX_BYTES: usize = 128;
