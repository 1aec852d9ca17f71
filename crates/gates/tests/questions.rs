//! What the router answers (router.md 1.1, 1.2, 5).

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use gates::embedded::{CENTRAL_GATE_FILE, CENTRAL_GATE_VARIABLE};
use gates::family::FAMILIES;
use gates::json::Json;
use support::{Answer, ask, embedded_files, kit_config, members};

fn embedded(arguments: &[&str]) -> Answer {
    ask(arguments, &[], None)
}

fn profiles(answer: &Json, key: &str) -> Vec<String> {
    let rows = answer.get(key).and_then(Json::as_array).expect("rows");
    rows.iter().filter_map(|row| row.get("profile")?.as_str()).map(str::to_owned).collect()
}

#[track_caller]
fn resolve(arguments: &[&str]) -> Json {
    let answer = embedded(&[&["resolve"], arguments].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    answer.json()
}

#[test]
fn the_embedded_gates_are_valid() {
    let answer = embedded(&["check", "--json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let expected = "{\n  \"valid\": true,\n  \"file\": \"embedded:routing-gates.json\",\n  \"profiles\": 27,\n  \
        \"compound_lanes\": 1,\n  \"read_only\": true\n}\n";
    assert_eq!(answer.stdout, expected);
    assert_eq!(embedded(&["--json", "check"]).stdout, expected);
    assert_eq!(embedded(&["check"]).stdout, "the gates are valid: 27 profiles, 1 compound lanes\n");
}

#[test]
fn the_predecessors_gates_are_valid() {
    let Some(kit) = kit_config("the_predecessors_gates_are_valid") else { return };
    let files: Vec<_> = FAMILIES.iter().map(|family| (family.variable, kit.join(family.gate_file))).collect();
    let central = kit.join(CENTRAL_GATE_FILE);
    let mut variables: Vec<(&str, &Path)> =
        files.iter().map(|(name, path)| (*name, path.as_path())).collect();
    variables.push((CENTRAL_GATE_VARIABLE, &central));
    let answer = ask(&["check", "--json"], &variables, None);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.json().get("profiles"), Some(&27_u64.into()));
    // Its rows are those of the embedded gates: the same profiles, in the same order, equally trusted.
    for lane in ["builder", "security", "policy-annotation", "judgement"] {
        assert_eq!(ask(&["lane", lane], &variables, None), embedded(&["lane", lane]));
    }
}

#[test]
fn usage_is_judged_before_the_gates() {
    let mut broken = embedded_files();
    broken.put(CENTRAL_GATE_FILE, b"{".to_vec());
    for arguments in [
        &[][..],
        &["dispatch"],
        &["check", "extra"],
        &["lane"],
        &["profile"],
        &["lane", "builder", "extra"],
        &["resolve"],
        &["resolve", "--lane"],
        &["resolve", "builder"],
        &["resolve", "--lane", "security", "--producer-profile", "x", "--producer-family", "y"],
    ] {
        let answer = broken.ask(arguments);
        assert_eq!(answer.code, 64, "{arguments:?} {answer:?}");
        assert!(answer.stdout.is_empty());
        assert_eq!(answer.stderr.lines().count(), 1);
        assert!(answer.stderr.starts_with("delegation-route: "));
    }
    assert_eq!(broken.ask(&["--help"]).code, 0);
    for arguments in [&["check"][..], &["lane", "builder"], &["table"], &["lane", "unheard-of"]] {
        assert_eq!(broken.ask(arguments).code, 65);
    }
}

#[test]
fn what_the_gates_do_not_know() {
    for arguments in [
        &["lane", "unheard-of"][..],
        &["profile", "unheard-of"],
        &["resolve", "--lane", "unheard-of"],
        &["resolve", "--lane", "security"],
        &["resolve", "--lane", "security", "--producer-profile", "unheard-of"],
        &["resolve", "--lane", "security", "--producer-family", "unheard-of"],
        &["resolve", "--lane", "builder", "--producer-family", "openai"],
        &["resolve", "--lane", "super-judgement", "--producer-family", "openai"],
    ] {
        assert_eq!(embedded(arguments).code, 64, "{arguments:?}");
    }
}

#[test]
fn a_named_file_must_be_readable() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing.json");
    let mut variables = vec![CENTRAL_GATE_VARIABLE, "DELEGATION_EVIDENCE_FILE"];
    variables.extend(FAMILIES.iter().map(|family| family.variable));
    for variable in variables {
        assert_eq!(ask(&["check"], &[(variable, &missing)], None).code, 66, "{variable}");
        assert_eq!(ask(&["check"], &[(variable, directory.path())], None).code, 66, "{variable}");
        assert_eq!(ask(&["check"], &[(variable, Path::new(""))], None).code, 0, "{variable}");
    }
    // An installation without configuration: the embedded files stand in.
    assert_eq!(ask(&["check"], &[], Some(directory.path())).code, 0);
    let file = directory.path().join("config");
    std::fs::write(&file, "").expect("written");
    assert_eq!(ask(&["check"], &[], Some(&file)).code, 0);
    // An installed file that is there, but can not be read, is not passed over.
    std::fs::create_dir(directory.path().join(CENTRAL_GATE_FILE)).expect("made");
    assert_eq!(ask(&["check"], &[], Some(directory.path())).code, 66);
}

#[test]
fn a_security_review_of_openai_work() {
    let answer = resolve(&["--lane", "security", "--producer-profile", "terra-builder"]);
    assert_eq!(profiles(&answer, "choices"), ["astra-reviewer", "opus-reviewer"]);
    assert_eq!(profiles(&answer, "excluded_same_family"), ["terra-reviewer"]);
    let fallback =
        answer.get("choices").and_then(Json::as_array).and_then(|rows| rows[1].get("provider_fallback"));
    assert_eq!(fallback.and_then(|fallback| fallback.get("possible")), Some(&Json::Bool(true)));
    let policy = answer.get("review_policy").expect("a policy");
    assert_eq!(policy.get("producer_profile"), Some(&"terra-builder".into()));
    assert_eq!(policy.get("producer_family"), Some(&"openai".into()));
    assert_eq!(answer.get("requires_user_direction"), Some(&Json::Bool(true)));
    assert_eq!(answer.get("automatic_dispatch"), Some(&Json::Bool(false)));
    let keys: Vec<&str> = answer.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "lane",
            "choices",
            "selected",
            "selection_validated",
            "blocked",
            "excluded_same_family",
            "review_policy",
            "activation_policy",
            "requires_user_direction",
            "automatic_dispatch"
        ]
    );
}

