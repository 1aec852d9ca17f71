//! The git repository of a workspace: what of it a turn in a linked worktree may write, and what of it decides which programs
//! its owner runs later (STATE.md 7).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use record::{AbsolutePath, Sha256Digest};
use rustix::fs::OFlags;

use crate::limits::{GIT_CONTROL_FILE_MAX_BYTES, GIT_HOOKS_MAX_COUNT};

/// What a turn in a linked worktree needs of the common directory; settings and hooks are not among it.
const SHARED: [&str; 3] = ["objects", "refs", "logs"];

/// What git obeys in its directories.
const OBEYED: [&str; 5] = ["config", "config.worktree", "commondir", "gitdir", "info/attributes"];

/// The directories outside a workspace that a turn in it may write when it is a linked worktree. None when it is not one
/// that its repository knows: the workspace alone could name any directory.
///
/// # Errors
/// The repository can not be read.
pub(super) fn grants(workspace: &AbsolutePath) -> io::Result<Vec<AbsolutePath>> {
    let entry = workspace.as_path().join(".git");
    let Some(directory) = linked_directory(&entry)? else { return Ok(Vec::new()) };
    let Some(common) = path_in(&directory.join("commondir"), &directory)? else { return Ok(Vec::new()) };
    let directory = directory.canonicalize()?;
    let common = common.canonicalize()?;
    let known = path_in(&directory.join("gitdir"), &directory)?;
    let is_known = known.is_some_and(|known| known.canonicalize().is_ok_and(|known| known == entry));
    if !is_known || directory.parent() != Some(&common.join("worktrees")) {
        return Ok(Vec::new());
    }
    let shared = SHARED.iter().map(|name| common.join(name)).filter(|path| path.is_dir());
    shared
        .chain([directory.clone()])
        .map(|path| AbsolutePath::new(&path.canonicalize()?).map_err(io::Error::other))
        .collect()
}

/// A digest of all that git obeys in a workspace: where its directories are, their settings, attributes and hooks. A
/// workspace without a repository has one too, so that a new repository is noticed.
///
/// # Errors
/// Something is there and can not be read, or is too large.
pub(crate) fn control(workspace: &Path) -> io::Result<Sha256Digest> {
    let entry = workspace.join(".git");
    let mut seen = Description::default();
    seen.add(&entry)?;
    let mut directories = vec![linked_directory(&entry)?.unwrap_or(entry)];
    let own = directories[0].clone();
    directories.extend(path_in(&own.join("commondir"), &own)?);
    for directory in &directories {
        for name in OBEYED {
            seen.add(&directory.join(name))?;
        }
        let hooks = directory.join("hooks");
        seen.add(&hooks)?;
        for hook in entries(&hooks)? {
            seen.add(&hook)?;
        }
    }
    Ok(Sha256Digest::of(&seen.0))
}

/// The directory that a `.git` file names; `None` when there is no such file.
fn linked_directory(entry: &Path) -> io::Result<Option<PathBuf>> {
    if !entry.is_file() {
        return Ok(None);
    }
    let Some(content) = content(entry)? else { return Ok(None) };
    let Some(path) = content.strip_prefix(b"gitdir:") else { return Ok(None) };
    Ok(entry.parent().map(|parent| parent.join(path_of(path))))
}

/// The path that a file holds, relative to `base`; `None` when there is no such file.
fn path_in(file: &Path, base: &Path) -> io::Result<Option<PathBuf>> {
    Ok(content(file)?.map(|content| base.join(path_of(&content))))
}

fn path_of(bytes: &[u8]) -> PathBuf {
    std::ffi::OsString::from_vec(bytes.trim_ascii().to_vec()).into()
}

/// The content of a regular file, bounded; `None` when there is none.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if file.metadata()?.is_file() { bounded(file).map(Some) } else { Ok(None) }
}

