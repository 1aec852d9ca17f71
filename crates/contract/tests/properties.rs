//! No input makes the inspector panic, and none passes that its types refuse.

mod support;

use std::sync::LazyLock;

use contract::command::PROGRAM;
use contract::embedded::CONTRACT_FILE;
use contract::model::{Contract, EnvelopeKind};
use contract::validate::{Expectation, fields, validate};
use gates::json::{Json, Object, parse};
use proptest::prelude::*;
use support::artifacts::{contract, families, good};
use support::{Answer, Files, embedded_files, names};
use testkit::documents::{any_json, mutate};

const WORDS: [&str; 8] =
    ["model", "lane", "clerk", "kimi-k3", "none", "blocked", "dispatch", "sk-0123456789abcdef0"];

static CONTRACT: LazyLock<Contract> = LazyLock::new(contract);

/// What `validate --json` says of a value, without reading and checking the contract each time.
fn validated(kind: EnvelopeKind, family: Option<&str>, artifact: &Json) -> Answer {
    let family = family.and_then(|name| CONTRACT.family(name));
    let expectation = Expectation { contract: &CONTRACT, kind, family };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = match fields(artifact).and_then(|fields| validate(expectation, fields)) {
        Ok(_) => {
            stdout.extend(b"{}");
            0
        }
        Err(refusal) => {
            refusal.report(PROGRAM, true, &mut stdout, &mut stderr).expect("written");
            refusal.exit.code()
        }
    };
    Answer::new(code, stdout, stderr)
}

fn told(answer: &Answer) -> Result<(), TestCaseError> {
    prop_assert!([0, 65, 66].contains(&answer.code), "{:?}", answer);
    prop_assert!(parse(answer.stdout.as_bytes()).is_ok(), "{:?}", answer);
    prop_assert_eq!(answer.stderr.lines().count(), usize::from(answer.code != 0));
    Ok(())
}

fn judged(files: &Files) -> Result<(), TestCaseError> {
    let answer = files.ask(&["check", "--json"]);
    told(&answer)?;
    let refused = parse(files.bytes(CONTRACT_FILE)).map_or(true, |value| Contract::read(&value).is_err());
    prop_assert!(!(refused && answer.code == 0));
    Ok(())
}

proptest! {
    #[test]
    fn mutated_files(index in 0..9_usize, steps in prop::collection::vec(0..64_usize, 1..9), new in any_json(&WORDS)) {
        let name = names()[index];
        let mut files = embedded_files();
        let mut document = files.json(name);
        mutate(&mut document, &steps, new);
        files.put(name, document.pretty().into_bytes());
        judged(&files)?;
    }

    #[test]
    fn damaged_bytes(index in 0..9_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let name = names()[index];
        let mut files = embedded_files();
        let mut bytes = files.bytes(name).to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        files.put(name, bytes);
        judged(&files)?;
    }

    #[test]
    fn anything_as_an_artifact(
        kind in prop::sample::select(&EnvelopeKind::ALL[..]),
        family in prop::option::of(prop::sample::select(families())),
        value in any_json(&WORDS),
    ) {
        told(&validated(kind, family.as_deref(), &value))?;
    }

    #[test]
    fn mutated_artifacts(
        kind in prop::sample::select(&EnvelopeKind::ALL[..]),
        family in prop::sample::select(families()),
        steps in prop::collection::vec(0..64_usize, 1..4),
        new in any_json(&WORDS),
    ) {
        let mut value = Json::Object(good(kind, &family).fields);
        mutate(&mut value, &steps, new);
        let answer = validated(kind, Some(&family), &value);
        told(&answer)?;
        if answer.code == 0 {
            let fields = value.as_object().cloned().unwrap_or_default();
            prop_assert!(good(kind, &family).fields.keys().all(|field| fields.contains_key(field)));
        }
    }

    #[test]
    fn a_secret_is_never_repeated(
        kind in prop::sample::select(&EnvelopeKind::ALL[..]),
        family in prop::sample::select(families()),
        at in any::<prop::sample::Index>(),
        secret in "(sk|xai)-[A-Za-z0-9_-]{16,24}",
    ) {
        let mut fields: Object = good(kind, &family).fields;
        let at = at.index(fields.len());
        fields[at] = Json::from(secret.as_str());
        let answer = validated(kind, Some(&family), &Json::Object(fields));
        prop_assert_eq!(answer.code, 65);
        prop_assert!(!answer.stdout.contains(&secret) && !answer.stderr.contains(&secret), "{:?}", answer);
    }
}
