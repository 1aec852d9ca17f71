//! Names that some file system takes for another name (patch-verifier.md 8.6).

use std::borrow::Cow;

use gix_validate::path::component as oracle;

use crate::rule::Rule;

/// Names of devices; COM and LPT take one digit.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Reports what a component, neither empty nor `.` nor `..`, could be taken for.
pub(crate) fn examine(name: &str, refuse: &mut impl FnMut(Rule)) {
    let mut is_control = false;
    let mut is_metadata = false;
    for folded in fold(name) {
        is_control |= folded == ".git" || folded.strip_prefix("git~").is_some_and(is_number);
        is_metadata |=
            folded == ".gitmodules" || folded == ".gitattributes" || is_metadata_short_name(&folded);
    }
    // A second opinion from another implementation of the same rules; it can only add.
    is_control |= matches!(
        gix_validate::path::component(name.into(), None, oracle::Options::default()),
        Err(oracle::Error::DotGitDir)
    );
    if is_control {
        refuse(Rule::GitControlDisguise);
    }
    let plain = name.eq_ignore_ascii_case(".gitmodules") || name.eq_ignore_ascii_case(".gitattributes");
    if is_metadata && !plain {
        refuse(Rule::GitMetadataDisguise);
    }
    if is_device(name) {
        refuse(Rule::ReservedDeviceName);
    }
    if name.ends_with(['.', ' ']) {
        refuse(Rule::TrailingDotComponent);
    }
}

/// What file systems may make of a component: HFS+ drops some code points and the case, NTFS splits at a backslash, cuts
/// a stream name at a colon and drops trailing dots and blanks.
fn fold(name: &str) -> impl Iterator<Item = String> {
    name.split('\\').map(|part| {
        // Nothing that is dropped is ASCII.
        let kept: Cow<'_, str> = match part.is_ascii() {
            true => part.into(),
            false => part.chars().filter(|code| !is_ignored(*code)).collect::<String>().into(),
        };
        let name = kept.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
        name.to_ascii_lowercase()
    })
}

fn is_ignored(code: char) -> bool {
    matches!(code, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The short names of `.gitmodules` and `.gitattributes`: six letters and a digit up to 4, or a hash whose base gets
/// shorter by one for each digit more.
fn is_metadata_short_name(folded: &str) -> bool {
    let Some((base, number)) = folded.split_once('~') else { return false };
    if !is_number(number) || number.starts_with('0') {
        return false;
    }
    if matches!(base, "gitmod" | "gitatt") {
        return matches!(number, "1" | "2" | "3" | "4");
    }
    base.len() + number.len() == 7 && ["gi7eba", "gi7d29"].iter().any(|hash| hash.starts_with(base))
}

fn is_device(name: &str) -> bool {
    let stem = name.split(['.', ':']).next().unwrap_or_default().trim_end_matches(' ');
    let port = stem.split_at_checked(3).filter(|(_, unit)| unit.len() == 1 && is_number(unit));
    let is_port = |(port, _): (&str, &str)| ["com", "lpt"].iter().any(|name| port.eq_ignore_ascii_case(name));
    DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) || port.is_some_and(is_port)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(name: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        examine(name, &mut |rule| found.push(rule.id()));
        found
    }

    #[test]
    fn disguises_of_git() {
        for name in [
            ".git",
            ".GIT",
            ".git.",
            ".git ",
            ".git. .",
            "git~1",
            "GIT~2",
            "git~12",
            ".gi\u{200c}t",
            ".g\u{feff}it",
            ".git::$INDEX_ALLOCATION",
            ".git:x",
            "x\\.git",
            ".git\\x",
            ".gi\u{206a}t.",
        ] {
            assert!(rules(name).contains(&"git_control_disguise"), "{name:?}");
        }
        for name in
            [".gitignore", "git", "git~", "git~x", ".git-x", "x.git", "g\u{200b}it", "agit~1", ".gitx:y"]
        {
            assert!(!rules(name).contains(&"git_control_disguise"), "{name:?}");
        }
    }

    #[test]
    fn disguises_of_metadata() {
        for name in [
            ".gitmodules.",
            ".gitattributes ",
            ".gitmodules:x",
            "gitmod~1",
            "GITMOD~4",
            "gitatt~2",
            "gi7eba~1",
            "gi7eba~9",
            "gi7eb~10",
            "gi7d2~10",
            "gi7d29~3",
            "g~100000",
            ".gitmo\u{200d}dules",
            "gi7eba~1.",
        ] {
            assert!(rules(name).contains(&"git_metadata_disguise"), "{name:?}");
        }
        for name in [
            ".gitmodules",
            ".GitAttributes",
            "gitmod~5",
            "gitmod~0",
            "gi7eba~10",
            "gi7eb~1",
            "gi7eba~",
            "gi7ebb~1",
            "gi7eba~0",
            ".gitmodulesx",
            "x.gitmodules",
        ] {
            assert!(!rules(name).contains(&"git_metadata_disguise"), "{name:?}");
        }
    }

    #[test]
    fn devices() {
        for name in
            ["aux", "nul.txt", "COM1", "lpt0", "con:x", "prn .x", "CONIN$", "conout$.log", "com0", "nul"]
        {
            assert!(rules(name).contains(&"reserved_device_name"), "{name:?}");
        }
        for name in ["auxiliary", "com", "com10", "console", "xnul", "lptx", "conin", "a.nul"] {
            assert!(!rules(name).contains(&"reserved_device_name"), "{name:?}");
        }
    }

    #[test]
    fn dropped_ends() {
        assert_eq!(rules(".npmrc."), ["trailing_dot_component"]);
        assert_eq!(rules("..."), ["trailing_dot_component"]);
        assert_eq!(rules("x "), ["trailing_dot_component"]);
        assert!(rules("x.y").is_empty() && rules(".x").is_empty());
    }

    proptest! {
        /// Whatever the other implementation calls `.git` or a device, the fold alone finds too.
        #[test]
        fn the_oracle_has_nothing_to_add(name in "[.gG][iI]?[tT]?[~. :\\\\a-zA-Z0-9$\u{200c}\u{feff}]{0,8}|(con|aux|nul|com1|lpt9|CONIN\\$)[. :x]{0,3}") {
            if name.is_empty() || name == "." || name == ".." {
                return Ok(());
            }
            match gix_validate::path::component(name.as_str().into(), None, oracle::Options::default()) {
                Err(oracle::Error::DotGitDir) => {
                    let found = fold(&name).any(|folded| folded == ".git" || folded.starts_with("git~"));
                    prop_assert!(found, "{name:?}");
                }
                Err(oracle::Error::WindowsReservedName) => prop_assert!(is_device(&name), "{name:?}"),
                _ => {}
            }
        }
    }
}
