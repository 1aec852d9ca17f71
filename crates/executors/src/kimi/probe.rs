//! Whether a run could be made now (runners.md 3.2). Each step fails with its own reason; whatever is started runs in the home
//! and behind the fence of a run.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::config::PROVIDER;
use super::home::Home;
use super::knobs::Knobs;
use super::lane::Lane;
use super::limits::PROBE_MAX_SECONDS;
use super::login::{self, Files};
use super::ripgrep::{self, Ripgrep};
use super::sandbox::{Confinement, Inside};
use super::{EFFORT, RUNTIME_MODEL, VENDOR_MODEL};
use crate::common::ask::version_of;
use crate::common::child::{self, End, KILL_GRACE, Launch, NewFiles};
use crate::common::exit::{Exit, Refusal};
use crate::common::program::Call;
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox;

/// Everything that a run needs and that was seen to work.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    /// The real file of the vendor's program.
    pub(super) kimi: PathBuf,
    /// What it calls its version, where it says one. Recorded and never compared.
    pub(super) cli_version: Option<String>,
    pub(super) ripgrep: Ripgrep,
    pub(super) confinement: Confinement,
}

/// Asks everything.
///
/// # Errors
/// 69 with the first thing that is missing; 75: a probe refreshed a login that another run has; 130.
pub(super) fn probe(call: &Call<'_>, knobs: &Knobs, lane: Lane) -> Result<Runtime, Refusal> {
    let unavailable = |why: &dyn std::fmt::Display| Refusal::unavailable(why.to_string());
    let kimi = call.surroundings.find_program("kimi").ok_or_else(|| unavailable(&"kimi is not on PATH"))?;
    demand_native(&kimi)?;
    knobs.demand_platform()?;
    sandbox::demand()?;
    let ripgrep =
        ripgrep::verified(&knobs.ripgrep_store, &knobs.user_home).map_err(|why| unavailable(&why))?;
    let run_directory = RunDirectory::create(call.family)?;
    let home = Home::build(lane, &ripgrep, &run_directory)?;
    let login = Files::read(&knobs.ambient)?;
    login.write(&home.kimi)?;
    let confinement = Confinement::of(knobs, call.surroundings);
    let prober = Prober {
        call,
        run_directory: &run_directory,
        home: &home,
        kimi: &kimi,
        ripgrep: &ripgrep,
        confinement: &confinement,
    };
    let asked = prober.ask_all();
    login::keep_of_probe(knobs, &home, &login)?;
    let cli_version = asked?;
    login.demand_token()?;
    Ok(Runtime { kimi, cli_version, ripgrep, confinement })
}

/// A script would need its interpreter, which the sandbox does not execute.
fn demand_native(program: &Path) -> Result<(), Refusal> {
    let mut head = [0; 2];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut head));
    if read.is_ok() && &head != b"#!" {
        return Ok(());
    }
    Err(Refusal::unavailable(format!(
        "{} is a script; the sandbox executes Kimi Code's native program alone",
        program.display()
    )))
}

struct Prober<'a> {
    call: &'a Call<'a>,
    run_directory: &'a RunDirectory,
    home: &'a Home,
    kimi: &'a Path,
    ripgrep: &'a Ripgrep,
    confinement: &'a Confinement,
}

/// What a probe said.
struct Said {
    is_success: bool,
    stdout: String,
    stderr: String,
}

