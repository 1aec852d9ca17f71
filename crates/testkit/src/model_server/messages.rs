//! Answers in the form of Anthropic Messages.

use serde_json::{Value, json};

use super::failure;
use super::reply::{Content, Fault, Finish, Reply};
use super::script::Failure;
use super::tools::ToolCall;
use super::transcript::{Exchange, Transcript};

/// The whole answer as one object.
pub(super) fn whole(reply: &Reply, exchange: Exchange) -> Value {
    let mut blocks = Vec::new();
    if let Some(reasoning) = &reply.reasoning {
        blocks.push(json!({"type": "thinking", "thinking": reasoning, "signature": "c2NyaXB0ZWQ="}));
    }
    match &reply.content {
        Content::Nothing => {}
        Content::Text(_) => blocks.push(json!({"type": "text", "text": reply.text()})),
        Content::Call(call) => blocks.push(tool_use(call, exchange, call.input.to_object())),
    }
    let mut message = message(reply, exchange, blocks);
    message["stop_reason"] = json!(stop_reason(reply.finish));
    message["usage"]["output_tokens"] = json!(reply.output_tokens());
    message
}

/// The answer as a stream.
pub(super) fn stream(reply: &Reply, exchange: Exchange) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.named(&json!({"type": "message_start", "message": message(reply, exchange, Vec::new())}));
    transcript.named(&json!({"type": "ping"}));
    if reply.fault == Some(Fault::ErrorEvent) {
        transcript.named(&failure::anthropic(Failure::Overloaded));
        return transcript;
    }
    let mut index = 0;
    if let Some(reasoning) = &reply.reasoning {
        let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
        transcript.named(&block_start(index, empty));
        transcript.named(&delta(index, json!({"type": "thinking_delta", "thinking": reasoning})));
        transcript.named(&delta(index, json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})));
        transcript.named(&block_stop(index));
        index += 1;
    }
    match &reply.content {
        Content::Nothing => {}
        Content::Text(pieces) => {
            transcript.named(&block_start(index, json!({"type": "text", "text": ""})));
            for piece in pieces {
                transcript.named_text(&delta(index, json!({"type": "text_delta", "text": piece})));
            }
            transcript.named(&block_stop(index));
        }
        Content::Call(call) => {
            let input = call.input.to_object().to_string();
            transcript.named(&block_start(index, tool_use(call, exchange, json!({}))));
            transcript.named(&delta(index, json!({"type": "input_json_delta", "partial_json": input})));
            transcript.named(&block_stop(index));
        }
    }
    transcript.named(&json!({"type": "message_delta", "usage": {"output_tokens": reply.output_tokens()},
        "delta": {"stop_reason": stop_reason(reply.finish), "stop_sequence": null}}));
    transcript.named(&json!({"type": "message_stop"}));
    transcript
}

fn message(reply: &Reply, exchange: Exchange, content: Vec<Value>) -> Value {
    json!({"id": format!("msg_{}", exchange.number), "type": "message", "role": "assistant", "model": reply.model,
           "content": content, "stop_reason": null, "stop_sequence": null,
           "usage": {"input_tokens": exchange.input_tokens, "cache_creation_input_tokens": 0,
                     "cache_read_input_tokens": 0, "output_tokens": 1}})
}

fn tool_use(call: &ToolCall, exchange: Exchange, input: Value) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_{}", exchange.number), "name": call.name, "input": input})
}

fn block_start(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn block_stop(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Filter => "refusal",
        Finish::ToolCall => "tool_use",
    }
}
