//! Where a CLI keeps its login, and which program it is of. Only whether the file is there is ever asked; it is never opened (STATE.md 8).

/// The file in which a CLI keeps its own login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginFile {
    /// The variable that names its directory, when set.
    pub directory_variable: &'static str,
    /// Its directory otherwise, below the home directory.
    pub directory: &'static str,
    /// Its path below that directory.
    pub name: &'static str,
    /// How to sign in.
    pub sign_in: &'static str,
}

/// The program that a family runner starts (runners.md 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramBehind {
    /// Its name on PATH.
    pub name: &'static str,
    /// Variables that name another file or place of it, when set.
    pub variables: &'static [&'static str],
    /// Where the runner keeps one of its own below the data home of the runners, which counts before PATH.
    pub store: Option<&'static str>,
}
