//! Steps 6 to 8: the declared fields, each for itself.

use std::collections::BTreeSet;

use gates::finding::{Exit, Finding, Refusal};
use gates::json::{Object, pointer};

use super::{Expectation, Problem};
use crate::model::FieldType;

/// Most characters of a value that are repeated.
const ECHO_MAX_CHARACTERS: usize = 64;

/// Step 6: what is not there. A `null` is there.
pub(super) fn missing(expectation: Expectation<'_>, fields: &Object) -> Vec<Problem> {
    let guaranteed = expectation.family.and_then(|family| family.envelope_fields.get(expectation.kind));
    let required: BTreeSet<&String> = expectation
        .envelope()
        .required
        .iter()
        .chain(guaranteed.into_iter().flat_map(|names| names.iter()))
        .collect();
    required
        .into_iter()
        .filter(|field| !fields.contains_key(*field))
        .map(|field| Problem::named("missing_required_field", pointer([field]), field))
        .collect()
}

/// Step 7: what is of another type than declared, in the order of the declaration.
pub(super) fn types(expectation: Expectation<'_>, fields: &Object) -> Vec<Problem> {
    let declared = expectation.envelope().field_types.iter();
    declared
        .filter(|(field, kind)| {
            fields
                .get(*field)
                .is_some_and(|value| !FieldType::of(kind).is_some_and(|kind| kind.accepts(value)))
        })
        .map(|(field, _)| Problem::named("field_type", pointer([field]), field))
        .collect()
}

/// Step 8: the first value that is not in its vocabulary.
pub(super) fn closed_values(expectation: Expectation<'_>, fields: &Object) -> Result<(), Refusal> {
    for field in expectation.envelope().closed_value_fields() {
        let Some(value) = fields.get(field) else { continue };
        let words = expectation.contract.vocabularies.list(&format!("{field}_values"));
        let word = value.as_str();
        if word.is_some_and(|word| words.is_some_and(|words| words.has(word))) {
            continue;
        }
        let shown = word.map_or("a value that is no word", |word| echo(expectation, word));
        let shown: String = shown.chars().take(ECHO_MAX_CHARACTERS).collect();
        let allowed = words.map(|words| words.join(", ")).unwrap_or_default();
        let message = format!("{field} is {shown:?}, which is not one of: {allowed}");
        return Err(Refusal {
            exit: Exit::Invalid,
            stage: "closed-values",
            findings: vec![Finding::new("closed_value", pointer([field]), message.clone())],
            message,
        });
    }
    Ok(())
}

/// A word of the artifact, but never one in the shape of a credential.
fn echo<'a>(expectation: Expectation<'_>, word: &'a str) -> &'a str {
    let patterns = &expectation.contract.extension_policy.rejected_value_patterns;
    if patterns.iter().any(|pattern| pattern.matches_before_line_feed(word)) {
        super::extension::CREDENTIAL_MARKER
    } else {
        word
    }
}
