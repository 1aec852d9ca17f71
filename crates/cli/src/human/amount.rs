//! Sizes and times in words.

/// A number of bytes: `0 B`, `999 B`, `1.2 KiB`, `34 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A number of seconds: `0.4s`, `12s`, `3m05s`, `2h00m`, `1d03h`. Less than nothing is `0s`.
pub(crate) fn seconds(count: f64) -> String {
    if count > 0.0 && count < 9.95 {
        return format!("{count:.1}s");
    }
    let whole = count.round().max(0.0) as u64;
    let (minutes, hours, days) = (whole / 60, whole / 3600, whole / 86400);
    match whole {
        0..60 => format!("{whole}s"),
        60..3600 => format!("{minutes}m{:02}s", whole % 60),
        3600..86400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// A number of things with its noun.
pub(crate) fn of(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (count, words) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (10_240, "10 KiB"),
            (1_048_575, "1.0 MiB"),
            (268_435_456, "256 MiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(bytes(count), words);
        }
    }

    #[test]
    fn times() {
        for (count, words) in [
            (-5.0, "0s"),
            (0.0, "0s"),
            (0.44, "0.4s"),
            (9.96, "10s"),
            (59.4, "59s"),
            (59.6, "1m00s"),
            (185.0, "3m05s"),
            (7200.0, "2h00m"),
            (97_200.0, "1d03h"),
        ] {
            assert_eq!(seconds(count), words);
        }
    }
}
