//! Profiles in words.

use record::capability::{Capability, Description};
use record::models::ModelCatalogue;
use record::words::ContinuationMode;

use super::block::Block;
use super::safe;

/// What `providers` prints.
pub(crate) fn providers(descriptions: &[Description]) -> String {
    let blocks: Vec<String> = descriptions.iter().map(description).collect();
    blocks.join("\n")
}

fn description(description: &Description) -> String {
    let mut block = Block::default();
    block.line("profile", description.id.as_str());
    let program = description.runtime.executable.as_deref();
    block.line("program", program.unwrap_or("built in"));
    block.line("modes", &list(&description.supported_modes, "none"));
    block.line("options", &list(&description.supported_options, "none"));
    block.line("continues", continuation(description.continuation));
    if description.read_only.supported {
        let mechanism = description.read_only.mechanism;
        let fence = description.read_only.containment;
        block.line("read-only", &format!("by {mechanism}; fence {fence}"));
    }
    block.into_text()
}

/// What `capabilities` prints.
pub(crate) fn capability(capability: &Capability) -> String {
    let mut block = Block::default();
    block.line("profile", capability.provider.as_str());
    let (status, reason) = (capability.status, capability.reason_code);
    block.line("status", &format!("{status} ({reason})"));
    block.line("known by", capability.verification.as_str());
    block.line("continues", continuation(capability.continuation));
    if let Some(version) = &capability.version {
        block.line("version", &safe::one_line(version));
    }
    if let Some(digest) = capability.executable_sha256 {
        block.line("sha256", &digest.to_string());
    }
    if !capability.required_flags.is_empty() {
        block.line("needs", &capability.required_flags.join(" "));
    }
    if !capability.fence_limits.is_empty() {
        block.line("fence", &capability.fence_limits.join("\n"));
    }
    block.into_text()
}

/// What `models` prints.
pub(crate) fn models(catalogue: &ModelCatalogue) -> String {
    let mut block = Block::default();
    block.line("status", &format!("{} ({})", catalogue.status, safe::one_line(&catalogue.reason_code)));
    block.line("source", &safe::one_line(&catalogue.source));
    for model in &catalogue.models {
        let efforts = match &model.efforts {
            Some(efforts) if !efforts.is_empty() => format!("  efforts: {}", efforts.join(", ")),
            _ => String::new(),
        };
        block.line("model", &safe::one_line(&format!("{}{efforts}", model.id)));
    }
    if let Some(efforts) = &catalogue.efforts {
        block.line("efforts", &safe::one_line(&efforts.join(", ")));
    }
    block.into_text()
}

const fn continuation(mode: ContinuationMode) -> &'static str {
    match mode {
        ContinuationMode::Native => "by its own conversation id",
        ContinuationMode::Unsupported => "no",
    }
}

fn list<T: ToString>(words: &[T], nothing: &str) -> String {
    if words.is_empty() {
        return nothing.to_owned();
    }
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::capability::{ReadOnlyDescription, RuntimeDescription};
    use record::words::{Fence, Permission, ProfileOption, ReadOnlyMechanism};

    #[test]
    fn a_profile() {
        let profile = Description {
            id: "codex:exec".parse().unwrap(),
            supported_modes: vec![Permission::ReadOnly, Permission::WorkspaceWrite],
            supported_options: vec![ProfileOption::Effort, ProfileOption::Model],
            continuation: ContinuationMode::Native,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: ReadOnlyMechanism::NativeSandbox,
                containment: Fence::Theirs,
            },
            runtime: RuntimeDescription {
                executable: Some("codex".to_owned()),
                help_args: vec!["exec".to_owned()],
                required_flags: Vec::new(),
            },
        };
        assert_eq!(
            providers(&[profile]),
            "\
profile     codex:exec
program     codex
modes       read-only, workspace-write
options     effort, model
continues   by its own conversation id
read-only   by native-sandbox; fence theirs
"
        );
    }
}
