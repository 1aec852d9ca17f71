//! The words for platforms in names of archives.

use crate::failure::Failure;

/// Every platform that a release may have, as `install.sh` knows them too.
pub(super) const ALL: [&str; 4] = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"];

/// The word for what this program was built for.
pub(super) fn of_this_host() -> Result<&'static str, Failure> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Ok("linux-amd64"),
        ("linux", "aarch64") => Ok("linux-arm64"),
        ("macos", "x86_64") => Ok("darwin-amd64"),
        ("macos", "aarch64") => Ok("darwin-arm64"),
        (system, architecture) => {
            Err(Failure::Other(format!("no release is made for {system} on {architecture}")))
        }
    }
}
