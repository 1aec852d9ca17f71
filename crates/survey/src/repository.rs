//! What git knows of the workspace: its files, its branch, its last commits, its changes.
//!
//! Three questions, asked at once. None compares the content of a file that has a `filter`
//! attribute, because git would run that filter; the attribute itself is the selector, so the
//! decision is made by the same rules that would choose the filter.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::git::{Git, Reply};
use crate::limits::{COMMITS_MAX, FILES_MAX, GIT_LISTING_MAX_BYTES, GIT_OUTPUT_MAX_BYTES};
use crate::text::{code, visible};
use crate::walk::Listing;

/// What git said, or why it said nothing.
#[derive(Debug)]
pub(crate) enum Repository {
    /// The workspace is in no repository.
    None,
    /// It is in one, but git gave no list of its files; the reason as Markdown.
    Unknown(String),
    /// It is in one.
    Known(Facts),
}

/// What git said.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The workspace inside the working tree; empty at the top.
    pub(crate) prefix: PathBuf,
    /// Branch and changes; nothing where git did not tell.
    pub(crate) state: Option<State>,
    /// The last commits, newest first; empty where there are none or git did not tell.
    pub(crate) commits: Vec<Commit>,
}

/// Branch and changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The name of the branch; nothing when the head is detached.
    pub(crate) branch: Option<String>,
    /// The branch it follows.
    pub(crate) upstream: Option<String>,
    /// There is a commit to stand on.
    pub(crate) has_commits: bool,
    /// Files that differ between the last commit and the index.
    pub(crate) staged: u64,
    /// Files that differ between the index and the disk.
    pub(crate) changed: u64,
    /// Files in conflict.
    pub(crate) conflicts: u64,
    /// There are more than were counted.
    pub(crate) is_cut: bool,
}

/// One commit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The short hash.
    pub(crate) hash: String,
    /// The day, as the committer's clock had it.
    pub(crate) date: String,
    /// The first line of its message.
    pub(crate) subject: String,
}

/// Asks git about a workspace. The list is missing where the repository is not [`Repository::Known`].
pub(crate) fn inspect(workspace: &Path, git: Option<&Git>) -> (Repository, Option<Listing>) {
    let Some(prefix) = prefix_in_working_tree(workspace) else {
        return (Repository::None, None);
    };
    let Some(git) = git else {
        return (Repository::Unknown("git was not found".to_owned()), None);
    };
    let count = COMMITS_MAX.to_string();
    let (listing, state, commits) = std::thread::scope(|scope| {
        let state = scope.spawn(|| {
            git.ask(
                &[
                    "status",
                    "--porcelain=v2",
                    "-z",
                    "--branch",
                    "--no-ahead-behind",
                    "--no-renames",
                    "--untracked-files=no",
                    "--ignore-submodules=all",
                    "--",
                    ":(attr:!filter).",
                ],
                GIT_OUTPUT_MAX_BYTES,
            )
        });
        let commits = scope.spawn(|| {
            git.ask(
                &[
                    "log",
                    "-z",
                    "--max-count",
                    &count,
                    "--no-patch",
                    "--no-color",
                    "--no-decorate",
                    "--no-mailmap",
                    "--no-show-signature",
                    "--encoding=UTF-8",
                    "--format=%h %cs %s",
                ],
                GIT_OUTPUT_MAX_BYTES,
            )
        });
        let listing = git.ask(
            &["ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"],
            GIT_LISTING_MAX_BYTES,
        );
        (listing, state.join(), commits.join())
    });
    let listing = match listing {
        Ok(Reply::Output(output, is_cut)) => parse_listing(&output, is_cut),
        Ok(Reply::Refused(errors)) => return (Repository::Unknown(refusal(&errors)), None),
        Err(error) => {
            let reason = format!("git could not be asked: {}", visible(error.to_string().as_bytes()));
            return (Repository::Unknown(reason), None);
        }
    };
    let state = match state {
        Ok(Ok(Reply::Output(output, is_cut))) => Some(parse_state(&output, is_cut)),
        _ => None,
    };
    let commits = match commits {
        Ok(Ok(Reply::Output(output, false))) => parse_commits(&output),
        _ => Vec::new(),
    };
    let facts = Facts { prefix, state, commits };
    (Repository::Known(facts), Some(listing))
}

/// Where the workspace lies below the nearest folder that git could take for a working tree, without asking git: outside
/// of a repository no process is needed.
fn prefix_in_working_tree(workspace: &Path) -> Option<PathBuf> {
    let workspace = workspace.canonicalize().ok()?;
    let top = workspace.ancestors().find(|folder| is_repository(&folder.join(".git")))?;
    Some(workspace.strip_prefix(top).ok()?.to_owned())
}

