//! The command line and its answers (executor-contract.md 1, 2, 9).

mod support;

use std::path::Path;

use contract::embedded::CONTRACT_FILE;
use gates::embedded::CENTRAL_GATE_FILE;
use gates::json::Json;
use support::{Answer, POLICY_FILE, PROGRAM, ask, embedded_files, kit_config};

const CONTRACT_VARIABLE: &str = "DELEGATION_EXECUTOR_CONTRACT_FILE";
const CENTRAL_VARIABLE: &str = "DELEGATION_ROUTING_GATES_FILE";
const GATES_VARIABLE: &str = "DELEGATION_EXECUTOR_GATE_DIR";
const POLICY_VARIABLE: &str = "DELEGATION_EXTERNAL_PATCH_POLICY_FILE";

fn embedded(arguments: &[&str]) -> Answer {
    ask(arguments, &[], None)
}

fn keys(object: &Json) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[track_caller]
fn holds(summary: &Json, key: &str, value: &str) {
    assert_eq!(summary.get(key), Some(&support::artifacts::json(value)), "{key}");
}

#[test]
fn the_embedded_files_agree() {
    let answer = embedded(&["check", "--json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let summary = answer.json();
    assert_eq!(
        keys(&summary),
        [
            "valid",
            "read_only",
            "enforcement_authority",
            "grants_permissions",
            "contract_file",
            "contract_version",
            "schema_version",
            "central_routing_gate",
            "families",
            "runners",
            "lane_declarations",
            "dispatchable_lanes",
            "permission_classes",
            "exit_codes",
            "patch_policy_file",
            "patch_policy_version",
            "patch_verifier",
            "text_patch_lanes",
            "patch_verification_required",
            "patch_applied_by"
        ]
    );
    holds(&summary, "contract_file", "\"embedded:external-executor-contract.json\"");
    holds(&summary, "families", "6");
    holds(&summary, "lane_declarations", "35");
    holds(&summary, "dispatchable_lanes", "11");
    holds(&summary, "text_patch_lanes", "4");
    holds(&summary, "exit_codes", "[64, 69, 70, 75, 78, 130]");
    holds(&summary, "enforcement_authority", "\"provider-runner\"");
    holds(&summary, "grants_permissions", "false");
    let text = embedded(&["check"]).stdout;
    assert_eq!(text.lines().count(), 4);
    assert!(text.starts_with("executor contract 1.0.0: 6 families, 35 lanes, 11 dispatchable\n"), "{text}");
}

#[test]
fn the_predecessors_files_agree() {
    let Some(kit) = kit_config("the_predecessors_files_agree") else { return };
    let (contract, central, policy) =
        (kit.join(CONTRACT_FILE), kit.join(CENTRAL_GATE_FILE), kit.join(POLICY_FILE));
    let by_name: [(&str, &Path); 4] = [
        (CONTRACT_VARIABLE, &contract),
        (CENTRAL_VARIABLE, &central),
        (GATES_VARIABLE, &kit),
        (POLICY_VARIABLE, &policy),
    ];
    // The policy is looked for beside the gates.
    for variables in [&by_name[..], &by_name[..3]] {
        let answer = ask(&["check", "--json"], variables, None);
        assert_eq!(answer.code, 0, "{answer:?}");
        let summary = answer.json();
        holds(&summary, "families", "6");
        holds(&summary, "lane_declarations", "35");
        holds(&summary, "dispatchable_lanes", "11");
        holds(&summary, "text_patch_lanes", "4");
        assert_eq!(summary.get("patch_policy_file"), Some(&Json::from(policy.to_str().expect("UTF-8"))));
    }
    // The lanes and families are those of the embedded contract, in the same order.
    for arguments in [&["table", "--json"][..], &["families", "--json"], &["table"]] {
        assert_eq!(ask(arguments, &by_name, None), embedded(arguments));
    }
    let family = ["family", "kimi-k3"];
    assert_eq!(ask(&family, &by_name, None), embedded(&family));
}

/// The policy that the contract refers to is the one that the verifier brings.
#[test]
fn the_embedded_policy_is_that_of_the_verifier() {
    let theirs = patch::LoadedPolicy::embedded().expect("a policy that the verifier can use");
    assert_eq!(support::artifacts::json(&theirs.json()), embedded_files().json(POLICY_FILE));
    let name =
        Path::new(&theirs.file).file_name().map(|name| name.to_string_lossy().replace("embedded:", ""));
    assert_eq!(name.as_deref(), Some(POLICY_FILE));
}

#[test]
fn the_files_come_before_the_command() {
    let directory = tempfile::tempdir().expect("a directory");
    let (missing, bad) = (directory.path().join("missing"), directory.path().join("bad"));
    let commands = [&["--help"][..], &[], &["unheard-of"], &["check"], &["family"]];
    for text in ["{", "", "null", "false", "{\"a\": 1, \"a\": 2}"] {
        std::fs::write(&bad, text).expect("written");
        for arguments in commands {
            for (variable, other) in
                [(CONTRACT_VARIABLE, CENTRAL_VARIABLE), (CENTRAL_VARIABLE, CONTRACT_VARIABLE)]
            {
                assert_eq!(ask(arguments, &[(variable, &missing)], None).code, 66, "{arguments:?}");
                assert_eq!(ask(arguments, &[(variable, directory.path())], None).code, 66, "{arguments:?}");
                assert_eq!(ask(arguments, &[(variable, &bad)], None).code, 65, "{text} {arguments:?}");
                // Both files must be readable before one is parsed.
                assert_eq!(ask(arguments, &[(variable, &bad), (other, &missing)], None).code, 66);
                assert_eq!(ask(&["--help"], &[(variable, Path::new(""))], None).code, 0);
            }
        }
    }
}

#[test]
fn the_command_line() {
    for arguments in
        [&["unheard-of"][..], &["family"], &["family", "unheard-of"], &["family", "--json"], &["--check"]]
    {
        let answer = embedded(arguments);
        assert_eq!(answer.code, 64, "{arguments:?}");
        assert_eq!(answer.stderr.lines().count(), 1);
    }
    for arguments in [&[][..], &["-h"], &["--help"], &["--json"]] {
        let answer = embedded(arguments);
        assert_eq!(answer.code, 0, "{arguments:?}");
        assert!(answer.stdout.starts_with("Usage: "));
    }
    // Extra arguments are ignored, and `--json` may stand anywhere.
    assert_eq!(embedded(&["check", "--verbose", "extra"]), embedded(&["check"]));
    assert_eq!(embedded(&["--json", "table"]), embedded(&["table", "--json"]));
    assert_eq!(embedded(&["family", "--json", "kimi-k3"]), embedded(&["family", "kimi-k3"]));
    // A broken relation: the name of a family is judged before, all else after.
    let broken = embedded_files().set(CONTRACT_FILE, &["known_divergences"], "[]");
    assert_eq!(broken.ask(&["family", "unheard-of"]).code, 64);
    for arguments in [&["family", "kimi-k3"][..], &["table"], &["validate", "--unheard-of"], &["check"]] {
        assert_eq!(broken.ask(arguments).code, 65, "{arguments:?}");
    }
    assert_eq!(broken.ask(&["--help"]).code, 0);
}

#[test]
fn a_failure_is_one_line_and_with_json_its_findings() {
    let broken = embedded_files()
        .set(CONTRACT_FILE, &["families", "grok-4.6", "transport"], "\"pigeon\"")
        .set(CONTRACT_FILE, &["known_divergences"], "[]");
    let plain = broken.ask(&["check"]);
    assert_eq!((plain.code, plain.stdout.as_str(), plain.stderr.lines().count()), (65, "", 1));
    let answer = broken.ask(&["check", "--json"]);
    assert_eq!(answer.stderr, plain.stderr);
    let report = answer.json();
    assert_eq!(keys(&report), ["valid", "stage", "findings"]);
    let findings = report.get("findings").and_then(Json::as_array).expect("findings");
    assert!(findings.iter().all(|finding| keys(finding) == ["id", "at", "detail"]));
    assert_eq!(findings[1].get("at"), Some(&"/families/grok-4.6/transport".into()));
    assert_eq!(
        answer.refusal(PROGRAM),
        ("families".to_owned(), ["F-1i", "F-1b", "F-1i"].map(str::to_owned).to_vec())
    );
}

#[test]
fn families_and_lanes() {
    let families = embedded(&["families", "--json"]).json();
    let families = families.as_array().expect("a list");
    let entry = [
        "family",
        "provider_family",
        "runner",
        "model",
        "harness",
        "backend",
        "transport",
        "efforts",
        "executable_gate",
        "lanes",
    ];
    assert!(families.iter().all(|family| keys(family) == entry));
    let names: Vec<_> = families.iter().filter_map(|family| family.get("family")?.as_str()).collect();
    assert_eq!(
        names,
        ["glm-5.3-flash", "kimi-k3", "grok-4.6", "qwen3.8-max", "deepseek-v4-pro", "gemini-3.7-flash"]
    );
    let line = "gemini-3.7-flash\tdelegation-gemini\tagy\tmedium/high\tbuilder,frontend-builder,judgement,reviewer,scout";
    assert_eq!(embedded(&["families"]).stdout.lines().last(), Some(line));

    let family = embedded(&["family", "grok-4.6"]).json();
    assert_eq!(keys(&family).last(), Some(&"family"));
    let declared = embedded_files().json(CONTRACT_FILE);
    let declared = declared.at(&["families", "grok-4.6"]).expect("declared");
    assert_eq!(keys(&family)[..13], keys(declared)[..]);

    let table = embedded(&["table", "--json"]).json();
    let rows = table.as_array().expect("a list");
    assert_eq!(rows.len(), 35);
    let columns = [
        "family",
        "provider_family",
        "runner",
        "model",
        "harness",
        "backend",
        "transport",
        "lane",
        "effort",
        "status",
        "selection",
        "dispatchable",
        "permission_class",
        "worktree_access",
        "patch_policy_version",
        "patch_verifier",
        "write_scope",
        "allowed_tools",
        "central_profile",
        "evaluation_only",
    ];
    assert!(rows.iter().all(|row| keys(row) == columns));
    let count =
        |key: &str, value: &str| rows.iter().filter(|row| row.get(key) == Some(&value.into())).count();
    assert_eq!(count("permission_class", "read-only"), 26);
    assert_eq!(count("permission_class", "text-patch"), 4);
    assert_eq!(count("permission_class", "worktree-edit"), 5);
    assert_eq!(count("selection", "blocked"), 24);
    assert_eq!(count("patch_verifier", "delegation-patch-verify"), 4);
    let text = embedded(&["table"]).stdout;
    assert_eq!(text.lines().filter(|line| line.starts_with("| ")).count(), 37);
    let row = "| kimi-k3 | delegation-kimi | clerk | kimi-k3 / kimi-code-cli / max | read-only | read | provisional \
        | explicit-only | yes |";
    assert!(text.lines().any(|line| line == row), "{text}");
}

#[test]
fn classes_and_exit_codes() {
    let classes = embedded(&["classes", "--json"]).json();
    assert_eq!(keys(&classes), ["read-only", "text-patch", "worktree-edit"]);
    let text = embedded(&["classes"]).stdout;
    assert!(text.lines().all(|line| line.split('\t').count() == 4), "{text}");
    assert!(text.contains("\nworktree-edit\tworktree_writes=true\treturns_patch=false\t"), "{text}");
    let codes = embedded(&["exit-codes", "--json"]).json();
    assert_eq!(keys(&codes), ["64", "69", "70", "75", "78", "130"]);
    let text = embedded(&["exit-codes"]).stdout;
    assert!(text.contains("\n75\ttemporary_failure\tuniversal=true\tretryable=true\t"), "{text}");
    assert!(text.lines().all(|line| line.split('\t').count() == 5), "{text}");
}

#[test]
fn nothing_is_changed() {
    let files = embedded_files();
    let installed = files.install();
    let inventory = || {
        let mut entries: Vec<_> = std::fs::read_dir(installed.path())
            .expect("a directory")
            .map(|entry| {
                let entry = entry.expect("an entry");
                let stamp = entry.metadata().and_then(|data| data.modified()).expect("a time");
                (entry.file_name(), stamp, std::fs::read(entry.path()).expect("read"))
            })
            .collect();
        entries.sort();
        entries
    };
    let before = inventory();
    for arguments in [&["check"][..], &["table"], &["family", "kimi-k3"], &["unheard-of"]] {
        ask(arguments, &[], Some(installed.path()));
    }
    assert_eq!(inventory(), before);
}
