//! The JSON files of an installation, to be changed and asked about: for the read-only inspectors.

mod arbitrary;
mod program;

use std::collections::BTreeMap;
use std::path::PathBuf;

use gates::json::{Json, Object, parse};

pub use arbitrary::{any_json, mutate};
pub use program::{Answer, Program};

use crate::real::{leave_out, workspace_directory};

/// The files of an installation, by name, and the program that is asked about them.
#[derive(Clone, Debug)]
pub struct Files {
    program: Program,
    files: BTreeMap<&'static str, Vec<u8>>,
}

impl Files {
    /// These files.
    pub fn new<'t>(program: Program, files: impl IntoIterator<Item = (&'static str, &'t str)>) -> Self {
        let files = files.into_iter().map(|(name, text)| (name, text.as_bytes().to_vec()));
        Self { program, files: files.collect() }
    }

    /// The bytes of a file.
    ///
    /// # Panics
    /// There is no such file.
    #[must_use]
    pub fn bytes(&self, name: &str) -> &[u8] {
        &self.files[name]
    }

    /// Replaces the bytes of a file.
    ///
    /// # Panics
    /// There is no such file.
    pub fn put(&mut self, name: &str, bytes: Vec<u8>) {
        *self.files.get_mut(name).expect("a known file") = bytes;
    }

    /// A file as JSON.
    ///
    /// # Panics
    /// It is none.
    #[must_use]
    pub fn json(&self, name: &str) -> Json {
        parse(self.bytes(name)).expect("JSON")
    }

    /// Changes the value at a path.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn edit(mut self, name: &str, path: &[&str], change: impl FnOnce(&mut Json)) -> Self {
        let mut document = self.json(name);
        change(place(&mut document, path));
        self.put(name, document.pretty().into_bytes());
        self
    }

    /// Sets a member of an object.
    ///
    /// # Panics
    /// There is no such object, or the value is no JSON.
    #[must_use]
    pub fn set(self, name: &str, path: &[&str], value: &str) -> Self {
        let value = parse(value.as_bytes()).expect("JSON");
        let (key, parents) = path.split_last().expect("a path");
        self.edit(name, parents, |parent| drop(members(parent).insert((*key).to_owned(), value)))
    }

    /// Removes a member of an object.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn remove(self, name: &str, path: &[&str]) -> Self {
        let (key, parents) = path.split_last().expect("a path");
        self.edit(name, parents, |parent| {
            assert!(members(parent).shift_remove(*key).is_some(), "no {key}");
        })
    }

    /// Writes the files as an installation.
    ///
    /// # Panics
    /// They can not be written.
    #[must_use]
    pub fn install(&self) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, bytes) in &self.files {
            std::fs::write(directory.path().join(name), bytes).expect("written");
        }
        directory
    }

    /// Runs the program on these files as an installation.
    ///
    /// # Panics
    /// As [`Files::install`] and [`Program::ask`].
    #[must_use]
    pub fn ask(&self, arguments: &[&str]) -> Answer {
        self.program.ask(arguments, &[], Some(self.install().path()))
    }

    /// Asserts that `check` fails in a stage with exactly these findings.
    ///
    /// # Panics
    /// It does not.
    #[track_caller]
    pub fn breaks(&self, stage: &str, ids: &[&str]) {
        let answer = self.ask(&["check", "--json"]);
        assert_eq!(answer.code, 65, "{answer:?}");
        let (found_stage, found) = answer.refusal(self.program);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!((found_stage.as_str(), found.as_slice()), (stage, ids), "{}", answer.stderr);
        // The sentence names the rules of gates too.
        let mut rules = ids.iter().filter(|id| id.starts_with("R-"));
        assert!(rules.all(|id| answer.stderr.contains(id)), "{}", answer.stderr);
    }
}

/// The members of an object.
///
/// # Panics
/// The value is none.
pub fn members(value: &mut Json) -> &mut Object {
    if let Json::Object(members) = value { members } else { panic!("no object: {}", value.kind()) }
}

/// The value at a path.
///
/// # Panics
/// There is none.
pub fn place<'a>(value: &'a mut Json, path: &[&str]) -> &'a mut Json {
    path.iter().fold(value, |value, key| members(value).get_mut(*key).unwrap_or_else(|| panic!("no {key}")))
}

/// The predecessor's configuration, where it lies beside the repository or is named.
#[must_use]
pub fn kit_config(test: &str) -> Option<PathBuf> {
    const VARIABLE: &str = "DELEGATION_KIT_CONFIG";
    let beside = workspace_directory().join("../shared/reference/kit-config");
    let path = std::env::var_os(VARIABLE).map_or(beside, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    leave_out(test, &format!("the predecessor's configuration is not here; name it in {VARIABLE}"));
    None
}
