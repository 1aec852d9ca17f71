//! Answers in words for people. Everything here is a pure function of the answer, but for the progress line, which also
//! knows when it spoke last.

pub(crate) mod amount;
pub(crate) mod answer;
pub(crate) mod block;
pub(crate) mod catalogue;
pub(crate) mod count;
pub(crate) mod progress;
pub(crate) mod safe;
pub(crate) mod shell;
pub(crate) mod tail;
pub(crate) mod upkeep;

#[cfg(test)]
pub(crate) mod sample;
