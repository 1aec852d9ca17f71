//! One artifact for each semantic problem (executor-contract.md 8.2, 8.3).

mod support;

use contract::model::EnvelopeKind::{Diagnostic, Result, Status};
use support::artifacts::{Artifact, families, good};

const GLM: &str = "glm-5.3-flash";
const GROK: &str = "grok-4.6";
const KIMI: &str = "kimi-k3";
const QWEN: &str = "qwen3.8-max";
const GEMINI: &str = "gemini-3.7-flash";

#[track_caller]
fn wrong(artifact: &Artifact, problems: &[&str]) {
    artifact.fails("semantics", problems);
}

#[test]
fn numbers_and_times() {
    for family in families() {
        let result = || good(Result, &family).anonymous();
        wrong(&result().with("provider_cost_usd", "-0.01"), &["negative:provider_cost_usd"]);
        wrong(
            &result()
                .with("started_at_epoch", "-5")
                .with("finished_at_epoch", "5")
                .without_if("duration_seconds"),
            &["negative:started_at_epoch"],
        );
        wrong(
            &result().with("finished_at_epoch", "1").without_if("duration_seconds"),
            &["timestamps_out_of_order"],
        );
        wrong(&result().with("duration_seconds", "11.75"), &["duration_exceeds_elapsed_window"]);
        result().with("duration_seconds", "11.5").passes();
        wrong(&good(Diagnostic, &family).with("elapsed_seconds", "-1"), &["negative:elapsed_seconds"]);
    }
}

#[test]
fn counters() {
    let tokens = |value: &str| good(Result, QWEN).with("tokens", value);
    for value in ["null", "\"12\"", "[]", "{}", "true"] {
        wrong(&tokens(&format!("{{\"input\": {value}}}")), &["token_counter_is_not_a_number:input"]);
    }
    wrong(&tokens("{\"input\": -1}"), &["negative_token_counter:input"]);
    wrong(
        &tokens("{\"b\": -1, \"a\": null}"),
        &["negative_token_counter:b", "token_counter_is_not_a_number:a"],
    );
    tokens("{}").passes();
    tokens("null").passes();
}

#[test]
fn diagnostics() {
    for family in families() {
        for reason in ["Rate limited", "", "1st", "rate-limited", "rate_limited\\n", "ok\\nrate_limited"] {
            let artifact = good(Diagnostic, &family).with("reason", &format!("\"{reason}\""));
            wrong(&artifact, &["reason_is_not_a_stable_slug"]);
        }
        for code in ["-1", "256", "1e300"] {
            let artifact = good(Diagnostic, &family).with("cli_exit_code", code);
            wrong(&artifact, &["cli_exit_code_out_of_range"]);
        }
        good(Diagnostic, &family).with("cli_exit_code", "255").passes();
        good(Diagnostic, &family).with("cli_exit_code", "null").passes();
    }
}

/// A result of a family without rules of its own on usage.
fn participants(list: &str) -> Artifact {
    good(Result, QWEN).anonymous().with("usage_participants", list)
}

#[test]
fn participants_one_by_one() {
    participants("[{\"model\": \"x\", \"provider\": null, \"cost_usd\": 0}]").passes();
    wrong(&participants("[7]"), &["participant_is_not_an_object"]);
    wrong(&participants("[{\"input_tokens\": -1, \"mood\": 1}]"), &["participant_missing_required_field"]);
    wrong(&participants("[{\"model\": \"x\", \"mood\": 1}]"), &["participant_carries_an_undeclared_field"]);
    wrong(&participants("[{\"model\": \"\"}]"), &["participant_model_is_not_a_name"]);
    wrong(
        &participants("[{\"model\": null}]"),
        &["participant_field_is_not_a_string:model", "participant_model_is_not_a_name"],
    );
    wrong(
        &participants("[{\"model\": \"x\", \"provider\": 7}]"),
        &["participant_field_is_not_a_string|null:provider"],
    );
    wrong(
        &participants("[{\"model\": \"x\", \"model_calls\": -1}]"),
        &["participant_counter_is_not_nonnegative:model_calls"],
    );
    wrong(
        &participants("[{\"model\": \"x\", \"cost_usd\": \"1\", \"mood\": 1}, 7, 8]"),
        &[
            "participant_carries_an_undeclared_field",
            "participant_counter_is_not_nonnegative:cost_usd",
            "participant_field_is_not_a_number:cost_usd",
            "participant_is_not_an_object",
        ],
    );
}

#[test]
fn the_source_of_usage() {
    let contradiction = ["usage_source_contradicts_the_participant_list"];
    let one = "[{\"model\": \"x\"}]";
    wrong(&participants(one).with("usage_source", "\"provider_aggregate\""), &contradiction);
    wrong(&participants("[]").with("usage_source", "\"model_usage\""), &contradiction);
    wrong(&good(Result, QWEN).with("usage_source", "\"model_usage\""), &contradiction);
    participants(one).with("usage_source", "\"model_usage\"").passes();
    participants("[]").with("usage_source", "\"provider_aggregate\"").passes();
}

