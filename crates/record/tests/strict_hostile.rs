//! Strict JSON against hostile texts: each is refused for the right reason, and its harmless neighbour is accepted.

use record::json::{DecodeError, LINE_MAX_BYTES, Limits, LineReader, Object, TEXT_MAX_VALUES, check, decode};
use record::limits::{RECORD_MAX_BYTES, RECORD_MAX_DEPTH};
use serde_json::{Map, Value};

/// What a line holds, copied out of it.
fn parse_line(line: &[u8]) -> Result<Map<String, Value>, DecodeError> {
    LineReader::default().read(line).map(Object::to_owned)
}

fn refusal(text: impl AsRef<[u8]>) -> DecodeError {
    check(text.as_ref(), Limits::RECORD).expect_err("accepted")
}

#[track_caller]
fn accepted(text: impl AsRef<[u8]>) {
    assert_eq!(check(text.as_ref(), Limits::RECORD), Ok(()));
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn not_json() {
    for text in [
        "",
        " \n",
        "\u{feff}{}",
        "\0",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{,}",
        "[1,]",
        "[1 2]",
        "[",
        "{\"a\":",
        "nul",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "// note\n1",
        "\u{a0}1",
        "\u{b}1",
        "01",
        "-01",
        "+1",
        ".5",
        "5.",
        "-",
        "1e",
        "1e+",
        "[0x10]",
        "\"",
        "\"\\",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"\\u{41}\"",
        "\"a\nb\"",
        "\"a\0b\"",
        "\"\u{1f}\"",
    ] {
        assert!(matches!(refusal(text), DecodeError::Syntax { .. }), "{text:?}: {:?}", refusal(text));
    }
}

#[test]
fn escapes_of_half_a_surrogate_pair() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\u0041""#,
        r#""\udc00\ud800""#,
        r#"{"\ud800":1}"#,
    ] {
        assert!(matches!(refusal(text), DecodeError::Syntax { .. }), "{text}");
    }
    assert_eq!(decode(br#""\ud83d\ude00""#, Limits::RECORD), Ok("\u{1f600}".to_owned()));
}

#[test]
fn not_utf8() {
    for (text, offset) in [
        (&b"\"\xff\""[..], 1),
        (b"\"\xc0\xaf\"", 1),
        (b"\"\xe0\x80\xaf\"", 1),
        (b"\"\xed\xa0\x80\"", 1),
        (b"\"\xf4\x90\x80\x80\"", 1),
        (b"\"ab\xc3", 3),
        (b"\xff\xfe{\0}\0", 0),
        (b"{}\x80", 2),
    ] {
        assert_eq!(refusal(text), DecodeError::NotUtf8 { offset });
    }
    accepted("\"\u{0}é\u{10ffff}\"".replace('\0', "\\u0000"));
}

#[test]
fn one_value_and_white_space() {
    for text in ["{}", "{}\n", " \t\r\n{} \t\r\n", "0", "\"\"", "[]"] {
        accepted(text);
    }
    for text in ["{}{}", "{} {}", "1 2", "{}x", "{}\0", "[]]", "{}\u{feff}", "\"\"\u{2028}", "{}//"] {
        assert!(matches!(refusal(text), DecodeError::Trailing { .. }), "{text:?}: {:?}", refusal(text));
    }
    assert_eq!(refusal("1\n\n x"), DecodeError::Trailing { offset: 5 });
}

#[test]
fn numbers() {
    for text in ["1e999", "-1e999", "1E+309", "[1e400]", "1e99999999999999999999", "17976931348623159e293"] {
        assert!(matches!(refusal(text), DecodeError::NumberNotFinite { .. }), "{text}: {:?}", refusal(text));
    }
    let long = "9".repeat(400);
    assert!(matches!(refusal(long), DecodeError::NumberNotFinite { .. }));
    for text in ["0", "-0", "1.5", "1E5", "1e-999", "0e999", "1.7976931348623157e308", "18446744073709551616"]
    {
        accepted(text);
    }
    for (text, number) in [
        ("18446744073709551615", Value::from(u64::MAX)),
        ("-9223372036854775808", Value::from(i64::MIN)),
        ("0.1", Value::from(0.1)),
        ("1.0", Value::from(1.0)),
    ] {
        assert_eq!(decode(text.as_bytes(), Limits::RECORD), Ok(number));
    }
    assert_eq!(decode::<u64>(b"-0", Limits::RECORD), Err(DecodeError::InvalidValue));
    assert_eq!(decode::<u64>(b"1.0", Limits::RECORD), Err(DecodeError::InvalidValue));
    assert_eq!(decode::<u64>(b"18446744073709551616", Limits::RECORD), Err(DecodeError::InvalidValue));
}

#[test]
fn duplicate_keys() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"b":2,"a":3}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{"\u0061":1,"a":1}"#,
        r#"{"a":1,"A":1}"#,
        r#"{"A":1,"a":1}"#,
        r#"{"aB":1,"Ab":1}"#,
        r#"{"AB":1,"AB":1}"#,
        r#"{"AB":1,"\u0041B":1}"#,
        r#"{"":1,"":1}"#,
        "{\"k\":1,\"\u{212a}\":1}",
        "{\"\u{212a}\":1,\"K\":1}",
        "{\"s\":1,\"\u{17f}\":1}",
        r#"{"s":1,"\u017F":1}"#,
        "{\"ß\":1,\"\u{1e9e}\":1}",
        "{\"σ\":1,\"ς\":1}",
        "{\"Σ\":1,\"ς\":1}",
        r#"[[{"x":{"a":1,"A":1}}]]"#,
        r#"{"a":[{"b":1},{"b":1,"b":1}]}"#,
        r#"{"/":1,"\/":1}"#,
    ] {
        assert!(matches!(refusal(text), DecodeError::DuplicateKey { .. }), "{text}");
        assert!(matches!(parse_line(text.as_bytes()), Err(DecodeError::DuplicateKey { .. })), "{text}");
    }
    for text in [
        r#"{"a":{"a":{"a":1}}}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":1,"a ":1,"a\u0000":1}"#,
        "{\"ß\":1,\"ss\":1}",
        "{\"i\":1,\"\u{131}\":1,\"\u{130}\":1}",
        "{\"é\":1,\"e\u{301}\":1}",
        r#"{"aB":1,"a_b":1,"abc":1}"#,
    ] {
        accepted(text);
    }
}

