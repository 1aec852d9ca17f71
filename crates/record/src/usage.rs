//! What a turn used, as the provider says (predecessor-core 2.6). Absent means unknown, never zero; scopes are never summed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

/// One usage statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// What the numbers cover.
    pub scope: UsageScope,
    /// Where they come from.
    pub source: UsageSource,
    /// How far they can be relied on.
    pub reliability: UsageReliability,
    /// The model they belong to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Tokens read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output_tokens: Option<u64>,
    /// Tokens of hidden reasoning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thinking_tokens: Option<u64>,
    /// The provider's own total; never computed here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total_tokens: Option<u64>,
    /// Tokens read from a cache.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_creation_tokens: Option<u64>,
    /// Model turns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub num_turns: Option<u64>,
    /// Seconds, as decimal text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_seconds: Option<String>,
    /// US dollars, as decimal text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub estimated_cost_usd: Option<String>,
}

impl Usage {
    /// A statement without numbers.
    pub const fn new(scope: UsageScope, source: UsageSource, reliability: UsageReliability) -> Self {
        Self {
            scope,
            source,
            reliability,
            model: None,
            input_tokens: None,
            output_tokens: None,
            thinking_tokens: None,
            total_tokens: None,
            cache_read_tokens: None,
            cache_creation_tokens: None,
            num_turns: None,
            duration_seconds: None,
            estimated_cost_usd: None,
        }
    }
}

vocabulary! {
    /// What usage numbers cover.
    UsageScope {
        /// This task.
        Task = "task",
        /// The whole conversation so far.
        ConversationCumulative = "conversation-cumulative",
        /// The main agent without its helpers.
        MainAgent = "main-agent",
        /// The main agent and its helpers.
        WholeTree = "whole-tree",
        /// Not known.
        Unknown = "unknown",
    }
}

vocabulary! {
    /// Where usage numbers come from.
    UsageSource {
        /// The one object that the CLI prints.
        ProviderEnvelope = "provider-envelope",
        /// An event of its stream.
        ProviderEvent = "provider-event",
    }
}

vocabulary! {
    /// How far usage numbers can be relied on.
    UsageReliability {
        /// From a committed turn.
        Reported = "reported",
        /// From a rejected turn.
        Unreliable = "unreliable",
        /// Not known.
        Unknown = "unknown",
    }
}
