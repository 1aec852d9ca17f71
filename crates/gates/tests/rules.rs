//! One broken rule at a time (router.md 1.4).

mod support;

use gates::embedded::{CENTRAL_GATE_FILE, EVIDENCE_FILE};
use gates::family::FAMILIES;
use gates::json::Json;
use support::{Files, embedded_files, members};

const HASH: &str = "1111111111111111111111111111111111111111111111111111111111111111";

fn central(path: &[&str], value: &str) -> Files {
    embedded_files().set(CENTRAL_GATE_FILE, path, value)
}

fn row(profile: &str, lane: &str, key: &str, value: &str) -> Files {
    central(&["profiles", profile, "lanes", lane, key], value)
}

#[test]
fn r01_shape_and_version() {
    central(&["schema_version"], "2").breaks("gates", &["R-01"]);
    central(&["schema_version"], "\"1\"").breaks("gates", &["R-01"]);
    central(&["profiles"], "{}").breaks("gates", &["R-01", "R-04", "R-10", "R-11"]);
    let mut files = embedded_files();
    files.put(EVIDENCE_FILE, b"{\"schema_version\": 2, \"evidence\": []}".to_vec());
    files.breaks("gates", &["R-01"]);
    let edited = embedded_files()
        .edit(CENTRAL_GATE_FILE, &[], |gate| drop(members(gate).shift_remove("compound_lanes")));
    edited.breaks("gates", &["R-01"]);
}

#[test]
fn r02_words_and_their_pairs() {
    row("luna-clerk", "clerk", "status", "\"disabled\"").breaks("gates", &["R-02"]);
    row("luna-clerk", "clerk", "selection", "\"blocked\"").breaks("gates", &["R-02"]);
    row("luna-clerk", "clerk", "status", "\"trusted\"").breaks("gates", &["R-02"]);
    row("luna-clerk", "clerk", "selection", "5").breaks("gates", &["R-02"]);
    central(&["profiles", "luna-clerk", "model"], "\"\"").breaks("gates", &["R-03", "R-02", "R-06"]);
    central(&["profiles", "luna-clerk", "effort"], "null").breaks("gates", &["R-02"]);
    let all = "[\"disabled\", \"candidate\", \"provisional\", \"qualified\"]";
    central(&["status_values"], all).breaks("gates", &["R-02"]);
}

#[test]
fn r03_every_model_has_a_family() {
    let edited = embedded_files().edit(CENTRAL_GATE_FILE, &["model_families"], |families| {
        members(families).shift_remove("kimi-k3");
    });
    edited.breaks("gates", &["R-03"]);
    central(&["model_families", "kimi-k3"], "\"\"").breaks("gates", &["R-03"]);
    central(&["model_families", "kimi-k3"], "[]").breaks("gates", &["R-03"]);
}

#[test]
fn r04_reviewers() {
    let list = &["review_policy", "eligible_reviewer_profiles"];
    central(list, "[\"sonnet-reviewer\", \"opus-reviewer\", \"terra-reviewer\"]").breaks("gates", &["R-04"]);
    central(list, "[]").breaks("gates", &["R-04"]);
    let all = "\"sonnet-reviewer\", \"opus-reviewer\", \"terra-reviewer\", \"astra-reviewer\"";
    central(list, &format!("[{all}, \"nobody\"]")).breaks("gates", &["R-04"]);
    central(list, &format!("[{all}, \"opus-reviewer\"]")).breaks("gates", &["R-04"]);
    central(&["review_policy", "review_lanes"], "[\"security\", \"security\"]").breaks("gates", &["R-04"]);
    central(&["review_policy", "require_cross_family"], "false").breaks("gates", &["R-04"]);
    central(&["review_policy", "availability_must_be_verified"], "false").breaks("gates", &["R-04"]);
    row("opus-reviewer", "security", "fallback", "\"terra-reviewer\"").breaks("gates", &["R-04"]);
}

#[test]
fn r05_a_fallback_names_a_profile() {
    row("luna-clerk", "clerk", "fallback", "\"nobody\"").breaks("gates", &["R-05"]);
    row("luna-clerk", "clerk", "fallback", "7").breaks("gates", &["R-05"]);
    let good = row("luna-clerk", "clerk", "fallback", "\"sonnet-clerk\"");
    let answer = good.ask(&["lane", "clerk", "--json"]);
    assert_eq!(answer.code, 0);
    assert!(!answer.stdout.contains("\"fallback\""));
}

