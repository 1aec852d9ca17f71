use proptest::prelude::*;
use record::TaskId;

use super::*;

const SLOTS: usize = 2;
const NOT_LAUNCHED: Progress = Progress { launched: false, running: false, sealed: false };
const LAUNCHED: Progress = Progress { launched: true, running: false, sealed: false };

fn task(number: u8) -> TaskId {
    TaskId::from_random([number; 16])
}

fn moment(number: u8) -> Timestamp {
    format!("2026-01-01T00:00:00.{number:09}Z").parse().expect("a time")
}

fn queue() -> Queue {
    Queue::new(Timing::default())
}

fn reads_nothing(_: TaskId) -> Claim {
    Claim::Nothing
}

fn ended(now: Instant, progress: Progress, busy: bool) -> Ended {
    Ended { now, progress: Some(progress), busy }
}

#[test]
fn the_oldest_comes_first_and_the_id_decides_between_equals() {
    let mut queue = queue();
    for (number, admitted) in [(3, 1), (2, 2), (1, 2), (4, 0)] {
        queue.add(task(number), moment(admitted), NOT_LAUNCHED);
    }
    let mut order = Vec::new();
    while let Some(next) = queue.next(SLOTS, reads_nothing) {
        queue.started(next, 7);
        queue.finished(next);
        order.push(next);
    }
    assert_eq!(order, [4, 3, 1, 2].map(task));
    assert!(queue.is_idle());
}

#[test]
fn a_launched_task_keeps_its_slot_and_its_next_runner_needs_none() {
    let now = Instant::now();
    let mut queue = queue();
    for number in 1..=3 {
        queue.add(task(number), moment(number), NOT_LAUNCHED);
    }
    queue.started(task(1), 11);
    queue.started(task(2), 12);
    queue.ended(task(2), ended(now, LAUNCHED, false));
    assert_eq!(queue.next(SLOTS, reads_nothing), None);
    assert_eq!(queue.due(queue.next_due().expect("a restart")), []);
    assert_eq!(queue.next(SLOTS, reads_nothing), Some(task(2)));
}

#[test]
fn a_task_on_which_somebody_else_acts_holds_a_slot_until_it_is_free() {
    let now = Instant::now();
    let mut queue = queue();
    queue.add_elsewhere(task(1), moment(1), NOT_LAUNCHED, now);
    queue.add(task(2), moment(2), NOT_LAUNCHED);
    assert_eq!(queue.next(1, reads_nothing), None);
    let first = queue.next_due().expect("a look");
    assert_eq!(queue.due(first), [task(1)]);
    queue.still_elsewhere(task(1), first);
    let second = queue.next_due().expect("a look");
    assert_eq!(second - first, 2 * (first - now));
    assert_eq!(queue.due(second), [task(1)]);
    queue.free(task(1), NOT_LAUNCHED);
    assert_eq!(queue.next(1, reads_nothing), Some(task(1)));
}

#[test]
fn two_tasks_never_write_to_one_directory_at_once() {
    let directory = |number| Claim::Writes(DirectoryIdentity { device: 1, inode: number });
    let read = |id: TaskId| match id {
        id if id == task(1) || id == task(2) => directory(1),
        id if id == task(3) => directory(2),
        _ => Claim::Nothing,
    };
    let mut queue = queue();
    for number in 1..=4 {
        queue.add(task(number), moment(number), NOT_LAUNCHED);
    }
    for (expected, pid) in [(1, 11), (3, 13), (4, 14)] {
        assert_eq!(queue.next(9, read), Some(task(expected)));
        queue.started(task(expected), pid);
    }
    assert_eq!(queue.next(9, read), None);
    queue.finished(task(1));
    assert_eq!(queue.next(9, read), Some(task(2)));
}

#[test]
fn waits_double_up_to_the_longest_and_progress_begins_anew() {
    let timing = Timing::default();
    let now = Instant::now();
    let mut queue = queue();
    queue.add(task(1), moment(1), NOT_LAUNCHED);
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        assert_eq!(
            queue.ended(task(1), ended(now, NOT_LAUNCHED, true)),
            Next::Again(Duration::from_secs(seconds))
        );
    }
    assert_eq!(queue.ended(task(1), ended(now, LAUNCHED, false)), Next::Again(timing.restart_first));
}

#[test]
fn five_starts_without_progress_are_enough() {
    let now = Instant::now();
    let mut queue = queue();
    queue.add(task(1), moment(1), NOT_LAUNCHED);
    let unread = Ended { now, progress: None, busy: false };
    for _ in 0..4 {
        assert!(matches!(queue.ended(task(1), unread), Next::Again(_)));
    }
    assert!(matches!(queue.ended(task(1), ended(now, LAUNCHED, false)), Next::Again(_)));
    for _ in 0..4 {
        assert!(matches!(queue.ended(task(1), ended(now, LAUNCHED, false)), Next::Again(_)));
    }
    assert_eq!(queue.ended(task(1), ended(now, LAUNCHED, false)), Next::GiveUp);
    assert!(queue.is_idle() && queue.knows(task(1)));
    assert_eq!(queue.given_up(), [task(1)]);
    queue.forget(task(1));
    assert!(!queue.knows(task(1)));
}