#[test]
fn a_selection_is_validated_and_no_authorization() {
    let answer = resolve(&["--lane", "builder", "--selected-profile", "kimi-k3"]);
    assert_eq!(answer.at(&["selected", "profile"]), Some(&"kimi-k3".into()));
    assert_eq!(answer.get("selection_validated"), Some(&Json::Bool(true)));
    assert_eq!(answer.get("requires_user_direction"), Some(&Json::Bool(true)));
    assert_eq!(answer.get("review_policy"), Some(&Json::Null));
    for (lane, profile) in [
        ("builder", "gemini-3.7-flash-builder"),
        ("builder", "luna-clerk"),
        ("builder", "unheard-of"),
        ("judgement", "kimi-k3"),
        ("super-judgement", "fable-judge"),
    ] {
        let answer = embedded(&["resolve", "--lane", lane, "--selected-profile", profile]);
        assert_eq!(answer.code, 78, "{answer:?}");
    }
    let own = ["resolve", "--lane", "security", "--producer-family", "openai", "--selected-profile"];
    assert_eq!(embedded(&[&own[..], &["terra-reviewer"]].concat()).code, 78);
    assert_eq!(embedded(&[&own[..], &["opus-reviewer"]].concat()).code, 0);
}

#[test]
fn builders_and_judges() {
    let builders = resolve(&["--lane", "builder"]);
    assert_eq!(
        profiles(&builders, "choices"),
        [
            "terra-builder",
            "opus-builder",
            "glm53-flash-max-builder",
            "kimi-k3",
            "grok-build",
            "qwen3.8-max",
            "deepseek-v4-pro"
        ]
    );
    let judges = resolve(&["--lane", "judgement"]);
    assert_eq!(
        profiles(&judges, "choices").into_iter().collect::<BTreeSet<_>>(),
        BTreeSet::from(["astra-judge".to_owned(), "fable-judge".to_owned()])
    );
    assert_eq!(
        profiles(&judges, "blocked"),
        ["kimi-k3", "gemini-3.7-flash-judgement", "qwen3.8-max", "deepseek-v4-pro"]
    );
    let annotators = resolve(&["--lane", "policy-annotation"]);
    assert!(profiles(&annotators, "choices").is_empty());
    assert_eq!(profiles(&annotators, "blocked").len(), 7);
}

