//! A root in a temporary directory.
#![allow(dead_code, reason = "each test uses its own part")]

use std::path::{Path, PathBuf};

use record::{AbsolutePath, TaskId};
use store::{Admitted, Root, Task, random_task_id};

use crate::sample::Sample;

/// A directory with a root in it.
pub(crate) struct Place {
    _directory: tempfile::TempDir,
    pub(crate) root: Root,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open_or_create(&root_path(directory.path())).unwrap();
        Self { _directory: directory, root }
    }

    /// With one task.
    pub(crate) fn with_task() -> (Self, TaskId) {
        let place = Self::new();
        let id = place.admit().id();
        (place, id)
    }

    pub(crate) fn sample(&self, id: TaskId) -> Sample {
        Sample::new(self.root.id(), id)
    }

    pub(crate) fn admit(&self) -> Task {
        match self.sample(random_task_id()).admit(&self.root).unwrap() {
            Admitted::New(task) => task,
            Admitted::Existing(task) => panic!("{} is not random", task.id()),
        }
    }

    pub(crate) fn task(&self, id: TaskId) -> Task {
        self.root.task(id).unwrap().unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().as_path().join(path)
    }

    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        names(&self.path(path))
    }
}

pub(crate) fn root_path(directory: &Path) -> AbsolutePath {
    AbsolutePath::new(&directory.canonicalize().unwrap().join("root")).unwrap()
}

pub(crate) fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        path.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
