//! Evaluation of a lane, bound to a manifest that both gates name (runners.md 1.8).

use std::fs;
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Component, Path};

use gates::json::{Json, Object, parse};
use record::Sha256Digest;
use serde_json::{Map, Value, json};

use super::exit::Refusal;
use super::family::Family;
use super::gate::{Admitted, Gates};
use super::limits::MANIFEST_MAX_BYTES;
use super::prompt::Prompt;
use super::surroundings::Surroundings;

mod checkout;

use checkout::Checkout;

/// Schema of the manifest of policy-annotation.
pub const POLICY_ANNOTATION_SCHEMA: &str = "delegation_policy_annotation_evaluation_v1";
const KEYS: [&str; 15] = [
    "schema",
    "profile",
    "lane",
    "model",
    "backend",
    "effort",
    "prompt_sha256",
    "contract_path",
    "contract_sha256",
    "output_schema_path",
    "output_schema_sha256",
    "runner_sha256",
    "runner_source_commit",
    "timeout_seconds",
    "max_output_chars",
];
/// Longest answer of an evaluation that a manifest may allow, in characters.
const OUTPUT_CHARACTERS: RangeInclusive<u64> = 1..=65536;

/// What an evaluation is bound to; everything in it is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// All members, also those that a family adds to the fifteen.
    pub members: Object,
    /// Digest of the manifest itself.
    pub sha256: Sha256Digest,
    /// Digest of the prompt.
    pub prompt_sha256: Sha256Digest,
    /// Digest of this program.
    pub runner_sha256: Sha256Digest,
    /// The commit that the checkout of this program is at.
    pub head: String,
    /// The commit that the manifest names, an ancestor of it or itself.
    pub source_commit: String,
    /// The wall-clock limit.
    pub timeout_seconds: u64,
    /// Longest answer, in characters.
    pub max_output_chars: u64,
}

/// What a family demands of a manifest.
#[derive(Clone, Copy, Debug)]
pub struct ManifestRules {
    /// Its schema.
    pub schema: &'static str,
    /// Keys beyond the fifteen, which the family checks itself.
    pub further_keys: &'static [&'static str],
    /// Longest wall-clock limit that it may set, in seconds.
    pub timeout_max_seconds: u64,
}

/// Checks a manifest against this run, this program and both gates.
///
/// # Errors
/// 78.
pub fn check(
    path: &Path,
    rules: ManifestRules,
    family: &Family,
    gates: &Gates,
    admitted: &Admitted,
    prompt: &Prompt,
    surroundings: &Surroundings,
) -> Result<Manifest, Refusal> {
    let refused = |why: String| Refusal::gate(format!("evaluation manifest: {why}"));
    let bytes = read(path).map_err(refused)?;
    let sha256 = Sha256Digest::of(&bytes);
    let document = parse(&bytes).map_err(|error| refused(error.to_string()))?;
    let manifest =
        Reading { members: document.as_object().ok_or_else(|| refused("no JSON object".to_owned()))? };
    manifest.keys(rules.further_keys).map_err(refused)?;
    for (key, own) in [
        ("schema", rules.schema),
        ("profile", admitted.profile.as_str()),
        ("lane", admitted.lane.as_str()),
        ("model", family.model),
        ("backend", family.backend()),
        ("effort", admitted.effort.as_str()),
    ] {
        if manifest.text(key).map_err(refused)? != own {
            return Err(refused(format!("{key} is not that of this run")));
        }
    }
    let runner_sha256 = fs::File::open(&surroundings.program)
        .and_then(Sha256Digest::of_reader)
        .map_err(|error| refused(format!("this program can not be read: {error}")))?
        .0;
    manifest.digest("prompt_sha256", prompt.sha256).map_err(refused)?;
    manifest.digest("runner_sha256", runner_sha256).map_err(refused)?;
    let checkout = Checkout::clean(&surroundings.root).map_err(refused)?;
    let source_commit = manifest.text("runner_source_commit").map_err(refused)?;
    checkout.demand_ancestor(source_commit).map_err(refused)?;
    for (path, digest) in
        [("contract_path", "contract_sha256"), ("output_schema_path", "output_schema_sha256")]
    {
        let bound = bound_file(&surroundings.root, manifest.text(path).map_err(refused)?)
            .map_err(|why| refused(format!("{path}: {why}")))?;
        manifest.digest(digest, bound).map_err(refused)?;
    }
    let timeout_seconds =
        manifest.number("timeout_seconds", 1..=rules.timeout_max_seconds).map_err(refused)?;
    let max_output_chars = manifest.number("max_output_chars", OUTPUT_CHARACTERS).map_err(refused)?;
    if !gates.allows_manifest(admitted, sha256) {
        return Err(refused("not named by both gates".to_owned()));
    }
    Ok(Manifest {
        members: manifest.members.clone(),
        sha256,
        prompt_sha256: prompt.sha256,
        runner_sha256,
        head: checkout.head,
        source_commit: source_commit.to_owned(),
        timeout_seconds,
        max_output_chars,
    })
}

