//! Where the state root is (CLI.md "delegate", predecessor-core 1.1).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use record::AbsolutePath;
use record::failure::{FailureCode, Stage};

use crate::failure::Refusal;

/// Name of the environment variable that stands for `--root`.
pub(crate) const ROOT_VARIABLE: &str = "DELEGATE_ROOT";
/// Name of the default root below the user's configuration directory.
const DEFAULT_NAME: &str = "delegation-layer";

/// The root asked for, as a path without symbolic links; nothing is made.
///
/// # Errors
/// When the path is relative or can not be resolved, or when no configuration directory is known.
pub(crate) fn resolve(flag: Option<&Path>) -> Result<AbsolutePath, Refusal> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let path = choose(flag, &variable)?;
    let resolved = canonical(&path).map_err(|fault| {
        Refusal::operational(
            FailureCode::StateRootUnavailable,
            Stage::ResolveStateRoot,
            format!("the root {} can not be resolved: {fault}", path.display()),
        )
    })?;
    AbsolutePath::new(&resolved).map_err(|fault| invalid(format!("the root {}: {fault}", resolved.display())))
}

fn choose(flag: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Refusal> {
    if let Some(path) = flag {
        return absolute(path, "--root");
    }
    if let Some(path) = variable(ROOT_VARIABLE) {
        return absolute(Path::new(&path), ROOT_VARIABLE);
    }
    configuration_directory(variable).map(|directory| directory.join(DEFAULT_NAME))
}

/// The user's configuration directory, where one is known.
pub(crate) fn user_configuration() -> Option<PathBuf> {
    configuration_directory(&|name| std::env::var_os(name).filter(|value| !value.is_empty())).ok()
}

#[cfg(not(target_os = "macos"))]
fn configuration_directory(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Refusal> {
    if let Some(path) = variable("XDG_CONFIG_HOME") {
        return absolute(Path::new(&path), "XDG_CONFIG_HOME");
    }
    home(variable).map(|home| home.join(".config"))
}

#[cfg(target_os = "macos")]
fn configuration_directory(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Refusal> {
    home(variable).map(|home| home.join("Library/Application Support"))
}

fn home(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Refusal> {
    let home = variable("HOME")
        .ok_or_else(|| invalid("no root is known: give --root, or set DELEGATE_ROOT or HOME".to_owned()))?;
    absolute(Path::new(&home), "HOME")
}

fn absolute(path: &Path, source: &str) -> Result<PathBuf, Refusal> {
    if path.is_absolute() {
        Ok(path.to_owned())
    } else {
        Err(invalid(format!("{source} must be an absolute path")))
    }
}

fn invalid(error: String) -> Refusal {
    Refusal::correctable(FailureCode::RootInvalid, Stage::ResolveStateRoot, error)
}

/// The path with every symbolic link resolved, also when its last parts do not exist yet.
fn canonical(path: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(mut resolved) => {
                resolved.extend(missing.iter().rev());
                return Ok(resolved);
            }
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                match existing.symlink_metadata() {
                    // A link that leads nowhere can not be made into a directory.
                    Ok(found) if found.is_symlink() => return Err(fault),
                    // Another caller has made it this moment.
                    Ok(_) => continue,
                    // `..` behind a missing part has no meaning.
                    Err(_) => {}
                }
                match (existing.components().next_back(), existing.parent()) {
                    (Some(Component::Normal(name)), Some(parent)) => {
                        missing.push(name);
                        existing = parent;
                    }
                    _ => return Err(fault),
                }
            }
            Err(fault) => return Err(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<PathBuf, String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        choose(flag.map(Path::new), &variable).map_err(|refusal| refusal.error)
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn order_of_sources() {
        let all = [
            ("DELEGATE_ROOT", "/variable"),
            ("XDG_CONFIG_HOME", "/configuration"),
            ("HOME", "/home/somebody"),
        ];
        assert_eq!(chosen(Some("/flag"), &all), Ok("/flag".into()));
        assert_eq!(chosen(None, &all), Ok("/variable".into()));
        assert_eq!(chosen(None, &all[1..]), Ok("/configuration/delegation-layer".into()));
        assert_eq!(chosen(None, &all[2..]), Ok("/home/somebody/.config/delegation-layer".into()));
        assert!(chosen(None, &[]).is_err());
    }

    #[test]
    fn relative_paths_are_refused_by_their_source() {
        for (flag, variables, source) in [
            (Some("here"), &[][..], "--root"),
            (None, &[("DELEGATE_ROOT", "here")][..], "DELEGATE_ROOT"),
            (None, &[("HOME", "here")][..], "HOME"),
        ] {
            let error = chosen(flag, variables).unwrap_err();
            assert!(error.starts_with(source), "{error}");
        }
    }

    #[test]
    fn links_are_resolved_below_what_exists() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        std::os::unix::fs::symlink(base.join("real"), base.join("link")).unwrap();
        std::os::unix::fs::symlink(base.join("nowhere"), base.join("dangling")).unwrap();

        assert_eq!(canonical(&base.join("link")).unwrap(), base.join("real"));
        assert_eq!(canonical(&base.join("link/new/root/")).unwrap(), base.join("real/new/root"));
        assert!(canonical(&base.join("dangling")).is_err());
        assert!(canonical(&base.join("dangling/root")).is_err());
        assert!(canonical(&base.join("new/../root")).is_err());
    }
}
