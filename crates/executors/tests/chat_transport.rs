//! What is sent, and what becomes of an exchange that brings no answer (runners.md 5.2, 5.3).

mod support;

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use executors::chat::Service;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use support::talk::{KEY, SAID, both, changed, good};
use testkit::model_server::{Delivery, ModelServer, RawResponse, Script};

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
