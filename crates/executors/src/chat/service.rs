//! What is pinned for each of the two services (runners.md 5.1), and where it is reached.

use crate::common::exit::{Exit, Refusal};
use crate::common::family::{EVALUATION_MANIFEST, Family, PREFLIGHT_ONLY};
use crate::common::key::{self, Key, KeySource};
use crate::common::loopback::is_loopback;
use crate::common::surroundings::Surroundings;

/// A chat-completions service of one model.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The runner.
    pub family: Family,
    /// Where the key lies.
    pub key: KeySource,
    /// What a key of the right plan begins with: another would be billed.
    pub key_prefix: &'static str,
    /// The URL that `/chat/completions` and `/models` follow.
    pub base_url: &'static str,
    /// Variable that names another base URL, on loopback only.
    pub base_url_variable: &'static str,
    /// Whether thinking is asked for by a field of its own.
    pub thinking: bool,
    /// Who pays, as metrics say it.
    pub billing: &'static str,
    /// Whether the provider counts reasoning and cached tokens.
    pub counts_details: bool,
    /// The snapshot that a later gate may pin.
    pub next_snapshot: Option<&'static str>,
}

const LANES: &[&str] = &["builder", "clerk", "scout", "reviewer", "senior", "judgement", "policy-annotation"];
const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const USAGE: &str = "\
  --evaluation-manifest FILE   what an evaluation is bound to
  --preflight-only      check an evaluation and send nothing
";

/// Effort that no gate may pin: thinking is required.
pub(super) const NO_EFFORT: &str = "none";

const fn family(gate: gates::family::Family, program: &'static str, model: &'static str) -> Family {
    Family {
        gate,
        program,
        model,
        lanes: LANES,
        unknown_lane: Exit::Refused,
        efforts: EFFORTS,
        flags: &[EVALUATION_MANIFEST, PREFLIGHT_ONLY],
        commands: &[],
        gates_first: None,
        usage: USAGE,
    }
}

/// Qwen.
pub static QWEN: Service = Service {
    family: family(gates::family::QWEN, "delegation-qwen", "qwen3.8-max"),
    key: KeySource {
        variable: "QWEN_TOKEN_PLAN_API_KEY",
        file_variable: "DELEGATION_QWEN_KEY_FILE",
        file_name: "qwen-token-plan.env",
    },
    key_prefix: "sk-sp-",
    base_url: "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1",
    base_url_variable: "DELEGATION_QWEN_BASE_URL",
    thinking: false,
    billing: "credits",
    counts_details: false,
    next_snapshot: Some("qwen3.8-max-0902"),
};

/// DeepSeek.
pub static DEEPSEEK: Service = Service {
    family: family(gates::family::DEEPSEEK, "delegation-deepseek", "deepseek-v4-pro"),
    key: KeySource {
        variable: "DEEPSEEK_API_KEY",
        file_variable: "DELEGATION_DEEPSEEK_KEY_FILE",
        file_name: "deepseek.env",
    },
    key_prefix: "",
    base_url: "https://api.deepseek.com/v1",
    base_url_variable: "DELEGATION_DEEPSEEK_BASE_URL",
    thinking: true,
    billing: "api",
    counts_details: true,
    next_snapshot: None,
};

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) base_url: String,
    pub(super) is_loopback: bool,
}

impl Service {
    /// The service itself, or the server on loopback that the user named.
    ///
    /// # Errors
    /// 64: the user named anything else.
    pub(super) fn endpoint(&self, surroundings: &Surroundings) -> Result<Endpoint, Refusal> {
        match surroundings.text(self.base_url_variable)? {
            None => Ok(Endpoint { base_url: self.base_url.to_owned(), is_loopback: false }),
            Some(url) if is_loopback(&url) => {
                Ok(Endpoint { base_url: url.trim_end_matches('/').to_owned(), is_loopback: true })
            }
            Some(_) => Err(Refusal::usage(format!(
                "{} must be a plain http URL on loopback",
                self.base_url_variable
            ))),
        }
    }

    /// The key; nothing only for a server on loopback that needs none (`AUTH_OPTIONAL=1`).
    ///
    /// # Errors
    /// 69: there is none, or it is one of another plan. 64: it holds what no key holds.
    pub(super) fn key(
        &self,
        endpoint: &Endpoint,
        surroundings: &Surroundings,
    ) -> Result<Option<Key>, Refusal> {
        let optional =
            endpoint.is_loopback && surroundings.variable("AUTH_OPTIONAL").is_some_and(|value| value == "1");
        let key = match key::find(self.key, surroundings) {
            Ok(key) => key,
            Err(refusal) if optional && refusal.exit == Exit::Unavailable => return Ok(None),
            Err(refusal) => return Err(refusal),
        };
        if !key.expose().starts_with(self.key_prefix) {
            let message = format!("{} does not begin with {}", self.key.variable, self.key_prefix);
            return Err(Refusal::login(message));
        }
        Ok(Some(key))
    }
}
