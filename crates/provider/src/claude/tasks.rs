//! Work that claude starts beside the conversation: commands and helper agents, in the foreground or not (providers.md 4.11).

use std::collections::HashMap;

use record::json::{Object, Value};

use crate::events::{Event, Fault};
use crate::limits::{ITEM_ID_MAX_BYTES, ITEMS_MAX_COUNT};

/// The tasks that were started and not ended.
#[derive(Default)]
pub(super) struct Tasks(HashMap<String, Task>);

struct Task {
    /// The tool call that started it.
    call: Option<String>,
    /// Whether it outlives the tool call.
    in_background: bool,
}

impl Tasks {
    /// Takes a `system` event; those that are about no task are passed over.
    pub(super) fn take(&mut self, subtype: &str, event: &Event<'_>) -> Result<(), Fault> {
        if !matches!(subtype, "task_started" | "task_updated" | "task_notification") {
            return Ok(());
        }
        let id = event.text("task_id")?;
        if id.len() > ITEM_ID_MAX_BYTES {
            return Err(event.malformed());
        }
        let in_background = |fields: Object<'_>| fields.get("is_backgrounded").and_then(Value::as_bool);
        match subtype {
            "task_started" => {
                if self.0.len() == ITEMS_MAX_COUNT {
                    return Err(Fault(format!("The turn has more than {ITEMS_MAX_COUNT} open tasks.")));
                }
                let call = event.fields.text("tool_use_id").map(str::to_owned);
                let in_background = in_background(event.fields).unwrap_or(false);
                self.0.insert(id.to_owned(), Task { call, in_background });
            }
            "task_updated" => {
                let Some(patch) = event.fields.get("patch").and_then(Value::as_object) else { return Ok(()) };
                if let (Some(task), Some(in_background)) = (self.0.get_mut(id), in_background(patch)) {
                    task.in_background = in_background;
                }
                if matches!(patch.text("status"), Some("completed" | "failed" | "killed" | "stopped")) {
                    self.0.remove(id);
                }
            }
            _ => drop(self.0.remove(id)),
        }
        Ok(())
    }

    /// Takes a message with the results of tool calls: what a call ran in the foreground has ended with it.
    pub(super) fn take_results(&mut self, message: Object<'_>) {
        if self.0.is_empty() {
            return;
        }
        let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
        for block in blocks.filter_map(Value::as_object) {
            if let Some(call) = block.text("tool_use_id") {
                self.0.retain(|_, task| task.in_background || task.call.as_deref() != Some(call));
            }
        }
    }

    /// Whether any is left.
    pub(super) fn are_open(&self) -> bool {
        !self.0.is_empty()
    }
}
