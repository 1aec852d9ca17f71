//! The steps of a trial: is it there, is it signed in, a fresh turn, one that goes on, one that writes, the models.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

use record::Timestamp;
use record::words::Permission;
use serde_json::{Value, json};

use super::delegate::Delegate;
use super::receipt::{Receipt, Step, Verdict};
use crate::failure::Failure;

/// Longest turn.
const BUDGET: &str = "10m";
/// The file that the writing turn makes.
const FILE: &str = "acceptance.txt";
/// Outcomes by which the account, not the software, keeps a turn from being tried.
const OF_THE_ACCOUNT: [&str; 3] = ["authentication-required", "rate-limited", "quota-exhausted"];

/// What the model is asked; `WORD` stands for a word that nobody can guess, `FILE` for the file to write.
pub(super) struct Briefs {
    pub(super) fresh: String,
    pub(super) continued: String,
    pub(super) write: String,
}

impl Briefs {
    /// For real models.
    pub(super) fn of_people() -> Self {
        Self {
            fresh: "This is a test. Answer with this word and nothing else: WORD\n".to_owned(),
            continued: "Repeat the word of your last answer, and nothing else.\n".to_owned(),
            write: "This is a test. Make the file FILE; its content shall be this word: WORD\n".to_owned(),
        }
    }
}

/// How providers are tried.
pub(super) struct Trial<'a> {
    pub(super) delegate: &'a Delegate,
    /// Where workspaces and briefs go.
    pub(super) directory: &'a Path,
    pub(super) permission: Option<Permission>,
    pub(super) is_login_elsewhere: bool,
    pub(super) briefs: Briefs,
}

