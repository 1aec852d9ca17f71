//! Command lines that a reader can paste into a shell.

use std::path::Path;

/// `word` quoted for a POSIX shell where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:=@%,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// How the reader calls this program: by its name when the shell would find this very file under it, else by its path,
/// which is shown relative to `here` when it lies below.
pub(crate) fn own_name(executable: &Path, search_path: &str, here: &Path) -> String {
    if let Some(name) = executable.file_name()
        && std::env::split_paths(search_path)
            .map(|directory| directory.join(name))
            .find(|candidate| candidate.is_file())
            .and_then(|candidate| candidate.canonicalize().ok())
            .is_some_and(|found| found == executable)
    {
        return quoted(&name.to_string_lossy());
    }
    match executable.strip_prefix(here) {
        Ok(below) => quoted(&Path::new(".").join(below).to_string_lossy()),
        Err(_) => quoted(&executable.to_string_lossy()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting() {
        for (word, shown) in [
            ("/a/b-c_d.txt", "/a/b-c_d.txt"),
            ("codex:exec", "codex:exec"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$HOME", "'$HOME'"),
            ("it's", r"'it'\''s'"),
            ("~", "'~'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }

    #[test]
    fn own_name_is_what_works() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().canonicalize().unwrap();
        let executable = here.join("bin/delegate");
        std::fs::create_dir(here.join("bin")).unwrap();
        std::fs::write(&executable, "").unwrap();
        let search_path = format!("/nowhere:{}/bin", here.display());

        assert_eq!(own_name(&executable, &search_path, &here), "delegate");
        assert_eq!(own_name(&executable, "/nowhere", &here), "./bin/delegate");
        assert_eq!(own_name(&executable, "/nowhere", Path::new("/elsewhere")), executable.to_str().unwrap());
    }
}
