//! `verify`: the patch in a task's sealed result, judged by the library of `delegation-patch-verify`. Nothing is applied
//! (CLI.md `verify`).

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use patch::{CheckError, Environment, LoadedPolicy, PolicyError, Request, Verdict};
use record::TaskId;
use record::answer::Answer;
use record::failure::{FailureCode, Stage};
use record::words::Publication;

use super::{fail, follow};
use crate::arguments::{Globals, Verify};
use crate::context::{self, Setting};
use crate::exit::Exit;
use crate::failure::Refusal;
use crate::output;

/// Carries out `verify`.
pub(super) fn run(globals: &Globals, arguments: &Verify) -> io::Result<Exit> {
    let Setting { context, place } = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return fail(globals, &refusal.answer_on(arguments.task, "verify")),
    };
    let answer = follow::one(globals, &context, "verify", arguments.task, Some(std::time::Duration::ZERO));
    if answer.failure.is_some() {
        return fail(globals, &answer);
    }
    let receipt = result(&answer)
        .and_then(|payload| {
            let mut text = Vec::new();
            follow::open_payload(&place.file(arguments.task, &payload.basename), payload)
                .and_then(|mut file| file.read_to_end(&mut text))
                .map_err(|fault| {
                    operational(FailureCode::EvidenceDamaged, format!("the result can not be read: {fault}"))
                })?;
            Ok(text)
        })
        .and_then(|text| judge(arguments, &text));
    match receipt {
        Ok(receipt) => {
            if globals.json { output::exact(&receipt.json()) } else { output::text(&receipt.text()) }?;
            Ok(if receipt.verdict == Verdict::Accepted { Exit::Done } else { Exit::Rejected })
        }
        Err(refusal) => fail(globals, &answer.failed(refusal.failure, refusal.error)),
    }
}

/// The committed result that may hold a patch.
fn result(answer: &Answer) -> Result<&record::outcome::Payload, Refusal> {
    match (&answer.payload, answer.publication) {
        (Some(payload), Publication::Committed) => Ok(payload),
        _ => Err(Refusal::invalid_request(
            "the task has no committed result, so there is nothing to verify".to_owned(),
        )),
    }
}

fn judge(arguments: &Verify, text: &[u8]) -> Result<patch::Receipt, Refusal> {
    let environment = Environment::of_process();
    let policy = LoadedPolicy::find(environment.policy_file.as_deref(), environment.program.as_deref())
        .map_err(|error: PolicyError| operational(FailureCode::TaskOperationFailed, error.to_string()))?;
    let request = Request {
        patch: extracted(arguments.task),
        workdir: arguments.workdir.clone(),
        allow_delete: arguments.allow_delete,
    };
    // An earlier run of this command left it; the lead reads the digest in the receipt.
    if fs::symlink_metadata(&request.patch).is_ok_and(|found| found.is_file()) {
        let _ = fs::remove_file(&request.patch);
    }
    patch::check_result(text, &request, &policy, &environment.surroundings).map_err(|error| match error {
        CheckError::NoGit | CheckError::Store(_) => {
            operational(FailureCode::TaskOperationFailed, error.to_string())
        }
        error => Refusal::invalid_request(error.to_string()),
    })
}

/// Where the extracted diff is put for the lead.
fn extracted(task: TaskId) -> PathBuf {
    std::env::temp_dir().join(format!("delegate-{task}.diff"))
}

fn operational(code: FailureCode, message: String) -> Refusal {
    Refusal::operational(code, Stage::ObserveTask, message)
}
