//! JSON that keeps every member of an object, so that a test can tell by itself what strict JSON should refuse.

use std::collections::HashSet;
use std::fmt;

use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A JSON value with its members as written.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Leaf(Value),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn children(&self) -> Vec<&Tree> {
        match self {
            Self::Leaf(_) => Vec::new(),
            Self::Array(elements) => elements.iter().collect(),
            Self::Object(members) => members.iter().map(|(_, value)| value).collect(),
        }
    }

    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            _ => 1 + self.children().into_iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    pub(crate) fn has_null(&self) -> bool {
        matches!(self, Self::Leaf(Value::Null)) || self.children().into_iter().any(Self::has_null)
    }

    /// Two keys of one object that differ by case at most; good for keys in ASCII.
    pub(crate) fn has_duplicate(&self) -> bool {
        let mut seen = HashSet::new();
        let here = match self {
            Self::Object(members) => members.iter().any(|(key, _)| !seen.insert(key.to_lowercase())),
            _ => false,
        };
        here || self.children().into_iter().any(Self::has_duplicate)
    }

    /// Keeps the first of the members whose keys differ by case at most.
    pub(crate) fn without_duplicates(self) -> Self {
        match self {
            Self::Leaf(_) => self,
            Self::Array(elements) => {
                Self::Array(elements.into_iter().map(Self::without_duplicates).collect())
            }
            Self::Object(members) => {
                let mut seen = HashSet::new();
                let kept = members.into_iter().filter(|(key, _)| seen.insert(key.to_lowercase()));
                Self::Object(kept.map(|(key, value)| (key, value.without_duplicates())).collect())
            }
        }
    }

    /// Number of objects that have a member.
    fn objects(&self) -> usize {
        let here = matches!(self, Self::Object(members) if !members.is_empty());
        usize::from(here) + self.children().into_iter().map(Self::objects).sum::<usize>()
    }

    /// The text with one more member at the end of some object, whose key repeats an earlier one: letter for letter or in
    /// the other case, and plain or in escapes. There must be an object that has a member.
    pub(crate) fn with_duplicate(mut self, object: Index, member: Index, spelling: u8) -> String {
        let mut skip = object.index(self.objects());
        self.inject(&mut skip, &member, spelling & 1 != 0);
        self.to_text(spelling & 2 != 0)
    }

    /// Visits the objects from the outside in, passing over `skip` of them; true once done.
    fn inject(&mut self, skip: &mut usize, member: &Index, other_case: bool) -> bool {
        match self {
            Self::Leaf(_) => false,
            Self::Array(elements) => {
                elements.iter_mut().any(|element| element.inject(skip, member, other_case))
            }
            Self::Object(members) if members.is_empty() => false,
            Self::Object(members) if *skip == 0 => {
                let key = member.get(members).0.clone();
                let key = if other_case { swap_case(&key) } else { key };
                members.push((key, Self::Leaf(Value::from(0))));
                true
            }
            Self::Object(members) => {
                *skip -= 1;
                members.iter_mut().any(|(_, value)| value.inject(skip, member, other_case))
            }
        }
    }

    /// The text. `escape_last` writes the key of the last member of each object in escapes.
    pub(crate) fn to_text(&self, escape_last: bool) -> String {
        match self {
            Self::Leaf(value) => value.to_string(),
            Self::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|element| element.to_text(escape_last)).collect();
                format!("[{}]", elements.join(","))
            }
            Self::Object(members) => {
                let member = |(index, (key, value)): (usize, &(String, Self))| {
                    let escaped = escape_last && index + 1 == members.len();
                    let key: String = if escaped {
                        key.bytes().map(|byte| format!("\\u{byte:04x}")).collect()
                    } else {
                        key.clone()
                    };
                    format!("\"{key}\":{}", value.to_text(escape_last))
                };
                let members: Vec<_> = members.iter().enumerate().map(member).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

fn swap_case(key: &str) -> String {
    key.chars()
        .map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect()
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(Tree::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Tree::Object(members))
    }
}

/// Trees with keys of ASCII letters.
pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_map(Tree::Leaf).prop_recursive(6, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            prop::collection::vec(("[a-zA-Z]{1,3}", inner), 0..5).prop_map(Tree::Object),
        ]
    })
}

/// JSON texts in many spellings, with duplicate keys here and there.
pub(crate) fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|text| Value::from(text).to_string()),
        r#""([ -!#-\[\]-~]|\\[nt"\\/]|\\u00[0-7][0-9a-fA-F]){0,5}""#,
    ];
    let key = prop::sample::select(vec![
        r#""a""#,
        r#""b""#,
        r#""A""#,
        r#""\u0061""#,
        r#""\u0042""#,
        r#""ab""#,
        r#""aB""#,
        r#""c""#,
        r#""""#,
        r#""d""#,
    ]);
    let space = prop::sample::select(vec!["", "", "", " ", "\n", "\t \r"]);
    leaf.prop_recursive(5, 30, 4, move |inner| {
        let spaced = (space.clone(), inner).prop_map(|(space, text)| format!("{space}{text}{space}"));
        let member = (key.clone(), spaced.clone()).prop_map(|(key, text)| format!("{key}:{text}"));
        prop_oneof![
            prop::collection::vec(spaced, 0..4).prop_map(|elements| format!("[{}]", elements.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}
