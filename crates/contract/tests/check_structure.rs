//! One broken rule of structure or vocabulary at a time (executor-contract.md 7.1, 7.2).

mod support;

use contract::embedded::CONTRACT_FILE;
use gates::embedded::CENTRAL_GATE_FILE;
use support::{Files, embedded_files};

fn set(path: &[&str], value: &str) -> Files {
    embedded_files().set(CONTRACT_FILE, path, value)
}

fn remove(path: &[&str]) -> Files {
    embedded_files().remove(CONTRACT_FILE, path)
}

#[track_caller]
fn structure(files: &Files, rule: &str) {
    files.breaks("structure", &[rule]);
}

#[track_caller]
fn vocabularies(files: &Files, rules: &[&str]) {
    files.breaks("vocabularies", rules);
}

#[test]
fn s01_top_level() {
    for (path, value) in [
        ("unheard_of", "1"),
        ("schema_version", "2"),
        ("schema_version", "\"1\""),
        ("contract_version", "\"1.0\""),
        ("contract_version", "\"1.0.0 \""),
        ("updated_at", "\"2026-08-29\""),
        ("updated_at", "\"2026-08-29T00:00:00+00\""),
        ("central_routing_gate", "\"\""),
    ] {
        structure(&set(&[path], value), "S-01");
    }
    for key in ["schema_version", "authority", "families", "known_divergences", "patch_policy"] {
        structure(&remove(&[key]), "S-01");
    }
    assert_eq!(set(&["schema_version"], "1.0").ask(&["check"]).code, 0);
    let mut files = embedded_files();
    files.put(CONTRACT_FILE, b"[]".to_vec());
    structure(&files, "S-01");
}

#[test]
fn s02_authority() {
    for (key, value) in [
        ("role", "\"enforce\""),
        ("enforcement_authority", "\"lead\""),
        ("grants_permissions", "true"),
        ("creates_dispatch_layer", "true"),
        ("changes_routing_decisions", "true"),
        ("notes", "[]"),
        ("notes", "[\"\"]"),
        ("unheard_of", "1"),
    ] {
        structure(&set(&["authority", key], value), "S-02");
    }
    structure(&remove(&["authority", "role"]), "S-02");
    structure(&set(&["authority"], "[]"), "S-02");
}

#[test]
fn s03_vocabularies() {
    for (key, value) in [
        ("unheard_of", "[]"),
        ("phase_values", "[\"dispatch\", \"dispatch\"]"),
        ("phase_values", "[\"\"]"),
        ("lane_values", "\"clerk\""),
        ("capability_values", "{\"denied\": \"\"}"),
        ("identity_kinds", "{\"guessed\": \"no\"}"),
        ("usage_participation_values", "{\"some\": \"no\"}"),
        ("permission_classes", "{\"read-only\": {\"worktree_writes\": false, \"returns_patch\": false}}"),
    ] {
        structure(&set(&["vocabularies", key], value), "S-03");
    }
    structure(&set(&["vocabularies", "permission_classes", "read-only", "extra"], "1"), "S-03");
    structure(&remove(&["vocabularies", "transport_kinds"]), "S-03");
}

#[test]
fn s04_exit_codes() {
    structure(
        &set(
            &["exit_codes", "x1"],
            "{\"name\": \"x\", \"universal\": false, \"retryable\": false, \"meaning\": \"x\"}",
        ),
        "S-04",
    );
    structure(&set(&["exit_codes", "64", "name"], "\"Invalid Input\""), "S-04");
    structure(&set(&["exit_codes", "64", "universal"], "\"yes\""), "S-04");
    structure(&remove(&["exit_codes", "64", "meaning"]), "S-04");
}

#[test]
fn s05_envelopes() {
    for (path, value) in [
        (&["envelopes", "receipt"][..], "{}"),
        (&["envelopes", "status", "extensions_permitted"], "false"),
        (&["envelopes", "status", "required"], "[]"),
        (&["envelopes", "status", "required"], "[\"model\", \"model\"]"),
        (&["envelopes", "status", "lane_status_fields"], "{}"),
        (&["envelopes", "status", "lane_status_fields"], "null"),
        (&["envelopes", "status", "token_counter_value_type"], "\"number\""),
        (&["envelopes", "result", "ordered_epoch_pair"], "[\"started_at_epoch\"]"),
        (&["envelopes", "diagnostic", "reason_pattern"], "\"(\""),
        (&["envelopes", "diagnostic", "unheard_of"], "1"),
    ] {
        structure(&set(path, value), "S-05");
    }
    for path in [
        &["envelopes", "result"][..],
        &["envelopes", "status", "lane_status_fields"],
        &["envelopes", "result", "ordered_epoch_pair"],
        &["envelopes", "result", "token_counter_field"],
        &["envelopes", "result", "token_counter_value_type"],
        &["envelopes", "diagnostic", "reason_pattern"],
        &["envelopes", "diagnostic", "secrecy"],
    ] {
        structure(&remove(path), "S-05");
    }
}

