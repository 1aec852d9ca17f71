//! What a fake does to the world around it. Each deed is noted, with how it went.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::fake::{EXPENDABLE_FILE, Log};

use crate::output;

/// Notes a deed.
pub(crate) fn note(log: &Log, name: &str, done: io::Result<String>) -> io::Result<()> {
    log.add_note(name, &done.unwrap_or_else(|error| format!("failed: {error}")))
}

/// Puts other bytes in the place of the own executable, as an update does.
pub(crate) fn rewrite_own_binary() -> io::Result<String> {
    let own = std::env::current_exe()?;
    let new = own.with_extension("new");
    fs::copy(&own, &new)?;
    OpenOptions::new().append(true).open(&new)?.write_all(b"\n")?;
    fs::rename(&new, &own)?;
    Ok("rewritten".to_owned())
}

/// Tries to change the own standard input, by a new descriptor for it and by the inherited one.
pub(crate) fn write_to_brief() -> io::Result<String> {
    let reopened = OpenOptions::new()
        .write(true)
        .open("/proc/self/fd/0")
        .and_then(|mut brief| brief.write_all(b"changed"));
    let inherited = rustix::io::write(io::stdin(), b"changed").map_err(io::Error::from);
    let word = |done: bool| if done { "changed" } else { "refused" };
    Ok(format!("reopened {}, inherited {}", word(reopened.is_ok()), word(inherited.is_ok())))
}

/// Writes a file that is none of its business.
pub(crate) fn write_outside(path: &Path) -> io::Result<String> {
    fs::write(path, "by the fake CLI\n")?;
    Ok("written".to_owned())
}

/// Removes the working directory with all in it.
pub(crate) fn delete_working_directory() -> io::Result<String> {
    let directory = std::env::current_dir()?;
    if !directory.join(EXPENDABLE_FILE).is_file() {
        return Err(io::Error::other(format!("no file {EXPENDABLE_FILE} in it")));
    }
    fs::remove_dir_all(directory)?;
    Ok("deleted".to_owned())
}

/// Fills a file system. The file stays.
pub(crate) fn fill(directory: &Path) -> io::Result<String> {
    let mut file = File::create(directory.join("fill"))?;
    match output::endless_zeros(&mut file) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok("full".to_owned()),
        Err(error) => Err(error),
        Ok(bytes) => Ok(format!("not full after {bytes} bytes")),
    }
}

/// Starts the browser that the environment names; never another one.
pub(crate) fn open_browser() -> io::Result<String> {
    let Some(browser) = std::env::var_os("BROWSER") else {
        return Ok("BROWSER is not set".to_owned());
    };
    let status = Command::new(&browser)
        .arg("http://127.0.0.1:9/login")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(format!("{}: {status}", browser.display()))
}

/// Starts another program, and waits for it.
pub(crate) fn invoke(words: &[String]) -> io::Result<String> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("no program"))?;
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(status.to_string())
}
