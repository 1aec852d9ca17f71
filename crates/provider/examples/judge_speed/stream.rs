//! Long streams of each grammar, made as they are read.

use std::io::{self, Read};

const UUID: &str = "01900000-0000-7000-8000-000000000001";

/// One grammar.
pub(crate) struct Grammar {
    pub(crate) profile: &'static str,
    /// The longest stream that is still one turn of it.
    pub(crate) longest_bytes: u64,
    head: &'static str,
    block: fn(u64, &str) -> String,
    tail: &'static str,
}

/// Every grammar.
pub(crate) static GRAMMARS: [Grammar; 6] = [
    Grammar {
        profile: "codex:exec",
        longest_bytes: u64::MAX,
        head: concat!(
            "{\"type\":\"thread.started\",\"thread_id\":\"01900000-0000-7000-8000-000000000001\"}\n",
            "{\"type\":\"turn.started\"}\n"
        ),
        block: codex,
        tail: concat!(
            "{\"type\":\"item.completed\",\"item\":{\"id\":\"last\",\"type\":\"agent_message\",\"text\":\"Done.\"}}\n",
            "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":79327,\"output_tokens\":50}}\n"
        ),
    },
    Grammar {
        profile: "claude:print",
        longest_bytes: u64::MAX,
        head: concat!(
            "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/w\",\"session_id\":\"01900000-0000-7000-8000-000000000001\",",
            "\"tools\":[\"Bash\",\"Read\"],\"model\":\"m\",\"permissionMode\":\"dontAsk\"}\n"
        ),
        block: claude,
        tail: concat!(
            "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":2,\"result\":\"Done.\",",
            "\"stop_reason\":\"end_turn\",\"session_id\":\"01900000-0000-7000-8000-000000000001\",\"usage\":{\"input_tokens\":65021,\"output_tokens\":50}}\n"
        ),
    },
    Grammar {
        profile: "pi:json",
        longest_bytes: u64::MAX,
        head: concat!(
            "{\"type\":\"session\",\"version\":3,\"id\":\"01900000-0000-7000-8000-000000000001\",\"cwd\":\"/w\"}\n",
            "{\"type\":\"agent_start\"}\n"
        ),
        block: pi,
        tail: concat!(
            "{\"type\":\"turn_start\"}\n",
            "{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n",
            "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}],\"stopReason\":\"stop\"}}\n",
            "{\"type\":\"turn_end\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}],\"stopReason\":\"stop\"},\"toolResults\":[]}\n",
            "{\"type\":\"agent_end\",\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}],\"stopReason\":\"stop\"}]}\n"
        ),
    },
    Grammar {
        profile: "opencode:run",
        longest_bytes: u64::MAX,
        head: "",
        block: opencode,
        tail: concat!(
            "{\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{\"id\":\"prt_1\"}}\n",
            "{\"type\":\"text\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{\"id\":\"prt_2\",\"type\":\"text\",\"text\":\"Done.\"}}\n",
            "{\"type\":\"step_finish\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{\"id\":\"prt_3\",\"reason\":\"stop\"}}\n"
        ),
    },
    Grammar {
        profile: "offline:survey",
        longest_bytes: u64::MAX,
        head: "{\"type\":\"session\",\"id\":\"s\"}\n",
        block: worker,
        tail: "{\"type\":\"answer\",\"text\":\"Done.\"}\n{\"type\":\"result\",\"status\":\"ok\"}\n",
    },
    Grammar {
        profile: "antigravity:print",
        longest_bytes: 60 << 20,
        head: "{\"conversation_id\":\"01900000-0000-7000-8000-000000000001\",\"status\":\"SUCCESS\",\"response\":\"",
        block: antigravity,
        tail: "\",\"duration_seconds\":12.5,\"num_turns\":3,\"usage\":{\"input_tokens\":5,\"output_tokens\":4}}\n",
    },
];

impl Grammar {
    /// A stream of about that length, whose tools print so much.
    pub(crate) fn stream(&self, output_bytes: usize, bytes: u64) -> impl Read + use<'_> {
        // Lines of code, as a tool prints them, inside a JSON string.
        let output: String = r#"fn read(&self) -> Result<Vec<u8>, Error> {\n    self.inner.get(\"key\")\n}\n"#
            .chars()
            .cycle()
            .take(output_bytes)
            .collect();
        let output = output.trim_end_matches('\\').to_owned();
        let mut left = bytes.min(self.longest_bytes);
        let mut index = 0;
        let blocks = std::iter::from_fn(move || {
            index += 1;
            let block = (self.block)(index, &output);
            left = left.checked_sub(block.len() as u64)?;
            Some(block)
        });
        let parts = std::iter::once(self.head.to_owned()).chain(blocks).chain([self.tail.to_owned()]);
        Parts { parts, part: Vec::new(), position: 0 }
    }
}

/// Reads texts one after the other.
struct Parts<I> {
    parts: I,
    part: Vec<u8>,
    position: usize,
}

impl<I: Iterator<Item = String>> Read for Parts<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.part.len() {
            match self.parts.next() {
                Some(part) => (self.part, self.position) = (part.into_bytes(), 0),
                None => return Ok(0),
            }
        }
        let length = (&self.part[self.position..]).read(buffer)?;
        self.position += length;
        Ok(length)
    }
}

