//! Reads the gates and holds them to their rules.

use crate::central::CentralGate;
use crate::embedded::{self, CENTRAL_GATE_FILE, CENTRAL_GATE_VARIABLE, EVIDENCE_FILE};
use crate::evidence::Evidence;
use crate::executable::ExecutableGate;
use crate::family::{FAMILIES, Family};
use crate::finding::{Finding, Refusal};
use crate::json::Json;
use crate::rules::{self, Gates};
use crate::source::{Environment, Text};

/// Names another evidence store.
const EVIDENCE_VARIABLE: &str = "DELEGATION_EVIDENCE_FILE";
const STAGE: &str = "gates";

/// Gates that hold all rules.
#[derive(Clone, Debug)]
pub struct Router {
    pub(super) file: String,
    pub(super) document: Json,
    pub(super) gate: CentralGate,
    executable: Vec<(Family, ExecutableGate)>,
}

impl Router {
    /// Reads the central gate, the evidence store and the six executable gates.
    ///
    /// # Errors
    /// Exit 66: a file that was named can not be read. Exit 65: a file breaks a rule.
    pub fn load(environment: &Environment<'_>) -> Result<Self, Refusal> {
        let central = find(environment, CENTRAL_GATE_VARIABLE, CENTRAL_GATE_FILE)?;
        let evidence = find(environment, EVIDENCE_VARIABLE, EVIDENCE_FILE)?;
        let executable: Vec<(Family, Text)> = FAMILIES
            .into_iter()
            .map(|family| Ok((family, find(environment, family.variable, family.gate_file)?)))
            .collect::<Result<_, Refusal>>()?;

        let document = central.parse(STAGE)?;
        let gate = CentralGate::read(&document).map_err(|finding| broken(&central.label, vec![finding]))?;
        let evidence_store = Evidence::read(&evidence.parse(STAGE)?)
            .map_err(|finding| broken(&evidence.label, vec![finding]))?;
        let executable: Vec<(Family, ExecutableGate)> = executable
            .into_iter()
            .map(|(family, text)| {
                let gate = ExecutableGate::read(&text.parse(STAGE)?)
                    .map_err(|finding| broken(&text.label, vec![finding]))?;
                Ok((family, gate))
            })
            .collect::<Result<_, Refusal>>()?;

        let gates = Gates { central: &gate, evidence: &evidence_store, executable: &executable };
        let findings = rules::check(gates);
        if findings.is_empty() {
            Ok(Self { file: central.label, document, gate, executable })
        } else {
            Err(broken(&central.label, findings))
        }
    }

    /// The executable gate of a family, which says the same as the central gate (router.md 1.4, rule 11).
    pub fn executable(&self, family: Family) -> Option<&ExecutableGate> {
        self.executable.iter().find(|(own, _)| *own == family).map(|(_, gate)| gate)
    }
}

fn find(environment: &Environment<'_>, variable: &str, name: &str) -> Result<Text, Refusal> {
    environment.find(environment.path(variable), name, embedded::file(name))
}

fn broken(label: &str, findings: Vec<Finding>) -> Refusal {
    Refusal::of_findings(STAGE, &format!("{label} is not valid"), findings)
}
