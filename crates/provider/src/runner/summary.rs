//! A runner says nothing while it works.

use crate::summary::{Summariser, Summary};

#[derive(Debug)]
pub(super) struct Silence;

impl Summariser for Silence {
    fn feed(&mut self, _: &[u8]) {}

    fn summary(&self) -> Summary {
        Summary::default()
    }
}
