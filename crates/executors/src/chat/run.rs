//! One run: everything that is refused first, then one request, then publication or a diagnostic.

use std::time::Duration;

use gates::words::Status;
use serde_json::{Map, Value, json};

use super::answer::{self, Answer, Usage};
use super::exchange::{Exchange, Order, TIMED_OUT, exchange};
use super::limits::{
    CONNECT_MAX_SECONDS, EVALUATION_MAX_SECONDS, EXCHANGE_DEFAULT_SECONDS, EXCHANGE_MAX_SECONDS,
    OUTPUT_DEFAULT_TOKENS, OUTPUT_EVALUATION_TOKENS, OUTPUT_MAX_TOKENS, RESPONSE_MAX_BYTES,
};
use super::service::{Endpoint, NO_EFFORT, Service};
use crate::common::clock::Start;
use crate::common::diagnostic::{self, Account};
use crate::common::evaluation::{self, Manifest, ManifestRules, POLICY_ANNOTATION_SCHEMA};
use crate::common::exit::{Exit, Failure, Phase, Refusal};
use crate::common::gate::Admitted;
use crate::common::key::Key;
use crate::common::line::RunLine;
use crate::common::place::{DebugRule, PathRules, Places};
use crate::common::program::{Call, Done};
use crate::common::prompt::Prompt;
use crate::common::publish::{self, Publication};
use crate::common::report::{members, printed};

const PATHS: PathRules = PathRules {
    create_parents: false,
    diagnostic_may_exist: false,
    outputs_outside_workdir: true,
    debug: DebugRule::OutsideWorkdir,
    workdir_is_narrow: false,
    reserved: &[],
};
const MANIFEST: ManifestRules = ManifestRules {
    schema: POLICY_ANNOTATION_SCHEMA,
    further_keys: &[],
    timeout_max_seconds: EVALUATION_MAX_SECONDS,
};

/// Of answer, metrics and commit marker.
const REASONS: [(Failure, &str); 3] = [
    (Failure::publish("output_publish_failed"), "output_publish_failed"),
    (Failure::extract("metrics_write_failed"), "metrics_publish_failed"),
    (Failure::extract("commit_marker_write_failed"), "commit_publish_failed"),
];

pub(super) fn run(service: &'static Service, call: &Call<'_>, line: &RunLine) -> Result<Done, Refusal> {
    let surroundings = call.surroundings;
    let admitted = call.gates.admit(line, |_, status| status == Status::Candidate)?;
    if admitted.effort == NO_EFFORT {
        return Err(Refusal::usage("effort none: thinking is required"));
    }
    let file = line.prompt_file.as_deref().ok_or_else(|| Refusal::usage("--prompt-file is missing"))?;
    let prompt = Prompt::read(file)?;
    let manifest = match line.manifest() {
        Some(path) => Some(evaluation::check(
            path,
            MANIFEST,
            call.family,
            call.gates,
            &admitted,
            &prompt,
            surroundings,
        )?),
        None => None,
    };
    let places = Places::check(line, PATHS)?;
    let endpoint = service.endpoint(surroundings)?;
    let tokens = surroundings.number("DELEGATION_MAX_TOKENS", 1..=OUTPUT_MAX_TOKENS)?;
    let seconds = surroundings.number("DELEGATION_TIMEOUT", 1..=EXCHANGE_MAX_SECONDS)?;
    let aliases = surroundings.text("DELEGATION_MODEL_ALIASES")?.unwrap_or_default();
    let key = service.key(&endpoint, surroundings)?;
    if line.preflight_only()
        && let Some(manifest) = &manifest
    {
        return Ok(printed(&manifest.preflight(&admitted)));
    }
    let (tokens, seconds) = match &manifest {
        Some(manifest) => (OUTPUT_EVALUATION_TOKENS, manifest.timeout_seconds),
        None => (tokens.unwrap_or(OUTPUT_DEFAULT_TOKENS), seconds.unwrap_or(EXCHANGE_DEFAULT_SECONDS)),
    };
    let run = Run {
        service,
        admitted,
        manifest,
        places,
        aliases: aliases
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        secrets: key.iter().map(|key| key.expose().to_owned()).collect(),
        start: Start::now(),
    };
    let body = run.body(&prompt, tokens);
    let order = run.order(endpoint, key, body, Duration::from_secs(seconds));
    match exchange(order, call.signals) {
        Exchange::Interrupted(signal) => Ok(Done::Interrupted(signal)),
        Exchange::Broken { curl_exit_code, words } => {
            let reason = if curl_exit_code == TIMED_OUT { "deadline_exceeded" } else { "transport_failure" };
            let failure = Failure::new(Exit::Temporary, Phase::Dispatch, reason);
            let seen = Seen { http_code: "000".to_owned(), curl_exit_code, response: Vec::new(), words };
            Ok(run.fail(seen, failure))
        }
        Exchange::Complete { status, body } => {
            let outcome = run.conclude(status, &body);
            let seen = Seen {
                http_code: status.to_string(),
                curl_exit_code: 0,
                response: body,
                words: String::new(),
            };
            Ok(outcome.map_or_else(|failure| run.fail(seen, failure), |()| Done::Published))
        }
    }
}

