//! Which tokens a login file holds, by their exact names: `token_type` is none.

use std::collections::BTreeSet;

use serde_json::Value;

/// The names that vendors give to a token that opens something or gets another one. An `id_token` does neither.
const NAMES: [&str; 5] = ["access_token", "accessToken", "key", "refresh_token", "refreshToken"];

/// The places of all tokens that are not empty, as JSON pointers; nothing in what is no JSON object. A file may hold them for
/// several services, in objects of their own.
pub fn places(login: &[u8]) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    if let Ok(document) = serde_json::from_slice(login) {
        look(&document, "", &mut places);
    }
    places
}

fn look(value: &Value, place: &str, places: &mut BTreeSet<String>) {
    let Value::Object(members) = value else { return };
    for (name, value) in members {
        let place = format!("{place}/{name}");
        if NAMES.contains(&name.as_str()) && value.as_str().is_some_and(|token| !token.trim().is_empty()) {
            places.insert(place);
        } else {
            look(value, &place, places);
        }
    }
}

/// Whether a refreshed login has a token wherever the one that it comes from had one.
pub fn are_all_kept(refreshed: &[u8], old: &[u8]) -> bool {
    let refreshed = places(refreshed);
    !refreshed.is_empty() && places(old).is_subset(&refreshed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_an_exact_name_and_is_not_empty() {
        for (login, expected) in [
            (r#"{"a":{"key":"x","refresh_token":"y"}}"#, &["/a/key", "/a/refresh_token"][..]),
            (r#"{"accessToken":"x","refreshToken":"y"}"#, &["/accessToken", "/refreshToken"]),
            (r#"{"key":"","token_type":"Bearer","access_token":" ","tokens":"x","api_key":"x"}"#, &[]),
            (r#"{"key":1,"refresh_token":null,"access_token":["x"]}"#, &[]),
            (r#"[{"key":"x"}]"#, &[]),
            ("{", &[]),
            ("", &[]),
        ] {
            assert_eq!(places(login.as_bytes()).iter().collect::<Vec<_>>(), expected, "{login}");
        }
    }

    #[test]
    fn every_token_that_was_there_is_there_afterwards() {
        let old = br#"{"a":{"key":"1","refresh_token":"2"},"b":{"key":"3","refresh_token":""}}"#;
        for (refreshed, expected) in [
            (r#"{"a":{"key":"4","refresh_token":"5"},"b":{"key":"3","refresh_token":""}}"#, true),
            (r#"{"a":{"key":"4","refresh_token":"5"},"b":{"key":"6","refresh_token":"7"},"c":1}"#, true),
            (r#"{"a":{"key":"4"},"b":{"key":"3"}}"#, false),
            (r#"{"a":{"key":"4","refresh_token":""},"b":{"key":"3"}}"#, false),
            (r#"{"a":{"key":"4","refresh_token":"5"}}"#, false),
            (r#"{"a":{"key":"","refresh_token":"","token_type":"Bearer"},"b":{"key":"3"}}"#, false),
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