/// An empty folder of that name is none: sandboxes leave such behind.
fn is_repository(dot_git: &Path) -> bool {
    match dot_git.symlink_metadata() {
        Ok(found) if found.is_dir() => dot_git.join("HEAD").symlink_metadata().is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

fn refusal(errors: &[u8]) -> String {
    if errors.windows(14).any(|window| window == b"safe.directory") {
        return "git refuses it because another user owns it (see `safe.directory` in the manual \
                of git-config)"
            .to_owned();
    }
    let line = errors.split(|&byte| byte == b'\n').next().unwrap_or_default();
    format!("git says {}", code(&visible(line)))
}

/// Reads `ls-files -z -t`: a letter, a space, the path. `?` is untracked, `S` is not checked out.
fn parse_listing(output: &[u8], is_cut: bool) -> Listing {
    let mut listing = Listing { untracked: Some(0), is_cut, ..Listing::default() };
    let mut entries: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
    // The last piece is empty, or half a path where the output was cut.
    entries.pop();
    for entry in entries {
        let [tag, b' ', path @ ..] = entry else {
            continue;
        };
        if *tag == b'S' {
            continue;
        }
        if listing.paths.len() == FILES_MAX {
            listing.is_cut = true;
            break;
        }
        let is_untracked = *tag == b'?';
        listing.untracked = listing.untracked.map(|count| count + u64::from(is_untracked));
        listing.paths.push(PathBuf::from(OsString::from_vec(path.to_vec())));
    }
    listing.paths.sort();
    // A file in conflict is listed once for each side.
    listing.paths.dedup();
    listing
}

/// Reads `status --porcelain=v2 -z --branch` without untracked files and renames.
fn parse_state(output: &[u8], is_cut: bool) -> State {
    let mut state = State { is_cut, ..State::default() };
    for record in output.split(|&byte| byte == 0) {
        if let Some(oid) = record.strip_prefix(b"# branch.oid ") {
            state.has_commits = oid != b"(initial)";
        } else if let Some(branch) = record.strip_prefix(b"# branch.head ") {
            state.branch = (branch != b"(detached)").then(|| visible(branch));
        } else if let Some(upstream) = record.strip_prefix(b"# branch.upstream ") {
            state.upstream = Some(visible(upstream));
        } else if let [b'1', b' ', index, disk, ..] = record {
            state.staged += u64::from(*index != b'.');
            state.changed += u64::from(*disk != b'.');
        } else if record.starts_with(b"u ") {
            state.conflicts += 1;
        }
    }
    state
}

/// Reads `log -z --format="%h %cs %s"`.
fn parse_commits(output: &[u8]) -> Vec<Commit> {
    output
        .split(|&byte| byte == 0)
        .filter_map(|record| {
            let mut fields = record.splitn(3, |&byte| byte == b' ').map(visible);
            Some(Commit {
                hash: fields.next().filter(|hash| !hash.is_empty())?,
                date: fields.next()?,
                subject: fields.next().unwrap_or_default(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_listing_is_ordered_and_whole() {
        let listing = parse_listing(b"? new\0H b\0M c\0M c\0S sparse\0H a/\xff\0H cu", true);
        let paths: Vec<Vec<u8>> =
            listing.paths.iter().map(|path| path.clone().into_os_string().into_vec()).collect();
        assert_eq!(paths, [&b"a/\xff"[..], b"b", b"c", b"new"]);
        assert_eq!((listing.untracked, listing.is_cut), (Some(1), true));
    }

    #[test]
    fn states_are_counted() {
        let output = b"# branch.oid 1234\0# branch.head main\0# branch.upstream origin/main\0\
            1 M. N... 1 2 3 4 5 both sides\x001 .M N... 1 2 3 4 5 b\x001 MD N... 1 2 3 4 5 c\0\
            u UU N... 1 2 3 4 5 6 7 d\0";
        let expected = State {
            branch: Some("main".to_owned()),
            upstream: Some("origin/main".to_owned()),
            has_commits: true,
            staged: 2,
            changed: 2,
            conflicts: 1,
            is_cut: false,
        };
        assert_eq!(parse_state(output, false), expected);
        let detached = parse_state(b"# branch.oid (initial)\0# branch.head (detached)\0", false);
        assert_eq!(detached, State::default());
    }

    #[test]
    fn commits_are_read_with_any_subject() {
        let commits = parse_commits(b"abc1234 2026-11-30 Fix a  b\x1b[2J\0def5678 2026-11-29 \0");
        let commit = |hash: &str, date: &str, subject: &str| Commit {
            hash: hash.to_owned(),
            date: date.to_owned(),
            subject: subject.to_owned(),
        };
        assert_eq!(
            commits,
            [commit("abc1234", "2026-11-30", r"Fix a  b\u{1b}[2J"), commit("def5678", "2026-11-29", ""),]
        );
    }

    #[test]
    fn a_refusal_is_told_in_words() {
        let owner = refusal(b"fatal: detected dubious ownership\n\tgit config safe.directory x\n");
        assert!(owner.contains("another user"), "{owner}");
        assert_eq!(refusal(b"fatal: odd\x07\nmore"), r"git says `fatal: odd\u{7}`");
    }

    #[test]
    fn the_repository_of_another_user_is_not_entered() {
        let workspace = tempfile::tempdir().unwrap();
        let tools = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let real = Git::find(&path, workspace.path()).unwrap();
        let is_done = real.ask(&["init", "--quiet"], 100).unwrap();
        assert!(matches!(is_done, Reply::Output(..)), "{is_done:?}");
        // Git's own switch for its own tests of this refusal.
        let script = format!(
            "#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {} \"$@\"\n",
            real.program().display()
        );
        let program = tools.path().join("git");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let git = Git::find(tools.path().as_os_str(), workspace.path()).unwrap();
        let (repository, listing) = inspect(workspace.path(), Some(&git));
        let Repository::Unknown(reason) = repository else {
            panic!("{repository:?}");
        };
        assert!(reason.contains("another user"), "{reason}");
        assert!(listing.is_none());
    }

    #[test]
    fn without_git_a_repository_is_told_as_unknown() {
        let workspace = tempfile::tempdir().unwrap();
        assert!(matches!(inspect(workspace.path(), None), (Repository::None, None)));
        std::fs::create_dir(workspace.path().join(".git")).unwrap();
        assert!(matches!(inspect(workspace.path(), None), (Repository::None, None)));
        std::fs::write(workspace.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert!(matches!(inspect(workspace.path(), None), (Repository::Unknown(_), None)));
    }
}
