//! Artifacts of runs: good ones, and one for each problem (executor-contract.md 8).

mod support;

use contract::model::EnvelopeKind::{self, Diagnostic, Result, Status};
use gates::json::Json;
use support::artifacts::{Artifact, contract, families, good, validate};
use support::{PROGRAM, ask};

const GLM: &str = "glm-5.3-flash";
const GROK: &str = "grok-4.6";
const KIMI: &str = "kimi-k3";
const QWEN: &str = "qwen3.8-max";
const GEMINI: &str = "gemini-3.7-flash";

#[test]
fn every_family_has_good_artifacts_of_all_kinds() {
    for family in families() {
        for kind in EnvelopeKind::ALL {
            let answer = good(kind, &family).passes();
            assert_eq!(answer.get("family"), Some(&Json::from(family.as_str())));
            let required = [(Status, 6_u64), (Result, 8), (Diagnostic, 2)];
            let (_, count) = required.into_iter().find(|(own, _)| *own == kind).expect("a kind");
            assert_eq!(answer.get("required_fields"), Some(&count.into()));
            assert_eq!(answer.get("extension_fields"), Some(&Json::Array(vec![])));
            let keys: Vec<&str> = answer.as_object().expect("an object").keys().map(String::as_str).collect();
            assert_eq!(
                keys,
                [
                    "valid",
                    "envelope",
                    "file",
                    "family",
                    "required_fields",
                    "extension_fields",
                    "extensions_permitted",
                    "read_only"
                ]
            );
            let anonymous = good(kind, &family).anonymous().passes();
            assert_eq!(anonymous.get("family"), Some(&Json::Null));
        }
    }
}

#[test]
fn extensions_are_listed_and_pass() {
    let answer = good(Diagnostic, KIMI)
        .with("vendor_exit_code", "3")
        .with("schema", "\"delegation_kimi_error_v1\"")
        .with("exit_code", "75")
        .with("prompt_sha256", "\"00\"")
        .with("credential_state_shared", "true")
        .with("nested", "{\"input_tokens\": \"many\", \"api-key\": \"sk-short\"}")
        .passes();
    let fields =
        ["credential_state_shared", "exit_code", "nested", "prompt_sha256", "schema", "vendor_exit_code"];
    assert_eq!(answer.get("extension_fields"), Some(&Json::Array(fields.map(Json::from).to_vec())));
    good(Status, GLM).with("host", "{\"claude\": true}").passes();
}

#[test]
fn usage_errors_come_in_their_order() {
    let code = |arguments: &[&str]| ask(&[&["validate"], arguments].concat(), &[], None).code;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("artifact.json");
    std::fs::write(&path, "[]").expect("written");
    let file = path.to_str().expect("UTF-8");
    for arguments in [
        &["--envelope"][..],
        &["--file"],
        &["--family"],
        &["--envelope", "status", "--file"],
        &["extra"],
        &["--file", file],
        &["--envelope", "status"],
        &["--envelope", "receipt", "--file", file],
        &["--envelope", "status", "--file", file, "--verbose"],
    ] {
        assert_eq!(code(arguments), 64, "{arguments:?}");
    }
    assert_eq!(code(&["--envelope", "status", "--file", directory.path().to_str().expect("UTF-8")]), 66);
    assert_eq!(code(&["--envelope", "status", "--file", "/nowhere/at/all.json"]), 66);
    // An unknown envelope before the file, the content before the family.
    assert_eq!(code(&["--envelope", "receipt", "--file", "/nowhere/at/all.json"]), 64);
    assert_eq!(code(&["--envelope", "status", "--file", file, "--family", "unheard-of"]), 65);
    std::fs::write(&path, "{}").expect("written");
    assert_eq!(code(&["--envelope", "status", "--file", file, "--family", "unheard-of"]), 64);
    assert_eq!(code(&["--envelope", "status", "--file", file, "--family", KIMI]), 65);
}

