//! What a summariser is: a bounded reader of a stream that still grows. Nothing acts on what it says but the final grace
//! (STATE.md 3.5); the judge decides.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::limits::OPEN_ITEMS_MAX_COUNT;
use crate::screen;
use crate::skim::{Fields, Skim};

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

/// What the events of a CLI mean.
pub(crate) trait Meaning: Debug + Default + Send {
    /// The values of an event that are looked at, by their paths.
    const WANTED: &'static [&'static str];
    /// The kind of the event that only says that the CLI still waits for a tool.
    const HEARTBEAT: Option<&'static str> = None;
    /// The CLI says nothing of a tool before it has ended.
    const HIDES_TOOLS: bool = false;

    /// Takes an event of that kind, and tells in words what happens; they are screened when somebody asks.
    fn take(&mut self, kind: &str, fields: &Fields, known: &mut Known) -> Cow<'static, str>;
}

/// What is known so far: a summary, but for the last event and what is in the open items.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) summary: Summary,
    pub(crate) open: OpenItems,
}

/// The summariser of a stream with an event on each line.
#[derive(Debug)]
pub(crate) struct EventSummary<M> {
    skim: Skim,
    meaning: M,
    known: Known,
    last_kind: String,
    last_words: Cow<'static, str>,
}

impl<M: Meaning> EventSummary<M> {
    pub(crate) fn new() -> Self {
        Self {
            skim: Skim::new(M::WANTED),
            meaning: M::default(),
            known: Known::default(),
            last_kind: String::new(),
            last_words: Cow::default(),
        }
    }
}

impl<M: Meaning> Summariser for EventSummary<M> {
    fn feed(&mut self, bytes: &[u8]) {
        let Self { skim, meaning, known, last_kind, last_words } = self;
        skim.feed(bytes, |fields| {
            let Some(kind) = fields.get("type") else { return };
            known.summary.events += 1;
            known.summary.heartbeat = M::HEARTBEAT == Some(kind);
            if known.summary.heartbeat {
                return;
            }
            *last_words = meaning.take(kind, fields, known);
            last_kind.clear();
            last_kind.push_str(kind);
        });
    }

    fn summary(&self) -> Summary {
        let Known { summary, open } = &self.known;
        let last_event = || (screen::words(&self.last_kind), screen::words(&self.last_words));
        Summary {
            last_event: (!self.last_kind.is_empty()).then(last_event),
            open_items: open.count(),
            tool: open.tool(),
            hides_tools: M::HIDES_TOOLS,
            ..summary.clone()
        }
    }
}

/// The items that are open, by the digest of their ids; bounded.
#[derive(Debug, Default)]
pub(crate) struct OpenItems(Vec<OpenItem>);

#[derive(Debug)]
struct OpenItem {
    id: u64,
    /// The digest of what the tool was told to be, and that in words.
    tool: Option<(u64, String)>,
}

impl OpenItems {
    /// An item began or is at work; `tool` says what it runs.
    pub(crate) fn open(&mut self, id: &str, tool: Option<&str>) {
        let id = digest(id);
        let index = match self.0.iter().position(|item| item.id == id) {
            Some(index) => index,
            None if self.0.len() == OPEN_ITEMS_MAX_COUNT => return,
            None => {
                self.0.push(OpenItem { id, tool: None });
                self.0.len() - 1
            }
        };
        let Some(tool) = tool else { return };
        let told = digest(tool);
        let known = &mut self.0[index].tool;
        if known.as_ref().is_none_or(|known| known.0 != told) {
            *known = Some((told, screen::words(tool)));
        }
    }

    /// An item ended.
    pub(crate) fn close(&mut self, id: &str) {
        let id = digest(id);
        self.0.retain(|item| item.id != id);
    }

    /// How many are open.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// The tool that began last.
    pub(crate) fn tool(&self) -> Option<String> {
        self.0.iter().rev().find_map(|item| Some(item.tool.as_ref()?.1.clone()))
    }
}

/// FNV-1a: the same in every process, and no secret is kept from anybody by it.
fn digest(id: &str) -> u64 {
    id.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_items_are_bounded_and_closed_by_id() {
        let mut items = OpenItems::default();
        items.open("a", Some("first"));
        items.open("b", Some("second"));
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
