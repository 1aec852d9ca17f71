//! Rules of the lanes of all families (executor-contract.md 7.5).

use gates::finding::Finding;
use gates::json::{Json, decode, pointer};
use gates::words::Status;

use crate::model::{Contract, Family, Lane, LanePatchPolicy};

/// Lanes that are never dispatched to an external executor.
const NEVER_DISPATCHED: [&str; 3] = ["judgement", "reviewer", "policy-annotation"];
const BLOCKED: &str = "blocked";
const DENIED: &str = "denied";

pub(super) fn check(contract: &Contract, findings: &mut Vec<Finding>) {
    for (family_name, family, name, lane) in contract.lanes() {
        let mut row = Row { contract, family, name, lane, at: [family_name, name], findings };
        row.words();
        row.dispatch();
        row.access();
        row.tools();
        row.patch_policy();
        if NEVER_DISPATCHED.contains(&name) {
            row.demand("F-2", "dispatchable", !lane.dispatchable, "this lane is never dispatched");
        }
    }
}

/// One lane, and where its findings go.
struct Row<'a> {
    contract: &'a Contract,
    family: &'a Family,
    name: &'a str,
    lane: &'a Lane,
    at: [&'a str; 2],
    findings: &'a mut Vec<Finding>,
}

impl Row<'_> {
    fn demand(&mut self, rule: &'static str, key: &str, met: bool, detail: &str) {
        if !met {
            let [family, lane] = self.at;
            let at = pointer(["families", family, "lanes", lane, key]);
            self.findings.push(Finding::new(rule, at, detail));
        }
    }

    fn words(&mut self) {
        let words = &self.contract.vocabularies;
        let lane = self.lane;
        let tools = &lane.tool_policy;
        for (key, known) in [
            ("", words.lane_values.has(self.name)),
            ("effort", self.family.efforts.has(&lane.effort)),
            ("permission_class", words.permission_classes.contains_key(&*lane.permission_class)),
            ("worktree_access", words.worktree_access_values.has(&lane.worktree_access)),
            ("tool_policy", words.write_scope_values.has(&tools.write_scope)),
            ("tool_policy", words.tool_policy_modes.has(&tools.mode)),
            ("status", words.qualification_status_values.has(&lane.status)),
            ("selection", words.selection_values.has(&lane.selection)),
        ] {
            self.demand("F-1k", key, known, "not in its vocabulary");
        }
    }

    fn dispatch(&mut self) {
        let lane = self.lane;
        let operational =
            decode::<Status>(&Json::from(&*lane.status), &[]).is_ok_and(|status| status.is_operational());
        self.demand(
            "F-1l",
            "dispatchable",
            lane.dispatchable == (&*lane.selection != BLOCKED && operational),
            "does not follow from status and selection",
        );
        let provisional = &*lane.status == Status::Provisional.word();
        self.demand(
            "F-1m",
            "requires_allow_provisional",
            lane.requires_allow_provisional == (lane.dispatchable && provisional),
            "must be said of dispatchable provisional lanes, and of no other",
        );
        self.demand(
            "F-1m",
            "requires_explicit_decision",
            lane.requires_explicit_decision == lane.dispatchable,
            "must be said of dispatchable lanes, and of no other",
        );
        self.demand(
            "F-1m",
            "evaluation_only",
            !(lane.evaluation_only && lane.dispatchable),
            "an evaluation lane is not dispatchable",
        );
    }

    fn access(&mut self) {
        let lane = self.lane;
        let scope = &*lane.tool_policy.write_scope;
        let fits = if &*lane.permission_class == "worktree-edit" {
            &*lane.worktree_access == "read-write" && scope == "workdir"
        } else {
            &*lane.worktree_access != "read-write" && scope == "none"
        };
        self.demand(
            "F-1n",
            "permission_class",
            fits,
            "worktree_access or write_scope does not fit the class",
        );
    }

    fn tools(&mut self) {
        let lane = self.lane;
        let tools = &lane.tool_policy;
        let all_denied = tools.capabilities().iter().all(|(_, word)| *word == DENIED);
        let prompt_only = &*tools.mode == "prompt-only";
        self.demand(
            "F-1o",
            "tool_policy",
            !prompt_only
                || &*lane.worktree_access == "none"
                    && tools.allowed_tools.as_ref().is_some_and(Vec::is_empty)
                    && all_denied,
            "a prompt-only lane sees nothing, has no tools and no capability",
        );
        let known = &self.contract.vocabularies.capability_values;
        self.demand(
            "F-1p",
            "tool_policy",
            tools.capabilities().iter().all(|(_, word)| known.contains_key(*word)),
            "a capability is not in its vocabulary",
        );
        self.demand(
            "F-1p",
            "tool_policy",
            all_denied || tools.permission_mode.is_some(),
            "a capability that a mode decides needs a pinned mode",
        );
        self.demand(
            "F-1q",
            "tool_policy",
            match &tools.allowed_tools {
                None => &*tools.mode == "permission-mode" && tools.permission_mode.is_some(),
                Some(_) => true,
            },
            "allowed_tools may be null only where a pinned mode decides",
        );
    }

    fn patch_policy(&mut self) {
        let reference = &self.contract.patch_policy;
        let governed = self.lane.permission_class == reference.required_for_permission_class;
        let fits = match &self.lane.patch_policy {
            None => !governed,
            Some(block) => {
                governed
                    && decode::<LanePatchPolicy>(block, &[])
                        .is_ok_and(|block| block == LanePatchPolicy::of(reference))
            }
        };
        self.demand(
            "F-1r",
            "patch_policy",
            fits,
            "must repeat the reference on lanes of its class, and be absent elsewhere",
        );
    }
}
