//! Picks a few named values out of a growing event stream, byte by byte.
//!
//! A line may be as long as the answer, and its kind must be known all the same; so nothing of a line is kept but the wanted
//! values, each cut. What is no JSON gives values of no use and never an error: judges are strict, this is not.

use memchr::memchr3;

use crate::limits::{SKIM_MAX_DEPTH, SKIM_TEXT_MAX_BYTES};

/// The wanted values of one line, by their path (`item.type`; array positions have no name). Of values under the same path
/// the last counts.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// The value of a path: a text, or a number or `true`, `false` as it is written.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|field| field.0 == path).map(|field| field.1.as_str())
    }

    /// The value of a path as a count.
    pub(crate) fn count(&self, path: &str) -> Option<u64> {
        self.get(path)?.parse().ok()
    }

    fn set(&mut self, path: &'static str, value: String) {
        match self.0.iter_mut().find(|field| field.0 == path) {
            Some(field) => field.1 = value,
            None => self.0.push((path, value)),
        }
    }
}

/// The scanner of one stream.
#[derive(Debug)]
pub(crate) struct Skim {
    wanted: &'static [&'static str],
    fields: Fields,
    /// The containers that are open; those beyond [`SKIM_MAX_DEPTH`] are only counted.
    open: Vec<Container>,
    too_deep: usize,
    state: State,
    /// The raw bytes of the text or word being read, cut.
    raw: Vec<u8>,
    /// Up to where `raw` can be cut without cutting a character or escape.
    whole: usize,
}

#[derive(Debug)]
enum Container {
    Array,
    /// An object, the key whose value is being read, and whether the next text is a key.
    Object {
        key: Option<String>,
        expects_key: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Text { escaped: bool, digits: u8 },
    Word,
}

impl Skim {
    /// A scanner for these paths.
    pub(crate) fn new(wanted: &'static [&'static str]) -> Self {
        Self {
            wanted,
            fields: Fields::default(),
            open: Vec::new(),
            too_deep: 0,
            state: State::Between,
            raw: Vec::new(),
            whole: 0,
        }
    }