impl Trial<'_> {
    /// Tries one provider.
    pub(super) fn of(&self, provider: &str) -> Result<Receipt, Failure> {
        let place = tempfile::Builder::new()
            .prefix("trial-")
            .tempdir_in(self.directory)
            .map_err(Failure::file(self.directory))?;
        let place = Place { provider, directory: place.path() };
        let workspace = place.workspace()?;
        let preflight =
            self.delegate.ask(["preflight", "--provider", provider, "--cwd", text(&workspace)?])?;
        let steps = match self.obstacle(provider, &preflight)? {
            Some(step) => vec![step],
            None => self.turns(&place, &workspace)?,
        };
        Ok(Receipt {
            provider: provider.to_owned(),
            provider_version: preflight["capability"]["version"].as_str().map(str::to_owned),
            delegate_version: self.delegate.ask(["version"])?["version"].as_str().map(str::to_owned),
            at: Timestamp::from_system_time(SystemTime::now())
                .map_err(|error| Failure::Other(error.to_string()))?
                .to_string(),
            verdict: Receipt::verdict_of(&steps),
            steps,
        })
    }

    /// What keeps the turns from being tried, without a turn.
    fn obstacle(&self, provider: &str, preflight: &Value) -> Result<Option<Step>, Failure> {
        let step = |name, verdict, reason: &str| {
            Some(Step { name, verdict, reason: Some(reason.to_owned()), turn: None, seconds: 0 })
        };
        match preflight["failure"]["code"].as_str() {
            None => {}
            Some("provider_unavailable") => return Ok(step("preflight", Verdict::Blocked, "no-executable")),
            Some(code) => return Ok(step("preflight", Verdict::Failed, code)),
        }
        let doctor = self.delegate.ask(["doctor"])?;
        let checks = doctor["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let check = checks.iter().find(|check| check["id"] == format!("provider:{provider}").as_str());
        // What is unknown and can be cured is a login that is not stored.
        let lacks_login = check.is_some_and(|check| check["status"] == "unknown" && check["fix"].is_string());
        if lacks_login && !self.is_login_elsewhere {
            return Ok(step("login", Verdict::Blocked, "no-login"));
        }
        Ok(None)
    }

    fn turns(&self, place: &Place<'_>, workspace: &Path) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        if self.permission.is_none_or(|permission| permission == Permission::ReadOnly) {
            let word = word();
            let says_it =
                |answer: &Value| self.delegate.result(answer).is_some_and(|text| text.contains(&word));
            let brief = place.brief(&self.briefs.fresh.replace("WORD", &word))?;
            let (fresh, answer) =
                self.turn("fresh", &place.dispatch(workspace, Permission::ReadOnly, &brief)?, |answer| {
                    if says_it(answer) { Ok(()) } else { Err("other-answer") }
                })?;
            let passed = fresh.verdict == Verdict::Passed;
            steps.push(fresh);
            if passed {
                let brief = place.brief(&self.briefs.continued.replace("WORD", &word))?;
                let task = answer["task_id"].as_str().unwrap_or_default();
                let arguments =
                    ["continue", "--task", task, "--brief", text(&brief)?, "--budget", BUDGET, "--wait"];
                let arguments: Vec<String> = arguments.map(str::to_owned).to_vec();
                let conversation = &answer["outcome"]["session"]["conversation_id"];
                let (continued, _) = self.turn("continued", &arguments, |again| {
                    if &again["outcome"]["session"]["conversation_id"] != conversation {
                        Err("other-conversation")
                    } else if says_it(again) {
                        Ok(())
                    } else {
                        Err("other-answer")
                    }
                })?;
                steps.push(continued);
            }
        }
        let is_blocked = steps.iter().any(|step| step.verdict == Verdict::Blocked);
        if !is_blocked && self.permission.is_none_or(|permission| permission == Permission::WorkspaceWrite) {
            let word = word();
            let file = workspace.join(FILE);
            let asked = self.briefs.write.replace("WORD", &word).replace("FILE", text(&file)?);
            let brief = place.brief(&asked)?;
            let arguments = place.dispatch(workspace, Permission::WorkspaceWrite, &brief)?;
            let (written, _) = self.turn("write", &arguments, |_| match fs::read_to_string(&file) {
                Ok(content) if content.trim() == word => Ok(()),
                Ok(_) => Err("other-content"),
                Err(_) => Err("no-file"),
            })?;
            steps.push(written);
        }
        steps.push(self.models(place.provider)?);
        Ok(steps)
    }

    /// Runs a turn to its end; `shown` says what a committed one lacks.
    fn turn(
        &self,
        name: &'static str,
        arguments: &[String],
        shown: impl FnOnce(&Value) -> Result<(), &'static str>,
    ) -> Result<(Step, Value), Failure> {
        let start = Instant::now();
        let answer = self.delegate.ask(arguments)?;
        let outcome = &answer["outcome"];
        let (verdict, reason) = match (answer["publication"].as_str(), outcome["reason"]["code"].as_str()) {
            (Some("committed"), _) => match shown(&answer) {
                Ok(()) => (Verdict::Passed, None),
                Err(reason) => (Verdict::Failed, Some(reason)),
            },
            (_, Some(code)) if OF_THE_ACCOUNT.contains(&code) => (Verdict::Blocked, Some(code)),
            (_, Some(code)) => (Verdict::Failed, Some(code)),
            (_, None) => (Verdict::Failed, Some(answer["failure"]["code"].as_str().unwrap_or("no-outcome"))),
        };
        let turn = json!({
            "outcome": outcome["reason"]["code"], "launched": outcome["launched"], "stop": outcome["stop"],
            "fence": outcome["fence"], "containment": outcome["containment"],
            "leaked_processes": outcome["leaked_processes"],
        });
        let reason = reason.map(str::to_owned);
        let step = Step { name, verdict, reason, turn: Some(turn), seconds: start.elapsed().as_secs() };
        Ok((step, answer))
    }

    fn models(&self, provider: &str) -> Result<Step, Failure> {
        let start = Instant::now();
        let answer = self.delegate.ask(["models", "--provider", provider])?;
        let verdict = match answer["status"].as_str() {
            Some("available" | "partial") => Verdict::Passed,
            Some("blocked") => Verdict::Blocked,
            Some("unavailable") => Verdict::NotOffered,
            _ => Verdict::Failed,
        };
        let reason = answer["reason_code"].as_str().filter(|_| verdict != Verdict::Passed).map(str::to_owned);
        Ok(Step { name: "models", verdict, reason, turn: None, seconds: start.elapsed().as_secs() })
    }
}

/// Where the turns of one provider work.
struct Place<'a> {
    provider: &'a str,
    directory: &'a Path,
}

impl Place<'_> {
    /// A repository of its own.
    fn workspace(&self) -> Result<PathBuf, Failure> {
        let path = self.directory.join("workspace");
        let made = Command::new("git").args(["init", "--quiet"]).arg(&path).status();
        match made {
            Ok(status) if status.success() => Ok(path),
            Ok(_) => Err(Failure::Program("git init".to_owned())),
            Err(source) => Err(Failure::Start { program: "git".to_owned(), source }),
        }
    }

    fn brief(&self, content: &str) -> Result<PathBuf, Failure> {
        let path = self.directory.join("brief.md");
        fs::write(&path, content).map_err(Failure::file(&path))?;
        Ok(path)
    }

    fn dispatch(
        &self,
        workspace: &Path,
        permission: Permission,
        brief: &Path,
    ) -> Result<Vec<String>, Failure> {
        let permission = permission.to_string();
        let words = [
            "dispatch",
            "--provider",
            self.provider,
            "--cwd",
            text(workspace)?,
            "--permission",
            &permission,
            "--brief",
            text(brief)?,
            "--budget",
            BUDGET,
            "--wait",
        ];
        Ok(words.map(str::to_owned).to_vec())
    }
}

/// A word that no model says by itself.
fn word() -> String {
    format!("walnut-{}", &store::random_task_id().to_string()[..12])
}

fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::Other(format!("{}: not UTF-8", path.display())))
}
