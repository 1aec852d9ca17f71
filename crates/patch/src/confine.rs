//! Where a path may lie, by its text alone (patch-verifier.md 4.8, 8.6).

use crate::disguise;
use crate::findings::Findings;
use crate::policy::LoadedPolicy;
use crate::rule::{Rule, Stage};

/// Judges one normalized path; every finding is reported. Answers whether the rules of 4.8 allow it.
pub(crate) fn confine(path: &str, policy: &LoadedPolicy, findings: &mut Findings) -> bool {
    let mut allowed = true;
    let mut refuse = |rule: Rule| {
        findings.add_path(rule, path);
        allowed &= rule.stage() != Stage::Paths;
    };
    let bytes = path.as_bytes();
    if path.is_empty() {
        refuse(Rule::EmptyPath);
    }
    if path.len() as u64 > policy.policy.limits.max_path_bytes {
        refuse(Rule::PathTooLong);
    }
    if path.starts_with('/') {
        refuse(Rule::AbsolutePath);
    }
    if path.starts_with("//") {
        refuse(Rule::UncPath);
    }
    if bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':') {
        refuse(Rule::DrivePath);
    }
    if path.contains('\\') {
        refuse(Rule::BackslashPath);
    }
    for component in path.split('/') {
        match component {
            "" => refuse(Rule::EmptyComponent),
            "." => refuse(Rule::DotComponent),
            ".." => refuse(Rule::ParentTraversal),
            name => disguise::examine(name, &mut refuse),
        }
    }
    if !policy.classes.allows(path) {
        refuse(Rule::PathCharset);
    }
    for class in policy.classes.denied(path) {
        findings.add_denied(class, path);
        allowed = false;
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str) -> Vec<String> {
        let mut findings = Findings::default();
        let allowed = confine(path, &LoadedPolicy::embedded().unwrap(), &mut findings);
        let policy_rule = |name: &str| {
            Rule::ALL
                .iter()
                .any(|rule| rule.stage() == Stage::Paths && name.split(':').next() == Some(rule.id()))
        };
        let found: Vec<String> =
            findings.into_violations().into_iter().map(|v| v.rule.into_owned()).collect();
        assert_eq!(allowed, !found.iter().any(|name| policy_rule(name)), "{path}");
        found
    }

    #[test]
    fn each_structural_rule_and_its_neighbours() {
        let long = "x".repeat(256);
        for (path, expected) in [
            ("", &["empty_component", "empty_path", "path_charset"][..]),
            (long.as_str(), &["path_too_long"]),
            (&long[1..], &[]),
            ("/x", &["absolute_path", "empty_component", "path_charset"]),
            ("//x", &["absolute_path", "empty_component", "path_charset", "unc_path"]),
            ("c:x", &["drive_path", "path_charset"]),
            ("1:x", &["path_charset"]),
            ("x\\y", &["backslash_path", "path_charset"]),
            ("x/../y", &["parent_traversal"]),
            ("x/..y/y", &[]),
            ("x/./y", &["dot_component"]),
            ("./x", &["dot_component"]),
            ("x//y", &["empty_component"]),
            ("x/", &["empty_component"]),
            ("-x", &["path_charset"]),
            ("x/-y", &[]),
            ("na\u{ef}ve", &["path_charset"]),
            ("src/a+b@c,d=e~f^g-h_i.rs", &[]),
        ] {
            assert_eq!(rules(path), expected, "{path}");
        }
    }

    #[test]
    fn each_closed_class_and_its_neighbours() {
        for (class, inside, outside) in [
            ("git-control", &["x/.git/y", ".GIT/config"][..], &["x.git/y", ".gitx"][..]),
            ("git-metadata", &[".gitattributes", "x/.gitmodules"], &[".gitignore", ".gitmodules/x"]),
            ("git-hooks", &[".husky/x", "githooks/x", ".git-hooks"], &["husky/x", "mygithooks"]),
            (
                "ci-config",
                &[
                    ".github/workflows/x.yml",
                    ".circleci/c",
                    ".gitlab-ci.yml",
                    ".pre-commit-config.yaml",
                    "azure-pipelines.yml",
                ],
                &[".github/dependabot.yml", "gitlab-ci.yml"],
            ),
            ("dotenv", &[".env", ".env.local", "x/.env.d/y"], &[".environment", "x.env"]),
            ("direnv", &[".envrc"], &[".envrc2"]),
            (
                "shell-startup",
                &[
                    ".bashrc",
                    ".bash_profile",
                    ".bash_login",
                    ".profile",
                    ".zshrc",
                    ".zshenv",
                    ".zprofile",
                    ".zlogin",
                ],
                &["bashrc", ".bashrc/x"],
            ),
            ("ssh", &[".ssh/config"], &["ssh/config"]),
            (
                "ssh-material",
                &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519.pub", "authorized_keys", "x/known_hosts"],
                &["id_rsa.txt", "known_hosts/x"],
            ),
            (
                "private-key",
                &["x.pem", "x.key", "x.p12", "x.pfx", "x.jks", "x.keystore", "x.kdbx", "x.asc", "x.gpg"],
                &["x.pemx", "key", "x.key/y"],
            ),
            ("certificate", &["x.crt", "x.cer", "x.der", "x.csr"], &["x.crt.txt", "crt"]),
            (
                "credential-file",
                &[
                    ".netrc",
                    "netrc",
                    ".npmrc",
                    ".pypirc",
                    ".pgpass",
                    ".htpasswd",
                    ".git-credentials",
                    "x/credentials",
                ],
                &["npmrc", "xnetrc"],
            ),
            (
                "credential-name",
                &[
                    "credential.rs",
                    "my-secrets.txt",
                    "api_key.rs",
                    "apikey",
                    "access-token",
                    "refreshtoken",
                    "private-key.md",
                    "passwd",
                    "Password.java",
                ],
                &["secrets/x.rs", "accessor_tokens.rs", "pass.rs"],
            ),
            (
                "cloud-config",
                &[".aws/x", ".gcloud/x", ".azure/x", ".kube/x", ".docker/x"],
                &["docker/x", ".dockerignore"],
            ),
            (
                "provider-auth",
                &[
                    ".claude/x",
                    ".codex/x",
                    ".anthropic/x",
                    ".openai/x",
                    ".gemini/x",
                    ".antigravity/x",
                    ".qwen/x",
                    ".deepseek/x",
                    ".kimi/x",
                    ".grok/x",
                    ".zai/x",
                    ".cursor/x",
                    ".delegation/x",
                ],
                &["claude/x", ".cursorrules"],
            ),
        ] {
            let name = format!("denied_path:{class}");
            for path in inside {
                assert!(rules(path).contains(&name), "{path} is in {class}");
            }
            for path in outside {
                assert!(!rules(path).contains(&name), "{path} is not in {class}");
            }
        }
    }

    #[test]
    fn every_class_that_fits_is_reported() {
        let found = rules(".ssh/id_rsa.pem");
        assert!(
            ["denied_path:private-key", "denied_path:ssh"]
                .iter()
                .all(|name| found.contains(&(*name).to_owned()))
        );
    }
}
