//! Judging a run by the files that the runner published, all of them or none (runners.md 1.6, 1.7).

use std::io::{self, Read, Write};

use record::Timestamp;
use record::json::{LineReader, Object, Value};
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};
use record::words::ReasonCode;

use super::{ANSWER, DIAGNOSTIC, METRICS, reason, refusal};
use crate::classify::later;
use crate::judge::{Artifacts, Evidence, Finding, Judge, Judgement, conclude};
use crate::limits::{ANSWER_MAX_BYTES, RUNNER_ENVELOPE_MAX_BYTES, USAGE_MODEL_NAME_MAX_BYTES};
use crate::number::decimal_text;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
family runner, revision 1
The runner leaves answer.txt and answer.txt.metrics.json, or answer.txt.error.json, or nothing. Metrics and diagnostic are JSON
objects with unique keys. What is on standard output is no part of the verdict.
Order: an answer or metrics beside a diagnostic are output-conflict; a diagnostic is the runner's error, classed by its
reason, with the time until which a quota lasts where it names one; an answer without metrics, or metrics without an answer,
are incomplete-output; an answer that is not UTF-8 or longer than 64 MiB, and metrics that are no such object, are
invalid-output; a blank answer is empty-output; else the answer, to the byte, is the answer. Nothing at all is the runner's
refusal where standard error has words, else incomplete-output. The last line of it is the runner's own. A refusal with exit code
69 is authentication-required where its sentence begins with the word login and a colon, fence-unavailable with sandbox, else
start-failed; with 75 it is rate-limited, with 130 interrupted; else provider-failed.
";

impl Judge for Revision1 {
    fn revision(&self) -> u32 {
        1
    }

    fn rules(&self) -> &'static str {
        RULES
    }

    fn judge(&self, evidence: Evidence<'_>, answer: &mut dyn Write) -> io::Result<Judgement> {
        let left = Left::read(evidence.artifact)?;
        let errors = StandardError::read(evidence.stderr, "")?;
        let mut reader = LineReader::default();
        let metrics = left.metrics.as_deref().and_then(|bytes| object(&mut reader, bytes));
        let has_metrics = metrics.is_some();
        let usage = metrics.and_then(usage);
        let text = left.answer.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        let refusal = errors.last_line.map(|line| (refusal::class(evidence.exit_code, &line), line));
        let finding = left.finding(text, has_metrics, refusal);
        let judgement =
            Judgement { finding, session: None, usage: usage.into_iter().collect(), notes: Vec::new() };
        conclude(judgement, evidence.cut, text.unwrap_or_default(), answer)
    }
}

/// The bytes as one JSON object, where they are one.
fn object<'a>(reader: &'a mut LineReader, bytes: &'a [u8]) -> Option<Object<'a>> {
    if bytes.len() > RUNNER_ENVELOPE_MAX_BYTES {
        return None;
    }
    reader.read(bytes).ok()
}

/// What the runner left.
struct Left {
    answer: Option<Vec<u8>>,
    metrics: Option<Vec<u8>>,
    diagnostic: Option<Vec<u8>>,
}

