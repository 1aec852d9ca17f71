//! The journal takes events from many, survives torn lines, and tells an old cursor from a good one (STATE.md 9).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use place::Place;
use proptest::prelude::*;
use record::event::{Event, EventKind};
use record::json;
use sample::{kind, now};
use store::{Cursor, JournalLine, Root, random_task_id};

fn event(detail: &str) -> Event {
    Event { at: now(), task_id: random_task_id(), event: EventKind::Sealed, detail: Some(detail.to_owned()) }
}

fn lines(root: &Root, cursor: Option<Cursor>) -> Vec<JournalLine> {
    root.journal().read_from(cursor).unwrap().unwrap().map(Result::unwrap).collect()
}

fn details(root: &Root, cursor: Option<Cursor>) -> Vec<String> {
    lines(root, cursor).into_iter().map(|line| line.event.detail.unwrap()).collect()
}

fn append_raw(place: &Place, bytes: &[u8]) {
    OpenOptions::new().append(true).open(place.path("journal.ndjson")).unwrap().write_all(bytes).unwrap();
}

#[test]
fn an_admission_is_the_first_event() {
    let (place, id) = Place::with_task();
    let lines = lines(&place.root, None);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].event.task_id, id);
    assert_eq!(lines[0].event.event, EventKind::Admitted);
    assert_eq!(lines[0].event.detail.as_deref(), Some("codex:exec"));
}

#[test]
fn without_a_journal_there_is_nothing_to_read() {
    let place = Place::new();
    assert!(place.root.journal().read_from(None).unwrap().is_none());
}

#[test]
fn a_writer_that_stands_still_stops_nobody() {
    let place = Place::new();
    place.root.journal().append(&event("before")).unwrap();
    let held = OpenOptions::new().read(true).write(true).open(place.path("journal.ndjson")).unwrap();
    let whole = nix::libc::flock {
        l_type: nix::libc::F_WRLCK as _,
        l_whence: nix::libc::SEEK_SET as _,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    nix::fcntl::fcntl(&held, nix::fcntl::FcntlArg::F_OFD_SETLK(&whole)).unwrap();
    place.root.journal().append(&event("lost")).unwrap_err();
    drop(held);
    place.root.journal().append(&event("after")).unwrap();
    assert_eq!(details(&place.root, None), ["before", "after"]);
}

#[test]
fn a_cursor_goes_on_behind_its_event() {
    let place = Place::new();
    for detail in ["one", "two", "three"] {
        place.root.journal().append(&event(detail)).unwrap();
    }
    let lines = lines(&place.root, None);
    let cursor: Cursor = lines[0].cursor.to_string().parse().unwrap();
    assert_eq!(details(&place.root, Some(cursor)), ["two", "three"]);
    assert_eq!(details(&place.root, Some(lines[2].cursor)), Vec::<String>::new());
}

#[test]
fn a_reader_at_the_end_sees_what_comes_later() {
    let place = Place::new();
    place.root.journal().append(&event("one")).unwrap();
    let mut reader = place.root.journal().read_from(None).unwrap().unwrap();
    assert!(reader.next().is_some());
    assert!(reader.next().is_none());
    place.root.journal().append(&event("two")).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().event.detail.as_deref(), Some("two"));
}

#[test]
fn a_torn_line_spoils_itself_alone() {
    let place = Place::new();
    place.root.journal().append(&event("one")).unwrap();
    append_raw(&place, b"{\"at\":\"2026-");
    assert_eq!(details(&place.root, None), ["one"]);
    place.root.journal().append(&event("two")).unwrap();
    assert_eq!(details(&place.root, None), ["one", "two"]);
    let mut reader = place.root.journal().read_from(None).unwrap().unwrap();
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!(reader.skipped(), 1);
}

#[test]
fn an_unfinished_line_is_read_once_it_is_whole() {
    let place = Place::new();
    place.root.journal().append(&event("one")).unwrap();
    let line = json::encode(&event("two")).unwrap();
    let (beginning, rest) = line.split_at(20);
    append_raw(&place, beginning);
    let mut reader = place.root.journal().read_from(None).unwrap().unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    append_raw(&place, rest);
    assert_eq!(reader.next().unwrap().unwrap().event.detail.as_deref(), Some("two"));
    assert_eq!(reader.skipped(), 0);
}

#[test]
fn a_line_without_end_is_skipped_without_being_kept() {
    let place = Place::new();
    place.root.journal().append(&event("one")).unwrap();
    append_raw(&place, &vec![b' '; 3 * store::JOURNAL_LINE_MAX_BYTES]);
    place.root.journal().append(&event("two")).unwrap();
    assert_eq!(details(&place.root, None), ["one", "two"]);
}

