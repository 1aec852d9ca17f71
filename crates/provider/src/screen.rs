//! Recorded text is screened: no control characters, no user information in URLs, nothing with the shape of a credential
//! (STATE.md 8, providers.md Decisions 8).

use record::answer::truncated;

use crate::limits::{MESSAGE_MAX_BYTES, SCREENED_MAX_BYTES, WORDS_MAX_CHARACTERS};

const REMOVED: &str = "[removed]";

/// A provider's message as it may be recorded: screened, at most 3 KiB.
pub fn message(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(SCREENED_MAX_BYTES)];
    truncated(credentials_removed(&plain(head)).trim(), MESSAGE_MAX_BYTES)
}

/// A text as a few words on one line: screened, white space folded, at most 80 characters.
pub(crate) fn words(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(SCREENED_MAX_BYTES)];
    let screened = credentials_removed(&plain(head));
    let folded = screened.split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(WORDS_MAX_CHARACTERS) {
        None => folded,
        Some(_) => {
            let kept: String = folded.chars().take(WORDS_MAX_CHARACTERS - 1).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// A text that can name a conversation, unchanged: it must be what the judge finds, so it is never screened.
pub(crate) fn conversation_id(text: &str) -> Option<String> {
    let is_one = !text.is_empty()
        && text.len() <= record::limits::CONVERSATION_ID_MAX_BYTES
        && !text.chars().any(char::is_control);
    is_one.then(|| text.to_owned())
}

/// White space of every kind becomes a space; other control characters and those that turn the reading direction go, so
/// that they can not hide the shape of a credential.
fn plain(text: &str) -> String {
    let unseen = |character: char| {
        character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{61c}' | '\u{feff}')
    };
    without_colours(text)
        .chars()
        .filter_map(|character| match character {
            _ if character.is_whitespace() => Some(' '),
            _ if unseen(character) => None,
            _ => Some(character),
        })
        .collect()
}

/// A text without the sequences by which terminals are told colours: `ESC [`, parameters, a final character.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut output = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.trim_start_matches(|character| matches!(character, ' '..='?'));
        output.push_str(after.strip_prefix(|character| matches!(character, '@'..='~')).unwrap_or(after));
    }
    output
}