#[test]
fn a_refusal_names_the_place_and_never_the_text() {
    assert_eq!(refusal("{\"a\":1,\n \"A\":2}"), DecodeError::DuplicateKey { offset: 12 });
    assert_eq!(refusal("[1,\n2,\n\n null]"), DecodeError::Null { offset: 13 });
    assert_eq!(refusal("[1,\n1e999]"), DecodeError::NumberNotFinite { offset: 9 });
    assert_eq!(refusal("[1,\n?]"), DecodeError::Syntax { offset: 5 });

    for text in [r#"{"hunter2":1,"Hunter2":1}"#, r#"["hunter2""#, r#"{"hunter2":null}"#, r#""hunter2" 1"#] {
        let error = refusal(text);
        assert!(!format!("{error} {error:?}").contains("unter2"), "{error}");
    }
    let typed = decode::<std::collections::BTreeMap<String, u8>>(br#"{"hunter2":"hunter2"}"#, Limits::RECORD);
    let error = typed.expect_err("accepted");
    assert!(!format!("{error} {error:?}").contains("unter2"), "{error}");
}

#[test]
fn null_only_where_allowed() {
    for text in ["null", "[null]", r#"{"a":null}"#, r#"{"a":[{"b":null}]}"#] {
        assert!(matches!(refusal(text), DecodeError::Null { .. }), "{text}");
        assert_eq!(check(text.as_bytes(), Limits { allow_null: true, ..Limits::RECORD }), Ok(()));
    }
    assert_eq!(decode::<Option<u8>>(b"null", Limits::LINE), Ok(None));
    accepted(r#"{"null":"null"}"#);
}

#[test]
fn depth() {
    accepted(nested(RECORD_MAX_DEPTH));
    accepted(format!("{}1{}", "{\"a\":".repeat(RECORD_MAX_DEPTH), "}".repeat(RECORD_MAX_DEPTH)));
    for text in [
        nested(RECORD_MAX_DEPTH + 1),
        "[".repeat(RECORD_MAX_BYTES),
        "{\"a\":".repeat(RECORD_MAX_DEPTH + 1),
        "[{\"a\":".repeat(RECORD_MAX_BYTES / 6),
    ] {
        let refusal = refusal(&text);
        assert!(
            matches!(refusal, DecodeError::TooDeep { offset, limit: RECORD_MAX_DEPTH } if offset < 1000),
            "{refusal:?}"
        );
    }

    let line = |levels: usize| format!("{{\"a\":{}}}", nested(levels - 1));
    assert!(parse_line(line(128).as_bytes()).is_ok());
    assert!(matches!(parse_line(line(129).as_bytes()), Err(DecodeError::TooDeep { limit: 128, .. })));
    assert!(matches!(parse_line("[".repeat(1 << 20).as_bytes()), Err(DecodeError::TooDeep { .. })));

    let unbounded = Limits { max_depth: usize::MAX, ..Limits::RECORD };
    assert!(matches!(
        check("[".repeat(1 << 20).as_bytes(), unbounded),
        Err(DecodeError::TooDeep { limit: 128, .. })
    ));
    assert!(matches!(
        check(b"[]", Limits { max_depth: 0, ..Limits::RECORD }),
        Err(DecodeError::TooDeep { .. })
    ));
    assert_eq!(check(b"1", Limits { max_depth: 0, ..Limits::RECORD }), Ok(()));
}

#[test]
fn size() {
    let fits = format!("\"{}\"", "x".repeat(RECORD_MAX_BYTES - 2));
    accepted(&fits);
    let found = RECORD_MAX_BYTES + 1;
    let limit = RECORD_MAX_BYTES;
    assert_eq!(refusal(format!("{fits}\n")), DecodeError::TooLarge { found, limit });
    assert_eq!(refusal(vec![0xff; found]), DecodeError::TooLarge { found, limit });
}

#[test]
fn lines() {
    let members = parse_line(b" {\"type\":\"x\",\"n\":null,\"camelCase\":[1]}\r").expect("a line");
    assert_eq!(members["type"], "x");
    assert_eq!(members["n"], Value::Null);
    for text in ["[]", "1", "\"x\"", "null", "[{}]"] {
        assert_eq!(parse_line(text.as_bytes()), Err(DecodeError::NotAnObject), "{text}");
    }
    for text in ["", "\r", "  "] {
        assert!(matches!(parse_line(text.as_bytes()), Err(DecodeError::Syntax { .. })), "{text:?}");
    }
}

#[test]
fn a_line_of_the_greatest_length() {
    let frame = r#"{"text":""}"#;
    let mut line = frame.replace("\"\"", &format!("\"{}\"", "x".repeat(LINE_MAX_BYTES - frame.len())));
    assert_eq!(line.len(), LINE_MAX_BYTES);
    let members = parse_line(line.as_bytes()).expect("a line");
    assert_eq!(members["text"].as_str().map(str::len), Some(LINE_MAX_BYTES - frame.len()));

    line.push(' ');
    assert_eq!(
        parse_line(line.as_bytes()),
        Err(DecodeError::TooLarge { found: LINE_MAX_BYTES + 1, limit: LINE_MAX_BYTES })
    );
}

#[test]
fn a_short_text_can_not_fill_the_memory() {
    // The object and the array are values too.
    let line = |zeros: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(zeros - 1));
    assert!(parse_line(line(TEXT_MAX_VALUES - 2).as_bytes()).is_ok());
    assert!(matches!(
        parse_line(line(TEXT_MAX_VALUES - 1).as_bytes()),
        Err(DecodeError::TooManyValues { .. })
    ));
}
