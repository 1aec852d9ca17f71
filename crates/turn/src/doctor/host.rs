//! The host: kernel, containment, fence, limits.

use std::path::Path;

use process::{CgroupError, CgroupHome, Controller, ResourceLimits};
use record::health::{Check, CheckStatus};
use record::limits::OUTPUT_DEFAULT_BYTES;
use record::plan::CapturedEnvironment;
use rustix::process::{PidfdFlags, Resource, geteuid, getpid, getrlimit, pidfd_open};

use super::undetermined;
use crate::limits::{ADDRESS_SPACE_SMALL_BYTES, OPEN_FILES_SMALL_COUNT, PROCESSES_SMALL_COUNT};

/// The checks of the host, in order.
pub(super) fn checks(captured: &CapturedEnvironment) -> Vec<Check> {
    vec![
        kernel(),
        fence(),
        cgroup(),
        subreaper(),
        user_manager(),
        limits(),
        git(captured),
        environment(captured),
    ]
}

/// Since when the kernel tells how a process ended that was not our child (`PIDFD_GET_INFO`).
const ENDINGS_ARE_TOLD_SINCE: (u32, u32) = (6, 15);

fn kernel() -> Check {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    if let Err(error) = pidfd_open(getpid(), PidfdFlags::empty()) {
        return Check::new(
            "kernel",
            CheckStatus::Failed,
            format!("Linux {release}: processes can not be held by descriptors: {error}"),
        )
        .with_fix("use Linux 5.4 or newer, outside of sandboxes that forbid pidfd_open");
    }
    let mut numbers = release.split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= ENDINGS_ARE_TOLD_SINCE => {
            Check::new("kernel", CheckStatus::Ok, format!("Linux {release}"))
        }
        _ => Check::new(
            "kernel",
            CheckStatus::Ok,
            format!("Linux {release}; how an adopted turn ended (exit code, signal) may not be told"),
        ),
    }
}

fn fence() -> Check {
    let support = process::fence_support();
    if support.is_sufficient() {
        return Check::new("landlock", CheckStatus::Ok, support.to_string());
    }
    Check::new(
        "landlock",
        CheckStatus::Warning,
        format!("{support}: modes that need the fence `ours` are refused"),
    )
    .with_fix("use Linux 6.2 or newer with landlock among the kernel's security modules")
}

fn cgroup() -> Check {
    match CgroupHome::find() {
        Ok(home) => {
            let controllers: Vec<String> = [
                (Controller::Memory, ResourceLimits { memory_bytes: Some(1), ..ResourceLimits::default() }),
                (Controller::Pids, ResourceLimits { pids: Some(1), ..ResourceLimits::default() }),
                (Controller::Cpu, ResourceLimits { cpus: Some(1), ..ResourceLimits::default() }),
            ]
            .iter()
            .filter(|(_, limits)| home.offers(limits).is_ok())
            .map(|(controller, _)| controller.to_string())
            .collect();
            let limits = if controllers.is_empty() {
                "no limits on memory, processes or processors".to_owned()
            } else {
                format!("limits on {}", controllers.join(", "))
            };
            Check::new("cgroup", CheckStatus::Ok, format!("nodes below {}; {limits}", home.path().display()))
        }
        Err(error) => {
            let check = Check::new(
                "cgroup",
                CheckStatus::Warning,
                format!("{error}; turns are held by a child subreaper instead, without limits"),
            );
            match error {
                CgroupError::NotDelegated { user_manager: true, .. } => {
                    check.with_fix("run delegate in `systemd-run --user --scope --property=Delegate=yes`")
                }
                _ => check,
            }
        }
    }
}

fn subreaper() -> Check {
    match process::become_subreaper() {
        Ok(()) => Check::new(
            "subreaper",
            CheckStatus::Ok,
            "orphans of a turn come home; work that it hands to a running service escapes every containment",
        ),
        Err(error) => Check::new(
            "subreaper",
            CheckStatus::Failed,
            format!("orphans of a turn can not be taken in: {error}"),
        ),
    }
}

/// Whether what this user starts outlives the login.
fn user_manager() -> Check {
    const ID: &str = "user_manager";
    if !Path::new("/run/systemd/system").is_dir() {
        return Check::new(ID, CheckStatus::Ok, "systemd does not run here, so nothing ends at a log-out");
    }
    let user = geteuid();
    if user.is_root() {
        return Check::new(ID, CheckStatus::Ok, "root's processes are not ended at a log-out");
    }
    let name = match name_of(user.as_raw()) {
        Ok(Some(name)) => name,
        Ok(None) => return undetermined(ID, format!("user {} has no name", user.as_raw())),
        Err(error) => return undetermined(ID, format!("/etc/passwd: {error}")),
    };
    if Path::new("/var/lib/systemd/linger").join(&name).exists() {
        return Check::new(ID, CheckStatus::Ok, format!("{name} lingers: nothing ends at a log-out"));
    }
    Check::new(
        ID,
        CheckStatus::Warning,
        format!(
            "{name} does not linger: where systemd ends a user's processes at the log-out, turns end too"
        ),
    )
    .with_fix(format!("loginctl enable-linger {name}"))
}

