//! `docs/routes.md` is what the router answers for every lane and every producer family.
//!
//! To write it anew after a change of the gates: `DELEGATION_WRITE_DOCS=1 cargo test -p gates --test routes_document`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use gates::finding::Exit;
use gates::router::{Entry, Producer, Resolution, Router};
use gates::source::Environment;

const HEAD: &str = "\
# Routes

What `delegation-route resolve` answers with the embedded gates. A choice is an offer: the user directs every dispatch. The
tables are written by a test, and compared by it in every run.

## Lanes that take no producer

A producer on one of these lanes is refused (exit 64). *Compound* lanes are served by all their members together.

| lane | choices | blocked |
|---|---|---|
";

const REVIEW: &str = "
## Review lanes

They need the producer, as a profile or as a model family; a reviewer of the producer's own family is excluded.

| lane | producer family | choices | excluded |
|---|---|---|---|
";

fn names(rows: &[Entry<'_>]) -> String {
    let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.profile)).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

fn document(router: &Router) -> String {
    let central = router.central();
    let mut lanes = Vec::new();
    for entry in router.entries() {
        if !lanes.contains(&entry.lane) {
            lanes.push(entry.lane);
        }
    }
    let families: BTreeSet<&String> = central.model_families.values().collect();
    let refused = |lane: &str, producer: Option<&Producer>| {
        router.resolve(lane, producer, None).expect_err("refused").exit
    };
    let mut text = HEAD.to_owned();
    let mut review = REVIEW.to_owned();
    for lane in lanes.iter().copied().chain(central.compound_lanes.keys().map(String::as_str)) {
        let reviews = central.review_policy.review_lanes.iter().any(|own| own == lane);
        if reviews {
            assert_eq!(refused(lane, None), Exit::Usage);
        } else {
            match router.resolve(lane, None, None).expect("an answer") {
                Resolution::Single(answer) => {
                    let (choices, blocked) = (names(&answer.choices), names(&answer.blocked));
                    let _ = writeln!(text, "| `{lane}` | {choices} | {blocked} |");
                }
                Resolution::Compound(_) => {
                    let members = central.compound_lanes[lane].members.join("`, `");
                    let _ = writeln!(text, "| `{lane}` | compound: `{members}` | – |");
                }
            }
        }
        for &family in &families {
            let producer = Producer::Family(family.clone());
            if !reviews {
                assert_eq!(refused(lane, Some(&producer)), Exit::Usage, "{lane} {family}");
                continue;
            }
            let Resolution::Single(answer) = router.resolve(lane, Some(&producer), None).expect("an answer")
            else {
                panic!("{lane} is a compound lane that reviews")
            };
            assert!(answer.choices.iter().all(|choice| choice.family != family), "{lane} {family}");
            let (choices, excluded) = (names(&answer.choices), names(&answer.excluded_same_family));
            let _ = writeln!(review, "| `{lane}` | {family} | {choices} | {excluded} |");
        }
    }
    text + &review
}

#[test]
fn the_document_is_what_the_router_answers() {
    let router = Router::load(&Environment { variable: &|_| None, installed: None }).expect("valid gates");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/routes.md");
    let expected = document(&router);
    if std::env::var_os("DELEGATION_WRITE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("written");
    }
    let found = std::fs::read_to_string(&path).expect("docs/routes.md");
    assert_eq!(found, expected, "docs/routes.md is not what the router answers");
}

#[test]
fn every_producer_profile_counts_as_its_family() {
    let router = Router::load(&Environment { variable: &|_| None, installed: None }).expect("valid gates");
    let central = router.central();
    let choices = |producer: &Producer, lane: &str| match router.resolve(lane, Some(producer), None) {
        Ok(Resolution::Single(answer)) => names(&answer.choices),
        other => panic!("{other:?}"),
    };
    for (name, profile) in &central.profiles {
        let family = central.model_families[&profile.model].clone();
        for lane in &central.review_policy.review_lanes {
            assert_eq!(
                choices(&Producer::Profile(name.clone()), lane),
                choices(&Producer::Family(family.clone()), lane)
            );
        }
    }
}
