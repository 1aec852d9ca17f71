//! How single values are written.

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Subcommand};
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

/// Names that a shell offers for a value; others are not refused for their form.
#[derive(Clone, Copy)]
pub(super) struct Offered<T> {
    names: fn() -> &'static [String],
    parse: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Offered<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        TypedValueParser::parse_ref(&self.parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().iter().map(|name| PossibleValue::new(name.as_str()))))
    }
}

/// Takes the id of a profile. Its shape only: whether there is such a profile is the catalogue's to say, and for an id
/// that a task already has it does not matter.
pub(super) fn profile_id() -> Offered<ProfileId> {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| turn::providers().iter().map(|profile| profile.id.to_string()).collect());
    let parse = |text: &str| {
        text.parse().map_err(|fault| match turn::nearest_profile(text) {
            Some(nearest) => format!("{fault}; did you mean {nearest}?"),
            None => format!("{fault}"),
        })
    };
    Offered { names: || &NAMES, parse }
}

/// Takes the word of a command.
pub(super) fn command_word() -> Offered<String> {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let program = super::Command::augment_subcommands(clap::Command::new("delegate"));
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect()
    });
    Offered { names: || &NAMES, parse: |text| Ok(text.to_owned()) }
}

/// Takes the name of a schema.
pub(super) fn schema_name() -> Offered<String> {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| crate::commands::schemas().into_iter().map(|(name, _)| name).collect());
    Offered { names: || &NAMES, parse: |text| Ok(text.to_owned()) }
}
