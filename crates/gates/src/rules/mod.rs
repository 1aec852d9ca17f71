//! The rules of the gates (router.md 1.4). All must hold before any question is answered.
//!
//! `R-01` … `R-11` are the numbered rules there; `R-12` holds the activation policy to the form of router.md 1.2.

mod executable;
mod lanes;
mod policies;

use crate::central::CentralGate;
use crate::evidence::Evidence;
use crate::executable::ExecutableGate;
use crate::family::Family;
use crate::finding::Finding;

/// Everything that the rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Gates<'a> {
    /// The central gate.
    pub central: &'a CentralGate,
    /// The evidence that it cites.
    pub evidence: &'a Evidence,
    /// The executable gates.
    pub executable: &'a [(Family, ExecutableGate)],
}

/// Every broken rule, in file order; empty where all hold.
pub fn check(gates: Gates<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    policies::check(gates.central, &mut findings);
    lanes::check(gates, &mut findings);
    for (family, gate) in gates.executable {
        executable::check(gates.central, *family, gate, &mut findings);
    }
    findings
}

/// The members that occur more than once, each named once.
fn duplicates<T: PartialEq + Copy>(members: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    let mut twice = Vec::new();
    for member in members {
        if !seen.contains(&member) {
            seen.push(member);
        } else if !twice.contains(&member) {
            twice.push(member);
        }
    }
    twice
}
