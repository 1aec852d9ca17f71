//! Wall-clock times: RFC 3339, UTC, always nine fractional digits (STATE.md 1).

use crate::id::{InvalidId, text_form};

/// A moment of the wall clock. Never used for a budget: that runs on the boot-time clock (STATE.md 3.5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The moment of a system time.
    ///
    /// # Errors
    /// When the time lies outside the years -9999 to 9999.
    pub fn from_system_time(time: std::time::SystemTime) -> Result<Self, InvalidId> {
        jiff::Timestamp::try_from(time).map(Self).map_err(|_| InvalidId("the clock shows an impossible time"))
    }

    /// Nanoseconds from `earlier` to this moment; negative when the clock ran backwards.
    pub fn nanoseconds_since(self, earlier: Self) -> i128 {
        self.0.as_nanosecond() - earlier.0.as_nanosecond()
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub fn unix_nanoseconds(self) -> i128 {
        self.0.as_nanosecond()
    }
}

fn parse(text: &str) -> Result<Timestamp, InvalidId> {
    let complaint = InvalidId("a time is written as in 2026-01-02T03:04:05.000000000Z");
    let time = Timestamp(text.parse().map_err(|_| complaint)?);
    if time.to_string() == text { Ok(time) } else { Err(complaint) }
}

text_form!(
    Timestamp,
    |time| format!("{:.9}", time.0),
    parse,
    "A moment of the wall clock: RFC 3339, UTC, nine fractional digits.",
    "^-?[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{9}Z$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        let text = "2026-01-02T03:04:05.000000007Z";
        assert_eq!(text.parse::<Timestamp>().map(|time| time.to_string()), Ok(text.to_owned()));
        for wrong in ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000007+00:00", "2026-01-02", ""] {
            assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
        }
    }
}
