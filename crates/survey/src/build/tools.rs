//! The build tools the survey knows, each told by its file at the top of the workspace.

use std::path::Path;

use super::Purpose::{self, Build as ToBuild, Check, Run, Test};
use super::scripts::{
    json_has, json_scripts, just_recipes, make_targets, purpose_of, toml_keys, toml_sections,
};
use super::{Build, Files};
use crate::text::count;

/// A tool whose commands are always the same.
struct PlainTool {
    file: &'static str,
    kind: Option<&'static str>,
    commands: &'static [(Purpose, &'static str)],
}

const fn tool(
    file: &'static str,
    kind: &'static str,
    commands: &'static [(Purpose, &'static str)],
) -> PlainTool {
    PlainTool { file, kind: Some(kind), commands }
}

const fn script(file: &'static str, commands: &'static [(Purpose, &'static str)]) -> PlainTool {
    PlainTool { file, kind: None, commands }
}

const PLAIN_TOOLS: &[PlainTool] = &[
    tool("go.mod", "Go module", &[(ToBuild, "go build ./..."), (Test, "go test ./...")]),
    tool(
        "CMakeLists.txt",
        "CMake project",
        &[(ToBuild, "cmake -S . -B build && cmake --build build"), (Test, "ctest --test-dir build")],
    ),
    tool(
        "meson.build",
        "Meson project",
        &[(ToBuild, "meson setup build && meson compile -C build"), (Test, "meson test -C build")],
    ),
    tool("MODULE.bazel", "Bazel workspace", &[(ToBuild, "bazel build //..."), (Test, "bazel test //...")]),
    tool("WORKSPACE", "Bazel workspace", &[(ToBuild, "bazel build //..."), (Test, "bazel test //...")]),
    tool("Package.swift", "Swift package", &[(ToBuild, "swift build"), (Test, "swift test")]),
    tool("mix.exs", "Mix project", &[(ToBuild, "mix compile"), (Test, "mix test")]),
    tool("build.zig", "Zig project", &[(ToBuild, "zig build"), (Test, "zig build test")]),
    tool("build.sbt", "sbt project", &[(ToBuild, "sbt compile"), (Test, "sbt test")]),
    tool("stack.yaml", "Haskell Stack project", &[(ToBuild, "stack build"), (Test, "stack test")]),
    tool("dune-project", "Dune project", &[(ToBuild, "dune build"), (Test, "dune test")]),
    tool("pubspec.yaml", "Dart package", &[(Test, "dart test")]),
    tool("Gemfile", "Ruby project", &[(ToBuild, "bundle install")]),
    tool("composer.json", "PHP Composer package", &[(ToBuild, "composer install")]),
    tool("flake.nix", "Nix flake", &[(ToBuild, "nix build"), (Check, "nix flake check")]),
    script("Rakefile", &[(Run, "rake --tasks")]),
    script("Taskfile.yml", &[(Run, "task --list")]),
    script("noxfile.py", &[(Test, "nox")]),
    script("tox.ini", &[(Test, "tox")]),
    script("Dockerfile", &[(ToBuild, "docker build .")]),
    script("compose.yaml", &[(Run, "docker compose up")]),
    script("docker-compose.yml", &[(Run, "docker compose up")]),
    script("configure", &[(ToBuild, "./configure && make")]),
    script("build.sh", &[(ToBuild, "./build.sh")]),
    script("test.sh", &[(Test, "./test.sh")]),
    script("script/test", &[(Test, "./script/test")]),
    script("scripts/test.sh", &[(Test, "./scripts/test.sh")]),
    script(".ci/run", &[(Check, "./.ci/run")]),
    script(".pre-commit-config.yaml", &[(Check, "pre-commit run --all-files")]),
];

/// Whether a file of this name makes its folder a project.
pub(super) fn is_manifest(name: &str) -> bool {
    matches!(
        name,
        "Cargo.toml"
            | "package.json"
            | "pyproject.toml"
            | "setup.py"
            | "pom.xml"
            | "build.gradle"
            | "build.gradle.kts"
            | "Makefile"
    ) || PLAIN_TOOLS.iter().any(|tool| tool.kind.is_some() && tool.file == name)
}

/// Whether a path describes continuous integration.
pub(super) fn is_workflow(path: &Path) -> bool {
    let is_yaml = path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
    let known = [
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        ".travis.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "Jenkinsfile",
    ];
    let folders = [".github/workflows", ".buildkite"];
    let is_in = |folder: &&str| path.parent() == Some(Path::new(folder));
    is_yaml && folders.iter().any(is_in) || known.iter().any(|known| path == Path::new(known))
}

/// Cargo. A workspace covers the manifests of its members.
pub(super) fn cargo(files: &mut Files<'_>, build: &mut Build, covered: &mut Vec<&'static str>) {
    let Some(text) = files.read(Path::new("Cargo.toml")) else {
        return;
    };
    let sections = toml_sections(&text);
    let has = |wanted: &str| {
        sections.iter().any(|section| {
            let rest = section.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let everywhere = if has("workspace") {
        covered.push("Cargo.toml");
        let top = u64::from(!has("package"));
        let packages = files.count_named("Cargo.toml") - top;
        build.add_kind(format!("Rust workspace ({})", count(packages, "package")));
        " --workspace"
    } else {
        build.add_kind("Rust package");
        ""
    };
    build.add(ToBuild, &format!("cargo build{everywhere}"), "Cargo.toml");
    build.add(Test, &format!("cargo test{everywhere}"), "Cargo.toml");
    if has("lints") || has("workspace.lints") || files.has("clippy.toml") {
        let line = format!("cargo clippy{everywhere} --all-targets");
        build.add(Check, &line, "Cargo.toml");
    }
    let settings = files.read(Path::new(".cargo/config.toml")).unwrap_or_default();
    for alias in toml_keys(&settings, "alias") {
        let line = format!("cargo {alias}");
        build.add(purpose_of(alias), &line, ".cargo/config.toml");
    }
}

/// npm and its kin, and Deno.
pub(super) fn node(files: &mut Files<'_>, build: &mut Build, covered: &mut Vec<&'static str>) {
    if let Some(text) = files.read(Path::new("package.json")) {
        let managers =
            [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
        let manager = managers.iter().find(|(lock, _)| files.has(lock)).map_or("npm", |(_, manager)| manager);
        if json_has(&text, "workspaces") || files.has("pnpm-workspace.yaml") {
            covered.push("package.json");
            build.add_kind("Node.js workspace");
        } else {
            build.add_kind("Node.js package");
        }
        for name in json_scripts(&text, "scripts") {
            let line = format!("{manager} run {name}");
            build.add(purpose_of(&name), &line, "package.json");
        }
    }
    if let Some(text) = files.read(Path::new("deno.json")) {
        build.add_kind("Deno project");
        for name in json_scripts(&text, "tasks") {
            let line = format!("deno task {name}");
            build.add(purpose_of(&name), &line, "deno.json");
        }
    }
}

/// Python, by any of its tools.
pub(super) fn python(files: &mut Files<'_>, build: &mut Build) {
    let text = files.read(Path::new("pyproject.toml"));
    let Some(source) = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"]
        .into_iter()
        .find(|file| files.has(file))
    else {
        return;
    };
    build.add_kind("Python project");
    let text = text.unwrap_or_default();
    let sections = toml_sections(&text);
    let has = |wanted: &str| sections.iter().any(|section| section.starts_with(wanted));
    let (prefix, package) = if files.has("uv.lock") {
        ("uv run ", "uv build")
    } else if has("tool.poetry") {
        ("poetry run ", "poetry build")
    } else {
        ("", "python -m build")
    };
    if has("build-system") || files.has("setup.py") {
        build.add(ToBuild, package, source);
    } else if files.has("requirements.txt") {
        build.add(ToBuild, "pip install -r requirements.txt", "requirements.txt");
    }
    if has("tool.pytest") {
        build.add(Test, &format!("{prefix}pytest"), source);
    } else if files.has("pytest.ini") {
        build.add(Test, &format!("{prefix}pytest"), "pytest.ini");
    }
    if has("tool.ruff") {
        build.add(Check, &format!("{prefix}ruff check"), source);
    }
    if has("tool.mypy") {
        build.add(Check, &format!("{prefix}mypy ."), source);
    }
}

/// Maven and Gradle, by their wrappers where the workspace has them. The build file at the top
/// covers those of its modules.
pub(super) fn java(files: &Files<'_>, build: &mut Build, covered: &mut Vec<&'static str>) {
    if files.has("pom.xml") {
        covered.push("pom.xml");
        let program = if files.has("mvnw") { "./mvnw" } else { "mvn" };
        build.add_kind("Maven project");
        build.add(ToBuild, &format!("{program} package"), "pom.xml");
        build.add(Test, &format!("{program} test"), "pom.xml");
    }
    let names = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    if let Some(source) = names.into_iter().find(|file| files.has(file)) {
        covered.extend(["build.gradle", "build.gradle.kts"]);
        let program = if files.has("gradlew") { "./gradlew" } else { "gradle" };
        build.add_kind("Gradle project");
        build.add(ToBuild, &format!("{program} build"), source);
        build.add(Test, &format!("{program} test"), source);
    }
}

/// Tools whose commands are always the same.
pub(super) fn plain(files: &Files<'_>, build: &mut Build) {
    for tool in PLAIN_TOOLS.iter().filter(|tool| files.has(tool.file)) {
        if let Some(kind) = tool.kind {
            build.add_kind(kind);
        }
        for (purpose, line) in tool.commands {
            build.add(*purpose, line, tool.file);
        }
    }
    let solution = files.paths.iter().find(|path| {
        let extension = path.extension();
        path.components().count() == 1
            && extension.is_some_and(|extension| extension == "sln" || extension == "csproj")
    });
    if let Some(source) = solution.and_then(|path| path.to_str()) {
        build.add_kind(".NET project");
        build.add(ToBuild, "dotnet build", source);
        build.add(Test, "dotnet test", source);
    }
}

/// Files that are nothing but named commands.
pub(super) fn runners(files: &mut Files<'_>, build: &mut Build) {
    for source in ["GNUmakefile", "makefile", "Makefile"] {
        let text = files.read(Path::new(source)).unwrap_or_default();
        for target in make_targets(&text) {
            build.add(purpose_of(target), &format!("make {target}"), source);
        }
    }
    for source in ["justfile", "Justfile", ".justfile"] {
        let text = files.read(Path::new(source)).unwrap_or_default();
        for recipe in just_recipes(&text) {
            build.add(purpose_of(recipe), &format!("just {recipe}"), source);
        }
    }
}
