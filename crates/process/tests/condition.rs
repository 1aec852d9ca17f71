//! Who is killed or stopped is never taken for one who works, not even in the first moment.

use std::process::{Child, Command};
use std::time::Duration;

use process::{Condition, ProcessIdentity, condition, identity_of, wait_for_end};
use rustix::process::{Pid, Signal, kill_process};

/// Kills to try: the moment in which it could be mistaken is short.
const KILLS: usize = 100;
const FOREVER: Duration = Duration::from_secs(60);

fn sleeper() -> (Child, ProcessIdentity) {
    let child = Command::new("/bin/sleep").arg("1000").spawn().unwrap();
    let identity = identity_of(child.id()).unwrap().unwrap();
    (child, identity)
}

fn signal(identity: ProcessIdentity, signal: Signal) {
    kill_process(Pid::from_raw(identity.pid.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn one_that_is_killed_is_ending_from_that_moment_on() {
    for _ in 0..KILLS {
        let (mut child, identity) = sleeper();
        assert_eq!(condition(identity).unwrap(), Condition::Working);
        assert!(!wait_for_end(identity, Duration::ZERO).unwrap());
        signal(identity, Signal::KILL);
        let seen = condition(identity).unwrap();
        assert!([Condition::Ending, Condition::Gone].contains(&seen), "{seen:?}");
        assert!(wait_for_end(identity, FOREVER).unwrap());
        assert_eq!(condition(identity).unwrap(), Condition::Gone);
        child.wait().unwrap();
    }
}

#[test]
fn one_that_is_stopped_is_told_apart() {
    let (mut child, identity) = sleeper();
    assert_eq!(identity.to_string().parse(), Ok(identity));
    signal(identity, Signal::STOP);
    // The kernel tells its parent as soon as it stands still.
    let pid = Pid::from_child(&child);
    rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED).unwrap();
    assert_eq!(condition(identity).unwrap(), Condition::Stopped);
    signal(identity, Signal::KILL);
    assert!(wait_for_end(identity, FOREVER).unwrap());
    child.wait().unwrap();
}