#[test]
fn s06_usage_accounting() {
    structure(&set(&["usage_accounting", "required_participant_fields"], "[\"name\"]"), "S-06");
    structure(&set(&["usage_accounting", "required_participant_fields"], "[]"), "S-06");
    structure(&set(&["usage_accounting", "nonnegative_participant_fields"], "[\"name\"]"), "S-06");
    structure(&set(&["usage_accounting", "rules"], "[]"), "S-06");
    structure(&set(&["usage_accounting", "extra"], "[]"), "S-06");
}

#[test]
fn s07_extension_policy() {
    for (key, value) in [
        ("provider_extensions_permitted", "false"),
        ("recursive", "false"),
        ("rejected_key_names", "[]"),
        ("rejected_key_substrings", "[\"a\", \"a\"]"),
        ("rejected_value_patterns", "[\"^a\", \"^a\"]"),
        ("rejected_value_patterns", "[\"[\"]"),
        ("applies_to", "\"\""),
        ("extra", "1"),
    ] {
        structure(&set(&["extension_policy", key], value), "S-07");
    }
}

#[test]
fn s08_patch_policy_reference() {
    for (key, value) in [
        ("policy_file", "\"../policy.json\""),
        ("policy_file", "\"policy.toml\""),
        ("policy_version", "\"one\""),
        ("verifier", "\"git-apply\""),
        ("verification_required", "false"),
        ("applied_by", "\"runner\""),
        ("enforcement_authority", "\"lead\""),
        ("grants_permissions", "true"),
        ("notes", "[]"),
        ("extra", "1"),
    ] {
        structure(&set(&["patch_policy", key], value), "S-08");
    }
}

#[test]
fn s09_executable_gate_controls() {
    let controls = |key: &str, value: &str| set(&["executable_gate_controls", key], value);
    structure(&controls("required_fields", "[]"), "S-09");
    structure(&controls("cross_checked_against", "{}"), "S-09");
    structure(
        &controls("descriptive_fields", "[\"tools\", \"isolated_home\", \"isolated_config_dir\"]"),
        "S-09",
    );
    structure(&controls("isolation_cross_checked_against", "{}"), "S-09");
    structure(&controls("isolation_cross_checked_against", "{\"unheard_of\": \"x\"}"), "S-09");
    structure(&controls("isolation_cross_checked_against", "{\"tools\": \"x\"}"), "S-09");
    structure(&controls("extra", "1"), "S-09");
    // A control that both lists forget would be compared no more.
    let forgotten = remove(&["executable_gate_controls", "cross_checked_against", "network"]).edit(
        CONTRACT_FILE,
        &["executable_gate_controls", "required_fields"],
        |fields| {
            let gates::json::Json::Array(fields) = fields else { panic!("a list") };
            fields.retain(|field| field.as_str() != Some("network"));
        },
    );
    structure(&forgotten, "S-09");
}

#[test]
fn s10_families() {
    let family = |key: &str, value: &str| set(&["families", "grok-4.6", key], value);
    for (key, value) in [
        ("runner", "\"grok\""),
        ("runner", "\"delegation-\""),
        ("executable_gate", "\"/etc/gate.json\""),
        ("efforts", "[]"),
        ("exit_codes_emitted", "[64, 64]"),
        ("exit_codes_emitted", "[\"64\"]"),
        ("runtime_isolation", "{\"isolated_disk\": true}"),
        ("runtime_isolation", "{\"isolated_home\": \"yes\"}"),
        ("envelope_fields", "{\"receipt\": []}"),
        ("lanes", "{}"),
        ("extra", "1"),
    ] {
        structure(&family(key, value), "S-10");
    }
    structure(&remove(&["families", "grok-4.6", "identity", "runtime_model"]), "S-10");
    structure(&set(&["families", "grok-4.6", "identity", "observed_identity_sources"], "[]"), "S-10");
    structure(&remove(&["families", "grok-4.6", "model"]), "S-10");
}