#[test]
fn a_cursor_of_another_journal_is_expired() {
    let place = Place::new();
    place.root.journal().append(&event("one")).unwrap();
    let cursor = lines(&place.root, None)[0].cursor;
    let within: Cursor = {
        let (generation, offset) = cursor
            .to_string()
            .split_once('-')
            .map(|(g, o)| (g.to_owned(), o.parse::<u64>().unwrap()))
            .unwrap();
        format!("{generation}-{}", offset - 1).parse().unwrap()
    };
    let beyond: Cursor = format!("{cursor}0").parse().unwrap();
    for wrong in [within, beyond] {
        assert_eq!(kind(&place.root.journal().read_from(Some(wrong)).unwrap_err()), "cursor-expired");
    }
    fs::remove_file(place.path("journal.ndjson")).unwrap();
    assert_eq!(kind(&place.root.journal().read_from(Some(cursor)).unwrap_err()), "cursor-expired");
    place.root.journal().append(&event("one")).unwrap();
    assert_eq!(kind(&place.root.journal().read_from(Some(cursor)).unwrap_err()), "cursor-expired");
}

#[test]
fn words_that_are_no_cursor_are_refused() {
    let generation = "ab".repeat(16);
    for wrong in
        ["", "1", "-1", &format!("{generation}-"), &format!("{generation}-01"), &format!("{generation}--1")]
    {
        assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
    }
}

#[test]
fn a_journal_that_does_not_name_its_generation_is_damaged_but_takes_events() {
    let place = Place::new();
    let path = place.path("journal.ndjson");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(kind(&place.root.journal().read_from(None).unwrap_err()), "damaged");
    place.root.journal().append(&event("one")).unwrap();
    assert_eq!(kind(&place.root.journal().read_from(None).unwrap_err()), "damaged");
}

#[test]
fn many_writers_lose_nothing_even_while_the_journal_is_replaced() {
    let place = Place::new();
    place.root.journal().append(&event("first")).unwrap();
    let path = place.path("journal.ndjson");
    let old = place.path("journal.old");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    place.root.journal().append(&event("more")).unwrap();
                }
            });
        }
        scope.spawn(|| fs::rename(&path, &old).unwrap());
    });
    place.root.journal().append(&event("last")).unwrap();
    let after = details(&place.root, None).len();
    fs::rename(&old, &path).unwrap();
    // A line that was appended behind the look at the name is in the old file.
    assert_eq!(after + details(&place.root, None).len(), 802);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn garbage_between_events_never_hides_an_event(garbage in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..5)) {
        let place = Place::new();
        let mut expected = Vec::new();
        for (number, garbage) in garbage.iter().enumerate() {
            let detail = number.to_string();
            place.root.journal().append(&event(&detail)).unwrap();
            append_raw(&place, garbage);
            expected.push(detail);
        }
        prop_assert_eq!(details(&place.root, None), expected);
    }
}

/// The details from the newest to the oldest.
fn backwards(root: &Root) -> Vec<String> {
    let reader = root.journal().read_backwards().unwrap().unwrap();
    reader.map(|event| event.unwrap().detail.unwrap()).collect()
}

#[test]
fn the_newest_event_is_read_first() {
    let place = Place::new();
    assert!(place.root.journal().read_backwards().unwrap().is_none());
    let journal = place.root.journal();
    for number in 0..2000 {
        journal.append(&event(&number.to_string())).unwrap();
    }
    let mut forwards = details(&place.root, None);
    forwards.reverse();
    assert_eq!(backwards(&place.root), forwards);
    assert_eq!(forwards[0], "1999");

    let end = journal.read_backwards().unwrap().unwrap().end();
    assert_eq!(details(&place.root, Some(end)), Vec::<String>::new());
    journal.append(&event("later")).unwrap();
    assert_eq!(details(&place.root, Some(end)), ["later"]);
}

#[test]
fn only_lines_that_may_be_meant_are_decoded() {
    let place = Place::new();
    for number in 0..30 {
        place.root.journal().append(&event(&number.to_string())).unwrap();
    }
    let mut reader = place.root.journal().read_backwards().unwrap().unwrap();
    let mut told = Vec::new();
    let word = b"\"detail\":\"1";
    while let Some(event) = reader.next_of(|line| line.windows(word.len()).any(|part| part == word)).unwrap()
    {
        told.push(event.detail.unwrap());
    }
    assert_eq!((told.len(), told[0].as_str(), told[10].as_str()), (11, "19", "1"));
}

#[test]
fn what_is_no_event_is_skipped_backwards_too() {
    let place = Place::new();
    let journal = place.root.journal();
    journal.append(&event("first")).unwrap();
    append_raw(&place, b"{\"not\":\"an event\"}\n\n");
    append_raw(&place, &[vec![b'x'; 200 << 10], b"\n".to_vec()].concat());
    journal.append(&event("second")).unwrap();
    let end = journal.read_backwards().unwrap().unwrap().end();
    append_raw(&place, b"torn");
    assert_eq!(backwards(&place.root), ["second", "first"]);
    assert_eq!(journal.read_backwards().unwrap().unwrap().end(), end);
    append_raw(&place, &vec![b'y'; 200 << 10]);
    assert_eq!(backwards(&place.root), ["second", "first"]);
}

#[test]
fn a_reader_notices_that_the_journal_was_made_again() {
    let (place, _) = Place::with_task();
    let reader = place.root.journal().read_from(None).unwrap().unwrap();
    assert!(reader.is_current().unwrap());
    place.root.journal().begin_rebuild().unwrap().finish().unwrap();
    assert!(!reader.is_current().unwrap());
}
