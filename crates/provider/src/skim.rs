//! Picks a few named values out of a growing event stream, byte by byte.
//!
//! A line may be as long as the answer, and its kind must be known all the same; so nothing of a line is kept but the wanted
//! values, each cut. What is no JSON gives values of no use and never an error: judges are strict, this is not.

use memchr::memchr3;

use crate::limits::{SKIM_MAX_DEPTH, SKIM_TEXT_MAX_BYTES};
use crate::raw_text::decode;

/// The wanted values of one line, by their path (`item.type`; array positions have no name). Of values under the same path
/// the last counts.
#[derive(Debug)]
pub(crate) struct Fields {
    wanted: &'static [&'static str],
    values: Vec<String>,
    found: Paths,
}

/// A set of wanted paths, one bit for each.
type Paths = u64;

impl Fields {
    /// The value of a path: a text, or a number or `true`, `false` as it is written.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        members(self.found).find(|index| self.wanted[*index] == path).map(|index| self.values[index].as_str())
    }

    /// The value of a path as a count.
    pub(crate) fn count(&self, path: &str) -> Option<u64> {
        self.get(path)?.parse().ok()
    }
}

/// The scanner of one stream.
#[derive(Debug)]
pub(crate) struct Skim {
    /// The keys of each wanted path.
    keys: Vec<Vec<&'static str>>,
    all: Paths,
    fields: Fields,
    /// The containers that are open; those beyond [`SKIM_MAX_DEPTH`] are only counted.
    open: Vec<Container>,
    too_deep: usize,
    state: State,
    target: Target,
    /// The raw bytes of the text or word being read, cut, if it has a target.
    raw: Vec<u8>,
    /// The last key that had escapes.
    key: String,
}

#[derive(Clone, Copy, Debug)]
struct Container {
    /// Whether the next text is a key; never in an array.
    expects_key: bool,
    is_object: bool,
    /// How many objects are open with it.
    depth: usize,
    /// The paths that lead into it.
    leading: Paths,
    /// The paths that lead on to the value being read.
    at: Paths,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Text { escaped: bool },
    Word,
}

/// What the text or word being read is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Nothing,
    /// It is the key of a value that may be wanted or hold a wanted one.
    Key,
    /// It is the wanted value of that index.
    Value(usize),
}

impl Skim {
    /// A scanner for these paths, 64 at most.
    pub(crate) fn new(wanted: &'static [&'static str]) -> Self {
        assert!((1..=Paths::BITS as usize).contains(&wanted.len()), "too many paths");
        Self {
            all: Paths::MAX >> (Paths::BITS as usize - wanted.len()),
            keys: wanted.iter().map(|path| path.split('.').collect()).collect(),
            fields: Fields { wanted, values: vec![String::new(); wanted.len()], found: 0 },
            open: Vec::new(),
            too_deep: 0,
            state: State::Between,
            target: Target::Nothing,
            raw: Vec::new(),
            key: String::new(),
        }
    }

    /// Takes the next bytes; `line` gets the values of each line that ends in them.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&Fields)) {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let taken = if *byte == b'\n' {
                self.end_word();
                line(&self.fields);
                self.begin();
                1
            } else {
                self.take(rest)
            };
            rest = &rest[taken..];
        }
    }

    /// The same for objects that may go over several lines: each ends with its closing brace.
    pub(crate) fn feed_objects(&mut self, bytes: &[u8], mut object: impl FnMut(&Fields)) {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let within = !self.open.is_empty();
            let taken = self.take(if *byte == b'\n' { b" " } else { rest });
            if within && self.open.is_empty() {
                object(&self.fields);
                self.begin();
            }
            rest = &rest[taken..];
        }
    }

    /// Forgets what was read.
    fn begin(&mut self) {
        self.fields.found = 0;
        self.open.clear();
        self.too_deep = 0;
        self.state = State::Between;
    }

    /// Takes at least the first byte, and the next ones of the same text up to a line feed; how many they are.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let State::Text { escaped } = self.state else {
            self.structure(bytes[0]);
            return 1;
        };
        let ordinary = if escaped { 1 } else { ordinary(bytes) };
        if bytes.get(ordinary) == Some(&b'"') {
            if self.raw.is_empty() {
                self.end_text(&bytes[..ordinary.min(SKIM_TEXT_MAX_BYTES)]);
            } else {
                self.keep(&bytes[..ordinary]);
                let raw = std::mem::take(&mut self.raw);
                self.end_text(&raw);
                self.raw = raw;
            }
            return ordinary + 1;
        }
        self.keep(&bytes[..ordinary.max(1)]);
        self.state = State::Text { escaped: ordinary == 0 };
        ordinary.max(1)
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.end_word();
                self.state = State::Text { escaped: false };
                self.target = self.target();
                self.raw.clear();
            }
            b'{' => self.enter(true),
            b'[' => self.enter(false),
            b'}' | b']' => {
                self.end_word();
                match self.too_deep.checked_sub(1) {
                    Some(left) => self.too_deep = left,
                    None => drop(self.open.pop()),
                }
            }
            b',' | b':' => {
                self.end_word();
                if let Some(container) = self.innermost() {
                    container.expects_key = container.is_object && byte == b',';
                }
            }
            b' ' | b'\t' | b'\r' => self.end_word(),
            _ => {
                if self.state != State::Word {
                    self.state = State::Word;
                    self.target = self.target();
                    self.raw.clear();
                }
                self.keep(&[byte]);
            }
        }
    }

    fn innermost(&mut self) -> Option<&mut Container> {
        if self.too_deep == 0 { self.open.last_mut() } else { None }
    }

    fn enter(&mut self, is_object: bool) {
        self.end_word();
        if self.open.len() == SKIM_MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        let around = self.open.last();
        let leading = around.map_or(self.all, |container| container.at);
        self.open.push(Container {
            expects_key: is_object,
            is_object,
            depth: around.map_or(0, |container| container.depth) + usize::from(is_object),
            leading,
            at: if is_object { 0 } else { leading },
        });
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.target != Target::Nothing {
            let free = SKIM_TEXT_MAX_BYTES - self.raw.len();
            self.raw.extend_from_slice(&bytes[..bytes.len().min(free)]);
        }
    }

    fn end_text(&mut self, raw: &[u8]) {
        self.state = State::Between;
        match (self.target, self.open.last_mut()) {
            (Target::Value(index), _) => {
                decode(raw, &mut self.fields.values[index]);
                self.fields.found |= 1 << index;
            }
            (Target::Key, Some(container)) => {
                let key = if raw.contains(&b'\\') {
                    decode(raw, &mut self.key);
                    self.key.as_bytes()
                } else {
                    raw
                };
                let part = container.depth - 1;
                container.at = 0;
                for index in members(container.leading) {
                    let leads_on = self.keys[index].get(part).is_some_and(|part| part.as_bytes() == key);
                    container.at |= Paths::from(leads_on) << index;
                }
            }
            _ => {}
        }
    }

    fn end_word(&mut self) {
        if self.state != State::Word {
            return;
        }
        self.state = State::Between;
        if let Target::Value(index) = self.target {
            let value = &mut self.fields.values[index];
            value.clear();
            value.push_str(&String::from_utf8_lossy(&self.raw));
            self.fields.found |= 1 << index;
        }
    }

    /// What a text or word that begins here is good for.
    fn target(&self) -> Target {
        match self.open.last().filter(|_| self.too_deep == 0) {
            Some(Container { expects_key: true, leading: 1.., .. }) => Target::Key,
            Some(Container { expects_key: false, depth, at, .. }) => members(*at)
                .find(|index| self.keys[*index].len() == *depth)
                .map_or(Target::Nothing, Target::Value),
            _ => Target::Nothing,
        }
    }
}

