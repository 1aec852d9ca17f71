//! What is refused first: a command line that no gates could make good is 64, whatever state the gates are in (runners.md 1.1,
//! 1.3). GLM looks at its gates before; see `glm_refusals.rs`.

mod support;

use std::ffi::OsString;

use executors::chat::{DEEPSEEK, QWEN};
use executors::common::family::Family;
use executors::{gemini::GEMINI, grok::GROK, kimi::KIMI};
use support::Stage;

const RUNNERS: [(&str, &Family); 5] = [
    (env!("CARGO_BIN_EXE_delegation-qwen"), &QWEN.family),
    (env!("CARGO_BIN_EXE_delegation-deepseek"), &DEEPSEEK.family),
    (env!("CARGO_BIN_EXE_delegation-gemini"), &GEMINI),
    (env!("CARGO_BIN_EXE_delegation-grok"), &GROK),
    (env!("CARGO_BIN_EXE_delegation-kimi"), &KIMI),
];

/// A stage whose gates are bad.
fn without_gates(program: &str, family: &'static Family) -> Stage {
    let mut stage = Stage::new(program, family.model);
    stage.set(family.gate.variable, stage.path("missing.json"));
    stage
}

#[test]
fn the_command_line_comes_before_the_gates() {
    for (program, family) in RUNNERS {
        let stage = without_gates(program, family);
        for more in [
            &["--unheard-of"][..],
            &["--effort", "unheard-of"],
            &["--backend", "unheard-of"],
            &["--workdir"],
            &["--evaluation", "--allow-provisional"],
        ] {
            stage.run_lane("builder", more).refused(64, more[0]);
        }
        // A name that is merely not implemented: here the gates of the chat runners have the word (runners.md 5.1).
        let code = family.unknown_lane.code().into();
        stage.run_lane("unheard-of", &[]).refused(code, if code == 64 { "no lane" } else { "gates" });
        stage.run(&["unheard-of"]).refused(64, "unheard-of");
        stage.run(&["check", "unheard-of"]).refused(64, "unheard-of");
        assert_eq!(stage.run(&["--help"]).code, 0);
        stage.run_lane("builder", &[]).refused(78, "gates");
        stage.run(&["check"]).refused(78, "gates");
    }
}

#[test]
fn so_do_the_values_of_the_flags_of_one_family_and_the_words_of_its_own_commands() {
    for (program, family) in RUNNERS {
        let stage = without_gates(program, family);
        let has = |name: &str| family.flags.iter().any(|flag| flag.name == name);
        if has("--oauth") {
            for mode in ["", "bogus", "Shared"] {
                stage.run_lane("builder", &["--oauth", mode]).refused(64, "--oauth");
            }
            stage.run_lane("builder", &["--oauth", "shared"]).refused(78, "gates");
        }
        if has("--prompt") {
            let words = |text: OsString| -> Vec<OsString> {
                ["run", "--lane", "builder", "--output", "answer", "--prompt"]
                    .map(OsString::from)
                    .into_iter()
                    .chain([text])
                    .collect()
            };
            stage.run(&words("".into())).refused(64, "the prompt is empty");
            stage.run(&words(std::os::unix::ffi::OsStringExt::from_vec(vec![0xff]))).refused(64, "UTF-8");
            stage.run(&words("x".into())).refused(78, "gates");
        }
        for command in family.commands {
            stage.run(&[command.name, "--unheard-of"]).refused(64, "--unheard-of");
            stage.run(&[command.name, "--from"]).refused(64, "--from");
        }
    }
}
