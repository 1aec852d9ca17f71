//! Any value, and any change of one.

use gates::json::Json;
use proptest::prelude::*;

/// Any small value, often with one of these words.
///
/// # Panics
/// There are no words.
pub fn any_json(words: &'static [&'static str]) -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|number| Json::Number(number.into())),
        any::<f64>().prop_map(|number| serde_json::Number::from_f64(number).map_or(Json::Null, Json::Number)),
        prop::sample::select(words).prop_map(Json::from),
        "[a-z-]{0,8}".prop_map(Json::String),
        "\\PC{0,8}".prop_map(Json::String),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec(("[a-z_]{1,8}", inner), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Replaces or removes at a place that `steps` leads to.
pub fn mutate(value: &mut Json, steps: &[usize], new: Json) {
    let Some((&step, rest)) = steps.split_first() else {
        *value = new;
        return;
    };
    match value {
        Json::Object(members) if !members.is_empty() => {
            let index = step % members.len();
            if rest.is_empty() && step % 3 == 0 {
                members.shift_remove_index(index);
            } else if let Some((_, inner)) = members.get_index_mut(index) {
                mutate(inner, rest, new);
            }
        }
        Json::Array(elements) if !elements.is_empty() => {
            let index = step % elements.len();
            mutate(&mut elements[index], rest, new);
        }
        other => *other = new,
    }
}