#[test]
fn r06_evidence_is_known_distinct_and_of_the_variant() {
    row("luna-clerk", "clerk", "context_evidence_ids", "[\"unheard-of\"]").breaks("gates", &["R-06"]);
    let known = "\"aa-claude-opus-5-max\"";
    row("luna-clerk", "clerk", "exact_evidence_ids", &format!("[{known}]")).breaks("gates", &["R-06"]);
    row("luna-clerk", "clerk", "context_evidence_ids", &format!("[{known}, {known}]"))
        .breaks("gates", &["R-06"]);
    row("luna-clerk", "clerk", "context_evidence_ids", "[\"aa-codex-gpt-5.6-luna-max\"]")
        .breaks("gates", &["R-06"]);
    row("luna-clerk", "clerk", "context_evidence_ids", "null").breaks("gates", &["R-06"]);
}

#[test]
fn r06_exact_evidence_carries_what_the_lane_needs() {
    let with_metrics = |metrics: &str| {
        let demand = "{\"clerk\": {\"required_metrics\": [\"coding.swe_atlas_qna_pass_pct\"]},
            \"judgement\": {\"required_metrics\": []}}";
        embedded_files().edit(EVIDENCE_FILE, &[], |store| {
            let parse = |text: &str| gates::json::parse(text.as_bytes()).expect("JSON");
            members(store).insert("lane_evidence".to_owned(), parse(demand));
            let Some(Json::Array(rows)) = members(store).get_mut("evidence") else { panic!("rows") };
            for row in rows.iter_mut().filter(|row| row.get("model").is_some()) {
                members(row).insert("metrics".to_owned(), parse(metrics));
            }
        })
    };
    with_metrics("{}").breaks("gates", &["R-06"]);
    with_metrics("{\"launch\": {\"swe_atlas_qna_pass_pct\": 99}}").breaks("gates", &["R-06"]);
    with_metrics("{\"coding\": {\"swe_atlas_qna_pass_pct\": null}}").breaks("gates", &["R-06"]);
    let good = with_metrics("{\"coding\": {\"swe_atlas_qna_pass_pct\": 33}}");
    assert_eq!(good.ask(&["check"]).code, 0);
}

#[test]
fn r07_a_substitution_is_never_said_to_be_exact() {
    let fallback = ["profiles", "opus-reviewer", "lanes", "security", "provider_fallback"];
    for (key, value) in [
        ("possible", "false"),
        ("exact_variant_guaranteed", "true"),
        ("target_model", "\"\""),
        ("trigger", "\"\""),
        ("source_evidence_id", "\"unheard-of\""),
        ("possible", "1"),
    ] {
        central(&[&fallback[..], &[key]].concat(), value).breaks("gates", &["R-07"]);
    }
}

#[test]
fn r08_manifests_only_where_they_may_be() {
    let set =
        |profile: &str, lane: &str, value: &str| row(profile, lane, "evaluation_manifest_sha256", value);
    let one = format!("[\"{HASH}\"]");
    set("luna-clerk", "clerk", &one).breaks("gates", &["R-08"]);
    set("opus-policy-annotator", "policy-annotation", &format!("[\"{HASH}\", \"{HASH}\"]"))
        .breaks("gates", &["R-08"]);
    set("opus-policy-annotator", "policy-annotation", "[\"abc\"]").breaks("gates", &["R-08"]);
    set("glm53-flash-max-clerk", "clerk", &one).breaks("gates", &["R-08", "R-11"]);
    // One side only.
    set("kimi-k3", "policy-annotation", &one).breaks("gates", &["R-11"]);
    set("glm53-flash-max-builder", "builder", &one).breaks("gates", &["R-11"]);
    // Gemini's comparison leaves manifests out, but the lane itself takes none.
    set("gemini-3.7-flash-scout", "scout", &one).breaks("gates", &["R-08"]);
    assert_eq!(set("opus-policy-annotator", "policy-annotation", &one).ask(&["check"]).code, 0);
    let promoted = set("opus-policy-annotator", "policy-annotation", &one).set(
        CENTRAL_GATE_FILE,
        &["profiles", "opus-policy-annotator", "lanes", "policy-annotation", "status"],
        "\"disabled\"",
    );
    promoted.breaks("gates", &["R-08"]);
}

#[test]
fn r08_both_gates_may_allow_a_manifest() {
    let hashes = gates::json::parse(format!("[\"{HASH}\"]").as_bytes()).expect("JSON");
    let path = ["lanes", "policy-annotation", "backends", "native"];
    let files = row("kimi-k3", "policy-annotation", "evaluation_manifest_sha256", &format!("[\"{HASH}\"]"))
        .edit("kimi-k3-routing.json", &path, |row| {
            members(row).insert("evaluation_manifest_sha256".to_owned(), hashes);
        });
    assert_eq!(files.ask(&["check"]).code, 0);
}

