//! A chat runner that reaches nothing but a server with one response.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use executors::chat::{DEEPSEEK, QWEN, Service};
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, RawResponse, Script};

use super::{Finished, Stage};

pub(crate) const KEY: &str = "sk-sp-planted-0123456789abcdef";
/// In the body of every failing response; no file but the debug material may hold it.
pub(crate) const SAID: &str = "words-of-the-provider";

/// A stage whose runner reaches nothing but a server that gives one response.
pub(crate) struct Talk {
    pub(crate) stage: Stage,
    pub(crate) server: ModelServer,
    pub(crate) service: &'static Service,
}

impl Talk {
    pub(crate) fn new(service: &'static Service, response: RawResponse) -> Self {
        let program = match service.family.program {
            "delegation-qwen" => env!("CARGO_BIN_EXE_delegation-qwen"),
            _ => env!("CARGO_BIN_EXE_delegation-deepseek"),
        };
        let mut stage = Stage::new(program, service.family.model);
        let server = ModelServer::start_with(Script::Raw(response)).expect("a server");
        stage.plant(KEY);
        stage.plant(SAID);
        stage.set(service.base_url_variable, format!("{}/v1", server.url()));
        stage.set(service.key.variable, KEY);
        Self { stage, server, service }
    }

    pub(crate) fn run(&self) -> Finished {
        self.stage.run_lane("builder", &["--allow-provisional"])
    }

    /// A run that fails, leaves nothing but its diagnostic, and has asked once.
    pub(crate) fn fails(&self, code: i32, phase: &str, reason: &str) -> Value {
        let finished = self.run();
        let path = self.stage.path("out/answer.txt.error.json");
        finished.refused(
            code,
            &format!("{}: {reason} (details: {})", self.service.family.program, path.display()),
        );
        assert_eq!(self.stage.outputs(), ["answer.txt.error.json"]);
        assert_eq!(fs::metadata(path).expect("a diagnostic").permissions().mode() & 0o777, 0o600);
        let diagnostic = self.stage.diagnostic();
        assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
        assert_eq!(diagnostic["schema_version"], 1);
        assert_eq!(diagnostic["lane"], "builder");
        assert_eq!(diagnostic["debug_dir"], Value::Null);
        assert!(self.server.requests().len() <= 1);
        diagnostic
    }

    pub(crate) fn publishes(&self, text: &str) -> Value {
        let finished = self.run();
        assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
        assert_eq!(self.stage.outputs(), ["answer.txt", "answer.txt.metrics.json"]);
        assert_eq!(self.stage.answer().expect("an answer"), format!("{text}\n").as_bytes());
        for name in ["answer.txt", "answer.txt.metrics.json"] {
            let mode = fs::metadata(self.stage.path("out").join(name)).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(self.server.requests().len(), 1);
        self.stage.metrics()
    }
}

pub(crate) fn both(response: impl Fn(&'static Service) -> RawResponse) -> [Talk; 2] {
    [&QWEN, &DEEPSEEK].map(|service| Talk::new(service, response(service)))
}

/// A good answer of the pinned model.
pub(crate) fn good(service: &Service) -> Value {
    json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": service.family.model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "The patch.\nIts end."}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "prompt_cache_hit_tokens": 3,
                  "completion_tokens_details": {"reasoning_tokens": 5}},
    })
}

/// The good answer, changed.
pub(crate) fn changed(change: impl Fn(&mut Value)) -> impl Fn(&'static Service) -> RawResponse {
    move |service| {
        let mut body = good(service);
        change(&mut body);
        RawResponse::json(body.to_string())
    }
}
