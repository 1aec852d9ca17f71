//! Where the files of an inspector come from: an override, the installation, the program itself.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::finding::{Exit, Refusal};
use crate::json::{Json, parse};
use crate::limits::FILE_MAX_BYTES;

/// What an inspector sees of its surroundings.
pub struct Environment<'a> {
    /// Value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// `<root>/config`, where `<root>` is the parent of the directory that holds the real program.
    pub installed: Option<PathBuf>,
}

impl Environment<'static> {
    /// That of this process.
    pub fn of_process() -> Self {
        let program = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
        let root = program.as_deref().and_then(Path::parent).and_then(Path::parent);
        Self { variable: &|name| std::env::var_os(name), installed: root.map(|root| root.join("config")) }
    }
}

impl Environment<'_> {
    /// The path in an override variable; an empty one counts as unset.
    pub fn path(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The file that an override names, else the installed one, else the embedded one.
    ///
    /// # Errors
    /// A file that was named or is installed and can not be read; a file that none of the three has.
    pub fn find(
        &self,
        named: Option<PathBuf>,
        name: &str,
        embedded: Option<&'static str>,
    ) -> Result<Text, Refusal> {
        if let Some(path) = named {
            return Text::read(&path);
        }
        let installed = self.installed.as_ref().map(|directory| directory.join(name));
        match (installed.as_deref().map(Text::read_raw), embedded) {
            (Some(Ok(text)), _) => Ok(text),
            (Some(Err(error)), Some(embedded)) if is_absent(&error) => Ok(Text::embedded(name, embedded)),
            (Some(Err(error)), _) => Err(unreadable(&installed.unwrap_or_default(), &error)),
            (None, Some(embedded)) => Ok(Text::embedded(name, embedded)),
            (None, None) => Err(unreadable(Path::new(name), &io::Error::from(io::ErrorKind::NotFound))),
        }
    }
}

/// The bytes of a file and the name to call it by.
#[derive(Clone, Debug)]
pub struct Text {
    /// The path, or `embedded:<file name>`.
    pub label: String,
    bytes: Cow<'static, [u8]>,
}

impl Text {
    /// Reads a regular file.
    ///
    /// # Errors
    /// Exit 66: missing, unreadable or no regular file. Exit 65: longer than
    /// [`FILE_MAX_BYTES`].
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        Self::read_raw(path).map_err(|error| unreadable(path, &error))
    }

    fn embedded(name: &str, text: &'static str) -> Self {
        Self { label: format!("embedded:{name}"), bytes: Cow::Borrowed(text.as_bytes()) }
    }

    fn read_raw(path: &Path) -> io::Result<Self> {
        // Not blocking: opening a named pipe would wait for a writer.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(|_| io::ErrorKind::Unsupported)?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Self { label: path.to_string_lossy().into_owned(), bytes: Cow::Owned(bytes) })
    }

    /// The JSON value of the file.
    ///
    /// # Errors
    /// Exit 65, with the place of the fault.
    pub fn parse(&self, stage: &'static str) -> Result<Json, Refusal> {
        parse(&self.bytes).map_err(|error| {
            Refusal::single(
                Exit::Invalid,
                stage,
                "not_json",
                format!("{} can not be parsed: {error}", self.label),
            )
        })
    }
}

/// A program may lie beside anything: what is called `config` there need not be a directory.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    let path = path.display();
    if error.kind() == io::ErrorKind::FileTooLarge {
        let message = format!("{path} is longer than {FILE_MAX_BYTES} bytes");
        return Refusal::single(Exit::Invalid, "input", "file_too_large", message);
    }
    let why = match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    Refusal::single(Exit::Unreadable, "input", "unreadable_file", format!("can not read {path}: {why}"))
}
