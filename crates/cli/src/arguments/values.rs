//! How single values are written.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use record::ProfileId;

/// Parses the words of a closed vocabulary; a wrong word is answered with all of them and the nearest.
pub(super) fn words<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|value| word(*value))).map(move |text| {
        *all.iter().find(|value| word(**value) == text).expect("the text is one of the possible values")
    })
}

/// Parses the id of a profile. Its shape only: whether there is such a profile is the catalogue's to say, and for an id
/// that a task already has it does not matter.
pub(super) fn profile_id(text: &str) -> Result<ProfileId, String> {
    text.parse().map_err(|fault| match turn::nearest_profile(text) {
        Some(nearest) => format!("{fault}; did you mean {nearest}?"),
        None => format!("{fault}"),
    })
}
