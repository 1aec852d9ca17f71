//! The command line that all runners share (runners.md 1.1).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::exit::{Exit, Refusal};
use super::family::{EVALUATION_MANIFEST, Family, FlagValue, PREFLIGHT_ONLY};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print usage.
    Help,
    /// Print name and version.
    Version,
    /// Report lanes and availability.
    Check {
        /// As one JSON object.
        json: bool,
    },
    /// Dispatch one prompt.
    Run(Box<RunLine>),
    /// A command of the family alone, with the words behind it.
    Own(&'static str, Vec<OsString>),
}

/// The flags of `run`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLine {
    /// `--lane`
    pub lane: String,
    /// `--effort`; nothing for `auto`, which is the default.
    pub effort: Option<String>,
    /// `--prompt-file`
    pub prompt_file: Option<PathBuf>,
    /// `--output`
    pub output: PathBuf,
    /// `--workdir`; the current directory where it is absent.
    pub workdir: Option<PathBuf>,
    /// `--metrics`
    pub metrics: Option<PathBuf>,
    /// `--debug-dir`
    pub debug_dir: Option<PathBuf>,
    /// `--allow-provisional`
    pub allow_provisional: bool,
    /// `--evaluation`
    pub evaluation: bool,
    own: Vec<(&'static str, OsString)>,
}

impl RunLine {
    /// The value of a flag of the family; empty for one without a value; nothing where it is absent.
    pub fn own(&self, name: &str) -> Option<&OsStr> {
        self.own.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_os_str())
    }

    /// `--evaluation-manifest`
    pub fn manifest(&self) -> Option<&Path> {
        self.own(EVALUATION_MANIFEST.name).map(Path::new)
    }

    /// `--preflight-only`
    pub fn preflight_only(&self) -> bool {
        self.own(PREFLIGHT_ONLY.name).is_some()
    }
}

/// Usage of a runner.
pub fn usage(family: &Family) -> String {
    let program = family.program;
    let lanes = family.lanes.join(" ");
    let backend = family.backend();
    let own = family.usage;
    format!(
        "\
Usage: {program} check [--json]
       {program} run --lane LANE --prompt-file FILE --output FILE [FLAGS]
       {program} --version

Carries one prompt to {model}, once, and writes its answer to a file.

  --lane LANE           one of: {lanes}
  --prompt-file FILE    the prompt
  --output FILE         where the answer goes
  --metrics FILE        where the metrics go; default OUTPUT.metrics.json
  --workdir DIR         the workspace; default the current directory
  --effort EFFORT       auto, or the effort that the gate pins
  --backend NAME        auto or {backend}
  --allow-provisional   accept a lane that is not qualified
  --evaluation          run a lane that is under evaluation
  --debug-dir DIR       keep what the provider sent when the run fails
{own}
A failed run leaves OUTPUT.error.json. Exit codes: 64 invalid input, 69 unavailable, 70 failed, 75 try again later, 78 refused
by the gates.
",
        model = family.model,
    )
}

/// Reads the words behind the name of the program.
///
/// # Errors
/// 64.
pub fn parse(family: &Family, words: &[OsString]) -> Result<Command, Refusal> {
    let Some((first, rest)) = words.split_first() else { return Ok(Command::Help) };
    match first.to_str() {
        Some("-h" | "--help") => Ok(Command::Help),
        Some("--version") => Ok(Command::Version),
        Some("check") => check(rest),
        Some("run") => run(family, rest),
        word => match family.commands.iter().find(|own| word == Some(own.name)) {
            Some(own) => (own.check)(rest).map(|()| Command::Own(own.name, rest.to_vec())),
            None => Err(Refusal::usage(format!("unknown command {}; see --help", first.to_string_lossy()))),
        },
    }
}

fn check(words: &[OsString]) -> Result<Command, Refusal> {
    let mut json = false;
    for word in words {
        match word.to_str() {
            Some("-h" | "--help") => return Ok(Command::Help),
            Some("--json") => json = true,
            _ => return Err(unknown(word)),
        }
    }
    Ok(Command::Check { json })
}

