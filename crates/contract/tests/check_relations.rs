//! One broken relation at a time: policy, envelopes, families (executor-contract.md 7.3-7.5).

mod support;

use contract::embedded::CONTRACT_FILE;
use support::{Files, POLICY_FILE, PROGRAM, ask, embedded_files};

fn set(path: &[&str], value: &str) -> Files {
    embedded_files().set(CONTRACT_FILE, path, value)
}

fn lane(family: &str, lane: &str, rest: &[&str], value: &str) -> Files {
    set(&[&["families", family, "lanes", lane][..], rest].concat(), value)
}

fn family(name: &str, rest: &[&str], value: &str) -> Files {
    set(&[&["families", name][..], rest].concat(), value)
}

#[track_caller]
fn policy(path: &[&str], value: &str) {
    embedded_files().set(POLICY_FILE, path, value).breaks("patch-policy", &["P-03"]);
}

#[test]
fn p01_p02_the_policy_is_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing.json");
    let answer = ask(&["check", "--json"], &[("DELEGATION_EXTERNAL_PATCH_POLICY_FILE", &missing)], None);
    assert_eq!(answer.code, 66);
    assert_eq!(answer.refusal(PROGRAM).1, ["unreadable_file"]);
    let mut files = embedded_files();
    files.put(POLICY_FILE, b"{".to_vec());
    files.breaks("patch-policy", &["not_json"]);
    // The embedded policy has one name.
    assert_eq!(set(&["patch_policy", "policy_file"], "\"another.json\"").ask(&["check"]).code, 66);
}

#[test]
fn p03_the_policy_has_not_drifted_open() {
    for (path, value) in [
        (&["schema_version"][..], "2"),
        (&["policy_version"], "\"1.0.1\""),
        (&["verifier"], "\"delegation-other\""),
        (&["applies_to_permission_class"], "\"read-only\""),
        (&["authority", "enforcement_authority"], "\"lead\""),
        (&["authority", "applied_by"], "\"runner\""),
        (&["authority", "role"], "\"apply\""),
        (&["authority", "applies_patch"], "true"),
        (&["authority", "writes_worktree"], "true"),
        (&["authority", "grants_permissions"], "true"),
        (&["limits", "max_patch_bytes"], "0"),
        (&["limits", "max_files"], "-1"),
        (&["limits", "max_files"], "\"50\""),
        (&["operations", "add"], "\"denied\""),
        (&["operations", "modify"], "\"denied\""),
        (&["operations", "delete"], "\"allowed\""),
        (&["operations", "rename"], "\"allowed\""),
        (&["operations", "copy"], "\"allowed\""),
        (&["file_modes", "mode_change_denied"], "false"),
        (&["file_modes", "new_file_allowed"], "[\"100644\", \"100755\"]"),
        (&["file_modes", "new_file_allowed"], "[]"),
        (&["file_modes", "existing_file_allowed"], "[\"100644\", \"120000\"]"),
        (&["file_modes", "existing_file_allowed"], "[\"160000\"]"),
        (&["patch_file", "must_be_regular_file"], "false"),
        (&["patch_file", "must_not_be_symlink"], "false"),
        (&["workdir", "must_be_git_worktree"], "false"),
        (&["workdir", "must_not_be_symlink"], "false"),
        (&["paths", "allowed_pattern"], "\"\""),
        (&["paths", "denied_patterns"], "[]"),
        (&["strip", "candidates"], "[0, 1, 2]"),
        (&["strip", "require_single_applicable_level"], "false"),
        (&["git_apply", "never_passed"], "[\"--index\", \"--cached\"]"),
        (&["receipt", "never_contains"], "[]"),
    ] {
        policy(path, value);
    }
    for name in [
        "max_patch_bytes",
        "max_patch_lines",
        "max_files",
        "max_path_bytes",
        "max_hunks_per_file",
        "max_hunks_total",
        "max_added_lines_per_file",
        "max_added_lines_total",
    ] {
        embedded_files().remove(POLICY_FILE, &["limits", name]).breaks("patch-policy", &["P-03"]);
    }
    for class in [
        "git-control",
        "git-metadata",
        "dotenv",
        "private-key",
        "certificate",
        "credential-file",
        "provider-auth",
    ] {
        let edited = embedded_files().edit(POLICY_FILE, &["paths", "denied_patterns"], |classes| {
            let gates::json::Json::Array(classes) = classes else { panic!("a list") };
            classes.retain(|own| own.get("id") != Some(&class.into()));
        });
        edited.breaks("patch-policy", &["P-03"]);
    }
    let twice = embedded_files().edit(POLICY_FILE, &["paths", "denied_patterns"], |classes| {
        let gates::json::Json::Array(classes) = classes else { panic!("a list") };
        classes.push(classes[0].clone());
    });
    twice.breaks("patch-policy", &["P-03"]);
    // Open to other keys.
    assert_eq!(embedded_files().set(POLICY_FILE, &["unheard_of"], "1").ask(&["check"]).code, 0);
}

