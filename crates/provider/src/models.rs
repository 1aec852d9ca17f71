//! What models a CLI lists: bounded and advisory, never an admission list (providers.md 7).

use std::collections::HashSet;

use record::models::{Model, ModelCatalogue, ModelListStatus};
use serde_json::Value;

use crate::limits::{MODEL_EFFORTS_MAX_COUNT, MODELS_MAX_BYTES, MODELS_MAX_COUNT};
use crate::probe::ProbeOutput;

/// How one CLI lists its models.
pub trait ModelListing: Sync {
    /// The arguments after the program's own name.
    fn arguments(&self) -> &'static [&'static str];

    /// What is written to its standard input, which then ends.
    fn input(&self) -> &'static [u8] {
        b""
    }

    /// What the output says. Pure; never fails: what can not be read is a status.
    fn read(&self, output: &ProbeOutput) -> ModelCatalogue;
}

/// The catalogue of a CLI that listed these models, or nothing that can be read as a list.
pub(crate) fn listed(source: &str, models: Option<Vec<Model>>) -> ModelCatalogue {
    match models.filter(|models| is_valid(models)) {
        None => without(source, ModelListStatus::Failed, "invalid_native_output"),
        Some(models) if models.is_empty() => {
            without(source, ModelListStatus::Unavailable, "models_unavailable")
        }
        Some(models) => {
            ModelCatalogue { complete: true, models, ..without(source, ModelListStatus::Available, "ok") }
        }
    }
}

/// The catalogue of a CLI that did not do what it was asked.
pub(crate) fn refused(source: &str, output: &ProbeOutput) -> ModelCatalogue {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if says(SIGNED_OUT) || text.lines().any(line_is_signed_out) {
        without(source, ModelListStatus::Blocked, "authentication_unavailable")
    } else if says(NOT_OFFERED) {
        without(source, ModelListStatus::Unavailable, "interface_unavailable")
    } else {
        without(source, ModelListStatus::Failed, "native_command_failed")
    }
}

fn without(source: &str, status: ModelListStatus, reason: &str) -> ModelCatalogue {
    ModelCatalogue {
        status,
        reason_code: reason.to_owned(),
        complete: false,
        source: source.to_owned(),
        models: Vec::new(),
        efforts: None,
    }
}

const SIGNED_OUT: &[&str] = &[
    "authentication required",
    "authentication failed",
    "not authenticated",
    "login required",
    "please log in",
    "please login",
    "unauthenticated",
    "invalid api key",
    "missing api key",
    "api key required",
    "no api key",
    "credentials not found",
    "no credentials",
    "oauth token expired",
    "token expired",
    "unauthorized",
    "403 forbidden",
    "http 401",
    "http 403",
    "status code 401",
    "status code 403",
];
const NOT_OFFERED: &[&str] = &[
    "unknown command",
    "no such command",
    "invalid subcommand",
    "unknown option",
    "unknown flag",
    "unrecognized option",
    "unsupported option",
    "option is not supported",
    "not supported",
    "command not found",
];

/// Whether a line is JSON in which a status is 401 or 403.
fn line_is_signed_out(line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|value| is_signed_out(&value))
}

fn is_signed_out(value: &Value) -> bool {
    const STATUS: &[&str] = &[
        "code",
        "status",
        "status_code",
        "statuscode",
        "http_status",
        "httpstatus",
        "error_code",
        "errorcode",
    ];
    let refuses = |value: &Value| match value {
        Value::Number(number) => matches!(number.as_u64(), Some(401 | 403)),
        Value::String(text) => matches!(text.as_str(), "401" | "403"),
        _ => false,
    };
    match value {
        Value::Array(items) => items.iter().any(is_signed_out),
        Value::Object(members) => members.iter().any(|(name, member)| {
            (STATUS.contains(&&*name.replace('-', "_")) && refuses(member)) || is_signed_out(member)
        }),
        _ => false,
    }
}

/// Bounds, texts that can be shown, and unique names; a default effort is one of those listed.
fn is_valid(models: &[Model]) -> bool {
    let mut ids = HashSet::new();
    let plain = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    let bytes = |model: &Model| {
        let efforts = model.efforts.iter().flatten().map(String::len).sum::<usize>();
        model.id.len() + model.name.as_ref().map_or(0, String::len) + efforts
    };
    let efforts = |model: &Model| {
        let Some(efforts) = &model.efforts else { return true };
        let unique: HashSet<_> = efforts.iter().collect();
        unique.len() == efforts.len()
            && efforts.iter().all(|effort| plain(effort))
            && model.default_effort.as_ref().is_none_or(|default| efforts.contains(default))
    };
    models.len() <= MODELS_MAX_COUNT
        && models.iter().map(bytes).sum::<usize>() <= MODELS_MAX_BYTES
        && models.iter().filter_map(|model| model.efforts.as_ref()).map(Vec::len).sum::<usize>()
            <= MODEL_EFFORTS_MAX_COUNT
        && models.iter().all(|model| {
            plain(&model.id)
                && ids.insert(&model.id)
                && model.name.as_deref().is_none_or(plain)
                && model.default_effort.as_deref().is_none_or(plain)
                && efforts(model)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(stdout: &str, stderr: &str) -> ProbeOutput {
        ProbeOutput { exit_code: Some(1), stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn refusals_have_a_reason() {
        for (stdout, stderr, reason) in [
            ("", "Error: Please log in first", "authentication_unavailable"),
            ("{\"error\":{\"status-code\":\"401\"}}", "", "authentication_unavailable"),
            ("[{\"Code\":403}]", "", "authentication_unavailable"),
            ("", "error: unknown command 'models'", "interface_unavailable"),
            ("", "permission denied", "native_command_failed"),
            ("{\"code\":500,\"count\":401}", "", "native_command_failed"),
            ("", "", "native_command_failed"),
        ] {
            let catalogue = refused("x", &output(stdout, stderr));
            assert_eq!(
                (catalogue.reason_code.as_str(), catalogue.complete),
                (reason, false),
                "{stdout}{stderr}"
            );
        }
    }

    #[test]
    fn lists_are_checked() {
        let model = |id: &str, efforts: Option<&[&str]>, default: Option<&str>| Model {
            id: id.to_owned(),
            name: None,
            efforts: efforts.map(|efforts| efforts.iter().map(|&effort| effort.to_owned()).collect()),
            default_effort: default.map(str::to_owned),
        };
        let reason = |models: Option<Vec<Model>>| listed("x", models).reason_code;
        let good = vec![
            model("a", None, Some("x")),
            model("b", Some(&[]), None),
            model("c", Some(&["x", "y"]), Some("y")),
        ];
        assert_eq!(reason(Some(good.clone())), "ok");
        assert_eq!(reason(Some(Vec::new())), "models_unavailable");
        assert_eq!(reason(None), "invalid_native_output");
        for bad in [
            model("a", None, None),
            model("", None, None),
            model("d\n", None, None),
            model("d", Some(&["x", "x"]), None),
            model("d", Some(&[""]), None),
            model("d", Some(&["x"]), Some("y")),
        ] {
            let models = [good.clone(), vec![bad.clone()]].concat();
            assert_eq!(reason(Some(models)), "invalid_native_output", "{bad:?}");
        }
        let many = |count: usize| (0..count).map(|number| model(&number.to_string(), None, None)).collect();
        assert_eq!(reason(Some(many(MODELS_MAX_COUNT))), "ok");
        assert_eq!(reason(Some(many(MODELS_MAX_COUNT + 1))), "invalid_native_output");
    }
}
