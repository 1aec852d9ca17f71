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

impl std::str::FromStr for ByteSize {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let complaint =
            InvalidId("a size is a positive whole number of bytes, or one with KiB, MiB or GiB behind it");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let factor: u64 = match unit {
            "" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(complaint),
        };
        number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(factor))
            .filter(|bytes| *bytes > 0)
            .map(Self)
            .ok_or(complaint)
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
}
