//! Directories that a CLI may write beside the workspace (providers.md 1.8). The state root must neither lie in one of
//! them nor contain one; who has the root checks that.

use record::AbsolutePath;
use record::words::Permission;

use crate::environment::Environment;
use crate::error::PlanError;
use crate::host::{Host, HostError};

/// Writable by every process whatever the CLI.
const COMMON: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/dev",
    #[cfg(target_os = "macos")]
    "/var/folders",
];
/// The variables that name a temporary directory.
pub const TEMPORARY_NAMES: &[&str] = &["TMPDIR", "TMP", "TEMP"];

/// A set of writable directories under construction.
pub(crate) struct Roots<'a> {
    host: &'a dyn Host,
    paths: Vec<AbsolutePath>,
}

impl<'a> Roots<'a> {
    /// The directories that every CLI may write, and the workspace where the mode allows that.
    pub(crate) fn common(
        host: &'a dyn Host,
        environment: &Environment,
        workspace: &AbsolutePath,
        permission: Permission,
    ) -> Result<Self, PlanError> {
        let mut roots = Self { host, paths: Vec::new() };
        for path in COMMON {
            roots.add_text(path)?;
        }
        roots.add_variables(environment, TEMPORARY_NAMES)?;
        if permission == Permission::WorkspaceWrite {
            roots.add(workspace)?;
        }
        Ok(roots)
    }

    /// The directories behind our own fence: the workspace where the mode allows that. Nothing that all may write is among
    /// them (STATE.md 7).
    pub(crate) fn fenced(
        host: &'a dyn Host,
        workspace: &AbsolutePath,
        permission: Permission,
    ) -> Result<Self, PlanError> {
        let mut roots = Self { host, paths: Vec::new() };
        if permission == Permission::WorkspaceWrite {
            roots.add(workspace)?;
        }
        Ok(roots)
    }

    /// Adds a directory, whether it is there yet or not.
    pub(crate) fn add(&mut self, path: &AbsolutePath) -> Result<(), PlanError> {
        self.paths.push(resolved(self.host, path)?);
        Ok(())
    }

    /// Adds the directories that variables name; what is no absolute path (`GOCACHE=off`) names none.
    pub(crate) fn add_variables(
        &mut self,
        environment: &Environment,
        names: &[&str],
    ) -> Result<(), PlanError> {
        for value in names.iter().filter_map(|name| environment.get(name)) {
            for part in value.split(':') {
                self.add_text(part)?;
            }
        }
        Ok(())
    }

    /// Sorted, each once.
    pub(crate) fn into_paths(self) -> Vec<AbsolutePath> {
        let mut paths = self.paths;
        paths.sort();
        paths.dedup();
        paths
    }

    fn add_text(&mut self, text: &str) -> Result<(), PlanError> {
        clean(text).map_or(Ok(()), |path| self.add(&path))
    }
}

/// The absolute path that a text means, without empty and `.` components; `None` when it is relative or climbs.
pub(crate) fn clean(text: &str) -> Option<AbsolutePath> {
    if !text.starts_with('/') {
        return None;
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("/{}", parts.join("/")).parse().ok()
}

/// The path with the symbolic links of its existing part resolved, so that it stays the same when the rest is made later.
pub(crate) fn resolved(host: &dyn Host, path: &AbsolutePath) -> Result<AbsolutePath, PlanError> {
    match host.canonical(path) {
        Ok(canonical) => Ok(canonical),
        Err(HostError::NotFound { .. }) => {
            let parent = path.as_path().parent().and_then(|parent| AbsolutePath::new(parent).ok());
            let name = path.as_path().file_name().and_then(|name| name.to_str());
            match (parent, name) {
                (Some(parent), Some(name)) => Ok(resolved(host, &parent)?
                    .join(name)
                    .expect("a component of a clean path is a plain name")),
                _ => Ok(path.clone()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// The home directory, which every CLI needs.
pub(crate) fn home(environment: &Environment) -> Result<AbsolutePath, PlanError> {
    directory(environment, "HOME")?
        .ok_or(PlanError::Environment { name: "HOME".to_owned(), why: "it is not set" })
}

/// The directory that a variable names, when it is set.
pub(crate) fn directory(environment: &Environment, name: &str) -> Result<Option<AbsolutePath>, PlanError> {
    let Some(value) = environment.get(name) else { return Ok(None) };
    clean(value)
        .map(Some)
        .ok_or(PlanError::Environment { name: name.to_owned(), why: "it is no absolute path without `..`" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_clean_paths() {
        for (text, path) in [("/", "/"), ("/a/", "/a"), ("//a/./b", "/a/b"), ("/a b", "/a b")] {
            assert_eq!(clean(text).map(|path| path.to_string()).as_deref(), Some(path));
        }
        for text in ["", "off", "a/b", "/a/../b", "~"] {
            assert_eq!(clean(text), None, "{text}");
        }
    }
}
