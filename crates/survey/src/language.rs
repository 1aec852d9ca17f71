//! Which language a file is written in, told by its name.

use std::path::Path;

/// The row of files whose name says nothing.
pub(crate) const OTHER: &str = "Other text";

/// Files that tools write and nobody reads: they would drown the real languages.
pub(crate) const LOCK_FILE: &str = "Lock file";

/// Languages that say what a project is made of, not how it is described or configured.
pub(crate) fn is_programming(language: &str) -> bool {
    !matches!(
        language,
        OTHER
            | LOCK_FILE
            | "AsciiDoc"
            | "CSV"
            | "INI"
            | "JSON"
            | "Markdown"
            | "Patch"
            | "Plain text"
            | "reStructuredText"
            | "SVG"
            | "TeX"
            | "TOML"
            | "XML"
            | "YAML"
    )
}

/// The language of a file. Never fails: an unknown name is [`OTHER`].
pub(crate) fn of(path: &Path) -> &'static str {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return OTHER;
    };
    by_name(name)
        .or_else(|| {
            let (stem, extension) = name.rsplit_once('.')?;
            if stem.is_empty() {
                return None;
            }
            by_extension(&extension.to_ascii_lowercase())
        })
        .unwrap_or(OTHER)
}

fn by_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "Cargo.lock"
        | "package-lock.json"
        | "npm-shrinkwrap.json"
        | "pnpm-lock.yaml"
        | "yarn.lock"
        | "bun.lock"
        | "bun.lockb"
        | "poetry.lock"
        | "uv.lock"
        | "Pipfile.lock"
        | "pdm.lock"
        | "composer.lock"
        | "Gemfile.lock"
        | "go.sum"
        | "flake.lock"
        | "mix.lock"
        | "deno.lock"
        | "pubspec.lock"
        | "Package.resolved" => LOCK_FILE,
        "Makefile" | "makefile" | "GNUmakefile" => "Makefile",
        "justfile" | "Justfile" | ".justfile" => "Just",
        "Dockerfile" | "Containerfile" => "Dockerfile",
        "CMakeLists.txt" => "CMake",
        "meson.build" | "meson_options.txt" => "Meson",
        "BUILD" | "WORKSPACE" | "BUILD.bazel" | "MODULE.bazel" => "Starlark",
        "Gemfile" | "Rakefile" | "Vagrantfile" => "Ruby",
        "Jenkinsfile" => "Groovy",
        ".gitignore" | ".gitattributes" | ".gitmodules" | ".editorconfig" | ".npmrc" => "INI",
        "LICENSE" | "COPYING" | "NOTICE" | "README" | "AUTHORS" | "CHANGELOG" => "Plain text",
        ".bashrc" | ".profile" | ".zshrc" => "Shell",
        _ if name.starts_with("Dockerfile.") => "Dockerfile",
        _ => return None,
    })
}

fn by_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "adb" | "ads" => "Ada",
        "s" | "asm" => "Assembly",
        "adoc" | "asciidoc" => "AsciiDoc",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "ipp" => "C++",
        "cs" => "C#",
        "clj" | "cljs" | "cljc" | "edn" => "Clojure",
        "cmake" => "CMake",
        "css" | "scss" | "sass" | "less" => "CSS",
        "csv" | "tsv" => "CSV",
        "cu" | "cuh" => "CUDA",
        "d" => "D",
        "dart" => "Dart",
        "ex" | "exs" => "Elixir",
        "elm" => "Elm",
        "erl" | "hrl" => "Erlang",
        "fs" | "fsi" | "fsx" => "F#",
        "f" | "f90" | "f95" | "f03" | "for" => "Fortran",
        "glsl" | "vert" | "frag" | "comp" | "hlsl" | "wgsl" => "Shader",
        "go" => "Go",
        "graphql" | "gql" => "GraphQL",
        "groovy" | "gradle" => "Groovy",
        "hs" | "lhs" => "Haskell",
        "html" | "htm" | "xhtml" => "HTML",
        "ini" | "cfg" | "conf" | "properties" | "env" => "INI",
        "java" => "Java",
        "js" | "mjs" | "cjs" | "jsx" => "JavaScript",
        "json" | "json5" | "jsonc" | "jsonl" | "ndjson" | "webmanifest" => "JSON",
        "ipynb" => "Jupyter notebook",
        "jl" => "Julia",
        "just" => "Just",
        "kt" | "kts" => "Kotlin",
        "lisp" | "lsp" | "cl" | "el" => "Lisp",
        "lock" => LOCK_FILE,
        "lua" => "Lua",
        "mk" | "mak" => "Makefile",
        "md" | "markdown" | "mdx" => "Markdown",
        "nim" => "Nim",
        "nix" => "Nix",
        "m" | "mm" => "Objective-C",
        "ml" | "mli" => "OCaml",
        "patch" | "diff" => "Patch",
        "pl" | "pm" => "Perl",
        "php" => "PHP",
        "txt" | "text" | "log" => "Plain text",
        "ps1" | "psm1" | "psd1" => "PowerShell",
        "proto" => "Protocol Buffers",
        "py" | "pyi" | "pyw" => "Python",
        "r" => "R",
        "rb" | "erb" | "rake" | "gemspec" => "Ruby",
        "rs" => "Rust",
        "rst" => "reStructuredText",
        "scala" | "sbt" => "Scala",
        "scm" | "rkt" => "Scheme",
        "sh" | "bash" | "zsh" | "fish" | "ksh" | "bats" => "Shell",
        "sol" => "Solidity",
        "sql" => "SQL",
        "bzl" | "bazel" | "star" => "Starlark",
        "svelte" => "Svelte",
        "svg" => "SVG",
        "swift" => "Swift",
        "tex" | "bib" | "sty" => "TeX",
        "tf" | "tfvars" | "hcl" => "Terraform",
        "toml" => "TOML",
        "ts" | "tsx" | "mts" | "cts" => "TypeScript",
        "v" | "sv" | "svh" => "Verilog",
        "vhd" | "vhdl" => "VHDL",
        "vue" => "Vue",
        "wat" => "WebAssembly",
        "xml" | "xsd" | "xsl" | "xslt" | "plist" | "csproj" | "vcxproj" => "XML",
        "yaml" | "yml" => "YAML",
        "zig" | "zon" => "Zig",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_extensions() {
        for (path, language) in [
            ("src/main.rs", "Rust"),
            ("a/B.PY", "Python"),
            ("a/CMakeLists.txt", "CMake"),
            ("notes.txt", "Plain text"),
            ("package-lock.json", LOCK_FILE),
            ("package.json", "JSON"),
            ("Dockerfile.dev", "Dockerfile"),
            (".rs", OTHER),
            ("no-extension", OTHER),
            ("odd.qqq", OTHER),
        ] {
            assert_eq!(of(Path::new(path)), language, "{path}");
        }
    }

    #[test]
    fn descriptions_are_no_programs() {
        assert!(is_programming("Rust"));
        assert!(is_programming("Shell"));
        assert!(!is_programming("Markdown"));
        assert!(!is_programming(LOCK_FILE));
    }
}
