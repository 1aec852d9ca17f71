//! What becomes of one request: every outcome of runners.md 5.3 against a server on loopback.

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use executors::chat::{DEEPSEEK, QWEN, Service};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use support::{Finished, Stage, gate_files};
use testkit::model_server::{Delivery, ModelServer, RawResponse, Script};

const KEY: &str = "sk-sp-planted-0123456789abcdef";
/// In the body of every failing response; no file but the debug material may hold it.
const SAID: &str = "words-of-the-provider";

/// A stage whose runner reaches nothing but a server that gives one response.
struct Talk {
    stage: Stage,
    server: ModelServer,
    service: &'static Service,
}

impl Talk {
    fn new(service: &'static Service, response: RawResponse) -> Self {
        let program = match service.family.program {
            "delegation-qwen" => env!("CARGO_BIN_EXE_delegation-qwen"),
            _ => env!("CARGO_BIN_EXE_delegation-deepseek"),
        };
        let mut stage = Stage::new(program, service.family.model);
        let server = ModelServer::start_with(Script::Raw(response)).expect("a server");
        stage.plant(KEY);
        stage.plant(SAID);
        stage.set(service.base_url_variable, format!("{}/v1", server.url()));
        stage.set(service.key.variable, KEY);
        Self { stage, server, service }
    }

    fn run(&self) -> Finished {
        self.stage.run_lane("builder", &["--allow-provisional"])
    }

    /// A run that fails, leaves nothing but its diagnostic, and has asked once.
    fn fails(&self, code: i32, phase: &str, reason: &str) -> Value {
        let finished = self.run();
        let path = self.stage.path("out/answer.txt.error.json");
        finished.refused(
            code,
            &format!("{}: {reason} (details: {})", self.service.family.program, path.display()),
        );
        assert_eq!(self.stage.outputs(), ["answer.txt.error.json"]);
        assert_eq!(fs::metadata(path).expect("a diagnostic").permissions().mode() & 0o777, 0o600);
        let diagnostic = self.stage.diagnostic();
        assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
        assert_eq!(diagnostic["schema_version"], 1);
        assert_eq!(diagnostic["lane"], "builder");
        assert_eq!(diagnostic["debug_dir"], Value::Null);
        assert!(self.server.requests().len() <= 1);
        diagnostic
    }

    fn publishes(&self, text: &str) -> Value {
        let finished = self.run();
        assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
        assert_eq!(self.stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
        assert_eq!(self.stage.answer().expect("an answer"), format!("{text}\n").as_bytes());
        for name in ["answer.txt", "answer.txt.metrics.json"] {
            let mode = fs::metadata(self.stage.path("out").join(name)).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(self.server.requests().len(), 1);
        self.stage.metrics()
    }
}

fn both(response: impl Fn(&'static Service) -> RawResponse) -> [Talk; 2] {
    [&QWEN, &DEEPSEEK].map(|service| Talk::new(service, response(service)))
}

/// A good answer of the pinned model.
fn good(service: &Service) -> Value {
    json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": service.family.model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "The patch.\nIts end."}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "prompt_cache_hit_tokens": 3,
                  "completion_tokens_details": {"reasoning_tokens": 5}},
    })
}

/// The good answer, changed.
fn changed(change: impl Fn(&mut Value)) -> impl Fn(&'static Service) -> RawResponse {
    move |service| {
        let mut body = good(service);
        change(&mut body);
        RawResponse::json(body.to_string())
    }
}

#[test]
fn a_good_answer_is_published_with_its_metrics() {
    for talk in both(changed(|_| {})) {
        let metrics = talk.publishes("The patch.\nIts end.");
        let model = talk.service.family.model;
        for (name, value) in [
            ("schema_version", json!(2)),
            ("model", json!(model)),
            ("requested_model", json!(model)),
            ("provider_reported_model", json!(model)),
            ("model_identity_source", json!("provider-reported")),
            ("backend", json!(talk.service.family.backend())),
            ("lane", json!("builder")),
            ("billing", json!(talk.service.billing)),
            ("provider_cost_usd", Value::Null),
        ] {
            assert_eq!(metrics[name], value, "{name}");
        }
        let (details, reported) = match talk.service.counts_details {
            false => ((0, 0), json!(["input", "output"])),
            true => ((5, 3), json!(["cache_read", "input", "output", "reasoning"])),
        };
        let tokens = json!({"input": 11, "output": 7, "reasoning": details.0, "cache_read": details.1, "cache_write": 0});
        assert_eq!((&metrics["tokens"], &metrics["reported_token_counters"]), (&tokens, &reported));
        assert!(metrics.get("evaluation_receipt").is_none());
    }
}

