//! A model request of any of the three APIs, reduced to what a script needs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The wire format of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

/// One step of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The person spoke.
    User(String),
    /// The model spoke, or called a tool.
    Model,
    /// A tool answered.
    ToolResult,
}

/// A tool that the CLI offers.
#[derive(Debug)]
pub(super) struct Tool {
    /// Takes one raw text instead of a JSON object.
    pub(super) custom: bool,
    /// The `properties` of its parameters.
    pub(super) properties: Map<String, Value>,
    /// The parameters that must be there.
    pub(super) required: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) model: String,
    pub(super) streaming: bool,
    pub(super) steps: Vec<Step>,
    pub(super) tools: BTreeMap<String, Tool>,
}

impl Conversation {
    pub(super) fn read(api: Api, body: &Value) -> Self {
        let mut conversation = Self {
            model: string(body, "model").to_owned(),
            streaming: body["stream"].as_bool().unwrap_or(false),
            steps: Vec::new(),
            tools: BTreeMap::new(),
        };
        match api {
            Api::Chat => conversation.read_chat(body),
            Api::Responses => conversation.read_responses(body),
            Api::Messages => conversation.read_messages(body),
        }
        conversation
    }

    /// Number of the present turn: a turn begins where the person speaks after the model.
    pub(super) fn turn(&self) -> usize {
        let again = |pair: &[Step]| matches!(pair, [Step::Model, Step::User(_)]);
        1 + self.steps.windows(2).filter(|pair| again(pair)).count()
    }

    /// Tool results since the step with that index.
    pub(super) fn tool_results_after(&self, index: usize) -> usize {
        let later = self.steps.iter().skip(index);
        later.filter(|step| **step == Step::ToolResult).count()
    }

    fn read_chat(&mut self, body: &Value) {
        for message in list(body, "messages") {
            match string(message, "role") {
                "user" => self.steps.push(Step::User(text(&message["content"]))),
                "assistant" => self.steps.push(Step::Model),
                "tool" => self.steps.push(Step::ToolResult),
                _ => {}
            }
        }
        for tool in list(body, "tools") {
            let function = &tool["function"];
            self.offer(string(function, "name"), false, &function["parameters"]);
        }
    }

    fn read_responses(&mut self, body: &Value) {
        if let Some(prompt) = body["input"].as_str() {
            self.steps.push(Step::User(prompt.to_owned()));
        }
        for item in list(body, "input") {
            match (string(item, "type"), string(item, "role")) {
                ("message" | "", "user") => self.steps.push(Step::User(text(&item["content"]))),
                ("message" | "", "assistant") => self.steps.push(Step::Model),
                // Some models get their tools as an item of the input.
                ("additional_tools", _) => self.offer_all(item),
                (kind, _) if kind.ends_with("_call_output") => self.steps.push(Step::ToolResult),
                (kind, _) if kind.ends_with("_call") => self.steps.push(Step::Model),
                _ => {}
            }
        }
        self.offer_all(body);
    }

    fn read_messages(&mut self, body: &Value) {
        for message in list(body, "messages") {
            if string(message, "role") == "assistant" {
                self.steps.push(Step::Model);
                continue;
            }
            let results =
                list(message, "content").iter().filter(|part| string(part, "type") == "tool_result");
            self.steps.extend(results.map(|_| Step::ToolResult));
            match text(&message["content"]) {
                empty if empty.is_empty() => {}
                spoken => self.steps.push(Step::User(spoken)),
            }
        }
        for tool in list(body, "tools") {
            self.offer(string(tool, "name"), false, &tool["input_schema"]);
        }
    }

    fn offer_all(&mut self, holder: &Value) {
        for tool in list(holder, "tools") {
            match string(tool, "type") {
                "namespace" => self.offer_all(tool),
                kind => self.offer(string(tool, "name"), kind == "custom", &tool["parameters"]),
            }
        }
    }

    fn offer(&mut self, name: &str, custom: bool, parameters: &Value) {
        let required = list(parameters, "required");
        let tool = Tool {
            custom,
            properties: parameters["properties"].as_object().cloned().unwrap_or_default(),
            required: required.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        };
        self.tools.insert(name.to_owned(), tool);
    }
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The text of a content field: a string, or the text parts of a list, one after the other.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_three_apis_give_the_same_steps() {
        let chat = json!({"model": "m", "stream": true, "messages": [
            {"role": "system", "content": "rules"}, {"role": "user", "content": "one"},
            {"role": "assistant", "tool_calls": []}, {"role": "tool", "content": "out"},
            {"role": "assistant", "content": "done"}, {"role": "user", "content": [{"type": "text", "text": "two"}]}]});
        let responses = json!({"model": "m", "stream": true, "input": [
            {"type": "message", "role": "developer", "content": "rules"},
            {"role": "user", "content": [{"type": "input_text", "text": "one"}]},
            {"type": "function_call", "name": "x"}, {"type": "function_call_output", "output": "out"},
            {"type": "reasoning"}, {"role": "assistant", "content": "done"}, {"role": "user", "content": "two"}]});
        let messages = json!({"model": "m", "stream": true, "system": "rules", "messages": [
            {"role": "user", "content": "one"}, {"role": "assistant", "content": [{"type": "tool_use"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "out"}]},
            {"role": "assistant", "content": "done"}, {"role": "user", "content": "two"}]});
        let expected =
            [Step::User("one".into()), Step::Model, Step::ToolResult, Step::Model, Step::User("two".into())];
        for (api, body) in [(Api::Chat, chat), (Api::Responses, responses), (Api::Messages, messages)] {
            let conversation = Conversation::read(api, &body);
            assert_eq!(conversation.steps, expected, "{api:?}");
            assert!(conversation.streaming);
            assert_eq!((conversation.turn(), conversation.tool_results_after(0)), (2, 1));
        }
    }

    #[test]
    fn tools_are_found_wherever_an_api_puts_them() {
        let parameters =
            json!({"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]});
        let chat =
            json!({"tools": [{"type": "function", "function": {"name": "t", "parameters": parameters}}]});
        let responses = json!({"input": [{"type": "additional_tools", "tools": [
            {"type": "namespace", "tools": [{"type": "custom", "name": "c"}]},
            {"type": "function", "name": "t", "parameters": parameters}]}]});
        let messages = json!({"tools": [{"name": "t", "input_schema": parameters}]});
        for (api, body) in [(Api::Chat, chat), (Api::Responses, responses), (Api::Messages, messages)] {
            let conversation = Conversation::read(api, &body);
            assert_eq!(conversation.tools["t"].required, ["cmd"], "{api:?}");
            assert_eq!(conversation.tools.get("c").is_some_and(|tool| tool.custom), api == Api::Responses);
        }
    }
}
