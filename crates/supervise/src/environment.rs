//! The environment of the supervisor and of runners: an allow-list (STATE.md 3.2). What a provider gets is recorded in its
//! plan and does not come from here, so a dispatcher's secrets never live on in a process of ours.

use std::ffi::{OsStr, OsString};

/// Variable with the number of runners at once, for the command that starts a supervisor (STATE.md 3.2).
pub(crate) const SLOTS_VARIABLE: &str = "DELEGATE_SLOTS";

const NAMES: &[&str] = &["HOME", "PATH", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", SLOTS_VARIABLE];
const PREFIXES: &[&str] = &["LC_", "XDG_"];

fn is_allowed(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// The part of `variables` that is handed on, and the fault that a test chose for this process.
pub(crate) fn handed_on(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables
        .filter(|(name, _)| is_allowed(name))
        .chain(fault::inherited().into_iter().map(|(name, value)| (OsString::from(name), value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_are_handed_on() {
        let names = [
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "HOMEX",
            "A_API_KEY",
            "LD_PRELOAD",
            "lc_all",
            "DELEGATE_ROOT",
        ];
        let kept: Vec<_> =
            handed_on(names.iter().map(|name| (name.into(), "value".into()))).map(|(name, _)| name).collect();
        assert_eq!(kept, ["HOME", "LC_ALL", "XDG_RUNTIME_DIR"]);
    }
}