fn run(family: &Family, words: &[OsString]) -> Result<Command, Refusal> {
    let mut line = RunLine::default();
    let (mut lane, mut output, mut effort, mut backend) = (None, None, None, None);
    let mut words = words.iter();
    let mut seen: Vec<&OsStr> = Vec::new();
    while let Some(word) = words.next() {
        if seen.contains(&word.as_os_str()) {
            return Err(Refusal::usage(format!("{} is given twice", word.to_string_lossy())));
        }
        seen.push(word);
        let name = word.to_str().unwrap_or_default();
        let mut value =
            || words.next().cloned().ok_or_else(|| Refusal::usage(format!("{name} needs a value")));
        match name {
            "-h" | "--help" => return Ok(Command::Help),
            "--lane" => lane = Some(text(name, value()?)?),
            "--effort" => effort = Some(text(name, value()?)?),
            "--backend" => backend = Some(text(name, value()?)?),
            "--prompt-file" => line.prompt_file = Some(value()?.into()),
            "--output" => output = Some(PathBuf::from(value()?)),
            "--workdir" => line.workdir = Some(value()?.into()),
            "--metrics" => line.metrics = Some(value()?.into()),
            "--debug-dir" => line.debug_dir = Some(value()?.into()),
            "--allow-provisional" => line.allow_provisional = true,
            "--evaluation" => line.evaluation = true,
            _ => {
                let flag = family.flag(name).ok_or_else(|| unknown(word))?;
                let value = match flag.value {
                    FlagValue::None => OsString::new(),
                    FlagValue::Path => value()?,
                    FlagValue::Checked(check) => {
                        let value = value()?;
                        check(&value)?;
                        value
                    }
                };
                line.own.push((flag.name, value));
            }
        }
    }
    line.lane = lane.ok_or_else(|| Refusal::usage("--lane is missing"))?;
    line.output = output.ok_or_else(|| Refusal::usage("--output is missing"))?;
    line.effort = effort.filter(|effort| effort != "auto");
    if let Some(backend) = backend
        && backend != "auto"
        && backend != family.backend()
    {
        return Err(Refusal::usage(format!("--backend must be auto or {}", family.backend())));
    }
    consistent(family, &line)?;
    Ok(Command::Run(Box::new(line)))
}

fn consistent(family: &Family, line: &RunLine) -> Result<(), Refusal> {
    if family.unknown_lane == Exit::Usage {
        family.demand_lane(&line.lane)?;
    }
    if let Some(effort) = &line.effort
        && !family.efforts.contains(&effort.as_str())
    {
        return Err(Refusal::usage(format!("--effort must be auto or one of: {}", family.efforts.join(" "))));
    }
    if line.prompt_file.is_none() && line.own("--prompt").is_none() {
        return Err(Refusal::usage("--prompt-file is missing"));
    }
    if line.prompt_file.is_some() && line.own("--prompt").is_some() {
        return Err(Refusal::usage("--prompt and --prompt-file exclude each other"));
    }
    if line.evaluation && line.allow_provisional {
        return Err(Refusal::usage("--evaluation and --allow-provisional exclude each other"));
    }
    if family.flag(EVALUATION_MANIFEST.name).is_some() && line.evaluation != line.manifest().is_some() {
        return Err(Refusal::usage("--evaluation and --evaluation-manifest need each other"));
    }
    if line.preflight_only() && !line.evaluation {
        return Err(Refusal::usage("--preflight-only needs --evaluation"));
    }
    if line.evaluation && line.prompt_file.is_none() {
        return Err(Refusal::usage("--evaluation needs --prompt-file"));
    }
    Ok(())
}

fn text(name: &str, value: OsString) -> Result<String, Refusal> {
    value.into_string().map_err(|_| Refusal::usage(format!("{name} is not UTF-8")))
}

fn unknown(word: &OsStr) -> Refusal {
    Refusal::usage(format!("unknown argument {}", word.to_string_lossy()))
}