#[test]
fn a_compound_lane_is_never_more_than_an_offer() {
    let answer = resolve(&["--lane", "super-judgement"]);
    let keys: Vec<&str> = answer.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "status",
            "selection",
            "members",
            "protocol",
            "final_authority",
            "automatic_dispatch",
            "automatic_merge",
            "activation",
            "lane",
            "requires_explicit_choice",
            "requires_user_direction",
            "selection_validated",
            "selected",
            "activation_policy"
        ]
    );
    assert_eq!(answer.get("members"), Some(&Json::Array(vec!["fable-judge".into(), "astra-judge".into()])));
    assert_eq!(embedded(&["lane", "super-judgement"]).json().get("lane"), Some(&"super-judgement".into()));
}

#[test]
fn review_without_another_family_stops() {
    let only_openai = embedded_files()
        .set(CENTRAL_GATE_FILE, &["model_families", "gpt-6-astra"], "\"openai\"")
        .set(CENTRAL_GATE_FILE, &["model_families", "claude-opus-5"], "\"openai\"");
    let answer = only_openai.ask(&["resolve", "--lane", "security", "--producer-family", "openai"]);
    assert_eq!(answer.code, 78, "{answer:?}");
}

#[test]
fn profiles_and_tables() {
    let profile = embedded(&["profile", "grok-build"]).json();
    assert_eq!(profile.get("profile"), Some(&"grok-build".into()));
    assert_eq!(profile.get("runtime_cli_compatibility"), Some(&"capability-probed".into()));
    let table = embedded(&["table"]);
    assert_eq!(table.code, 0);
    let header = "| Profile | Family | Exact variant | Lane | Exact evidence | Context | Local n | Confidence | Status \
        | Selection | Fallback | Gap |";
    assert_eq!(table.stdout.lines().next(), Some(header));
    let security =
        table.stdout.lines().find(|line| line.contains("opus-reviewer") && line.contains("security"));
    assert!(security.expect("a row").contains("| claude-opus-4.8 (the vendor's classifier"));
    let clerk = table.stdout.lines().find(|line| line.contains("glm53-flash-max-clerk")).expect("a row");
    assert!(
        clerk.contains("| glm-5.3-flash / claude-zai / max | clerk | 0 | 1 | 6 | bounded-repeated |"),
        "{clerk}"
    );
    assert!(table.stdout.contains("is needed for: routine-review, material-review, security."));
    let json = embedded(&["table", "--json"]).json();
    let keys: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["profiles", "model_families", "review_policy", "compound_lanes", "activation_policy"]);
    let line = embedded(&["lane", "scout"]).stdout;
    assert!(line.starts_with("sonnet-scout\tprovisional\texplicit-only\tclaude-sonnet-5/claude-code/low\n"));
}

#[test]
fn controls_of_a_runner_change_no_route() {
    let mut stripped = embedded_files();
    for family in FAMILIES {
        let before = stripped.bytes(family.gate_file).len();
        stripped = stripped.edit(family.gate_file, &["lanes"], |lanes| {
            for lane in members(lanes).values_mut() {
                for row in members(support::place(lane, &["backends"])).values_mut() {
                    assert!(members(row).shift_remove("runtime_controls").is_some());
                }
            }
        });
        assert!(stripped.bytes(family.gate_file).len() < before);
    }
    let whole = embedded_files();
    let without_path = |mut answer: Answer| {
        answer.stdout = answer.stdout.lines().filter(|line| !line.contains("\"file\"")).collect();
        answer
    };
    for arguments in [&["check", "--json"][..], &["table", "--json"], &["table"]] {
        assert_eq!(without_path(stripped.ask(arguments)), without_path(whole.ask(arguments)));
    }
    for lane in ["builder", "clerk", "judgement", "super-judgement", "policy-annotation"] {
        let question = ["resolve", "--lane", lane];
        assert_eq!(stripped.ask(&question), whole.ask(&question));
        assert_eq!(whole.ask(&question).code, 0);
    }
}

#[test]
fn an_answer_that_nobody_takes_is_a_failure() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let environment = gates::source::Environment { variable: &|_| None, installed: None };
    let code = gates::router::run(&["check".into()], &environment, &mut Closed, &mut Vec::new());
    assert_eq!(code, 74);
}