/// A run that is prepared.
struct Run {
    service: &'static Service,
    admitted: Admitted,
    manifest: Option<Manifest>,
    places: Places,
    aliases: Vec<String>,
    /// The key.
    secrets: Vec<String>,
    start: Start,
}

/// What is known of an exchange that came to nothing.
struct Seen {
    http_code: String,
    curl_exit_code: u8,
    response: Vec<u8>,
    words: String,
}

impl Run {
    fn body(&self, prompt: &Prompt, tokens: u64) -> Vec<u8> {
        let mut body = json!({
            "model": self.service.family.model,
            "messages": [{"role": "user", "content": prompt.text}],
            "max_tokens": tokens,
            "reasoning_effort": self.admitted.effort,
        });
        if self.service.thinking {
            body["thinking"] = json!({"type": "enabled"});
        }
        body.to_string().into_bytes()
    }

    fn order(&self, endpoint: Endpoint, key: Option<Key>, body: Vec<u8>, total: Duration) -> Order {
        Order {
            url: format!("{}/chat/completions", endpoint.base_url),
            key,
            body: Some(body),
            connect: Duration::from_secs(CONNECT_MAX_SECONDS),
            total,
            response_max_bytes: RESPONSE_MAX_BYTES,
            user_agent: self.service.family.program,
            is_loopback: endpoint.is_loopback,
        }
    }

    fn conclude(&self, status: u16, body: &[u8]) -> Result<(), Failure> {
        if let Some(failure) = answer::of_status(status) {
            return Err(failure);
        }
        if body.len() as u64 > RESPONSE_MAX_BYTES {
            return Err(Failure::extract("output_limit_exceeded"));
        }
        let answer = answer::read(self.service, &self.aliases, body)?;
        if self.manifest.as_ref().is_some_and(|manifest| !manifest.allows_length(&answer.text)) {
            return Err(Failure::extract("output_limit_exceeded"));
        }
        self.publish(&answer)
    }

    fn publish(&self, answer: &Answer) -> Result<(), Failure> {
        let output = format!("{}\n", answer.text).into_bytes();
        let publication = Publication {
            places: &self.places,
            output,
            metrics: self.metrics(answer),
            marked: self.manifest.as_ref(),
            metrics_first: false,
        };
        publish::answer(publication, REASONS)
    }

    fn metrics(&self, answer: &Answer) -> Map<String, Value> {
        let pin = self.service.family.model;
        let source = if answer.reported_model.is_some() { "provider-reported" } else { "requested-only" };
        let Usage { input, output, reasoning, cache_read } = &answer.usage;
        let counters =
            [("cache_read", cache_read), ("input", input), ("output", output), ("reasoning", reasoning)];
        let reported: Vec<&str> =
            counters.iter().filter(|(_, number)| number.is_some()).map(|(name, _)| *name).collect();
        let mut metrics = self.pins();
        metrics.extend(members(json!({
            "schema_version": 2,
            // An alias is the provider's word for the pin, so the pin stands here in either case.
            "model": pin,
            "requested_model": pin,
            "provider_reported_model": answer.reported_model,
            "model_identity_source": source,
            "started_at_epoch": self.start.epoch,
            "finished_at_epoch": self.start.finished_epoch(),
            "billing": self.service.billing,
            "provider_cost_usd": null,
            "tokens": {
                "input": input.unwrap_or(0),
                "output": output.unwrap_or(0),
                "reasoning": reasoning.unwrap_or(0),
                "cache_read": cache_read.unwrap_or(0),
                "cache_write": 0,
            },
            "reported_token_counters": reported,
        })));
        metrics
    }

    fn pins(&self) -> Map<String, Value> {
        members(json!({
            "model": self.service.family.model,
            "backend": self.service.family.backend(),
            "effort": self.admitted.effort,
            "lane": self.admitted.lane,
        }))
    }

    fn fail(&self, seen: Seen, failure: Failure) -> Done {
        let mut diagnostic = self.pins();
        diagnostic.extend(members(json!({
            "schema_version": 1,
            "http_code": seen.http_code,
            "curl_exit_code": seen.curl_exit_code,
            "response_bytes": seen.response.len(),
            "stderr_bytes": seen.words.len(),
            "elapsed_seconds": self.start.elapsed_seconds(),
        })));
        let account = Account {
            family: &self.service.family,
            places: &self.places,
            members: diagnostic,
            debug_member: "debug_dir",
            material: vec![("response.json", seen.response), ("stderr.txt", seen.words.into_bytes())],
            secrets: self.secrets.clone(),
            keeps_diagnostic: true,
            names_debug: false,
        };
        diagnostic::fail(account, failure)
    }
}