/// A turn has a limited number of items, so an item tells of itself more than once.
fn codex(index: u64, output: &str) -> String {
    const ITEMS: u64 = 60_000;
    let item = |event: &str, code: &str, status: &str, output: &str| {
        format!(
            "{{\"type\":\"item.{event}\",\"item\":{{\"id\":\"item_{index}\",\"type\":\"command_execution\",\"command\":\"/bin/bash -lc 'echo step'\",\
             \"aggregated_output\":\"{output}\",\"exit_code\":{code},\"status\":\"{status}\"}}}}\n"
        )
    };
    let events = [
        item("started", "null", "in_progress", ""),
        item("updated", "null", "in_progress", output).repeat(4),
        item("completed", "0", "completed", output),
    ];
    if index <= ITEMS { events.concat() } else { metric(index, output) }
}

/// Telemetry that the grammar passes over.
fn metric(index: u64, output: &str) -> String {
    format!("{{\"type\":\"metrics.sample\",\"index\":{index},\"text\":\"{output}\"}}\n").repeat(4)
}

fn claude(index: u64, output: &str) -> String {
    let session = format!("\"session_id\":\"{UUID}\",\"uuid\":\"{UUID}\"");
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"id\":\"toolu_{index}\",\"input\":{{\"command\":\"echo step\"}},\"name\":\"Bash\",\"type\":\"tool_use\"}}],\
         \"id\":\"msg_{index}\",\"model\":\"m\",\"role\":\"assistant\",\"stop_reason\":null,\"stop_sequence\":null,\"type\":\"message\",\
         \"usage\":{{\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"input_tokens\":12898,\"output_tokens\":1}},\"context_management\":null}},\
         \"parent_tool_use_id\":null,{session}}}\n\
         {{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{index}\",\"type\":\"tool_result\",\"content\":\"{output}\",\
         \"is_error\":false}}]}},\"parent_tool_use_id\":null,{session},\"timestamp\":\"2026-01-01T00:00:00.000Z\",\
         \"tool_use_result\":{{\"stdout\":\"{output}\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false,\"noOutputExpected\":false}}}}\n"
    )
}

fn pi(index: u64, output: &str) -> String {
    let usage = "\"usage\":{\"input\":1379,\"output\":10,\"cacheRead\":0,\"cacheWrite\":0,\"reasoning\":0,\"totalTokens\":1389,\
        \"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0,\"totalFromProvider\":false}}";
    let call = format!(
        "{{\"type\":\"toolCall\",\"id\":\"call_{index}\",\"name\":\"bash\",\"arguments\":{{\"command\":\"echo step\"}}}}"
    );
    let message = format!(
        "{{\"role\":\"assistant\",\"content\":[{call}],\"api\":\"openai-completions\",\"provider\":\"scripted\",\"model\":\"m\",{usage},\
         \"stopReason\":\"toolUse\",\"timestamp\":1}}"
    );
    let result = format!(
        "{{\"role\":\"toolResult\",\"toolCallId\":\"call_{index}\",\"toolName\":\"bash\",\"content\":[{{\"type\":\"text\",\"text\":\"{output}\"}}],\
         \"isError\":false,\"timestamp\":1}}"
    );
    let update = format!(
        "{{\"type\":\"message_update\",{usage},\"assistantMessageEvent\":{{\"type\":\"toolcall_delta\",\"contentIndex\":0,\"delta\":\"{{}}\"}}}}\n"
    );
    format!(
        "{{\"type\":\"turn_start\"}}\n{{\"type\":\"message_start\",\"message\":{message}}}\n{update}{update}{{\"type\":\"message_end\",\"message\":{message}}}\n\
         {{\"type\":\"tool_execution_start\",\"toolCallId\":\"call_{index}\",\"toolName\":\"bash\",\"args\":{{\"command\":\"echo step\"}}}}\n\
         {{\"type\":\"tool_execution_end\",\"toolCallId\":\"call_{index}\",\"toolName\":\"bash\",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{output}\"}}]}},\"isError\":false}}\n\
         {{\"type\":\"message_start\",\"message\":{result}}}\n{{\"type\":\"message_end\",\"message\":{result}}}\n\
         {{\"type\":\"turn_end\",\"message\":{message},\"toolResults\":[{result}]}}\n"
    )
}

fn opencode(index: u64, output: &str) -> String {
    let head = "\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{";
    let ids = "\"messageID\":\"msg_000000000003\",\"sessionID\":\"ses_1\"";
    format!(
        "{{\"type\":\"step_start\",{head}\"id\":\"prt_{index}\",{ids},\"type\":\"step-start\"}}}}\n\
         {{\"type\":\"tool_use\",{head}\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"call_{index}\",\"state\":{{\"status\":\"completed\",\"input\":{{\"command\":\"echo step\"}},\
         \"output\":\"{output}\",\"metadata\":{{\"output\":\"{output}\",\"exit\":0,\"truncated\":false}},\"title\":\"echo step\",\"time\":{{\"start\":1,\"end\":1}}}},{ids}}}}}\n\
         {{\"type\":\"step_finish\",{head}\"id\":\"prt_{index}\",\"reason\":\"tool-calls\",{ids},\"type\":\"step-finish\",\
         \"tokens\":{{\"total\":7715,\"input\":7705,\"output\":10,\"reasoning\":0,\"cache\":{{\"write\":0,\"read\":0}}}},\"cost\":0}}}}\n"
    )
}

fn worker(_: u64, output: &str) -> String {
    format!("{{\"type\":\"progress\",\"text\":\"{output}\"}}\n")
}

fn antigravity(_: u64, output: &str) -> String {
    output.to_owned()
}
