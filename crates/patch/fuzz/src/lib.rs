//! What holds for any bytes in everything that reads a stranger's text: grammar, policy, placement, extraction.

use std::sync::LazyLock;

use patch::{LoadedPolicy, Placed};

static POLICY: LazyLock<LoadedPolicy> =
    LazyLock::new(|| LoadedPolicy::embedded().expect("the embedded policy"));

/// Reads the bytes in every way.
///
/// # Panics
/// When a promise is broken.
pub fn check(data: &[u8]) {
    // What stands before a NUL is the file that the rest is placed on.
    let (content, text) = match data.iter().position(|byte| *byte == 0) {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (&b""[..], data),
    };
    let judged = patch::judge_text(text, &POLICY, true);
    assert_eq!(judged, patch::judge_text(text, &POLICY, true));
    if judged.violations.is_empty() {
        assert!(text.ends_with(b"\n") && !judged.files.is_empty());
        let marked = |mark: u8| {
            text.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&mark)).count() as u64
        };
        let (added, removed) = judged
            .files
            .iter()
            .fold((0, 0), |(added, removed), file| (added + file.added_lines, removed + file.removed_lines));
        assert!(added <= marked(b'+') && removed <= marked(b'-'));
        for file in &judged.files {
            assert!(
                !file.path.starts_with('/')
                    && !file.path.split('/').any(|part| matches!(part, "" | "." | ".." | ".git"))
            );
        }
    }
    let mut findings = patch::Findings::default();
    let parsed = patch::parse::parse(text, &POLICY.policy, &mut findings);
    for section in &parsed.sections {
        match patch::place("x", content, &parsed.hunks[section.hunks.clone()], text) {
            Placed::Clean(placements) => assert!(placements.iter().all(|placement| placement.offset != 0)),
            Placed::Ambiguous { candidates, .. } => assert!(candidates > 1),
            Placed::Mismatch(mismatch) => assert!(mismatch.target_line >= 1),
        }
    }
    if let Ok((diff, _)) = patch::extract(data) {
        assert!(diff.len() <= data.len());
    }
}