fn bounded(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(GIT_CONTROL_FILE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > GIT_CONTROL_FILE_MAX_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// What is in a directory, sorted.
fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let found = match fs::read_dir(directory) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let found = found.take(GIT_HOOKS_MAX_COUNT + 1).map(|entry| Ok(entry?.path()));
    let mut paths = found.collect::<io::Result<Vec<_>>>()?;
    if paths.len() > GIT_HOOKS_MAX_COUNT {
        return Err(ErrorKind::FileTooLarge.into());
    }
    paths.sort();
    Ok(paths)
}

/// Names, kinds and contents, one after the other, so that no two states look the same.
#[derive(Default)]
struct Description(Vec<u8>);

impl Description {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        self.part(path.as_os_str().as_bytes());
        match fs::symlink_metadata(path) {
            Ok(found) => {
                self.part(&found.permissions().mode().to_le_bytes());
                if found.is_symlink() {
                    self.part(fs::read_link(path)?.as_os_str().as_bytes());
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error),
        }
        self.part(
            content(path)?.map_or(String::new(), |bytes| Sha256Digest::of(&bytes).to_string()).as_bytes(),
        );
        Ok(())
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository `main` with a linked worktree `work`, as git lays them out.
    fn linked() -> (tempfile::TempDir, PathBuf, AbsolutePath) {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let (common, work) = (base.join("main/.git"), base.join("work"));
        for path in ["objects", "refs", "logs", "hooks", "worktrees/work"] {
            fs::create_dir_all(common.join(path)).unwrap();
        }
        fs::create_dir(&work).unwrap();
        fs::write(common.join("config"), "").unwrap();
        let own = common.join("worktrees/work");
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", work.join(".git").display())).unwrap();
        fs::write(work.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        (directory, common, AbsolutePath::new(&work).unwrap())
    }

    #[test]
    fn a_linked_worktree_writes_what_a_commit_needs() {
        let (_directory, common, work) = linked();
        let granted: Vec<PathBuf> = grants(&work).unwrap().iter().map(AbsolutePath::to_path_buf).collect();
        assert_eq!(granted, ["objects", "refs", "logs", "worktrees/work"].map(|name| common.join(name)));
    }

    #[test]
    fn a_directory_that_only_the_workspace_names_is_not_granted() {
        let (directory, common, work) = linked();
        let base = directory.path();
        let victim = base.join("victim");
        for path in ["objects", "refs", "worktrees/work"] {
            fs::create_dir_all(victim.join(path)).unwrap();
        }
        let entry = work.as_path().join(".git");
        // A directory in the workspace that claims to belong to the victim.
        let inside = work.as_path().join("fake");
        fs::create_dir(&inside).unwrap();
        fs::write(inside.join("commondir"), victim.to_str().unwrap()).unwrap();
        fs::write(inside.join("gitdir"), entry.to_str().unwrap()).unwrap();
        fs::write(&entry, "gitdir: fake").unwrap();
        assert_eq!(grants(&work).unwrap(), []);
        // The worktree of somebody else.
        let other = common.join("worktrees/work");
        fs::write(other.join("gitdir"), base.join("elsewhere/.git").to_str().unwrap()).unwrap();
        fs::write(&entry, format!("gitdir: {}", other.display())).unwrap();
        assert_eq!(grants(&work).unwrap(), []);
        for content in ["", "gitdir:", "gitdir: /", "gitdir: /nowhere\n", "something else"] {
            fs::write(&entry, content).unwrap();
            assert_eq!(grants(&work).unwrap(), [], "{content:?}");
        }
    }

    #[test]
    fn what_git_obeys_is_noticed_and_work_is_not() {
        let (_directory, common, work) = linked();
        let control = || control(work.as_path()).unwrap();
        let mut before = control();
        for path in ["objects/x", "refs/x", "worktrees/work/index", "worktrees/work/HEAD"] {
            fs::write(common.join(path), "x").unwrap();
            assert_eq!(control(), before, "{path}");
        }
        let mut noticed = |what: &str| {
            let now = control();
            assert_ne!(now, before, "{what}");
            before = now;
        };
        for path in ["config", "worktrees/work/config.worktree", "hooks/pre-commit", "hooks/other"] {
            fs::write(common.join(path), "x").unwrap();
            noticed(path);
        }
        fs::set_permissions(common.join("hooks/other"), fs::Permissions::from_mode(0o700)).unwrap();
        noticed("a mode");
        fs::remove_file(common.join("hooks/other")).unwrap();
        noticed("a removal");
        fs::remove_file(work.as_path().join(".git")).unwrap();
        noticed("no repository");
        fs::create_dir(work.as_path().join(".git")).unwrap();
        noticed("a new repository");
        let huge = File::create(work.as_path().join(".git/config")).unwrap();
        huge.set_len(GIT_CONTROL_FILE_MAX_BYTES + 1).unwrap();
        assert!(super::control(work.as_path()).is_err());
    }
}
