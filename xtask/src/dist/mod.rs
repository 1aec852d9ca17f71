//! What a release consists of: an archive for this platform, and what is the same for all platforms.
//!
//! ```text
//! target/dist/  delegation-layer-VERSION-PLATFORM.tar.gz   programs, licence, pages, completions, man pages, skill
//!               delegation-layer-VERSION.tgz               the npm package
//!               install.sh  delegation-layer.rb            installer, Homebrew formula
//!               checksums.txt                              SHA-256 of everything above but the formula
//! ```

mod archive;
mod content;
mod index;
mod platform;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use testkit::real::{target_directory, workspace_directory};

use crate::failure::Failure;

/// The name of the product in file names.
const PRODUCT: &str = "delegation-layer";
/// The version of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where things come from, and where they go.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the files are put [default: target/dist]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Programs that are built already, instead of a release build
    #[arg(long, value_name = "DIR", conflicts_with = "index_only")]
    programs: Option<PathBuf>,
    /// Where the releases of the project lie: PLACE/latest/download/FILE and PLACE/download/vVERSION/FILE
    #[arg(long, value_name = "PLACE", value_parser = release_url)]
    release_url: Option<String>,
    /// Build nothing: checksums, installers and formula for the archives that lie in the output directory
    #[arg(long)]
    index_only: bool,
}

/// Makes the archive of this platform, then everything that is made from the archives.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let output = options.output.clone().unwrap_or_else(|| target_directory().join("dist"));
    fs::create_dir_all(&output).map_err(Failure::file(&output))?;
    if !options.index_only {
        let platform = platform::of_this_host()?;
        let programs = match &options.programs {
            Some(directory) => directory.clone(),
            None => build()?,
        };
        let name = archive_stem(platform);
        let path = output.join(format!("{name}.tar.gz"));
        archive::write(&path, &name, content::of_archive(&programs)?)?;
        println!("{}", path.display());
    }
    for path in index::write(&output, options.release_url.as_deref())? {
        println!("{}", path.display());
    }
    if options.release_url.is_none() {
        println!("no --release-url: the installers ask for DELEGATE_RELEASE_URL, and there is no formula");
    }
    Ok(())
}

/// The name of an archive, and of the folder in it.
fn archive_stem(platform: &str) -> String {
    format!("{PRODUCT}-{VERSION}-{platform}")
}

fn build() -> Result<PathBuf, Failure> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(["build", "--release", "--locked", "--package", "cli", "--bins"])
        .current_dir(workspace_directory())
        .status()
        .map_err(|source| Failure::Start { program: "cargo".to_owned(), source })?;
    if status.success() {
        Ok(target_directory().join("release"))
    } else {
        Err(Failure::Program("cargo build --release".to_owned()))
    }
}

/// It is written into a shell script, a JSON file and a Ruby file, so it holds nothing that any of them would read as more than text.
fn release_url(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/%@+=[]".contains(&byte);
    let has_scheme = ["https://", "http://127.0.0.1:"].iter().any(|scheme| text.starts_with(scheme));
    if has_scheme && text.bytes().all(plain) {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("an https:// address of plain characters".to_owned())
    }
}
