//! Runs of the GLM runner: what its event stream means, and what is published (runners.md 2.6 to 2.9).

mod glm_support;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use glm_support::{
    KEY, ask, assistant, clear, fails, init, install, line, observed, ready, result, retry, text_line,
};
use serde_json::{Value, json};
use support::Stage;

const PIN: &str = "glm-5.3-flash";
const SAID: &str = "words-of-the-provider";

/// The markers of a whole stream.
fn stream(events: &[Value]) -> String {
    events.iter().map(line).collect::<Vec<_>>().join(" ")
}

/// A stage whose provider says words that no diagnostic may hold.
fn discreet() -> Stage {
    let mut stage = ready();
    stage.plant(SAID);
    stage
}

/// The metrics of a stream that is published.
fn published(events: &[Value]) -> Value {
    let stage = ready();
    let finished = ask(&stage, "scout", &stream(events), &[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    stage.metrics()
}

#[test]
fn a_qualified_lane_needs_no_flag_and_a_success_removes_the_diagnostic_of_an_earlier_run() {
    let stage = ready();
    stage.write("out/answer.txt.error.json", "theirs");
    let finished = stage.run_lane("scout", &[]);
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
    assert_eq!(stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
    assert_eq!(stage.answer().expect("an answer"), b"Done.\n");
    for name in stage.outputs() {
        let mode = fs::metadata(stage.path("out").join(name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let metrics = stage.metrics();
    assert!(metrics["finished_at_epoch"].as_u64() >= metrics["started_at_epoch"].as_u64());
    let participant = json!({
        "model": PIN, "canonical_model": PIN, "provider": "firstParty", "input_tokens": 11, "output_tokens": 7,
        "reasoning_tokens": 5, "cache_read_tokens": 3, "cache_write_tokens": 2, "model_calls": 0, "cost_usd": 0.25,
    });
    for (member, expected) in [
        ("model", json!(PIN)),
        ("requested_model", json!(PIN)),
        ("backend", json!("claude-zai")),
        ("effort", json!("max")),
        ("lane", json!("scout")),
        ("sandbox", json!("linux-landlock")),
        ("observed_init_models", json!([PIN])),
        ("observed_assistant_models", json!([PIN])),
        ("assistant_event_count", json!(1)),
        ("assistant_model_attributed_count", json!(1)),
        ("assistant_model_missing_or_malformed_count", json!(0)),
        ("assistant_model_mismatch_count", json!(0)),
        ("effective_content_model", json!(PIN)),
        ("effective_content_model_source", json!("assistant_events")),
        ("exact_model_identity_attested", json!(true)),
        ("usage_participants", json!([participant])),
        ("target_usage_participant_present", json!(true)),
        ("target_usage_identity_attested", json!(true)),
        ("usage_source", json!("model_usage")),
        ("tokens", json!({"input": 11, "output": 7, "reasoning": 5, "cache_read": 3, "cache_write": 2})),
        (
            "provider_aggregate_tokens",
            json!({"input": 11, "output": 7, "reasoning": 0, "cache_read": 3, "cache_write": 2}),
        ),
        ("provider_cost_usd", json!(0.25)),
        ("provider_total_cost_usd", json!(0.25)),
        ("evaluation_receipt", Value::Null),
    ] {
        assert_eq!(metrics[member], expected, "{member}");
    }
    assert_eq!(metrics["model_usage"][PIN]["inputTokens"], 11);
}

#[test]
fn parents_are_made_and_outputs_may_lie_in_the_workspace() {
    let stage = ready();
    let output = stage.path("work/new/deep/answer.txt");
    let words =
        ["run", "--lane", "clerk", "--prompt-file", "prompt.md", "--output", output.to_str().expect("UTF-8")];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words[4] = stage.path("prompt.md").display().to_string();
    let finished = stage.run(&words);
    assert_eq!(finished.code, 0, "{finished:?}");
    assert_eq!(fs::read(output).expect("an answer"), b"Done.\n");
}

#[test]
fn a_prompt_longer_than_an_argument_is_passed_on() {
    let stage = ready();
    let prompt = format!("{} [[GLM: say read]]", "x".repeat(1 << 20));
    assert_eq!(ask(&stage, "scout", &prompt, &[]).code, 0);
    assert_eq!(stage.answer().expect("an answer"), b"read\n");
}

#[test]
fn a_stream_that_is_no_answer_has_its_reason() {
    let error = |subtype: &str| result(&json!({"is_error": true, "subtype": subtype, "result": SAID}));
    for (events, reason) in [
        (vec![], "missing_init"),
        (vec![assistant(PIN), result(&json!({}))], "missing_init"),
        (vec![init("another-model"), result(&json!({}))], "model_mismatch"),
        (vec![init(PIN), init("another-model"), result(&json!({}))], "model_mismatch"),
        (vec![json!({"type": "system", "subtype": "init"}), result(&json!({}))], "model_mismatch"),
        (vec![init(PIN), assistant("another-model"), assistant(PIN), result(&json!({}))], "model_mismatch"),
        (vec![init(PIN), assistant(PIN), result(&json!({"model": "another-model"}))], "model_mismatch"),
        (vec![init(PIN), json!({"type": "unheard-of"})], "missing_result"),
        (vec![init(PIN), result(&json!({"result": ""}))], "empty_result"),
        (vec![init(PIN), result(&json!({})), result(&json!({"result": " \n"}))], "empty_result"),
        (vec![init(PIN), error("odd")], "result_error"),
        (vec![init(PIN), error("success")], "result_error"),
        (vec![init(PIN), result(&json!({"subtype": "error_max_turns"}))], "result_error"),
        (vec![init(PIN), result(&json!({"subtype": "unheard-of"}))], "invalid_stream"),
        (vec![init(PIN), result(&json!({"subtype": 7}))], "invalid_stream"),
        (vec![init(PIN), result(&json!({"result": {"an": "object"}}))], "invalid_stream"),
    ] {
        let stage = discreet();
        let events = if events.is_empty() { vec![json!({"type": "system"})] } else { events };
        let diagnostic = fails(&stage, &stream(&events), 70, "extract", reason);
        assert_eq!(diagnostic["cli_exit_code"], Value::Null);
        let unexpected = reason == "model_mismatch";
        let observed = diagnostic["observed_models"].as_array().expect("a list");
        assert_eq!(observed.contains(&json!("<unexpected>")), unexpected, "{diagnostic}");
        assert!(!diagnostic.to_string().contains("another-model"));
    }
    for text in ["{\"type\": \"system\"", "7", "\"text\""] {
        let stage = discreet();
        let prompt = format!("{} {}", stream(&[init(PIN), result(&json!({}))]), text_line(text));
        let diagnostic = fails(&stage, &prompt, 70, "extract", "invalid_stream");
        assert_eq!(diagnostic["event_stream"]["valid"], false);
    }
}

#[test]
fn a_diagnostic_counts_and_repeats_nothing() {
    let stage = discreet();
    let events = [
        init(PIN),
        json!({"type": "unheard-of", "text": SAID}),
        assistant(PIN),
        result(&json!({"subtype": SAID, "result": SAID})),
    ];
    let prompt = format!("{} [[GLM: complain {SAID}]]", stream(&events));
    let diagnostic = fails(&stage, &prompt, 70, "extract", "invalid_stream");
    assert_eq!(diagnostic["result_subtype"], "<unexpected>");
    assert_eq!(diagnostic["stderr_bytes"], SAID.len() + 1);
    assert_eq!(
        diagnostic["event_stream"]["counts"],
        json!({"assistant": 1, "other": 1, "result": 1, "system": 1})
    );
    assert!(diagnostic["event_stream"]["bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    assert_eq!(diagnostic["next_flush_time"], Value::Null);
    for (subtype, shown) in
        [("error_max_budget_usd", json!("error_max_budget_usd")), ("success", json!("success"))]
    {
        clear(&stage);
        let events = [init(PIN), result(&json!({"subtype": subtype, "is_error": true}))];
        assert_eq!(fails(&stage, &stream(&events), 70, "extract", "result_error")["result_subtype"], shown);
    }
}

#[test]
fn a_process_that_fails_is_classed_by_its_events() {
    let limit = |end: Value| json!({"type": "rate_limit_event", "rate_limit": {"resets_at": end}});
    let api_error =
        json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": 401});
    for (events, complaint, code, reason, next) in [
        (vec![], "", 70, "process_exit", Value::Null),
        (vec![retry(500)], "", 70, "process_exit", Value::Null),
        (vec![retry(401)], "", 69, "authentication_failed", Value::Null),
        (vec![api_error], "", 69, "authentication_failed", Value::Null),
        (vec![retry(429), retry(401)], "rate limit", 69, "authentication_failed", Value::Null),
        (vec![retry(429)], "", 75, "rate_limited", Value::Null),
        (vec![retry(429), limit(json!("soon"))], "", 75, "rate_limited", Value::Null),
        (
            vec![limit(json!(7)), retry(429), limit(json!(1_900_000_000.9))],
            "",
            75,
            "quota_exhausted",
            json!(1_900_000_000),
        ),
        (vec![limit(json!(7))], "", 70, "process_exit", Value::Null),
        (vec![], "API: Too Many Requests", 75, "rate_limited", Value::Null),
        (vec![], "code 1302", 75, "rate_limited", Value::Null),
        // What the model says is no sign.
        (
            vec![json!({"type": "assistant", "message": {"model": PIN, "content": "429 rate limit 401"}})],
            "",
            70,
            "process_exit",
            Value::Null,
        ),
    ] {
        let stage = ready();
        let prompt = format!("{} [[GLM: complain \"{complaint}\"]] [[GLM: exit 42]]", stream(&events));
        let diagnostic = fails(&stage, &prompt, code, "dispatch", reason);
        assert_eq!((&diagnostic["cli_exit_code"], &diagnostic["next_flush_time"]), (&json!(42), &next));
    }
}

#[test]
fn a_limit_in_a_stream_that_ends_well_changes_no_reason() {
    let stage = ready();
    let events = [init(PIN), retry(429), retry(401), result(&json!({"result": ""}))];
    fails(&stage, &stream(&events), 70, "extract", "empty_result");
}

#[test]
fn identity_is_attested_by_all_or_not_at_all() {
    let good = published(&[init(PIN), assistant(PIN), result(&json!({}))]);
    assert_eq!(good["exact_model_identity_attested"], true);
    let no_name = json!({"type": "assistant", "message": {"content": []}});
    for events in [
        vec![init(PIN), result(&json!({}))],
        vec![init(PIN), assistant(PIN), no_name, result(&json!({}))],
        vec![init(PIN), assistant(PIN), result(&json!({"modelUsage": {}}))],
    ] {
        let metrics = published(&events);
        assert_eq!(metrics["exact_model_identity_attested"], false, "{metrics}");
    }
    let named = published(&[init(PIN), assistant(PIN), result(&json!({"effective_content_model": PIN}))]);
    assert_eq!(named["effective_content_model_source"], "result");
}

#[test]
fn usage_is_that_of_the_participants_else_the_aggregate() {
    let aggregate =
        json!({"input_tokens": 4, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 6}});
    let metrics = published(&[
        init(PIN),
        assistant(PIN),
        result(&json!({"modelUsage": null, "usage": aggregate, "total_cost_usd": 0.5})),
    ]);
    assert_eq!(metrics["usage_source"], "provider_aggregate");
    assert_eq!(
        metrics["tokens"],
        json!({"input": 4, "output": 5, "reasoning": 6, "cache_read": 0, "cache_write": 0})
    );
    assert_eq!(metrics["reported_token_counters"], json!(["input", "output", "reasoning"]));
    assert_eq!((&metrics["provider_cost_usd"], &metrics["usage_participants"]), (&json!(0.5), &json!([])));

    let pin = json!({"input_tokens": 1, "cost_usd": 0.25, "canonical_model": PIN, "provider": "firstParty"});
    let usage = json!({PIN: pin, "helper-1": {"input_tokens": 2, "cost_usd": 0.5, "model_calls": 3}});
    let metrics =
        published(&[init(PIN), assistant(PIN), result(&json!({"modelUsage": null, "model_usage": usage}))]);
    // A null is no map, so the other spelling counts.
    assert_eq!(metrics["tokens"]["input"], 3, "{metrics}");
    assert_eq!(metrics["provider_cost_usd"], 0.75);
    assert_eq!(metrics["provider_total_cost_usd"], Value::Null);
    assert_eq!(metrics["usage_participants"][1]["model_calls"], 3);

    // The pinned name without its identity is not listed as a participant.
    let metrics =
        published(&[init(PIN), assistant(PIN), result(&json!({"modelUsage": {PIN: {"inputTokens": 9}}}))]);
    assert_eq!(
        (&metrics["usage_participants"], &metrics["usage_source"]),
        (&json!([]), &json!("provider_aggregate"))
    );
    assert_eq!(metrics["model_usage"][PIN]["inputTokens"], 9);
    // And one that says that it is another is refused.
    let other = json!({"modelUsage": {PIN: {"canonicalModel": "another", "provider": "firstParty"}}});
    fails(&ready(), &stream(&[init(PIN), assistant(PIN), result(&other)]), 70, "extract", "model_mismatch");
}

#[test]
fn debug_material_is_kept_on_failure_alone_and_named_in_a_second_line() {
    let stage = ready();
    stage.write("debug/.keep", "");
    let debug = stage.path("debug").display().to_string();
    let finished = ask(&stage, "scout", "fine", &["--debug-dir", &debug]);
    assert_eq!((finished.code, support::files(&stage.path("debug")).len()), (0, 1));
    clear(&stage);
    let prompt = format!("{} [[GLM: complain aside-{KEY}]] [[GLM: exit 3]]", stream(&[init(SAID)]));
    let finished = ask(&stage, "scout", &prompt, &["--debug-dir", &debug]);
    assert_eq!(finished.code, 70);
    let directory = fs::read_dir(&debug).expect("a directory").flatten().find(|entry| entry.path().is_dir());
    let directory = directory.expect("one directory").path();
    assert_eq!(fs::metadata(&directory).expect("a directory").permissions().mode() & 0o777, 0o700);
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{finished:?}");
    assert_eq!(lines[1], format!("delegation-glm: debug material: {}", directory.display()));
    assert_eq!(stage.diagnostic()["debug_dir"], json!(directory));
    let mut names = Vec::new();
    for path in support::files(&directory) {
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
        names.push(path.file_name().expect("a name").to_string_lossy().into_owned());
    }
    names.sort();
    assert_eq!(names, ["diagnostic.json", "events.jsonl", "stderr.txt"]);
    assert!(fs::read_to_string(directory.join("events.jsonl")).expect("events").contains(SAID));
    assert_eq!(fs::read_to_string(directory.join("stderr.txt")).expect("words"), "aside-[redacted]\n");
}

#[test]
fn a_builder_makes_files_as_its_user_does() {
    let mut stage = ready();
    stage.set_umask("027");
    let seen = observed(&stage, "builder", "[[GLM: write made.txt]]");
    assert_eq!(seen["write made.txt"], "done");
    let mode = |name: &str| fs::metadata(stage.path(name)).expect("metadata").permissions().mode() & 0o7777;
    assert_eq!(mode("work/made.txt"), 0o640);
    assert_eq!((mode("out/answer.txt"), mode("out/answer.txt.metrics.json")), (0o600, 0o600));
}

#[test]
fn an_output_that_appears_meanwhile_is_left_and_the_run_fails() {
    let stage = ready();
    let output = stage.path("work/answer.txt");
    stage.write("prompt.md", format!("[[GLM: write {}]]", output.display()));
    let mut words = stage.words("builder", &["--allow-provisional"]);
    let at = words.iter().position(|word| word == "--output").expect("a flag") + 1;
    words[at] = output.clone().into();
    let finished = stage.run(&words);
    assert_eq!(finished.code, 70, "{finished:?}");
    assert!(finished.stderr.contains("output_publish_failed"));
    assert_eq!(fs::read_to_string(output).expect("a file"), "by the fake\n");
    assert!(!stage.path("work/answer.txt.metrics.json").exists());
}

#[test]
fn an_explicit_binary_is_the_one_that_is_dispatched() {
    let mut stage = ready();
    install(&stage, "claude", json!({"help": "nothing"}));
    stage.set("DELEGATION_GLM_CLAUDE_BIN", install(&stage, "mine", json!({})));
    assert_eq!(ask(&stage, "scout", "fine", &[]).code, 0);
}
