//! What each lane may do (runners.md 3.4): tools, steps, and whether the workspace may be written.

/// A lane that has a tool policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Clerk,
    Scout,
    Builder,
    FrontendBuilder,
    PolicyAnnotation,
}

/// Every tool that reads files or keeps notes: what a lane may have at all.
const FILE_TOOLS: &[&str] = &["Read", "Glob", "Grep", "TodoList", "Write", "Edit", "ReadMediaFile"];
/// Denied in every lane.
const DENIED: &[&str] = &[
    "Bash",
    "WebSearch",
    "FetchURL",
    "EnterPlanMode",
    "ExitPlanMode",
    "Agent",
    "AgentSwarm",
    "AskUserQuestion",
    "Skill",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "CronCreate",
    "CronList",
    "CronDelete",
    "mcp__*",
];

impl Lane {
    /// The lane of that name; nothing for one without a tool policy, which is never run.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "clerk" => Some(Self::Clerk),
            "scout" => Some(Self::Scout),
            "builder" => Some(Self::Builder),
            "frontend-builder" => Some(Self::FrontendBuilder),
            "policy-annotation" => Some(Self::PolicyAnnotation),
            _ => None,
        }
    }

    /// The tools of the lane.
    pub(super) const fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Clerk | Self::Scout => &["Read", "Glob", "Grep", "TodoList"],
            Self::Builder => &["Read", "Glob", "Grep", "TodoList", "Write", "Edit"],
            Self::FrontendBuilder => FILE_TOOLS,
            Self::PolicyAnnotation => &[],
        }
    }

    /// What the vendor's global policy enables. An empty list would limit nothing, so a lane without tools enables the file
    /// tools here and denies each of them.
    pub(super) const fn enabled(self) -> &'static [&'static str] {
        if self.tools().is_empty() { FILE_TOOLS } else { self.tools() }
    }

    /// What is denied: what no lane has, and the file tools that this one has not.
    pub(super) fn denied(self) -> Vec<&'static str> {
        let missing = FILE_TOOLS.iter().filter(|tool| !self.tools().contains(tool));
        DENIED.iter().chain(missing).copied().collect()
    }

    /// Most steps of one turn.
    pub(super) const fn steps(self) -> u32 {
        match self {
            Self::Clerk | Self::PolicyAnnotation => 30,
            Self::Scout => 40,
            Self::Builder | Self::FrontendBuilder => 60,
        }
    }

    /// Whether the workspace may be written.
    pub(super) const fn edits(self) -> bool {
        matches!(self, Self::Builder | Self::FrontendBuilder)
    }

    /// Where the lane may write, as metrics and diagnostics say it.
    pub(super) const fn write_scope(self) -> &'static str {
        if self.edits() { "workdir" } else { "scratch" }
    }
}

/// A tool's name as it may be repeated: only names of the vendor's own tools, since the model chooses what it calls.
pub(super) fn known_tool(name: &str) -> &'static str {
    FILE_TOOLS.iter().chain(DENIED).find(|tool| **tool == name).copied().unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_without_tools_denies_all_that_it_has_to_enable() {
        let lane = Lane::PolicyAnnotation;
        assert!(!lane.enabled().is_empty());
        assert!(lane.enabled().iter().all(|tool| lane.denied().contains(tool)));
    }

    #[test]
    fn no_lane_denies_its_own_tools() {
        for lane in [Lane::Clerk, Lane::Scout, Lane::Builder, Lane::FrontendBuilder] {
            assert_eq!(lane.enabled(), lane.tools());
            assert!(lane.tools().iter().all(|tool| !lane.denied().contains(tool)));
            assert!(
                ["Bash", "WebSearch", "Agent", "Skill", "mcp__*"]
                    .iter()
                    .all(|tool| lane.denied().contains(tool))
            );
        }
    }

    #[test]
    fn no_foreign_name_is_repeated() {
        assert_eq!(known_tool("Grep"), "Grep");
        assert_eq!(known_tool("sk-0123456789abcdef"), "other");
    }
}
