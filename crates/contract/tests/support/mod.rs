//! The embedded data in a directory of its own, to be changed and asked.

#![allow(dead_code, reason = "each test program uses its part")]

pub(crate) mod artifacts;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use contract::command;
use contract::embedded::{CONTRACT, CONTRACT_FILE, policy};
use gates::embedded::{CENTRAL_GATE_FILE, file};
use gates::family::FAMILIES;
use gates::json::{Json, Object, parse};
use gates::source::Environment;

pub(crate) const POLICY_FILE: &str = "external-patch-policy.json";

/// What a run of the program left behind.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Json {
        parse(self.stdout.as_bytes()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The stage that failed and the ids of its findings, each once where equal ones stand together.
    pub(crate) fn refusal(&self) -> (String, Vec<String>) {
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("delegation-executor-contract: "));
        let report = self.json();
        assert_eq!(report.get("valid"), Some(&Json::Bool(false)));
        let findings = report.get("findings").and_then(Json::as_array).expect("findings");
        let word =
            |value: &Json, key: &str| value.get(key).and_then(Json::as_str).expect("a text").to_owned();
        let mut ids: Vec<String> = findings.iter().map(|finding| word(finding, "id")).collect();
        ids.dedup();
        (word(&report, "stage"), ids)
    }
}

/// A contract and everything around it.
#[derive(Clone)]
pub(crate) struct Files(BTreeMap<&'static str, Vec<u8>>);

pub(crate) fn names() -> Vec<&'static str> {
    let mut names = vec![CONTRACT_FILE, POLICY_FILE, CENTRAL_GATE_FILE];
    names.extend(FAMILIES.iter().map(|family| family.gate_file));
    names
}

impl Files {
    pub(crate) fn embedded() -> Self {
        let text = |name| match name {
            CONTRACT_FILE => CONTRACT,
            POLICY_FILE => policy(name).expect("embedded"),
            _ => file(name).expect("embedded"),
        };
        Self(names().into_iter().map(|name| (name, text(name).as_bytes().to_vec())).collect())
    }

    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        &self.0[name]
    }

    pub(crate) fn put(&mut self, name: &str, bytes: Vec<u8>) {
        *self.0.get_mut(name).expect("a known file") = bytes;
    }

    pub(crate) fn json(&self, name: &str) -> Json {
        parse(self.bytes(name)).expect("JSON")
    }

    /// Changes the value at a path.
    pub(crate) fn edit(mut self, name: &str, path: &[&str], change: impl FnOnce(&mut Json)) -> Self {
        let mut document = self.json(name);
        change(place(&mut document, path));
        self.put(name, document.pretty().into_bytes());
        self
    }

    /// Sets a member of an object.
    pub(crate) fn set(self, name: &str, path: &[&str], value: &str) -> Self {
        let value = parse(value.as_bytes()).expect("JSON");
        let (key, parents) = path.split_last().expect("a path");
        self.edit(name, parents, |parent| drop(members(parent).insert((*key).to_owned(), value)))
    }

    /// Removes a member of an object.
    pub(crate) fn remove(self, name: &str, path: &[&str]) -> Self {
        let (key, parents) = path.split_last().expect("a path");
        self.edit(name, parents, |parent| {
            assert!(members(parent).shift_remove(*key).is_some(), "no {key}");
        })
    }

    /// Writes the files as an installation.
    pub(crate) fn install(&self) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, bytes) in &self.0 {
            std::fs::write(directory.path().join(name), bytes).expect("written");
        }
        directory
    }

    /// Runs the program on these files as an installation.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Answer {
        ask(arguments, &[], Some(self.install().path()))
    }

    /// Asserts that `check` fails in a stage with exactly these findings.
    #[track_caller]
    pub(crate) fn breaks(&self, stage: &str, ids: &[&str]) {
        let answer = self.ask(&["check", "--json"]);
        assert_eq!(answer.code, 65, "{answer:?}");
        let (found_stage, found) = answer.refusal();
        assert_eq!(
            (found_stage.as_str(), found.iter().map(String::as_str).collect()),
            (stage, ids.to_vec()),
            "{}",
            answer.stderr
        );
    }
}

pub(crate) fn members(value: &mut Json) -> &mut Object {
    if let Json::Object(members) = value { members } else { panic!("no object: {}", value.kind()) }
}

pub(crate) fn place<'a>(value: &'a mut Json, path: &[&str]) -> &'a mut Json {
    path.iter().fold(value, |value, key| members(value).get_mut(*key).unwrap_or_else(|| panic!("no {key}")))
}

/// Runs the program.
pub(crate) fn ask(arguments: &[&str], variables: &[(&str, &Path)], installed: Option<&Path>) -> Answer {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let variable = |name: &str| {
        variables.iter().find(|(own, _)| *own == name).map(|(_, path)| path.as_os_str().to_owned())
    };
    let environment = Environment { variable: &variable, installed: installed.map(PathBuf::from) };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = command::run(&arguments, &environment, &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Answer { code, stdout: text(stdout), stderr: text(stderr) }
}

/// The predecessor's configuration, where it lies beside the repository or is named.
pub(crate) fn kit_config(test: &str) -> Option<PathBuf> {
    const VARIABLE: &str = "DELEGATION_KIT_CONFIG";
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/kit-config");
    let path = std::env::var_os(VARIABLE).map_or(beside, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    testkit::real::skip(test, &format!("the predecessor's configuration is not here; name it in {VARIABLE}"));
    None
}
