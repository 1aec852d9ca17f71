//! Where nodes are made: the cgroup that this process is in.

use std::env;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::process::geteuid;

use super::node::{self, CgroupNode};
use super::{CgroupError, ResourceLimits};
use crate::procfs::read_system_file;

/// The cgroup of this process, below which it may make nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupHome {
    directory: PathBuf,
}

impl CgroupHome {
    /// Finds the cgroup of this process in the mounted v2 hierarchy, and whether this user may make nodes there. Makes
    /// nothing.
    ///
    /// # Errors
    /// Why no node can be made.
    pub fn find() -> Result<Self, CgroupError> {
        let mounts = read("/proc/self/mountinfo")?;
        let position = read("/proc/self/cgroup")?;
        let position = position_of(&position).ok_or(CgroupError::NotMounted)?;
        let mounts: Vec<Mount> = mounts.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect();
        if mounts.is_empty() {
            return Err(CgroupError::NotMounted);
        }
        // A later mount hides an earlier one at the same place.
        let directory = mounts.iter().rev().find_map(|mount| mount.directory_of(&position));
        let home = Self { directory: directory.ok_or(CgroupError::NotVisible)? };
        if home.is_delegated() {
            Ok(home)
        } else {
            Err(CgroupError::NotDelegated { path: home.directory, user_manager: user_manager_runs() })
        }
    }

    /// The directory of the cgroup.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Whether a node made here could have these limits. Changes nothing.
    ///
    /// # Errors
    /// [`CgroupError::NoController`] for the first that it could not.
    pub fn offers(&self, limits: &ResourceLimits) -> Result<(), CgroupError> {
        for (controller, _) in limits.settings() {
            let word = controller.to_string();
            let handed_down = self.controllers("cgroup.subtree_control")?.contains(&word);
            // Controllers can be handed down from a cgroup with processes only at the root, which has no type.
            let can_be = || -> Result<bool, CgroupError> {
                let is_root = !self.directory.join("cgroup.type").exists();
                Ok(is_root && self.controllers("cgroup.controllers")?.contains(&word))
            };
            if !handed_down && !can_be()? {
                return Err(CgroupError::NoController { controller, path: self.directory.clone() });
            }
        }
        Ok(())
    }

    /// Makes the node `name` with these limits; one of that name that is there already is taken over. At the root of the
    /// hierarchy the controllers that the limits need are switched on for the cgroups below it, and stay so.
    ///
    /// # Errors
    /// Why it can not be had; none is left then.
    pub fn make(&self, name: &str, limits: &ResourceLimits) -> Result<CgroupNode, CgroupError> {
        self.offers(limits)?;
        for (controller, _) in limits.settings() {
            let path = self.directory.join("cgroup.subtree_control");
            if !self.controllers("cgroup.subtree_control")?.contains(&controller.to_string()) {
                node::write(&path, &format!("+{controller}"))
                    .map_err(|source| CgroupError::Io { path, source })?;
            }
        }
        let path = self.directory.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(CgroupError::Io { path, source: error });
            }
            _ => {}
        }
        let node = CgroupNode::at(path);
        let prepared = node.limit(limits).and_then(|()| {
            if node.path().join("cgroup.kill").exists() { Ok(()) } else { Err(CgroupError::TooOld) }
        });
        match prepared {
            Ok(()) => Ok(node),
            Err(error) => {
                // What can not be removed is empty, and is found by its name later.
                let _ = node.remove();
                Err(error)
            }
        }
    }

    /// The nodes here whose names begin with `prefix`.
    ///
    /// # Errors
    /// The directory can not be read.
    pub fn nodes(&self, prefix: &str) -> io::Result<Vec<CgroupNode>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.file_name().as_bytes().starts_with(prefix.as_bytes()) && entry.file_type()?.is_dir() {
                found.push(CgroupNode::at(entry.path()));
            }
        }
        Ok(found)
    }

    /// The kernel asks for both: a node is made in the directory, and a process enters one through the common ancestor's
    /// list of processes.
    fn is_delegated(&self) -> bool {
        [
            (self.directory.clone(), Access::WRITE_OK | Access::EXEC_OK),
            (self.directory.join("cgroup.procs"), Access::WRITE_OK),
        ]
        .iter()
        .all(|(path, access)| accessat(CWD, path, *access, AtFlags::EACCESS).is_ok())
    }

    fn controllers(&self, file: &str) -> Result<Vec<String>, CgroupError> {
        let path = self.directory.join(file);
        match read_system_file(&path) {
            Ok(text) => {
                Ok(String::from_utf8_lossy(&text).split_ascii_whitespace().map(str::to_owned).collect())
            }
            Err(source) => Err(CgroupError::Io { path, source }),
        }
    }
}

/// Whether a systemd instance of this user answers, by which a delegated scope can be had.
fn user_manager_runs() -> bool {
    let directory = env::var_os("XDG_RUNTIME_DIR")
        .map_or_else(|| PathBuf::from(format!("/run/user/{}", geteuid().as_raw())), PathBuf::from);
    directory.join("systemd/private").exists()
}

fn read(path: &str) -> Result<Vec<u8>, CgroupError> {
    // The table of mounts has no bound that could be relied on.
    fs::read(path).map_err(|source| CgroupError::Io { path: path.into(), source })
}

/// The path of a process in the v2 hierarchy, from its `/proc/PID/cgroup`.
pub(super) fn position_of(table: &[u8]) -> Option<PathBuf> {
    let line = table.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"0::"))?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(line)))
}

/// One mount of the v2 hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// Which cgroup is mounted.
    root: PathBuf,
    /// Where.
    place: PathBuf,
}

