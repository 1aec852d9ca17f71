//! `providers`, `capabilities`, `preflight`, `models`: discovery, from static to live (predecessor-core 1.7).

use std::io;
use std::path::PathBuf;

use record::answer;
use record::answers::{CapabilitiesAnswer, ModelsAnswer, ProvidersAnswer};
use record::limits::{BUDGET_DEFAULT_SECONDS, LEASE_WAIT_DEFAULT_SECONDS, OUTPUT_DEFAULT_BYTES};
use record::models::ModelListStatus;
use record::words::Permission;
use record::{ByteSize, ProfileId, Span};
use turn::{BriefSource, DispatchInput};

use super::fitted;
use crate::arguments::{Capabilities, Globals, Lane, Mode, Models, Preflight, Wishes};
use crate::context;
use crate::exit::{self, Exit};
use crate::human::catalogue;
use crate::human::patience::Patience;
use crate::output;

/// Carries out `providers`.
pub(super) fn providers(globals: &Globals) -> io::Result<Exit> {
    let providers = turn::providers();
    if globals.json {
        output::json(&ProvidersAnswer { schema_version: 1, command: "providers".to_owned(), providers })?;
    } else {
        output::text(&fitted(&catalogue::providers(&providers)))?;
    }
    Ok(Exit::Done)
}

/// Carries out `capabilities`. A profile that does not exist has a capability too: an unsupported one.
pub(super) fn capabilities(globals: &Globals, arguments: &Capabilities) -> io::Result<Exit> {
    let (capability, failure, error) = match turn::capabilities(&arguments.provider) {
        Ok(capability) => (capability, None, None),
        Err(fault) => {
            let answer = fault.into_answer(answer::Answer::new("capabilities"));
            let capability = turn::unsupported_capability(&arguments.provider);
            (capability, answer.failure, answer.error)
        }
    };
    if globals.json {
        let command = "capabilities".to_owned();
        output::json(&CapabilitiesAnswer { schema_version: 1, command, capability, failure, error })?;
    } else {
        match error {
            Some(error) => output::error(&error),
            None => output::text(&fitted(&catalogue::capability(&capability)))?,
        }
    }
    Ok(failure.map_or(Exit::Done, |failure| exit::of_failure(failure.code)))
}

/// Carries out `preflight`.
pub(super) fn preflight(globals: &Globals, arguments: &Preflight) -> io::Result<Exit> {
    let setting = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return super::fail(globals, &refusal.answer("preflight")),
    };
    let input = asked(
        &arguments.provider,
        arguments.cwd.clone(),
        &arguments.mode,
        (&arguments.wishes, &arguments.lane),
    );
    let patience = Patience::on_stderr(globals.json, format!("asking {}", arguments.provider));
    let answer = turn::preflight(&setting.context, &input);
    drop(patience);
    super::print(globals, &answer, || {
        fitted(&answer.capability.as_ref().map(catalogue::capability).unwrap_or_default())
    })?;
    // Whatever is wrong, the request can not be served here and now.
    Ok(if answer.failure.is_some() { Exit::Invalid } else { Exit::Done })
}

/// Carries out `models`.
pub(super) fn models(globals: &Globals, arguments: &Models) -> io::Result<Exit> {
    let setting = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return super::fail(globals, &refusal.answer("models")),
    };
    let cwd = match &arguments.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir()?,
    };
    let mode = Mode { permission: Permission::ReadOnly, budget: Span::from_seconds(BUDGET_DEFAULT_SECONDS) };
    let input = asked(&arguments.provider, cwd, &mode, (&Wishes::default(), &Lane::default()));
    let patience = Patience::on_stderr(globals.json, format!("asking {} for its models", arguments.provider));
    let listed = turn::models(&setting.context, &input);
    drop(patience);
    let (catalogue, complaint) = match listed {
        Ok(listed) => listed,
        Err(fault) => return super::fail(globals, &fault.into_answer(answer::Answer::new("models"))),
    };
    let exit = match catalogue.status {
        ModelListStatus::Available | ModelListStatus::Partial => Exit::Done,
        ModelListStatus::Blocked | ModelListStatus::Unavailable => Exit::Invalid,
        ModelListStatus::Failed => Exit::Operational,
    };
    if globals.json {
        output::json(&ModelsAnswer {
            schema_version: 1,
            command: "models".to_owned(),
            provider: arguments.provider.clone(),
            observed_at: turn::now(),
            catalogue,
        })?;
    } else {
        output::text(&fitted(&catalogue::models(&catalogue)))?;
        if let Some(complaint) = complaint {
            output::error(&complaint);
        }
    }
    Ok(exit)
}

fn asked(provider: &ProfileId, cwd: PathBuf, mode: &Mode, (wishes, lane): (&Wishes, &Lane)) -> DispatchInput {
    DispatchInput {
        provider: Some(provider.clone()),
        brief: BriefSource::default(),
        cwd,
        id: None,
        permission: mode.permission,
        budget: mode.budget,
        native_timeout: wishes.native_timeout,
        model: wishes.model.clone(),
        effort: wishes.effort.clone(),
        lane: lane.lane.clone(),
        allow_provisional: lane.allow_provisional,
        fence: wishes.fence,
        environment_file: wishes.env_file.clone(),
        max_output: ByteSize::from_bytes(OUTPUT_DEFAULT_BYTES),
        first_output: None,
        start_by: None,
        lease_wait: Span::from_seconds(LEASE_WAIT_DEFAULT_SECONDS),
        resume_task: None,
        memory: None,
        pids: None,
        cpus: None,
        from_earlier: false,
    }
}
