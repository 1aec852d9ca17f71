//! A path that can not climb.

use std::path::{Path, PathBuf};

use crate::id::{InvalidId, text_form};

/// An absolute, lexically clean path: it begins with `/`, has no empty, `.` or `..` component, no trailing slash and no
/// NUL, and is valid UTF-8 (records are JSON; another path is refused at the border rather than rewritten).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsolutePath(String);

impl AbsolutePath {
    /// Takes a path that is already clean.
    ///
    /// # Errors
    /// When the path is relative, not clean, not UTF-8 or holds a NUL.
    pub fn new(path: &Path) -> Result<Self, InvalidId> {
        path.to_str().ok_or(InvalidId("the path is not valid UTF-8"))?.parse()
    }

    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as the standard library's type.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// An owned copy as the standard library's type.
    pub fn to_path_buf(&self) -> PathBuf {
        PathBuf::from(&self.0)
    }

    /// The path of a plain name below this one.
    ///
    /// # Errors
    /// When `name` is empty, `.`, `..` or has a slash or NUL.
    pub fn join(&self, name: &str) -> Result<Self, InvalidId> {
        if self.0 == "/" { format!("/{name}").parse() } else { format!("{}/{name}", self.0).parse() }
    }

    /// Whether `other` is this path or lies below it.
    pub fn contains(&self, other: &Self) -> bool {
        other.as_path().starts_with(self.as_path())
    }
}

impl AsRef<Path> for AbsolutePath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

fn parse(text: &str) -> Result<AbsolutePath, InvalidId> {
    let Some(rest) = text.strip_prefix('/') else {
        return Err(InvalidId("the path must be absolute"));
    };
    if text.contains('\0') {
        return Err(InvalidId("the path holds a NUL"));
    }
    if !rest.is_empty() && rest.split('/').any(|component| matches!(component, "" | "." | "..")) {
        return Err(InvalidId(
            "the path must be clean: no empty, `.` or `..` component and no trailing slash",
        ));
    }
    Ok(AbsolutePath(text.to_owned()))
}

text_form!(
    AbsolutePath,
    |path| path.0.clone(),
    parse,
    "An absolute path without `.`, `..` or empty parts.",
    "^/"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clean_absolute_paths() {
        for right in ["/", "/a", "/a/b c", "/a/...", "/é"] {
            assert!(right.parse::<AbsolutePath>().is_ok(), "{right}");
        }
        for wrong in ["", "a", "/a/", "//a", "/a//b", "/a/.", "/a/../b", "/a\0b", "./a"] {
            assert!(wrong.parse::<AbsolutePath>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn containment_is_by_component() {
        let parent: AbsolutePath = "/a/b".parse().unwrap();
        assert!(parent.contains(&"/a/b".parse().unwrap()));
        assert!(parent.contains(&"/a/b/c".parse().unwrap()));
        assert!(!parent.contains(&"/a/bc".parse().unwrap()));
        assert!("/".parse::<AbsolutePath>().unwrap().contains(&parent));
    }
}