impl Mount {
    /// Reads a line of `/proc/PID/mountinfo`; `None` for other file systems.
    fn parse(line: &[u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        // The number of optional fields before the dash varies.
        let dash = fields.iter().position(|field| *field == b"-")?;
        if *fields.get(dash + 1)? != b"cgroup2" {
            return None;
        }
        Some(Self { root: unescaped(fields.get(3)?), place: unescaped(fields.get(4)?) })
    }

    /// The directory of the cgroup with that path, if this mount shows it.
    fn directory_of(&self, position: &Path) -> Option<PathBuf> {
        let rest = position.strip_prefix(&self.root).ok()?;
        let climbs = rest.components().any(|part| part == std::path::Component::ParentDir);
        // Joining an empty path would add a slash.
        (!climbs)
            .then(|| if rest.as_os_str().is_empty() { self.place.clone() } else { self.place.join(rest) })
    }
}

/// A path of the table, in which white space and backslashes are written as octal numbers.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let number = match rest {
            [b'\\', digits @ ..] => digits
                .first_chunk::<3>()
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .and_then(|digits| u8::from_str_radix(digits, 8).ok()),
            _ => None,
        };
        bytes.push(number.unwrap_or(*first));
        rest = if number.is_some() { &rest[4..] } else { tail };
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(line: &str) -> Option<Mount> {
        Mount::parse(line.as_bytes())
    }

    #[test]
    fn the_unified_hierarchy_is_found_beside_others() {
        let legacy = "36 31 0:33 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";
        let unified = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw";
        assert_eq!(mount(legacy), None);
        let found = mount(unified).expect("a mount");
        assert_eq!(found.directory_of(Path::new("/")), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(found.directory_of(Path::new("/a/b")), Some("/sys/fs/cgroup/unified/a/b".into()));
        let table = b"9:name=systemd:/\n4:memory:/x\n0::/user.slice/s.scope\n";
        assert_eq!(position_of(table), Some("/user.slice/s.scope".into()));
        assert_eq!(position_of(b"4:memory:/x\n"), None);
    }

    #[test]
    fn a_mount_of_a_part_shows_that_part_only() {
        let part = mount("50 30 0:26 /sub\\040tree /mnt/c\\134g rw - cgroup2 none rw").expect("a mount");
        assert_eq!(part.directory_of(Path::new("/sub tree/x")), Some("/mnt/c\\g/x".into()));
        assert_eq!(part.directory_of(Path::new("/sub tree")), Some("/mnt/c\\g".into()));
        assert_eq!(part.directory_of(Path::new("/other")), None);
        let whole = mount("50 30 0:26 / /mnt rw - cgroup2 none rw").expect("a mount");
        assert_eq!(whole.directory_of(Path::new("/../outside")), None);
    }

    /// A directory that looks like a cgroup.
    fn home(files: &[(&str, &str)]) -> (tempfile::TempDir, CgroupHome) {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            fs::write(directory.path().join(name), text).expect("a file");
        }
        let home = CgroupHome { directory: directory.path().to_path_buf() };
        (directory, home)
    }

    fn missing(home: &CgroupHome, limits: ResourceLimits) -> Option<String> {
        match home.offers(&limits) {
            Ok(()) => None,
            Err(CgroupError::NoController { controller, .. }) => Some(controller.to_string()),
            Err(error) => panic!("{error}"),
        }
    }

    const ALL: ResourceLimits = ResourceLimits { memory_bytes: Some(1), pids: Some(1), cpus: Some(1) };

    #[test]
    fn a_limit_needs_its_controller_handed_down() {
        let inner = [
            ("cgroup.controllers", "cpu memory pids\n"),
            ("cgroup.subtree_control", "memory pids\n"),
            ("cgroup.type", "domain\n"),
        ];
        let (_directory, home) = home(&inner);
        assert_eq!(missing(&home, ALL).as_deref(), Some("cpu"));
        assert_eq!(missing(&home, ResourceLimits { cpus: None, ..ALL }), None);
        assert!(matches!(home.make("node", &ALL), Err(CgroupError::NoController { .. })));
        assert!(!home.path().join("node").exists());
    }

    #[test]
    fn at_the_root_a_controller_can_be_switched_on() {
        let root = [("cgroup.controllers", "cpu memory pids\n"), ("cgroup.subtree_control", "\n")];
        let (_directory, home) = home(&root);
        assert_eq!(missing(&home, ALL), None);
        let one = ResourceLimits { pids: Some(9), ..ResourceLimits::default() };
        // The node of an ordinary file system has no files of its own.
        assert!(matches!(home.make("node", &one), Err(CgroupError::Io { .. })));
        let written = fs::read_to_string(home.path().join("cgroup.subtree_control")).expect("a file");
        assert!(written.starts_with("+pids"), "{written}");
        assert!(!home.path().join("node").exists(), "nothing is left");
    }

    #[test]
    fn a_node_made_before_is_taken_over_and_limited() {
        let files =
            [("cgroup.controllers", "cpu memory pids\n"), ("cgroup.subtree_control", "cpu memory pids\n")];
        let (_directory, home) = home(&files);
        let path = home.path().join("mine-1");
        fs::create_dir(&path).expect("a directory");
        for name in ["memory.max", "pids.max", "cpu.max", "cgroup.kill"] {
            fs::write(path.join(name), "").expect("a file");
        }
        let limits = ResourceLimits { memory_bytes: Some(4096), pids: Some(7), cpus: Some(3) };
        let node = home.make("mine-1", &limits).expect("a node");
        let text = |name: &str| fs::read_to_string(node.path().join(name)).expect("a file");
        assert_eq!([text("memory.max"), text("pids.max"), text("cpu.max")], ["4096", "7", "300000 100000"]);
        fs::create_dir(home.path().join("other")).expect("a directory");
        assert_eq!(home.nodes("mine-").expect("a list"), [node]);
    }
}
