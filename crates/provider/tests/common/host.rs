//! A machine in memory.

use std::collections::BTreeMap;

use provider::{Draft, Host, HostError, PlanInput};
use record::plan::{IdentityFile, IdentityRole};
use record::request::{PriorSession, Request, RequestedConfig, RequestedLimits};
use record::words::Permission;
use record::{AbsolutePath, ByteSize, RootId, Sha256Digest, Span, TaskId};

/// Files, symbolic links of whole paths, and variables.
#[derive(Clone, Default)]
pub(crate) struct FakeHost {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) variables: BTreeMap<String, String>,
}

impl FakeHost {
    pub(crate) fn new() -> Self {
        let mut host = Self::default();
        for (name, value) in [("HOME", "/home/u"), ("PATH", "/usr/bin:/opt/bin"), ("LANG", "C.UTF-8")] {
            host.variables.insert(name.to_owned(), value.to_owned());
        }
        host.file("/home/u/work/README", b"x")
            .file("/tmp/x", b"")
            .file("/usr/bin/env", b"\x7fELF env")
            .file("/usr/bin/node", b"\x7fELF node")
            .file("/opt/self/delegate", b"\x7fELF delegate")
    }

    pub(crate) fn file(mut self, path: &str, content: &[u8]) -> Self {
        self.files.insert(path.to_owned(), content.to_vec());
        self
    }

    pub(crate) fn link(mut self, path: &str, target: &str) -> Self {
        self.links.insert(path.to_owned(), target.to_owned());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn content(&self, path: &AbsolutePath) -> Result<(AbsolutePath, &[u8]), HostError> {
        let path = self.canonical(path)?;
        match self.files.get(path.as_str()) {
            Some(content) => Ok((path, content)),
            None => Err(HostError::Unusable { what: path.to_string(), why: "a directory".to_owned() }),
        }
    }
}

impl Host for FakeHost {
    fn resolve(&self, program: &str) -> Result<AbsolutePath, HostError> {
        self.variables["PATH"]
            .split(':')
            .find_map(|directory| self.canonical(&format!("{directory}/{program}").parse().unwrap()).ok())
            .ok_or_else(|| HostError::NotFound { what: program.to_owned() })
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn identify(&self, role: IdentityRole, path: &AbsolutePath) -> Result<IdentityFile, HostError> {
        let (path, content) = self.content(path)?;
        Ok(IdentityFile { role, path, size: content.len() as u64, sha256: Sha256Digest::of(content) })
    }

    fn read(&self, path: &AbsolutePath, max_bytes: usize) -> Result<Vec<u8>, HostError> {
        let (_, content) = self.content(path)?;
        Ok(content[..content.len().min(max_bytes)].to_vec())
    }

    fn canonical(&self, path: &AbsolutePath) -> Result<AbsolutePath, HostError> {
        let mut text = path.to_string();
        for (link, target) in &self.links {
            if let Some(rest) = text.strip_prefix(link.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                text = format!("{target}{rest}");
            }
        }
        let path: AbsolutePath = text.parse().unwrap();
        let exists = self.files.keys().any(|file| path.contains(&file.parse().unwrap()));
        if exists { Ok(path) } else { Err(HostError::NotFound { what: text }) }
    }

    fn own_executable(&self) -> Result<AbsolutePath, HostError> {
        Ok("/opt/self/delegate".parse().unwrap())
    }
}

/// A request without options.
pub(crate) fn request(provider: &str, permission: Permission) -> Request {
    Request {
        schema_version: 1,
        root_id: RootId::from_random([1; 16]),
        task_id: TaskId::from_random([2; 16]),
        provider: provider.parse().unwrap(),
        canonical_cwd: "/home/u/work".parse().unwrap(),
        requested_config: RequestedConfig {
            model: None,
            lane: None,
            allow_provisional: false,
            effort: None,
            permission,
            budget: Span::from_seconds(60),
            native_timeout: None,
        },
        limits: RequestedLimits {
            max_output_bytes: ByteSize::from_bytes(1 << 20),
            first_output: None,
            start_by: None,
            lease_wait: Span::from_seconds(1),
            memory_bytes: None,
            pids: None,
            cpus: None,
        },
        fence: None,
        environment_file: None,
        prior_session: None,
        brief_sha256: Sha256Digest::of(b"Do it."),
        brief_length: 6,
    }
}

/// The request, to go on with a conversation.
pub(crate) fn continued(mut request: Request, conversation: &str) -> Request {
    request.prior_session = Some(PriorSession {
        provider: request.provider.clone(),
        conversation_id: conversation.to_owned(),
        predecessor_task_id: TaskId::from_random([9; 16]),
        later_task_ids: Vec::new(),
    });
    request
}

/// Plans with a plain brief.
pub(crate) fn plan(request: &Request, host: &FakeHost) -> Result<Draft, provider::PlanError> {
    plan_brief(request, host, b"Do it.")
}

/// Plans with a brief.
pub(crate) fn plan_brief(
    request: &Request,
    host: &FakeHost,
    brief: &[u8],
) -> Result<Draft, provider::PlanError> {
    let output_directory = "/state/tasks/t/output".parse().unwrap();
    let temporary_directory: AbsolutePath = "/tmp/dlg-0202020202020202".parse().unwrap();
    let input = PlanInput {
        request,
        brief,
        output_directory: &output_directory,
        temporary_directory: &temporary_directory,
    };
    provider::catalogue().get(&request.provider).unwrap().plan(&input, host)
}

/// One with codex on it.
pub(crate) fn codex_host() -> FakeHost {
    FakeHost::new().file("/opt/bin/codex", b"\x7fELF codex")
}

/// One with pi on it.
pub(crate) fn pi_host() -> FakeHost {
    FakeHost::new()
        .file("/opt/lib/pi/dist/cli.js", b"#!/usr/bin/env node\nrun()")
        .file("/opt/lib/pi/package.json", br#"{"name":"pi"}"#)
        .link("/opt/bin/pi", "/opt/lib/pi/dist/cli.js")
}

/// Where the turn may write.
pub(crate) fn roots(draft: &Draft) -> Vec<&str> {
    draft.launch.effective_config.writable_roots.iter().map(AbsolutePath::as_str).collect()
}

/// The files that decide what runs.
pub(crate) fn identity(draft: &Draft) -> Vec<(IdentityRole, &str)> {
    draft.launch.identity.iter().map(|file| (file.role, file.path.as_str())).collect()
}