/// How many bytes come before the end of a text, an escape or the end of the line. Most texts are short.
fn ordinary(bytes: &[u8]) -> usize {
    const SHORT_BYTES: usize = 24;
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
    let (short, rest) = bytes.split_at(bytes.len().min(SHORT_BYTES));
    short
        .iter()
        .position(is_special)
        .or_else(|| Some(short.len() + memchr3(b'"', b'\\', b'\n', rest)?))
        .unwrap_or(bytes.len())
}

/// The indexes in a set, from the least.
fn members(mut paths: Paths) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = (paths != 0).then(|| paths.trailing_zeros() as usize);
        paths &= paths.wrapping_sub(1);
        index
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: &[&str] = &["type", "item.type", "item.text", "list.name", "n"];

    fn lines(stream: &[u8]) -> Vec<Vec<(&'static str, String)>> {
        let mut found = Vec::new();
        Skim::new(WANTED).feed(stream, |fields| found.push(all(fields)));
        found
    }

    fn all(fields: &Fields) -> Vec<(&'static str, String)> {
        let found = |path: &&'static str| Some((*path, fields.get(path)?.to_owned()));
        WANTED.iter().filter_map(found).collect()
    }

    #[test]
    fn wanted_values_and_nothing_else() {
        let line = br#" { "type" : "a\"b" , "item":{"type":"x","more":{"type":"no"},"text":"\u00e9\n\ud83d\ude00"},"list":[{"name":1},{"name":true}],"n":12 }
"#;
        assert_eq!(
            lines(line),
            [vec![
                ("type", "a\"b".to_owned()),
                ("item.type", "x".to_owned()),
                ("item.text", "é\n😀".to_owned()),
                ("list.name", "true".to_owned()),
                ("n", "12".to_owned()),
            ]]
        );
    }

    #[test]
    fn long_texts_are_cut_on_a_character() {
        for unit in ["é", "\\u00e9", "\\ud83d\\ude00", "\\\\", "x"] {
            let line = format!(
                "{{\"item\":{{\"text\":\"{}\",\"type\":\"t\"}},\"type\":\"a\"}}\n",
                unit.repeat(10_000)
            );
            let found = lines(line.as_bytes());
            let text = &found[0].iter().find(|field| field.0 == "item.text").unwrap().1;
            let one: String = serde_json::from_str(&format!("\"{unit}\"")).unwrap();
            assert!(
                text.len() >= SKIM_TEXT_MAX_BYTES / 12 && text.replace(&one, "").is_empty(),
                "{unit}: {text:?}"
            );
            assert!(found[0].contains(&("type", "a".to_owned())));
        }
    }

    #[test]
    fn any_depth_is_passed_over() {
        let line = format!(
            "{{\"item\":{}{},\"type\":\"a\"}}\n",
            "[{\"type\":".repeat(1000),
            "1".to_owned() + &"}]".repeat(1000)
        );
        assert_eq!(lines(line.as_bytes()), [vec![("type", "a".to_owned())]]);
    }

    #[test]
    fn objects_end_with_their_braces() {
        let mut found = Vec::new();
        let stream = b"{\n \"type\":\n\"}{\",\n\"item\": {}\n}\n{\"type\":\"b\"}{";
        Skim::new(WANTED).feed_objects(stream, |fields| found.push(all(fields)));
        assert_eq!(found, [[("type", "}{".to_owned())], [("type", "b".to_owned())]]);
    }

    #[test]
    fn a_broken_line_does_not_spoil_the_next() {
        let found = lines(b"{\"type\":\"a\n}}]],,::\"\\u12\n{\"type\":\"b\"}\n");
        assert_eq!(found[2], [("type", "b".to_owned())]);
    }
}
