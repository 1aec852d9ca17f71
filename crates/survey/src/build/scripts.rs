//! Names in build files: sections, targets, recipes, scripts. Read line by line, just as far as a
//! name goes; a file that breaks its own grammar yields fewer names and no error.

use serde_json::Value;

use super::Purpose;

/// The headers of a TOML file, without brackets.
pub(super) fn toml_sections(text: &str) -> Vec<&str> {
    text.lines().filter_map(toml_section).collect()
}

/// The keys of one section of a TOML file.
pub(super) fn toml_keys<'a>(text: &'a str, section: &str) -> Vec<&'a str> {
    let mut is_inside = false;
    let mut keys = Vec::new();
    for line in text.lines() {
        if let Some(name) = toml_section(line) {
            is_inside = name == section;
        } else if is_inside
            && let Some((key, _)) = line.split_once('=')
            && is_plain_name(key.trim())
        {
            keys.push(key.trim());
        }
    }
    keys
}

fn toml_section(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('[')?;
    let name = rest.split(']').next()?.trim_start_matches('[').trim();
    (!name.is_empty()).then_some(name)
}

/// The targets of a makefile that name a task, not a file.
pub(super) fn make_targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for line in text.lines() {
        let Some((left, right)) = line.split_once(':') else {
            continue;
        };
        let is_rule = !line.starts_with(['\t', ' ', '#', '.'])
            && !left.contains('=')
            && !right.trim_start_matches(':').starts_with('=');
        if is_rule {
            targets.extend(left.split_whitespace().filter(|name| is_plain_name(name)));
        }
    }
    targets
}

/// The public recipes of a justfile.
pub(super) fn just_recipes(text: &str) -> Vec<&str> {
    let mut recipes = Vec::new();
    for line in text.lines() {
        let Some((left, right)) = line.split_once(':') else {
            continue;
        };
        if line.starts_with(['\t', ' ', '#', '_', '[']) || right.starts_with('=') {
            continue;
        }
        let name = left.trim_start_matches('@').split_whitespace().next();
        recipes.extend(name.filter(|name| is_plain_name(name)));
    }
    recipes
}

/// The scripts (or tasks) of a JSON manifest, but those that run before or after another one.
pub(super) fn json_scripts(text: &str, field: &str) -> Vec<String> {
    let Ok(Value::Object(manifest)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let Some(Value::Object(scripts)) = manifest.get(field) else {
        return Vec::new();
    };
    let is_hook = |name: &str| {
        let hooked = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
        hooked.is_some_and(|hooked| scripts.contains_key(hooked))
    };
    scripts.keys().filter(|name| !is_hook(name)).cloned().collect()
}

/// Whether a JSON manifest has a field.
pub(super) fn json_has(text: &str, field: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|manifest| manifest.get(field).is_some())
}

/// The name a workflow gives itself.
pub(super) fn workflow_name(text: &str) -> Option<&str> {
    let value = text.lines().find_map(|line| line.strip_prefix("name:"))?.trim();
    let name = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(" #").next()?.trim_end(),
    };
    (!name.is_empty()).then_some(name)
}

/// What a script of this name is for, as names are commonly chosen.
pub(super) fn purpose_of(name: &str) -> Purpose {
    let has = |wanted: &[&str]| {
        name.split(|character: char| !character.is_ascii_alphanumeric())
            .any(|word| wanted.contains(&word.to_ascii_lowercase().as_str()))
    };
    if has(&["test", "tests", "spec", "e2e", "unit", "pytest", "coverage"]) {
        Purpose::Test
    } else if has(&["check", "lint", "clippy", "fmt", "format", "typecheck", "verify", "audit", "ci"]) {
        Purpose::Check
    } else if has(&["all", "build", "compile", "bundle", "dist", "package"]) {
        Purpose::Build
    } else if has(&["run", "start", "dev", "serve", "watch", "preview"]) {
        Purpose::Run
    } else {
        Purpose::Other
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_is_read_by_section() {
        let text = "[a]\nx = 1\n[b.c] # note\ny = 2\n'q' = 3\n[[d]]\n";
        assert_eq!(toml_sections(text), ["a", "b.c", "d"]);
        assert_eq!(toml_keys(text, "b.c"), ["y"]);
        assert!(toml_keys(text, "none").is_empty());
    }

    #[test]
    fn make_variables_and_files_are_no_targets() {
        let text = "A ?= b:c\nD::=e\nF := g\n%.o: %.c\nout/x: y\n$(Z): y\nall clean:: dep\n\tx: y\n";
        assert_eq!(make_targets(text), ["all", "clean"]);
    }

    #[test]
    fn just_recipes_are_public() {
        let text = "a := 'b'\nalias t := test\n# note: x\n@test arg: dep\n  x: y\n_hidden:\n[private]\n";
        assert_eq!(just_recipes(text), ["test"]);
    }

    #[test]
    fn workflow_names_come_without_quotes() {
        assert_eq!(workflow_name("on: push\nname: \"a # b\" # c\n"), Some("a # b"));
        assert_eq!(workflow_name("name: a b # c\n"), Some("a b"));
        assert_eq!(workflow_name("  name: nested\n"), None);
        assert_eq!(workflow_name("name: ''\n"), None);
    }

    #[test]
    fn purposes_follow_the_words_of_a_name() {
        for (name, purpose) in [
            ("build", Purpose::Build),
            ("test:unit", Purpose::Test),
            ("build-test", Purpose::Test),
            ("lint.fix", Purpose::Check),
            ("dev", Purpose::Run),
            ("latest", Purpose::Other),
            ("clean", Purpose::Other),
        ] {
            assert_eq!(purpose_of(name), purpose, "{name}");
        }
    }
}