#[test]
fn what_is_no_object() {
    for text in [&b""[..], b"null", b"[]", b"7", b"{", b"{} {}", b"\xff", b"{\"model\": 1e999}"] {
        assert_eq!(validate("status", None, text).code, 65, "{text:?}");
    }
    let twice =
        validate("diagnostic", None, b"{\"phase\": \"dispatch\", \"reason\": \"a\", \"reason\": \"b\"}");
    assert_eq!(twice.code, 65);
    assert!(twice.stderr.contains("duplicate key"), "{twice:?}");
}

#[test]
fn required_fields() {
    good(Result, KIMI).without("tokens").without("lane").fails("required-fields", &["lane", "tokens"]);
    good(Result, KIMI).without("usage_reported").fails("required-fields", &["usage_reported"]);
    good(Result, KIMI).without("usage_reported").anonymous().passes();
    good(Result, KIMI).with("tokens", "null").passes();
    for family in families() {
        for kind in EnvelopeKind::ALL {
            let artifact = good(kind, &family);
            let field = artifact.fields.keys().next_back().expect("a field").clone();
            artifact.without(&field).fails("required-fields", &[&field]);
        }
    }
}

#[test]
fn field_types() {
    let wrong = good(Result, GLM)
        .with("usage_source", "7")
        .with("tokens", "[]")
        .with("model", "null")
        .with("exact_model_identity_attested", "\"yes\"");
    wrong.fails("field-types", &["model", "tokens", "exact_model_identity_attested", "usage_source"]);
    good(Diagnostic, QWEN).with("schema_version", "1.5").fails("field-types", &["schema_version"]);
    good(Diagnostic, QWEN).with("schema_version", "1.0").passes();
    good(Diagnostic, QWEN).with("debug_dir", "false").fails("field-types", &["debug_dir"]);
    good(Status, QWEN).with("backends", "[]").fails("field-types", &["backends"]);
}

#[test]
fn closed_values() {
    let closed = |artifact: Artifact, words: &str| {
        let answer = artifact.validate();
        assert_eq!(answer.refusal(PROGRAM), ("closed-values".to_owned(), vec!["closed_value".to_owned()]));
        assert!(answer.stderr.contains(words), "{answer:?}");
        answer
    };
    closed(
        good(Result, KIMI).with("lane", "\"sculptor\""),
        "lane is \"sculptor\", which is not one of: clerk, scout,",
    );
    closed(good(Result, KIMI).with("usage_source", "\"guess\""), "usage_source is \"guess\"");
    closed(good(Diagnostic, KIMI).with("phase", "\"coffee\""), "phase is \"coffee\"");
    // The first in the order of the declaration.
    closed(good(Diagnostic, KIMI).with("phase", "\"coffee\"").with("lane", "\"x\""), "lane is \"x\"");
    let secret = "sk-0123456789abcdef0123";
    let answer =
        closed(good(Diagnostic, KIMI).with("phase", &format!("\"{secret}\"")), "<credential-shaped value>");
    assert!(!format!("{answer:?}").contains(secret));
}

#[test]
fn identity() {
    for family in families() {
        good(Result, &family).with("model", "\"other\"").fails("identity", &["model"]);
        good(Result, &family).with("backend", "\"other\"").fails("identity", &["backend"]);
        good(Result, &family).with("effort", "\"low\"").fails("identity", &["effort"]);
        good(Status, &family).with("selected_backend", "\"other\"").fails("identity", &["selected_backend"]);
        good(Status, &family).with("selected_backend", "\"none\"").passes();
        good(Status, &family).with("efforts", "[\"low\"]").fails("identity", &["efforts"]);
        good(Status, &family).with("efforts", "[7]").fails("identity", &["efforts"]);
        good(Status, &family).with("efforts", "[]").passes();
        // The status of a family has no backend of its own.
        good(Status, &family).with("backend", "\"other\"").passes();
    }
    good(Result, GROK).with("effort", "\"max\"").fails("identity", &["effort"]);
    good(Result, GROK).with("lane", "\"clerk\"").fails("identity", &["lane"]);
    good(Result, GROK)
        .with("lane", "\"clerk\"")
        .with("model", "\"x\"")
        .with("backend", "\"x\"")
        .with("effort", "\"x\"")
        .fails("identity", &["model", "backend", "effort", "lane"]);
    good(Result, KIMI).with("model", "\"kimi-code/k3\"").passes();
    good(Result, GEMINI).with("model", "\"gemini-3.7-flash-high\"").passes();
    good(Result, GEMINI).with("model", "\"gemini-3.7-flash-low\"").fails("identity", &["model"]);
    good(Result, GEMINI).with("model", "\"gemini-3.7-flash-\"").fails("identity", &["model"]);
}