#[test]
fn models() {
    for family in families() {
        wrong(&good(Result, &family).with("requested_model", "\"other\""), &["requested_model"]);
    }
    wrong(
        &good(Status, GLM).with("runtime_model", "\"glm\""),
        &["runtime_model_is_not_declared_by_this_family"],
    );
    wrong(&good(Status, KIMI).with("runtime_model", "\"kimi-k3\""), &["runtime_model"]);
    good(Status, KIMI).with("runtime_model", "\"kimi-code/k3\"").passes();
    wrong(&good(Result, GEMINI).with("runtime_model", "\"gemini-3.7-flash-high\""), &["runtime_model"]);
    good(Result, GEMINI)
        .with("effort", "\"high\"")
        .with("runtime_model", "\"gemini-3.7-flash-high\"")
        .passes();
    wrong(&good(Status, GEMINI).with("runtime_model", "\"gemini-2\""), &["runtime_model"]);
    good(Status, GEMINI).with("runtime_model", "\"gemini-3.7-flash-medium\"").passes();
    for family in [KIMI, QWEN, "deepseek-v4-pro", GEMINI] {
        wrong(
            &good(Result, family).with("effective_content_model", "\"x\""),
            &["effective_content_model_is_not_reportable_by_this_family"],
        );
        good(Result, family).with("effective_content_model", "null").passes();
    }
    let unattested = |family: &str| good(Result, family).with("exact_model_identity_attested", "false");
    wrong(&unattested(GLM).with("effective_content_model", "\"glm-5\""), &["effective_content_model"]);
    unattested(GLM).with("effective_content_model", "null").passes();
    wrong(
        &unattested(GROK).with("effective_content_model", "\"grok-4.6-build\""),
        &["effective_content_model", "usage_identity_reported_as_content_identity"],
    );
}

#[test]
fn the_participant_of_the_family() {
    let present = ["target_usage_participant_present"];
    wrong(&good(Result, GROK).with("target_usage_participant_present", "false"), &present);
    wrong(&good(Result, GROK).with("usage_participants", "[{\"model\": \"grok-4.6\"}]"), &present);
    wrong(&good(Result, QWEN).with("target_usage_participant_present", "true"), &present);
    good(Result, QWEN).with("target_usage_participant_present", "false").passes();
    for other in [
        "\"canonical_model\": \"other\", \"provider\": \"firstParty\"",
        "\"canonical_model\": \"glm-5.3-flash\", \"provider\": \"reseller\"",
        "\"provider\": \"firstParty\"",
    ] {
        let list = format!("[{{\"model\": \"glm-5.3-flash\", {other}}}]");
        wrong(
            &good(Result, GLM).with("usage_participants", &list),
            &["usage_participant_canonical_identity"],
        );
    }
}

#[test]
fn usage_that_nobody_measured() {
    for family in [KIMI, GEMINI] {
        let result = || good(Result, family).with("usage_reported", "true");
        wrong(
            &result().with("usage_participants", "[{\"model\": \"x\"}]"),
            &["usage_participants_from_a_family_that_reports_no_usage"],
        );
        wrong(
            &result().with("tokens", "{\"input\": 1}"),
            &["nonzero_tokens_from_a_family_that_reports_no_usage"],
        );
        wrong(
            &result().with("provider_cost_usd", "0.5"),
            &["nonzero_cost_from_a_family_that_reports_no_usage"],
        );
        result().with("provider_cost_usd", "0").with("tokens", "null").passes();
    }
    let unreported = || good(Result, QWEN).with("usage_reported", "false").with("tokens", "{\"input\": 0}");
    unreported().passes();
    wrong(
        &unreported().with("usage_participants", "[{\"model\": \"x\"}]"),
        &["usage_participants_with_usage_reported_false"],
    );
    wrong(&unreported().with("tokens", "{\"input\": 1}"), &["nonzero_tokens_with_usage_reported_false"]);
}

#[test]
fn attested_identities() {
    for family in [GLM, GROK] {
        let without = ["identity_attested_without_an_effective_content_model"];
        wrong(&good(Result, family).with("effective_content_model", "null"), &without);
        wrong(
            &good(Result, family).with("effective_content_model", "\"x\""),
            &["effective_content_model", without[0]],
        );
    }
    wrong(
        &good(Result, GLM)
            .with("usage_participants", "[]")
            .with("usage_source", "\"provider_aggregate\"")
            .with("target_usage_participant_present", "false"),
        &["identity_attested_without_usage_participation"],
    );
}

#[test]
fn backends() {
    for family in families() {
        let none = || good(Status, &family).with("selected_backend", "\"none\"");
        none().with("backends", "{}").passes();
        wrong(&none().with("backends", "{\"other\": {}}"), &["backends"]);
        wrong(
            &good(Status, &family).with("backends", "{}"),
            &["selected_backend_is_not_one_of_the_reported_backends"],
        );
    }
}

#[test]
fn lanes_of_a_status() {
    for family in families() {
        let mismatch = "qualified_lanes_does_not_match_the_declared_lane_inventory";
        wrong(
            &good(Status, &family).with("qualified_lanes", "[\"sculptor\"]"),
            &["qualified_lanes:sculptor", mismatch],
        );
        wrong(
            &good(Status, &family).with("qualified_lanes", "[7]"),
            &["qualified_lanes:<not a name>", mismatch],
        );
    }
    wrong(
        &good(Status, GLM).with("qualified_lanes", "[\"clerk\"]"),
        &["qualified_lanes_does_not_match_the_declared_lane_inventory"],
    );
    good(Status, GLM).with("qualified_lanes", "[\"scout\", \"clerk\"]").passes();
    good(Status, GLM).with("candidate_lanes", "[\"policy-annotation\"]").passes();
    wrong(
        &good(Status, GLM).with("qualified_lanes", "[\"clerk\", \"scout\", \"clerk\"]"),
        &["lane_status_lists_overlap", "qualified_lanes_does_not_match_the_declared_lane_inventory"],
    );
    wrong(
        &good(Status, GLM).with("provisional_lanes", "[\"builder\", \"clerk\"]"),
        &[
            "lane_status_lists_overlap",
            "provisional_lanes:clerk",
            "provisional_lanes_does_not_match_the_declared_lane_inventory",
        ],
    );
    let declared = "[\"scout\", \"builder\", \"frontend-builder\"]";
    good(Status, GEMINI).with("candidate_lanes", declared).passes();
}
