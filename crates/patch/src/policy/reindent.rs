//! JSON with other white space and nothing else changed.

/// Indents a valid JSON text by two blanks a level. Order of keys and spelling of numbers and strings stay.
pub(crate) fn reindent(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                out.push('"');
                let mut escaped = false;
                for inside in characters.by_ref() {
                    out.push(inside);
                    match inside {
                        _ if escaped => escaped = false,
                        '\\' => escaped = true,
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                while characters.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                out.push(character);
                if let Some(close) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out.push('\n');
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::reindent;

    #[test]
    fn only_white_space_changes() {
        let text = r#"{"b":[1.50,{}, [ ] ,"a\"{,:\\"],"a":{"x":null}}"#;
        let expected = "{\n  \"b\": [\n    1.50,\n    {},\n    [],\n    \"a\\\"{,:\\\\\"\n  ],\n  \"a\": {\n    \"x\": null\n  }\n}\n";
        assert_eq!(reindent(text), expected);
        assert_eq!(reindent(expected), expected);
    }
}