#[test]
fn exactly_one_request_with_exactly_these_fields() {
    for talk in both(changed(|_| {})) {
        talk.publishes("The patch.\nIts end.");
        let [seen] = talk.server.requests().try_into().expect("one request");
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
        let mut body = json!({
            "model": talk.service.family.model,
            "messages": [{"role": "user", "content": "Fix the fault.\n"}],
            "max_tokens": 4096,
            "reasoning_effort": "xhigh",
        });
        if talk.service.thinking {
            body["reasoning_effort"] = "max".into();
            body["thinking"] = json!({"type": "enabled"});
        }
        assert_eq!(serde_json::from_slice::<Value>(&seen.body).expect("JSON"), body);
        let header = |name: &str| {
            let found: Vec<&str> =
                seen.headers.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str()).collect();
            assert_eq!(found.len(), 1, "{name}");
            found[0].to_owned()
        };
        assert_eq!(header("authorization"), format!("Bearer {KEY}"));
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("content-length"), seen.body_bytes.to_string());
        assert_eq!(header("user-agent"), talk.service.family.program);
    }
}

#[test]
fn neither_a_proxy_nor_a_file_of_another_tool_changes_the_request() {
    for mut talk in both(changed(|_| {})) {
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            talk.stage.set(name, "http://127.0.0.1:9");
        }
        talk.stage.write("home/.curlrc", "url = http://127.0.0.1:9\n");
        talk.publishes("The patch.\nIts end.");
    }
}

