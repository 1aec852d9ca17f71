//! The models that claude lists when a stream of messages is opened and none is sent (providers.md 4.9).

use record::models::{Model, ModelCatalogue};
use serde_json::{Map, Value};

use crate::events::{self, Fault, text};
use crate::models::{ModelListing, listed, refused};
use crate::probe::ProbeOutput;

const SOURCE: &str = "claude initialize";
const REQUEST: &[u8] =
    b"{\"type\":\"control_request\",\"request_id\":\"models\",\"request\":{\"subtype\":\"initialize\"}}\n";

/// The request that opens a stream.
pub(super) struct Initialize;

impl ModelListing for Initialize {
    fn arguments(&self) -> &'static [&'static str] {
        &["--print", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    }

    fn input(&self) -> &'static [u8] {
        REQUEST
    }

    fn read(&self, output: &ProbeOutput) -> ModelCatalogue {
        let mut replies = Vec::new();
        // A reader of bytes in memory does not fail.
        let reading = events::read(&mut output.stdout.as_slice(), |event| {
            if event.kind == "control_response" {
                replies.push(event.object("response")?.to_owned());
            }
            Ok::<(), Fault>(())
        });
        match (reading, replies.as_slice()) {
            (Ok(reading), [reply])
                if reading.fault.is_none() && text(reply, "subtype") == Some("success") =>
            {
                listed(SOURCE, models(reply))
            }
            (Ok(reading), [] | [_]) if reading.fault.is_none() => refused(SOURCE, output),
            _ => listed(SOURCE, None),
        }
    }
}

fn models(reply: &Map<String, Value>) -> Option<Vec<Model>> {
    reply
        .get("response")?
        .get("models")?
        .as_array()?
        .iter()
        .map(|model| self::model(model.as_object()?))
        .collect()
}

fn model(fields: &Map<String, Value>) -> Option<Model> {
    let levels = match fields.get("supportedEffortLevels") {
        None | Some(Value::Null) => {
            // Known to have none, or not known.
            (fields.get("supportsEffort") == Some(&Value::Bool(false))).then(Vec::new)
        }
        Some(levels) => Some(
            levels
                .as_array()?
                .iter()
                .map(|level| level.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
        ),
    };
    Some(Model {
        id: text(fields, "value")?.to_owned(),
        name: text(fields, "displayName").map(str::to_owned),
        efforts: levels,
        default_effort: ["defaultEffort", "default_effort"]
            .iter()
            .find_map(|name| text(fields, name))
            .map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use record::models::ModelListStatus;

    use super::*;

    fn read(stdout: &str) -> ModelCatalogue {
        let output = ProbeOutput { exit_code: Some(0), stdout: stdout.into(), stderr: Vec::new() };
        Initialize.read(&output)
    }

    #[test]
    fn the_reply_is_the_list() {
        let catalogue = read(concat!(
            r#"{"type":"system","subtype":"status"}"#,
            "\n",
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"models","response":{"models":["#,
            r#"{"value":"default","displayName":"Default","supportsEffort":true,"supportedEffortLevels":["low","high"],"defaultEffort":"high"},"#,
            r#"{"value":"haiku","supportsEffort":false},{"value":"opus"}]}}}"#,
            "\n"
        ));
        assert_eq!((catalogue.status, catalogue.complete), (ModelListStatus::Available, true));
        let [first, second, third] = catalogue.models.as_slice() else { panic!("{catalogue:?}") };
        assert_eq!((first.id.as_str(), first.name.as_deref()), ("default", Some("Default")));
        assert_eq!(first.efforts, Some(vec!["low".to_owned(), "high".to_owned()]));
        assert_eq!(first.default_effort.as_deref(), Some("high"));
        assert_eq!((second.efforts.as_deref(), third.efforts.as_deref()), (Some(&[][..]), None));
    }

    #[test]
    fn what_is_no_list_has_a_reason() {
        let reply = r#"{"type":"control_response","response":{"subtype":"success","response":{"models":[{"value":"a"}]}}}"#;
        assert_eq!(read(reply).reason_code, "ok");
        for (stdout, reason) in [
            (String::new(), "native_command_failed"),
            (format!("{reply}\n{reply}\n"), "invalid_native_output"),
            (reply.replace("\"value\"", "\"name\""), "invalid_native_output"),
            (reply.replace("\"models\"", "\"other\""), "invalid_native_output"),
            (format!("{reply}\nwords\n"), "invalid_native_output"),
            (reply.replace("success", "error"), "native_command_failed"),
            (r#"{"type":"control_response","response":{"subtype":"error","error":"Authentication failed"}}"#.to_owned(), "authentication_unavailable"),
        ] {
            assert_eq!(read(&stdout).reason_code, reason, "{stdout}");
        }
    }
}
