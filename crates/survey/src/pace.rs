//! How often the survey says where it is.

use std::time::{Duration, Instant};

use crate::limits::{PROGRESS_INTERVAL_FILES, PROGRESS_INTERVAL_MILLISECONDS};

/// Decides when a progress message is due: the first at once, a later one after enough time or
/// enough files.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    latest: Option<(Instant, u64)>,
}

impl Pace {
    /// Whether to say something now, with `files` behind us.
    pub(crate) fn is_due(&mut self, now: Instant, files: u64) -> bool {
        let interval = Duration::from_millis(PROGRESS_INTERVAL_MILLISECONDS);
        let is_due = self.latest.is_none_or(|(at, behind)| {
            now.duration_since(at) >= interval || files - behind >= PROGRESS_INTERVAL_FILES
        });
        if is_due {
            self.latest = Some((now, files));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_or_files_make_it_due() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut pace = Pace::default();
        assert!(pace.is_due(start, 0));
        assert!(!pace.is_due(after(PROGRESS_INTERVAL_MILLISECONDS - 1), 1));
        assert!(pace.is_due(after(PROGRESS_INTERVAL_MILLISECONDS), 2));
        assert!(!pace.is_due(after(PROGRESS_INTERVAL_MILLISECONDS), PROGRESS_INTERVAL_FILES + 1));
        assert!(pace.is_due(after(PROGRESS_INTERVAL_MILLISECONDS), PROGRESS_INTERVAL_FILES + 2));
    }
}