#[test]
fn p04_every_governed_lane_has_a_block() {
    let path = ["families", "gemini-3.7-flash", "lanes", "builder", "patch_policy"];
    embedded_files().remove(CONTRACT_FILE, &path).breaks("patch-policy", &["P-04"]);
}

#[test]
fn e01_to_e09_envelopes() {
    let envelope = |kind: &str, key: &str, value: &str| set(&["envelopes", kind, key], value);
    let breaks = |files: Files, rules: &[&str]| files.breaks("envelopes", rules);
    breaks(set(&["usage_accounting", "participant_fields", "provider"], "\"text\""), &["E-01"]);
    breaks(envelope("result", "token_counter_value_type", "\"counter\""), &["E-01"]);
    breaks(envelope("diagnostic", "common_optional", "[\"phase\"]"), &["E-02", "E-03", "E-04", "E-05"]);
    breaks(set(&["envelopes", "status", "field_types", "extra"], "\"string\""), &["E-03"]);
    breaks(envelope("result", "closed_value_fields", "[\"mood\"]"), &["E-04"]);
    breaks(envelope("result", "closed_value_fields", "[\"model\"]"), &["E-04"]);
    breaks(envelope("status", "nonnegative_fields", "[\"mood\"]"), &["E-05"]);
    breaks(envelope("result", "ordered_epoch_pair", "[\"started_at_epoch\", \"mood\"]"), &["E-06"]);
    breaks(envelope("result", "nonnegative_fields", "[\"started_at_epoch\"]"), &["E-06"]);
    breaks(envelope("result", "token_counter_field", "\"mood\""), &["E-07"]);
    breaks(envelope("status", "lane_status_fields", "{\"mood\": [\"qualified\"]}"), &["E-08"]);
    breaks(envelope("status", "lane_status_fields", "{\"qualified_lanes\": [\"good\"]}"), &["E-08"]);
    breaks(set(&["envelopes", "status", "field_types", "model"], "\"text\""), &["E-09"]);
    breaks(set(&["envelopes", "status", "field_types", "model"], "\"null\""), &["E-09"]);
}

#[track_caller]
fn families(files: Files, rules: &[&str]) {
    files.breaks("families", rules);
}

#[test]
fn f1_families() {
    families(family("grok-4.6", &["exit_codes_emitted"], "[64, 69, 70, 75]"), &["F-1a"]);
    families(family("grok-4.6", &["exit_codes_emitted"], "[64, 69, 70, 75, 78, 99]"), &["F-1a"]);
    families(family("grok-4.6", &["transport"], "\"pigeon\""), &["F-1b"]);
    families(family("grok-4.6", &["identity", "requested_model"], "\"grok\""), &["F-1c"]);
    families(family("kimi-k3", &["identity", "usage_participation"], "\"some\""), &["F-1d"]);
    families(family("kimi-k3", &["identity", "effective_content_identity"], "\"some\""), &["F-1d"]);
    families(family("grok-4.6", &["identity", "usage_participant_provider"], "\"xai\""), &["F-1e"]);
    families(family("glm-5.3-flash", &["identity", "usage_participant_canonical_model"], "false"), &["F-1e"]);
    families(family("kimi-k3", &["identity", "usage_participant_model"], "\"kimi\""), &["F-1e", "F-1h"]);
    families(
        family("kimi-k3", &["identity", "effective_content_identity"], "\"must-equal-requested\""),
        &["F-1f"],
    );
    families(family("grok-4.6", &["identity", "effective_content_identity"], "\"not-reported\""), &["F-1f"]);
    families(family("grok-4.6", &["identity", "identity_attested_field"], "\"sworn\""), &["F-1g"]);
    let without = |field: &str| {
        embedded_files().edit(
            CONTRACT_FILE,
            &["families", "grok-4.6", "envelope_fields", "result"],
            |fields| {
                let gates::json::Json::Array(fields) = fields else { panic!("a list") };
                fields.retain(|own| own.as_str() != Some(field));
            },
        )
    };
    families(without("usage_participants"), &["F-1h"]);
    families(without("exact_model_identity_attested"), &["F-1g"]);
    families(without("tokens"), &["F-1j"]);
    families(set(&["known_divergences"], "[]"), &["F-1i"]);
    families(
        family("qwen3.8-max", &["envelope_fields", "diagnostic"], "[\"phase\", \"reason\", \"mood\"]"),
        &["F-1j"],
    );
    // A kind that is not listed is never written.
    let silent =
        embedded_files().remove(CONTRACT_FILE, &["families", "qwen3.8-max", "envelope_fields", "diagnostic"]);
    assert_eq!(silent.ask(&["check"]).code, 0);
}

