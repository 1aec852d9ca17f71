//! The diff in the result text of a task: the whole text, or the one fenced diff block in it. Anything else is refused.

use serde::Serialize;

use crate::limits::RESULT_MAX_BYTES;

/// How the diff stood in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The text is the diff, byte for byte.
    BareDiff,
    /// The diff is the content of the only fenced diff block.
    FencedDiffBlock,
}

/// Where a judged diff came from, for the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extraction {
    /// How it stood in the text.
    pub form: Form,
    /// Digest of the whole text.
    pub result_sha256: String,
}

/// Why no diff is taken from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Nothing in it looks like a diff.
    #[error("the result holds no diff: ask for a bare unified diff, or for one in a block fenced as diff")]
    NoDiff,
    /// More than one block is a diff.
    #[error("the result holds several diff blocks: ask for one block with all changes")]
    SeveralBlocks,
    /// A block does not end.
    #[error("a fenced block does not end: the result may be cut off; ask for it again")]
    Unclosed,
    /// A line inside the block ends it for some readers and not for others.
    #[error("the diff block holds a line that looks like its end: ask for a longer fence around it")]
    AmbiguousFence,
    /// Lines of a diff stand outside of the diff block.
    #[error(
        "lines of a diff stand outside the diff block: ask for one block with all changes and nothing else"
    )]
    DiffOutside,
    /// The text is larger than any diff that is judged.
    #[error("the result is too large to hold a diff that can be judged")]
    TooLarge,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    is_diff: bool,
    content: usize,
}

/// Finds the one diff in a text. The bytes are never changed: a bare diff without its last line end stays so, and the
/// verifier refuses it.
///
/// # Errors
/// There is none, or more than one reading.
pub fn extract(text: &[u8]) -> Result<(&[u8], Form), ExtractError> {
    if text.len() > RESULT_MAX_BYTES {
        return Err(ExtractError::TooLarge);
    }
    let first = text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    if first.is_some_and(|line| line.starts_with(b"diff --git ") || line.starts_with(b"--- ")) {
        return Ok((text, Form::BareDiff));
    }
    let mut open: Option<Fence> = None;
    let mut found: Option<&[u8]> = None;
    let mut outside = false;
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        match open {
            None => match fence(bare) {
                Some((mark, length, info)) => {
                    open = Some(Fence { mark, length, is_diff: is_diff(info), content: at })
                }
                None => outside |= begins_diff(bare),
            },
            Some(block) => {
                if closes(bare, block) {
                    if block.is_diff && found.replace(&text[block.content..start]).is_some() {
                        return Err(ExtractError::SeveralBlocks);
                    }
                    open = None;
                } else if block.is_diff {
                    let indent = bare.iter().take_while(|byte| **byte == b' ').count();
                    if (1..=3).contains(&indent) && closes(&bare[indent..], block) {
                        return Err(ExtractError::AmbiguousFence);
                    }
                } else {
                    outside |= begins_diff(bare);
                }
            }
        }
    }
    match (open, found) {
        (Some(_), _) => Err(ExtractError::Unclosed),
        (None, Some(_)) if outside => Err(ExtractError::DiffOutside),
        (None, Some(diff)) => Ok((diff, Form::FencedDiffBlock)),
        (None, None) => Err(ExtractError::NoDiff),
    }
}

/// An opening fence: its mark, its length, and the first word after it.
fn fence(line: &[u8]) -> Option<(u8, usize, &[u8])> {
    let mark = *line.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = line.iter().take_while(|byte| **byte == mark).count();
    let info = line[length..].trim_ascii();
    // Backticks after the fence make it a code span.
    let is_fence = length >= 3 && !(mark == b'`' && info.contains(&b'`'));
    is_fence.then(|| (mark, length, info.split(u8::is_ascii_whitespace).next().unwrap_or_default()))
}

fn closes(line: &[u8], block: Fence) -> bool {
    let length = line.iter().take_while(|byte| **byte == block.mark).count();
    length >= block.length && line[length..].trim_ascii().is_empty()
}

fn is_diff(info: &[u8]) -> bool {
    info.eq_ignore_ascii_case(b"diff") || info.eq_ignore_ascii_case(b"patch")
}

fn begins_diff(line: &[u8]) -> bool {
    [&b"diff --git "[..], b"--- a/", b"+++ b/", b"@@ -"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

    fn fenced(diff: &str) -> String {
        format!("Here it is:\n\n```diff\n{diff}```\nDone.\n")
    }

    #[test]
    fn the_two_forms() {
        assert_eq!(extract(DIFF.as_bytes()), Ok((DIFF.as_bytes(), Form::BareDiff)));
        assert_eq!(extract(fenced(DIFF).as_bytes()), Ok((DIFF.as_bytes(), Form::FencedDiffBlock)));
        let other = format!("```sh\nmake\n```\n~~~~ patch\n{DIFF}~~~~\n");
        assert_eq!(extract(other.as_bytes()), Ok((DIFF.as_bytes(), Form::FencedDiffBlock)));
        let inner = "--- a/x.md\n+++ b/x.md\n@@ -1 +1,2 @@\n ```\n+```\n";
        assert_eq!(
            extract(format!("````diff\n{inner}````\n").as_bytes()),
            Ok((inner.as_bytes(), Form::FencedDiffBlock))
        );
    }

    #[test]
    fn whatever_has_two_readings_is_refused() {
        use ExtractError::*;
        let two = fenced(DIFF).repeat(2);
        let inner = "--- a/x.md\n+++ b/x.md\n@@ -1 +1,2 @@\n ```\n+a\n";
        for (text, error) in [
            ("I changed nothing.\n".to_owned(), NoDiff),
            (String::new(), NoDiff),
            (format!("```\n{DIFF}```\n"), NoDiff),
            (two, SeveralBlocks),
            (format!("```diff\n{DIFF}"), Unclosed),
            (fenced(inner), AmbiguousFence),
            (format!("{}{DIFF}", fenced(DIFF)), DiffOutside),
            (format!("{}```\n{DIFF}```\n", fenced(DIFF)), DiffOutside),
        ] {
            assert_eq!(extract(text.as_bytes()), Err(error), "{text}");
        }
    }
}
