//! The profiles' own programs: where they are, and whether a login of theirs is stored. No login is opened.

use std::path::{Path, PathBuf};

use provider::{LoginFile, Profile};
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
    let unknown = |why: String| Check::new(id, CheckStatus::Unknown, format!("{path}; {why}"));
    let Some(login) = profile.login_file() else {
        return unknown(profile.login_words());
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

fn place(captured: &CapturedEnvironment, login: &LoginFile) -> Option<PathBuf> {
    let named = |name| captured.get(name).filter(|value: &&str| value.starts_with('/'));
    let directory = match named(login.directory_variable) {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(named("HOME")?).join(login.directory),
    };
    Some(directory.join(login.name))
}
