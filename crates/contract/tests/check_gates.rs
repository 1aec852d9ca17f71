//! One broken relation at a time: the central gate and the executable gates (executor-contract.md 7.6, 7.7).

mod support;

use contract::embedded::CONTRACT_FILE;
use gates::embedded::CENTRAL_GATE_FILE;
use support::{Files, POLICY_FILE, ask, embedded_files};

fn family(name: &str, rest: &[&str], value: &str) -> Files {
    embedded_files().set(CONTRACT_FILE, &[&["families", name][..], rest].concat(), value)
}

#[test]
fn c1_c2_the_central_gate() {
    let central = |path: &[&str], value: &str| embedded_files().set(CENTRAL_GATE_FILE, path, value);
    let breaks = |files: Files, rules: &[&str]| files.breaks("central-gate", rules);
    let kimi = ["profiles", "kimi-k3"];
    for (key, value) in
        [("model", "\"kimi\""), ("harness", "\"other\""), ("effort", "\"low\""), ("effort", "7")]
    {
        breaks(central(&[&kimi[..], &[key]].concat(), value), &["C-1"]);
    }
    let builder = [&kimi[..], &["lanes", "builder"]].concat();
    breaks(central(&[&builder[..], &["status"]].concat(), "\"qualified\""), &["C-1"]);
    breaks(central(&[&builder[..], &["selection"]].concat(), "\"blocked\""), &["C-1"]);
    breaks(central(&["profiles"], "[]"), &["C-1"]);
    breaks(embedded_files().remove(CENTRAL_GATE_FILE, &kimi), &["C-1"]);
    breaks(embedded_files().remove(CENTRAL_GATE_FILE, &builder), &["C-1"]);
    let row = "{\"status\": \"disabled\", \"selection\": \"blocked\"}";
    let more = central(&[&kimi[..], &["lanes", "security"]].concat(), row);
    let answer = more.ask(&["check"]);
    assert!(answer.stderr.contains("[{\"profile\":\"kimi-k3\",\"lane\":\"security\"}]"), "{answer:?}");
    breaks(more, &["C-2"]);
    // Profiles of other hosts, and everything else, are not looked at.
    let other = central(&["profiles", "opus-builder"], "{\"model\": 5}")
        .set(CENTRAL_GATE_FILE, &["compound_lanes"], "7")
        .set(CENTRAL_GATE_FILE, &["review_policy"], "7");
    assert_eq!(other.ask(&["check"]).code, 0);
}

const KIMI_GATE: &str = "kimi-k3-routing.json";
const KIMI_ROW: [&str; 4] = ["lanes", "clerk", "backends", "native"];

fn kimi(rest: &[&str], value: &str) -> Files {
    embedded_files().set(KIMI_GATE, &[&KIMI_ROW[..], rest].concat(), value)
}

#[track_caller]
fn gate(files: &Files, ids: &[&str], words: &str) {
    files.breaks("executable-gates", ids);
    let answer = files.ask(&["check"]);
    assert!(answer.stderr.trim_end().ends_with(&format!(": {words}")), "{answer:?}");
    assert!(answer.stdout.is_empty());
}

#[test]
fn x0_the_gate_is_there() {
    let empty = tempfile::tempdir().expect("a directory");
    let variables = [
        ("DELEGATION_EXECUTOR_GATE_DIR", empty.path()),
        ("DELEGATION_EXTERNAL_PATCH_POLICY_FILE", &empty.path().join("policy.json")),
    ];
    std::fs::write(variables[1].1, embedded_files().bytes(POLICY_FILE)).expect("written");
    let answer = ask(&["check", "--json"], &variables, None);
    assert_eq!(answer.code, 66);
    assert!(answer.stderr.contains("deepseek-v4-pro-routing.json"), "the first in the alphabet: {answer:?}");
    for bytes in [&b"{"[..], b"null", b"[]", b"{}", b"{\"lanes\": []}"] {
        let mut files = embedded_files();
        files.put(KIMI_GATE, bytes.to_vec());
        assert_eq!(files.ask(&["check"]).code, 65);
    }
    let mut files = embedded_files();
    files.put(KIMI_GATE, b"{}".to_vec());
    files.breaks("executable-gates", &["X-0"]);
}