#[test]
fn a_busy_task_is_tried_when_something_ended() {
    let now = Instant::now();
    let mut queue = queue();
    queue.add(task(1), moment(1), NOT_LAUNCHED);
    queue.add(task(2), moment(2), NOT_LAUNCHED);
    queue.started(task(1), 11);
    queue.started(task(2), 12);
    queue.ended(task(2), ended(now, NOT_LAUNCHED, true));
    assert_eq!(queue.next(SLOTS, reads_nothing), None);
    queue.finished(task(1));
    assert_eq!(queue.next(SLOTS, reads_nothing), Some(task(2)));
}

#[test]
fn a_task_that_is_closed_is_forgotten_but_not_its_living_runner() {
    let mut queue = queue();
    queue.add(task(1), moment(1), NOT_LAUNCHED);
    queue.add(task(2), moment(2), NOT_LAUNCHED);
    queue.set_aside(task(3), Aside::Foreign);
    queue.started(task(1), 11);
    queue.keep_only(&[]);
    assert_eq!((queue.runner(11), queue.runner(12)), (Some(task(1)), None));
    assert!(!queue.knows(task(2)) && !queue.knows(task(3)));
    assert!(!queue.is_idle());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u8, bool),
    AddElsewhere(u8),
    Start,
    Finish(u8),
    End(u8, bool, bool),
    Pass(u16),
    Close(u8),
    SetAside(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0_u8..6;
    prop_oneof![
        (number.clone(), any::<bool>()).prop_map(|(task, launched)| Step::Add(task, launched)),
        number.clone().prop_map(Step::AddElsewhere),
        Just(Step::Start),
        number.clone().prop_map(Step::Finish),
        (number.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(task, launched, busy)| Step::End(task, launched, busy)),
        (0_u16..3_000).prop_map(Step::Pass),
        number.clone().prop_map(Step::Close),
        number.prop_map(Step::SetAside),
    ]
}

fn progress(launched: bool) -> Progress {
    Progress { launched, ..NOT_LAUNCHED }
}

proptest! {
    /// Whatever happens: a queued task never takes a slot that is not free, nothing is lost between the indexes, and what
    /// is left when time passes comes to be started.
    #[test]
    fn no_slot_too_many_and_no_task_lost(steps in proptest::collection::vec(step(), 0..80)) {
        let mut now = Instant::now();
        let mut queue = queue();
        let mut next_pid = 100;
        for step in steps {
            let running = |queue: &Queue, id: TaskId| queue.runners.values().any(|runner| *runner == id);
            match step {
                Step::Add(number, launched) => queue.add(task(number), moment(number), progress(launched)),
                Step::AddElsewhere(number) => queue.add_elsewhere(task(number), moment(number), NOT_LAUNCHED, now),
                Step::Start => if let Some(id) = queue.next(SLOTS, reads_nothing) {
                    prop_assert!(!running(&queue, id));
                    prop_assert!(queue.entries[&id].progress.launched || queue.occupying.len() < SLOTS);
                    next_pid += 1;
                    queue.started(id, next_pid);
                },
                Step::Finish(number) if running(&queue, task(number)) => queue.finished(task(number)),
                Step::End(number, launched, busy) if running(&queue, task(number)) => {
                    queue.ended(task(number), ended(now, progress(launched), busy));
                }
                Step::Finish(_) | Step::End(..) => {}
                Step::Pass(milliseconds) => {
                    now += Duration::from_millis(milliseconds.into());
                    for id in queue.due(now) {
                        queue.still_elsewhere(id, now);
                    }
                }
                Step::Close(number) => queue.forget(task(number)),
                Step::SetAside(number) => if !running(&queue, task(number)) {
                    queue.set_aside(task(number), Aside::GaveUp);
                },
            }
            let indexed = queue.ready.len() + queue.timers.len() + queue.runners.len();
            prop_assert_eq!(indexed, queue.entries.len());
            prop_assert!(queue.entries.keys().all(|id| !queue.aside.contains_key(id)));
        }
        now += Duration::from_secs(120);
        for id in queue.due(now) {
            queue.free(id, NOT_LAUNCHED);
        }
        let waiting = queue.entries.len() - queue.runners.len();
        let started = std::iter::from_fn(|| {
            let id = queue.next(usize::MAX, reads_nothing)?;
            next_pid += 1;
            queue.started(id, next_pid);
            Some(id)
        }).count();
        prop_assert_eq!(started, waiting);
    }
}

#[test]
fn an_expired_task_waits_for_nothing() {
    let now = Instant::now();
    let mut queue = queue();
    for number in 1..=4 {
        queue.add(task(number), moment(number), NOT_LAUNCHED);
    }
    queue.started(task(1), 11);
    queue.started(task(2), 12);
    queue.expires(task(4), now);
    queue.expires(task(2), now);
    assert_eq!(queue.next(SLOTS, reads_nothing), None);
    assert_eq!(queue.next_due(), Some(now));
    assert_eq!(queue.due(now), []);
    assert_eq!(queue.next(SLOTS, reads_nothing), Some(task(4)));
    assert_eq!(queue.runner(12), Some(task(2)));
}