#[test]
fn limits_can_be_set_and_a_long_prompt_arrives_whole() {
    for mut talk in both(changed(|_| {})) {
        talk.stage.set("DELEGATION_MAX_TOKENS", "12345");
        let prompt = "0123456789abcdé\n".repeat(1 << 16);
        fs::write(talk.stage.path("prompt.md"), &prompt).expect("written");
        assert!(prompt.len() > 1 << 20);
        talk.publishes("The patch.\nIts end.");
        let [seen] = talk.server.requests().try_into().expect("one request");
        let expected = json!(prompt).to_string();
        let text = String::from_utf8_lossy(&seen.body).into_owned();
        let start = text.find("\"0123").expect("the prompt");
        assert!(expected.starts_with(&text[start..text.len() - 4]));
        let thinking = if talk.service.thinking { r#","thinking":{"type":"enabled"}"# } else { "" };
        let around = format!(
            r#"{{"max_tokens":12345,"messages":[{{"content":,"role":"user"}}],"model":"{}","reasoning_effort":"{}"{thinking}}}"#,
            talk.service.family.model,
            if talk.service.thinking { "max" } else { "xhigh" },
        );
        assert_eq!(seen.body_bytes, around.len() + expected.len());
    }
}

#[test]
fn every_status_has_its_class() {
    for (status, code, reason) in [
        (401, 69, "authentication_failed"),
        (403, 69, "authentication_failed"),
        (429, 75, "rate_limited"),
        (500, 75, "provider_temporary_failure"),
        (503, 75, "provider_temporary_failure"),
        (599, 75, "provider_temporary_failure"),
        (400, 70, "provider_error"),
        (404, 70, "provider_error"),
        (418, 70, "provider_error"),
        (201, 70, "provider_error"),
        (204, 70, "provider_error"),
        (300, 70, "provider_error"),
    ] {
        let body =
            if status == 204 { String::new() } else { json!({"error": {"message": SAID}}).to_string() };
        for talk in both(|_| RawResponse::json(body.clone()).status(status)) {
            let diagnostic = talk.fails(code, "dispatch", reason);
            assert_eq!(diagnostic["http_code"], status.to_string());
            assert_eq!(diagnostic["curl_exit_code"], 0);
            assert_eq!(diagnostic["response_bytes"], body.len());
        }
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let other = ModelServer::start().expect("a server");
    for status in [301, 302, 303, 307, 308] {
        for talk in both(|_| RawResponse::json("{}").status(status).header("Location", &other.url())) {
            assert_eq!(talk.fails(70, "dispatch", "provider_error")["http_code"], status.to_string());
        }
    }
    assert!(other.requests().is_empty());
}

#[test]
fn a_connection_that_fails_is_no_answer() {
    // Nobody listens any more on a port that was just given up.
    let closed =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    for mut talk in both(changed(|_| {})) {
        talk.stage.set(talk.service.base_url_variable, format!("http://{closed}"));
        let diagnostic = talk.fails(75, "dispatch", "transport_failure");
        assert_eq!((&diagnostic["http_code"], &diagnostic["curl_exit_code"]), (&json!("000"), &json!(7)));
    }
    for delivery in [Delivery::Cut(0), Delivery::Cut(40)] {
        for talk in both(|service| RawResponse::json(good(service).to_string()).delivered(delivery)) {
            let diagnostic = talk.fails(75, "dispatch", "transport_failure");
            assert_eq!(diagnostic["http_code"], "000");
            assert!(
                diagnostic["curl_exit_code"].as_u64().is_some_and(|code| code != 0 && code != 28),
                "{diagnostic}"
            );
        }
    }
    for script in [Script::Reset, Script::Cut] {
        for mut talk in both(changed(|_| {})) {
            talk.server = ModelServer::start_with(script.clone()).expect("a server");
            talk.stage.set(talk.service.base_url_variable, format!("{}/v1", talk.server.url()));
            talk.fails(75, "dispatch", "transport_failure");
        }
    }
}

#[test]
fn a_slow_or_silent_server_meets_the_deadline() {
    for delivery in [Delivery::Slow(Duration::from_millis(100)), Delivery::Held] {
        for mut talk in both(|service| RawResponse::json(good(service).to_string()).delivered(delivery)) {
            talk.stage.set("DELEGATION_TIMEOUT", "1");
            let diagnostic = talk.fails(75, "dispatch", "deadline_exceeded");
            assert_eq!(
                (&diagnostic["http_code"], &diagnostic["curl_exit_code"]),
                (&json!("000"), &json!(28))
            );
        }
    }
}

#[test]
fn a_packed_chunked_or_marked_answer_is_read() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("packed");
        encoder.finish().expect("packed")
    };
    let ways: [&dyn Fn(&'static Service) -> RawResponse; 4] = [
        &|service| RawResponse::json(good(service).to_string()).delivered(Delivery::Chunked(5)),
        &|service| {
            RawResponse::json(gzip(good(service).to_string().as_bytes())).header("Content-Encoding", "gzip")
        },
        &|service| {
            RawResponse::json(gzip(good(service).to_string().as_bytes()))
                .header("Content-Encoding", "gzip")
                .delivered(Delivery::Chunked(7))
        },
        &|service| RawResponse::json(format!("\u{feff}{}", good(service))),
    ];
    for way in ways {
        for talk in both(way) {
            talk.publishes("The patch.\nIts end.");
        }
    }
    // What claims to be packed and is not can not be read.
    for talk in
        both(|service| RawResponse::json(good(service).to_string()).header("Content-Encoding", "gzip"))
    {
        talk.fails(75, "dispatch", "transport_failure");
    }
}

#[test]
fn sixteen_mebibytes_are_an_answer_and_endless_ones_are_not() {
    let text = "0123456789abcde\n".repeat(1 << 20);
    for talk in both(changed(|body| body["choices"][0]["message"]["content"] = text.clone().into())) {
        talk.publishes(&text);
    }
    // Packed, this is short; what counts is what comes out.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..65 {
        encoder.write_all(&zeros).expect("packed");
    }
    let packed = encoder.finish().expect("packed");
    for talk in both(|_| RawResponse::json(packed.clone()).header("Content-Encoding", "gzip")) {
        talk.fails(70, "extract", "output_limit_exceeded");
    }
}

