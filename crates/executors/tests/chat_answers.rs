//! What is an answer, and what is not (runners.md 5.3).

mod support;

use executors::chat::DEEPSEEK;
use serde_json::{Value, json};
use support::talk::{Talk, both, changed, good};
use testkit::model_server::RawResponse;

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

type Change = Box<dyn Fn(&mut Value)>;

#[test]
fn what_is_no_whole_answer_is_refused() {
    let content =
        |value: Value| move |body: &mut Value| body["choices"][0]["message"]["content"] = value.clone();
    let finish = |value: Value| move |body: &mut Value| body["choices"][0]["finish_reason"] = value.clone();
    let usage =
        |name: &'static str, value: Value| move |body: &mut Value| body["usage"][name] = value.clone();
    let bad: Vec<Change> = vec![
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
        Box::new(usage("prompt_tokens", json!(1e23))),
        Box::new(usage("completion_tokens", json!(7.5))),
        Box::new(usage("prompt_tokens", serde_json::from_str("99999999999999999999999").expect("a number"))),
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
        let at = body.iter().position(|byte| *byte == b'P').unwrap_or(body.len() / 2);
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