impl Left {
    fn read(artifacts: &mut Artifacts<'_>) -> io::Result<Self> {
        let mut bytes = |name: &str, max: usize| -> io::Result<Option<Vec<u8>>> {
            let Some(artifact) = artifacts(name)? else { return Ok(None) };
            let mut bytes = Vec::new();
            artifact.take(max as u64 + 1).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        let answer = bytes(ANSWER, ANSWER_MAX_BYTES)?;
        let metrics = bytes(METRICS, RUNNER_ENVELOPE_MAX_BYTES)?;
        let diagnostic = bytes(DIAGNOSTIC, RUNNER_ENVELOPE_MAX_BYTES)?;
        Ok(Self { answer, metrics, diagnostic })
    }

    fn finding(
        &self,
        text: Option<&str>,
        has_metrics: bool,
        refusal: Option<(ReasonCode, String)>,
    ) -> Finding {
        let Self { answer, metrics, diagnostic } = self;
        let published = answer.is_some() || metrics.is_some();
        let defect = Finding::defect;
        match (answer, metrics, diagnostic) {
            (_, _, Some(_)) if published => {
                defect(ReasonCode::OutputConflict, "The runner left both an answer and a diagnostic.")
            }
            (_, _, Some(diagnostic)) => of_diagnostic(diagnostic),
            (None, None, None) => match refusal {
                Some((code, line)) => Finding::ProviderError { code, message: Some(line), retry_at: None },
                None => defect(
                    ReasonCode::IncompleteOutput,
                    "The runner left neither an answer nor a diagnostic.",
                ),
            },
            (Some(_), None, None) | (None, Some(_), None) => {
                defect(ReasonCode::IncompleteOutput, "The runner left only one of answer and metrics.")
            }
            (Some(answer), Some(_), None) => {
                if !has_metrics {
                    defect(
                        ReasonCode::InvalidOutput,
                        "The metrics are no JSON object of an unambiguous form.",
                    )
                } else if answer.len() > ANSWER_MAX_BYTES {
                    defect(ReasonCode::InvalidOutput, "The answer is longer than 64 MiB.")
                } else {
                    match text {
                        None => defect(ReasonCode::InvalidOutput, "The answer is not UTF-8."),
                        Some(text) if text.trim().is_empty() => {
                            defect(ReasonCode::EmptyOutput, "The runner published a blank answer.")
                        }
                        Some(_) => Finding::Success,
                    }
                }
            }
        }
    }
}

fn of_diagnostic(diagnostic: &[u8]) -> Finding {
    let mut reader = LineReader::default();
    let words = object(&mut reader, diagnostic)
        .and_then(|fields| Some((fields, fields.text("phase")?, fields.text("reason")?)));
    let Some((fields, phase, slug)) = words.filter(|(_, phase, slug)| is_slug(phase) && is_slug(slug)) else {
        return Finding::defect(ReasonCode::InvalidOutput, "The diagnostic names no phase and reason.");
    };
    Finding::ProviderError {
        code: reason::class(slug),
        message: Some(format!("{slug} (phase {phase})")),
        retry_at: fields.get("next_flush_time").and_then(Value::as_u64).and_then(of_epoch),
    }
}

/// Short lower-case words: the diagnostic has no free text, so none is recorded from it.
fn is_slug(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&word.len()) && word.bytes().all(plain)
}

fn of_epoch(seconds: u64) -> Option<Timestamp> {
    later(seconds.checked_mul(1000)?, 0)
}

/// The counters that the provider sent; where the runner lists them, a zero of its own is none (runners.md 5.4).
fn usage(metrics: Object<'_>) -> Option<Usage> {
    if metrics.get("usage_reported").and_then(Value::as_bool) == Some(false) {
        return None;
    }
    let tokens = metrics.get("tokens")?.as_object()?;
    let reported: Option<Vec<&str>> = metrics
        .get("reported_token_counters")
        .and_then(Value::as_array)
        .map(|names| names.filter_map(Value::as_str).collect());
    let count = |name: &str| {
        let is_reported = reported.as_ref().is_none_or(|names| names.contains(&name));
        tokens.get(name).filter(|_| is_reported)?.as_u64()
    };
    let model = metrics.text("model").filter(|model| (1..=USAGE_MODEL_NAME_MAX_BYTES).contains(&model.len()));
    Some(Usage {
        model: model.map(str::to_owned),
        input_tokens: count("input"),
        output_tokens: count("output"),
        thinking_tokens: count("reasoning"),
        total_tokens: count("total"),
        cache_read_tokens: count("cache_read"),
        cache_creation_tokens: count("cache_write"),
        estimated_cost_usd: metrics.get("provider_cost_usd").and_then(decimal_text),
        ..Usage::new(UsageScope::Task, UsageSource::ProviderEnvelope, UsageReliability::Reported)
    })
}
