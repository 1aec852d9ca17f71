//! Installs the real components of the tests: `target/real/NAME-VERSION/node_modules/…`.

use std::fs;

use testkit::real::{Component, Pins};

use crate::failure::Failure;
use crate::npm;

/// Installs what is missing of the components and of what they need.
pub(crate) fn install(components: &[Component]) -> Result<(), Failure> {
    let pins = Pins::read()?;
    for component in components {
        for part in [component].into_iter().chain(component.needs()) {
            install_one(*part, pins.version(*part))?;
        }
    }
    Ok(())
}

/// The folder gets its name when all is in it, so a name means a whole installation.
fn install_one(component: Component, version: &str) -> Result<(), Failure> {
    let directory = component.directory(version);
    if component.executable(version).is_some() {
        return Ok(());
    }
    let partial = directory.with_extension("partial");
    for old in [&directory, &partial] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(Failure::file(old))?;
        }
    }
    fs::create_dir_all(&partial).map_err(Failure::file(&partial))?;
    let (package, suffix) = component.package();
    println!("installing {} {version}", component.name());
    npm::install(&partial, &package, &format!("{version}{suffix}"))?;
    fs::rename(&partial, &directory).map_err(Failure::file(&directory))?;
    if component.executable(version).is_none() {
        let name = component.name();
        return Err(Failure::Other(format!("{package} {version}: no executable of {name} in it")));
    }
    Ok(())
}
