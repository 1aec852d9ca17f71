//! What the program prints is what its schemas say: every field that is printed is in the schema, with a value of that kind.

mod support;

use std::fs;

use serde_json::Value;
use support::{Lead, Ran};

/// The schemas as the program itself prints them.
struct Schemas<'a>(&'a Lead);

impl Schemas<'_> {
    fn hold(&self, name: &str, value: &Value) {
        let ran = self.0.json(["schema", name]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let schema = ran.answer();
        fits(&schema, &schema, value).unwrap_or_else(|why| panic!("{name}: {why}\n{value:#}"));
    }

    fn hold_answer(&self, name: &str, ran: &Ran) -> Value {
        let answer = ran.answer();
        self.hold(name, &answer);
        answer
    }
}

/// Stricter than a validator: what the schema does not name may not be there.
fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        return fits(root, root.pointer(pointer).ok_or_else(|| format!("{reference} leads nowhere"))?, value);
    }
    if let Some(words) = schema["oneOf"].as_array() {
        return match words.iter().any(|word| word["const"] == *value) {
            true => Ok(()),
            false => Err(format!("{value} is no word of {}", schema["description"])),
        };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_kind = |wanted: &Value| wanted == kind;
    if !is_kind(&schema["type"]) && !schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(is_kind))
    {
        return Err(format!("{value} is not of the type {}", schema["type"]));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(root, &schema["items"], item)?;
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten() {
        object.get(name.as_str().unwrap()).ok_or_else(|| format!("{name} is missing"))?;
    }
    for (name, field) in object {
        let property =
            schema["properties"].get(name).ok_or_else(|| format!("{name} is not in the schema"))?;
        fits(root, property, field).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

#[test]
fn answers_on_tasks() {
    let lead = Lead::new();
    let schemas = Schemas(&lead);
    let workspace = lead.workspace();
    let workspace = workspace.to_str().unwrap();
    let id = "1a".repeat(16);
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: silent-forever]]", &["--id", &id]);
    schemas.hold_answer("task-answer", &lead.json(&arguments));
    support::until("its process", || lead.record(&id, "running.json"));
    let running = schemas.hold_answer("task-answer", &lead.json(["status", &id]));
    assert!(running.get("activity").is_some(), "{running}");
    schemas.hold_answer("task-answer", &lead.json(["logs", &id]));
    schemas.hold_answer("wait-answer", &lead.json(["wait", &id, "--watch", "0s"]));
    schemas.hold_answer("task-answer", &lead.json(["cancel", &id, "--watch", "60s"]));

    let ended = lead.turn("codex:exec", "[[fake: answer yes]]", &[]).answer();
    schemas.hold("task-answer", &ended);
    let id = ended["task_id"].as_str().unwrap();
    let continued = ["continue", "--task", id, "--wait"];
    schemas.hold_answer("task-answer", &lead.json(continued));
    for command in ["status", "collect", "logs", "cancel"] {
        schemas.hold_answer("task-answer", &lead.json([command, id]));
        schemas.hold_answer("task-answer", &lead.json([command, &"0".repeat(32)]));
    }
    let preflight = ["preflight", "--provider", "codex:exec", "--cwd", workspace];
    schemas.hold_answer("task-answer", &lead.json(preflight));
    for record in ["request", "plan", "submission", "launch", "running", "session", "seal", "outcome"] {
        schemas.hold(record, &lead.record(id, &format!("{record}.json")).unwrap());
    }
    let root = fs::read(lead.root().join("root.json")).unwrap();
    schemas.hold("root", &serde_json::from_slice(&root).unwrap());
}

