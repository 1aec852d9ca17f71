//! The pinned versions of the real components.

use std::collections::BTreeMap;
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
    // The peers of the benches have pins here too; those stay, so that figures can be compared.
    let mut table = read_table()?;
    for component in Component::ALL {
        let pinned = pins.version(component);
        let newest = newest(component)?;
        let note = if pinned == newest { "" } else { "  <- newer" };
        println!("{:9} {pinned:12} {newest}{note}", component.name());
        table.insert(component.name().to_owned(), newest);
    }
    if update {
        let lines = table.iter().map(|(name, version)| format!("{name} = \"{version}\"\n"));
        let text: String = std::iter::once(HEADER.to_owned()).chain(lines).collect();
        fs::write(Pins::path(), text).map_err(Failure::file(Pins::path()))?;
    }
    Ok(())
}

/// Every pin, also those of what is no component of the tests.
pub(crate) fn read_table() -> Result<BTreeMap<String, String>, Failure> {
    let path = Pins::path();
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    toml::from_str(&text).map_err(|error| Failure::Other(format!("{}: {error}", path.display())))
}

fn newest(component: Component) -> Result<String, Failure> {
    let (package, _) = component.package();
    let range = match component {
        Component::Node => NODE_RANGE,
        _ => "latest",
    };
    npm::newest(&package, range)
}
