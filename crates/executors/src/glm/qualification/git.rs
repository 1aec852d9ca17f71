//! What git says of a workspace under evaluation. It is asked outside of any sandbox, and again after the turn, so a workspace is
//! refused whose git directory could make it start anything or leads to files that the turn may write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::limits::GIT_SETTINGS_MAX_BYTES;
use super::inventory::oddity;
use crate::common::files::{exists, read_regular};
use crate::common::git::Git;

pub(super) const GIT_DIRECTORY: &str = ".git";
/// Nothing that the workspace names is started, and no submodule is looked into.
const DIFF: [&str; 5] = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"];

/// Demands a git directory of the workspace alone: in it, without links, and with settings that bring in no filter and no other
/// settings, for which git has no switch. The error says what is wrong with the workspace.
pub(super) fn demand_plain(workdir: &Path) -> Result<(), &'static str> {
    let control = workdir.join(GIT_DIRECTORY);
    if !fs::symlink_metadata(&control).is_ok_and(|metadata| metadata.is_dir()) {
        return Err("has no git directory in it");
    }
    if exists(&control.join("commondir")) {
        return Err("shares its git directory with another");
    }
    for name in ["config", "config.worktree"] {
        let path = control.join(name);
        if exists(&path) {
            let settings = read_regular(&path, GIT_SETTINGS_MAX_BYTES);
            demand_plain_settings(&settings.map_err(|_| "has git settings that can not be read")?)?;
        }
    }
    match has_links(&control) {
        Ok(false) => {}
        Ok(true) => return Err("has a symbolic link in its git directory"),
        Err(_) => return Err("has a git directory that can not be read"),
    }
    match oddity(workdir) {
        Ok(None) => Ok(()),
        Ok(Some(oddity)) => Err(oddity),
        Err(_) => Err("can not be read"),
    }
}

/// Whether git was told not to look at a file: `assume-unchanged` shows as a small letter, `skip-worktree` as `S` (git-ls-files(1)).
pub(super) fn passes_over_files(git: &Git) -> Option<bool> {
    let entries = git.ask(&["ls-files", "-v", "-z"])?;
    let is_passed_over =
        |entry: &[u8]| entry.first().is_some_and(|tag| *tag == b'S' || tag.is_ascii_lowercase());
    Some(entries.split(|byte| *byte == 0).any(is_passed_over))
}

/// A section begins with a bracket and its name, in any case (git-config(1), "Syntax").
fn demand_plain_settings(settings: &[u8]) -> Result<(), &'static str> {
    let settings = settings.to_ascii_lowercase();
    let begins = |section: &[u8]| settings.windows(section.len()).any(|window| window == section);
    if begins(b"[filter") {
        return Err("has git settings that name a filter");
    }
    if begins(b"[include") {
        return Err("has git settings that include others");
    }
    Ok(())
}

fn has_links(directory: &Path) -> io::Result<bool> {
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                return Ok(true);
            }
            if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(false)
}

/// Whether a workspace is the top of a checkout without a change, an untracked or an ignored file.
pub(super) fn is_clean(git: &Git) -> Option<bool> {
    let words = ["status", "--porcelain=v1", "--untracked-files=all", "--ignored", "--ignore-submodules=all"];
    Some(git.is_top()? && git.ask(&words)?.is_empty())
}

/// The binary difference to the commit that it is at.
pub(super) fn diff(git: &Git) -> Option<Vec<u8>> {
    git.ask(&[&DIFF[..], &["--binary", "HEAD", "--"]].concat())
}

/// The tracked paths that differ from that commit.
pub(super) fn changed(git: &Git) -> Option<Vec<PathBuf>> {
    git.paths(&[&DIFF[..], &["--no-renames", "--name-only", "-z", "HEAD", "--"]].concat())
}

pub(super) fn tracked(git: &Git) -> Option<Vec<PathBuf>> {
    git.paths(&["ls-files", "-z"])
}

pub(super) fn untracked(git: &Git) -> Option<Vec<PathBuf>> {
    git.paths(&["ls-files", "-z", "--others", "--exclude-standard"])
}

pub(super) fn ignored(git: &Git) -> Option<Vec<PathBuf>> {
    git.paths(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard"])
}

#[cfg(test)]
mod tests {
    use super::demand_plain_settings;

    #[test]
    fn settings_name_neither_filters_nor_other_settings() {
        for (settings, is_plain) in [
            ("[core]\n\tbare = false\n[remote \"filter\"]\n\turl = include\n", true),
            ("", true),
            ("[filter \"lfs\"]\n\tclean = x\n", false),
            ("[core] [Filter.x]clean=y", false),
            ("[INCLUDE]\n\tpath = ../x\n", false),
            ("[includeIf \"gitdir:/\"]\n\tpath = x\n", false),
        ] {
            assert_eq!(demand_plain_settings(settings.as_bytes()).is_ok(), is_plain, "{settings}");
        }
    }
}