impl Prober<'_> {
    /// Returns the version of the vendor's program.
    fn ask_all(&self) -> Result<Option<String>, Refusal> {
        let missing = |what: &str| Refusal::unavailable(format!("kimi does not offer {what}"));
        self.attest_ripgrep()?;
        let version = self.ask("version", &["--version"])?;
        let help = self.ask("help", &["--help"])?.all();
        for word in ["--output-format", "stream-json", "--agent-file", "--skills-dir"] {
            if !help.contains(word) {
                return Err(missing(word));
            }
        }
        if !self.ask("doctor-help", &["doctor", "--help"])?.all().contains("config") {
            return Err(missing("doctor config"));
        }
        let config = self.home.config.to_string_lossy();
        if !self.ask("doctor", &["doctor", "config", &config])?.is_success {
            return Err(Refusal::unavailable("kimi does not accept the generated configuration"));
        }
        let models = self.ask("models", &["provider", "list", "--json"])?;
        demand_model(&models)?;
        let providers = self.ask("providers", &["provider", "list"])?;
        let is_signed_in = |line: &str| line.contains(PROVIDER) && line.contains("source=oauth");
        if !providers.is_success || !providers.stdout.lines().any(is_signed_in) {
            return Err(Refusal::unavailable(format!("kimi does not show {PROVIDER} with source=oauth")));
        }
        Ok(version.is_success.then(|| version_of(&version.stdout)).flatten())
    }

    /// The private copy, executed where a run would execute it.
    fn attest_ripgrep(&self) -> Result<(), Refusal> {
        let said = self.start("rg", &self.home.ripgrep, &["--version"])?;
        if said.is_success && said.stdout.lines().next() == Some(&self.ripgrep.version_line) {
            return Ok(());
        }
        Err(Refusal::unavailable("the pinned ripgrep does not run in the sandbox, or says another version"))
    }

    fn ask(&self, name: &str, arguments: &[&str]) -> Result<Said, Refusal> {
        self.start(name, self.kimi, arguments)
    }

    fn start(&self, name: &str, program: &Path, arguments: &[&str]) -> Result<Said, Refusal> {
        let unavailable = |why: &dyn std::fmt::Display| Refusal::unavailable(format!("probe {name}: {why}"));
        let inside = Inside {
            home: self.home,
            kimi: self.kimi,
            ripgrep: self.ripgrep,
            workspace: None,
            writable: &[],
        };
        let launch = Launch {
            name,
            program,
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.home.environment(),
            directory: &self.home.scratch,
            stdin: b"",
            fence: self.confinement.fence(inside, self.run_directory).map_err(|error| unavailable(&error))?,
            limit: Duration::from_secs(PROBE_MAX_SECONDS),
            grace: KILL_GRACE,
            new_files: NewFiles::Private,
        };
        let ended =
            child::run(launch, self.run_directory, self.call.surroundings, self.call.signals, &mut |_, _| {});
        let ended = ended.map_err(|error| error.refusal(&format!("probe {name}")))?;
        match ended.end {
            End::Interrupted(_) => return Err(Refusal::new(Exit::Cancelled, "caller_cancelled")),
            End::TimedOut => return Err(unavailable(&format!("no end within {PROBE_MAX_SECONDS} s"))),
            End::Exited(_) | End::Signalled(_) | End::TooMuchOutput => {}
        }
        let text =
            |stream: &child::Stream| stream.read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Said {
            is_success: ended.end == End::Exited(0),
            stdout: text(&ended.stdout).map_err(|error| unavailable(&error))?,
            stderr: text(&ended.stderr).map_err(|error| unavailable(&error))?,
        })
    }
}

impl Said {
    fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// The model as the program itself resolves it from the generated configuration, whatever the user prefers.
fn demand_model(said: &Said) -> Result<(), Refusal> {
    let document: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let refused = |why: &str| Err(Refusal::unavailable(format!("kimi {why}")));
    let model = &document["models"][RUNTIME_MODEL];
    if !said.is_success || !model.is_object() {
        return refused(&format!("has no model {RUNTIME_MODEL}"));
    }
    if model["model"] != VENDOR_MODEL {
        return refused(&format!("takes {RUNTIME_MODEL} for another model than {VENDOR_MODEL}"));
    }
    let supported = model["supportEfforts"].as_array();
    if !supported.is_some_and(|efforts| efforts.iter().any(|effort| effort == EFFORT)) {
        return refused(&format!("does not support effort {EFFORT}"));
    }
    if model["defaultEffort"] != EFFORT {
        return refused(&format!("does not run at effort {EFFORT} by default"));
    }
    Ok(())
}
