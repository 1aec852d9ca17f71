//! antigravity, by a fake that prints its documented envelopes (providers.md 2.2, 2.5).

use testkit::fake;

use crate::support::{Lead, Ran};
use crate::table::FAKE;

const PROVIDER: &str = "antigravity:print";

/// Title, what the fake does, and the reason that must come of it.
const CASES: [(&str, &str, &str); 6] = [
    ("a fresh turn", "[[fake: answer hello]]", "completed"),
    (
        "not signed in",
        "[[fake: error-event \"authentication failed or timed out\"]]",
        "authentication-required",
    ),
    ("another error", "[[fake: error-event \"The fake service failed.\"]]", "provider-failed"),
    (
        "its own timeout, told on standard error beside a success",
        "[[fake: answer partly]] [[fake: stderr \"[agy] print timeout after 2m0s\"]]",
        "incomplete-output",
    ),
    ("the object is cut", "[[fake: 64-KiB-cut]]", "incomplete-output"),
    (
        "another conversation answers than the one that is continued",
        "[[fake: other-session-id]]",
        "identity-mismatch",
    ),
];

/// Runs every case.
pub(crate) fn column() {
    let lead = Lead::new();
    fake::install(&lead.programs(), "agy").expect("a fake");
    let first = lead.turn(PROVIDER, "[[fake: answer first]]", &[]);
    assert_eq!(first.reason(), "completed", "{first:?}");
    let first = first.answer()["task_id"].as_str().expect("an id").to_owned();
    let again = lead.turn(PROVIDER, "[[fake: answer again]]", &["--resume-task", &first]);
    assert_eq!(again.reason(), "completed", "{again:?}");
    let conversation = |ran: &Ran| ran.answer()["outcome"]["session"]["conversation_id"].clone();
    let launch = lead.log().launches().pop().expect("a launch");
    let asked = launch.arguments.iter().position(|word| word == "--conversation");
    let asked = asked.and_then(|index| launch.arguments.get(index + 1)).expect("a conversation");
    assert_eq!(conversation(&again), asked.as_str());

    let mut cells = vec![("a continued turn", "`completed`, the same conversation".to_owned())];
    for (title, brief, demanded) in CASES {
        let resumed: &[&str] =
            if demanded == "identity-mismatch" { &["--resume-task", &first, "--from-earlier"] } else { &[] };
        let ran = lead.turn(PROVIDER, brief, resumed);
        assert_eq!(ran.reason(), demanded, "{title}: {ran:?}");
        cells.push((title, format!("`{demanded}`")));
    }
    reads_only(&lead);
    cells.push(("read-only: it tries to write in the workspace", "`completed`, no file".to_owned()));
    FAKE.settle("antigravity", &cells);
}

/// Whatever the CLI does: our fence is around it.
fn reads_only(lead: &Lead) {
    let made = lead.workspace().join("made.txt");
    let ran = lead.turn(PROVIDER, &format!("[[fake: writes-outside-workspace {}]]", made.display()), &[]);
    assert_eq!(ran.reason(), "completed", "{ran:?}");
    assert!(lead.log().wait_for_note("writes-outside-workspace").contains("denied"));
    assert!(!made.exists());
}
