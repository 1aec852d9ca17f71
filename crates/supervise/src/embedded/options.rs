//! The hidden command line with which our own executable is a supervisor: `__supervise --root R [--slots N]`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::thread::available_parallelism;

use record::AbsolutePath;

use super::log;
use crate::SuperviseError;
use crate::environment::SLOTS_VARIABLE;
use crate::limits::{SLOTS_MAX_COUNT, Timing};

/// The hidden first word.
pub const SUPERVISE_WORD: &str = "__supervise";

const ROOT_OPTION: &str = "--root";
const SLOTS_OPTION: &str = "--slots";

/// What a supervisor is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The state root that it serves.
    pub root: AbsolutePath,
    /// Our own executable, absolute: the runner, where a task names none and no `delegate-run` lies beside it.
    pub delegate: PathBuf,
    /// Runners at once; `None` for `DELEGATE_SLOTS`, else the number of processors (STATE.md 3.2).
    pub slots: Option<u32>,
    /// Its clockwork.
    pub timing: Timing,
}

impl ServeOptions {
    /// Understands the arguments behind [`SUPERVISE_WORD`].
    ///
    /// # Errors
    /// They are not what [`super::Embedded`] writes, or there is no path to our own executable.
    pub fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, SuperviseError> {
        let (mut root, mut slots) = (None, None);
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            let value = arguments.next();
            match (name.to_str(), value.as_deref().and_then(OsStr::to_str)) {
                (Some(ROOT_OPTION), Some(value)) if root.is_none() => {
                    root = Some(
                        value
                            .parse()
                            .map_err(|_| SuperviseError::Arguments("the root is no clean absolute path"))?,
                    );
                }
                (Some(SLOTS_OPTION), Some(value)) if slots.is_none() => {
                    slots = Some(
                        parse_slots(value)
                            .ok_or(SuperviseError::Arguments("the slots are no such number"))?,
                    );
                }
                _ => return Err(SuperviseError::Arguments("an unknown, repeated or unfinished option")),
            }
        }
        Ok(Self {
            root: root.ok_or(SuperviseError::Arguments("the root is missing"))?,
            delegate: std::env::current_exe().map_err(SuperviseError::Setup)?,
            slots,
            timing: Timing::default(),
        })
    }

    /// The arguments of a supervisor for that root, [`SUPERVISE_WORD`] included.
    pub(super) fn to_arguments(root: &AbsolutePath, slots: Option<u32>) -> Vec<OsString> {
        let mut arguments = vec![SUPERVISE_WORD.into(), ROOT_OPTION.into(), root.as_str().into()];
        if let Some(slots) = slots {
            arguments.extend([SLOTS_OPTION.into(), slots.to_string().into()]);
        }
        arguments
    }

    /// How many runners there may be at once.
    pub(super) fn slots(&self) -> usize {
        let chosen = self.slots.or_else(|| {
            let value = std::env::var_os(SLOTS_VARIABLE)?;
            let slots = value.to_str().and_then(parse_slots);
            if slots.is_none() {
                log::line(format_args!(
                    "{SLOTS_VARIABLE} is not a number from 1 to {SLOTS_MAX_COUNT} and is not used"
                ));
            }
            slots
        });
        match chosen {
            Some(slots) => slots.clamp(1, SLOTS_MAX_COUNT) as usize,
            None => available_parallelism().map_or(1, usize::from),
        }
    }
}

fn parse_slots(text: &str) -> Option<u32> {
    text.parse().ok().filter(|slots| (1..=SLOTS_MAX_COUNT).contains(slots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<ServeOptions, SuperviseError> {
        ServeOptions::from_arguments(arguments.iter().map(OsString::from))
    }

    #[test]
    fn what_is_written_is_understood() {
        let root: AbsolutePath = "/a/b".parse().unwrap();
        for slots in [None, Some(7)] {
            let arguments = ServeOptions::to_arguments(&root, slots);
            assert_eq!(arguments[0], SUPERVISE_WORD);
            let options = ServeOptions::from_arguments(arguments.into_iter().skip(1)).unwrap();
            assert_eq!((options.root, options.slots), (root.clone(), slots));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for wrong in [
            &[][..],
            &["--root"],
            &["--root", "relative"],
            &["--root", "/a", "--root", "/a"],
            &["--root", "/a", "--slots", "0"],
            &["--root", "/a", "--slots", "4097"],
            &["--root", "/a", "--other", "1"],
            &["/a"],
        ] {
            assert!(matches!(parse(wrong), Err(SuperviseError::Arguments(_))), "{wrong:?}");
        }
    }
}
