//! One CLI on its stage, and the turns that are run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::model_server::{RESET_TIME, Seen};
use testkit::real::Stage;

use crate::case::{Case, MADE, Special, asked};
use crate::support::{Lead, Ran};

/// A stage and a lead who uses it.
pub(crate) struct World {
    // Gone before the stage: what was started there must end first.
    lead: Lead,
    stage: Stage,
    provider: &'static str,
}

/// A turn that was dispatched.
struct Task<'a> {
    case: &'a Case,
    id: String,
    workspace: PathBuf,
}

impl World {
    pub(crate) fn new(stage: Stage, provider: &'static str) -> Self {
        let world = Self { lead: Lead::on(&stage), stage, provider };
        // A CLI's first start in a new HOME may create what it keeps there: opencode's database does not survive two first
        // starts at once.
        let id = world.submit(
            "<first> [[script: answer]]",
            &world.stage.workspace(),
            &["--permission", "read-only"],
        );
        let ran = world.end_of(&id);
        assert_eq!(
            ran.reason(),
            "completed",
            "{provider}: the first turn: {} {}",
            ran.stdout,
            world.refusal(&id)
        );
        world
    }

    /// Runs the cases, as many at once as there are slots. Gives title and text of each cell.
    pub(crate) fn run(&self, cases: &[&'static Case]) -> Vec<(&'static str, String)> {
        let tasks: Vec<_> = cases.iter().map(|case| self.dispatch(case)).collect();
        let mut faults = Vec::new();
        let mut cells = Vec::new();
        for task in &tasks {
            match self.cell(task) {
                Ok(cell) => cells.push((task.case.title, cell)),
                Err(fault) => faults.push(format!("{}: {fault}", task.case.title)),
            }
        }
        assert!(faults.is_empty(), "{}:\n{}", self.provider, faults.join("\n"));
        cells
    }

    fn dispatch<'a>(&self, case: &'a Case) -> Task<'a> {
        let workspace = repository(&self.stage.workspace(), &case.word());
        let script = case.script.replace("PLACE", workspace.join(MADE).to_str().expect("a plain path"));
        let brief = format!("{} [[script: {script}]]", case.word());
        let asked = asked(self.stage.component());
        let options: &[&str] = match case.special {
            Special::Options => &["--model", asked.model, "--effort", asked.effort],
            Special::Model => &["--model", asked.model],
            _ => &[],
        };
        let mode = ["--permission", case.permission, "--budget", case.budget];
        let id = self.submit(&brief, &workspace, &[&mode, options].concat());
        Task { case, id, workspace }
    }

    fn submit(&self, brief: &str, workspace: &Path, more: &[&str]) -> String {
        let brief = self.lead.brief(brief);
        let arguments =
            ["dispatch", "--provider", self.provider, "--brief", brief.to_str().expect("a plain path")];
        let place = ["--cwd", workspace.to_str().expect("a plain path")];
        let ran = self.lead.json([&arguments, place.as_slice(), more].concat());
        assert_eq!(ran.code, 0, "{}: {ran:?}", self.provider);
        ran.answer()["task_id"].as_str().expect("an id").to_owned()
    }

    fn end_of(&self, id: &str) -> Ran {
        self.lead.json(["collect", id, "--watch", "15m"])
    }

    /// The text of a cell: the reason, and what else the case is about.
    fn cell(&self, task: &Task<'_>) -> Result<String, String> {
        let ran = self.end_of(&task.id);
        let demanded = task.case.reason_of(self.stage.component());
        let reason = ran.reason();
        if reason != demanded {
            return Err(format!("{reason} instead of {demanded}: {} {}", ran.stdout, self.refusal(&task.id)));
        }
        let fact = self.fact(task, &ran)?;
        Ok(if fact.is_empty() { format!("`{reason}`") } else { format!("`{reason}`, {fact}") })
    }

    fn fact(&self, task: &Task<'_>, ran: &Ran) -> Result<String, String> {
        let outcome = &ran.answer()["outcome"];
        match task.case.special {
            Special::Nothing => Ok(String::new()),
            Special::Continued => self.goes_on(task),
            Special::Writes(may) => {
                let is_there = task.workspace.join(MADE).exists();
                if is_there != may {
                    return Err(format!("a file is there: {is_there}; {}", ran.stdout));
                }
                let answer = fs::read_to_string(self.lead.task_directory(&task.id).join("result.txt"));
                let has_tool = !answer.map_err(|error| error.to_string())?.contains("no tool of that kind");
                Ok(match (may, has_tool) {
                    (true, _) => "the file is there",
                    (false, true) => "no file: refused",
                    (false, false) => "no file: the model has no such tool",
                }
                .to_owned())
            }
            Special::Options => {
                let asked = asked(self.stage.component());
                let requests = self.requests_with(&task.case.word());
                let told = requests.iter().any(|seen| {
                    seen.model == asked.model_in_request
                        && String::from_utf8_lossy(&seen.body).contains(asked.in_request)
                });
                if !told {
                    return Err(format!("not in the requests: {}", shown(&requests)));
                }
                Ok("both are in the request".to_owned())
            }
            Special::Model => Ok(String::new()),
            Special::Limited => match outcome["reason"]["retry_at"].as_str() {
                None => Ok("no `retry_at`".to_owned()),
                Some(time) if time.starts_with(RESET_TIME.trim_end_matches('Z')) => {
                    Ok("`retry_at` is that time".to_owned())
                }
                Some(_) => Ok("`retry_at` by the header".to_owned()),
            },
            Special::Long(bytes) => {
                let result = fs::metadata(self.lead.task_directory(&task.id).join("result.txt"));
                let length = result.map_err(|error| error.to_string())?.len();
                if length != bytes { Err(format!("{length} bytes")) } else { Ok("all of it".to_owned()) }
            }
        }
    }

    /// Continues the conversation of a task, and proves from the server's log that it is that one and no other.
    fn goes_on(&self, task: &Task<'_>) -> Result<String, String> {
        let second = format!("<again-{}> [[script: answer]]", &task.id[..8]);
        let more = ["--resume-task", &task.id, "--budget", task.case.budget];
        let id = self.submit(&second, &task.workspace, &more);
        let ran = self.end_of(&id);
        let answer = fs::read_to_string(self.lead.task_directory(&id).join("result.txt")).unwrap_or_default();
        // The server counts the turns of the conversation that it was sent.
        if ran.reason() != "completed" || answer != "Scripted answer: turn 2, tool results 0." {
            return Err(format!("{answer:?}: {}", ran.stdout));
        }
        let [first, again] = [&task.id, &id].map(|id| {
            let outcome = self.lead.record(id, "outcome.json").expect("an outcome");
            outcome["session"]["conversation_id"].as_str().unwrap_or_default().to_owned()
        });
        if first.is_empty() || first != again {
            return Err(format!("another conversation: {first} and {again}"));
        }
        let requests = self.requests_with(&second[..second.find('>').unwrap_or_default()]);
        let exact = requests.iter().any(|seen| {
            let body = String::from_utf8_lossy(&seen.body);
            body.contains(&task.case.word()) && body.contains("Scripted answer: turn 1, tool results 0.")
        });
        let others = crate::CASES.iter().filter(|case| case.title != task.case.title).map(Case::word);
        let is_mixed = others.into_iter().any(|word| requests.iter().any(|seen| holds(seen, &word)));
        if !exact || is_mixed {
            return Err(format!("not that conversation: {}", shown(&requests)));
        }
        Ok("the same conversation".to_owned())
    }

    /// The model requests whose conversation holds a word.
    fn requests_with(&self, word: &str) -> Vec<Seen> {
        self.stage.server().requests().into_iter().filter(|seen| holds(seen, word)).collect()
    }

    fn refusal(&self, id: &str) -> String {
        fs::read_to_string(self.lead.task_directory(id).join("refusal.txt")).unwrap_or_default()
    }
}

fn holds(seen: &Seen, word: &str) -> bool {
    seen.body.windows(word.len()).any(|window| window == word.as_bytes())
}

fn shown(requests: &[Seen]) -> String {
    let bodies =
        requests.iter().map(|seen| format!("\n{}: {}", seen.path, String::from_utf8_lossy(&seen.body)));
    format!("{} requests{}", requests.len(), bodies.collect::<String>())
}

/// A git repository of its own: turns that write in the same one would wait for each other.
fn repository(beside: &Path, word: &str) -> PathBuf {
    let path = beside.with_file_name(format!("workspace-{}", word.trim_matches(['<', '>'])));
    fs::create_dir(&path).expect("a new folder");
    let made = Command::new("git").args(["init", "--quiet"]).arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()));
    path
}
