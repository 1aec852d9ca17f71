//! `providers` and `capabilities`: what the catalogue says, without any look at the host (predecessor-core 1.7).

use std::io;

use record::answer;
use record::capability::{Capability, Description};
use record::failure::Failure;
use serde::Serialize;

use crate::arguments::{Capabilities, Globals};
use crate::exit::{self, Exit};
use crate::human::catalogue;
use crate::output;

/// Carries out `providers`.
pub(super) fn providers(globals: &Globals) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Providers {
        schema_version: u32,
        command: &'static str,
        providers: Vec<Description>,
    }
    let providers = turn::providers();
    if globals.json {
        output::json(&Providers { schema_version: 1, command: "providers", providers })?;
    } else {
        output::text(&catalogue::providers(&providers))?;
    }
    Ok(Exit::Done)
}

/// Carries out `capabilities`. A profile that does not exist has a capability too: an unsupported one.
pub(super) fn capabilities(globals: &Globals, arguments: &Capabilities) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Answer {
        schema_version: u32,
        command: &'static str,
        capability: Capability,
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    let (capability, failure, error) = match turn::capabilities(&arguments.provider) {
        Ok(capability) => (capability, None, None),
        Err(fault) => {
            let answer = fault.into_answer(answer::Answer::new("capabilities"));
            let capability = turn::unsupported_capability(&arguments.provider);
            (capability, answer.failure, answer.error)
        }
    };
    if globals.json {
        output::json(&Answer { schema_version: 1, command: "capabilities", capability, failure, error })?;
    } else {
        match error {
            Some(error) => output::error(&error),
            None => output::text(&catalogue::capability(&capability))?,
        }
    }
    Ok(failure.map_or(Exit::Done, |failure| exit::of_failure(failure.code)))
}
