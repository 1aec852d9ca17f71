//! Very many ended tasks in a state root, without running them: copies of one that ran.
//!
//! The copies are what as many turns would have left. Records name the task and each other's digests, so these are replaced;
//! all other bytes are those of the one turn.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

/// The files that name others by digest, before those that name them.
const RECORDS: [&str; 8] = [
    "request.json",
    "plan.json",
    "submission.json",
    "launch.json",
    "running.json",
    "session.json",
    "seal.json",
    "outcome.json",
];
/// The files that name no task.
const CONTENT: [&str; 4] = ["brief.md", "result.txt", "raw/stdout", "raw/stderr"];
const JOURNAL: &str = "journal.ndjson";

/// A task that ended with an answer.
#[derive(Debug)]
pub struct StoredTask {
    root: PathBuf,
    id: String,
    records: Vec<(&'static str, String)>,
    content: Vec<(&'static str, Vec<u8>)>,
    journal: String,
}

impl StoredTask {
    /// Reads a task that ended with an answer.
    ///
    /// # Errors
    /// A file of it is not there.
    pub fn read(root: &Path, id: &str) -> io::Result<Self> {
        let directory = root.join("tasks").join(id);
        let records = RECORDS
            .iter()
            .map(|name| Ok((*name, fs::read_to_string(directory.join(name))?)))
            .collect::<io::Result<_>>()?;
        let content = CONTENT
            .iter()
            .map(|name| Ok((*name, fs::read(directory.join(name))?)))
            .collect::<io::Result<_>>()?;
        let journal = fs::read_to_string(root.join(JOURNAL))?;
        let journal = journal.split_inclusive('\n').filter(|line| line.contains(id)).collect();
        Ok(Self { root: root.to_path_buf(), id: id.to_owned(), records, content, journal })
    }

    /// The id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Stores so many more like it, with their lines in the journal; returns their ids. Nothing is synced one by one: a
    /// caller who cares syncs once.
    ///
    /// # Errors
    /// Something can not be written.
    pub fn copy(&self, count: usize) -> io::Result<Vec<String>> {
        let mut ids = Vec::with_capacity(count);
        let mut journal = String::new();
        for _ in 0..count {
            let id = random_id()?;
            self.write(&self.root.join("tasks").join(&id), &id)?;
            journal.push_str(&self.journal.replace(&self.id, &id));
            ids.push(id);
        }
        fs::OpenOptions::new().append(true).open(self.root.join(JOURNAL))?.write_all(journal.as_bytes())?;
        Ok(ids)
    }

    fn write(&self, directory: &Path, id: &str) -> io::Result<()> {
        for name in ["", "output", "raw"] {
            fs::DirBuilder::new().mode(0o700).create(directory.join(name))?;
        }
        write(&directory.join(".run.lock"), b"")?;
        for (name, bytes) in &self.content {
            write(&directory.join(name), bytes)?;
        }
        fs::set_permissions(directory.join("brief.md"), fs::Permissions::from_mode(0o400))?;
        let mut replaced = vec![(self.id.clone(), id.to_owned())];
        for (name, text) in &self.records {
            let copy = replaced.iter().fold(text.clone(), |copy, (old, new)| copy.replace(old, new));
            write(&directory.join(name), copy.as_bytes())?;
            replaced.push((digest(text), digest(&copy)));
        }
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(hexadecimal(&bytes))
}

fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
