//! Sizes on the command line: bytes, or KiB, MiB, GiB (CLI.md "Defaults").

use crate::id::InvalidId;

/// A size in bytes, read from text such as `1048576`, `512KiB` or `256MiB`. In records it is the plain number.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct ByteSize(u64);

impl ByteSize {
    /// So many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// Whole binary gigabytes of the largest size, as texts name it.
const MAX_GIB: u64 = 17_179_869_183;
const _: () = assert!(u64::MAX >> 30 == MAX_GIB);
const FORM: InvalidId = InvalidId(
    "a size is a positive whole number of bytes, or one with KiB, MiB or GiB behind it, and is at most 17179869183GiB",
);
const TOO_LARGE: InvalidId = InvalidId("a size is at most 17179869183GiB");

impl std::str::FromStr for ByteSize {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let factor: u64 = match unit {
            "" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(FORM),
        };
        // Digits alone, so that a number that can not be read is too large.
        if number.bytes().all(|digit| digit == b'0') {
            return Err(FORM);
        }
        let number = number.parse::<u64>().ok();
        number.and_then(|number| number.checked_mul(factor)).map(Self).ok_or(TOO_LARGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!("256MiB".parse(), Ok(ByteSize(256 << 20)));
        assert_eq!("7".parse(), Ok(ByteSize(7)));
        for wrong in
            ["", "0", "-1", "1MB", "1.5GiB", "MiB", "99999999999999999999", "18446744073709551615KiB"]
        {
            assert!(wrong.parse::<ByteSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_too_large_is_told_the_largest() {
        assert!("17179869183GiB".parse::<ByteSize>().is_ok());
        for large in ["17179869184GiB", "99999999999999999999", "18446744073709551615KiB"] {
            assert_eq!(large.parse::<ByteSize>(), Err(TOO_LARGE), "{large}");
        }
        for wrong in ["", "0", "00KiB", "GiB", "1TiB", "-1"] {
            assert_eq!(wrong.parse::<ByteSize>(), Err(FORM), "{wrong}");
        }
        for complaint in [FORM, TOO_LARGE] {
            assert!(complaint.0.contains(&format!("at most {MAX_GIB}GiB")));
        }
    }
}
