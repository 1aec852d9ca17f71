//! The libraries beyond those of the system that an ELF program needs (runners.md 3.3), found as the loader finds them for a
//! child without any variable of the loader.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use goblin::elf::Elf;
use record::Sha256Digest;

use crate::common::files::read_regular;
use crate::kimi::limits::{LIBRARIES_MAX_COUNT, LIBRARY_MAX_BYTES, RECORD_MAX_BYTES};

/// Directories whose libraries come with the system.
const SYSTEM: &[&str] = &["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
const LOADER_CONFIGURATION: &str = "/etc/ld.so.conf";

/// What a loaded object says of where it looks.
struct Object {
    needed: Vec<String>,
    /// Directories of its own run path.
    own: Vec<PathBuf>,
    /// Directories that also count for what it loads; nothing where it has a run path.
    inherited: Vec<PathBuf>,
    kind: (bool, u16),
}

/// Every library that is not the system's, by its real path.
///
/// # Errors
/// A sentence: the program is no ELF program, or a library is not to be found or not to be read.
pub(super) fn of(program: &Path, bytes: &[u8]) -> Result<BTreeMap<PathBuf, Sha256Digest>, String> {
    let configured = configured();
    let mut found = BTreeMap::new();
    let mut open = vec![Object::read(program, bytes, &[])?];
    while let Some(object) = open.pop() {
        for name in &object.needed {
            let path = object
                .find(name, &configured)
                .ok_or_else(|| format!("the library {name} is nowhere to be found"))?;
            if SYSTEM.iter().any(|system| path.starts_with(system)) || found.contains_key(&path) {
                continue;
            }
            let shown = path.display();
            let bytes =
                read_regular(&path, LIBRARY_MAX_BYTES).map_err(|error| format!("{shown}: {error}"))?;
            open.push(Object::read(&path, &bytes, &object.inherited)?);
            found.insert(path, Sha256Digest::of(&bytes));
            if found.len() > LIBRARIES_MAX_COUNT {
                return Err(format!("more than {LIBRARIES_MAX_COUNT} libraries"));
            }
        }
    }
    Ok(found)
}

impl Object {
    fn read(path: &Path, bytes: &[u8], inherited: &[PathBuf]) -> Result<Self, String> {
        let elf = Elf::parse(bytes).map_err(|_| format!("{} is no native program", path.display()))?;
        let origin = path.parent().unwrap_or(Path::new("/"));
        let directories = |paths: &[&str]| -> Vec<PathBuf> {
            paths.iter().flat_map(|path| path.split(':')).filter_map(|path| expanded(path, origin)).collect()
        };
        let run_path = directories(&elf.runpaths);
        // With a run path of its own, an object looks neither in its old one nor in those of its loaders.
        let inherited = if elf.runpaths.is_empty() {
            let own = directories(&elf.rpaths);
            own.into_iter().chain(inherited.iter().cloned()).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            needed: elf.libraries.iter().map(|name| (*name).to_owned()).collect(),
            own: run_path,
            inherited,
            kind: (elf.is_64, elf.header.e_machine),
        })
    }

    fn find(&self, name: &str, configured: &[PathBuf]) -> Option<PathBuf> {
        if name.contains('/') {
            return self.fitting(Path::new(name));
        }
        let places = self.own.iter().chain(&self.inherited).chain(configured);
        places.into_iter().find_map(|directory| self.fitting(&directory.join(name)))
    }

    /// The real path of a library of the same kind; the loader passes over another.
    fn fitting(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let bytes = read_regular(&real, LIBRARY_MAX_BYTES).ok()?;
        let header = Elf::parse_header(&bytes).ok()?;
        let is_64 = header.e_ident[goblin::elf::header::EI_CLASS] == goblin::elf::header::ELFCLASS64;
        ((is_64, header.e_machine) == self.kind).then_some(real)
    }
}

/// A directory of a run path. What is relative or holds another token than the origin is passed over.
fn expanded(path: &str, origin: &Path) -> Option<PathBuf> {
    let origin = origin.to_str()?;
    let path = path.replace("${ORIGIN}", origin).replace("$ORIGIN", origin);
    (path.starts_with('/') && !path.contains('$')).then(|| PathBuf::from(path))
}

/// The directories of the loader's configuration, then those that it knows by itself.
fn configured() -> Vec<PathBuf> {
    let mut directories = Vec::new();
    read_configuration(Path::new(LOADER_CONFIGURATION), true, &mut directories);
    for system in SYSTEM {
        directories.push(Path::new(system).join(format!("{}-linux-gnu", std::env::consts::ARCH)));
        directories.push(PathBuf::from(system));
    }
    directories
}

fn read_configuration(path: &Path, may_include: bool, directories: &mut Vec<PathBuf>) {
    let bytes = path.canonicalize().and_then(|path| read_regular(&path, RECORD_MAX_BYTES));
    let Ok(text) = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else { return };
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        match line.strip_prefix("include").map(str::trim) {
            Some(pattern) if may_include => {
                let Some((directory, "*.conf")) = pattern.rsplit_once('/') else { continue };
                let entries = fs::read_dir(directory).into_iter().flatten().flatten();
                let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
                files.retain(|file| file.extension().is_some_and(|extension| extension == "conf"));
                files.sort();
                files.iter().for_each(|file| read_configuration(file, false, directories));
            }
            Some(_) => {}
            None if line.starts_with('/') => directories.push(PathBuf::from(line)),
            None => {}
        }
    }
}
