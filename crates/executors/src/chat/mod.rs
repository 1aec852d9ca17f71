//! Qwen and DeepSeek: one non-streaming chat-completions request (runners.md 5). The two differ in nothing but a [`Service`].

mod answer;
mod check;
mod exchange;
pub mod limits;
mod run;
mod service;

pub use service::{DEEPSEEK, QWEN, Service};

use std::process::ExitCode;

use crate::common::exit::Refusal;
use crate::common::program::{self, Action, Call, Done};

/// The program `delegation-qwen`.
pub fn qwen() -> ExitCode {
    program::main(&QWEN.family, |call, action| act(&QWEN, call, action))
}

/// The program `delegation-deepseek`.
pub fn deepseek() -> ExitCode {
    program::main(&DEEPSEEK.family, |call, action| act(&DEEPSEEK, call, action))
}

fn act(service: &'static Service, call: &Call<'_>, action: Action) -> Result<Done, Refusal> {
    match action {
        Action::Check { json } => check::check(service, call, json),
        Action::Run(line) => run::run(service, call, &line),
        Action::Own(name, _) => Err(Refusal::usage(format!("unknown command {name}"))),
    }
}
