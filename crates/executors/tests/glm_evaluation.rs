//! Evaluation of policy-annotation by the GLM runner, and the confinement of every evaluation (runners.md 1.8, 2.4).

mod glm_support;
mod support;

use std::fs;

use glm_support::{KEY, assistant, init, line, observe, policy, result, text_line};
use serde_json::{Value, json};
use support::checkout::demand_annotated;
use testkit::real::{Component, Stage as Real};

const PIN: &str = "glm-5.3-flash";

fn long(checkout: &mut support::checkout::Checkout) {
    checkout.change("max_output_chars", json!(65536));
}

#[test]
fn an_evaluation_leaves_a_receipt_and_a_commit_marker() {
    let (stage, words, sha256) = policy("[[GLM: say annotated]]", |_| {});
    demand_annotated(&stage, &words, &sha256);
}

#[test]
fn a_structured_answer_is_published_as_it_is() {
    let result =
        result(&json!({})).to_string().replacen('{', "{\"structured_output\":{\"b\":1,\"a\":[2]},", 1);
    let prompt = [line(&init(PIN)), line(&assistant(PIN)), text_line(&result)].concat();
    let (stage, words, _) = policy(&prompt, |_| {});
    assert_eq!(stage.run(&words).code, 0);
    assert_eq!(stage.answer().expect("an answer"), b"{\"b\":1,\"a\":[2]}\n");
}

#[test]
fn what_breaks_an_evaluation_publishes_nothing() {
    let good = [init(PIN), assistant(PIN), result(&json!({}))];
    let stream = |events: &[Value]| events.iter().map(line).collect::<Vec<_>>().join(" ");
    let too_long = format!("[[GLM: say {}]]", "x".repeat(101));
    for (prompt, code, phase, reason) in [
        (too_long, 70, "extract", "max_output_chars"),
        (stream(&[init(PIN), result(&json!({}))]), 70, "extract", "strict_identity_evaluation_void"),
        (
            stream(&[init(PIN), assistant("other"), assistant(PIN), result(&json!({}))]),
            70,
            "extract",
            "strict_identity_evaluation_void",
        ),
        (
            stream(&[init(PIN), assistant(PIN), result(&json!({"modelUsage": {}}))]),
            70,
            "extract",
            "strict_identity_evaluation_void",
        ),
        (stream(&[init("other"), assistant(PIN), result(&json!({}))]), 70, "extract", "model_mismatch"),
        (format!("{} [[GLM: exit 7]]", stream(&good)), 70, "dispatch", "process_exit"),
    ] {
        let (stage, words, _) = policy(&prompt, |_| {});
        stage.run(&words).refused(code, reason);
        assert_eq!(stage.outputs(), ["answer.txt.error.json"]);
        let diagnostic = stage.diagnostic();
        assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
    }
    let (stage, words, _) = policy("[[GLM: hang]]", |checkout| checkout.change("timeout_seconds", json!(1)));
    stage.run(&words).refused(75, "evaluation_timeout");
}

#[test]
fn a_manifest_of_another_run_is_refused() {
    for (key, value) in [
        ("timeout_seconds", json!(601)),
        ("schema", json!("delegation_glm_lane_evaluation_v1")),
        ("effort", json!("high")),
        ("max_cost_usd", json!(2)),
        ("prompt_sha256", json!("0".repeat(64))),
    ] {
        let (stage, words, _) = policy("x", |checkout| checkout.change(key, value));
        stage.run(&words).refused(78, key);
        assert_eq!(stage.outputs(), Vec::<String>::new());
    }
    let (stage, mut words, _) = policy("[[GLM: observe]]", long);
    words.extend(["--max-cost-usd".into(), "3".into()]);
    stage.run(&words).refused(78, "--max-cost-usd");
    let at = words.len() - 1;
    words[at] = "2".into();
    let seen = observe(&stage, words);
    assert_eq!(seen["arguments"].as_array().expect("a list").last(), Some(&json!("2.00")));
}

#[test]
fn outputs_and_debug_material_stay_out_of_the_workspace() {
    let (stage, words, _) = policy("x", |_| {});
    stage.write("work/debug/.keep", "");
    let mut inside = words.clone();
    let at = inside.iter().position(|word| word == "--output").expect("a flag") + 1;
    inside[at] = stage.path("work/answer.txt").into();
    stage.run(&inside).refused(64, "lies in the workspace");
    let mut debug = words;
    debug.extend(["--debug-dir".into(), stage.path("work/debug").into()]);
    stage.run(&debug).refused(64, "lies in the workspace");
}

#[test]
fn a_script_is_no_claude_code_for_an_evaluation() {
    let (mut stage, words, _) = policy("x", |_| {});
    let script = stage.write("script", "#!/bin/sh\necho --effort\n");
    assert!(
        std::process::Command::new("chmod").arg("755").arg(&script).status().expect("chmod runs").success()
    );
    stage.set("DELEGATION_GLM_CLAUDE_BIN", script);
    stage.run(&words).refused(69, "script");
}

