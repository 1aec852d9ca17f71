//! The child's environment: rebuilt from an allow-list, everything else is dropped (providers.md 1.7, STATE.md 8).

use std::collections::BTreeMap;

use record::AbsolutePath;
use record::request::Request;

use crate::error::PlanError;
use crate::host::Host;
use crate::roots::TEMPORARY_NAMES;

/// Handed on to every program, when set.
pub(crate) const BASE_NAMES: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "__CF_USER_TEXT_ENCODING",
];
/// Where desktop conventions put configuration, data and caches.
pub(crate) const DESKTOP_NAMES: &[&str] = &[
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];
/// Where build tools that a model runs keep their caches.
pub(crate) const CACHE_NAMES: &[&str] =
    &["GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "GRADLE_USER_HOME", "NPM_CONFIG_CACHE", "GOPATH"];
/// Marks every process of the turn, so that the sweep can find them (STATE.md 6).
const COOKIE_NAME: &str = "DELEGATION_COOKIE";

/// An environment under construction.
#[derive(Debug)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Takes the listed variables from the host, and adds what every child gets.
    pub(crate) fn build(names: &[&str], request: &Request, host: &dyn Host) -> Result<Self, PlanError> {
        let mut variables = BTreeMap::new();
        for name in names {
            let Some(value) = host.variable(name) else { continue };
            if looks_like_credential(name) {
                return Err(PlanError::CredentialInEnvironment { name: (*name).to_owned() });
            }
            if value.contains('\0') {
                return Err(PlanError::Environment { name: (*name).to_owned(), why: "it holds a NUL" });
            }
            variables.insert((*name).to_owned(), value);
        }
        // A CLI with an expired login must fail, not open a browser that nobody looks at.
        variables.insert("BROWSER".to_owned(), "false".to_owned());
        variables.insert(COOKIE_NAME.to_owned(), request.cookie());
        Ok(Self(variables))
    }

    /// The value of a variable, if it is handed on.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Replaces the value of a variable.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), value);
    }

    /// Makes every name for a temporary directory mean that one.
    pub(crate) fn use_temporary(&mut self, directory: &AbsolutePath) {
        for name in TEMPORARY_NAMES {
            self.set(name, directory.to_string());
        }
    }

    /// `NAME=VALUE`, sorted by name.
    pub(crate) fn into_list(self) -> Vec<String> {
        self.0.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// Whether the name of a variable says that its value is, or holds, a credential (STATE.md 8). A name that is refused for
/// nothing is told to its user; a key that passes is told to nobody. So parts of a name are enough, with the exceptions that
/// ordinary names need.
pub fn looks_like_credential(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // Our own settings are paths, modes and numbers.
    if name.starts_with(OWN_PREFIX) || ["PWD", "OLDPWD"].contains(&name.as_str()) {
        return false;
    }
    let parts = || name.split('_').map(|part| part.trim_end_matches(|last: char| last.is_ascii_digit()));
    let counts_tokens = parts().any(|part| ["MAX", "MIN", "COUNT"].contains(&part));
    parts().any(|part| {
        let ends = |words: &[&str]| words.iter().any(|word| part.ends_with(word));
        let holds = |words: &[&str]| words.iter().any(|word| part.contains(word));
        CREDENTIAL_PARTS.contains(&part)
            || holds(CREDENTIAL_WORDS)
            || (ends(&["KEY", "KEYS"]) && !ends(ORDINARY_KEYS))
            || ends(&["TOKEN"])
            || (ends(&["TOKENS"]) && !counts_tokens)
            || (holds(&["AUTH"]) && !["AUTHOR", "AUTHORS"].contains(&part))
    })
}

/// What the names of our own settings begin with.
const OWN_PREFIX: &str = "DELEGATION_";
/// Credentials wherever a part of a name holds one of them.
const CREDENTIAL_WORDS: &[&str] = &["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE"];
/// Credentials where a part of a name is one of them. Headers carry keys.
const CREDENTIAL_PARTS: &[&str] =
    &["BEARER", "CREDS", "HEADER", "HEADERS", "JWT", "PASS", "PAT", "PWD", "SSHPASS"];
/// English words that end like a key.
const ORDINARY_KEYS: &[&str] = &["DONKEY", "HOCKEY", "JOCKEY", "MONKEY", "MONKEYS", "TURKEY", "WHISKEY"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_by_name() {
        for name in [
            "OPENAI_API_KEY",
            "OPENAI_API_KEYS",
            "API_KEY_2",
            "API_KEY2",
            "APIKEY",
            "XAIKEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "GH_TOKEN",
            "gitlab_token",
            "GITHUBTOKEN",
            "BOT_TOKENS",
            "CLIENTSECRET",
            "CLIENT_SECRETS",
            "PASSWORD",
            "DB_PASSWORD1",
            "PGPASSWORD",
            "ROOT_PASSWD",
            "SMTP_PASS",
            "SSHPASS",
            "MYSQL_PWD",
            "GPG_PASSPHRASE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AWS_CREDENTIAL_FILE",
            "DB_CREDS",
            "ANTHROPIC_CUSTOM_HEADERS",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "HTTP_AUTHORIZATION",
            "AUTHORISATION",
            "NPM_CONFIG__AUTH",
            "X_AUTH",
            "OAUTH_CLIENT",
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "SESSION_COOKIE",
            "GITHUB_PAT",
            "SUPABASE_JWT",
        ] {
            assert!(looks_like_credential(name), "{name}");
        }
        for name in BASE_NAMES.iter().chain(DESKTOP_NAMES).chain(CACHE_NAMES).chain(&[
            "KEYBOARD",
            "XKB_KEYMAP",
            "MONKEY",
            "GREASEMONKEY",
            "TURKEY_TZ",
            "PWD",
            "OLDPWD",
            "PATH",
            "PATCH",
            "COMPASS",
            "BYPASS_CACHE",
            "TOKENIZERS_PARALLELISM",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "MAX_THINKING_TOKENS",
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "AUTHORS",
            "SESSION_MANAGER",
            "CODEX_HOME",
            "RUST_LOG",
            "HTTPS_PROXY",
            "CLAUDE_CODE_MAX_RETRIES",
            "DELEGATION_KIMI_OAUTH_MODE",
            "DELEGATION_MAX_TOKENS",
            COOKIE_NAME,
        ]) {
            assert!(!looks_like_credential(name), "{name}");
        }
    }

    #[test]
    fn nothing_that_a_profile_lets_pass_is_refused_for_its_name() {
        for profile in crate::catalogue().all() {
            for name in profile.environment_names() {
                assert!(!looks_like_credential(name), "{name}");
            }
        }
    }
}
