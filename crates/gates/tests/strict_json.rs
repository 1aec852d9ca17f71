//! How files are read.

use gates::json::{Json, ParseError, decode, parse};
use gates::limits::JSON_MAX_DEPTH;

#[test]
fn keys_keep_their_order_and_numbers_have_one_form() {
    let value = parse(b"{\"z\": 1.0, \"a\": [1e2, -0.5, 12345678901234567890], \"m\": {}}").expect("JSON");
    assert_eq!(
        value.pretty(),
        "{\n  \"z\": 1,\n  \"a\": [\n    100,\n    -0.5,\n    12345678901234567890\n  ],\n  \"m\": {}\n}"
    );
    assert_eq!(parse(b"1.0"), parse(b"1"));
    assert_eq!(parse(b"-0.0"), parse(b"0"));
}

#[test]
fn what_is_refused() {
    let refused = |text: &[u8]| parse(text).expect_err("refused");
    assert_eq!(refused(b""), ParseError::Empty);
    assert_eq!(refused(b" \n"), ParseError::Empty);
    assert_eq!(refused(b"\xff"), ParseError::NotUtf8);
    assert_eq!(refused(b"{\"a\": 1,\n \"\\u0061\": 2}"), ParseError::DuplicateKey { line: 2, column: 9 });
    for text in [&b"{"[..], b"1 2", b"NaN", b"1e999", b"{a: 1}", b"\"\\ud800\"", b"[1,]", b"{} //"] {
        assert!(matches!(refused(text), ParseError::Syntax { .. }), "{text:?}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| [vec![b'['; levels], vec![b']'; levels]].concat();
    assert!(parse(&nested(JSON_MAX_DEPTH)).is_ok());
    assert!(matches!(parse(&nested(JSON_MAX_DEPTH + 1)), Err(ParseError::TooDeep { .. })));
    assert!(matches!(parse(&vec![b'['; 1 << 20]), Err(ParseError::TooDeep { .. })));
    let objects = "{\"a\":".repeat(1 << 17);
    assert!(matches!(parse(objects.as_bytes()), Err(ParseError::TooDeep { .. })));
}

#[derive(Debug, PartialEq, serde::Deserialize)]
struct Sample {
    name: String,
    inner: Vec<Option<Inner>>,
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    count: u8,
}

#[test]
fn a_fault_has_a_place_and_repeats_no_value() {
    let fault =
        |text: &str| decode::<Sample>(&parse(text.as_bytes()).expect("JSON"), &["top"]).expect_err("refused");
    let secret = "{\"name\": \"x\", \"inner\": [null, {\"count\": \"secret\"}]}";
    let found = fault(secret);
    assert_eq!(
        (found.at.as_str(), found.detail.as_str()),
        ("/top/inner/1/count", "string where u8 is expected")
    );
    let found = fault("{\"name\": \"x\", \"inner\": [{\"count\": 300}]}");
    assert_eq!(found.detail, "this number is not u8");
    let found = fault("{\"name\": \"x\", \"inner\": [{\"count\": 3, \"secret\": 1}]}");
    assert_eq!(found.detail, "unknown key");
    assert_eq!(fault("{\"name\": \"x\"}").detail, "missing key inner");
    // Unlike serde_json: an array is no record.
    assert_eq!(fault("{\"name\": \"x\", \"inner\": [[3]]}").detail, "array where an object is expected");
    assert_eq!(fault("[\"x\", []]").at, "/top");
    let good =
        decode::<Sample>(&parse(b"{\"name\": \"x\", \"inner\": [{\"count\": 3.0}]}").expect("JSON"), &[]);
    assert_eq!(good, Ok(Sample { name: "x".to_owned(), inner: vec![Some(Inner { count: 3 })] }));
    assert_eq!(Json::default().kind(), "null");
}