#[test]
fn the_environment_is_made_from_nothing() {
    let (mut stage, words, _) = policy("[[GLM: observe]]", long);
    stage.set("USER", "tester");
    stage.set("MINE", "mine");
    stage.set("DELEGATION_PASS_ENVIRONMENT", "MINE");
    let seen = observe(&stage, words);
    let mut variables = seen["variables"].as_object().expect("variables").clone();
    for (name, place) in [
        ("CLAUDE_CONFIG_DIR", "configuration"),
        ("HOME", "home"),
        ("TMPDIR", "temporary"),
        ("BUN_TMPDIR", "temporary"),
        ("CLAUDE_TMPDIR", "temporary"),
        ("CLAUDE_CODE_TMPDIR", "temporary"),
    ] {
        let path = variables.remove(name).expect("a variable");
        let path = std::path::Path::new(path.as_str().expect("a path"));
        assert!(path.starts_with(stage.path("tmp")) && path.ends_with(place), "{name}: {path:?}");
    }
    variables.remove("DELEGATION_COOKIE");
    assert_eq!(
        Value::Object(variables),
        json!({
            "ANTHROPIC_AUTH_TOKEN": KEY,
            "ANTHROPIC_BASE_URL": "https://api.z.ai/api/anthropic",
            "ANTHROPIC_DEFAULT_OPUS_MODEL": PIN,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_SIMPLE": "1",
            "API_TIMEOUT_MS": "3000000",
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "CI": "1",
            "USER": "tester",
        })
    );
}

#[test]
fn home_source_and_programs_are_closed() {
    // The manifest binds the prompt, so the places in it are named from the workspace, in which Claude Code runs.
    let paths = [
        "../home/secret.txt",
        "../checkout/contract.md",
        "../host/secret.txt",
        "/usr/bin/env",
        "/proc/1/status",
    ];
    let mut prompt = String::from(
        "[[GLM: read source.txt]] [[GLM: write source.txt]] [[GLM: write new.txt]] [[GLM: read /etc/passwd]] \
         [[GLM: read /proc/self/status]] [[GLM: execute /usr/bin/true]]",
    );
    let closed = ["/usr/bin/id", "/usr/bin/env", "/bin/sh", "./program"];
    paths.iter().for_each(|path| prompt.push_str(&format!("[[GLM: read {path}]]")));
    closed.iter().for_each(|path| prompt.push_str(&format!("[[GLM: execute {path}]]")));
    // The last is where distributions put the programs of git, among the libraries.
    let loaded = ["/usr/bin/id", "./../host/program", "/usr/lib/git-core/git"];
    loaded.iter().for_each(|path| prompt.push_str(&format!("[[GLM: load {path}]]")));
    let memory = support::shared_memory();
    let written = [memory.path().to_str().expect("UTF-8"), "/dev/ptmx"];
    written.iter().for_each(|path| prompt.push_str(&format!("[[GLM: write {path}]]")));
    let (stage, words, _) = policy(&prompt, long);
    for name in ["home/secret.txt", "host/secret.txt", "work/source.txt"] {
        stage.write(name, "secret");
    }
    for name in ["work/program", "host/program"] {
        fs::copy("/usr/bin/true", stage.path(name)).expect("a copy");
    }
    let finished = stage.run(&words);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let seen: Value = serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON");
    let mut expected = json!({
        "read source.txt": "done",
        "write source.txt": "denied",
        "write new.txt": "denied",
        "read /etc/passwd": "done",
        "read /proc/self/status": "done",
        "execute /usr/bin/true": "done",
    });
    written.iter().for_each(|path| expected[format!("write {path}")] = json!("denied"));
    loaded.iter().for_each(|path| expected[format!("load {path}")] = json!("exit status: 127"));
    paths.iter().for_each(|path| expected[format!("read {path}")] = json!("denied"));
    closed.iter().for_each(|path| expected[format!("execute {path}")] = json!("denied"));
    assert_eq!(seen, expected);
}

#[test]
fn the_real_claude_code_answers_behind_the_whole_confinement() {
    let Some(real) =
        Real::for_test("the_real_claude_code_answers_behind_the_whole_confinement", Component::Claude)
    else {
        return;
    };
    let (mut stage, words, _) = policy("[[script: answer annotated]]", |_| {});
    stage.set("DELEGATION_GLM_CLAUDE_BIN", real.programs().join("claude"));
    stage.set("DELEGATION_GLM_BASE_URL", real.server().url());
    let finished = stage.run(&words);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    assert_eq!(stage.answer().expect("an answer"), b"annotated\n");
    assert_eq!(stage.metrics()["exact_model_identity_attested"], true);
    assert_eq!(fs::read_dir(stage.path("work")).expect("a directory").count(), 0);
}
