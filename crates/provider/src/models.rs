//! What models a CLI lists: bounded and advisory, never an admission list (providers.md 7).

use record::models::ModelCatalogue;

use crate::probe::ProbeOutput;

/// How one CLI lists its models.
pub trait ModelListing: Sync {
    /// The arguments after the program's own name.
    fn arguments(&self) -> &'static [&'static str];

    /// What is written to its standard input, which then ends.
    fn input(&self) -> &'static [u8] {
        b""
    }

    /// What the output says. Pure; never fails: what can not be read is a status.
    fn read(&self, output: &ProbeOutput) -> ModelCatalogue;
}
