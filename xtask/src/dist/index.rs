//! What is made from the archives: checksums, installer, npm package, formula.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use record::Sha256Digest;
use serde_json::Value;
use testkit::real::workspace_directory;

use super::{PRODUCT, VERSION, archive_stem, platform};
use crate::failure::Failure;

/// The line of `install.sh` that names the place of the releases.
const NO_RELEASE_URL: &str = "RELEASE_URL=\n";

/// Writes everything; returns the paths.
pub(super) fn write(output: &Path, release_url: Option<&str>) -> Result<Vec<PathBuf>, Failure> {
    let archives: Vec<(&str, String)> = platform::ALL
        .into_iter()
        .map(|platform| (platform, format!("{}.tar.gz", archive_stem(platform))))
        .filter(|(_, name)| output.join(name).is_file())
        .collect();
    if archives.is_empty() {
        return Err(Failure::Other(format!("{}: no archive of {VERSION}", output.display())));
    }
    let installer = installer(release_url)?;
    let package = npm_package(output, &installer)?;
    let mut made = vec![put(output, "install.sh", &installer)?, output.join(&package)];

    let mut sums = String::new();
    let mut blocks = String::new();
    for (platform, name) in &archives {
        let sum = sha256(&output.join(name))?;
        let _ = writeln!(sums, "{sum}  {name}");
        if let Some(url) = release_url {
            blocks.push_str(&formula_block(platform, &format!("{url}/download/v{VERSION}/{name}"), &sum));
        }
    }
    for name in [package.as_str(), "install.sh"] {
        let _ = writeln!(sums, "{}  {name}", sha256(&output.join(name))?);
    }
    made.push(put(output, "checksums.txt", &sums)?);
    if let Some(url) = release_url {
        let template = read("packaging/delegation-layer.rb.in")?;
        let homepage = url.strip_suffix("/releases").unwrap_or(url);
        let formula = template
            .replace("@HOMEPAGE@", homepage)
            .replace("@VERSION@", VERSION)
            .replace("  @PLATFORMS@\n", &blocks);
        made.push(put(output, "delegation-layer.rb", &formula)?);
    }
    Ok(made)
}

/// `install.sh`, told where the releases lie.
fn installer(release_url: Option<&str>) -> Result<String, Failure> {
    let text = read("install.sh")?;
    if !text.contains(NO_RELEASE_URL) {
        return Err(Failure::Other(format!("install.sh has no line {NO_RELEASE_URL}")));
    }
    Ok(match release_url {
        Some(url) => text.replace(NO_RELEASE_URL, &format!("RELEASE_URL={url}\n")),
        None => text,
    })
}

/// Packs the npm package, in which the installer and the skill lie too; returns its file name.
fn npm_package(output: &Path, installer: &str) -> Result<String, Failure> {
    let directory = tempfile::tempdir_in(output).map_err(Failure::file(output))?;
    let here = directory.path();
    for (from, to) in [
        ("npm/README.md", "README.md"),
        ("npm/cli.js", "cli.js"),
        ("npm/skill.js", "skill.js"),
        ("skills/agent-integration/SKILL.md", "SKILL.md"),
        ("LICENSE", "LICENSE"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
        ("LICENSE-MIT", "LICENSE-MIT"),
    ] {
        put(here, to, &read(from)?)?;
    }
    put(here, "install.sh", installer)?;
    let mut manifest: Value = serde_json::from_str(&read("npm/package.json")?)
        .map_err(|error| Failure::Other(format!("npm/package.json: {error}")))?;
    manifest["version"] = VERSION.into();
    put(here, "package.json", &format!("{manifest:#}\n"))?;
    // Its own cache and logs stay out of the home directory.
    let cache = tempfile::tempdir().map_err(Failure::file(std::env::temp_dir()))?;
    let status = Command::new("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--no-update-notifier", "--cache"])
        .arg(cache.path())
        .arg("--pack-destination")
        .arg(output)
        .current_dir(here)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|source| Failure::Start { program: "npm".to_owned(), source })?;
    let name = format!("{PRODUCT}-{VERSION}.tgz");
    if status.success() && output.join(&name).is_file() {
        Ok(name)
    } else {
        Err(Failure::Program("npm pack".to_owned()))
    }
}

/// The part of the formula for one platform.
fn formula_block(platform: &str, url: &str, sum: &str) -> String {
    let (system, processor) = match platform {
        "linux-amd64" => ("linux", "intel"),
        "linux-arm64" => ("linux", "arm"),
        "darwin-amd64" => ("macos", "intel"),
        _ => ("macos", "arm"),
    };
    format!(
        "  on_{system} do\n    on_{processor} do\n      url \"{url}\"\n      sha256 \"{sum}\"\n    end\n  end\n"
    )
}

fn sha256(path: &Path) -> Result<String, Failure> {
    let file = File::open(path).map_err(Failure::file(path))?;
    let (digest, _) = Sha256Digest::of_reader(file).map_err(Failure::file(path))?;
    Ok(digest.to_string())
}

fn read(name: &str) -> Result<String, Failure> {
    let path = workspace_directory().join(name);
    fs::read_to_string(&path).map_err(Failure::file(&path))
}

fn put(directory: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = directory.join(name);
    fs::write(&path, text).map_err(Failure::file(&path))?;
    Ok(path)
}
