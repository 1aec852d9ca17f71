//! What a summariser is: a bounded reader of a stream that still grows. Nothing acts on what it says but the final grace
//! (STATE.md 3.5); the judge decides.

use crate::limits::OPEN_ITEMS_MAX_COUNT;

/// Reads an event stream as it grows. Never fails, needs less than 64 KiB, and does not depend on how the bytes are cut.
pub trait Summariser: Send {
    /// Takes the next bytes of standard output.
    fn feed(&mut self, bytes: &[u8]);

    /// What is known so far.
    fn summary(&self) -> Summary;
}

/// What a turn is doing, from its events alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events so far, in lines.
    pub events: u64,
    /// The last event: the provider's word for its kind, and what it means in words.
    pub last_event: Option<(String, String)>,
    /// The CLI's id of the conversation.
    pub session: Option<String>,
    /// The event that ends the turn, when it came and nothing began after it.
    pub terminal: Option<Terminal>,
    /// Items or tools that were begun and not ended.
    pub open_items: u32,
    /// The tool that runs now, in words.
    pub tool: Option<String>,
    /// The last event only says that the CLI still waits for a tool.
    pub heartbeat: bool,
    /// The CLI says nothing of a tool before it has ended: whether one runs must be seen elsewhere.
    pub hides_tools: bool,
    /// Tokens used so far, as the provider says.
    pub tokens: Option<u64>,
}

/// How the provider says the turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// With an answer.
    Success,
    /// With an error that no retry follows.
    Error,
}

/// The items that are open, by the digest of their ids; bounded.
#[derive(Debug, Default)]
pub(crate) struct OpenItems(Vec<(u64, Option<String>)>);

impl OpenItems {
    /// An item began or is at work; `tool` says what it runs.
    pub(crate) fn open(&mut self, id: &str, tool: Option<String>) {
        let key = key(id);
        if let Some(item) = self.0.iter_mut().find(|item| item.0 == key) {
            if tool.is_some() {
                item.1 = tool;
            }
        } else if self.0.len() < OPEN_ITEMS_MAX_COUNT {
            self.0.push((key, tool));
        }
    }

    /// An item ended.
    pub(crate) fn close(&mut self, id: &str) {
        let key = key(id);
        self.0.retain(|item| item.0 != key);
    }

    /// How many are open.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// The tool that began last.
    pub(crate) fn tool(&self) -> Option<String> {
        self.0.iter().rev().find_map(|item| item.1.clone())
    }
}

/// FNV-1a: the same in every process, and no secret is kept from anybody by it.
fn key(id: &str) -> u64 {
    id.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_items_are_bounded_and_closed_by_id() {
        let mut items = OpenItems::default();
        items.open("a", Some("first".to_owned()));
        items.open("b", Some("second".to_owned()));
        items.open("b", None);
        assert_eq!((items.count(), items.tool().as_deref()), (2, Some("second")));
        items.close("b");
        assert_eq!((items.count(), items.tool().as_deref()), (1, Some("first")));
        for number in 0..10_000 {
            items.open(&number.to_string(), None);
        }
        assert_eq!(items.count() as usize, OPEN_ITEMS_MAX_COUNT);
    }
}
