//! The profiles' own programs: where they are, and whether a login of theirs is stored. No login is opened.

use std::path::{Path, PathBuf};

use provider::{LoginFile, Profile, ProgramBehind};
use record::health::{Check, CheckStatus};
use record::plan::CapturedEnvironment;

/// A check for each profile that needs a program.
pub(super) fn checks(captured: &CapturedEnvironment) -> Vec<Check> {
    let profiles = provider::catalogue().all().iter();
    profiles
        .filter_map(|profile| {
            let description = profile.description();
            let program = description.runtime.executable?;
            Some(check(captured, &format!("provider:{}", description.id), &program, *profile))
        })
        .collect()
}

fn check(captured: &CapturedEnvironment, id: &str, program: &str, profile: &dyn Profile) -> Check {
    let Some(path) = crate::host::on_path(captured, program) else {
        return Check::new(id, CheckStatus::Ok, format!("{program} is not installed"));
    };
    if let Some(behind) = profile.program_behind().filter(|behind| !is_there(captured, behind)) {
        let missing = format!("{path}; {}, which it starts, is not installed", behind.name);
        return Check::new(id, CheckStatus::Ok, missing);
    }
    let unknown = |why: String| Check::new(id, CheckStatus::Unknown, format!("{path}; {why}"));
    let Some(login) = profile.login_file() else {
        let check = unknown(profile.login_words());
        return match profile.login_advice() {
            Some(advice) => check.with_fix(advice),
            None => check,
        };
    };
    let Some(file) = place(captured, &login) else {
        return unknown("HOME is not set, so its login can not be found".to_owned());
    };
    // Asked only whether it is there: what is in it concerns the program alone.
    match file.symlink_metadata() {
        Ok(_) => Check::new(id, CheckStatus::Ok, format!("{path}; a login is stored in {}", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            unknown(format!("no login is stored in {}; it may have one elsewhere", file.display()))
                .with_fix(format!("to sign in: {}", login.sign_in))
        }
        Err(error) => unknown(format!("{}: {error}", file.display())),
    }
}

/// Whether the program behind a runner is where the runner looks for it. What the user named is the runner's to check.
fn is_there(captured: &CapturedEnvironment, behind: &ProgramBehind) -> bool {
    let is_named = |name: &&str| captured.get(name).is_some_and(|value| !value.is_empty());
    let is_kept = |store| data_home(captured).is_some_and(|data_home| data_home.join(store).exists());
    behind.variables.iter().any(is_named)
        || behind.store.is_some_and(is_kept)
        || crate::host::on_path(captured, behind.name).is_some()
}

/// The data home of the runners (runners.md 3.3).
fn data_home(captured: &CapturedEnvironment) -> Option<PathBuf> {
    let set = |name| captured.get(name).filter(|value: &&str| !value.is_empty()).map(Path::new);
    set("DELEGATION_DATA_HOME")
        .map(Path::to_path_buf)
        .or_else(|| Some(set("XDG_DATA_HOME")?.join("delegation-kit")))
        .or_else(|| Some(set("HOME")?.join(".local/share/delegation-kit")))
}

fn place(captured: &CapturedEnvironment, login: &LoginFile) -> Option<PathBuf> {
    let named = |name| captured.get(name).filter(|value: &&str| value.starts_with('/'));
    let directory = match named(login.directory_variable) {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(named("HOME")?).join(login.directory),
    };
    Some(directory.join(login.name))
}
