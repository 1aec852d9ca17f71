//! Durations in the predecessor's text form: `90s`, `30m`, `1h30m`, `1.5h`, `250ms` (CLI.md "Durations").

use std::time::Duration;

use crate::id::{InvalidId, text_form};

/// A span of time, zero or longer, up to about 292 years. Parsed from any text that the predecessor's language accepts for
/// a non-negative duration; printed in that language's canonical spelling (`30m` becomes `30m0s`), so that equal spans have
/// equal records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// So many seconds; saturates at the longest span.
    pub const fn from_seconds(seconds: u64) -> Self {
        let nanoseconds = seconds.saturating_mul(NANOSECONDS_PER_SECOND);
        if nanoseconds > i64::MAX as u64 { Self(i64::MAX as u64) } else { Self(nanoseconds) }
    }

    /// The span as the standard library's type.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Whether no time passes.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

fn print(span: &Span) -> String {
    let nanoseconds = span.0;
    if nanoseconds == 0 {
        return "0s".to_owned();
    }
    if nanoseconds < NANOSECONDS_PER_SECOND {
        let (unit, name) = match nanoseconds {
            0..1_000 => (1, "ns"),
            1_000..1_000_000 => (1_000, "µs"),
            _ => (1_000_000, "ms"),
        };
        return format!("{}{name}", decimal(nanoseconds, unit));
    }
    let seconds = nanoseconds / NANOSECONDS_PER_SECOND;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = decimal(nanoseconds % (60 * NANOSECONDS_PER_SECOND), NANOSECONDS_PER_SECOND);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

/// `value / unit` with as many fractional digits as it needs; `unit` is a power of ten.
fn decimal(value: u64, unit: u64) -> String {
    let (whole, fraction) = (value / unit, value % unit);
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = unit.ilog10() as usize;
    let fraction = format!("{fraction:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// Whole hours of the longest span, as texts name it.
const MAX_HOURS: u64 = 2_562_047;
const _: () = assert!(i64::MAX as u64 / (3600 * NANOSECONDS_PER_SECOND) == MAX_HOURS);
const FORM: InvalidId = InvalidId(
    "a duration is written in hours, minutes and seconds as in 90s, 30m or 1h30m, and is at most 2562047h",
);
const TOO_LONG: InvalidId = InvalidId("a duration is at most 2562047h");

fn parse(text: &str) -> Result<Span, InvalidId> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Span::ZERO);
    }
    if rest.is_empty() {
        return Err(FORM);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let number_length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, after) = rest.split_at(number_length);
        let unit_length = after
            .find(|character: char| character.is_ascii_digit() || character == '.')
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_length);
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => NANOSECONDS_PER_SECOND,
            "m" => 60 * NANOSECONDS_PER_SECOND,
            "h" => 3600 * NANOSECONDS_PER_SECOND,
            _ => return Err(FORM),
        };
        if !is_decimal(number) {
            return Err(FORM);
        }
        total = scaled(number, unit)
            .and_then(|part| total.checked_add(part))
            .filter(|total| *total <= i64::MAX as u64)
            .ok_or(TOO_LONG)?;
        rest = next;
    }
    Ok(Span(total))
}

/// Whether a text of digits and points is a decimal number.
fn is_decimal(text: &str) -> bool {
    text.bytes().any(|byte| byte != b'.') && text.matches('.').count() <= 1
}

/// `number`, a decimal text, times `unit`; what is finer than a nanosecond is dropped. `None` when it is too large.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut value = whole.checked_mul(unit)?;
    let mut digit_value = u128::from(unit);
    let mut numerator: u128 = 0;
    let mut denominator: u128 = 1;
    for digit in fraction.bytes().take(18) {
        numerator = numerator * 10 + u128::from(digit - b'0');
        denominator *= 10;
    }
    digit_value = digit_value * numerator / denominator;
    value = value.checked_add(u64::try_from(digit_value).ok()?)?;
    Some(value)
}

text_form!(
    Span,
    print,
    parse,
    "A span of time, such as 90s, 30m0s or 1h30m0s.",
    "^([0-9]+h)?([0-9]+m)?[0-9]+(\\.[0-9]+)?(ns|µs|ms|s)$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_spelling() {
        for (text, canonical) in [
            ("30m", "30m0s"),
            ("90s", "1m30s"),
            ("1h30m", "1h30m0s"),
            ("1.5h", "1h30m0s"),
            ("250ms", "250ms"),
            ("1.25ms", "1.25ms"),
            ("1500us", "1.5ms"),
            ("0", "0s"),
            ("0s", "0s"),
            ("1ns", "1ns"),
            ("+2s", "2s"),
            (".5s", "500ms"),
            ("100h", "100h0m0s"),
            ("1s1ns", "1.000000001s"),
        ] {
            let span: Span = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(span.to_string(), canonical, "{text}");
            assert_eq!(canonical.parse(), Ok(span));
        }
    }

    #[test]
    fn what_is_no_duration() {
        for wrong in
            ["", "+", "-1s", "5", "s", "1x", "1 s", ".s", "1..5s", "1.2.3s", "9999999999h", "1d", "1s "]
        {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_too_long_is_told_the_longest() {
        assert!("2562047h47m16s".parse::<Span>().is_ok());
        for long in [
            "2562047h47m17s",
            "2562048h",
            "9999999999h",
            "99999999999999999999999s",
            "1h99999999999999999999m",
        ] {
            assert_eq!(long.parse::<Span>(), Err(TOO_LONG), "{long}");
        }
        for wrong in ["1d", "99999999999d", "5", "soon", "1.2.3s"] {
            assert_eq!(wrong.parse::<Span>(), Err(FORM), "{wrong}");
        }
        for complaint in [FORM, TOO_LONG] {
            assert!(complaint.0.contains(&format!("at most {MAX_HOURS}h")));
        }
    }
}
