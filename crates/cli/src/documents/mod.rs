//! The pages of `docs/` that describe the program hold what the program says of itself. The parts between
//! `<!-- begin generated: NAME -->` and `<!-- end generated -->` are written by these tests; everything else by hand.
//!
//! To write them anew: `DELEGATION_WRITE_DOCS=1 cargo test -p cli --lib documents`.

mod commands;
mod integration;

use std::path::Path;

const BEGIN: &str = "<!-- begin generated: ";
const END: &str = "<!-- end generated -->";

/// Compares the generated parts of a page with what they should be; writes them first when that is asked for.
fn hold(page: &str, parts: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let found = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("docs/{page}: {error}"));
    let mut expected = String::new();
    let mut rest = found.as_str();
    let mut seen = Vec::new();
    while let Some((before, behind)) = rest.split_once(BEGIN) {
        let (name, behind) = behind.split_once(" -->").expect("a marker ends");
        let (_, after) = behind.split_once(END).expect("a generated part ends");
        let (_, text) = parts
            .iter()
            .find(|(part, _)| *part == name)
            .unwrap_or_else(|| panic!("docs/{page}: nobody writes the part {name}"));
        expected.push_str(&format!("{before}{BEGIN}{name} -->\n\n{}\n\n{END}", text.trim()));
        seen.push(name);
        rest = after;
    }
    expected.push_str(rest);
    let missing: Vec<&str> =
        parts.iter().map(|(name, _)| *name).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "docs/{page} has no place for {missing:?}");
    if std::env::var_os("DELEGATION_WRITE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("written");
        return;
    }
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "docs/{page} is not what the program says; DELEGATION_WRITE_DOCS=1 writes it. First: {differs:?}"
    );
}

/// A text inside of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
