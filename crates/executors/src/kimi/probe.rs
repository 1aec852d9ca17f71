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
use super::login;
use super::ripgrep::{self, Ripgrep};
use super::sandbox::{Confinement, Inside};
use super::{EFFORT, RUNTIME_MODEL, VENDOR_MODEL};
use crate::common::ask::{Said, ask, version_of};
use crate::common::child::{KILL_GRACE, Launch, NewFiles};
use crate::common::exit::{Exit, Refusal};
use crate::common::login::{Login, kept_of_probes};
use crate::common::program::{Call, Stop};
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

/// Takes the right to the login, which the run goes on with, then asks everything. What the program refreshes meanwhile is kept.
///
/// # Errors
/// 69 with the first thing that is missing; 75: another run has the login, of whose program nothing is started then; 130.
pub(super) fn probe(call: &Call<'_>, knobs: &Knobs, lane: Lane) -> Result<(Runtime, Login), Refusal> {
    let unavailable = |why: &dyn std::fmt::Display| Refusal::unavailable(why.to_string());
    let kimi = call.surroundings.find_program("kimi").ok_or_else(|| unavailable(&"kimi is not on PATH"))?;
    demand_native(&kimi)?;
    knobs.demand_platform()?;
    sandbox::demand()?;
    let ripgrep =
        ripgrep::verified(&knobs.ripgrep_store, &knobs.user_home).map_err(|why| unavailable(&why))?;
    let login = login::begin(knobs)?;
    let run_directory = RunDirectory::create(call.family)?;
    let home = Home::build(lane, &ripgrep, &run_directory)?;
    let placed = login::put(&login, knobs, &home)?;
    let confinement = Confinement::of(knobs, call.surroundings);
    let prober = Prober {
        call,
        run_directory: &run_directory,
        home: &home,
        kimi: &kimi,
        ripgrep: &ripgrep,
        confinement: &confinement,
        writable: &login::writable(&login),
    };
    let asked = prober.ask_all();
    let cli_version = match kept_of_probes(asked, placed.keep(), &login::KIND, call.family) {
        Ok(cli_version) => cli_version,
        Err(Stop::Refused(refusal)) => return Err(refusal),
        Err(Stop::Interrupted(_)) => return Err(Refusal::new(Exit::Cancelled, "caller_cancelled")),
    };
    Ok((Runtime { kimi, cli_version, ripgrep, confinement }, login))
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
    writable: &'a [PathBuf],
}

impl Prober<'_> {
    /// Returns the version of the vendor's program.
    fn ask_all(&self) -> Result<Option<String>, Stop> {
        let missing = |what: &str| Err(Refusal::unavailable(format!("kimi does not offer {what}")).into());
        self.attest_ripgrep()?;
        let version = self.ask("version", &["--version"])?;
        let help = self.ask("help", &["--help"])?.all();
        for word in ["--output-format", "stream-json", "--agent-file", "--skills-dir"] {
            if !help.contains(word) {
                return missing(word);
            }
        }
        if !self.ask("doctor-help", &["doctor", "--help"])?.all().contains("config") {
            return missing("doctor config");
        }
        let config = self.home.config.to_string_lossy();
        if !self.ask("doctor", &["doctor", "config", &config])?.is_success {
            return Err(Refusal::unavailable("kimi does not accept the generated configuration").into());
        }
        let models = self.ask("models", &["provider", "list", "--json"])?;
        demand_model(&models)?;
        let providers = self.ask("providers", &["provider", "list"])?;
        let is_signed_in = |line: &str| line.contains(PROVIDER) && line.contains("source=oauth");
        if !providers.is_success || !providers.stdout.lines().any(is_signed_in) {
            let why = format!("kimi does not show {PROVIDER} with source=oauth; sign in with: kimi login");
            return Err(Refusal::login(why).into());
        }
        Ok(version.is_success.then(|| version_of(&version.stdout)).flatten())
    }

    /// The private copy, executed where a run would execute it.
    fn attest_ripgrep(&self) -> Result<(), Stop> {
        let said = self.start("rg", &self.home.ripgrep, &["--version"])?;
        if said.is_success && said.stdout.lines().next() == Some(&self.ripgrep.version_line) {
            return Ok(());
        }
        let why = "the pinned ripgrep does not run in the sandbox, or says another version";
        Err(Refusal::unavailable(why).into())
    }

    fn ask(&self, name: &str, arguments: &[&str]) -> Result<Said, Stop> {
        self.start(name, self.kimi, arguments)
    }

    fn start(&self, name: &str, program: &Path, arguments: &[&str]) -> Result<Said, Stop> {
        let inside = Inside {
            home: self.home,
            kimi: self.kimi,
            ripgrep: self.ripgrep,
            workspace: None,
            writable: self.writable,
        };
        let launch = Launch {
            name,
            program,
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.home.environment(),
            directory: &self.home.scratch,
            stdin: b"",
            fence: self.confinement.fence(inside, self.run_directory).map_err(Refusal::sandbox)?,
            limit: Duration::from_secs(PROBE_MAX_SECONDS),
            grace: KILL_GRACE,
            new_files: NewFiles::Private,
        };
        ask(launch, self.run_directory, self.call)
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