    /// Takes the next bytes; `line` gets the values of each line that ends in them.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&Fields)) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte == b'\n' {
                self.end_word();
                line(&self.fields);
                *self = Self::new(self.wanted);
            } else {
                self.take(byte);
                rest = self.passed_over(rest);
            }
        }
    }

    /// What is left of the bytes behind those of a text that is cut already: only its end, an escape or the end of the line count.
    fn passed_over<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let cut = self.raw.len() == SKIM_TEXT_MAX_BYTES;
        if !cut || self.state != (State::Text { escaped: false, digits: 0 }) {
            return bytes;
        }
        let end = memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len());
        &bytes[end..]
    }

    /// The same for objects that may go over several lines: each ends with its closing brace.
    pub(crate) fn feed_objects(&mut self, bytes: &[u8], mut object: impl FnMut(&Fields)) {
        for &byte in bytes {
            let within = !self.open.is_empty();
            self.take(if byte == b'\n' { b' ' } else { byte });
            if within && self.open.is_empty() {
                object(&self.fields);
                *self = Self::new(self.wanted);
            }
        }
    }

    fn take(&mut self, byte: u8) {
        match self.state {
            State::Text { escaped: false, digits: 0 } if byte == b'"' => {
                self.state = State::Between;
                self.end_text();
            }
            State::Text { escaped, digits } => {
                let (escaped, digits) = match (escaped, digits, byte) {
                    (true, _, b'u') => (false, 4),
                    (true, ..) => (false, 0),
                    (false, 1.., _) => (false, digits - 1),
                    (false, 0, b'\\') => (true, 0),
                    (false, 0, _) => (false, 0),
                };
                self.keep(byte);
                self.state = State::Text { escaped, digits };
                let ends_character = self.raw.len() < SKIM_TEXT_MAX_BYTES && !escaped && digits == 0;
                if ends_character && std::str::from_utf8(&self.raw[self.whole..]).is_ok() {
                    self.whole = self.raw.len();
                }
            }
            State::Between | State::Word => self.structure(byte),
        }
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.end_word();
                self.state = State::Text { escaped: false, digits: 0 };
            }
            b'{' => self.enter(Container::Object { key: None, expects_key: true }),
            b'[' => self.enter(Container::Array),
            b'}' | b']' => {
                self.end_word();
                match self.too_deep.checked_sub(1) {
                    Some(left) => self.too_deep = left,
                    None => drop(self.open.pop()),
                }
            }
            b',' => {
                self.end_word();
                if let Some(Container::Object { expects_key, .. }) = self.innermost() {
                    *expects_key = true;
                }
            }
            b':' => {
                self.end_word();
                if let Some(Container::Object { expects_key, .. }) = self.innermost() {
                    *expects_key = false;
                }
            }
            b' ' | b'\t' | b'\r' => self.end_word(),
            _ => {
                self.state = State::Word;
                self.keep(byte);
                self.whole = self.raw.len();
            }
        }
    }

    fn innermost(&mut self) -> Option<&mut Container> {
        if self.too_deep == 0 { self.open.last_mut() } else { None }
    }

    fn enter(&mut self, container: Container) {
        self.end_word();
        if self.open.len() < SKIM_MAX_DEPTH { self.open.push(container) } else { self.too_deep += 1 }
    }

    fn keep(&mut self, byte: u8) {
        if self.raw.len() < SKIM_TEXT_MAX_BYTES {
            self.raw.push(byte);
        }
    }

    fn end_text(&mut self) {
        let text = decoded(&self.raw[..self.whole]);
        (self.raw, self.whole) = (Vec::new(), 0);
        match self.innermost() {
            Some(Container::Object { key, expects_key: true }) => *key = Some(text),
            _ => self.value(text),
        }
    }

    fn end_word(&mut self) {
        if self.state == State::Word {
            self.state = State::Between;
            let word = String::from_utf8_lossy(&self.raw).into_owned();
            (self.raw, self.whole) = (Vec::new(), 0);
            self.value(word);
        }
    }

    fn value(&mut self, value: String) {
        if self.too_deep == 0
            && let Some(path) = self.wanted.iter().find(|path| self.is_at(path))
        {
            self.fields.set(path, value);
        }
    }

    fn is_at(&self, path: &str) -> bool {
        let mut keys = self.open.iter().filter_map(|container| match container {
            Container::Object { key, .. } => Some(key.as_deref().unwrap_or_default()),
            Container::Array => None,
        });
        path.split('.').all(|part| keys.next() == Some(part)) && keys.next().is_none()
    }
}

/// The text of a raw JSON string whose end may be cut off.
fn decoded(raw: &[u8]) -> String {
    const HALF_PAIR_LENGTH: usize = "\\ud83d".len();
    // Where a pair of surrogates was cut in two, its first half has to go.
    let shorter = &raw[..raw.len().saturating_sub(HALF_PAIR_LENGTH)];
    [raw, shorter]
        .iter()
        .find_map(|raw| serde_json::from_slice(&[b"\"", *raw, b"\""].concat()).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: &[&str] = &["type", "item.type", "item.text", "list.name", "n"];

    fn lines(stream: &[u8]) -> Vec<Vec<(&'static str, String)>> {
        let mut found = Vec::new();
        Skim::new(WANTED).feed(stream, |fields| found.push(fields.0.clone()));
        found
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
        Skim::new(WANTED).feed_objects(stream, |fields| found.push(fields.0.clone()));
        assert_eq!(found, [[("type", "}{".to_owned())], [("type", "b".to_owned())]]);
    }

    #[test]
    fn a_broken_line_does_not_spoil_the_next() {
        let found = lines(b"{\"type\":\"a\n}}]],,::\"\\u12\n{\"type\":\"b\"}\n");
        assert_eq!(found[2], [("type", "b".to_owned())]);
    }
}
