//! `logs`: the raw output of a task, as it is or as it grows.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use record::TaskId;
use record::answer::Answer;
use record::history::{LogLine, LogStream};
use turn::{Context, LogFollower, LogPiece};

use super::{fail, print};
use crate::arguments::{Globals, Logs};
use crate::context::{self, Setting};
use crate::exit::{self, Exit};
use crate::human::progress::Progress;
use crate::human::{self, safe};
use crate::limits::FOLLOW_TAIL_MAX_BYTES;
use crate::output;

/// Carries out `logs`.
pub(super) fn run(globals: &Globals, arguments: &Logs) -> io::Result<Exit> {
    let context = match context::open(globals) {
        Ok(Setting { context, .. }) => context,
        Err(refusal) => return fail(globals, &refusal.answer_on(arguments.task, "logs")),
    };
    if arguments.follow {
        return super::until_unread(follow(globals, &context, arguments.task));
    }
    let answer = turn::logs(&context, arguments.task);
    if answer.raw.is_some() && !globals.json {
        // Shown also when it is damaged.
        output::text(&human::answer::logs(&answer))?;
        super::complain(&answer);
    } else {
        print(globals, &answer, String::new)?;
    }
    Ok(exit::of_look(&answer))
}

fn follow(globals: &Globals, context: &Context, id: TaskId) -> io::Result<Exit> {
    let tail = (!globals.json).then_some(FOLLOW_TAIL_MAX_BYTES);
    let mut follower = match LogFollower::open(context, id, tail) {
        Ok(follower) => follower,
        Err(fault) => {
            let nothing = Answer { task_id: Some(id), ..Answer::new("logs") };
            return fail(globals, &fault.into_answer(nothing));
        }
    };
    if follower.skipped() && !globals.json {
        output::remark("…");
    }
    let are_one = output::streams_are_one();
    // Whether the last line where remarks go is not ended yet.
    let mut is_open = false;
    // Until the first output: then that is what a person wants to see.
    let mut progress = Some(Progress::on_stderr(globals.json));
    loop {
        // Asked before the output is read: what is read afterwards is all there is.
        let has_ended = follower.has_ended();
        if let Some(progress) = &mut progress {
            progress.show(std::slice::from_ref(follower.answer()), Instant::now());
        }
        loop {
            match follower.next_piece(has_ended) {
                Ok(Some(piece)) => {
                    progress = None;
                    put(globals, id, &piece)?;
                    if are_one || piece.stream == LogStream::Stderr {
                        is_open = !piece.bytes.ends_with(b"\n");
                    }
                }
                Ok(None) => break,
                Err(fault) => return fail(globals, &fault.into_answer(follower.answer().clone())),
            }
        }
        if has_ended {
            break;
        }
        if !follower.wait(io::stdout().as_fd()) {
            return Ok(Exit::Done);
        }
    }
    drop(progress);
    let answer = follower.answer();
    if globals.json {
        print(globals, answer, String::new)?;
    } else {
        if is_open {
            output::remark("");
        }
        output::remark(&format!("task {id}: {}", human::answer::state(answer)));
        super::complain(answer);
    }
    Ok(exit::of_look(answer))
}

/// Each stream goes to its own; what steers a terminal is made visible on one.
fn put(globals: &Globals, id: TaskId, piece: &LogPiece) -> io::Result<()> {
    if globals.json {
        return output::json(&LogLine {
            task_id: id,
            stream: piece.stream,
            offset: piece.offset,
            length: piece.bytes.len() as u64,
            text: String::from_utf8_lossy(&piece.bytes).into_owned(),
        });
    }
    match piece.stream {
        LogStream::Stdout => put_on(&mut io::stdout().lock(), output::stdout_is_terminal(), &piece.bytes),
        LogStream::Stderr => put_on(&mut io::stderr().lock(), output::stderr_is_terminal(), &piece.bytes),
    }
}

fn put_on(stream: &mut impl Write, is_terminal: bool, bytes: &[u8]) -> io::Result<()> {
    if is_terminal {
        stream.write_all(safe::bytes(bytes).as_bytes())?;
    } else {
        stream.write_all(bytes)?;
    }
    stream.flush()
}
