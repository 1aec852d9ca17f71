//! The embedded data in a directory of its own, to be changed and asked.

#![allow(dead_code, reason = "each test program uses its part")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gates::embedded;
use gates::family::FAMILIES;
use gates::json::{Json, parse};
use gates::router;
use gates::source::Environment;

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
}

/// A set of gate files.
#[derive(Clone)]
pub(crate) struct Files(BTreeMap<&'static str, Vec<u8>>);

pub(crate) fn names() -> Vec<&'static str> {
    let mut names = vec![embedded::CENTRAL_GATE_FILE, embedded::EVIDENCE_FILE];
    names.extend(FAMILIES.iter().map(|family| family.gate_file));
    names
}

impl Files {
    pub(crate) fn embedded() -> Self {
        let text = |name| embedded::file(name).expect("embedded").as_bytes().to_vec();
        Self(names().into_iter().map(|name| (name, text(name))).collect())
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

    /// Sets the value at a path in the central gate.
    pub(crate) fn central(self, path: &[&str], value: &str) -> Self {
        let value = parse(value.as_bytes()).expect("JSON");
        let (key, parents) = path.split_last().expect("a path");
        self.edit(embedded::CENTRAL_GATE_FILE, parents, |parent| {
            members(parent).insert((*key).to_owned(), value);
        })
    }

    /// Runs the program on these files as an installation.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Answer {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, bytes) in &self.0 {
            std::fs::write(directory.path().join(name), bytes).expect("written");
        }
        ask(arguments, &[], Some(directory.path()))
    }

    /// Asserts that `check` fails with exactly these rules.
    #[track_caller]
    pub(crate) fn breaks(&self, rules: &[&str]) {
        let answer = self.ask(&["check", "--json"]);
        assert_eq!(answer.code, 65, "{answer:?}");
        assert_eq!(answer.stderr.lines().count(), 1);
        let report = answer.json();
        assert_eq!(report.get("valid"), Some(&Json::Bool(false)));
        assert_eq!(report.get("stage"), Some(&"gates".into()));
        let findings = report.get("findings").and_then(Json::as_array).expect("findings");
        let mut ids: Vec<&str> = findings.iter().filter_map(|finding| finding.get("id")?.as_str()).collect();
        ids.dedup();
        assert_eq!(ids, rules, "{}", answer.stderr);
        assert!(rules.iter().all(|rule| answer.stderr.contains(rule)), "{}", answer.stderr);
    }
}

pub(crate) fn members(value: &mut Json) -> &mut gates::json::Object {
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
    let code = router::run(&arguments, &environment, &mut stdout, &mut stderr);
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