#[test]
fn x_model_and_lanes() {
    gate(&embedded_files().set(KIMI_GATE, &["model"], "\"kimi\""), &["X-model"], "[\"model\"]");
    let extra = embedded_files().set(KIMI_GATE, &["lanes", "security"], "{}");
    gate(&extra, &["X-lane-set"], "[\"lane-set\"]");
    let fewer = embedded_files().remove(KIMI_GATE, &["lanes", "clerk"]);
    gate(&fewer, &["X-lane-set", "X-missing-row"], "[\"lane-set\",\"clerk:missing-row\"]");
    let moved = embedded_files().set(KIMI_GATE, &["lanes", "clerk", "backends"], "{\"other\": {}}");
    gate(&moved, &["X-missing-row"], "[\"clerk:missing-row\"]");
}

#[test]
fn x_rows() {
    gate(&kimi(&["status"], "\"qualified\""), &["X-status"], "[\"clerk:status\"]");
    gate(&kimi(&["status"], "7"), &["X-status"], "[\"clerk:status\"]");
    gate(&kimi(&["selection"], "\"blocked\""), &["X-selection"], "[\"clerk:selection\"]");
    gate(&kimi(&["effort"], "\"low\""), &["X-effort"], "[\"clerk:effort\"]");
    // The first of several, and the lane's effort where the row has none.
    let several = kimi(&["effort"], "\"low\"").set(KIMI_GATE, &[&KIMI_ROW[..], &["status"]].concat(), "null");
    gate(&several, &["X-status"], "[\"clerk:status\"]");
    assert_eq!(kimi(&["effort"], "null").ask(&["check"]).code, 0);
    let missing = "[\"clerk:missing-runtime-controls\"]";
    gate(&kimi(&["runtime_controls"], "null"), &["X-missing-runtime-controls"], missing);
    gate(&kimi(&["runtime_controls"], "[]"), &["X-missing-runtime-controls"], missing);
}

#[test]
fn x_controls() {
    let controls = |rest: &[&str], value: &str| kimi(&[&["runtime_controls"], rest].concat(), value);
    let without = embedded_files()
        .remove(KIMI_GATE, &[&KIMI_ROW[..], &["runtime_controls", "tools"]].concat())
        .remove(KIMI_GATE, &[&KIMI_ROW[..], &["runtime_controls", "terminal"]].concat());
    gate(&without, &["X-missing-controls"], "[\"clerk:missing-controls:terminal,tools\"]");
    gate(&controls(&["mood"], "1"), &["X-unknown-controls"], "[\"clerk:unknown-controls:mood\"]");
    for (field, value) in [
        ("permission_mode", "null"),
        ("worktree_edits", "true"),
        ("worktree_access", "\"none\""),
        ("write_scope", "\"workdir\""),
        ("terminal", "\"permission-mode-gated\""),
        ("network", "null"),
        ("mcp", "false"),
        ("plugins", "\"\""),
        ("subagents", "\"allowed\""),
        ("tools", "null"),
        ("tools", "[\"Glob\", \"Read\", \"Grep\", \"TodoList\"]"),
    ] {
        gate(&controls(&[field], value), &["X-controls"], &format!("[\"clerk:{field}\"]"));
    }
    let two = controls(&["tools"], "null").set(
        KIMI_GATE,
        &[&KIMI_ROW[..], &["runtime_controls", "isolated_home"]].concat(),
        "false",
    );
    gate(&two, &["X-controls"], "[\"clerk:isolated_home,tools\"]");
    // Descriptive and not about isolation.
    assert_eq!(controls(&["sandbox"], "\"other\"").ask(&["check"]).code, 0);
}

#[test]
fn x_isolation() {
    let undeclared = kimi(&["runtime_controls", "isolated_config_dir"], "true");
    gate(&undeclared, &["X-controls"], "[\"clerk:isolated_config_dir\"]");
    // Silence claims nothing, but somebody must say what the family declares.
    let row = [&KIMI_ROW[..], &["runtime_controls", "isolated_home"]].concat();
    assert_eq!(embedded_files().remove(KIMI_GATE, &row).ask(&["check"]).code, 0);
    let claimed = family("qwen3.8-max", &["runtime_isolation", "isolated_home"], "true");
    gate(&claimed, &["X-isolation-claim-unevidenced"], "[\"isolation-claim-unevidenced:isolated_home\"]");
}
