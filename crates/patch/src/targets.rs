//! The files that a patch names: their content is attested (patch-verifier.md 6, 8.2).
//!
//! A look at each begins the attestation. Its content may be read later, as long as the stamp then is the one that was
//! seen, and the last change so long ago that a later one shows in it; otherwise it is read at once.

mod place;

use std::collections::HashMap;
use std::iter;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use record::Sha256Digest;
use rustix::fs::Stat;
use sha2::{Digest as _, Sha256};

use crate::limits::{READER_PIECE_TARGETS, READERS_MAX_THREADS};
use crate::tree::Worktree;
use place::Parents;

/// A regular file that the patch names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// What was read; absent until then, and where it can not be read or was changed meanwhile.
    pub(crate) content: Option<Content>,
    /// Whether it lies in a repository inside the worktree.
    pub(crate) is_nested: bool,
    mode: u32,
    stamp: Stamp,
    /// Its last change was long enough ago that another one would show in the stamp.
    is_settled: bool,
}

/// The content of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// Its digest.
    pub(crate) sha256: Sha256Digest,
    /// Whether a carriage return is in it.
    pub(crate) has_carriage_return: bool,
    /// Itself, unless it is too large to be kept.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// The files that a patch names, by path; `None` for what is no regular file.
pub(crate) type Targets = HashMap<Vec<u8>, Option<Target>>;

/// Inode, size, and both times in nanoseconds.
pub(crate) type Stamp = [i128; 4];

/// The stamp in what a look found.
pub(crate) fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds = |seconds: i128, part: i128| seconds * 1_000_000_000 + part;
    [
        i128::from(stat.st_ino),
        i128::from(stat.st_size),
        nanoseconds(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
        nanoseconds(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
    ]
}

/// Whether a file was last changed at least two seconds ago: clocks of file systems tick in steps, so that two changes
/// close together can carry one time.
fn is_settled(stamp: &Stamp) -> bool {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |past| past.as_nanos().cast_signed());
    stamp[3] + 2_000_000_000 < now
}

/// How much content may still be kept, in bytes.
#[derive(Debug)]
pub(crate) struct Memory(AtomicU64);

impl Memory {
    /// So many bytes.
    pub(crate) const fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Whether there was that much; it is taken then.
    fn take(&self, bytes: u64) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Looks at every target, and does `meanwhile` beside that.
pub(crate) fn look<T>(
    worktree: &Worktree,
    targets: &mut Targets,
    memory: &Memory,
    meanwhile: impl FnOnce(&Targets) -> T,
) -> T {
    let work = |parents: &mut Parents<'_>, path: &[u8]| {
        (path.to_vec(), parents.place(path).and_then(|place| place.look(memory)))
    };
    let (done, found) = share(worktree, &sorted(targets), work, || meanwhile(targets));
    targets.extend(found);
    done
}

/// Reads the content that was not read yet, and does `meanwhile` beside that.
pub(crate) fn read<T>(
    worktree: &Worktree,
    targets: &mut Targets,
    memory: &Memory,
    meanwhile: impl FnOnce() -> T,
) -> T {
    let work = |parents: &mut Parents<'_>, path: &[u8]| {
        let known =
            targets.get(path)?.as_ref().filter(|known| known.content.is_none() && known.is_settled)?;
        let (stat, content) = parents.place(path)?.read(memory, None)?;
        (stamp(&stat) == known.stamp).then(|| (path.to_vec(), content))
    };
    let (done, found) = share(worktree, &sorted(targets), work, meanwhile);
    for (path, content) in found.into_iter().flatten() {
        if let Some(Some(target)) = targets.get_mut(&path) {
            target.content = Some(content);
        }
    }
    done
}

/// The digest of targets whose content was read.
pub(crate) fn digest(targets: &Targets) -> Vec<u8> {
    let state = |path: &[u8]| State::of(targets.get(path).and_then(Option::as_ref));
    combine(sorted(targets).into_iter().map(|path| (path, state(path))))
}

/// The digest of the same files as they are now, with something done `meanwhile`. One whose settled stamp is what it was
/// is not read again.
pub(crate) fn digest_again<T>(
    worktree: &Worktree,
    targets: &Targets,
    meanwhile: impl FnOnce() -> T,
) -> (T, Vec<u8>) {
    let work = |parents: &mut Parents<'_>, path: &[u8]| {
        let known = targets.get(path).and_then(Option::as_ref);
        parents.place(path).map_or(State::None, |place| place.state(known))
    };
    let paths = sorted(targets);
    let (done, states) = share(worktree, &paths, work, meanwhile);
    (done, combine(paths.into_iter().zip(states)))
}

/// What is attested of a target.
enum State {
    /// No regular file; what else it is, the walk through the worktree records.
    None,
    Read(u32, Sha256Digest),
    Unread(u32, Stamp),
}

impl State {
    fn of(target: Option<&Target>) -> Self {
        match target {
            None => Self::None,
            Some(Target { mode, content: Some(content), .. }) => Self::Read(*mode, content.sha256),
            Some(Target { mode, stamp, .. }) => Self::Unread(*mode, *stamp),
        }
    }
}