struct Reading<'a> {
    members: &'a Object,
}

impl<'a> Reading<'a> {
    fn keys(&self, further: &[&str]) -> Result<(), String> {
        let known = |key: &str| KEYS.contains(&key) || further.contains(&key);
        if let Some(key) = self.members.keys().find(|key| !known(key)) {
            return Err(format!("unknown key {key}"));
        }
        match KEYS.iter().chain(further).find(|key| !self.members.contains_key(**key)) {
            Some(key) => Err(format!("{key} is missing")),
            None => Ok(()),
        }
    }

    fn text(&self, key: &str) -> Result<&'a str, String> {
        self.members.get(key).and_then(Json::as_str).ok_or_else(|| format!("{key} is no text"))
    }

    fn digest(&self, key: &str, own: Sha256Digest) -> Result<(), String> {
        let said: Sha256Digest =
            self.text(key)?.parse().map_err(|_| format!("{key} is no SHA-256 digest"))?;
        if said == own { Ok(()) } else { Err(format!("{key} is not that of the file")) }
    }

    fn number(&self, key: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
        let number = match self.members.get(key) {
            Some(Json::Number(number)) => number.as_u64(),
            _ => None,
        };
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("{key} is no whole number in {}..{}", range.start(), range.end()))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MANIFEST_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MANIFEST_MAX_BYTES {
        return Err(format!("longer than {MANIFEST_MAX_BYTES} bytes"));
    }
    Ok(bytes)
}

/// The digest of a file below the root, on the way to which there is no symbolic link.
fn bound_file(root: &Path, relative: &str) -> Result<Sha256Digest, String> {
    let plain = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
    if relative.is_empty() || !plain {
        return Err("no path below the root".to_owned());
    }
    let path = root.join(relative);
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if real != path || !real.is_file() {
        return Err("no regular file without symbolic links".to_owned());
    }
    let (digest, _) =
        fs::File::open(&real).and_then(Sha256Digest::of_reader).map_err(|error| error.to_string())?;
    Ok(digest)
}

impl Manifest {
    fn member(&self, key: &str) -> Value {
        self.members.get(key).map_or(Value::Null, |value| serde_json::to_value(value).unwrap_or_default())
    }

    /// What `--preflight-only` prints (16 keys).
    pub fn preflight(&self, admitted: &Admitted) -> Value {
        json!({
            "schema_version": "delegation_policy_annotation_preflight_receipt_v1",
            "status": "READY_NO_PROVIDER_CALL",
            "profile": admitted.profile,
            "model": self.member("model"),
            "backend": self.member("backend"),
            "effort": admitted.effort,
            "lane": admitted.lane,
            "evaluation_manifest_sha256": self.sha256.to_string(),
            "prompt_sha256": self.prompt_sha256.to_string(),
            "runner_source_commit": self.head,
            "runner_sha256": self.runner_sha256.to_string(),
            "contract_sha256": self.member("contract_sha256"),
            "output_schema_sha256": self.member("output_schema_sha256"),
            "provider_dispatch_started": false,
            "provider_attempts": 0,
            "post_observation_retries": 0,
        })
    }

    /// The member `evaluation_receipt` of the metrics (8 keys).
    pub fn attempt_receipt(&self, output: &[u8]) -> Value {
        json!({
            "schema_version": "delegation_policy_annotation_attempt_receipt_v1",
            "evaluation_manifest_sha256": self.sha256.to_string(),
            "prompt_sha256": self.prompt_sha256.to_string(),
            "runner_source_commit": self.head,
            "runner_sha256": self.runner_sha256.to_string(),
            "raw_output_sha256": Sha256Digest::of(output).to_string(),
            "provider_attempts": 1,
            "post_observation_retries": 0,
        })
    }

    /// The content of the commit marker (4 keys), published last.
    pub fn commit_marker(&self, output: &[u8], metrics: &[u8]) -> Value {
        let mut marker = Map::new();
        let digest = |bytes| Value::from(Sha256Digest::of(bytes).to_string());
        marker.insert("schema_version".into(), "delegation_policy_annotation_publication_commit_v1".into());
        marker.insert("raw_output_sha256".into(), digest(output));
        marker.insert("metrics_sha256".into(), digest(metrics));
        marker.insert("evaluation_manifest_sha256".into(), self.sha256.to_string().into());
        Value::Object(marker)
    }

    /// Whether an answer is no longer than the manifest allows.
    pub fn allows_length(&self, text: &str) -> bool {
        text.chars().count() as u64 <= self.max_output_chars
    }
}
