//! Records of a made-up task, for the test program and the tests.
#![allow(dead_code, reason = "each test uses its own part")]

use record::id::Nonce;
use record::launch::{Launch, StopRequest, StopRequestCause};
use record::outcome::{Outcome, Payload, Reason};
use record::plan::{
    CapturedEnvironment, DirectoryIdentity, EffectiveConfig, LaunchPlan, Plan, Predicate, StartMethod,
};
use record::request::{Request, RequestedConfig, RequestedLimits};
use record::seal::{Invocation, Seal};
use record::submission::Submission;
use record::words::{
    Containment, Fence, Launched, Permission, ReasonCode, StopCause, SupervisorKind, Verdict,
};
use record::{AbsolutePath, ByteSize, ProfileId, RootId, Sha256Digest, Span, TaskId, Timestamp, json};
use store::{Admitted, NewTask, Root, StoreError};

pub(crate) const BRIEF: &[u8] = b"Say hello.\n";

/// Everything that a task is made of.
pub(crate) struct Sample {
    pub(crate) request: Request,
    pub(crate) plan: Plan,
    pub(crate) submission: Submission,
}

pub(crate) fn digest() -> Sha256Digest {
    Sha256Digest::of(b"sample")
}

pub(crate) fn now() -> Timestamp {
    "2026-01-02T03:04:05.000000000Z".parse().unwrap()
}

fn profile() -> ProfileId {
    "codex:exec".parse().unwrap()
}

fn directory() -> AbsolutePath {
    "/workspace".parse().unwrap()
}

fn span(text: &str) -> Span {
    text.parse().unwrap()
}

pub(crate) fn predicate() -> Predicate {
    Predicate { profile: profile(), mode: Permission::ReadOnly, revision: 1, sha256: digest() }
}

impl Sample {
    pub(crate) fn new(root_id: RootId, task_id: TaskId) -> Self {
        let request = Request {
            schema_version: 1,
            root_id,
            task_id,
            provider: profile(),
            canonical_cwd: directory(),
            requested_config: RequestedConfig {
                model: None,
                lane: None,
                allow_provisional: false,
                effort: None,
                permission: Permission::ReadOnly,
                budget: span("30m"),
                native_timeout: None,
            },
            limits: RequestedLimits {
                max_output_bytes: ByteSize::from_bytes(1 << 20),
                first_output: None,
                start_by: None,
                lease_wait: span("1h"),
                memory_bytes: None,
                pids: None,
                cpus: None,
            },
            fence: None,
            environment_file: None,
            prior_session: None,
            brief_sha256: Sha256Digest::of(BRIEF),
            brief_length: BRIEF.len() as u64,
        };
        let request_sha256 = Sha256Digest::of(&json::encode(&request).unwrap());
        let plan = Plan {
            schema_version: 1,
            root_id,
            task_id,
            request_sha256,
            launch: LaunchPlan {
                provider_version: None,
                identity: Vec::new(),
                start: StartMethod::Path,
                argv: vec!["codex".to_owned()],
                stdin_prefix: None,
                new_conversation: None,
                environment: Vec::new(),
                directory: directory(),
                output_artifacts: Vec::new(),
                effective_config: EffectiveConfig {
                    permission: Permission::ReadOnly,
                    fence: Fence::Ours,
                    approval: "never".to_owned(),
                    writable_roots: Vec::new(),
                },
                predicate: predicate(),
            },
            environment_file_names: Vec::new(),
            workspace: DirectoryIdentity { device: 1, inode: 2 },
            captured: CapturedEnvironment { variables: Vec::new(), umask: 0o22, open_files_limit: 1024 },
            publisher_version: "0.1.0".to_owned(),
        };
        let plan_sha256 = Sha256Digest::of(&json::encode(&plan).unwrap());
        let submission = Submission {
            schema_version: 1,
            root_id,
            task_id,
            request_sha256,
            plan_sha256,
            supervisor: SupervisorKind::Embedded,
            supervisor_binding: None,
            runner_executable: None,
            machine_id: digest(),
            admitted_at: now(),
        };
        Self { request, plan, submission }
    }

    pub(crate) fn new_task(&self) -> NewTask<'_> {
        NewTask { request: &self.request, brief: BRIEF, plan: &self.plan, submission: &self.submission }
    }

    pub(crate) fn admit(&self, root: &Root) -> Result<Admitted, StoreError> {
        root.admit(self.new_task())
    }

    pub(crate) fn stop(&self, request_id: Nonce) -> StopRequest {
        StopRequest {
            schema_version: 1,
            root_id: self.request.root_id,
            task_id: self.request.task_id,
            request_id,
            cause: StopRequestCause::User,
            requested_at: now(),
        }
    }

    pub(crate) fn launch(&self, nonce: Nonce) -> Launch {
        Launch {
            schema_version: 1,
            root_id: self.request.root_id,
            task_id: self.request.task_id,
            request_sha256: self.submission.request_sha256,
            plan_sha256: self.submission.plan_sha256,
            nonce,
            machine_id: digest(),
            boot_id: "boot".to_owned(),
            pid_namespace: "pid:[1]".to_owned(),
            host_name: "host".to_owned(),
            containment: Containment::Subreaper,
            cgroup: None,
            git_control_sha256: None,
            created_at: now(),
        }
    }

    pub(crate) fn seal(&self) -> Seal {
        Seal {
            schema_version: 1,
            root_id: self.request.root_id,
            task_id: self.request.task_id,
            request_sha256: self.submission.request_sha256,
            plan_sha256: self.submission.plan_sha256,
            invocation: Invocation::exited(0),
            stop: StopCause::None,
            launched: Launched::Yes,
            recovered: false,
            containment: None,
            fence: None,
            leaked_processes: None,
            git_control_changed: None,
            resources: None,
            started_at: None,
            sealed_at: now(),
            damaged: false,
            manifest: Vec::new(),
        }
    }

    pub(crate) fn outcome(&self, evidence_sha256: Sha256Digest, payload: Payload) -> Outcome {
        Outcome {
            schema_version: 1,
            root_id: self.request.root_id,
            task_id: self.request.task_id,
            request_sha256: self.submission.request_sha256,
            plan_sha256: self.submission.plan_sha256,
            verdict: Verdict::Rejected,
            reason: Reason { code: ReasonCode::EmptyOutput, message: None, retry_at: None },
            launched: Launched::Yes,
            stop: StopCause::None,
            evidence_sha256,
            predicate: predicate(),
            payload,
            artifacts: Vec::new(),
            session: None,
            usage: Vec::new(),
            recovered: false,
            containment: None,
            fence: None,
            leaked_processes: None,
            git_control_changed: None,
            notes: Vec::new(),
        }
    }
}

/// The name of an error's kind, for printing and comparing.
pub(crate) fn kind(error: &StoreError) -> &'static str {
    match error {
        StoreError::NotFound { .. } => "not-found",
        StoreError::RootInvalid { .. } => "root-invalid",
        StoreError::UnsupportedRoot { .. } => "unsupported-root",
        StoreError::Damaged { .. } => "damaged",
        StoreError::UnsupportedVersion { .. } => "unsupported-version",
        StoreError::IdentityMismatch { .. } => "identity-mismatch",
        StoreError::Uncertain { .. } => "uncertain",
        StoreError::Full { .. } => "full",
        StoreError::ReadOnly { .. } => "read-only",
        StoreError::InvalidName => "invalid-name",
        StoreError::AlreadyPublished { .. } => "already-published",
        StoreError::CursorExpired => "cursor-expired",
        StoreError::Unwritable { .. } => "unwritable",
        StoreError::Io { .. } => "io",
    }
}
