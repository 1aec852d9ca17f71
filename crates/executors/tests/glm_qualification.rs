//! Evaluation of clerk, scout and builder by the GLM runner, with an attested workspace (runners.md 2.5).

mod glm_support;
mod support;

use std::fs;

use glm_support::{KEY, LaneEvaluation, line, retry};
use record::Sha256Digest;
use serde_json::{Value, json};
use support::checkout::git;

/// A schema compiler as far as the runner needs one: it was asked for the right thing, and says a schema without `$schema`.
const COMPILER: &str = "[ \"$1 $2 $3 $4\" = 'compile --provider claude --schema' ] && [ -f \"$5\" ] || exit 65\n\
                        echo '{\"type\":\"object\"}'";

#[test]
fn a_scout_leaves_a_receipt_of_an_unchanged_tree() {
    let mut evaluation =
        LaneEvaluation::new("scout", "[[GLM: write source.txt]] [[GLM: structured \"{\\\"found\\\": 1}\"]]");
    evaluation.install_compiler(COMPILER);
    let (finished, sha256) = evaluation.run(&[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let stage = &evaluation.stage;
    assert_eq!(stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
    let output = stage.answer().expect("an answer");
    assert_eq!(output, b"{\"found\":1}\n");
    let receipt = stage.metrics()["evaluation_receipt"].clone();
    for (member, expected) in [
        ("schema_version", json!("delegation_glm_lane_evaluation_attempt_receipt_v2")),
        ("evaluation_manifest_sha256", json!(sha256)),
        ("prompt_sha256", evaluation.checkout.manifest()["prompt_sha256"].clone()),
        ("runner_sha256", evaluation.checkout.manifest()["runner_sha256"].clone()),
        ("runner_source_commit", evaluation.checkout.manifest()["runner_source_commit"].clone()),
        ("workdir_commit", evaluation.checkout.manifest()["workdir_commit"].clone()),
        ("task_count", json!(6)),
        ("provider_attempts", json!(1)),
        ("post_observation_retries", json!(0)),
        ("raw_output_sha256", json!(Sha256Digest::of(&output).to_string())),
        ("workdir_diff_sha256", json!(Sha256Digest::of(b"").to_string())),
        ("workdir_after_sha256", receipt["workdir_before_sha256"].clone()),
        ("git_control_after_sha256", receipt["git_control_before_sha256"].clone()),
        ("changed_paths", json!([])),
        ("ignored_paths", json!([])),
        ("changed_path_modes", json!([])),
    ] {
        assert_eq!(receipt[member], expected, "{member}");
    }
    assert_ne!(receipt["workdir_before_sha256"], receipt["git_control_before_sha256"]);
    assert_eq!(receipt.as_object().expect("an object").len(), 18);
}

#[test]
fn the_compiled_schema_and_the_budget_of_the_manifest_are_passed_on() {
    let mut evaluation = LaneEvaluation::new("clerk", "[[GLM: observe]]");
    evaluation.install_compiler(COMPILER);
    // The answer holds the environment.
    evaluation.stage.unset("ZAI_API_KEY");
    let key = evaluation.stage.write("key", "ZAI_API_KEY=other-key-0001\n");
    assert!(std::process::Command::new("chmod").arg("600").arg(&key).status().expect("chmod runs").success());
    evaluation.stage.set("DELEGATION_GLM_KEY_FILE", key);
    let (finished, _) = evaluation.run(&[]);
    assert_eq!(finished.code, 0, "{finished:?}");
    let seen: Value = serde_json::from_slice(&evaluation.stage.answer().expect("an answer")).expect("JSON");
    let arguments = seen["observed"]["arguments"].as_array().expect("a list");
    let tail = &arguments[arguments.len() - 4..];
    assert_eq!(
        tail,
        [json!("--json-schema"), json!("{\"type\":\"object\"}"), json!("--max-budget-usd"), json!("1.5")]
    );
    assert_eq!(seen["observed"]["variables"]["ANTHROPIC_AUTH_TOKEN"], "other-key-0001");
    assert!(!seen.to_string().contains(KEY));
}

#[test]
fn the_builder_edits_the_fixture_but_never_its_git_directory() {
    let prompt = "[[GLM: replace source.txt]] [[GLM: write ignored/made.sh]] [[GLM: mode ignored/made.sh]] \
                  [[GLM: write .git/config]] [[GLM: write .git/hooks/made]] [[GLM: write top.txt]]";
    let mut evaluation = LaneEvaluation::new("builder", prompt);
    evaluation.install_compiler(COMPILER);
    let (finished, _) = evaluation.run(&[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let stage = &evaluation.stage;
    let seen: Value = serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON");
    assert_eq!(
        seen,
        json!({
            "replace source.txt": "done",
            "write ignored/made.sh": "done",
            "mode ignored/made.sh": "done",
            "write .git/config": "denied",
            "write .git/hooks/made": "denied",
            // Landlock allows by whole directories: what would be made at the top could be made in the git directory.
            "write top.txt": "denied",
        })
    );
    let receipt = stage.metrics()["evaluation_receipt"].clone();
    assert_eq!(receipt["changed_paths"], json!(["ignored/made.sh", "source.txt"]));
    assert_eq!(receipt["ignored_paths"], json!(["ignored/made.sh"]));
    assert_eq!(
        receipt["changed_path_modes"],
        json!([{"path": "ignored/made.sh", "mode": "0755"}, {"path": "source.txt", "mode": "0644"}])
    );
    assert_ne!(receipt["workdir_before_sha256"], receipt["workdir_after_sha256"]);
    assert_eq!(receipt["git_control_before_sha256"], receipt["git_control_after_sha256"]);
    assert_ne!(receipt["workdir_diff_sha256"], Sha256Digest::of(b"").to_string());
}

#[test]
fn a_change_from_elsewhere_keeps_its_reason_beside_a_limit() {
    let changes = [
        ("source.txt", "workdir_modified"),
        (".git/go", "git_control_modified"),
        // git would not look into another checkout.
        ("below/.git", "workdir_snapshot_failed"),
    ];
    for (name, reason) in changes {
        let go = if name.starts_with(".git/") { name } else { "go" };
        let prompt = format!("[[GLM: started]] [[GLM: wait {go}]] {} [[GLM: exit 1]]", line(&retry(429)));
        let mut evaluation = LaneEvaluation::new("scout", &prompt);
        evaluation.install_compiler(COMPILER);
        let (manifest, _) =
            evaluation.checkout.publish_lane(&mut evaluation.stage, &executors::glm::GLM, "scout");
        let stage = &evaluation.stage;
        let started = stage.start(&glm_support::words(stage, "scout", &manifest));
        glm_support::wait_for_start(stage);
        stage.write(&format!("work/{name}"), "changed by somebody else");
        stage.write(&format!("work/{go}"), "go");
        stage.finish(started).refused(70, reason);
        assert_eq!(stage.diagnostic()["phase"], "dispatch");
    }
}

#[test]
fn a_manifest_or_workspace_that_is_not_the_bound_one_is_refused() {
    for (key, value) in [
        ("max_cost_usd", json!(0)),
        ("max_cost_usd", json!(25.5)),
        ("max_cost_usd", json!("2")),
        ("permission_mode", json!("acceptEdits")),
        ("task_count", json!(101)),
        ("task_count", json!(1.5)),
        ("workdir_commit", json!("0".repeat(40))),
        ("workdir_commit", json!("HEAD")),
        ("workdir_mode", json!("writable-fixture")),
        ("timeout_seconds", json!(901)),
        ("unheard_of", json!(1)),
    ] {
        let mut evaluation = LaneEvaluation::new("scout", "x");
        evaluation.install_compiler(COMPILER);
        evaluation.checkout.change(key, value);
        let (finished, _) = evaluation.run(&[]);
        finished.refused(78, key);
        assert_eq!(evaluation.stage.outputs(), Vec::<String>::new());
    }
    for (name, words) in
        [("work/ignored/file", "changes or ignored files"), ("work/untracked", "changes or ignored files")]
    {
        let mut evaluation = LaneEvaluation::new("scout", "x");
        evaluation.install_compiler(COMPILER);
        evaluation.stage.write(name, "x");
        evaluation.run(&[]).0.refused(78, words);
    }
    let mut evaluation = LaneEvaluation::new("scout", "x");
    let work = evaluation.stage.path("work");
    fs::rename(work.join(".git"), evaluation.stage.path("git")).expect("moved");
    std::os::unix::fs::symlink(evaluation.stage.path("git"), work.join(".git")).expect("a link");
    evaluation.run(&[]).0.refused(78, "git directory");

    // The commit of the runner must be the head of its checkout here.
    let mut evaluation = LaneEvaluation::new("scout", "x");
    evaluation.install_compiler(COMPILER);
    git(evaluation.checkout.root(), &["commit", "-q", "--allow-empty", "-m", "later"]);
    evaluation.run(&[]).0.refused(78, "runner_source_commit");
}

/// A script that tells that it was started.
fn telltale(evaluation: &LaneEvaluation, name: &str) -> std::path::PathBuf {
    let told = evaluation.stage.path("told").display().to_string();
    let path = evaluation.stage.write(name, format!("#!/bin/sh\necho {name} >>{told}\ncat \"$@\"\n"));
    assert!(
        std::process::Command::new("chmod").arg("755").arg(&path).status().expect("chmod runs").success()
    );
    path
}

#[test]
fn git_starts_nothing_that_the_workspace_names() {
    let mut evaluation =
        LaneEvaluation::new("builder", "[[GLM: replace source.txt]] [[GLM: replace below/source.txt]]");
    evaluation.install_compiler(COMPILER);
    let work = evaluation.stage.path("work");
    let monitor = telltale(&evaluation, "monitor");
    let conversion = telltale(&evaluation, "conversion");
    let external = telltale(&evaluation, "external");
    let hook = telltale(&evaluation, "hooks/post-index-change");
    let set = |name: &str, value: &std::path::Path| {
        git(&work, &["config", name, value.to_str().expect("UTF-8")]);
    };
    fs::write(work.join(".git/info/attributes"), "source.txt diff=mine\n").expect("written");
    set("core.fsmonitor", &monitor);
    set("diff.mine.textconv", &conversion);
    set("diff.mine.command", &external);
    set("diff.external", &external);
    set("core.pager", &external);
    set("core.hooksPath", hook.parent().expect("a parent"));
    let (finished, _) = evaluation.run(&[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let receipt = evaluation.stage.metrics()["evaluation_receipt"].clone();
    assert_eq!(receipt["changed_paths"], json!(["below/source.txt", "source.txt"]));
    assert!(!evaluation.stage.path("told").exists());
}

#[test]
fn a_workspace_that_git_can_not_be_asked_about_is_refused() {
    type Change = fn(&LaneEvaluation, &std::path::Path);
    let changes: [(&str, Change); 10] = [
        ("name a filter", |evaluation, work| {
            let filter = telltale(evaluation, "filter");
            fs::write(work.join(".git/info/attributes"), "*.txt filter=mine\n").expect("written");
            git(work, &["config", "filter.mine.clean", filter.to_str().expect("UTF-8")]);
        }),
        ("include others", |_, work| drop(git(work, &["config", "include.path", "../source.txt"]))),
        ("include others", |_, work| {
            git(work, &["config", "includeIf.gitdir:/.path", "../source.txt"]);
        }),
        ("symbolic link", |_, work| {
            fs::rename(work.join(".git/description"), work.join(".git/info/description")).expect("moved");
            std::os::unix::fs::symlink("../source.txt", work.join(".git/description")).expect("a link");
        }),
        ("can not be read", |evaluation, work| {
            fs::rename(work.join(".git/config"), evaluation.stage.path("settings")).expect("moved");
            std::os::unix::fs::symlink(evaluation.stage.path("settings"), work.join(".git/config"))
                .expect("a link");
        }),
        ("shares its git directory", |_, work| {
            fs::write(work.join(".git/commondir"), ".\n").expect("written");
        }),
        ("has a pipe", |_, work| {
            let exclude = work.join(".git/info/exclude");
            fs::remove_file(&exclude).ok();
            let mode = rustix::fs::Mode::RWXU;
            rustix::fs::mknodat(rustix::fs::CWD, exclude, rustix::fs::FileType::Fifo, mode, 0)
                .expect("a pipe");
        }),
        ("another checkout", |_, work| fs::create_dir_all(work.join("below/.git")).expect("a directory")),
        ("told not to look at", |_, work| {
            git(work, &["update-index", "--assume-unchanged", "source.txt"]);
        }),
        ("told not to look at", |_, work| {
            git(work, &["update-index", "--skip-worktree", "source.txt"]);
        }),
    ];
    for (words, change) in changes {
        let mut evaluation = LaneEvaluation::new("builder", "x");
        evaluation.install_compiler(COMPILER);
        change(&evaluation, &evaluation.stage.path("work"));
        evaluation.run(&[]).0.refused(78, words);
        assert!(!evaluation.stage.path("told").exists(), "{words}");
    }
}

#[test]
fn a_workspace_or_runner_with_submodules_is_refused() {
    let add = |evaluation: &LaneEvaluation, checkout: &std::path::Path| {
        let inner = checkout.join("inner");
        fs::create_dir(&inner).expect("a directory");
        git(&inner, &["init", "-q", "."]);
        git(&inner, &["commit", "-q", "--allow-empty", "-m", "inner"]);
        let monitor = telltale(evaluation, "monitor");
        git(&inner, &["config", "core.fsmonitor", monitor.to_str().expect("UTF-8")]);
        git(checkout, &["add", "inner"]);
        git(checkout, &["commit", "-q", "-m", "with another"]);
        fs::remove_file(evaluation.stage.path("told")).ok();
        git(checkout, &["rev-parse", "HEAD"])
    };
    let mut evaluation = LaneEvaluation::new("builder", "x");
    evaluation.install_compiler(COMPILER);
    let commit = add(&evaluation, &evaluation.stage.path("work"));
    evaluation.checkout.change("workdir_commit", json!(commit));
    evaluation.run(&[]).0.refused(78, "has another checkout in it");
    assert!(!evaluation.stage.path("told").exists());

    let mut evaluation = LaneEvaluation::new("scout", "x");
    evaluation.install_compiler(COMPILER);
    let commit = add(&evaluation, evaluation.checkout.root());
    evaluation.checkout.change("runner_source_commit", json!(commit));
    evaluation.run(&[]).0.refused(78, "has submodules");
    assert!(!evaluation.stage.path("told").exists());
}

#[test]
fn without_a_compiler_or_with_a_schema_that_it_refuses_nothing_is_sent() {
    let mut evaluation = LaneEvaluation::new("scout", "x");
    evaluation.run(&[]).0.refused(69, "delegation-schema");
    for (script, code) in [("exit 65", 78), ("echo 7", 78), ("kill -9 $$", 69)] {
        evaluation.install_compiler(script);
        let (finished, _) = evaluation.run(&[]);
        assert_eq!(finished.code, code, "{script}: {finished:?}");
        assert_eq!(evaluation.stage.outputs(), Vec::<String>::new());
    }
}
