//! Patches: valid ones in every shape, ones with wrong numbers, and ones that were damaged or doctored.

use crate::FILES;
use crate::random::Random;

/// Lines that a stranger may put anywhere.
const HOSTILE: [&str; 40] = [
    "diff --git a/src/lib.rs b/src/lib.rs",
    "diff --git a/x b/y",
    "diff --git \"a/src/lib.rs\" \"b/src/lib.rs\"",
    "index 12..34",
    "index 12..34 100755",
    "new file mode 100644",
    "new file mode 120000",
    "deleted file mode 100644",
    "old mode 100644",
    "new mode 100755",
    "similarity index 90%",
    "dissimilarity index 10%",
    "rename from src/lib.rs",
    "rename to src/moved.rs",
    "copy from src/lib.rs",
    "copy to src/copy.rs",
    "GIT binary patch",
    "Binary files a and b differ",
    "--- /dev/null",
    "+++ /dev/null",
    "--- a/src/lib.rs",
    "+++ b/src/lib.rs",
    "--- src/lib.rs",
    "+++ src/lib.rs",
    "--- \"a/src/lib.rs\"",
    "+++ b/src/lib.rs\t1970-01-01 00:00:00.000000000 +0000",
    "+++ /etc/passwd",
    "@@ -1 +1 @@",
    "@@ -0,0 +1 @@",
    "@@ -1,3 +1,3 @@ heading",
    "@@ ... @@",
    "\\ No newline at end of file",
    "\\ no",
    "",
    " ",
    "+",
    "-",
    "+added",
    "-- ",
    "Only in src: lib.rs",
];

/// The patch of a seed.
pub(crate) fn patch(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let prefixed = !random.once_in(3);
    let mut text = String::new();
    let start = random.below(FILES.len());
    for step in 0..1 + random.below(3) {
        let file = FILES[(start + step) % FILES.len()];
        section(&mut random, file, prefixed, &mut text);
    }
    let damage = random.below(10);
    let mut lines: Vec<Vec<u8>> = text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..damage.saturating_sub(6) {
        mutate(&mut random, &mut lines);
    }
    lines.concat()
}

fn section(random: &mut Random, (name, content, _): (&str, &str, bool), prefixed: bool, out: &mut String) {
    let kind = random.below(12);
    let (name, old, new): (String, Vec<&str>, Vec<String>) = match kind {
        0 => (format!("new/{}.txt", random.below(3)), Vec::new(), vec!["new\n".into(), "file\n".into()]),
        1 => (name.to_owned(), content.split_inclusive('\n').collect(), Vec::new()),
        _ => {
            let old: Vec<&str> = content.split_inclusive('\n').collect();
            let new = edited(random, &old);
            (name.to_owned(), old, new)
        }
    };
    let (a, b) = if prefixed { ("a/", "b/") } else { ("", "") };
    let quote = |path: String, quoted: bool| if quoted { format!("\"{path}\"") } else { path };
    let quoted = random.once_in(8);
    let old_path = if kind == 0 { "/dev/null".to_owned() } else { quote(format!("{a}{name}"), quoted) };
    let new_path = if kind == 1 { "/dev/null".to_owned() } else { quote(format!("{b}{name}"), quoted) };
    if random.once_in(2) {
        out.push_str(&format!("diff --git {a}{name} {b}{name}\n"));
        match kind {
            0 => out.push_str("new file mode 100644\n"),
            1 => out.push_str("deleted file mode 100644\n"),
            _ => {}
        }
        if random.once_in(2) {
            out.push_str(random.pick(&["index 1234567..89abcde\n", "index 1234567..89abcde 100644\n"]));
        }
    }
    let time = random.pick(&["", "", "\t2026-01-01 00:00:00.000000000 +0000", "\t(revision 3)"]);
    out.push_str(&format!("--- {old_path}{time}\n+++ {new_path}{time}\n"));
    hunks(random, &old, &new, out);
}

/// Some lines replaced, removed or added.
fn edited(random: &mut Random, old: &[&str]) -> Vec<String> {
    let mut new: Vec<String> = old.iter().map(|line| (*line).to_owned()).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(new.len() + 1);
        let line = random.pick(&[
            "new line\n",
            "\n",
            "x\n",
            "--- a\n",
            "+++ b\n",
            "@@ -1 +1 @@\n",
            "y \n",
            "\\ back\n",
        ]);
        match random.below(4) {
            0 if at < new.len() => {
                new.remove(at);
            }
            1 | 2 if at < new.len() => {
                let ends = new[at].ends_with('\n') || random.once_in(2);
                new[at] = if ends { line.to_owned() } else { line.trim_end().to_owned() };
            }
            _ if new.last().is_none_or(|last| last.ends_with('\n')) => new.insert(at, line.to_owned()),
            _ => {}
        }
    }
    new
}

/// One hunk over the part that differs, with context; sometimes with other numbers than the right ones.
fn hunks(random: &mut Random, old: &[&str], new: &[String], out: &mut String) {
    let same_start = old.iter().zip(new).take_while(|(old, new)| **old == new.as_str()).count();
    let rest = old.len().min(new.len()) - same_start;
    let same_end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(old, new)| **old == new.as_str())
        .count();
    let context = 3 - random.below(4).min(2);
    let start = same_start.saturating_sub(context);
    let end = same_end.saturating_sub(context);
    let (old_count, new_count) = (old.len() - start - end, new.len() - start - end);
    let line = |count: usize| if count == 0 { start } else { start + 1 };
    let shift = if random.once_in(6) { random.below(12) } else { 0 };
    let range = |line: usize, count: usize, short: bool| {
        if short && count == 1 { format!("{line}") } else { format!("{line},{count}") }
    };
    let short = random.once_in(2);
    let heading = random.pick(&["", " fn heading()", " @@"]);
    out.push_str(&format!(
        "@@ -{} +{} @@{heading}\n",
        range(line(old_count) + shift, old_count, short),
        range(line(new_count) + shift, new_count, short)
    ));
    let mut put = |mark: char, text: &str| {
        if text == "\n" && mark == ' ' && short {
            out.push('\n');
            return;
        }
        out.push(mark);
        out.push_str(text);
        if !text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    };
    for text in &old[start..same_start] {
        put(' ', text);
    }
    for text in &old[same_start..old.len() - same_end] {
        put('-', text);
    }
    for text in &new[same_start..new.len() - same_end] {
        put('+', text);
    }
    for text in &old[old.len() - same_end..old.len() - end] {
        put(' ', text);
    }
}

fn mutate(random: &mut Random, lines: &mut Vec<Vec<u8>>) {
    if lines.is_empty() {
        return;
    }
    let at = random.below(lines.len());
    match random.below(9) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        3 | 4 => lines.insert(at, format!("{}\n", random.pick(&HOSTILE)).into_bytes()),
        5 if !lines[at].is_empty() => {
            let byte = random.below(lines[at].len());
            lines[at][byte] =
                *random.pick(&[&b' ', &b'+', &b'-', &b'\t', &b'"', &b'/', &b'0', &b'9', &b'@', &0xff]);
        }
        6 => {
            // Another digit in a number.
            if let Some(byte) = lines[at].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *byte = b'0' + random.below(10) as u8;
            }
        }
        7 => lines.truncate(at + 1),
        _ => {
            let text = lines.concat();
            let cut = random.below(text.len());
            *lines = vec![text[..cut].to_vec()];
        }
    }
}
