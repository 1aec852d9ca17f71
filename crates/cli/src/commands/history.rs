//! `list` and `events`: what is in the root, and what happened in it.

use std::io::{self, Write};
use std::os::fd::AsFd;

use record::answer::Answer;
use record::history::Listing;
use turn::ListInput;

use super::{fail_in_a_line, until_unread};
use crate::arguments::{Events, Globals, List};
use crate::context::{self, Place, Setting};
use crate::exit::{self, Exit};
use crate::human::{self, wrap};
use crate::output;

/// Carries out `list`.
pub(super) fn list(globals: &Globals, arguments: &List) -> io::Result<Exit> {
    let listing = match context::open(globals) {
        Ok(Setting { context, place }) => {
            let input = ListInput {
                state: arguments.state,
                provider: arguments.provider.clone(),
                since: arguments.since,
                limit: arguments.limit as usize,
            };
            let listing = turn::list(&context, &input);
            if !globals.json && listing.failure.is_none() {
                tell(&listing, arguments, &place)?;
                return Ok(Exit::Done);
            }
            listing
        }
        Err(refusal) => Listing {
            schema_version: 1,
            command: "list".to_owned(),
            root_id: None,
            tasks: None,
            truncated: None,
            cursor: None,
            failure: Some(refusal.failure),
            error: Some(refusal.error),
        },
    };
    if globals.json {
        output::json(&listing)?;
    } else {
        super::complain(&failed(&listing));
    }
    Ok(exit::of_look(&failed(&listing)))
}

fn failed(listing: &Listing) -> Answer {
    Answer { failure: listing.failure, error: listing.error.clone(), ..Answer::new("list") }
}

fn tell(listing: &Listing, arguments: &List, place: &Place) -> io::Result<()> {
    let tasks = listing.tasks.as_deref().unwrap_or_default();
    if tasks.is_empty() {
        let root = human::safe::one_line(place.root().as_str());
        let filtered = arguments.state.is_some() || arguments.provider.is_some() || arguments.since.is_some();
        output::remark(&match (listing.root_id, filtered) {
            (None, _) => format!("There is no task: {root} is not there yet; the first dispatch makes it."),
            (_, true) => format!("There is no such task in {root}."),
            (_, false) => format!("There is no task in {root}."),
        });
        return Ok(());
    }
    output::text(&human::list::tasks(tasks, place.now(), wrap::columns_of(io::stdout())))?;
    if listing.truncated == Some(true) {
        output::remark("There are older ones: --limit shows more.");
    }
    Ok(())
}

/// Carries out `events`. Each line is one JSON object, with and without `--json`.
pub(super) fn events(globals: &Globals, arguments: &Events) -> io::Result<Exit> {
    let context = match context::open(globals) {
        Ok(Setting { context, .. }) => context,
        Err(refusal) => return fail_in_a_line(globals, &refusal.answer("events")),
    };
    let events = match turn::Events::open(&context, arguments.since.as_deref()) {
        Ok(events) => events,
        Err(fault) => return fail_in_a_line(globals, &fault.into_answer(Answer::new("events"))),
    };
    let ended = tell_events(globals, events, arguments.follow);
    if arguments.follow { until_unread(ended) } else { ended }
}

fn tell_events(globals: &Globals, mut events: turn::Events, follow: bool) -> io::Result<Exit> {
    let stdout = io::stdout();
    let mut lines = io::BufWriter::new(stdout.lock());
    loop {
        match events.next_line() {
            Ok(Some(line)) => {
                serde_json::to_writer(&mut lines, &line)?;
                lines.write_all(b"\n")?;
            }
            Ok(None) => {
                lines.flush()?;
                if !follow || !events.wait(stdout.as_fd()) {
                    return Ok(Exit::Done);
                }
            }
            Err(fault) => {
                lines.flush()?;
                drop(lines);
                return fail_in_a_line(globals, &fault.into_answer(Answer::new("events")));
            }
        }
    }
}
