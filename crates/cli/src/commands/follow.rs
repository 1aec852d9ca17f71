//! Waiting with progress, and showing what came of it.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use record::answer::Answer;
use record::outcome::Payload;
use record::words::Publication;
use record::{Sha256Digest, TaskId};
use rustix::fs::OFlags;
use turn::{Context, Until};

use super::{complain, print};
use crate::arguments::Globals;
use crate::context::Place;
use crate::exit::{self, Exit};
use crate::human::progress::Progress;
use crate::human::{amount, answer, safe};
use crate::output;

/// Watches one task. `limit` is none for a watch without end; its end changes nothing for the task.
pub(super) fn one(
    globals: &Globals,
    context: &Context,
    command: &str,
    id: TaskId,
    limit: Option<Duration>,
) -> Answer {
    many(globals, context, command, &[id], Until::All, limit).pop().expect("a watch answers for every task")
}

/// Watches tasks.
pub(super) fn many(
    globals: &Globals,
    context: &Context,
    command: &str,
    ids: &[TaskId],
    until: Until,
    limit: Option<Duration>,
) -> Vec<Answer> {
    let mut progress = Progress::on_stderr(globals.json);
    turn::watch(context, command, ids, until, limit, &mut |answers| {
        progress.show(answers, Instant::now());
    })
}

/// The end of a command that followed its own task: the answer on standard output, everything else beside it.
pub(super) fn conclude(globals: &Globals, ended: &Answer, place: &Place) -> io::Result<Exit> {
    if globals.json {
        print(globals, ended, String::new)?;
        return Ok(exit::of_watch(ended));
    }
    let (Some(id), Some(payload), None) = (ended.task_id, &ended.payload, ended.failure) else {
        complain(ended);
        if let (Some(id), None) = (ended.task_id, ended.failure) {
            output::remark(&format!("task {id}: {}", answer::state(ended)));
            let next = place.command(&format!("wait {id}"));
            output::remark(&format!("The watch is over, the task goes on: {next}"));
        }
        return Ok(exit::of_watch(ended));
    };
    let mut file = match open_payload(&place.file(id, &payload.basename), payload) {
        Ok(file) => file,
        Err(fault) => {
            let path = place.task_file(id, &payload.basename);
            output::error(&format!("{path} can not be shown: {fault}"));
            return Ok(Exit::Operational);
        }
    };
    if ended.publication == Publication::Committed {
        if !show(&mut file)? {
            output::end_open_line();
        }
    } else {
        // Nobody but a person reads this stream, so a fault on it is none.
        let _ = safe::copy(&mut file, &mut io::stderr().lock());
    }
    let state = answer::state(ended);
    let path = place.task_file(id, &payload.basename);
    let size = amount::bytes(payload.length);
    output::remark(&format!("task {id}: {state}\n{path}, {size}"));
    Ok(exit::of_watch(ended))
}

/// Writes an answer to standard output: as it is, or made safe where a terminal would obey it. Returns whether its last line is
/// ended.
pub(super) fn show(file: &mut File) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    if output::stdout_is_terminal() {
        safe::copy(file, &mut stdout)?;
        return Ok(true);
    }
    let length = io::copy(file, &mut stdout)?;
    stdout.flush()?;
    let mut last = [b'\n'];
    if let Some(place) = length.checked_sub(1) {
        file.read_exact_at(&mut last, place)?;
    }
    Ok(last == *b"\n")
}

/// Opens a published payload after comparing it with what the outcome says of it.
pub(super) fn open_payload(path: &Path, payload: &Payload) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let (digest, length) = Sha256Digest::of_reader(&mut file)?;
    if digest != payload.sha256 || length != payload.length {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not what the outcome names"));
    }
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_published_bytes_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result.txt");
        std::fs::write(&path, "answer").unwrap();
        let mut payload =
            Payload { basename: "result.txt".to_owned(), length: 6, sha256: Sha256Digest::of(b"answer") };
        let file = open_payload(&path, &payload).unwrap();
        assert_eq!(io::read_to_string(file).unwrap(), "answer");

        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(open_payload(&link, &payload).is_err());
        payload.length = 7;
        assert!(open_payload(&path, &payload).is_err());
        std::fs::write(&path, "Answer").unwrap();
        payload.length = 6;
        assert!(open_payload(&path, &payload).is_err());
    }
}
