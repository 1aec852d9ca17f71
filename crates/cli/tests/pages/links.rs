//! Every link leads to a file that is there, and to a heading that is in it.

use std::path::Path;

use crate::page::{Page, pages, repository};

/// How a heading is named in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect::<String>().to_lowercase()
}

fn has_heading(page: &Page, wanted: &str) -> bool {
    let headings = page.text.lines().filter_map(|line| line.strip_prefix('#'));
    headings.map(|line| line.trim_start_matches('#')).any(|heading| anchor(heading) == wanted)
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for page in pages() {
        let here = repository().join(&page.name);
        let prose = page.prose();
        for target in prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { here.clone() } else { here.parent().unwrap().join(file) };
            assert!(path.exists(), "{} links to {target}", page.name);
            if !heading.is_empty() {
                let path = path.canonicalize().unwrap();
                let name = path.strip_prefix(repository().canonicalize().unwrap()).unwrap();
                let there = Page::read(name.to_str().unwrap());
                assert!(has_heading(&there, heading), "{} links to {target}", page.name);
            }
        }
    }
    assert!(links > 20, "only {links} links were found");
}

/// The index names every page beside it.
#[test]
fn the_index_is_complete() {
    let index = Page::read("docs/README.md").text;
    for page in pages().iter().filter(|page| page.name.starts_with("docs/")) {
        let name = Path::new(&page.name).file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "{name} is not in the index");
    }
}

#[test]
fn anchors_are_made_as_readers_make_them() {
    for (heading, expected) in [
        (" What our fence lets through", "what-our-fence-lets-through"),
        (" `codex:exec`", "codexexec"),
        (" 7. When it did not work", "7-when-it-did-not-work"),
    ] {
        assert_eq!(anchor(heading), expected);
    }
}
