//! Slurm as the owner of the runs, with a real cluster of two nodes: whatever happens to it, each task ends in one outcome
//! after one launch (STATE.md 3.2, 3.6). Each node has a host name, a process table and mounts of its own, so to the lead it is
//! another machine. Where there can be no cluster these tests report that they were skipped.

#[path = "../support/mod.rs"]
mod support;

mod documentation;
mod elsewhere;
mod losses;
mod turns;
mod world;
