//! `quickstart`: the first run of a newcomer. It is a real turn through the same doors as every other, told step by step.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use record::answer::Answer;
use record::capability::Description;
use record::failure::{FailureCode, Stage};
use record::limits::{BUDGET_DEFAULT_SECONDS, LEASE_WAIT_DEFAULT_SECONDS, OUTPUT_DEFAULT_BYTES};
use record::words::{Permission, ProfileOption, Publication};
use record::{AbsolutePath, ByteSize, Span, TaskId};
use turn::{BriefSource, DispatchInput};

use super::{complain, dispatch, fail, follow, host, print};
use crate::arguments::{Globals, Quickstart};
use crate::context::{self, Place, Setting};
use crate::exit::{self, Exit};
use crate::failure::Refusal;
use crate::human::block::Block;
use crate::human::{amount, answer, safe, shell};
use crate::output;

/// The profile that needs nothing.
const OFFLINE: &str = "offline:survey";
/// What is asked when the newcomer brings no brief.
const DEFAULT_BRIEF: &str =
    "Describe this directory: what it is, how it is built and tested, and what stands out.\n";
/// The line around an answer.
const RULE: &str = "------------------------------------------------------------------------\n";

/// Carries out `quickstart`.
pub(super) fn run(globals: &Globals, arguments: &Quickstart) -> io::Result<Exit> {
    let prepared = context::open(globals).and_then(|setting| Ok((setting, input(arguments)?)));
    let (setting, input) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return fail(globals, &refusal.answer("quickstart")),
    };
    if globals.json {
        let ended = turn(globals, &setting, input, &mut |_| {});
        print(globals, &ended, String::new)?;
        return Ok(exit::of_watch(&ended));
    }
    tell(globals, &setting, input)
}

fn tell(globals: &Globals, setting: &Setting, input: DispatchInput) -> io::Result<Exit> {
    let Setting { context, place } = setting;
    let workspace = input.cwd.clone();
    let search_path = context.captured.get("PATH").unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    output::text(&format!("delegate {version}: one turn, from the request to the evidence\n"))?;
    section("Host", &host::describe(place.root(), search_path))?;
    section("Turn", &plan(&input))?;

    let start = Instant::now();
    let mut announced = Ok(());
    let ended = turn(globals, setting, input, &mut |id| {
        announced = output::text(&indented(&task_line(id)));
    });
    announced?;
    if ended.failure.is_some() {
        complain(&ended);
        let code = ended.failure.map(|failure| failure.code);
        if code == Some(FailureCode::WorkspaceInvalid) {
            let command = place.command("quickstart --cwd DIR");
            output::remark(&format!("Try it on the directory of a project: {command}"));
        }
        return Ok(exit::of_watch(&ended));
    }
    let took = amount::seconds(start.elapsed().as_secs_f64());
    let mut end = Block::default();
    end.line("state", &format!("{}, after {took}", answer::state(&ended)));
    output::text(&indented(&end.into_text()))?;

    if let (Some(id), Some(payload)) = (ended.task_id, &ended.payload) {
        let title = match ended.publication {
            Publication::Committed => "Answer",
            _ => "Refusal",
        };
        output::text(&format!("\n{title}\n{RULE}"))?;
        let path = place.file(id, &payload.basename);
        match follow::open_payload(&path, payload) {
            Ok(mut file) => {
                if !follow::show(&mut file)? {
                    output::text("\n")?;
                }
            }
            Err(fault) => {
                output::error(&format!("{} can not be shown: {fault}", path.display()));
                return Ok(Exit::Operational);
            }
        }
        output::text(RULE)?;
        section("Evidence", &evidence(id, &ended, place))?;
    }
    section("AI coding CLIs on this machine", &found(setting, &workspace))?;
    Ok(exit::of_watch(&ended))
}

/// Dispatches and follows the turn to its end.
fn turn(
    globals: &Globals,
    setting: &Setting,
    input: DispatchInput,
    announce: &mut dyn FnMut(TaskId),
) -> Answer {
    let mut dispatched = turn::dispatch(&setting.context, input, announce);
    dispatched.command = "quickstart".to_owned();
    match dispatched.task_id {
        Some(id) if dispatched.failure.is_none() => {
            let ended = follow::one(globals, &setting.context, "quickstart", id, None);
            dispatch::together(ended, dispatched)
        }
        _ => dispatched,
    }
}

