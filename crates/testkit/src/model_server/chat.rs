//! Answers in the form of OpenAI Chat Completions.

use serde_json::{Value, json};

use super::failure;
use super::reply::{Content, Fault, Finish, Reply};
use super::script::Failure;
use super::tools::{Input, ToolCall};
use super::transcript::{Exchange, Transcript};

/// The whole answer as one object.
pub(super) fn whole(reply: &Reply, exchange: Exchange) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text()});
    if let Content::Call(call) = &reply.content {
        message["content"] = Value::Null;
        message["tool_calls"] = json!([tool_call(call, exchange)]);
    }
    if let Some(reasoning) = &reply.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(reply.finish), "logprobs": null});
    let mut body = envelope(reply, exchange, "chat.completion", json!([choice]));
    body["usage"] = usage(reply, exchange);
    body
}

/// The answer as a stream; usage comes only to who asked for it.
pub(super) fn stream(reply: &Reply, exchange: Exchange, with_usage: bool) -> Transcript {
    let mut transcript = Transcript::default();
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        envelope(reply, exchange, "chat.completion.chunk", json!([choice]))
    };
    transcript.data(&chunk(json!({"role": "assistant", "content": ""}), Value::Null));
    if reply.fault == Some(Fault::ErrorEvent) {
        transcript.data(&failure::openai(Failure::ServerError));
        return transcript;
    }
    if let Some(reasoning) = &reply.reasoning {
        transcript.data(&chunk(json!({"reasoning_content": reasoning}), Value::Null));
    }
    match &reply.content {
        Content::Nothing => {}
        Content::Text(pieces) => {
            for piece in pieces {
                transcript.text_data(&chunk(json!({"content": piece}), Value::Null));
            }
        }
        Content::Call(call) => {
            let mut call = tool_call(call, exchange);
            call["index"] = json!(0);
            transcript.data(&chunk(json!({"tool_calls": [call]}), Value::Null));
        }
    }
    transcript.data(&chunk(json!({}), json!(finish_reason(reply.finish))));
    if with_usage {
        let mut body = envelope(reply, exchange, "chat.completion.chunk", json!([]));
        body["usage"] = usage(reply, exchange);
        transcript.data(&body);
    }
    transcript.raw("data: [DONE]\n\n");
    transcript
}

fn envelope(reply: &Reply, exchange: Exchange, object: &str, choices: Value) -> Value {
    json!({"id": format!("chatcmpl-{}", exchange.number), "object": object, "created": 1, "model": reply.model,
           "choices": choices})
}

fn tool_call(call: &ToolCall, exchange: Exchange) -> Value {
    let arguments = match &call.input {
        Input::Arguments(arguments) => json!(arguments).to_string(),
        Input::Raw(text) => text.clone(),
    };
    json!({"id": format!("call_{}", exchange.number), "type": "function",
           "function": {"name": call.name, "arguments": arguments}})
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Filter => "content_filter",
        Finish::ToolCall => "tool_calls",
    }
}

fn usage(reply: &Reply, exchange: Exchange) -> Value {
    let output = reply.output_tokens();
    json!({"prompt_tokens": exchange.input_tokens, "completion_tokens": output,
           "total_tokens": exchange.input_tokens + output,
           "prompt_tokens_details": {"cached_tokens": 0},
           "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens()}})
}
