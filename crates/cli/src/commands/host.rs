//! What a turn needs of the host, looked at before the first one.

use std::path::Path;

use record::AbsolutePath;

use crate::human::amount;
use crate::human::block::Block;
use crate::human::safe;

/// A few lines on the host.
pub(super) fn describe(root: &AbsolutePath, search_path: &str) -> String {
    let mut block = Block::default();
    let system = rustix::system::uname();
    let words = [system.sysname(), system.release(), system.machine()]
        .map(|word| safe::one_line(&word.to_string_lossy()));
    block.line("system", &words.join(" "));
    block.line("processes", processes());
    block.line("root", &state_root(root));
    block.line("git", &git(search_path));
    block.into_text()
}

/// Whether a process can be held by a descriptor, so that a stop never meets a stranger with the same number.
fn processes() -> &'static str {
    let own = rustix::process::getpid();
    match rustix::process::pidfd_open(own, rustix::process::PidfdFlags::empty()) {
        Ok(_) => "can be followed and stopped safely",
        Err(_) => "can not be held by descriptors: this kernel is too old, or a sandbox is in the way",
    }
}

fn state_root(root: &AbsolutePath) -> String {
    let shown = safe::one_line(root.as_str());
    let new = if root.as_path().exists() { "" } else { ", new" };
    let space = root
        .as_path()
        .ancestors()
        .find_map(|path| rustix::fs::statvfs(path).ok())
        .map(|system| system.f_bavail.saturating_mul(system.f_frsize));
    match space {
        Some(free) => format!("{shown}{new}, {} free", amount::bytes(free)),
        None => format!("{shown}{new}"),
    }
}

fn git(search_path: &str) -> String {
    let found = std::env::split_paths(search_path)
        .map(|directory| directory.join("git"))
        .find(|path: &std::path::PathBuf| Path::is_file(path));
    match found {
        Some(path) => safe::one_line(&path.to_string_lossy()),
        None => "not found; the survey does without".to_owned(),
    }
}