#[test]
fn what_no_artifact_may_carry() {
    let policy = contract().extension_policy;
    let refused = |artifact: Artifact, words: &[&str]| artifact.fails("extension-policy", words);
    for name in policy.rejected_key_names.iter() {
        refused(good(Diagnostic, KIMI).with(name, "1"), &[name]);
        let upper = name.to_ascii_uppercase();
        refused(good(Diagnostic, KIMI).with("deep", &format!("[[{{\"{upper}\": 1}}]]")), &[&upper]);
    }
    for part in policy.rejected_key_substrings.iter() {
        let key = format!("my_{part}_2");
        refused(good(Diagnostic, KIMI).with(&key, "1"), &[&key]);
    }
    for value in [
        "Bearer x",
        "sk-0123456789abcdef",
        "xai-0123456789abcdef",
        "gsk_0123456789abcdef",
        "ghp_0123456789abcdefghij",
        "-----BEGIN RSA PRIVATE KEY-----\\nMII",
        "sk-0123456789abcdef\\n",
    ] {
        for field in ["extra", "debug_dir"] {
            let artifact = good(Diagnostic, KIMI).with(field, &format!("\"{value}\""));
            refused(artifact.clone(), &["<credential-shaped value>"]);
            assert!(!format!("{:?}", artifact.validate()).contains("0123456789"));
        }
    }
    for value in [
        "see Bearer x",
        "sk-short",
        "sk-0123456789abcdef!",
        "a\\nsk-0123456789abcdef",
        "sk-0123456789abcdef\\n\\n",
    ] {
        good(Diagnostic, KIMI).with("extra", &format!("\"{value}\"")).passes();
    }
    let many = good(Diagnostic, KIMI)
        .with("token", "1")
        .with("Auth", "1")
        .with("extra", "[{\"token\": \"Bearer x\"}]");
    refused(many, &["<credential-shaped value>", "Auth", "token"]);
}

#[test]
fn a_credential_at_depth_40_is_found() {
    let deep = |inner: &str| format!("{}{inner}{}", "[{\"a\":".repeat(20), "}]".repeat(20));
    good(Diagnostic, KIMI).with("extra", &deep("\"fine\"")).passes();
    let artifact = good(Diagnostic, KIMI).with("extra", &deep("\"sk-0123456789abcdef\""));
    artifact.fails("extension-policy", &["<credential-shaped value>"]);
    good(Diagnostic, KIMI)
        .with("extra", &deep("{\"passphrase\": 1}"))
        .fails("extension-policy", &["passphrase"]);
}

#[test]
fn hostile_nesting_is_refused_with_a_clear_error() {
    const MEBIBYTE: usize = 1 << 20;
    for text in
        ["[".repeat(MEBIBYTE), "{\"a\":".repeat(MEBIBYTE / 5), format!("{{\"x\":{}", "[".repeat(MEBIBYTE))]
    {
        let answer = validate("result", None, text.as_bytes());
        assert_eq!(answer.code, 65);
        assert!(answer.stderr.contains("nested more than 100 levels deep"), "{}", answer.stderr);
        assert!(answer.stderr.len() < 300);
    }
    let long = validate("result", None, &vec![b' '; (4 << 20) + 1]);
    assert_eq!(long.code, 65);
    assert!(long.stderr.contains("is longer than 4194304 bytes"), "{}", long.stderr);
}
