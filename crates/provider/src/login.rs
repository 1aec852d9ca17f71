//! Where a CLI keeps its login. Only whether the file is there is ever asked; it is never opened (STATE.md 8).

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