#[test]
fn s11_lanes() {
    let lane = ["families", "grok-4.6", "lanes", "builder"];
    let at = |rest: &[&'static str]| [&lane[..], rest].concat();
    structure(&set(&at(&["extra"]), "1"), "S-11");
    structure(&set(&at(&["dispatchable"]), "1"), "S-11");
    structure(&remove(&at(&["evaluation_only"])), "S-11");
    structure(&remove(&at(&["tool_policy", "permission_mode"])), "S-11");
    structure(&remove(&at(&["tool_policy", "allowed_tools"])), "S-11");
    structure(&set(&at(&["tool_policy", "extra"]), "1"), "S-11");
    structure(&set(&at(&["tool_policy", "mcp"]), "null"), "S-11");
    let block = ["families", "qwen3.8-max", "lanes", "builder", "patch_policy", "extra"];
    structure(&set(&block, "1"), "S-11");
}

#[test]
fn s12_divergences() {
    structure(&set(&["known_divergences"], "[{\"family\": \"kimi-k3\", \"envelope\": \"result\"}]"), "S-12");
    structure(
        &set(&["known_divergences"], "[{\"family\": \"x\", \"envelope\": \"x\", \"detail\": \"\"}]"),
        "S-12",
    );
    structure(&set(&["known_divergences"], "{}"), "S-12");
}

const CLASSES: [&str; 2] = ["vocabularies", "permission_classes"];

fn class(name: &str, key: &str, value: &str) -> Files {
    set(&[&CLASSES[..], &[name, key]].concat(), value)
}

#[test]
fn v01_to_v03_permission_classes() {
    let fourth = "{\"worktree_writes\": true, \"returns_patch\": true, \"summary\": \"both\"}";
    vocabularies(&set(&[&CLASSES[..], &["both"]].concat(), fourth), &["V-01", "V-10"]);
    vocabularies(&remove(&[&CLASSES[..], &["worktree-edit"]].concat()), &["V-01"]);
    vocabularies(&class("read-only", "worktree_writes", "true"), &["V-02", "V-03"]);
    vocabularies(&class("worktree-edit", "worktree_writes", "false"), &["V-02", "V-03"]);
}

#[test]
fn v04_v05_exit_codes() {
    vocabularies(&remove(&["exit_codes", "130"]), &["V-04"]);
    vocabularies(&remove(&["exit_codes", "78"]), &["V-04", "V-05"]);
    vocabularies(&set(&["exit_codes", "130", "universal"], "true"), &["V-05"]);
    vocabularies(&set(&["exit_codes", "69", "universal"], "false"), &["V-05"]);
    vocabularies(&set(&["exit_codes", "75", "retryable"], "false"), &["V-05"]);
    // Not pinned: whether the others may be tried again.
    assert_eq!(set(&["exit_codes", "69", "retryable"], "true").ask(&["check"]).code, 0);
}

#[test]
fn v06_v07_words() {
    let words = |key: &'static str, value: &str| set(&["vocabularies", key], value);
    vocabularies(&words("qualification_status_values", "[\"disabled\", \"candidate\"]"), &["V-06", "V-09"]);
    vocabularies(&words("selection_values", "[\"blocked\", \"explicit-only\", \"free\"]"), &["V-06", "V-09"]);
    assert_eq!(words("selection_values", "[\"blocked\", \"explicit-only\"]").ask(&["check"]).code, 0);
    vocabularies(&words("capability_values", "{\"denied\": \"x\"}"), &["V-07"]);
    vocabularies(&words("effective_content_identity_values", "{\"not-reported\": \"x\"}"), &["V-07"]);
    vocabularies(&words("usage_source_values", "[\"model_usage\"]"), &["V-07"]);
    vocabularies(&words("phase_values", "[]"), &["V-07"]);
    vocabularies(&words("phase_values", "[\"Dispatch\"]"), &["V-07"]);
}

#[test]
fn v08_participant_fields() {
    let fields = ["usage_accounting", "participant_fields"];
    vocabularies(&set(&[&fields[..], &["mood"]].concat(), "\"string\""), &["V-08"]);
    vocabularies(&remove(&[&fields[..], &["provider"]].concat()), &["V-08"]);
    let required = "[\"model\", \"provider\"]";
    vocabularies(&set(&["usage_accounting", "required_participant_fields"], required), &["V-08"]);
}

#[test]
fn v09_the_words_of_the_central_gate() {
    let central = |key: &str, value: &str| embedded_files().set(CENTRAL_GATE_FILE, &[key], value);
    vocabularies(&central("status_values", "[\"qualified\"]"), &["V-09"]);
    vocabularies(&central("selection_values", "[\"blocked\"]"), &["V-09"]);
    vocabularies(&central("selection_values", "{}"), &["V-09"]);
    vocabularies(&embedded_files().remove(CENTRAL_GATE_FILE, &["status_values"]), &["V-09"]);
}

#[test]
fn v10_the_class_that_returns_patches() {
    vocabularies(&set(&["patch_policy", "required_for_permission_class"], "\"read-only\""), &["V-10"]);
    vocabularies(&set(&["patch_policy", "required_for_permission_class"], "\"unheard-of\""), &["V-10"]);
    vocabularies(&class("text-patch", "returns_patch", "false"), &["V-02", "V-03", "V-10"]);
}
