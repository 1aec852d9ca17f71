//! The gates, validated anew on every call, and what they allow (runners.md 1.3).

use gates::executable::ExecutableGate;
use gates::router::{Entry, Router};
use gates::words::{Selection, Status};

use super::exit::Refusal;
use super::family::Family;
use super::line::RunLine;
use super::surroundings::Surroundings;

/// Gates that hold all their rules, seen by one runner.
#[derive(Clone, Debug)]
pub struct Gates {
    family: Family,
    router: Router,
    executable: ExecutableGate,
}

/// A lane that may be run, with everything that is pinned for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Name of the lane.
    pub lane: String,
    /// Name of the profile in the central gate.
    pub profile: String,
    /// The pinned effort.
    pub effort: String,
    /// How far the lane is trusted.
    pub status: Status,
}

/// The lanes of a family by how far they are trusted, in the order of the executable gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Usable.
    pub qualified: Vec<String>,
    /// Usable with `--allow-provisional`.
    pub provisional: Vec<String>,
    /// Under evaluation.
    pub candidate: Vec<String>,
}

impl Gates {
    /// Reads and validates all gates, overrides included.
    ///
    /// # Errors
    /// 78: a gate can not be read or breaks a rule, or names another model than the runner carries prompts to.
    pub fn load(family: &Family, surroundings: &Surroundings) -> Result<Self, Refusal> {
        let router = Router::load(&surroundings.gates())
            .map_err(|refusal| Refusal::gate(format!("the gates do not hold: {}", refusal.message)))?;
        let executable = router.executable(family.gate).cloned();
        let executable = executable.filter(|gate| gate.model == family.model).ok_or_else(|| {
            Refusal::gate(format!("{} does not pin {}", family.gate.gate_file, family.model))
        })?;
        Ok(Self { family: *family, router, executable })
    }

    /// The executable gate of the family.
    pub fn executable(&self) -> &ExecutableGate {
        &self.executable
    }

    /// The rows of the family in the central gate, one for each lane.
    pub fn rows(&self) -> impl Iterator<Item = Entry<'_>> {
        self.router.entries().filter(|entry| entry.harness == self.family.gate.harness)
    }

    /// The lanes by status, read from the central gate.
    pub fn inventory(&self) -> Inventory {
        let of = |wanted: &[Status]| {
            let rows = self.rows().filter(|row| wanted.contains(&row.status));
            rows.map(|row| row.lane.to_owned()).collect()
        };
        Inventory {
            qualified: of(&[Status::Qualified, Status::ManualQualified]),
            provisional: of(&[Status::Provisional]),
            candidate: of(&[Status::Candidate]),
        }
    }

    /// The distinct efforts of the lanes that may be run, in the order of the gate; `check` never offers what `run` refuses.
    pub fn efforts(&self) -> Vec<String> {
        let mut efforts: Vec<String> = Vec::new();
        for row in self.rows().filter(Entry::is_choice) {
            if !efforts.iter().any(|effort| effort == row.effort) {
                efforts.push(row.effort.to_owned());
            }
        }
        efforts
    }

    /// Decides whether a run is allowed: the lane and its status, then the effort.
    ///
    /// `may_evaluate` says which lane of which status the family runs with `--evaluation`.
    ///
    /// # Errors
    /// 78; for a lane that the runner does not implement the family's own code.
    pub fn admit(&self, line: &RunLine, may_evaluate: fn(&str, Status) -> bool) -> Result<Admitted, Refusal> {
        let lane = line.lane.as_str();
        self.family.demand_lane(lane)?;
        let refused = |why: &str| Refusal::gate(format!("lane {lane} of {}: {why}", self.family.model));
        let row = self.rows().find(|row| row.lane == lane).ok_or_else(|| refused("no gate names it"))?;
        let status = row.status;
        if line.evaluation {
            if !may_evaluate(lane, status) {
                return Err(refused(&format!("status {status} is not to be evaluated")));
            }
        } else {
            match status {
                Status::Qualified if row.selection == Selection::ExplicitOnly => {}
                Status::Provisional if row.selection == Selection::ExplicitOnly => {
                    if !line.allow_provisional {
                        return Err(refused("provisional, which needs --allow-provisional"));
                    }
                }
                _ => return Err(refused(&format!("status {status}"))),
            }
        }
        let pinned = self.executable.row(lane, self.family.backend()).and_then(|(_, effort)| effort);
        let effort = pinned.ok_or_else(|| refused("the executable gate pins no effort"))?;
        if let Some(asked) = &line.effort
            && asked != effort
        {
            return Err(refused(&format!("the gate pins effort {effort}")));
        }
        Ok(Admitted {
            lane: lane.to_owned(),
            profile: row.profile.to_owned(),
            effort: effort.to_owned(),
            status,
        })
    }

    /// Whether both gates allow an evaluation manifest in a lane (runners.md 1.8).
    pub fn allows_manifest(&self, admitted: &Admitted, sha256: record::Sha256Digest) -> bool {
        let central = self.router.central().profiles.get(&admitted.profile);
        let central = central.and_then(|profile| profile.lanes.get(&admitted.lane));
        let executable = self.executable.row(&admitted.lane, self.family.backend());
        central.is_some_and(|lane| lane.evaluation_manifest_sha256.contains(&sha256))
            && executable.is_some_and(|(row, _)| row.evaluation_manifest_sha256.contains(&sha256))
    }
}
