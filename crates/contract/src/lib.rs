//! The executor contract and its inspector `delegation-executor-contract` (executor-contract.md).
//!
//! The contract names six families of executors and their lanes, and says what each may do and what it reports. The
//! inspector compares it with the gates and the patch policy ([`check`]), and artifacts of runs with it ([`validate`]). It
//! starts nothing, writes nothing and grants nothing; runners enforce, and none of them reads the contract.

pub mod check;
pub mod command;
pub mod embedded;
pub mod model;
pub mod policy;
pub mod schema;
pub mod validate;
