//! Strict JSON for typed records: encoding, fields, versions and the one form of a value.

use std::collections::BTreeMap;

use record::json::{DecodeError, EncodeError, Limits, Record, decode, decode_record, encode, schema_version};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    schema_version: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    inner: Inner,
    end: End,
}

impl Record for Sample {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    code: u8,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum End {
    NotStarted,
    Exited { inner: Inner },
}

/// The same record a version later.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Later {
    schema_version: u32,
}

impl Record for Later {
    const SCHEMA_VERSION: u32 = 2;
}

const GOOD: &str = r#"{"schema_version":1,"name":"<é>","inner":{"code":7,"text":"t"},"end":{"kind":"exited","inner":{"code":1,"text":""}}}"#;

fn read(text: &str) -> Result<Sample, DecodeError> {
    decode_record(text.as_bytes())
}

#[track_caller]
fn altered(from: &str, to: &str) -> Result<Sample, DecodeError> {
    assert!(GOOD.contains(from), "{from}");
    read(&GOOD.replacen(from, to, 1))
}

#[test]
fn the_canonical_form() {
    let sample = read(GOOD).expect("a record");
    assert_eq!(encode(&sample).as_deref(), Ok(format!("{GOOD}\n").as_bytes()));
    assert_eq!(read(&format!("{GOOD}\n")).as_ref(), Ok(&sample));
    assert_eq!(read(&format!(" {GOOD}\n\n")).as_ref(), Ok(&sample));
    assert_eq!(decode::<Sample>(GOOD.as_bytes(), Limits::RECORD).as_ref(), Ok(&sample));
    assert_eq!(altered(r#""inner":{"code":7,"text":"t"}"#, r#""inner":{"text":"t","code":7}"#), Ok(sample));
}

#[test]
fn fields() {
    let missing = |field: &str| Err(DecodeError::MissingField { field: field.to_owned() });
    assert_eq!(altered(r#""name":"<é>","#, ""), missing("name"));
    assert_eq!(altered(r#""code":7,"#, ""), missing("code"));
    assert_eq!(altered(r#""code":1,"#, ""), missing("code"));
    assert_eq!(altered(r#""kind":"exited","#, ""), missing("kind"));
    assert_eq!(altered(r#""schema_version":1,"#, ""), missing("schema_version"));
    assert_eq!(altered("{", r#"{"extra":1,"#), Err(DecodeError::UnknownField));
    assert_eq!(altered(r#"{"code":7"#, r#"{"missing field `x`":1,"code":7"#), Err(DecodeError::UnknownField));
    assert_eq!(altered(r#"{"code":1"#, r#"{"extra":1,"code":1"#), Err(DecodeError::UnknownField));
    assert_eq!(altered("7", "256"), Err(DecodeError::InvalidValue));
    assert_eq!(altered("7", "-1"), Err(DecodeError::InvalidValue));
    assert_eq!(altered("7", "\"7\""), Err(DecodeError::InvalidValue));
    assert_eq!(altered("exited", "missing field `x`"), Err(DecodeError::InvalidValue));
    assert!(matches!(altered("{", r#"{"note":null,"#), Err(DecodeError::Null { .. })));
    assert!(matches!(altered("{", r#"{"Name":"x","#), Err(DecodeError::DuplicateKey { .. })));
    assert!(altered("{", r#"{"note":"n","#).is_ok_and(|sample| sample.note.as_deref() == Some("n")));
}

#[test]
fn one_form_only() {
    let array_for_object = r#"[7,"t"]"#;
    assert_eq!(altered(r#"{"code":7,"text":"t"}"#, array_for_object), Err(DecodeError::NotCanonical));
    assert_eq!(altered(r#"{"code":1,"text":""}"#, r#"[1,""]"#), Err(DecodeError::NotCanonical));
    assert_eq!(
        altered(r#"{"kind":"exited","inner":{"code":1,"text":""}}"#, r#"["not-started"]"#),
        Err(DecodeError::NotCanonical)
    );
    assert_eq!(altered("{", r#"{"tags":[],"#), Err(DecodeError::NotCanonical));
    assert_eq!(read(r#"[1,"n",[7,"t"],"x"]"#), Err(DecodeError::NotAnObject));
}

#[test]
fn another_version_is_refused_by_name() {
    let unsupported = |found| Err(DecodeError::UnsupportedSchemaVersion { found, supported: 1 });
    assert_eq!(altered(":1,", ":2,"), unsupported(2));
    assert_eq!(altered(":1,", ":0,"), unsupported(0));
    assert_eq!(read(r#"{"new":null,"schema_version":7}"#), unsupported(7));
    assert_eq!(
        decode_record::<Later>(GOOD.as_bytes()),
        Err(DecodeError::UnsupportedSchemaVersion { found: 1, supported: 2 })
    );
    assert_eq!(decode_record(br#"{"schema_version":2}"#), Ok(Later { schema_version: 2 }));

    assert_eq!(schema_version(br#"{"x":{"schema_version":3},"schema_version":4}"#), Ok(4));
    for text in [r#""1""#, "-1", "1.0", "4294967296", "null", "[1]"] {
        let record = format!(r#"{{"schema_version":{text}}}"#);
        assert_eq!(schema_version(record.as_bytes()), Err(DecodeError::InvalidValue), "{text}");
    }
    assert_eq!(
        schema_version(br#"{"a":{"schema_version":1}}"#),
        Err(DecodeError::MissingField { field: "schema_version".to_owned() })
    );
    assert!(matches!(
        schema_version(br#"{"schema_version":1,"Schema_Version":2}"#),
        Err(DecodeError::DuplicateKey { .. })
    ));
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let refused = |result: Result<Vec<u8>, EncodeError>| match result {
        Err(EncodeError::NotReadable(reason)) => reason,
        other => panic!("{other:?}"),
    };
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(refused(encode(&[number])), DecodeError::Null { .. }));
    }
    assert!(matches!(refused(encode(&None::<u8>)), DecodeError::Null { .. }));
    let keys = BTreeMap::from([("key", 1), ("KEY", 2)]);
    assert!(matches!(refused(encode(&keys)), DecodeError::DuplicateKey { .. }));
    assert!(matches!(refused(encode(&"x".repeat(1 << 20))), DecodeError::TooLarge { .. }));
    let pairs = BTreeMap::from([((1, 2), 3)]);
    assert_eq!(encode(&pairs), Err(EncodeError::NoJsonForm));
}
