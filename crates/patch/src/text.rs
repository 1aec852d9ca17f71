//! The receipt and the policy for people (patch-verifier.md 2, 5.2).

use std::fmt::Write as _;

use crate::policy::LoadedPolicy;
use crate::receipt::{Receipt, Verdict};
use crate::rule::Rule;
use crate::shape::Shape;

/// A text that can not fail to be written: the target is a string.
macro_rules! line {
    ($out:expr, $($part:tt)*) => {{
        let _ = writeln!($out, $($part)*);
    }};
}

/// The receipt, with a sentence for each rule that says what to ask the author for.
pub(crate) fn receipt(receipt: &Receipt) -> String {
    let mut out = String::new();
    line!(out, "{} (policy {})", receipt.verdict.word(), receipt.policy_version);
    line!(out, "patch: {}", printable(&receipt.patch.path));
    let sha256 = receipt.patch.sha256.as_deref().unwrap_or("not read");
    line!(out, "  sha256 {sha256}, {} bytes, {} files", receipt.patch.bytes, receipt.file_count);
    line!(out, "workdir: {}", receipt.workdir.path.as_deref().map_or("none".to_owned(), printable));
    strip(receipt, &mut out);
    for file in &receipt.files {
        line!(
            out,
            "  {} {} +{}/-{} in {} hunks",
            file.operation.word(),
            printable(&file.path),
            file.added_lines,
            file.removed_lines,
            file.hunks
        );
    }
    for placement in &receipt.placements {
        line!(
            out,
            "  {} hunk {} lands at line {} instead of {}",
            printable(&placement.path),
            placement.hunk,
            placement.applied_line,
            placement.declared_line
        );
    }
    let state =
        if receipt.attestation.unchanged { "nothing changed" } else { "something changed during the run" };
    line!(out, "attestation: {state} in patch, worktree, index and git control");
    match (receipt.verdict, receipt.strip.chosen) {
        (Verdict::Accepted, Some(level)) => accepted(receipt, level, &mut out),
        _ => refused(receipt, &mut out),
    }
    out
}

fn strip(receipt: &Receipt, out: &mut String) {
    let result = receipt.git_apply_check.result.word();
    match (receipt.strip.chosen, receipt.strip.required) {
        (Some(level), _) => line!(out, "strip level: -p{level} (git apply --check: {result})"),
        (None, Some(level)) => line!(out, "strip level required: -p{level} (git apply --check: {result})"),
        (None, None) => line!(out, "strip level: not established (git apply --check: {result})"),
    }
    let Some(shape) = receipt.strip.header_style else { return };
    let _ = write!(out, "  fixed by the {} header shape", shape.word());
    if receipt.strip.alternate_applies == Some(true) {
        let _ = match shape {
            Shape::GitPrefixed => {
                write!(out, "; -p0 also applies but would keep the a/ or b/ component, and is never chosen")
            }
            Shape::Unprefixed => {
                write!(out, "; -p1 also applies and names different files, so the patch is ambiguous")
            }
        };
    }
    out.push('\n');
}

fn accepted(receipt: &Receipt, level: u8, out: &mut String) {
    line!(out, "the lead applies it with -p{level} and runs the tests");
    if let Some(command) = &receipt.apply_command {
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        line!(out, "  {}", words.join(" "));
    }
}

fn refused(receipt: &Receipt, out: &mut String) {
    line!(out, "violations:");
    for violation in &receipt.violations {
        match &violation.detail {
            Some(detail) => line!(out, "  {}: {}", violation.rule, printable(detail)),
            None => line!(out, "  {}", violation.rule),
        }
        line!(out, "    {}", violation.kind.ask());
    }
    if let Some(mismatch) = &receipt.first_mismatch {
        line!(
            out,
            "first mismatch: line {} of the patch, hunk {} of {}, line {} of the file",
            mismatch.patch_line,
            mismatch.hunk,
            printable(&mismatch.path),
            mismatch.target_line
        );
    }
}

/// The policy: versions, limits, operations and closed classes.
pub(crate) fn policy(loaded: &LoadedPolicy) -> String {
    let policy = &loaded.policy;
    let mut out = String::new();
    line!(
        out,
        "patch policy {} (schema {}) {}",
        policy.policy_version,
        policy.schema_version,
        printable(&loaded.file)
    );
    line!(
        out,
        "applies to {}; verified by {}; applied by {}",
        policy.applies_to_permission_class,
        policy.verifier,
        policy.authority.applied_by
    );
    line!(out, "limits:");
    for (name, value) in policy.limits.named() {
        line!(out, "  {name} = {value}");
    }
    line!(out, "operations:");
    let operations = &policy.operations;
    for (name, word) in [
        ("add", &operations.add),
        ("modify", &operations.modify),
        ("delete", &operations.delete),
        ("rename", &operations.rename),
        ("copy", &operations.copy),
    ] {
        line!(out, "  {name} = {word}");
    }
    line!(out, "denied path classes:");
    for class in &policy.paths.denied_patterns {
        line!(out, "  {}:{}: {}", Rule::DeniedPath.id(), class.id, class.reason);
    }
    line!(out, "The verifier judges and describes; it never applies a patch.");
    out
}

/// Text whose control characters can not reach a terminal.
fn printable(text: &str) -> String {
    let visible = |character: char| {
        !character.is_control() && !matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|character| if visible(character) { character } else { '?' }).collect()
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=".contains(&byte);
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
