//! Checks of a request that every profile shares (providers.md 1.2, 3.1, 5.1).

use record::capability::Description;
use record::limits::OPTION_TEXT_MAX_BYTES;
use record::request::Request;
use record::words::{Fence, ProfileOption};

use crate::error::PlanError;

/// The options of a request after the checks. An effort that adds nothing to the arguments is absent.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    pub(crate) model: Option<&'a str>,
    pub(crate) effort: Option<&'a str>,
    pub(crate) conversation: Option<&'a str>,
    pub(crate) fence: Fence,
}

/// What a profile offers, where its description does not tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) description: &'a Description,
    /// The fences that it can run with.
    pub(crate) fences: &'a [Fence],
    /// What a mode that is not offered would need.
    pub(crate) modes_note: &'static str,
    /// The secret variables that an environment file may set.
    pub(crate) secret_names: &'a [&'a str],
    /// The shape of its conversation ids; a word such as `--last` has another (providers.md 1.13).
    pub(crate) is_conversation: fn(&str) -> bool,
}

/// Checks mode, options, fence and environment file against what the profile offers.
pub(crate) fn check<'a>(offer: Offer<'_>, request: &'a Request) -> Result<Options<'a>, PlanError> {
    let Offer { description, fences, modes_note, secret_names, is_conversation } = offer;
    let profile = &description.id;
    let config = &request.requested_config;
    if !description.supported_modes.contains(&config.permission) {
        return Err(PlanError::UnsupportedMode {
            profile: profile.clone(),
            mode: config.permission,
            why: modes_note,
        });
    }
    let options = Options {
        model: config.model.as_deref(),
        effort: config.effort.as_deref().filter(|effort| !matches!(*effort, "" | "default")),
        conversation: request.prior_session.as_ref().map(|prior| prior.conversation_id.as_str()),
        fence: request.fence.unwrap_or(description.read_only.containment),
    };
    let used = [
        (ProfileOption::Continuation, options.conversation.is_some()),
        (ProfileOption::Effort, options.effort.is_some()),
        (ProfileOption::Model, options.model.is_some()),
        (ProfileOption::NativeTimeout, config.native_timeout.is_some()),
    ];
    for (option, used) in used {
        if used && !description.supported_options.contains(&option) {
            return Err(PlanError::UnsupportedOption { profile: profile.clone(), option });
        }
    }
    if !fences.contains(&options.fence) {
        let why = match options.fence {
            Fence::Ours => "the program can not start inside our write fence",
            Fence::Theirs => "the program brings no fence of its own",
            Fence::None => "the program is never run without a fence",
        };
        return Err(PlanError::FenceUnavailable { profile: profile.clone(), fence: options.fence, why });
    }
    if request.environment_file.is_some() && secret_names.is_empty() {
        return Err(PlanError::EnvironmentFile { profile: profile.clone() });
    }
    for (option, text) in [(ProfileOption::Model, options.model), (ProfileOption::Effort, options.effort)] {
        if let Some(text) = text {
            check_text(option, text)?;
        }
    }
    if let Some(prior) = &request.prior_session {
        let why = if prior.provider != *profile {
            "it belongs to another provider"
        } else if !is_conversation(&prior.conversation_id) {
            "its id has not the shape of this provider's"
        } else {
            return Ok(options);
        };
        return Err(PlanError::InvalidOption { option: ProfileOption::Continuation, why: why.to_owned() });
    }
    Ok(options)
}

/// A model or effort name goes into the arguments: it must be one plain word or phrase that can not be taken for a flag.
fn check_text(option: ProfileOption, text: &str) -> Result<(), PlanError> {
    let why = if text.is_empty() {
        "it is empty"
    } else if text.len() > OPTION_TEXT_MAX_BYTES {
        "it is too long"
    } else if text.trim() != text {
        "it begins or ends with white space"
    } else if text.chars().any(char::is_control) {
        "it holds a control character"
    } else if text.starts_with('-') {
        "it begins with a dash"
    } else {
        return Ok(());
    };
    Err(PlanError::InvalidOption { option, why: why.to_owned() })
}

/// The shape of most conversation ids.
pub(crate) fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(position, byte)| match position {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uuids() {
        assert!(is_uuid("01a22bc4-35fe-76d2-9b19-eb939069cedd"));
        for wrong in [
            "",
            "--last",
            "latest",
            "01a22bc435fe76d29b19eb939069cedd",
            "01a22bc4-35fe-76d2-9b19-eb939069cedg",
        ] {
            assert!(!is_uuid(wrong), "{wrong}");
        }
    }

    #[test]
    fn option_texts() {
        for right in ["gpt-6", "provider/model:high", "a b", "é"] {
            assert!(check_text(ProfileOption::Model, right).is_ok(), "{right}");
        }
        for wrong in ["", " a", "a\n", "a\u{1b}b", "a\u{85}b", "-x", "--yolo", &"x".repeat(1025)] {
            assert!(check_text(ProfileOption::Model, wrong).is_err(), "{wrong:?}");
        }
    }
}
