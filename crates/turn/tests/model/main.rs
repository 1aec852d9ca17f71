//! A model of admission, launch, cancel and recovery (STATE.md 2 to 4): two dispatchers, two runners, two cancellers, and
//! processes that die, syncs that fail and machines that stop at any moment. A provider is executed at most once and every
//! task ends, in every state that can be reached.
//!
//! `cargo xtask model` allows more faults.

mod protocol;
mod state;
mod steps;

use protocol::{Protocol, Rules};
use stateright::{Checker, Model};

/// Number of faults in one history, if not the default.
const FAULTS_VARIABLE: &str = "MODEL_FAULTS";
/// Faults in one history of the normal test run.
const FAULTS_DEFAULT: u8 = 4;

fn faults() -> u8 {
    std::env::var(FAULTS_VARIABLE).map_or(FAULTS_DEFAULT, |number| number.parse().expect("a number"))
}

#[test]
fn every_reachable_state_keeps_the_promises() {
    let model = Protocol { rules: Rules::Documented, faults: faults(), cancellers: 2 };
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{} states, {} of them different", checker.state_count(), checker.unique_state_count());
    checker.assert_properties();
}

/// Every rule is there for a reason: without it the model finds a history that breaks a promise.
#[test]
fn a_protocol_that_lacks_a_rule_is_caught() {
    let broken = [
        (Rules::LaunchWithoutLicence, "a provider is executed at most once"),
        (Rules::CancelWithoutLock, "after the word no nothing was executed"),
        (Rules::GoBeforeRecord, "after the word no nothing was executed"),
        (Rules::TaskNotSynced, "a provider is executed at most once"),
    ];
    for (rules, promise) in broken {
        let checker = Protocol { rules, faults: 2, cancellers: 1 }
            .checker()
            .threads(2)
            .finish_when(stateright::HasDiscoveries::AnyOf([promise].into()))
            .spawn_bfs()
            .join();
        assert!(checker.discovery(promise).is_some(), "{rules:?} breaks nothing");
    }
}
