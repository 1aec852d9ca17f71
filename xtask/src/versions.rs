//! The pinned versions of the real components.

use std::fmt::Write;
use std::fs;

use testkit::real::{Component, Pins};

use crate::failure::Failure;
use crate::npm;

/// The line of Node that pi runs on.
const NODE_RANGE: &str = "22";

const HEADER: &str =
    "# Versions of the real components that tests run; `cargo xtask versions --update` moves them.\n";

/// Prints pinned and newest versions; moves the pins when asked to.
pub(crate) fn run(update: bool) -> Result<(), Failure> {
    let pins = Pins::read()?;
    let mut components = Component::ALL;
    components.sort_by_key(|component| component.name());
    let mut text = HEADER.to_owned();
    for component in components {
        let pinned = pins.version(component);
        let newest = newest(component)?;
        let note = if pinned == newest { "" } else { "  <- newer" };
        println!("{:9} {pinned:12} {newest}{note}", component.name());
        // Writing to a text can not fail.
        let _ = writeln!(text, "{} = \"{newest}\"", component.name());
    }
    if update {
        fs::write(Pins::path(), text).map_err(Failure::file(Pins::path()))?;
    }
    Ok(())
}

fn newest(component: Component) -> Result<String, Failure> {
    let (package, _) = component.package();
    let range = match component {
        Component::Node => NODE_RANGE,
        _ => "latest",
    };
    npm::newest(&package, range)
}
