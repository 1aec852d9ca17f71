//! The same functions without the feature `fault-injection`: they do nothing and cost nothing.

use std::ffi::OsString;
use std::fs::File;
use std::io;

/// Marks that the step called `name` has been done.
///
/// # Errors
/// Never without the feature `fault-injection`; with it, the error that the environment asks for at this point.
#[inline(always)]
pub fn point(name: &str) -> io::Result<()> {
    let _ = name;
    Ok(())
}

/// Notes that a file or directory was synced. Does nothing without the feature `fault-injection`.
#[inline(always)]
pub fn synced(file: &File) {
    let _ = file;
}

/// The boot id that a test put in place of the kernel's. Always `None` without the feature `fault-injection`.
#[inline(always)]
pub fn boot_id() -> Option<String> {
    None
}

/// The machine id that a test put in place of this one's. Always `None` without the feature `fault-injection`.
#[inline(always)]
pub fn machine_id() -> Option<String> {
    None
}

/// The variables of this crate that are set, for handing on to a child whose environment is otherwise cleared.
/// Always empty without the feature `fault-injection`.
#[inline(always)]
pub fn inherited() -> Vec<(&'static str, OsString)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    #[test]
    fn points_do_nothing_when_injection_is_not_built_in() {
        assert!(super::point("any.point").is_ok());
        assert!(super::inherited().is_empty());
        assert_eq!((super::boot_id(), super::machine_id()), (None, None));
    }
}
