//! Markers: how a brief tells a test component what to do.
//!
//! A marker is `[[WORD: NAME ARGUMENT…]]`. Environments are filtered on the way to a provider, so the brief is the
//! one channel that reaches a fake CLI and, through a real CLI, the model server.
//!
//! Arguments are separated by spaces; `key=value` is a named one (lower-case key), anything else a positional one.
//! Double quotes keep spaces, and inside them `\n`, `\"` and `\\` are understood.

/// One marker of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The behaviour asked for.
    pub name: String,
    /// The marker as it was written, brackets included. Two equal markers are one subject for counting.
    pub source: String,
    positional: Vec<String>,
    named: Vec<(String, String)>,
}

impl Marker {
    /// Every marker of that word in the text, in order. Something that is not closed or has no name is no marker.
    #[must_use]
    pub fn all(word: &str, text: &str) -> Vec<Self> {
        let opening = format!("[[{word}:");
        let mut found = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(&opening) {
            let marker = &rest[start..];
            match scan(&marker[opening.len()..]) {
                Some((words, length)) => {
                    let end = opening.len() + length;
                    found.extend(Self::from_words(words, &marker[..end]));
                    rest = &marker[end..];
                }
                None => rest = &marker[opening.len()..],
            }
        }
        found
    }

    /// A marker without arguments.
    #[must_use]
    pub fn bare(name: &str) -> Self {
        Self { name: name.to_owned(), source: name.to_owned(), positional: Vec::new(), named: Vec::new() }
    }

    /// The argument with that key, else the positional one with that index (from 0).
    #[must_use]
    pub fn argument(&self, key: &str, index: usize) -> Option<&str> {
        self.named
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
            .or_else(|| self.positional.get(index))
            .map(String::as_str)
    }

    /// The positional arguments.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.positional
    }

    /// The same argument as a number.
    ///
    /// # Errors
    /// A sentence that names marker and argument, when it is not a number.
    pub fn number(&self, key: &str, index: usize, default: u64) -> Result<u64, String> {
        self.argument(key, index).map_or(Ok(default), |text| {
            text.parse().map_err(|_| format!("{}: {key} must be a number, not {text:?}", self.name))
        })
    }

    fn from_words(words: Vec<Word>, source: &str) -> Option<Self> {
        let mut words = words.into_iter();
        let mut marker = Self::bare(&words.next()?.text);
        source.clone_into(&mut marker.source);
        for word in words {
            match word.key_length {
                Some(length) => {
                    marker.named.push((word.text[..length].to_owned(), word.text[length + 1..].to_owned()))
                }
                None => marker.positional.push(word.text),
            }
        }
        Some(marker)
    }
}

#[derive(Default)]
struct Word {
    text: String,
    started: bool,
    quoted: bool,
    /// Length of the key when the word is `key=value`.
    key_length: Option<usize>,
}

impl Word {
    fn push(&mut self, character: char, quoted: bool) {
        let may_end_key = !quoted && !self.quoted && self.key_length.is_none();
        if character == '=' && may_end_key && is_key(&self.text) {
            self.key_length = Some(self.text.len());
        }
        self.text.push(character);
        self.started = true;
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Reads words up to the closing brackets; returns them with the bytes used, brackets included.
fn scan(text: &str) -> Option<(Vec<Word>, usize)> {
    let mut words = Vec::new();
    let mut word = Word::default();
    let mut quoted = false;
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => {
                quoted = !quoted;
                word.started = true;
                word.quoted |= quoted && word.text.is_empty();
            }
            '\\' if quoted => match characters.next()?.1 {
                'n' => word.push('\n', true),
                other => word.push(other, true),
            },
            _ if quoted => word.push(character, true),
            ']' if text[index..].starts_with("]]") => {
                words.extend(word.started.then_some(word));
                return Some((words, index + 2));
            }
            _ if character.is_whitespace() => {
                if word.started {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(character, false),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_positional_or_named_and_quotes_keep_everything() {
        let text =
            r#"Please. [[fake: wait-for-file /a/b]] and [[fake: answer text="two words ]] \"x\"\n" extra]]"#;
        let markers = Marker::all("fake", text);
        assert_eq!(markers.len(), 2);
        assert_eq!(markers[0].argument("path", 0), Some("/a/b"));
        assert_eq!(markers[1].argument("text", 9), Some("two words ]] \"x\"\n"));
        assert_eq!(markers[1].argument("other", 0), Some("extra"));
        assert_eq!(markers[0].source, "[[fake: wait-for-file /a/b]]");
    }

    #[test]
    fn a_quoted_word_is_positional_even_with_an_equals_sign() {
        let markers = Marker::all("script", r#"[[script: shell "x=1 env"]]"#);
        assert_eq!(markers[0].argument("command", 0), Some("x=1 env"));
    }

    #[test]
    fn other_words_and_unclosed_markers_are_text() {
        assert!(Marker::all("fake", "[[script: answer]] [[fake: answer").is_empty());
        assert!(Marker::all("fake", "[[fake: ]]").is_empty());
    }

    #[test]
    fn a_number_that_is_none_is_named() {
        let markers = Marker::all("fake", "[[fake: giant-line bytes=ten]]");
        let message = markers[0].number("bytes", 0, 1).unwrap_err();
        assert!(message.contains("giant-line") && message.contains("bytes"));
        assert_eq!(markers[0].number("other", 5, 7), Ok(7));
    }
}