fn combine<'p>(states: impl Iterator<Item = (&'p [u8], State)>) -> Vec<u8> {
    let mut hasher = Sha256::new();
    for (path, state) in states {
        hasher.update(path);
        match state {
            State::None => hasher.update(b"\0none"),
            State::Read(mode, sha256) => {
                hasher.update(b"\0file");
                hasher.update(mode.to_le_bytes());
                hasher.update(sha256.to_string());
            }
            State::Unread(mode, stamp) => {
                hasher.update(b"\0unread");
                hasher.update(mode.to_le_bytes());
                stamp.iter().for_each(|field| hasher.update(field.to_le_bytes()));
            }
        }
    }
    hasher.finalize().to_vec()
}

/// Neighbours in a directory come one after the other.
fn sorted(targets: &Targets) -> Vec<&[u8]> {
    let mut paths: Vec<&[u8]> = targets.keys().map(Vec::as_slice).collect();
    paths.sort_unstable();
    paths
}

/// Does the work for every path, piece by piece, in this thread after `meanwhile` and in others from now on. Answers what
/// came out, in the order of the paths.
fn share<R: Send, T>(
    worktree: &Worktree,
    paths: &[&[u8]],
    work: impl Fn(&mut Parents<'_>, &[u8]) -> R + Sync,
    meanwhile: impl FnOnce() -> T,
) -> (T, Vec<R>) {
    let pieces: Vec<_> = paths.chunks(READER_PIECE_TARGETS).collect();
    let next = AtomicUsize::new(0);
    let take = || -> Vec<(usize, Vec<R>)> {
        let mut parents = Parents::new(worktree);
        let pieces = iter::from_fn(|| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let piece = pieces.get(number)?;
            Some((number, piece.iter().map(|path| work(&mut parents, path)).collect()))
        });
        pieces.collect()
    };
    thread::scope(|scope| {
        let helpers = 1..READERS_MAX_THREADS.min(pieces.len());
        let helpers: Vec<_> = helpers.map(|_| scope.spawn(take)).collect();
        let done = meanwhile();
        let mut results = take();
        for helper in helpers {
            results.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results.sort_unstable_by_key(|(number, _)| *number);
        (done, results.into_iter().flat_map(|(_, results)| results).collect())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Files, and a look at them of which nothing was read, as if they were old.
    fn looked(directory: &Path, names: &[String]) -> (Worktree, Targets) {
        for name in names {
            fs::create_dir_all(directory.join(name).parent().unwrap()).unwrap();
            fs::write(directory.join(name), name).unwrap();
        }
        let worktree = Worktree::open(directory).unwrap();
        let mut targets: Targets = names.iter().map(|name| (name.as_bytes().to_vec(), None)).collect();
        look(&worktree, &mut targets, &Memory::new(1 << 20), |_| ());
        for target in targets.values_mut().flatten() {
            target.is_settled = true;
            target.content = None;
        }
        (worktree, targets)
    }

    #[test]
    fn many_targets_are_read_by_all_threads_together() {
        let directory = tempfile::tempdir().unwrap();
        let names: Vec<String> =
            (0..3 * READER_PIECE_TARGETS).map(|number| format!("d{}/f{number}", number % 7)).collect();
        let (worktree, mut targets) = looked(directory.path(), &names);
        assert_eq!(read(&worktree, &mut targets, &Memory::new(1 << 20), || 5), 5);
        for (path, target) in &targets {
            let content = target.as_ref().unwrap().content.as_ref().unwrap();
            assert_eq!((content.sha256, content.bytes.as_ref()), (Sha256Digest::of(path), Some(path)));
        }
        assert_eq!(digest_again(&worktree, &targets, || ()).1, digest(&targets));
        fs::write(directory.path().join(&names[150]), "changed").unwrap();
        assert_ne!(digest_again(&worktree, &targets, || ()).1, digest(&targets));
    }

    #[test]
    fn a_target_that_changes_between_look_and_read_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let (worktree, mut targets) = looked(directory.path(), &["f".to_owned()]);
        fs::write(directory.path().join("f"), "longer").unwrap();
        read(&worktree, &mut targets, &Memory::new(1 << 20), || ());
        assert_eq!(targets[&b"f"[..]].as_ref().unwrap().content, None);
        assert_ne!(digest_again(&worktree, &targets, || ()).1, digest(&targets));
    }

    #[test]
    fn what_lies_elsewhere_is_not_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("work");
        fs::create_dir_all(work.join(".git")).unwrap();
        for file in ["outside", "work/.git/config", "work/x"] {
            fs::write(directory.path().join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(directory.path(), work.join("link")).unwrap();
        std::os::unix::fs::symlink("x", work.join("leaf")).unwrap();
        let outside = directory.path().join("outside").to_str().unwrap().to_owned();
        let worktree = Worktree::open(&work).unwrap();
        for path in ["../outside", &outside, ".git/config", "link/outside", "leaf", "./x", "x/", "", "x\0"] {
            let mut targets = Targets::from([(path.as_bytes().to_vec(), None)]);
            look(&worktree, &mut targets, &Memory::new(1 << 20), |_| ());
            assert_eq!(targets[path.as_bytes()], None, "{path:?}");
        }
    }
}
