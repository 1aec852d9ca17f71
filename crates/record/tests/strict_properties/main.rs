//! Strict JSON, by property: agreement with serde_json but for what is refused on purpose, and no panic.

mod oracle;
mod reference;

use std::collections::BTreeMap;

use oracle::{Tree, texts, trees};
use proptest::prelude::*;
use proptest::sample::Index;
use record::json::{
    DecodeError, Limits, LineReader, Object, Record, check, decode, decode_record, encode, schema_version,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    schema_version: u32,
    unsigned: u64,
    signed: i64,
    ratio: f64,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    words: Vec<Word>,
    map: BTreeMap<String, Vec<bool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inner: Option<Box<Sample>>,
}

impl Record for Sample {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Word {
    Plain,
    Coded { code: i32 },
    Pair(u8, String),
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    let word = prop_oneof![
        Just(Word::Plain),
        any::<i32>().prop_map(|code| Word::Coded { code }),
        any::<(u8, String)>().prop_map(|(number, text)| Word::Pair(number, text)),
    ];
    prop::collection::vec(word, 0..4)
}

fn samples() -> impl Strategy<Value = Sample> {
    let finite = any::<f64>().prop_filter("finite", |number| number.is_finite());
    let map = prop::collection::btree_map("[a-z_]{0,6}", prop::collection::vec(any::<bool>(), 0..3), 0..4);
    let flat = (any::<u64>(), any::<i64>(), finite, any::<String>(), any::<Option<String>>(), words(), map)
        .prop_map(|(unsigned, signed, ratio, text, note, words, map)| Sample {
            schema_version: 1,
            unsigned,
            signed,
            ratio,
            text,
            note,
            words,
            map,
            inner: None,
        });
    prop::collection::vec(flat, 1..5).prop_map(|samples| {
        samples
            .into_iter()
            .reduce(|inner, outer| Sample { inner: Some(Box::new(inner)), ..outer })
            .expect("at least one")
    })
}

/// What a line holds, copied out of it.
fn parse_line(line: &[u8]) -> Result<Map<String, Value>, DecodeError> {
    LineReader::default().read(line).map(Object::to_owned)
}

/// Overwrites, inserts and removes bytes. Beyond ASCII only a byte that UTF-8 never has: the oracle folds ASCII alone.
fn mutate(mut text: Vec<u8>, edits: &[(u8, Index, u8)]) -> Vec<u8> {
    for (kind, place, byte) in edits {
        let byte = if *byte > 0x7f { 0xff } else { *byte };
        let place = place.index(text.len() + 1);
        match kind % 3 {
            0 => text.insert(place, byte),
            1 if place < text.len() => text[place] = byte,
            2 if place < text.len() => drop(text.remove(place)),
            _ => {}
        }
    }
    text
}

fn edits() -> impl Strategy<Value = Vec<(u8, Index, u8)>> {
    let structural = prop::sample::select(br#"{}[]",:\0123456789.eE+-ntf aA"#.to_vec());
    prop::collection::vec((any::<u8>(), any::<Index>(), prop_oneof![3 => structural, 1 => any::<u8>()]), 0..4)
}

/// Objects with keys of every kind, few or many.
fn objects_of_many() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "k", "K", "\u{212a}", "\\u212a", "s", "\u{17f}", "é", "\\u00c9", "ς", "Σ", "ß", "\\u006b",
    ]);
    let key = prop_oneof![20 => "[a-z]{2}[0-9]{1,12}", 1 => odd.prop_map(str::to_owned), 1 => "[xX]{6,9}"];
    prop::collection::vec(key, 0..60).prop_map(|keys| {
        let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{{\"{key}\":[1]}}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn decoding_inverts_encoding(sample in samples()) {
        let bytes = encode(&sample).expect("encodes");
        prop_assert_eq!(bytes.last(), Some(&b'\n'));
        prop_assert!(!bytes[..bytes.len() - 1].contains(&b'\n'));
        let again: Sample = decode_record(&bytes).expect("decodes");
        prop_assert_eq!(&again, &sample);
        prop_assert_eq!(encode(&again), Ok(bytes.clone()));
        prop_assert_eq!(decode::<Sample>(&bytes, Limits::RECORD), Ok(sample));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let known = serde_json::from_slice::<Value>(&bytes).is_ok();
        prop_assert!(known || check(&bytes, Limits::LINE).is_err());
        prop_assert!(known || parse_line(&bytes).is_err());
        prop_assert!(known || schema_version(&bytes).is_err());
        prop_assert!(known || decode_record::<Sample>(&bytes).is_err());
    }

    #[test]
    fn a_damaged_record_never_panics(sample in samples(), edits in edits()) {
        let damaged = mutate(encode(&sample).expect("encodes"), &edits);
        if let Ok(read) = decode_record::<Sample>(&damaged) {
            let bytes = encode(&read).expect("encodes");
            prop_assert_eq!(
                serde_json::from_slice::<Value>(&bytes).expect("JSON"),
                serde_json::from_slice::<Value>(&damaged).expect("JSON")
            );
        }
    }

    #[test]
    fn agrees_with_serde_json(text in texts(), edits in edits(), max_depth in 0_usize..6, allow_null: bool) {
        let limits = Limits { max_depth, allow_null, ..Limits::RECORD };
        let text = mutate(text.into_bytes(), &edits);
        match (serde_json::from_slice::<Tree>(&text), decode::<Value>(&text, limits)) {
            (Ok(tree), Ok(value)) => {
                prop_assert!(!tree.has_duplicate() && tree.depth() <= max_depth && (allow_null || !tree.has_null()));
                prop_assert_eq!(value, serde_json::from_slice::<Value>(&text).expect("JSON"));
            }
            (Ok(tree), Err(error)) => match error {
                DecodeError::DuplicateKey { .. } => prop_assert!(tree.has_duplicate()),
                DecodeError::TooDeep { .. } => prop_assert!(tree.depth() > max_depth),
                DecodeError::Null { .. } => prop_assert!(!allow_null && tree.has_null()),
                other => prop_assert!(false, "{:?}", other),
            },
            (Err(error), Ok(_)) => prop_assert!(false, "accepted in spite of {}", error),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn agrees_with_a_reader_of_trees(text in texts(), many in objects_of_many(), edits in edits(), max_depth in 0_usize..6, allow_null: bool) {
        let limits = Limits { max_depth, allow_null, ..Limits::RECORD };
        for text in [text, many] {
            let text = mutate(text.into_bytes(), &edits);
            prop_assert_eq!(decode::<Value>(&text, limits), reference::read(&text, limits));
            let line = match reference::read(&text, Limits::LINE) {
                Ok(Value::Object(members)) => Ok(members),
                Ok(_) => Err(DecodeError::NotAnObject),
                Err(error) => Err(error),
            };
            prop_assert_eq!(parse_line(&text), line);
        }
    }

    #[test]
    fn an_injected_duplicate_is_refused(tree in trees(), object in any::<Index>(), member in any::<Index>(), spelling: u8) {
        let tree = Tree::Object(vec![("k".to_owned(), tree.without_duplicates())]);
        prop_assert_eq!(check(tree.to_text(false).as_bytes(), Limits::LINE), Ok(()));
        let spoilt = tree.with_duplicate(object, member, spelling);
        let refusal = check(spoilt.as_bytes(), Limits::LINE);
        prop_assert!(matches!(refusal, Err(DecodeError::DuplicateKey { .. })), "{:?} for {}", refusal, spoilt);
        let refused_as_line = matches!(parse_line(spoilt.as_bytes()), Err(DecodeError::DuplicateKey { .. }));
        prop_assert!(refused_as_line);
    }
}