#[test]
fn other_answers() {
    let lead = Lead::new();
    let schemas = Schemas(&lead);
    schemas.hold_answer("list-answer", &lead.json(["list"]));
    let id =
        lead.turn("codex:exec", "[[fake: answer yes]]", &[]).answer()["task_id"].as_str().unwrap().to_owned();
    for (name, words) in [
        ("list-answer", &["list"][..]),
        ("providers-answer", &["providers"]),
        ("capabilities-answer", &["capabilities", "--provider", "codex:exec"]),
        ("capabilities-answer", &["capabilities", "--provider", "no:one"]),
        ("models-answer", &["models", "--provider", "offline:survey"]),
        ("doctor-answer", &["doctor"]),
        ("prune-answer", &["prune", "--older-than", "0s", "--dry-run"]),
        ("prune-answer", &["prune", "--older-than", "0s"]),
        ("version-answer", &["version"]),
        ("text-answer", &["help"]),
        ("text-answer", &["help", "list"]),
        ("text-answer", &["man", "list"]),
        ("text-answer", &["completions", "zsh"]),
        ("text-answer", &["schema"]),
        ("failed-answer", &["schema", "nothing"]),
        ("failed-answer", &["man", "nothing"]),
        ("failed-answer", &["list", "--bogus"]),
        ("failed-answer", &["events", "--since", "nothing"]),
        ("wait-answer", &["wait", &id]),
        ("list-answer", &["list", "--root", "relative"]),
        ("doctor-answer", &["doctor", "--root", "relative"]),
        ("prune-answer", &["prune", "--older-than", "0s", "--root", "relative"]),
        ("wait-answer", &["wait", &id, "--root", "relative"]),
    ] {
        schemas.hold_answer(name, &lead.json(words));
    }
    schemas.hold("pruned", &lead.record(&id, "pruned.json").unwrap());
    let events = lead.run(["events"]).stdout;
    assert_eq!(events.lines().count(), 5, "{events}");
    for line in events.lines() {
        schemas.hold("event", &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn lines_of_raw_output() {
    let lead = Lead::new();
    let schemas = Schemas(&lead);
    let id =
        lead.turn("codex:exec", "[[fake: answer yes]]", &[]).answer()["task_id"].as_str().unwrap().to_owned();
    let told = lead.json(["logs", &id, "--follow"]).stdout;
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, pieces) = lines.split_last().unwrap();
    assert!(!pieces.is_empty());
    pieces.iter().for_each(|piece| schemas.hold("log-line", piece));
    schemas.hold("task-answer", last);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let lead = Lead::new();
    let page = lead.run(["man"]);
    assert!(page.stdout.starts_with(".ie \\n(.g"), "{page:?}");
    assert!(page.stdout.contains("\n.SH NOTES\n") && !page.stdout.contains("EXTRA"), "{page:?}");
    let help = lead.run(["help"]).stdout;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let commands: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty()))
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let page = lead.run(["man", command]);
        assert!(page.stdout.contains(&format!(".TH delegate-{command} 1")), "{page:?}");
        assert!(page.stdout.contains("\\-\\-json"), "{page:?}");
        let help = lead.run(["help", command]).stdout;
        let (_, usage) = help.split_once("Usage: ").unwrap();
        let usage = usage.lines().next().unwrap();
        let (_, synopsis) = page.stdout.split_once(".SH SYNOPSIS\n").unwrap();
        let (synopsis, _) = synopsis.split_once("\n.SH").unwrap();
        let plain = ["\\fB", "\\fI", "\\fR", "\\"]
            .iter()
            .fold(synopsis.to_owned(), |text, sign| text.replace(sign, ""));
        assert!(plain.contains(usage), "{plain}: {usage}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = lead.run(["completions", shell]).stdout;
        assert!(script.contains("quickstart") && script.contains("older-than"), "{shell}");
    }
}

#[test]
fn a_shell_offers_the_names_that_a_value_may_have() {
    let lead = Lead::new();
    let script = lead.path().join("completions");
    fs::write(&script, lead.run(["completions", "bash"]).stdout).unwrap();
    for (words, expected) in [
        (&["dispatch", "--provider", "off"][..], "offline:survey"),
        (&["list", "--provider", "codex"], "codex:exec"),
        (&["man", "dis"], "dispatch"),
        (&["help", "dis"], "dispatch"),
        (&["schema", "list-a"], "list-answer"),
    ] {
        let [.., before, begun] = words else { unreachable!("two words or more") };
        let asked = format!(
            ". '{}'; COMP_WORDS=(delegate {}); COMP_CWORD={}; _delegate delegate '{begun}' '{before}'; echo \"${{COMPREPLY[*]}}\"",
            script.display(),
            words.join(" "),
            words.len(),
        );
        let output = std::process::Command::new("bash").args(["-c", &asked]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{words:?}: {output:?}");
    }
}