fn credentials_removed(text: &str) -> String {
    let text = user_information_removed(text);
    let mut output = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut before = "";
    let mut separator = "";
    while !rest.is_empty() {
        let length = rest.find(|character| !is_token(character)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(length);
        let value = follows_name_of_secret(before, separator) && !is_scheme(token);
        output.push_str(if !token.is_empty() && (value || has_shape_of_secret(token)) {
            REMOVED
        } else {
            token
        });
        let length = after.find(is_token).unwrap_or(after.len());
        let (gap, next) = after.split_at(length);
        output.push_str(gap);
        (before, separator, rest) = (token, gap, next);
    }
    output
}

fn is_token(character: char) -> bool {
    character.is_alphanumeric() || "_-.+~%".contains(character)
}

/// `scheme://user:password@host` loses what stands before the `@`.
fn user_information_removed(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find("://") {
        let (head, tail) = rest.split_at(position + 3);
        output.push_str(head);
        let end =
            tail.find(|character: char| character.is_whitespace() || "/?#\"'<>`|\\".contains(character));
        let (authority, next) = tail.split_at(end.unwrap_or(tail.len()));
        match authority.rsplit_once('@') {
            Some((_, host)) => output.extend([REMOVED, "@", host]),
            None => output.push_str(authority),
        }
        rest = next;
    }
    output.push_str(rest);
    output
}

/// Words that say how a credential is sent, and stand between its name and its value.
fn is_scheme(token: &str) -> bool {
    ["bearer", "basic", "token", "digest"].iter().any(|scheme| token.eq_ignore_ascii_case(scheme))
}

/// Whether what follows `before` and `separator` is the value of a credential: `api_key=…`, `"token": "…"`, `Bearer …`.
fn follows_name_of_secret(before: &str, separator: &str) -> bool {
    const NAMES: &[&str] =
        &["key", "token", "secret", "password", "passwd", "authorization", "credential", "cookie"];
    let before = before.to_lowercase();
    let assigned = separator.contains('=') || separator.contains(':');
    if assigned && (before == "provided" || NAMES.iter().any(|name| before.ends_with(name))) {
        return true;
    }
    matches!(before.as_str(), "bearer" | "basic") && separator.trim_matches(['"', '\'']) == " "
}

fn has_shape_of_secret(token: &str) -> bool {
    const PREFIXES: &[(&str, usize)] = &[
        ("sk-", 16),
        ("sk_live_", 16),
        ("sk_test_", 16),
        ("rk_live_", 16),
        ("pk_live_", 16),
        ("ghp_", 20),
        ("gho_", 20),
        ("ghu_", 20),
        ("ghs_", 20),
        ("ghr_", 20),
        ("github_pat_", 20),
        ("glpat-", 20),
        ("xoxb-", 15),
        ("xoxp-", 15),
        ("xoxa-", 15),
        ("xoxr-", 15),
        ("xoxs-", 15),
        ("xapp-", 15),
        ("AIza", 30),
        ("ya29.", 20),
        ("hf_", 20),
        ("gsk_", 20),
        ("xai-", 20),
        ("npm_", 20),
        ("pypi-", 20),
        ("AKIA", 20),
        ("ASIA", 20),
        ("eyJ", 30),
        ("r8_", 20),
        ("dop_v1_", 20),
    ];
    let token = token.trim_matches(|character: char| !character.is_alphanumeric());
    PREFIXES.iter().any(|(prefix, length)| token.starts_with(prefix) && token.len() >= *length)
        || is_opaque(token)
}

/// A long run of mixed letters and digits, as random keys are and words, UUIDs and hexadecimal digests are not.
fn is_opaque(token: &str) -> bool {
    const SHORTEST_BYTES: usize = 40;
    let has = |test: fn(&u8) -> bool| token.as_bytes().iter().any(test);
    token.len() >= SHORTEST_BYTES
        && !token.contains('.')
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_and_the_sentence_stays() {
        let jwt =
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
        for (text, screened) in [
            (
                "no route to https://user:pass@host.example/v1?x=1",
                "no route to https://[removed]@host.example/v1?x=1",
            ),
            ("http://a@b@c/d", "http://[removed]@c/d"),
            ("Incorrect API key provided: hunter2. (x)", "Incorrect API key provided: [removed] (x)"),
            ("used sk-proj-0123456789abcdef, failed", "used [removed], failed"),
            (
                "{\"api_key\":\"abc\",\"code\":\"invalid_api_key\"}",
                "{\"api_key\":\"[removed]\",\"code\":\"invalid_api_key\"}",
            ),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [removed]"),
            ("https://h/v1?key=abc&alt=sse", "https://h/v1?key=[removed]&alt=sse"),
            ("OPENAI_API_KEY=x y", "OPENAI_API_KEY=[removed] y"),
            (jwt, "[removed]"),
            ("s\u{1b}k-pr\u{0}oj-0123456789abcdef", "[removed]"),
            ("Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3", "[removed]"),
        ] {
            assert_eq!(message(text), screened, "{text}");
        }
    }

    #[test]
    fn ordinary_messages_stay() {
        for text in [
            "unexpected status 401 Unauthorized: no, url: http://127.0.0.1:18080/v1/responses",
            "exceeded retry limit, last status: 429 Too Many Requests",
            "We’re currently experiencing high demand, which may cause temporary errors.",
            "thread 01a22bc4-35fe-76d2-9b19-eb939069cedd, sha256 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "Rate limit reached for fake-model on tokens per min. Please try again in 1s.",
            "user@example.org wrote to /a/b@c",
        ] {
            assert_eq!(message(text), text);
        }
    }

    #[test]
    fn bounded_and_plain() {
        assert_eq!(message("a\u{1b}[31mb\r\nc\u{202e}d\u{2028}e\u{9b}f"), "ab  cd ef");
        assert_eq!(message("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession\u{1b}[1;"), "Error: Session");
        let long = message(&"ä ".repeat(1 << 20));
        assert!(long.len() <= MESSAGE_MAX_BYTES && long.ends_with("[truncated]"));
        assert_eq!(words("  ls \n -la  "), "ls -la");
        assert_eq!(words(&"é".repeat(81)).chars().count(), WORDS_MAX_CHARACTERS);
        assert_eq!(words(&"é".repeat(80)), "é".repeat(80));
    }
}