#[test]
fn r09_glm_is_the_pinned_model_at_max() {
    central(&["profiles", "glm53-flash-max-clerk", "effort"], "\"high\"").breaks("gates", &["R-09", "R-11"]);
    central(&["profiles", "glm53-flash-max-clerk", "model"], "\"kimi-k3\"")
        .breaks("gates", &["R-09", "R-11"]);
}

#[test]
fn r10_compound_lanes() {
    let set = |key: &str, value: &str| central(&["compound_lanes", "super-judgement", key], value);
    for (key, value) in [
        ("status", "\"qualified\""),
        ("selection", "\"blocked\""),
        ("automatic_dispatch", "true"),
        ("automatic_merge", "true"),
        ("final_authority", "\"astra-judge\""),
        ("members", "[\"fable-judge\", \"nobody\"]"),
        ("members", "[\"kimi-k3\"]"),
        ("members", "[]"),
        ("members", "{}"),
    ] {
        set(key, value).breaks("gates", &["R-10"]);
    }
}

#[test]
fn r11_each_executable_gate_says_the_same() {
    for family in FAMILIES {
        let gate = embedded_files().json(family.gate_file);
        let lanes = gate.get("lanes").and_then(Json::as_object).expect("lanes");
        let lane = lanes.keys().next().expect("a lane").clone();
        let row = ["lanes", &lane, "backends", family.backend];
        let edit = |path: &[&str], key: &str, value: &str| {
            let value = gates::json::parse(value.as_bytes()).expect("JSON");
            embedded_files().edit(family.gate_file, path, |place| {
                members(place).insert(key.to_owned(), value);
            })
        };
        let model = edit(&[], "model", "\"another\"");
        model.breaks("gates", if family == gates::family::GLM { &["R-09", "R-11"] } else { &["R-11"] });
        edit(&row, "status", "\"manual-qualified\"").breaks("gates", &["R-11"]);
        edit(&row, "status", "\"unheard-of\"").breaks("gates", &["R-11"]);
        edit(&row, "effort", "\"low\"").breaks("gates", &["R-11"]);
        edit(
            &row,
            "qualified",
            if lane == "clerk" && family == gates::family::GLM { "false" } else { "true" },
        )
        .breaks("gates", &["R-11"]);
        edit(&[], "provisional_lanes", "[\"senior\"]").breaks("gates", &["R-11"]);
        edit(&[], "qualified_lanes", "[\"senior\"]").breaks("gates", &["R-11"]);
        edit(&["lanes"], "security", "{\"backends\": {}}").breaks("gates", &["R-11"]);
        edit(&[], "runtime_cli_compatibility", "\"assumed\"").breaks("gates", &["R-11"]);
        let manifests = edit(&row, "evaluation_manifest_sha256", &format!("[\"{HASH}\"]"));
        if family.compares_manifests {
            manifests.breaks("gates", &["R-11"]);
        } else {
            assert_eq!(manifests.ask(&["check"]).code, 0);
        }
        let without = embedded_files().edit(family.gate_file, &["lanes"], |lanes| {
            members(lanes).shift_remove(&lane);
        });
        without.breaks("gates", &["R-11"]);
    }
}

#[test]
fn r11_the_other_direction() {
    row("kimi-k3", "builder", "status", "\"qualified\"").breaks("gates", &["R-11"]);
    central(&["profiles", "kimi-k3", "effort"], "\"high\"").breaks("gates", &["R-06", "R-11"]);
    central(&["profiles", "grok-build", "runtime_cli_compatibility"], "\"assumed\"")
        .breaks("gates", &["R-11"]);
    let renamed = embedded_files().edit(CENTRAL_GATE_FILE, &["profiles"], |profiles| {
        let profile = members(profiles).shift_remove("glm53-flash-max-scout").expect("there");
        members(profiles).insert("glm-scout".to_owned(), profile);
    });
    renamed.breaks("gates", &["R-11"]);
    let twice = embedded_files().edit(CENTRAL_GATE_FILE, &["profiles"], |profiles| {
        let profile = members(profiles)["grok-build"].clone();
        members(profiles).insert("grok-again".to_owned(), profile);
    });
    twice.breaks("gates", &["R-11"]);
}

#[test]
fn r12_nothing_is_dispatched_without_the_user() {
    for (key, value) in [
        ("mode", "\"automatic\""),
        ("scope", "\"standing\""),
        ("assistant_may_list_choices", "false"),
        ("assistant_may_select_profile_only_when_user_authorizes_selection", "false"),
        ("authorization_carries_to_retries", "true"),
        ("authorization_carries_to_review", "true"),
        ("automatic_dispatch", "true"),
        ("automatic_dispatch", "\"no\""),
    ] {
        central(&["activation_policy", key], value).breaks("gates", &["R-12"]);
    }
}