#[test]
fn f1_words_and_dispatch_of_lanes() {
    let grok = |rest: &[&str], value: &str| lane("grok-4.6", "builder", rest, value);
    let renamed = embedded_files().edit(CONTRACT_FILE, &["families", "grok-4.6", "lanes"], |lanes| {
        let lanes = support::members(lanes);
        let row = lanes.shift_remove("builder").expect("there");
        lanes.insert("carpenter".to_owned(), row);
    });
    families(renamed, &["F-1k"]);
    families(grok(&["effort"], "\"max\""), &["F-1k"]);
    families(grok(&["permission_class"], "\"root\""), &["F-1k", "F-1n"]);
    families(grok(&["worktree_access"], "\"write\""), &["F-1k", "F-1n"]);
    families(grok(&["tool_policy", "write_scope"], "\"home\""), &["F-1k", "F-1n"]);
    families(grok(&["tool_policy", "mode"], "\"trust\""), &["F-1k"]);
    families(grok(&["status"], "\"trusted\""), &["F-1k", "F-1l", "F-1m"]);
    families(grok(&["selection"], "\"free\""), &["F-1k"]);
    families(grok(&["dispatchable"], "false"), &["F-1l", "F-1m"]);
    families(grok(&["selection"], "\"blocked\""), &["F-1l"]);
    families(grok(&["status"], "\"candidate\""), &["F-1l", "F-1m"]);
    families(grok(&["requires_allow_provisional"], "false"), &["F-1m"]);
    families(grok(&["requires_explicit_decision"], "false"), &["F-1m"]);
    families(grok(&["evaluation_only"], "true"), &["F-1m"]);
}

#[test]
fn f1_access_and_tools_of_lanes() {
    families(lane("grok-4.6", "builder", &["worktree_access"], "\"read\""), &["F-1n"]);
    families(lane("grok-4.6", "builder", &["tool_policy", "write_scope"], "\"none\""), &["F-1n"]);
    families(lane("kimi-k3", "clerk", &["worktree_access"], "\"read-write\""), &["F-1n"]);
    families(lane("kimi-k3", "clerk", &["tool_policy", "write_scope"], "\"workdir\""), &["F-1n"]);
    let prompt = |rest: &[&str], value: &str| lane("qwen3.8-max", "clerk", rest, value);
    families(prompt(&["worktree_access"], "\"read\""), &["F-1o"]);
    families(prompt(&["tool_policy", "allowed_tools"], "[\"Read\"]"), &["F-1o"]);
    families(prompt(&["tool_policy", "allowed_tools"], "null"), &["F-1o", "F-1q"]);
    families(prompt(&["tool_policy", "network"], "\"permission-mode-gated\""), &["F-1o", "F-1p"]);
    families(lane("kimi-k3", "clerk", &["tool_policy", "network"], "\"maybe\""), &["F-1p"]);
    families(lane("kimi-k3", "senior", &["tool_policy", "mcp"], "\"permission-mode-gated\""), &["F-1p"]);
    families(lane("kimi-k3", "clerk", &["tool_policy", "allowed_tools"], "null"), &["F-1q"]);
    families(lane("glm-5.3-flash", "clerk", &["tool_policy", "permission_mode"], "null"), &["F-1p", "F-1q"]);
}

#[test]
fn f1_blocks_of_lanes() {
    for (key, value) in [
        ("policy_file", "\"other.json\""),
        ("policy_version", "\"1.0.1\""),
        ("verifier", "\"delegation-other\""),
        ("verification_required", "false"),
        ("applied_by", "\"runner\""),
    ] {
        families(lane("qwen3.8-max", "builder", &["patch_policy", key], value), &["F-1r"]);
    }
    let short = ["families", "qwen3.8-max", "lanes", "builder", "patch_policy", "verifier"];
    families(embedded_files().remove(CONTRACT_FILE, &short), &["F-1r"]);
    families(lane("qwen3.8-max", "builder", &["patch_policy"], "null"), &["F-1r"]);
    families(lane("qwen3.8-max", "clerk", &["patch_policy"], "null"), &["F-1r"]);
    families(lane("kimi-k3", "clerk", &["patch_policy"], "{}"), &["F-1r"]);
}

#[test]
fn f2_some_lanes_are_never_dispatched() {
    let open = |family: &str, name: &str| {
        lane(family, name, &["selection"], "\"explicit-only\"")
            .set(CONTRACT_FILE, &["families", family, "lanes", name, "status"], "\"qualified\"")
            .set(CONTRACT_FILE, &["families", family, "lanes", name, "dispatchable"], "true")
            .set(CONTRACT_FILE, &["families", family, "lanes", name, "requires_explicit_decision"], "true")
            .set(CONTRACT_FILE, &["families", family, "lanes", name, "evaluation_only"], "false")
    };
    for name in ["judgement", "reviewer", "policy-annotation"] {
        families(open("kimi-k3", name), &["F-2"]);
    }
}

#[test]
fn f3_divergences_name_what_is_there() {
    let good = embedded_files().json(CONTRACT_FILE);
    let good = good.get("known_divergences").expect("there").pretty();
    let with = |extra: &str| set(&["known_divergences"], &good.replacen('[', &format!("[{extra},"), 1));
    families(with("{\"family\": \"x\", \"envelope\": \"result\", \"detail\": \"x\"}"), &["F-3"]);
    families(with("{\"family\": \"kimi-k3\", \"envelope\": \"receipt\", \"detail\": \"x\"}"), &["F-3"]);
}