fn input(arguments: &Quickstart) -> Result<DispatchInput, Refusal> {
    let offline = || OFFLINE.parse().expect("the built-in profile has a valid id");
    let provider = arguments.provider.clone().unwrap_or_else(offline);
    let brief = match &arguments.brief {
        Some(path) => dispatch::brief(path)?,
        None => BriefSource::Bytes(DEFAULT_BRIEF.as_bytes().to_vec()),
    };
    Ok(DispatchInput {
        provider: Some(provider),
        brief,
        cwd: workspace(arguments.cwd.as_deref())?,
        id: None,
        permission: Permission::ReadOnly,
        budget: Span::from_seconds(BUDGET_DEFAULT_SECONDS),
        native_timeout: None,
        lane: None,
        allow_provisional: false,
        model: None,
        effort: None,
        fence: None,
        environment_file: None,
        max_output: ByteSize::from_bytes(OUTPUT_DEFAULT_BYTES),
        first_output: None,
        start_by: None,
        lease_wait: Span::from_seconds(LEASE_WAIT_DEFAULT_SECONDS),
        resume_task: None,
        memory: None,
        pids: None,
        cpus: None,
        from_earlier: false,
    })
}

/// The directory to look at. Unlike `dispatch`, this command takes a relative one: it is typed by hand.
fn workspace(directory: Option<&Path>) -> Result<PathBuf, Refusal> {
    std::path::absolute(directory.unwrap_or(Path::new("."))).map_err(|fault| {
        Refusal::correctable(
            FailureCode::WorkspaceInvalid,
            Stage::ValidateRequest,
            format!("the current directory can not be used: {fault}"),
        )
    })
}

fn plan(input: &DispatchInput) -> String {
    let mut block = Block::default();
    let worker = match &input.provider {
        Some(provider) if provider.as_str() != OFFLINE => {
            format!("{provider}, a real CLI: it uses the network, and perhaps money")
        }
        _ => format!("{OFFLINE}, built in: no model, no network, no account"),
    };
    let directory = safe::one_line(&input.cwd.to_string_lossy());
    block.line("worker", &worker);
    block.line("workspace", &format!("{directory}, {}", input.permission));
    block.into_text()
}

fn task_line(id: TaskId) -> String {
    let mut block = Block::default();
    block.line("task", &id.to_string());
    block.into_text()
}

fn evidence(id: TaskId, ended: &Answer, place: &Place) -> String {
    let mut block = Block::default();
    block.line("kept in", &place.task_directory(id));
    if let Some(payload) = &ended.payload {
        let size = amount::bytes(payload.length);
        let value = format!("{}, {size}\nsha256 {}", payload.basename, payload.sha256);
        block.line("answer", &value);
    }
    block.line("raw output", "raw/stdout and raw/stderr, sealed by seal.json");
    block.line("records", "request.json, plan.json, launch.json, outcome.json");
    block.line("look again", &place.command(&format!("status {id}")));
    block.line("digests", &place.command(&format!("collect {id}")));
    block.into_text()
}

/// The real CLIs, and for each that is there a command that can be pasted.
fn found(setting: &Setting, workspace: &Path) -> String {
    let executables = turn::found_executables(&setting.context.captured);
    let mut block = Block::for_labels(executables.iter().map(|(profile, _)| profile.id.as_str()));
    for (profile, executable) in &executables {
        let value = match executable {
            Some(path) => found_one(profile, path, setting, workspace),
            None => "not found on PATH".to_owned(),
        };
        block.line(profile.id.as_str(), &value);
    }
    block.into_text()
}

fn found_one(
    profile: &Description,
    executable: &AbsolutePath,
    setting: &Setting,
    workspace: &Path,
) -> String {
    let executable = safe::one_line(executable.as_str());
    // Which lane is for the lead to choose; the gates of the day say among which.
    if profile.supported_options.contains(&ProfileOption::Lane) {
        return format!("{executable}\nneeds a lane: delegation-route resolve --lane builder");
    }
    let directory = shell::quoted(&safe::one_line(&workspace.to_string_lossy()));
    let dispatch = format!("dispatch --provider {} --brief - --cwd {directory} --wait", profile.id);
    let command = setting.place.command(&dispatch);
    format!("{executable}\necho 'What does this project do?' | {command}")
}

fn section(title: &str, body: &str) -> io::Result<()> {
    output::text(&format!("\n{title}\n{}", indented(body)))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
