//! The fuzz targets of the project: the programs of the workspaces in `crates/*/fuzz`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use testkit::real::{target_directory, workspace_directory};

use crate::failure::Failure;

/// One fuzz target; written `ROOM:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    room: String,
    name: String,
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.room, self.name)
    }
}

impl Target {
    /// The workspace that it is a program of.
    pub(crate) fn workspace(&self) -> PathBuf {
        workspace_of(&self.room)
    }

    /// The name of its program.
    pub(crate) fn program(&self) -> &str {
        &self.name
    }

    /// Inputs that are kept with the sources.
    pub(crate) fn seeds(&self) -> PathBuf {
        self.workspace().join("seeds").join(&self.name)
    }

    /// Words that its grammar knows.
    pub(crate) fn dictionary(&self) -> PathBuf {
        self.workspace().join(format!("{}.dict", self.name))
    }

    /// What a run makes: `corpus`, `findings` and `log` in it.
    pub(crate) fn products(&self) -> PathBuf {
        products().join(&self.room).join(&self.name)
    }
}

/// Where everything lies that fuzzing makes.
pub(crate) fn products() -> PathBuf {
    target_directory().join("fuzz")
}

fn workspace_of(room: &str) -> PathBuf {
    workspace_directory().join("crates").join(room).join("fuzz")
}

/// The targets that are named, by `ROOM` or `ROOM:NAME`; without words, all.
pub(crate) fn chosen(words: &[String]) -> Result<Vec<Target>, Failure> {
    let all = all()?;
    for word in words {
        if !all.iter().any(|target| fits(target, word)) {
            let names: Vec<String> = all.iter().map(Target::to_string).collect();
            return Err(Failure::Other(format!("no fuzz target {word}; there are {}", names.join(", "))));
        }
    }
    let wanted = |target: &Target| words.is_empty() || words.iter().any(|word| fits(target, word));
    Ok(all.into_iter().filter(wanted).collect())
}

fn fits(target: &Target, word: &str) -> bool {
    match word.split_once(':') {
        Some((room, name)) => target.room == room && target.name == name,
        None => target.room == word,
    }
}

fn all() -> Result<Vec<Target>, Failure> {
    let crates = workspace_directory().join("crates");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&crates).map_err(Failure::file(&crates))? {
        let entry = entry.map_err(Failure::file(&crates))?;
        let room = entry.file_name().to_string_lossy().into_owned();
        let manifest = workspace_of(&room).join("Cargo.toml");
        if manifest.is_file() {
            let names = programs(&manifest)?;
            targets.extend(names.into_iter().map(|name| Target { room: room.clone(), name }));
        }
    }
    targets.sort_unstable();
    Ok(targets)
}

/// The programs that a manifest lists.
fn programs(manifest: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(manifest).map_err(Failure::file(manifest))?;
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| Failure::Other(format!("{}: {error}", manifest.display())))?;
    let programs = table.get("bin").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |program: &toml::Value| program.get("name").and_then(toml::Value::as_str).map(str::to_owned);
    Ok(programs.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match chosen(&words) {
            Ok(targets) => Ok(targets.iter().map(Target::to_string).collect()),
            Err(failure) => Err(failure.to_string()),
        }
    }

    #[test]
    fn every_workspace_is_found_and_words_choose() {
        let all = names(&[]).unwrap();
        assert!(names(&["patch:text"]).unwrap() == ["patch:text"] && all.contains(&"patch:text".to_owned()));
        let rooms = names(&["contract", "patch", "provider"]).unwrap();
        assert_eq!(rooms, all);
        assert!(names(&["provider"]).unwrap().len() >= 6);
        assert!(names(&["patch:txt"]).unwrap_err().contains("patch:text"));
        assert!(names(&["record"]).is_err());
    }

    #[test]
    fn the_seeds_and_dictionaries_belong_to_targets() {
        let all = all().unwrap();
        for room in ["contract", "patch", "provider"] {
            let workspace = workspace_of(room);
            for entry in fs::read_dir(workspace.join("seeds")).into_iter().flatten() {
                let path = entry.unwrap().path();
                assert!(all.iter().any(|target| target.seeds() == path), "{}", path.display());
            }
            for entry in fs::read_dir(&workspace).unwrap() {
                let path = entry.unwrap().path();
                let is_dictionary = path.extension().is_some_and(|extension| extension == "dict");
                assert!(
                    !is_dictionary || all.iter().any(|target| target.dictionary() == path),
                    "{}",
                    path.display()
                );
            }
        }
    }
}
