//! git's own reading of the patch, compared with ours (patch-verifier.md 8.5).

use serde::Serialize;

use crate::git::Answer;
use crate::parse::Operation;
use crate::shape::File;

/// How the two readings compare; absent parts could not be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GitReading {
    /// Whether git was asked.
    pub ran: bool,
    /// Whether git would touch the same paths in the same order.
    pub paths_agree: Option<bool>,
    /// Whether it would add and remove as many lines in each.
    pub counts_agree: Option<bool>,
    /// Whether it would create and delete the same files, and do nothing else to them.
    pub operations_agree: Option<bool>,
}

impl GitReading {
    /// Compares the answer of `git apply --numstat --summary -z` with the files.
    pub(crate) fn compare(answer: &Answer, files: &[File<'_, '_>]) -> Self {
        let Some((records, summary)) = answer.succeeded().and_then(split) else {
            return Self { ran: true, ..Self::default() };
        };
        let counts = |file: &File<'_, '_>| [Some(file.section.added), Some(file.section.removed)];
        let same_length = records.len() == files.len();
        let all = |same: &dyn Fn(&Record<'_>, &File<'_, '_>) -> bool| {
            same_length && records.iter().zip(files).all(|(record, file)| same(record, file))
        };
        Self {
            ran: true,
            paths_agree: Some(all(&|record, file| record.path == file.path.as_bytes())),
            counts_agree: Some(all(&|record, file| record.counts == counts(file))),
            operations_agree: Some(operations_agree(summary, files)),
        }
    }

    /// What differs, in the words of the rule's detail.
    pub fn differences(&self) -> Vec<&'static str> {
        let parts = [
            ("paths", self.paths_agree),
            ("counts", self.counts_agree),
            ("operations", self.operations_agree),
        ];
        if self.ran && parts.iter().any(|(_, agree)| agree.is_none()) {
            return vec!["unreadable"];
        }
        parts.into_iter().filter(|(_, agree)| *agree == Some(false)).map(|(word, _)| word).collect()
    }
}

struct Record<'a> {
    counts: [Option<u64>; 2],
    path: &'a [u8],
}

/// The records, each ended by NUL, and the summary lines after them, each of which begins with a blank.
fn split(mut bytes: &[u8]) -> Option<(Vec<Record<'_>>, &[u8])> {
    let mut records = Vec::new();
    while bytes.first().is_some_and(|first| *first != b' ') {
        let (record, rest) = bytes.split_at(memchr::memchr(0, bytes)?);
        bytes = &rest[1..];
        let mut fields = record.splitn(3, |byte| *byte == b'\t');
        let mut count = || Some(str::from_utf8(fields.next()?).ok()?.parse().ok());
        records.push(Record { counts: [count()?, count()?], path: fields.next()? });
    }
    Some((records, bytes))
}

fn operations_agree(summary: &[u8], files: &[File<'_, '_>]) -> bool {
    let mut expected = files.iter().filter_map(|file| match file.section.operation {
        Operation::Add => Some((&b" create "[..], file.path)),
        Operation::Delete => Some((&b" delete "[..], file.path)),
        _ => None,
    });
    let mut lines = summary.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    loop {
        match (lines.next(), expected.next()) {
            (None, None) => return true,
            (Some(line), Some((word, path))) => {
                let named = line
                    .strip_prefix(word)
                    .map(|rest| rest.strip_prefix(b"mode ").and_then(|rest| rest.get(7..)).unwrap_or(rest));
                if named != Some(path.as_bytes()) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
