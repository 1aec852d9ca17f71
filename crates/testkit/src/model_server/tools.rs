//! Calls of the tools that a CLI offers: each CLI names and shapes them its own way.

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, Tool};

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) input: Input,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    /// A JSON object.
    Arguments(Map<String, Value>),
    /// One raw text (a custom tool).
    Raw(String),
}

impl Input {
    /// The object; a raw text becomes its only member.
    pub(super) fn to_object(&self) -> Value {
        match self {
            Self::Arguments(arguments) => Value::Object(arguments.clone()),
            Self::Raw(text) => json!({ "input": text }),
        }
    }
}

const SHELL_TOOLS: &[&str] = &["exec_command", "shell_command", "shell", "Bash", "bash"];
const WRITE_TOOLS: &[&str] = &["Write", "write", "write_file"];
const EDIT_TOOLS: &[&str] = &["Edit", "edit"];
const READ_TOOLS: &[&str] = &["Read", "read", "read_file"];
const PATH_PARAMETERS: &[&str] = &["file_path", "filePath", "path"];
/// The custom tool of codex's code mode: its input is a program that calls the others.
const CODE_TOOL: &str = "exec";
const PATCH_TOOL: &str = "apply_patch";

/// A shell command, when the CLI offers a way to run one.
pub(super) fn shell(conversation: &Conversation, command: &str) -> Option<ToolCall> {
    if code_mode(conversation) {
        return Some(code(&format!("await tools.exec_command({{cmd: {}}})", json!(command))));
    }
    let (name, tool) = offered(conversation, SHELL_TOOLS)?;
    let parameter = parameter(tool, &["cmd", "command"])?;
    let value = if tool.properties[parameter]["type"] == "array" {
        json!(["bash", "-lc", command])
    } else {
        json!(command)
    };
    Some(call(name, tool, [(parameter, value)]))
}

/// A new file, when the CLI offers a way to write one.
pub(super) fn write(conversation: &Conversation, path: &str, content: &str) -> Option<ToolCall> {
    if let Some((name, tool)) = offered(conversation, WRITE_TOOLS) {
        let path_parameter = parameter(tool, PATH_PARAMETERS)?;
        let content_parameter = parameter(tool, &["content"])?;
        let arguments = [(path_parameter, json!(path)), (content_parameter, json!(content))];
        return Some(call(name, tool, arguments));
    }
    let patch = patch(path, content);
    if code_mode(conversation) {
        return Some(code(&format!("await tools.apply_patch({})", json!(patch))));
    }
    match conversation.tools.get(PATCH_TOOL) {
        Some(tool) if tool.custom => Some(ToolCall { name: PATCH_TOOL.to_owned(), input: Input::Raw(patch) }),
        Some(tool) => Some(call(PATCH_TOOL, tool, [(parameter(tool, &["input"])?, json!(patch))])),
        None => shell(conversation, &format!("printf %s {} > {}", quoted(content), quoted(path))),
    }
}

/// Another text in a file, when the CLI offers a way to replace one.
pub(super) fn edit(conversation: &Conversation, path: &str, old: &str, new: &str) -> Option<ToolCall> {
    let (name, tool) = offered(conversation, EDIT_TOOLS)?;
    let path_parameter = parameter(tool, PATH_PARAMETERS)?;
    let old_parameter = parameter(tool, &["old_string", "oldString"])?;
    let new_parameter = parameter(tool, &["new_string", "newString"])?;
    let arguments = [(path_parameter, json!(path)), (old_parameter, json!(old)), (new_parameter, json!(new))];
    Some(call(name, tool, arguments))
}

/// A look at a file, when the CLI offers one.
pub(super) fn read(conversation: &Conversation, path: &str) -> Option<ToolCall> {
    match offered(conversation, READ_TOOLS) {
        Some((name, tool)) => Some(call(name, tool, [(parameter(tool, PATH_PARAMETERS)?, json!(path))])),
        None => shell(conversation, &format!("cat {}", quoted(path))),
    }
}

/// A tool that nobody offers.
pub(super) fn unknown() -> ToolCall {
    ToolCall { name: "no_such_tool".to_owned(), input: Input::Arguments(Map::new()) }
}

fn code_mode(conversation: &Conversation) -> bool {
    conversation.tools.get(CODE_TOOL).is_some_and(|tool| tool.custom)
}

fn code(expression: &str) -> ToolCall {
    ToolCall { name: CODE_TOOL.to_owned(), input: Input::Raw(format!("text({expression});\n")) }
}

fn offered<'a>(conversation: &'a Conversation, names: &[&'static str]) -> Option<(&'static str, &'a Tool)> {
    names.iter().find_map(|name| conversation.tools.get(*name).map(|tool| (*name, tool)))
}

fn parameter(tool: &Tool, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| tool.properties.contains_key(*name))
}

/// Fills what else the tool demands with the plainest value of its kind.
fn call<const N: usize>(name: &str, tool: &Tool, arguments: [(&str, Value); N]) -> ToolCall {
    let mut object: Map<String, Value> =
        arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    for key in &tool.required {
        if !object.contains_key(key) {
            let value =
                match tool.properties.get(key).map_or("", |schema| schema["type"].as_str().unwrap_or("")) {
                    "boolean" => json!(false),
                    "number" | "integer" => json!(0),
                    "array" => json!([]),
                    "object" => json!({}),
                    _ => json!("scripted"),
                };
            object.insert(key.clone(), value);
        }
    }
    ToolCall { name: name.to_owned(), input: Input::Arguments(object) }
}

fn patch(path: &str, content: &str) -> String {
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_server::conversation::Api;

    fn chat(tools: Value) -> Conversation {
        let tools: Vec<Value> = tools
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, parameters)| json!({"function": {"name": name, "parameters": parameters}}))
            .collect();
        Conversation::read(Api::Chat, &json!({ "tools": tools }))
    }

    #[test]
    fn a_shell_call_fits_the_offered_parameters() {
        let conversation = chat(json!({"bash": {
            "properties": {"command": {"type": "string"}, "timeout": {"type": "number"}, "why": {"type": "string"}},
            "required": ["command", "timeout", "why"]}}));
        let call = shell(&conversation, "ls").unwrap();
        assert_eq!(call.name, "bash");
        assert_eq!(call.input.to_object(), json!({"command": "ls", "timeout": 0, "why": "scripted"}));
    }

    #[test]
    fn a_file_is_written_by_the_shell_when_there_is_nothing_better() {
        let conversation = chat(json!({"bash": {"properties": {"command": {"type": "string"}}}}));
        let call = write(&conversation, "a b", "it's").unwrap();
        assert_eq!(call.input.to_object()["command"], r"printf %s 'it'\''s' > 'a b'");
        assert_eq!(write(&chat(json!({})), "a", "b"), None);
    }

    #[test]
    fn code_mode_wraps_the_call_into_a_program() {
        let body = json!({"tools": [{"type": "custom", "name": "exec"}]});
        let conversation = Conversation::read(Api::Responses, &body);
        let call = write(&conversation, "x", "line\n").unwrap();
        let expected = "text(await tools.apply_patch(\"*** Begin Patch\\n*** Add File: x\\n+line\\n*** End Patch\\n\"));\n";
        assert_eq!(call.input, Input::Raw(expected.to_owned()));
    }
}