fn name_of(user: u32) -> std::io::Result<Option<String>> {
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    Ok(passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(user)).then(|| name.to_owned())
    }))
}

/// Limits that a process can not lift again, and so bind every turn that is started from here.
fn limits() -> Check {
    let hard = |resource| getrlimit(resource).maximum;
    let mut found = Vec::new();
    let mut bound = |resource, floor: Option<u64>, what: &str| {
        if let Some(limit) = hard(resource).filter(|limit| floor.is_none_or(|floor| *limit < floor)) {
            found.push(format!("{what}: {limit}"));
        }
    };
    bound(Resource::Fsize, Some(OUTPUT_DEFAULT_BYTES), "bytes in a file");
    bound(Resource::Cpu, None, "seconds of processor time");
    bound(Resource::As, Some(ADDRESS_SPACE_SMALL_BYTES), "bytes of memory");
    bound(Resource::Data, Some(ADDRESS_SPACE_SMALL_BYTES), "bytes of data");
    bound(Resource::Nproc, Some(PROCESSES_SMALL_COUNT), "processes of this user");
    bound(Resource::Nofile, Some(OPEN_FILES_SMALL_COUNT), "open files");
    if found.is_empty() {
        return Check::new("limits", CheckStatus::Ok, "no hard limit of this shell binds a turn");
    }
    Check::new(
        "limits",
        CheckStatus::Warning,
        format!("hard limits of this shell bind every turn started from it: {}", found.join("; ")),
    )
    .with_fix("start the supervisor from a shell without them (ulimit -H -a shows them)")
}

fn git(captured: &CapturedEnvironment) -> Check {
    match crate::host::on_path(captured, "git") {
        Some(path) => Check::new("git", CheckStatus::Ok, path.to_string()),
        None => Check::new(
            "git",
            CheckStatus::Warning,
            "not on PATH: surveys say less, and `verify` does not work",
        )
        .with_fix("install git"),
    }
}

/// Variables of a turn, or of a test, that have no business in a lead's shell.
fn environment(captured: &CapturedEnvironment) -> Check {
    let names: Vec<&str> = captured
        .variables
        .iter()
        .filter_map(|variable| variable.split_once('=').map(|(name, _)| name))
        .filter(|name| name.starts_with("DELEGATION_") || name.starts_with("DELEGATE_FAULT"))
        .collect();
    if names.is_empty() {
        Check::new("environment", CheckStatus::Ok, "nothing of a turn is in it")
    } else if names.contains(&process::COOKIE_NAME) {
        Check::new(
            "environment",
            CheckStatus::Warning,
            format!("this is the inside of a turn ({}): what is started here ends with it", names.join(", ")),
        )
    } else {
        Check::new("environment", CheckStatus::Warning, format!("holds {}", names.join(", ")))
            .with_fix("unset them in the files that your shell reads at its start")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(variables: &[&str]) -> CapturedEnvironment {
        CapturedEnvironment {
            variables: variables.iter().map(|text| (*text).to_owned()).collect(),
            umask: 0o022,
            open_files_limit: 1024,
        }
    }

    #[test]
    fn what_leaks_into_a_shell_is_named_and_its_value_is_not() {
        assert_eq!(environment(&surroundings(&["PATH=/bin"])).status, CheckStatus::Ok);
        for name in ["DELEGATION_COOKIE", "DELEGATION_ANYTHING"] {
            let check = environment(&surroundings(&[&format!("{name}=secret")]));
            assert_eq!(check.status, CheckStatus::Warning);
            assert!(check.detail.contains(name) && !check.detail.contains("secret"), "{check:?}");
        }
    }

    #[test]
    fn every_check_of_the_host_answers() {
        let checks = checks(&surroundings(&["PATH=/nowhere"]));
        let ids: Vec<&str> = checks.iter().map(|check| check.id.as_str()).collect();
        let expected =
            ["kernel", "landlock", "cgroup", "subreaper", "user_manager", "limits", "git", "environment"];
        assert_eq!(ids, expected);
        assert!(checks.iter().all(|check| !check.detail.is_empty()));
        assert_eq!(checks[6].status, CheckStatus::Warning, "there is no git in /nowhere");
    }
}
