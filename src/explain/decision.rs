//! What is done about a host, or why nothing is.

use std::collections::BTreeSet;

use super::model::{ByHand, DecisionFacts, HostObstacle};
use super::{ExplainCase, ExplainedDecisions, OtherDecision, changes};
use crate::change::{Change, SkipCode};
use crate::claim::Subject;
use crate::desired::host::FaultDetail;
use crate::diag::{Diagnostic, Origin};
use crate::diff::rules;
use crate::diff::{RuleContext, Selection, SubjectBlock, merge};
use crate::diff::{SubjectStanding, standing};
use crate::inventory::model::{Host, Policy, ProjectFile};
use crate::inventory::value::Inv;

/// A block, as an explanation shows it.
fn obstacle(case: &ExplainCase<'_>, place: usize, block: SubjectBlock) -> HostObstacle {
    let findings = case.findings(place, &block);
    HostObstacle { code: block.code.as_str().into(), message: block.message, findings, hint: block.hint }
}

impl ExplainCase<'_> {
    /// The policy under which a host is planned, or would be if an operator named it.
    pub(super) fn policy_of(&self, place: usize) -> Policy {
        let host = &self.context.inventory.hosts[place];
        let by_policy = standing::skip_or_policy(self.context, host);
        by_policy.unwrap_or_else(|_| self.context.settings(host.project).map_or(Policy::CreateOnly, |own| own.policy))
    }

    /// What is done about the host at a place.
    pub(super) fn decide(&self, place: usize) -> DecisionFacts {
        let context = self.context;
        let host = &context.inventory.hosts[place];
        let mut facts = self.changes_of(host.inv, Some(place));
        match &self.standings.hosts[place] {
            SubjectStanding::Free => {
                facts.outcome = "free";
                facts.said = "a free host is not planned and not listed; its name counts as taken".to_owned();
            }
            _ if !context.selection.includes(host.inv, host.project) => {
                facts.outcome = "left-out";
                facts.said = "`--host` or `--project` names others; without these it is in the plan".to_owned();
            }
            SubjectStanding::Skipped(code) => {
                facts.outcome = "skipped";
                facts.skipped = Some(code.as_str());
                facts.said = self.skip_words(host, *code);
                facts.by_hand = Some(self.by_hand(place, *code));
            }
            SubjectStanding::Blocked(_) => {
                facts.although = self.although(host);
                self.blocked(place, &mut facts);
            }
            SubjectStanding::Open(policy) => {
                facts.although = self.although(host);
                facts.policy = Some(policy.as_str());
                let is_blocked = self.decision.blocked.iter().any(|blocked| blocked.subject == Subject::Host(host.inv));
                if is_blocked {
                    self.blocked(place, &mut facts);
                } else if context.held.has_host(host.inv) {
                    facts.said = "a record of it, or of a host that shares a change with it, was edited after an \
                                  apply, and `keep_edits` leaves it as it is"
                        .to_owned();
                } else {
                    self.hold_back(place, *policy, &mut facts);
                }
            }
        }
        facts
    }

    /// The changes that a host has or shares, and its notices; the host may be one that hosts.csv lacks.
    pub(super) fn changes_of(&self, inv: Inv, place: Option<usize>) -> DecisionFacts {
        let desired = place.map(|place| &self.context.desired[place]);
        let own = self.own_changes(inv, desired);
        let notices = self.decision.notices.iter().filter(|notice| notice.host() == Some(inv));
        let notices = notices.map(|notice| notice.message.clone());
        let left = self.decision.left_behind.iter().filter(|left| left.hosts.contains(&inv));
        DecisionFacts {
            outcome: if own.is_empty() { "nothing" } else { "changes" },
            policy: None,
            skipped: None,
            although: None,
            said: String::new(),
            obstacles: Vec::new(),
            changes: own,
            changes_of_others: self.changes(|change| changes::concerns(change, inv, desired)),
            notices: notices.chain(left.map(|left| left.message(""))).collect(),
            held_back: Vec::new(),
            by_hand: None,
        }
    }

    /// What is wrong with the line that blocks a host, where a line does.
    fn findings(&self, place: usize, block: &SubjectBlock) -> Vec<String> {
        let faults = self.context.desired[place].faults.iter();
        let lines = faults.filter_map(|fault| match fault.detail {
            FaultDetail::Line(origin) if fault.code == block.code => Some(origin),
            _ => None,
        });
        let lines: Vec<Origin> =
            lines.filter(|line| block.message.starts_with(&format!("{} ", self.line(*line)))).collect();
        let files = &self.context.inventory.files;
        let is_on = |found: &Diagnostic, line: &Origin| {
            let is_same_line = (line.file, line.line) == (found.origin.file, found.origin.line);
            found.row == Some(*line) || (is_same_line && !files.is_crowded(line.file))
        };
        let about = |found: &&Diagnostic| lines.iter().any(|line| is_on(found, line));
        self.diagnostics.iter().filter(about).map(|found| format!("{}: {}", found.code, found.message)).collect()
    }

    /// Says what blocks a host, and what would block it next.
    fn blocked(&self, place: usize, facts: &mut DecisionFacts) {
        facts.outcome = "blocked";
        let blocks = rules::obstacles(self.context, self.standings, place, self.policy_of(place));
        facts.obstacles = blocks.into_iter().map(|block| obstacle(self, place, block)).collect();
    }

    /// Says what a host's policy keeps its rules from doing: what they would do under `repair`, and do not.
    fn hold_back(&self, place: usize, policy: Policy, facts: &mut DecisionFacts) {
        if matches!(policy, Policy::Repair | Policy::Sync) {
            return;
        }
        let mut outcome = rules::reconcile(self.context, place, Policy::Repair);
        rules::settle(self.context, self.standings, place, &mut outcome);
        if let Some(block) = outcome.block() {
            let (policy, code) = (policy.as_str(), block.code);
            facts.said = format!(
                "policy `{policy}` leaves wrong records as they are; under `repair` the host would be blocked by \
                 `{code}`: {}",
                block.message
            );
        }
        let done: BTreeSet<_> = self.decision.changes.iter().map(|change| (&change.zone, &change.key)).collect();
        let repaired: Vec<Change> = merge::merge(self.context, &mut outcome.acts);
        let held = repaired.iter().filter(|change| !done.contains(&(&change.zone, &change.key)));
        facts.held_back = held.map(changes::facts).collect();
    }

    /// Why a host is skipped, and what would change that.
    fn skip_words(&self, host: &Host, code: SkipCode) -> String {
        let project = &self.context.inventory.projects[host.project.0 as usize];
        let id = &project.id;
        match (code, &project.admin, &project.file) {
            (SkipCode::Restricted, ..) => {
                format!("{} restricts it by `automated-dns`; remove that, or give `--host`", self.line(host.origin))
            }
            (SkipCode::Breaker, ..) => {
                "a breaker has tripped: find out why with `zonewright status`, and reset it there; or give `--host`"
                    .to_owned()
            }
            (_, None, _) => format!(
                "zonewright.toml has no [project.{id}], so automation is not allowed; the administrator can add it \
                 with `automation = \"allowed\"`"
            ),
            (_, Some(admin), _) if !admin.automation_allowed => format!(
                "the administrator has not allowed automation for `{id}` ({}): `automation = \"allowed\"` allows it",
                self.line(admin.origin)
            ),
            (_, Some(_), ProjectFile::Good(settings)) => format!(
                "the owner has not switched automation on for `{id}` ({}): set `automation: true`, or give `--host`",
                self.line(settings.policy_origin)
            ),
            (_, Some(_), _) => format!("the file of project `{id}` cannot be read"),
        }
    }

    /// Why a host is not skipped, though its owner's switch or a restriction keeps automation away from it.
    fn although(&self, host: &Host) -> Option<String> {
        let project = &self.context.inventory.projects[host.project.0 as usize];
        let settings = project.file.settings().filter(|settings| host.columns_are_known && !settings.automation);
        let by_hand = self.context.selection.names_host(host.inv);
        match settings {
            Some(_) if by_hand => Some("`--host` names it, which overrides the owner's switch".to_owned()),
            Some(settings) => Some(format!(
                "the owner has not switched automation on for `{}` ({}), but that does not hold back a host's first \
                 publication: names.lock gives it its name, and no AAAA is live there. So it is planned under \
                 `create-only`",
                project.id,
                self.line(settings.policy_origin)
            )),
            None => (by_hand && host.restricted)
                .then(|| "`--host` names it, which overrides the restriction `automated-dns`".to_owned()),
        }
    }

    /// What would happen if an operator named a skipped host on the command line.
    fn by_hand(&self, place: usize, code: SkipCode) -> ByHand {
        let inv = self.context.inventory.hosts[place].inv;
        let selection = Selection { hosts: [inv].into(), ..Selection::default() };
        let OtherDecision { changes: decided, standings } = (self.again)(&selection);
        let context = RuleContext { selection: &selection, ..*self.context };
        let command = format!("zonewright plan --host {inv}");
        if let SubjectStanding::Skipped(still) = &standings.hosts[place] {
            debug_assert_eq!(*still, code);
            return ByHand { command, passes: false, obstacles: Vec::new(), changes: Vec::new() };
        }
        let decision = ExplainedDecisions {
            changes: &decided,
            blocked: &[],
            skipped: &[],
            notices: &[],
            waiting: &[],
            left_behind: &[],
        };
        let named = ExplainCase { context: &context, standings: &standings, decision, ..*self };
        let policy = named.policy_of(place);
        let blocks = rules::obstacles(&context, &standings, place, policy);
        let obstacles = blocks.into_iter().map(|block| obstacle(&named, place, block)).collect();
        let changes = named.own_changes(inv, Some(&context.desired[place]));
        ByHand { command, passes: true, obstacles, changes }
    }
}
