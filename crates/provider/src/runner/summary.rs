//! A runner says nothing on standard output while it works: that it runs is all that is known, and it is enough.

use crate::summary::{Summariser, Summary};

#[derive(Debug)]
pub(super) struct Silence;

impl Summariser for Silence {
    fn feed(&mut self, _: &[u8]) {}

    fn summary(&self) -> Summary {
        Summary { events: 1, starts_another: true, ..Summary::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_at_work_without_a_word() {
        let mut summariser = Silence;
        for bytes in [&b""[..], b"words"] {
            summariser.feed(bytes);
            let now = summariser.summary();
            assert_eq!((now.events, now.starts_another, now.terminal), (1, true, None));
            assert!(!now.hides_tools && now.tool.is_none(), "it has no tools that run for long");
        }
    }
}
