//! Pueue as the owner of the runs, with the real thing: whatever happens to the queue, each task ends in one outcome after
//! one launch (STATE.md 3.2). Without an installed Pueue these tests report that they were skipped.

#[path = "../support/mod.rs"]
mod support;

mod documentation;
mod losses;
mod private;
mod queue;
mod strangers;
mod turns;
