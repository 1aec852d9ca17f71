//! What a run leaves, and what it keeps to itself (runners.md 1.4, 1.6, 1.7, 5.4).

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use executors::chat::{DEEPSEEK, QWEN};
use serde_json::{Value, json};
use support::gate_files;
use support::talk::{KEY, SAID, Talk, both, changed, good};
use testkit::model_server::{Delivery, RawResponse};

#[test]
fn raw_material_is_kept_only_on_request() {
    let body = |key: &str| json!({"error": format!("{SAID} {key}")}).to_string();
    for talk in both(|_| RawResponse::json(body(KEY)).status(400)) {
        let debug = talk.stage.write("debug/.keep", "").parent().expect("a parent").to_path_buf();
        let words = ["--allow-provisional", "--debug-dir", debug.to_str().expect("UTF-8")];
        let finished = talk.stage.run_lane("builder", &words);
        assert_eq!(finished.code, 70, "{finished:?}");
        let diagnostic = talk.stage.diagnostic();
        let directory = Path::new(diagnostic["debug_dir"].as_str().expect("a directory"));
        assert_eq!(directory.parent(), Some(debug.as_path()));
        let name = directory.file_name().expect("a name").to_str().expect("UTF-8");
        assert!(name.starts_with(&format!("{}.", talk.service.family.program)), "{name}");
        assert_eq!(fs::metadata(directory).expect("a directory").permissions().mode() & 0o777, 0o700);
        let mut names: Vec<_> = support::files(directory);
        names.sort();
        let expected = ["diagnostic.json", "response.json", "stderr.txt"].map(|name| directory.join(name));
        assert_eq!(names, expected);
        for file in &names {
            assert_eq!(fs::metadata(file).expect("a file").permissions().mode() & 0o777, 0o600);
            assert!(!fs::read_to_string(file).expect("readable").contains(KEY));
        }
        assert_eq!(
            fs::read_to_string(directory.join("response.json")).expect("readable"),
            body("[redacted]")
        );
        let kept: Value =
            serde_json::from_slice(&fs::read(directory.join("diagnostic.json")).expect("readable"))
                .expect("JSON");
        assert_eq!(kept, diagnostic);
    }
    for talk in both(changed(|_| {})) {
        let debug = talk.stage.write("debug/.keep", "").parent().expect("a parent").to_path_buf();
        let words = ["--allow-provisional", "--debug-dir", debug.to_str().expect("UTF-8")];
        assert_eq!(talk.stage.run_lane("builder", &words).code, 0);
        assert_eq!(support::files(&debug).len(), 1, "a success keeps nothing");
    }
}

#[test]
fn what_appears_at_a_destination_meanwhile_stays_and_nothing_is_published() {
    for (name, reason) in
        [("answer.txt", "output_publish_failed"), ("answer.txt.metrics.json", "metrics_publish_failed")]
    {
        for talk in both(|service| RawResponse::json(good(service).to_string()).delivered(Delivery::Held)) {
            let started = talk.stage.start(&talk.stage.words("builder", &["--allow-provisional"]));
            let _ = talk.server.wait_for_requests(1);
            fs::write(talk.stage.path("out").join(name), "theirs").expect("written");
            talk.server.release();
            let finished = talk.stage.finish(started);
            finished.refused(70, reason);
            let mut left = [name, "answer.txt.error.json"];
            left.sort_unstable();
            assert_eq!(talk.stage.outputs(), left);
            assert_eq!(fs::read_to_string(talk.stage.path("out").join(name)).expect("readable"), "theirs");
            assert_eq!(talk.stage.diagnostic()["phase"], "publish");
        }
    }
}

#[test]
fn the_key_is_in_no_argument_and_a_signal_leaves_nothing() {
    for mut talk in both(|service| RawResponse::json(good(service).to_string()).delivered(Delivery::Held)) {
        // From a file, so that the environment does not hold it either.
        talk.stage.unset(talk.service.key.variable);
        let file = talk.stage.write("key.env", format!("{}={KEY}\n", talk.service.key.variable));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
        talk.stage.set(talk.service.key.file_variable, file);
        let started = talk.stage.start(&talk.stage.words("builder", &["--allow-provisional"]));
        let _ = talk.server.wait_for_requests(1);
        for name in ["cmdline", "environ"] {
            let bytes = fs::read(format!("/proc/{}/{name}", started.pid())).expect("readable");
            assert!(!String::from_utf8_lossy(&bytes).contains("planted"), "{name}");
        }
        std::process::Command::new("kill")
            .args(["-TERM", &started.pid().to_string()])
            .status()
            .expect("kill runs");
        let finished = talk.stage.finish(started);
        assert_eq!((finished.code, finished.stderr.as_str()), (-15, ""));
        assert_eq!(talk.stage.outputs(), Vec::<String>::new());
    }
}

#[test]
fn a_lane_that_both_gates_call_qualified_needs_no_flag() {
    for mut talk in both(changed(|_| {})) {
        let model = talk.service.family.model;
        gate_files::set_status(
            &mut talk.stage,
            talk.service.family.gate,
            model,
            "clerk",
            "qualified",
            "explicit-only",
        );
        let finished = talk.stage.run_lane("clerk", &[]);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
        assert_eq!(talk.stage.metrics()["lane"], "clerk");
        let [seen] = talk.server.requests().try_into().expect("one request");
        let body: Value = serde_json::from_slice(&seen.body).expect("JSON");
        assert_eq!(body["max_tokens"], 4096);
        assert_eq!(talk.stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
    }
}

#[test]
fn a_server_on_loopback_may_need_no_key() {
    for mut talk in both(changed(|_| {})) {
        talk.stage.unset(talk.service.key.variable);
        talk.run().refused(69, "is unset");
        talk.stage.set("AUTH_OPTIONAL", "1");
        talk.publishes("The patch.\nIts end.");
        assert!(talk.server.requests()[0].headers.iter().all(|(name, _)| name != "authorization"));
        assert_eq!(talk.stage.check()["selected_backend"], talk.service.family.backend());
    }
}

#[test]
fn qwen_tells_whether_the_next_snapshot_is_there() {
    for (response, expected) in [
        (RawResponse::json(r#"{"data":[{"id":"qwen3.8-max"},{"id":"qwen3.8-max-0902"}]}"#), "available"),
        (RawResponse::json(r#"{"data":[{"id":"qwen3.8-max"}]}"#), "not-yet-available"),
        (RawResponse::json(r#"{"data":7}"#), "unknown"),
        (RawResponse::json("no JSON"), "unknown"),
        (RawResponse::json("{}").status(401), "unknown"),
        (RawResponse::json("{}").status(302).header("Location", "http://127.0.0.1:9/"), "unknown"),
    ] {
        let talk = Talk::new(&QWEN, response);
        let status = talk.stage.check();
        assert_eq!(status["next_snapshot"], json!({"model": "qwen3.8-max-0902", "availability": expected}));
        assert_eq!(status["selected_backend"], "token-plan-openai");
        let [seen] = talk.server.requests().try_into().expect("one request");
        assert_eq!((seen.method.as_str(), seen.path.as_str(), seen.body_bytes), ("GET", "/v1/models", 0));
    }
    let talk = Talk::new(&DEEPSEEK, RawResponse::json("{}"));
    assert!(talk.stage.check().get("next_snapshot").is_none());
    assert!(talk.server.requests().is_empty());
}
