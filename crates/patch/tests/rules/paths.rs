//! Where paths may lie.

use crate::support::{add, headed};
use crate::text_rules;

fn bare(path: &str) -> String {
    headed(&format!("--- {path}\n+++ {path}\n"))
}

/// A path of `length` bytes.
fn long(length: usize) -> String {
    add(&"x".repeat(length))
}

text_rules! {
    path_too_long "path_too_long" { fires [long(256)]; silent [long(255)]; }
    absolute_path "absolute_path" { fires [add("/etc/x")]; silent [add("etc/x"), add("src//x")]; }
    unc_path "unc_path" { fires [add("//host/x")]; silent [add("/host/x"), add("src//x")]; }
    drive_path "drive_path" { fires [add("c:x"), bare("C:/x")]; silent [add("cc:x"), add("1:x")]; }
    backslash_path "backslash_path" { fires [add("src\\x")]; silent [add("src/x")]; }
    parent_traversal "parent_traversal" { fires [add("src/../x"), bare("../x"), add("..")]; silent [add("src/..x"), add("src/x..y")]; }
    dot_component "dot_component" { fires [add("./x"), add("src/./x")]; silent [add(".x"), add("src/.x/y")]; }
    empty_component "empty_component" { fires [add("src//x"), add("src/")]; silent [add("src/x")]; }
    path_charset "path_charset" { fires [add("na\u{ef}ve"), add("-x"), add("a%b"), add("a:b")]; silent [add("a-b+c@d,e=f~g^h_i.j")]; }
    denied_git_control "denied_path:git-control" { fires [add(".git/config"), add("src/.GIT/x")]; silent [add(".gitx/y"), add("src/x.git")]; }
    denied_git_metadata "denied_path:git-metadata" { fires [add(".gitattributes"), add("src/.gitModules")]; silent [add(".gitignore")]; }
    denied_git_hooks "denied_path:git-hooks" { fires [add(".husky/pre-commit"), add(".git-hooks/x"), add("githooks/x")]; silent [add("hooks/x")]; }
    denied_ci_config "denied_path:ci-config" { fires [add(".github/workflows/x.yml"), add(".gitlab-ci.yml")]; silent [add(".github/x.yml")]; }
    denied_dotenv "denied_path:dotenv" { fires [add(".env"), add("src/.env.local")]; silent [add(".environment"), add("x.env")]; }
    denied_direnv "denied_path:direnv" { fires [add(".envrc")]; silent [add(".envrc.md")]; }
    denied_shell_startup "denied_path:shell-startup" { fires [add(".bashrc"), add("home/.zshenv")]; silent [add("bashrc")]; }
    denied_ssh "denied_path:ssh" { fires [add(".ssh/config")]; silent [add("ssh/config")]; }
    denied_ssh_material "denied_path:ssh-material" { fires [add("id_rsa"), add("x/id_ed25519.pub")]; silent [add("id_rsa.md")]; }
    denied_private_key "denied_path:private-key" { fires [add("x.pem"), add("X.KEY")]; silent [add("x.pem.md"), add("keys")]; }
    denied_certificate "denied_path:certificate" { fires [add("x.crt")]; silent [add("x.crt.md")]; }
    denied_credential_file "denied_path:credential-file" { fires [add(".npmrc"), add("x/.netrc")]; silent [add("npmrc")]; }
    denied_credential_name "denied_path:credential-name" { fires [add("src/my_secrets.rs"), add("api-key.txt")]; silent [add("secrets/x.rs"), add("pass.rs")]; }
    denied_cloud_config "denied_path:cloud-config" { fires [add(".aws/config")]; silent [add("aws/config")]; }
    denied_provider_auth "denied_path:provider-auth" { fires [add(".codex/config.toml")]; silent [add("codex/config.toml")]; }
    git_control_disguise "git_control_disguise" {
        fires [add(".git./config"), add("git~1/config"), add(".gi\u{200c}t/config"), add(".git::$INDEX_ALLOCATION/x"), add(".git/x"), add("src/.Git\\x")];
        silent [add(".gitignore"), add("git/config"), add("git~x")];
    }
    git_metadata_disguise "git_metadata_disguise" {
        fires [add("gitmod~1"), add("gi7eba~1"), add("gi7d2~10"), add(".gitmodules.")];
        silent [add(".gitmodules"), add("gitmod~5"), add("gi7eba~10")];
    }
    reserved_device_name "reserved_device_name" { fires [add("aux"), add("nul.txt"), add("src/COM1")]; silent [add("auxiliary"), add("com10"), add("x.nul")]; }
    trailing_dot_component "trailing_dot_component" { fires [add(".npmrc."), add("src./x"), add("...")]; silent [add("x.y"), add("src/..")]; }
}
