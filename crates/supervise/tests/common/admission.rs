//! Tasks as a dispatcher commits them, with a plan that no provider has.

#![allow(dead_code, unreachable_pub)]

use record::plan::{
    CapturedEnvironment, DirectoryIdentity, EffectiveConfig, IdentityFile, IdentityRole, LaunchPlan, Plan,
    Predicate, StartMethod,
};
use record::request::{Request, RequestedConfig, RequestedLimits};
use record::submission::Submission;
use record::words::{Fence, Permission, SupervisorKind};
use record::{AbsolutePath, ByteSize, Sha256Digest, Span, TaskId, Timestamp, json};
use store::{Admitted, NewTask, Root, Task};

/// How a task of a test differs from the usual one.
pub struct Variant {
    pub kind: SupervisorKind,
    pub machine: Sha256Digest,
    pub runner: Option<AbsolutePath>,
    /// Seconds of a fixed minute.
    pub admitted: u32,
    /// It writes in the directory with that inode.
    pub writes: Option<u64>,
}

impl Default for Variant {
    fn default() -> Self {
        Self { kind: SupervisorKind::Embedded, machine: machine(), runner: None, admitted: 0, writes: None }
    }
}

pub fn machine() -> Sha256Digest {
    process::machine_id().expect("a machine id").parse().expect("a digest")
}

pub fn admit(root: &Root, id: TaskId, brief: &str, variant: Variant) -> Task {
    let permission = if variant.writes.is_some() { Permission::WorkspaceWrite } else { Permission::ReadOnly };
    let somewhere: AbsolutePath = "/somewhere".parse().expect("a path");
    let request = Request {
        schema_version: 1,
        root_id: root.id(),
        task_id: id,
        provider: "test:program".parse().expect("a profile"),
        canonical_cwd: somewhere.clone(),
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
            max_output_bytes: ByteSize::from_bytes(1),
            first_output: None,
            start_by: None,
            // The admission times of these tests lie in the past.
            lease_wait: Span::from_seconds(100 * 365 * 24 * 3600),
            memory_bytes: None,
            pids: None,
            cpus: None,
        },
        fence: None,
        environment_file: None,
        prior_session: None,
        brief_sha256: Sha256Digest::of(brief.as_bytes()),
        brief_length: brief.len() as u64,
    };
    let request_sha256 = Sha256Digest::of(&json::encode(&request).expect("a record"));
    let plan = Plan {
        schema_version: 1,
        root_id: root.id(),
        task_id: id,
        request_sha256,
        launch: LaunchPlan {
            provider_version: None,
            identity: vec![IdentityFile {
                role: IdentityRole::Entry,
                path: somewhere.clone(),
                size: 1,
                sha256: Sha256Digest::of(b""),
            }],
            start: StartMethod::Path,
            argv: vec!["program".to_owned()],
            stdin_prefix: None,
            new_conversation: None,
            environment: Vec::new(),
            directory: somewhere,
            output_artifacts: Vec::new(),
            effective_config: EffectiveConfig {
                permission,
                fence: Fence::None,
                approval: String::new(),
                writable_roots: Vec::new(),
            },
            predicate: Predicate {
                profile: "test:program".parse().expect("a profile"),
                mode: permission,
                revision: 1,
                sha256: Sha256Digest::of(b""),
            },
        },
        environment_file_names: Vec::new(),
        workspace: DirectoryIdentity { device: 1, inode: variant.writes.unwrap_or(1) },
        captured: CapturedEnvironment { variables: Vec::new(), umask: 0o22, open_files_limit: 1024 },
        publisher_version: "0".to_owned(),
    };
    let plan_sha256 = Sha256Digest::of(&json::encode(&plan).expect("a record"));
    let submission = Submission {
        schema_version: 1,
        root_id: root.id(),
        task_id: id,
        request_sha256,
        plan_sha256,
        supervisor: variant.kind,
        supervisor_binding: None,
        runner_executable: variant.runner,
        machine_id: variant.machine,
        admitted_at: admitted_at(variant.admitted),
    };
    let new = NewTask { request: &request, brief: brief.as_bytes(), plan: &plan, submission: &submission };
    match root.admit(new).expect("admitted") {
        Admitted::New(task) => task,
        Admitted::Existing(_) => panic!("an id was used twice"),
    }
}

fn admitted_at(second: u32) -> Timestamp {
    format!("2026-01-01T00:00:{second:02}.000000000Z").parse().expect("a time")
}
