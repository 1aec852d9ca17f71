//! What `/proc` says about processes, in bounded reads.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use rustix::io::Errno;

use crate::identity::ProcessIdentity;
use crate::limits::{ENVIRONMENT_MAX_BYTES, SYSTEM_FILE_MAX_BYTES};

/// One line of `/proc/PID/stat`, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) identity: ProcessIdentity,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// A zombie, all of whose threads have ended. A process whose first thread alone has ended still runs, although its
    /// state letter says the same.
    pub(crate) ended: bool,
    /// A signal or a debugger keeps it from doing anything.
    pub(crate) stopped: bool,
    /// It is on its way out.
    pub(crate) ending: bool,
    /// Processor time of the process and of those children that it waited for, in clock ticks.
    pub(crate) cpu_ticks: u64,
}

/// `PF_EXITING` of the kernel's flags of a process: its files are being closed, or soon will be.
const EXITING: u64 = 0x4;
/// `PF_SIGNALED`: a signal ended it.
const KILLED: u64 = 0x400;

/// Whether SIGKILL waits for that process, as its end does then. A process that is gone waits for nothing.
pub(crate) fn is_killed(pid: u32) -> io::Result<bool> {
    let status = match read_system_file(Path::new(&format!("/proc/{pid}/status"))) {
        Ok(status) => status,
        Err(error) if means_gone(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    // Bit 8 is signal 9, of the first thread and of the process.
    let pending = |line: &str| {
        line.strip_prefix("SigPnd:")
            .or(line.strip_prefix("ShdPnd:"))
            .map(str::trim)
            .map(|mask| u64::from_str_radix(mask, 16).is_ok_and(|mask| mask & (1 << 8) != 0))
    };
    Ok(String::from_utf8_lossy(&status).lines().filter_map(pending).any(|killed| killed))
}

/// The process with that number, or `None` when there is none.
pub(crate) fn stat(pid: u32) -> io::Result<Option<ProcessStat>> {
    let line = match read_system_file(Path::new(&format!("/proc/{pid}/stat"))) {
        Ok(line) => line,
        Err(error) if means_gone(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    parse_stat(&line).map(Some).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("/proc/{pid}/stat is not understood"))
    })
}

/// Every process that can be seen, in no particular order.
pub(crate) fn all() -> io::Result<Vec<ProcessStat>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        if let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok())
            && let Some(stat) = stat(pid)?
        {
            found.push(stat);
        }
    }
    Ok(found)
}

/// The numbers of the children of this process, zombies included.
pub(crate) fn own_children() -> io::Result<Vec<u32>> {
    match children_of_own_threads() {
        Ok(children) => Ok(children),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let own = std::process::id();
            Ok(all()?.into_iter().filter(|stat| stat.parent == own).map(|stat| stat.identity.pid).collect())
        }
        Err(error) => Err(error),
    }
}

fn children_of_own_threads() -> io::Result<Vec<u32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let mut list = String::new();
        File::open(thread?.path().join("children"))?.read_to_string(&mut list)?;
        children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Ok(children)
}

/// Whether the environment a process was started with has exactly that entry (`NAME=value`). An environment that can not
/// be read has no entry: it belongs to another user, or to a process that just ended.
pub(crate) fn environment_has(pid: u32, entry: &[u8]) -> bool {
    let mut environment = Vec::new();
    let read = File::open(format!("/proc/{pid}/environ"))
        .and_then(|file| file.take(ENVIRONMENT_MAX_BYTES).read_to_end(&mut environment));
    read.is_ok() && environment.split(|byte| *byte == 0).any(|candidate| candidate == entry)
}

/// The content of a small file of the system.
pub(crate) fn read_system_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(SYSTEM_FILE_MAX_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

/// Whether an error says that what was read about is gone.
pub(crate) fn means_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || [Errno::SRCH, Errno::NODEV].iter().any(|gone| error.raw_os_error() == Some(gone.raw_os_error()))
}

