//! The patch verifier: judges a stranger's diff before a person applies it.
//!
//! It reads the diff with its own strict grammar, tests it against a versioned policy, fixes the strip level from the
//! text, and asks git whether the diff applies; nothing is changed, and no program that the repository names is run. Its
//! product is a [`Receipt`]: verdict, rule identifiers, paths, counts and digests, never a line of the patch. It never
//! applies anything. Of the other rooms it knows `record` alone, and no runner and no router knows it.

mod attest;
mod check;
mod confine;
mod disguise;
mod endings;
mod extract;
mod findings;
mod git;
mod input;
mod limits;
mod operations;
pub mod parse;
mod place;
mod policy;
mod program;
mod reading;
mod receipt;
mod rule;
mod scratch;
mod shape;
mod targets;
mod text;
mod tree;

pub use check::{CheckError, Request, Surroundings, TextJudgement, check, check_result, judge_text};
pub use extract::{ExtractError, Extraction, Form, extract};
pub use findings::{Findings, Violation};
pub use parse::Operation;
pub use place::{Mismatch, Placed, Placement, place};
pub use policy::{
    Authority, DeniedClass, EMBEDDED_NAME, FileModes, Limits, LoadedPolicy, Operations, PathClasses, Paths,
    PatternError, Policy, PolicyError,
};
pub use program::{Environment, main_entry};
pub use reading::GitReading;
pub use receipt::{
    AllowFlags, Attestation, CheckResult, Decision, DecisionResult, FileFacts, Fixed, GitApplyCheck,
    GitControl, PatchFacts, Receipt, Strip, Verdict, WorkdirFacts,
};
pub use rule::{Rule, Stage};
pub use shape::Shape;
