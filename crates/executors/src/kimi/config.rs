//! The files that pin the vendor's program (runners.md 3.4), as Kimi Code 2.1 reads them.

use serde_json::json;

use super::lane::Lane;
use super::{EFFORT, RUNTIME_MODEL, VENDOR_MODEL};

/// `config.toml`. Hooks, services and plugins are switched off by not being there.
///
/// Both names of the retries are set: programs before 2.0 know the first alone, later ones the second.
pub(super) fn config(lane: Lane) -> String {
    let (enabled, disabled) = (json!(lane.enabled()), json!(lane.denied()));
    let steps = lane.steps();
    format!(
        r#"default_model = "{RUNTIME_MODEL}"
default_permission_mode = "auto"
default_plan_mode = false
merge_all_available_skills = false
telemetry = false

[loop_control]
max_steps_per_turn = {steps}
max_retries_per_step = 3
max_attempts_per_step = 3
max_ralph_iterations = 0
reserved_context_size = 50000

[background]
max_running_tasks = 1
keep_alive_on_exit = false
bash_task_timeout_s = 1
print_wait_ceiling_s = 1
kill_grace_period_ms = 1000

[subagent]
timeout_ms = 1

[tools]
enabled = {enabled}
disabled = {disabled}

[thinking]
enabled = true
effort = "{EFFORT}"

[providers."{PROVIDER}"]
type = "kimi"
api_key = ""
base_url = "https://api.kimi.com/coding/v1"

[providers."{PROVIDER}".oauth]
storage = "file"
key = "oauth/kimi-code"

[models."{RUNTIME_MODEL}"]
provider = "{PROVIDER}"
model = "{VENDOR_MODEL}"
max_context_size = 1048576
capabilities = ["thinking"]
support_efforts = ["low", "high", "max"]
default_effort = "{EFFORT}"
"#
    )
}

/// The vendor's name of its own service.
pub(super) const PROVIDER: &str = "managed:kimi-code";

/// `tui.toml`
pub(super) const TERMINAL: &str = "[upgrade]\nauto_install = false\n";

/// `agent.md`: the tool policy once more. Its body is the vendor's own prompt, so that the workspace's AGENTS.md applies.
pub(super) fn agent(lane: Lane) -> String {
    let (tools, denied) = (json!(lane.tools()), json!(lane.denied()));
    format!(
        "---\nname: delegation\ndescription: One bounded turn with a fixed set of tools.\ntools: {tools}\n\
         disallowedTools: {denied}\nsubagents: []\n---\n${{base_prompt}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_holds_the_policy_and_the_body_the_placeholder_alone() {
        let agent = agent(Lane::Scout);
        let mut parts = agent.split("---\n");
        assert_eq!(parts.next(), Some(""));
        let front = parts.next().expect("front matter");
        assert!(front.contains("tools: [\"Read\",\"Glob\",\"Grep\",\"TodoList\"]\n"), "{front}");
        assert!(front.contains("subagents: []"));
        assert_eq!(parts.next(), Some("${base_prompt}\n"));
    }
}