#[test]
fn what_is_no_whole_answer_is_refused() {
    let content =
        |value: Value| move |body: &mut Value| body["choices"][0]["message"]["content"] = value.clone();
    let finish = |value: Value| move |body: &mut Value| body["choices"][0]["finish_reason"] = value.clone();
    let usage =
        |name: &'static str, value: Value| move |body: &mut Value| body["usage"][name] = value.clone();
    let bad: Vec<Box<dyn Fn(&mut Value)>> = vec![
        Box::new(|body| *body = json!([])),
        Box::new(|body| *body = json!("text")),
        Box::new(|body| *body = Value::Null),
        Box::new(|body| body["model"] = 7.into()),
        Box::new(|body| body["model"] = Value::Null),
        Box::new(|body| body["choices"] = json!([])),
        Box::new(|body| body["choices"] = json!({})),
        Box::new(|body| body["choices"][0] = json!({"finish_reason": "stop"})),
        Box::new(|body| body["choices"][0]["message"] = json!("text")),
        Box::new(content(json!(""))),
        Box::new(content(Value::Null)),
        Box::new(content(json!([{"type": "text", "text": "x"}]))),
        Box::new(finish(json!("tool_calls"))),
        Box::new(finish(json!("content_filter"))),
        Box::new(finish(json!(0))),
        Box::new(|body| body["choices"][0]["message"]["tool_calls"] = json!([{"id": "x"}])),
        Box::new(|body| body["choices"][0]["message"]["function_call"] = json!({"name": "x"})),
        Box::new(usage("prompt_tokens", json!(-1))),
        Box::new(usage("completion_tokens", json!("7"))),
        Box::new(usage("total_tokens", json!(-0.5))),
        Box::new(|body| body["usage"] = json!([1])),
    ];
    for change in bad {
        for talk in both(changed(&change)) {
            talk.fails(70, "extract", "invalid_or_empty_response");
        }
    }
    for body in [
        "",
        "no JSON",
        "{\"model\":",
        "{} {}",
        "{\"choices\":[],\"choices\":[]}",
        "\u{feff}",
        "\u{feff}\u{feff}{}",
    ] {
        for talk in both(|_| RawResponse::json(body)) {
            talk.fails(70, "extract", "invalid_or_empty_response");
        }
    }
    for talk in both(|service| {
        let mut body = good(service).to_string().into_bytes();
        let at = body.iter().position(|byte| *byte == b'P').unwrap_or_else(|| body.len() / 2);
        body[at] = 0xff;
        RawResponse::json(body)
    }) {
        talk.fails(70, "extract", "invalid_or_empty_response");
    }
    for reason in ["completion_tokens_details", "prompt_cache_hit_tokens"] {
        let talk = Talk::new(&DEEPSEEK, changed(usage(reason, json!({"reasoning_tokens": -1})))(&DEEPSEEK));
        talk.fails(70, "extract", "invalid_or_empty_response");
    }
    for talk in both(changed(finish(json!("length")))) {
        talk.fails(70, "extract", "output_truncated");
    }
}

#[test]
fn an_answer_without_counters_or_reason_is_whole() {
    for talk in both(changed(|body| {
        body["choices"][0]["finish_reason"] = Value::Null;
        body["choices"][0]["message"]["tool_calls"] = json!([]);
        body["choices"][0]["message"]["function_call"] = Value::Null;
        body.as_object_mut().expect("an object").remove("usage");
    })) {
        let metrics = talk.publishes("The patch.\nIts end.");
        assert_eq!(
            metrics["tokens"],
            json!({"input": 0, "output": 0, "reasoning": 0, "cache_read": 0, "cache_write": 0})
        );
        assert_eq!(metrics["reported_token_counters"], json!([]));
    }
    for talk in
        both(changed(|body| body["usage"] = json!({"prompt_tokens": 0, "completion_tokens_details": null})))
    {
        assert_eq!(talk.publishes("The patch.\nIts end.")["reported_token_counters"], json!(["input"]));
    }
}

#[test]
fn only_the_pinned_model_or_its_alias_may_answer() {
    for name in ["another-model", "", "qwen3.8-max-0902", "DEEPSEEK-V4-PRO"] {
        for talk in both(changed(move |body| body["model"] = name.into())) {
            talk.fails(70, "identity", "provider_identity_mismatch");
        }
    }
    for mut talk in both(changed(|body| body["model"] = "the-alias".into())) {
        talk.stage.set("DELEGATION_MODEL_ALIASES", "other, the-alias");
        let metrics = talk.publishes("The patch.\nIts end.");
        assert_eq!(metrics["model"], talk.service.family.model);
        assert_eq!(metrics["provider_reported_model"], "the-alias");
        assert_eq!(metrics["model_identity_source"], "provider-reported");
    }
    for talk in both(changed(|body| {
        body.as_object_mut().expect("an object").remove("model");
    })) {
        let metrics = talk.publishes("The patch.\nIts end.");
        assert_eq!(metrics["provider_reported_model"], Value::Null);
        assert_eq!(metrics["model_identity_source"], "requested-only");
    }
}

#[test]
fn raw_material_is_kept_only_on_request() {
    let body = json!({"error": SAID}).to_string();
    for talk in both(|_| RawResponse::json(body.clone()).status(400)) {
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
        assert_eq!(fs::read_to_string(directory.join("response.json")).expect("readable"), body);
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
