//! What was read of a text, flat: every value in the order of the text, with the length of its inside. Keys and texts stay
//! where they are; only those with escapes are copied.

/// The values of one text. Its memory serves one text after the other.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) nodes: Vec<Node>,
    /// Keys and texts that had escapes, one behind the other.
    pub(super) unescaped: String,
    /// Hashes of the keys of the objects that are open. Keys that differ only in case have the same.
    pub(super) hashes: Vec<u64>,
}

/// A value, and the key before it when it is in an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) key: Span,
    pub(super) content: Content,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Span),
    /// The values up to the node of that index are inside.
    Array {
        end: u32,
    },
    /// The same.
    Object {
        end: u32,
    },
}

/// Where a key or text is. The length of a text fits 32 bits (`read` sees to it), so does what is unescaped of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u32,
    length: u32,
    is_unescaped: bool,
}

impl Span {
    /// A part of the text itself.
    pub(super) fn borrowed(text: &str, part: &str) -> Self {
        let start = part.as_ptr().addr() - text.as_ptr().addr();
        Self { start: start as u32, length: part.len() as u32, is_unescaped: false }
    }

    pub(super) fn of<'a>(self, text: &'a str, unescaped: &'a str) -> &'a str {
        let source = if self.is_unescaped { unescaped } else { text };
        let start = self.start as usize;
        &source[start..start + self.length as usize]
    }
}

impl Tape {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.unescaped.clear();
        self.hashes.clear();
    }

    /// Keeps a key or text that stands nowhere as it is.
    pub(super) fn keep(&mut self, text: &str) -> Span {
        let start = self.unescaped.len() as u32;
        self.unescaped.push_str(text);
        Span { start, length: text.len() as u32, is_unescaped: true }
    }

    pub(super) fn push(&mut self, key: Span, content: Content) {
        self.nodes.push(Node { key, content });
    }
}

impl Node {
    /// The index of what follows a node, which is at that index.
    pub(super) fn next(&self, index: usize) -> usize {
        match self.content {
            Content::Array { end } | Content::Object { end } => end as usize,
            _ => index + 1,
        }
    }
}