fn parse_stat(line: &[u8]) -> Option<ProcessStat> {
    // The name in parentheses is chosen by the process and may hold anything, so fields are counted from its last one.
    let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(line.get(..line.iter().position(|byte| *byte == b' ')?)?).ok()?;
    let rest = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The first field after the name is number 3 of proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3).copied();
    let ticks = |number: usize| field(number)?.parse::<u64>().ok();
    let state = field(3)?;
    let threads: u64 = field(20)?.parse().ok()?;
    // The kernel prints -1 for both while it takes a process apart that has been reaped.
    let group: i64 = field(5)?.parse().ok()?;
    let session: i64 = field(6)?.parse().ok()?;
    let is_taken_apart = group < 0 || session < 0;
    Some(ProcessStat {
        identity: ProcessIdentity { pid: pid.parse().ok()?, start_time: ticks(22)? },
        parent: field(4)?.parse().ok()?,
        group: u32::try_from(group).unwrap_or(0),
        session: u32::try_from(session).unwrap_or(0),
        ended: is_taken_apart || matches!(state, "Z" | "X" | "x") && threads <= 1,
        stopped: matches!(state, "T" | "t"),
        ending: ticks(9)? & (EXITING | KILLED) != 0,
        cpu_ticks: ticks(14)?
            .saturating_add(ticks(15)?)
            .saturating_add(ticks(16)?)
            .saturating_add(ticks(17)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, state: &str, threads: u32) -> Vec<u8> {
        format!("42 ({name}) {state} 7 40 39 0 -1 4194304 9 0 0 0 3 4 5 6 20 0 {threads} 0 12345 1 2 3\n")
            .into_bytes()
    }

    #[test]
    fn fields_are_found_whatever_the_name_is() {
        for name in ["sh", "a b", ") Z 1 1 1", "((", "\u{fc}"] {
            let stat = parse_stat(&line(name, "S", 1)).expect("parses");
            assert_eq!(stat.identity, ProcessIdentity { pid: 42, start_time: 12345 }, "{name}");
            assert_eq!((stat.parent, stat.group, stat.session), (7, 40, 39));
            assert_eq!(stat.cpu_ticks, 18);
            assert!(!stat.ended);
        }
    }

    #[test]
    fn a_zombie_has_ended_unless_another_thread_runs() {
        assert!(parse_stat(&line("sh", "Z", 1)).expect("parses").ended);
        assert!(!parse_stat(&line("sh", "Z", 2)).expect("parses").ended);
    }

    #[test]
    fn a_stopped_one_and_one_on_its_way_out_are_told_from_the_others() {
        let stopped = |state| parse_stat(&line("sh", state, 1)).expect("parses").stopped;
        assert!(stopped("T") && stopped("t") && !stopped("S"));
        let ending = |flags: u64| {
            let line = format!("42 (sh) S 7 40 39 0 -1 {flags} 9 0 0 0 3 4 5 6 20 0 1 0 12345 1 2 3");
            parse_stat(line.as_bytes()).expect("parses").ending
        };
        assert!(ending(4_194_304 | 4) && ending(4_194_304 | 0x400) && !ending(4_194_304));
    }

    #[test]
    fn a_process_that_is_taken_apart_has_ended() {
        let line = b"42 (sh) X 0 -1 -1 0 -1 4194304 9 0 0 0 3 4 5 6 20 0 0 0 12345 1 2 3\n";
        let stat = parse_stat(line).expect("parses");
        assert!(stat.ended);
        assert_eq!((stat.group, stat.session), (0, 0));
    }

    #[test]
    fn a_short_line_is_refused() {
        assert_eq!(parse_stat(b"42 (sh) S 7"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn this_process_is_found() {
        let own = stat(std::process::id()).expect("readable").expect("present");
        assert!(all().expect("readable").iter().any(|stat| stat.identity == own.identity));
    }
}
