//! Which tokens a login file holds, by their exact names: `token_type` is none.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::common::files::read_regular;
use crate::common::limits::LOGIN_MAX_BYTES;

/// The names that vendors give to a token that opens something or gets another one. An `id_token` does neither.
const NAMES: [&str; 5] = ["access_token", "accessToken", "key", "refresh_token", "refreshToken"];

/// Every token of a login that is not empty, with its name. There may be some for several services, in objects whose names a vendor
/// changes as it likes. Nothing in what is no JSON object.
fn all(login: &[u8]) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if let Ok(document) = serde_json::from_slice(login) {
        collect(&document, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<(&'static str, String)>) {
    let Value::Object(members) = value else { return };
    for (name, value) in members {
        match (NAMES.into_iter().find(|token| token == name), value.as_str()) {
            (Some(token), Some(text)) if !text.trim().is_empty() => found.push((token, text.to_owned())),
            _ => collect(value, found),
        }
    }
}

/// How many tokens a login has, by name.
fn counts(login: &[u8]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    all(login).into_iter().for_each(|(name, _)| *counts.entry(name).or_default() += 1);
    counts
}

/// Every token in login files, those of them that can be read; to be found nowhere else. What is no JSON object is a token as a
/// whole.
pub fn of_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    let logins = files.into_iter().filter_map(|file| read_regular(file, LOGIN_MAX_BYTES).ok());
    logins.flat_map(|login| secrets(&login)).collect()
}

fn secrets(login: &[u8]) -> Vec<String> {
    if serde_json::from_slice::<Map<String, Value>>(login).is_ok() {
        return all(login).into_iter().map(|(_, token)| token).collect();
    }
    let text = String::from_utf8_lossy(login);
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect()
}

/// Whether a login holds any token.
pub fn are_there(login: &[u8]) -> bool {
    !counts(login).is_empty()
}

/// Whether a refreshed login has every token that the one had which it comes from, and any at all.
pub fn are_all_kept(refreshed: &[u8], old: &[u8]) -> bool {
    let refreshed = counts(refreshed);
    let is_kept = |(name, number)| refreshed.get(name).is_some_and(|left: &usize| *left >= number);
    !refreshed.is_empty() && counts(old).into_iter().all(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_an_exact_name_and_is_not_empty() {
        for (login, expected) in [
            (
                r#"{"a":{"key":"x","refresh_token":"y"},"b":{"key":"z"}}"#,
                &[("key", 2), ("refresh_token", 1)][..],
            ),
            (r#"{"accessToken":"x","refreshToken":"y"}"#, &[("accessToken", 1), ("refreshToken", 1)]),
            (r#"{"key":"","token_type":"Bearer","access_token":" ","tokens":"x","api_key":"x"}"#, &[]),
            (r#"{"key":1,"refresh_token":null,"access_token":["x"]}"#, &[]),
            (r#"[{"key":"x"}]"#, &[]),
            ("{", &[]),
            ("", &[]),
        ] {
            let counts: Vec<_> = counts(login.as_bytes()).into_iter().collect();
            assert_eq!(counts, expected, "{login}");
            assert_eq!(are_there(login.as_bytes()), !expected.is_empty());
        }
    }

    #[test]
    fn every_token_that_was_there_is_there_afterwards() {
        let old = br#"{"a":{"key":"1","refresh_token":"2"},"b":{"key":"3","refresh_token":""}}"#;
        for (refreshed, expected) in [
            (r#"{"a":{"key":"4","refresh_token":"5"},"b":{"key":"3","refresh_token":""}}"#, true),
            (
                r#"{"renamed":{"key":"4","refresh_token":"5"},"b":{"key":"6","refresh_token":"7"},"c":1}"#,
                true,
            ),
            (r#"{"a":{"key":"4"},"b":{"key":"3"}}"#, false),
            (r#"{"a":{"key":"4","refresh_token":""},"b":{"key":"3"}}"#, false),
            (r#"{"a":{"key":"4","refresh_token":"5"}}"#, false),
            (r#"{"a":{"key":"","refresh_token":"","token_type":"Bearer"},"b":{"key":"3"}}"#, false),
            (r#"{"a":{"access_token":"4","refreshToken":"5"},"b":{"access_token":"3"}}"#, false),
            ("{}", false),
            ("[]", false),
            ("{", false),
        ] {
            assert_eq!(are_all_kept(refreshed.as_bytes(), old), expected, "{refreshed}");
        }
        assert!(are_all_kept(br#"{"key":"c"}"#, br#"{"key":"a"}"#));
        assert!(!are_all_kept(b"{}", b"{}"), "nothing at all is no login");
    }
}
