//! Reading Claude Code's event stream: one JSON object in each line (runners.md 2.6).

use std::collections::BTreeMap;

use gates::json::{Json, Object, parse};

/// The event types that diagnostics count by name.
const KNOWN: &[&str] = &["assistant", "rate_limit_event", "result", "stream_event", "system", "user"];
/// All others.
const OTHER: &str = "other";
const UNAUTHORIZED: u64 = 401;
const TOO_MANY: u64 = 429;

/// What a stream says, without judging it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stream {
    /// Whether every line is a JSON object.
    pub(super) is_valid: bool,
    /// Events by known type.
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// The model of each init event.
    pub(super) init_models: Vec<Option<String>>,
    /// The model of each assistant event.
    pub(super) assistant_models: Vec<Option<String>>,
    /// Every model that a result event names.
    pub(super) result_models: Vec<String>,
    /// The last result event.
    pub(super) result: Option<Object>,
    /// Whether a request was refused because of the key.
    pub(super) is_unauthorized: bool,
    /// Whether a request was refused because there were too many.
    pub(super) is_limited: bool,
    /// When the limit ends that the last limit event names, in seconds since the epoch.
    pub(super) limit_ends_at: Option<u64>,
}

impl Stream {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut stream = Self { is_valid: true, ..Self::default() };
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match parse(line) {
                Ok(Json::Object(event)) => stream.take(event),
                _ => stream.is_valid = false,
            }
        }
        stream
    }

    fn take(&mut self, event: Object) {
        let text = |key: &str| event.get(key).and_then(Json::as_str);
        let kind = text("type").unwrap_or_default();
        let known = KNOWN.iter().copied().find(|known| *known == kind);
        *self.counts.entry(known.unwrap_or(OTHER)).or_default() += 1;
        match (kind, text("subtype")) {
            ("system", Some("init")) => self.init_models.push(text("model").map(str::to_owned)),
            ("system", Some("api_retry")) => self.take_status(event.get("error_status")),
            ("assistant", _) => {
                let model = event.get("message").and_then(|message| message.get("model"));
                self.assistant_models.push(model.and_then(Json::as_str).map(str::to_owned));
                self.take_status(event.get("api_error_status"));
            }
            ("rate_limit_event", _) => self.limit_ends_at = limit_end(&event),
            ("result", _) => {
                self.take_status(event.get("api_error_status"));
                self.result_models.extend(EFFECTIVE.iter().filter_map(|key| text(key)).map(str::to_owned));
                self.result = Some(event);
            }
            _ => {}
        }
    }

    fn take_status(&mut self, status: Option<&Json>) {
        match status.and_then(Json::as_f64).map(|status| status as u64) {
            Some(UNAUTHORIZED) => self.is_unauthorized = true,
            Some(TOO_MANY) => self.is_limited = true,
            _ => {}
        }
    }

    /// The model that wrote the answer and where it says so: the result, else the one model of all assistant events.
    pub(super) fn effective_model(&self) -> Option<(&str, &'static str)> {
        let result = self.result.as_ref();
        let named = EFFECTIVE.iter().find_map(|key| result?.get(*key).and_then(Json::as_str));
        if let Some(model) = named {
            return Some((model, "result"));
        }
        let mut models = self.assistant_models.iter().flatten();
        let first = models.next()?;
        models.all(|model| model == first).then_some((first.as_str(), "assistant_events"))
    }
}

/// The members of a result that name its model, the first that is there first.
const EFFECTIVE: [&str; 3] = ["effective_content_model", "canonicalModel", "model"];

/// Where a limit event names its end: as the service's own word, or as Claude Code writes it.
fn limit_end(event: &Object) -> Option<u64> {
    let nested = ["rate_limit", "info", "rate_limit_info"].iter().filter_map(|key| event.get(*key));
    let places = nested.filter_map(Json::as_object).chain([event]);
    let mut ends = places.flat_map(|place| [place.get("resets_at"), place.get("resetsAt")]).flatten();
    let end = ends.find_map(Json::as_f64)?;
    // Later than any time that a number in a JSON file holds exactly is no time.
    (0.0..9_007_199_254_740_992.0).contains(&end).then_some(end.floor() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Stream {
        Stream::read(lines.join("\n").as_bytes())
    }

    #[test]
    fn lines_that_are_no_objects_make_a_stream_invalid() {
        assert!(read(&[]).is_valid && read(&["", r#"{"type":"x"}"#, ""]).is_valid);
        for line in ["{", "7", "[]", "\"x\"", "null", r#"{"a":1,"a":2}"#] {
            assert!(!read(&[r#"{"type":"x"}"#, line]).is_valid, "{line}");
        }
    }

    #[test]
    fn the_end_of_a_limit_is_read_in_every_place() {
        for (event, end) in [
            (r#"{"type":"rate_limit_event","resets_at":1900000000.9}"#, Some(1_900_000_000)),
            (r#"{"type":"rate_limit_event","rate_limit":{"resets_at":7}}"#, Some(7)),
            (r#"{"type":"rate_limit_event","info":{"resets_at":7}}"#, Some(7)),
            (r#"{"type":"rate_limit_event","rate_limit_info":{"resetsAt":7}}"#, Some(7)),
            (r#"{"type":"rate_limit_event","resets_at":"7"}"#, None),
            (r#"{"type":"rate_limit_event","resets_at":-7}"#, None),
            (r#"{"type":"rate_limit_event","resets_at":1e300}"#, None),
            (r#"{"type":"rate_limit_event"}"#, None),
        ] {
            assert_eq!(read(&[event]).limit_ends_at, end, "{event}");
        }
        let last = [r#"{"type":"rate_limit_event","resets_at":7}"#, r#"{"type":"rate_limit_event"}"#];
        assert_eq!(read(&last).limit_ends_at, None);
    }

    #[test]
    fn the_result_names_the_effective_model_before_the_messages() {
        let message = |model: &str| format!(r#"{{"type":"assistant","message":{{"model":"{model}"}}}}"#);
        let (one, other) = (message("one"), message("other"));
        assert_eq!(read(&[&one, &one]).effective_model(), Some(("one", "assistant_events")));
        assert_eq!(read(&[&one, &other]).effective_model(), None);
        assert_eq!(read(&[]).effective_model(), None);
        for (result, model) in [
            (r#"{"type":"result","model":"c","canonicalModel":"b","effective_content_model":"a"}"#, "a"),
            (r#"{"type":"result","model":"c","canonicalModel":"b"}"#, "b"),
            (r#"{"type":"result","model":"c"}"#, "c"),
        ] {
            assert_eq!(read(&[&one, &other, result]).effective_model(), Some((model, "result")));
        }
    }
}
