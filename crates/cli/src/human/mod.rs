//! Answers in words for people. Everything here is a pure function of the answer, but for what is shown while a command
//! waits.

pub(crate) mod amount;
pub(crate) mod answer;
pub(crate) mod block;
pub(crate) mod catalogue;
pub(crate) mod count;
pub(crate) mod list;
pub(crate) mod paint;
pub(crate) mod patience;
pub(crate) mod progress;
pub(crate) mod safe;
pub(crate) mod shell;
pub(crate) mod tail;
pub(crate) mod upkeep;
pub(crate) mod wrap;

#[cfg(test)]
pub(crate) mod sample;
