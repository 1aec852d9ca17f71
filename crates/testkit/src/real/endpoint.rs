//! Files below HOME that point a CLI at another model endpoint (providers.md 11.7). They pass the environment filter.

use serde_json::json;

use super::component::Component;

/// Path below HOME and content of each file.
pub(super) fn files(component: Component, url: &str) -> Vec<(&'static str, String)> {
    match component {
        Component::Codex => vec![(".codex/config.toml", codex(url))],
        Component::Pi => {
            let models = json!({"providers": {"scripted": {"baseUrl": format!("{url}/v1"), "api": "openai-completions",
                "apiKey": "dummy", "models": [{"id": "scripted-model"}, {"id": "second-model", "reasoning": true}]}}});
            let settings = json!({"defaultProvider": "scripted", "defaultModel": "scripted-model"});
            vec![
                (".pi/agent/models.json", models.to_string()),
                (".pi/agent/settings.json", settings.to_string()),
            ]
        }
        Component::Claude => {
            let settings = json!({"env": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy",
                "ANTHROPIC_MODEL": "scripted-model", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}});
            vec![(".claude/settings.json", settings.to_string())]
        }
        Component::Opencode => {
            let limit = json!({"context": 200_000, "output": 32_000});
            let second = json!({"name": "Second", "limit": limit, "reasoning": true, "variants": {"high": {"reasoningEffort": "high"}}});
            let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
                "options": {"baseURL": format!("{url}/v1"), "apiKey": "dummy"},
                "models": {"scripted-model": {"name": "Scripted", "limit": limit}, "second-model": second}});
            let settings = json!({"autoupdate": false, "share": "disabled", "model": "scripted/scripted-model",
                "small_model": "scripted/scripted-model", "provider": {"scripted": provider}});
            vec![(".config/opencode/opencode.json", settings.to_string())]
        }
        Component::Node | Component::Pnpm | Component::Bun => Vec::new(),
    }
}

/// The model is one that codex knows: with an unknown one it offers fewer tools. Analytics would wait for a network.
fn codex(url: &str) -> String {
    format!(
        "model = \"gpt-6.2-sol\"\nmodel_provider = \"scripted\"\n\n[analytics]\nenabled = false\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
         experimental_bearer_token = \"dummy\"\n"
    )
}
