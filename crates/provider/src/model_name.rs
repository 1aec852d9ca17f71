//! Whether the model that answered is the one that was asked for.

/// A name without the date at its end; older names have month and day only.
fn undated(name: &str) -> &str {
    ["-dddd-dd-dd", "-dddddddd", "-dddd"]
        .iter()
        .find_map(|form| {
            let start = name.len().checked_sub(form.len())?;
            let mut pairs = name.as_bytes()[start..].iter().zip(form.bytes());
            pairs
                .all(|(byte, form)| if form == b'd' { byte.is_ascii_digit() } else { *byte == form })
                .then(|| &name[..start])
        })
        .unwrap_or(name)
}

/// Whether two names mean the same model: `provider/name:effort` and `name[variant]` are `name`, and a server may add the date of a release.
pub(crate) fn same_model(asked: &str, answered: &str) -> bool {
    fn bare(name: &str) -> String {
        let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
        let name = name.split([':', '@', '[']).next().unwrap_or_default();
        undated(name.strip_suffix("-latest").unwrap_or(name)).to_owned()
    }
    bare(asked) == bare(answered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_compared_by_name() {
        for (asked, answered) in [
            ("fake-model", "fake-model"),
            ("some/Model-1:high", "model-1"),
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("gpt-5", "gpt-5-2026-08-01"),
            ("claude-sonnet-latest", "claude-sonnet-20250514"),
            ("m", "m-0613"),
            ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ] {
            assert!(same_model(asked, answered), "{asked} {answered}");
        }
        for (asked, answered) in [
            ("fake-model", "some-other-model-9"),
            ("gpt-5", "gpt-6"),
            ("gpt-5", "gpt-5-mini"),
            ("m-1", "m-2"),
            ("gpt-5", "gpt-5-1"),
        ] {
            assert!(!same_model(asked, answered), "{asked} {answered}");
        }
    }
}
