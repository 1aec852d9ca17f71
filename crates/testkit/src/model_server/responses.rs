//! Answers in the form of OpenAI Responses.

use serde_json::{Value, json};

use super::reply::{Content, Fault, Finish, Reply};
use super::tools::{Input, ToolCall};
use super::transcript::{Exchange, Transcript};

/// The whole answer as one object.
pub(super) fn whole(reply: &Reply, exchange: Exchange) -> Value {
    let mut items: Vec<Value> = reasoning_item(reply).into_iter().collect();
    match &reply.content {
        Content::Nothing => {}
        Content::Text(_) => items.push(message_item(exchange, &reply.text())),
        Content::Call(call) => items.push(call_item(call, exchange)),
    }
    response(reply, exchange, final_status(reply.finish), &items)
}

/// The answer as a stream.
pub(super) fn stream(reply: &Reply, exchange: Exchange) -> Transcript {
    let mut events = Events::default();
    let begun = response(reply, exchange, "in_progress", &[]);
    events.send(json!({"type": "response.created", "response": begun}));
    events.send(json!({"type": "response.in_progress", "response": begun}));
    if reply.fault == Some(Fault::ErrorEvent) {
        let mut failed = response(reply, exchange, "failed", &[]);
        failed["error"] = json!({"code": "server_error", "message": "The scripted model failed."});
        events.send(json!({"type": "response.failed", "response": failed}));
        return events.transcript;
    }
    if let Some(item) = reasoning_item(reply) {
        events.reasoning(item);
    }
    match &reply.content {
        Content::Nothing => {}
        Content::Text(pieces) => events.message(exchange, pieces),
        Content::Call(call) => events.call(call_item(call, exchange)),
    }
    let status = final_status(reply.finish);
    let done = response(reply, exchange, status, &events.items);
    events.send(json!({"type": format!("response.{status}"), "response": done}));
    events.transcript
}

/// Numbers the events and collects the finished items.
#[derive(Default)]
struct Events {
    transcript: Transcript,
    items: Vec<Value>,
}

impl Events {
    fn numbered(&self, mut body: Value) -> Value {
        body["sequence_number"] = json!(self.transcript.frames.len());
        body
    }

    fn send(&mut self, body: Value) {
        let body = self.numbered(body);
        self.transcript.named(&body);
    }

    /// An event of the item in work.
    fn of_item(&mut self, item: &Value, kind: &str, key: &str, value: Value) {
        let mut body = json!({"type": format!("response.{kind}"), "item_id": item["id"],
                              "output_index": self.items.len()});
        body[key] = value;
        self.send(body);
    }

    fn begin(&mut self, item: Value) {
        let index = self.items.len();
        self.send(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
    }

    fn finish(&mut self, item: Value) {
        let index = self.items.len();
        self.send(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        self.items.push(item);
    }

    fn reasoning(&mut self, item: Value) {
        let summary = item["summary"][0]["text"].clone();
        self.begin(item.clone());
        for (kind, key) in [("delta", "delta"), ("done", "text")] {
            let mut body = json!({"type": format!("response.reasoning_summary_text.{kind}"), "item_id": item["id"],
                                  "output_index": self.items.len(), "summary_index": 0});
            body[key] = summary.clone();
            self.send(body);
        }
        self.finish(item);
    }

    fn call(&mut self, item: Value) {
        let (kind, key) = match item["type"].as_str() {
            Some("custom_tool_call") => ("custom_tool_call_input", "input"),
            _ => ("function_call_arguments", "arguments"),
        };
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        self.begin(begun);
        self.of_item(&item, &format!("{kind}.delta"), "delta", item[key].clone());
        self.of_item(&item, &format!("{kind}.done"), key, item[key].clone());
        self.finish(item);
    }

    fn message(&mut self, exchange: Exchange, pieces: &[String]) {
        let item = message_item(exchange, &pieces.concat());
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        begun["content"] = json!([]);
        self.begin(begun);
        let place = json!({"item_id": item["id"], "output_index": self.items.len(), "content_index": 0});
        let part = |events: &mut Self, kind: &str, key: &str, value: Value, is_text: bool| {
            let mut body = place.clone();
            body["type"] = json!(format!("response.{kind}"));
            body[key] = value;
            let body = events.numbered(body);
            if is_text {
                events.transcript.named_text(&body);
            } else {
                events.transcript.named(&body);
            }
        };
        part(self, "content_part.added", "part", text_part(""), false);
        for piece in pieces {
            part(self, "output_text.delta", "delta", json!(piece), true);
        }
        part(self, "output_text.done", "text", item["content"][0]["text"].clone(), false);
        part(self, "content_part.done", "part", item["content"][0].clone(), false);
        self.finish(item);
    }
}

fn response(reply: &Reply, exchange: Exchange, status: &str, items: &[Value]) -> Value {
    let incomplete = match (status, reply.finish) {
        ("incomplete", Finish::Filter) => json!({"reason": "content_filter"}),
        ("incomplete", _) => json!({"reason": "max_output_tokens"}),
        _ => Value::Null,
    };
    let usage = match status {
        "in_progress" | "failed" => Value::Null,
        _ => usage(reply, exchange),
    };
    json!({"id": format!("resp_{}", exchange.number), "object": "response", "created_at": 1, "model": reply.model,
           "status": status, "error": null, "incomplete_details": incomplete, "instructions": null, "output": items,
           "usage": usage, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "metadata": {}})
}

fn final_status(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::ToolCall => "completed",
        Finish::Length | Finish::Filter => "incomplete",
    }
}

fn message_item(exchange: Exchange, text: &str) -> Value {
    json!({"id": format!("msg_{}", exchange.number), "type": "message", "status": "completed", "role": "assistant",
           "content": [text_part(text)]})
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn reasoning_item(reply: &Reply) -> Option<Value> {
    let summary = reply.reasoning.as_ref()?;
    Some(json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "c2NyaXB0ZWQ=",
                "summary": [{"type": "summary_text", "text": summary}]}))
}

fn call_item(call: &ToolCall, exchange: Exchange) -> Value {
    let call_id = format!("call_{}", exchange.number);
    match &call.input {
        Input::Raw(text) => json!({"id": format!("ctc_{}", exchange.number), "type": "custom_tool_call",
            "status": "completed", "call_id": call_id, "name": call.name, "input": text}),
        Input::Arguments(arguments) => {
            json!({"id": format!("fc_{}", exchange.number), "type": "function_call",
            "status": "completed", "call_id": call_id, "name": call.name, "arguments": json!(arguments).to_string()})
        }
    }
}

fn usage(reply: &Reply, exchange: Exchange) -> Value {
    let output = reply.output_tokens();
    json!({"input_tokens": exchange.input_tokens, "input_tokens_details": {"cached_tokens": 0},
           "output_tokens": output, "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens()},
           "total_tokens": exchange.input_tokens + output})
}
