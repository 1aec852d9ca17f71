//! What the provider says decides, in the order of STATE.md 3.8; each misbehaviour of a CLI has one verdict.

mod support;

use support::Lead;

/// The verdict over a turn of `provider` with these behaviours: exit code and reason.
fn verdict(provider: &str, behaviours: &str, more: &[&str]) -> (i32, String) {
    let lead = Lead::new();
    let ran = lead.turn(provider, behaviours, more);
    let log = lead.log();
    assert!(log.launches().len() <= 1);
    assert!(log.launches().iter().all(|launch| !launch.process.is_alive()), "{behaviours} runs on");
    assert!(log.escaped().iter().all(|process| !process.is_alive()), "{behaviours} leaves a process");
    (ran.code, ran.reason())
}

/// One test for each row, so that a failure names it and the rows run side by side.
macro_rules! verdicts {
    ($($name:ident: $provider:literal, $behaviours:literal $(, $more:literal)* => $code:literal $reason:literal;)+) => {
        $(#[test]
        fn $name() {
            assert_eq!(verdict($provider, $behaviours, &[$($more),*]), ($code, $reason.to_owned()));
        })+
    };
}

verdicts! {
    codex_empty_with_exit_0: "codex:exec", "[[fake: exit-0-empty]]" => 4 "empty-output";
    pi_empty_with_exit_0: "pi:json", "[[fake: exit-0-empty]]" => 4 "empty-output";
    codex_exit_1_after_final: "codex:exec", "[[fake: exit-1-after-final]]" => 0 "completed";
    pi_exit_1_after_final: "pi:json", "[[fake: exit-1-after-final]]" => 0 "completed";
    codex_final_then_hang: "codex:exec", "[[fake: final-then-hang]]" => 0 "completed";
    pi_final_then_hang: "pi:json", "[[fake: final-then-hang]]" => 0 "completed";
    codex_cut_at_64_kib: "codex:exec", "[[fake: 64-KiB-cut]]" => 4 "incomplete-output";
    pi_cut_at_64_kib: "pi:json", "[[fake: 64-KiB-cut]]" => 4 "incomplete-output";
    codex_chatter: "codex:exec", "[[fake: chatter-before-JSON]]" => 0 "completed";
    pi_chatter: "pi:json", "[[fake: chatter-before-JSON]]" => 0 "completed";
    codex_line_separators: "codex:exec", "[[fake: U+2028]]" => 0 "completed";
    pi_line_separators: "pi:json", "[[fake: U+2028]]" => 0 "completed";
    codex_split_characters: "codex:exec", "[[fake: split-UTF-8]]" => 0 "completed";
    pi_split_characters: "pi:json", "[[fake: split-UTF-8]]" => 0 "completed";
    codex_giant_line: "codex:exec", "[[fake: giant-line]]" => 0 "completed";
    pi_giant_line: "pi:json", "[[fake: giant-line]]" => 0 "completed";
    codex_endless_zeros: "codex:exec", "[[fake: endless-zeros]]", "--max-output", "4MiB" => 4 "output-limit";
    codex_double_fork: "codex:exec", "[[fake: double-fork-holding-stdout]]" => 0 "completed";
    codex_setsid_escape: "codex:exec", "[[fake: setsid-escape]]" => 0 "completed";
    pi_setsid_escape: "pi:json", "[[fake: setsid-escape scrubbed]]" => 0 "completed";
    codex_error_event_then_hang: "codex:exec", "[[fake: error-event-then-hang]]" => 4 "provider-failed";
    pi_error_event_then_hang: "pi:json", "[[fake: error-event-then-hang]]" => 4 "provider-failed";
    codex_quota_words: "codex:exec", "[[fake: quota-words-in-prose]]" => 0 "completed";
    pi_quota_words: "pi:json", "[[fake: quota-words-in-prose]]" => 0 "completed";
    codex_unclosed_items: "codex:exec", "[[fake: unclosed-items]]" => 4 "incomplete-output";
    pi_other_model: "pi:json", "[[fake: other-model-name]]", "--model", "asked-for" => 4 "model-mismatch";
    codex_writes_to_brief: "codex:exec", "[[fake: writes-to-brief]]" => 0 "completed";
    codex_deletes_its_cwd: "codex:exec", "[[fake: deletes-its-cwd]]" => 0 "completed";
    codex_opens_browser: "codex:exec", "[[fake: opens-browser]]", "--budget", "2s" => 4 "timed-out";
    codex_need_tty: "codex:exec", "[[fake: need-tty]]", "--first-output", "1s" => 4 "first-output-timeout";
    codex_silent_forever: "codex:exec", "[[fake: silent-forever]]", "--first-output", "1s" => 4 "first-output-timeout";
    codex_reads_stdin_to_its_end: "codex:exec", "[[fake: read-stdin-to-EOF]]" => 0 "completed";
}

#[test]
fn a_rewritten_executable_is_drift_for_the_next_task() {
    let lead = Lead::with_slots(1);
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]] [[fake: rewrites-own-binary]]", gate.display());
    let first = lead.dispatch("codex:exec", &brief, &[]);
    let _ = lead.log().wait_for_launches(1);
    let second = lead.dispatch("codex:exec", "[[fake: answer two]]", &[]);
    std::fs::write(gate, "").unwrap();
    assert_eq!(lead.collect(&first).reason(), "completed");
    let ran = lead.collect(&second);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "executable-drift"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn leaked_processes_are_counted() {
    let lead = Lead::new();
    let ran = lead.turn("codex:exec", "[[fake: setsid-escape]]", &[]);
    assert_eq!(ran.answer()["outcome"]["leaked_processes"], 1, "{ran:?}");
}

#[test]
fn the_providers_own_message_reaches_the_lead() {
    let lead = Lead::new();
    let ran = lead.turn("codex:exec", "[[fake: error-event \"the model is on holiday\"]]", &[]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "provider-failed"));
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let refusal = std::fs::read_to_string(lead.task_directory(&id).join("refusal.txt")).unwrap();
    assert!(
        refusal.starts_with("provider-failed\n") && refusal.contains("the model is on holiday"),
        "{refusal}"
    );
}

#[test]
fn damaged_evidence_is_never_published_as_an_answer() {
    let lead = Lead::new();
    let ran = lead.turn("codex:exec", "[[fake: answer right]]", &[]);
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let directory = lead.task_directory(&id);
    // As if the runner had been killed between the seal and the payload, and the evidence touched since.
    std::fs::remove_file(directory.join("outcome.json")).unwrap();
    std::fs::remove_file(directory.join("result.txt")).unwrap();
    std::fs::write(lead.root().join("open").join(&id), "").unwrap();
    std::fs::write(directory.join("raw/stdout"), "{}").unwrap();
    let runner = lead.run(["__run", "--root", lead.root().to_str().unwrap(), &id]);
    assert_eq!(runner.code, 0, "{runner:?}");
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "evidence-damaged"));
}

#[test]
fn judging_again_gives_the_same_bytes() {
    let lead = Lead::new();
    let ran = lead.turn("pi:json", "[[fake: answer same]]", &[]);
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let outcome = lead.task_directory(&id).join("outcome.json");
    let before = std::fs::read(&outcome).unwrap();
    std::fs::remove_file(&outcome).unwrap();
    let runner = lead.run(["__run", "--root", lead.root().to_str().unwrap(), &id]);
    assert_eq!(runner.code, 0, "{runner:?}");
    assert_eq!(std::fs::read(&outcome).unwrap(), before);
    assert_eq!(lead.log().launches().len(), 1);
}
