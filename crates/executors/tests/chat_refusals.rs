//! What the chat runners refuse before anything is sent (runners.md 1.1 to 1.5, 5).

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use executors::chat::{DEEPSEEK, QWEN, Service};
use support::{Stage, gate_files};

const KEY: &str = "sk-sp-planted-0123456789abcdef";

fn stages() -> [(Stage, &'static Service); 2] {
    [
        (Stage::new(env!("CARGO_BIN_EXE_delegation-qwen"), "qwen3.8-max"), &QWEN),
        (Stage::new(env!("CARGO_BIN_EXE_delegation-deepseek"), "deepseek-v4-pro"), &DEEPSEEK),
    ]
}

#[test]
fn help_is_no_error() {
    for (stage, service) in stages() {
        for words in [
            &[][..],
            &["-h"],
            &["--help"],
            &["check", "--help"],
            &["run", "--help"],
            &["run", "--lane", "x", "-h"],
        ] {
            let finished = stage.run(words);
            assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{words:?}");
            assert!(finished.stdout.starts_with(&format!("Usage: {} check", service.family.program)));
        }
    }
}

#[test]
fn a_command_line_that_is_invalid_is_refused_first() {
    for (mut stage, _) in stages() {
        // Even where the gates are bad.
        stage.set("DELEGATION_ROUTING_GATES_FILE", "/nowhere");
        for (words, said) in [
            (&["fly"][..], "unknown command fly"),
            (&["check", "--verbose"], "unknown argument --verbose"),
            (&["check", "x"], "unknown argument x"),
            (&["run"], "--lane is missing"),
            (&["run", "--lane"], "--lane needs a value"),
            (&["run", "--lane", "builder"], "--output is missing"),
            (&["run", "--lane", "builder", "--output", "x"], "--prompt-file is missing"),
        ] {
            stage.run(words).refused(64, said);
        }
        for (more, said) in [
            (&["--output"][..], "--output is given twice"),
            (&["--metrics"], "--metrics needs a value"),
            (&["--max-cost-usd", "1"], "unknown argument --max-cost-usd"),
            (&["--oauth", "shared"], "unknown argument"),
            (&["--prompt", "text"], "unknown argument"),
            (&["--effort", "extreme"], "--effort must be"),
            (&["--effort", ""], "--effort must be"),
            (&["--backend", "openai"], "--backend must be auto or"),
            (&["--evaluation"], "--evaluation-manifest"),
            (&["--evaluation-manifest", "m.json"], "--evaluation-manifest"),
            (&["--preflight-only"], "--preflight-only needs --evaluation"),
            (&["--evaluation", "--evaluation-manifest", "m", "--allow-provisional"], "exclude each other"),
            (&["extra"], "unknown argument extra"),
        ] {
            stage.run_lane("builder", more).refused(64, said);
        }
        assert_eq!(stage.outputs(), Vec::<String>::new());
    }
}

#[test]
fn bad_gates_are_refused_before_anything_else_is_looked_at() {
    for (mut stage, service) in stages() {
        // A key that would be refused, a destination that is taken: neither is reached.
        stage.set(service.key.variable, "bad\\key");
        fs::write(stage.path("out/answer.txt"), "theirs").expect("written");
        let gate = service.family.gate;
        let not_json = stage.write("bad/not.json", "{");
        let other = stage
            .write("bad/other.json", gates::embedded::file(gates::family::KIMI.gate_file).expect("a gate"));
        for (variable, file) in [
            ("DELEGATION_ROUTING_GATES_FILE", stage.path("missing.json")),
            ("DELEGATION_ROUTING_GATES_FILE", not_json.clone()),
            (gate.variable, stage.path("missing.json")),
            (gate.variable, not_json),
            (gate.variable, other),
            ("DELEGATION_GLM_ROUTING_FILE", stage.path("missing.json")),
            ("DELEGATION_EVIDENCE_FILE", stage.path("missing.json")),
        ] {
            stage.set(variable, file);
            stage.run_lane("builder", &["--allow-provisional"]).refused(78, "gates do not hold");
            stage.run(&["check"]).refused(78, "gates do not hold");
            stage.run(&["check", "--json"]).refused(78, "gates do not hold");
            stage.unset(variable);
        }
        gate_files::change(&mut stage, gate, |central, _| {
            central["profiles"][service.family.model]["effort"] = "low".into()
        });
        stage.run_lane("builder", &["--allow-provisional"]).refused(78, "R-11");
    }
}

#[test]
fn the_gates_decide_before_the_key() {
    for (mut stage, _) in stages() {
        stage.unset("PATH");
        stage.run_lane("builder", &[]).refused(78, "--allow-provisional");
        for lane in ["clerk", "scout", "reviewer", "senior", "judgement", "policy-annotation"] {
            stage.run_lane(lane, &["--allow-provisional"]).refused(78, &format!("lane {lane}"));
        }
        stage.run_lane("frontend-builder", &["--allow-provisional"]).refused(78, "no lane frontend-builder");
        for effort in ["none", "low", "medium"] {
            stage
                .run_lane("builder", &["--allow-provisional", "--effort", effort])
                .refused(78, "pins effort");
        }
        for lane in ["builder", "judgement"] {
            let words = ["--evaluation", "--evaluation-manifest", "/nowhere"];
            stage.run_lane(lane, &words).refused(78, "is not to be evaluated");
        }
        let words = ["--evaluation", "--evaluation-manifest", "/nowhere"];
        stage.run_lane("policy-annotation", &words).refused(78, "evaluation manifest");
        assert_eq!(stage.outputs(), Vec::<String>::new());
    }
}

#[test]
fn effort_none_is_refused_even_where_a_gate_pins_it() {
    for (mut stage, service) in stages() {
        gate_files::change(&mut stage, service.family.gate, |central, executable| {
            central["profiles"][service.family.model]["effort"] = "none".into();
            for (_, lane) in executable["lanes"].as_object_mut().expect("lanes") {
                lane["default_effort"] = "none".into();
                lane["backends"][service.family.backend()]["effort"] = "none".into();
            }
        });
        stage.run_lane("builder", &["--allow-provisional"]).refused(64, "thinking is required");
    }
}

#[test]
fn paths_are_checked_before_the_key() {
    for (stage, _) in stages() {
        let at = |name: &str| stage.path(name).into_os_string().into_string().expect("UTF-8");
        let refused = |words: &[&str], said: &str| {
            let words: Vec<&str> = [&["run", "--lane", "builder", "--allow-provisional"], words].concat();
            stage.run(&words).refused(64, said);
        };
        let (prompt, output, work) = (at("prompt.md"), at("out/answer.txt"), at("work"));
        let good = ["--prompt-file", &prompt, "--output", &output, "--workdir", &work];
        let with_output = |path: &str, said: &str| {
            refused(&["--prompt-file", &prompt, "--output", path, "--workdir", &work], said);
        };
        with_output(&at("missing/answer.txt"), "its directory");
        with_output(&at("prompt.md/answer.txt"), "its");
        with_output(&at("work/answer.txt"), "lies in the workspace");
        with_output(&at("out/../work/sub.txt"), "lies in the workspace");
        with_output(&at("out"), "exists");
        with_output(&format!("{}/", at("out")), "names a directory");
        with_output(&at("out/.."), "names no file");
        with_output("", "names no file");
        for name in ["answer.txt", "answer.txt.metrics.json", "answer.txt.error.json"] {
            let path = stage.path("out").join(name);
            fs::write(&path, "theirs").expect("written");
            refused(&good, "exists");
            assert_eq!(fs::read_to_string(&path).expect("readable"), "theirs");
            fs::remove_file(&path).expect("removed");
            for target in ["nowhere", "prompt.md"] {
                symlink(stage.path(target), &path).expect("a link");
                refused(&good, "is a symbolic link");
                fs::remove_file(&path).expect("removed");
            }
            fs::create_dir(&path).expect("a directory");
            refused(&good, "exists");
            fs::remove_dir(&path).expect("removed");
        }
        for metrics in [output.clone(), at("out/answer.txt.error.json"), at("out/../out/answer.txt")] {
            refused(&[&good[..], &["--metrics", &metrics]].concat(), "are the same file");
        }
        refused(&[&good[..], &["--metrics", &at("work/m.json")]].concat(), "lies in the workspace");
        symlink(stage.path("out"), stage.path("linked")).expect("a link");
        for (debug, said) in [
            ("missing", "No such file"),
            ("prompt.md", "no directory"),
            ("linked", "no directory"),
            ("work", "workspace"),
        ] {
            refused(&[&good[..], &["--debug-dir", &at(debug)]].concat(), said);
        }
        refused(&["--prompt-file", &at("missing"), "--output", &output], "--prompt-file");
        refused(&["--prompt-file", &work, "--output", &output], "no regular file");
        refused(&["--prompt-file", "/dev/zero", "--output", &output], "no regular file");
        refused(&["--prompt-file", &prompt, "--output", &output, "--workdir", &at("missing")], "--workdir");
        let binary = stage.write("binary.md", b"\xff\xfe");
        refused(&["--prompt-file", binary.to_str().expect("UTF-8"), "--output", &output], "not UTF-8");
        let long = stage.write("long.md", vec![b'x'; (8 << 20) + 1]);
        refused(&["--prompt-file", long.to_str().expect("UTF-8"), "--output", &output], "longer than");
        // With everything in order, the key is what is missing; the work directory is the default workspace.
        let words: Vec<&str> = [&["run", "--lane", "builder", "--allow-provisional"], &good[..]].concat();
        stage.run(&words).refused(69, "is unset");
        let words = ["--prompt-file", &prompt, "--output", "answer.txt"];
        refused(&words, "lies in the workspace");
        assert_eq!(stage.outputs(), Vec::<String>::new());
    }
}

#[test]
fn settings_that_are_no_numbers_or_lead_away_are_refused() {
    for (mut stage, service) in stages() {
        stage.set(service.key.variable, KEY);
        for (variable, value) in [
            ("DELEGATION_TIMEOUT", "0"),
            ("DELEGATION_TIMEOUT", "86401"),
            ("DELEGATION_TIMEOUT", "+5"),
            ("DELEGATION_MAX_TOKENS", "many"),
            ("DELEGATION_MAX_TOKENS", "1000001"),
            (service.base_url_variable, "https://example.org"),
            (service.base_url_variable, "http://127.0.0.1@example.org"),
        ] {
            stage.set(variable, value);
            stage.run_lane("builder", &["--allow-provisional"]).refused(64, variable);
            stage.unset(variable);
        }
    }
}

#[test]
fn a_key_file_is_parsed_and_private() {
    for (mut stage, service) in stages() {
        stage.plant("planted");
        let file = stage.write("key.env", "");
        let variable = service.key.variable;
        stage.set(service.key.file_variable, &file);
        let set = |text: &str, mode: u32| {
            fs::write(&file, text).expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
        };
        let refused = |stage: &Stage, code: i32, said: &str| {
            stage.run_lane("builder", &["--allow-provisional"]).refused(code, said);
            if code == 69 {
                let status = stage.check();
                assert_eq!(status["selected_backend"], "none");
                let reason = &status["backends"][service.family.backend()]["reason"];
                assert!(reason.as_str().is_some_and(|reason| reason.contains(said)), "{reason}");
            }
        };
        set("OTHER=planted\n", 0o600);
        refused(&stage, 69, &format!("holds no {variable} line"));
        set(&format!("{variable}=\n"), 0o600);
        refused(&stage, 69, "is unset and");
        set(&format!("export {variable}='sk-sp-planted'\n"), 0o640);
        refused(&stage, 69, "mode 640 opens it to others; chmod 600");
        for mode in [0o604, 0o601, 0o1600] {
            set(&format!("{variable}=sk-sp-planted\n"), mode);
            refused(&stage, 69, "chmod 600");
        }
        for key in ["sk-sp-plan'ted", "sk-sp-plan\"ted", "sk-sp-plan\\ted", "sk-sp-plan\rted"] {
            set(&format!("{variable}={key}\n"), 0o600);
            refused(&stage, 64, "holds a quote, a backslash or a control character");
        }
        stage.set(variable, "sk-sp-planted\nX: y");
        refused(&stage, 64, "control character");
        stage.unset(variable);
        fs::remove_file(&file).expect("removed");
        refused(&stage, 69, &format!("{variable} is unset and"));
        fs::create_dir(&file).expect("a directory");
        refused(&stage, 69, "no regular file");
    }
}

#[test]
fn a_key_of_another_plan_is_no_key_for_qwen() {
    let [(mut stage, service), _] = stages();
    stage.plant("other-plan");
    stage.set(service.key.variable, "sk-other-plan");
    stage.run_lane("builder", &["--allow-provisional"]).refused(69, "does not begin with sk-sp-");
    assert_eq!(stage.check()["selected_backend"], "none");
}

#[test]
fn check_tells_lanes_and_availability_and_is_no_error_without_a_key() {
    for (stage, service) in stages() {
        let status = stage.check();
        let pin = if service.family.model == "qwen3.8-max" { "xhigh" } else { "max" };
        assert_eq!(status["model"], service.family.model);
        assert_eq!(status["efforts"], serde_json::json!([pin]));
        assert_eq!(status["default_effort"], pin);
        assert_eq!(status["provisional_lanes"], serde_json::json!(["builder"]));
        assert_eq!(status["qualified_lanes"], serde_json::json!([]));
        assert_eq!(status["candidate_lanes"].as_array().map(Vec::len), Some(5));
        assert_eq!(status["backends"][service.family.backend()]["available"], false);
        assert_eq!(status.get("next_snapshot").is_some(), service.next_snapshot.is_some());
        let finished = stage.run(&["check"]);
        assert_eq!((finished.code, finished.stdout.lines().count()), (0, 2), "{finished:?}");
    }
}

#[test]
fn the_installation_is_that_of_the_real_program() {
    for (mut stage, service) in stages() {
        let program = stage.path("installed/bin").join(service.family.program);
        let built = match service.family.program {
            "delegation-qwen" => env!("CARGO_BIN_EXE_delegation-qwen"),
            _ => env!("CARGO_BIN_EXE_delegation-deepseek"),
        };
        for directory in ["installed/bin", "installed/config", "path", "config"] {
            fs::create_dir_all(stage.path(directory)).expect("a directory");
        }
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(|_| ())).expect("a program");
        // Two links on the way, with a key beside them that is nobody's.
        symlink(&program, stage.path("first")).expect("a link");
        symlink("../first", stage.path("path/runner")).expect("a link");
        let root = stage.path("");
        let key = |directory: &str, text: &str| {
            let path = root.join(directory).join(service.key.file_name);
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
        };
        key("config", &format!("{}={KEY}\n", service.key.variable));
        let file = stage.path("installed/config").join(service.key.file_name);
        stage.set(service.base_url_variable, "http://127.0.0.1:9/v1");
        let runner = stage.path("path/runner");
        stage.use_program(runner);
        stage.run_lane("builder", &["--allow-provisional"]).refused(69, &file.display().to_string());
        assert_eq!(stage.check()["selected_backend"], "none");
        key("installed/config", &format!("{}={KEY}\n", service.key.variable));
        assert_eq!(stage.check()["selected_backend"], service.family.backend());
        // The installed gates count, and an override wins over them.
        stage.write("installed/config/routing-gates.json", "{");
        stage.run(&["check"]).refused(78, "gates do not hold");
        let shipped = stage.write("good.json", gates::embedded::file("routing-gates.json").expect("a gate"));
        stage.set("DELEGATION_ROUTING_GATES_FILE", shipped);
        assert_eq!(stage.run(&["check"]).code, 0);
    }
}
