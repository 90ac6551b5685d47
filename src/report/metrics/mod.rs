//! What a run found and did, as metrics in the text format of Prometheus: for the textfile collector of node_exporter.
//!
//! Comes in: a plan, its outcome, what the state says, how long it took. Goes out: one text. Each metric is of
//! the run as it ended, or of the state then; none is of single hosts, and what is not known is left out.

mod family;

mod format;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::apply::{ApplyOutcome, OutcomeCode};
use crate::consensus::{RowStatus, ZoneStatus};
use crate::diag::{Problem, sanitize};
use crate::drift::{Drift, StrayedCopy};
use crate::guard::Breaker;
use crate::inventory::cms::CmsAction;
use crate::inventory::value::Time;
use crate::plan::{LimitState, NoticeCode, Plan, Review};
use crate::report::copies::SeveralTargets;
use crate::report::running::{RunningNews, RunningRole};
use crate::review;
use crate::state::served::StatusCounts;
use crate::state::tallies::{ApprovalTally, PoolTally, RolloutTally, VoterTally};
use crate::state::{ApplySummary, CmsFailure, CmsTally};

use family::MetricFamily;

/// The metrics of one run.
#[derive(Debug, Clone)]
pub struct Metrics {
    /// The command; a label of all, so that the files of several commands can be in one folder.
    command: &'static str,
    /// The samples of each family, by labels.
    samples: BTreeMap<MetricFamily, BTreeMap<SampleLabels, f64>>,
}

/// The labels of a sample, each with its value, sanitized.
type SampleLabels = Vec<(&'static str, String)>;

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd {
    /// When it began, by the clock that ages are measured against; none where there is no such clock.
    pub began: Option<Time>,
    /// How long it took.
    pub took: Duration,
    /// The number that it ended with.
    pub exit: u8,
    /// Whether it did what it was to do.
    pub is_success: bool,
}

impl Metrics {
    /// Nothing yet, of a run of a command.
    pub fn new(command: &'static str) -> Metrics {
        let mut metrics = Metrics { command, samples: BTreeMap::new() };
        metrics.set(MetricFamily::BuildInfo, &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        metrics.set(MetricFamily::PlanMade, &[], 0.0);
        metrics
    }

    /// Adds a plan, and why it would be refused.
    pub fn plan(&mut self, plan: &Plan, refusal: Option<&Problem>) {
        self.set(MetricFamily::PlanMade, &[], 1.0);
        self.set(MetricFamily::PlanRefused, &[], 0.0);
        self.changes(plan);
        self.hosts(plan);
        // Of limits with the same name the tightest comes last, and stays.
        let mut limits: Vec<&LimitState> = plan.limits.iter().collect();
        limits.sort_by_key(|limit| std::cmp::Reverse(limit.max));
        limits.into_iter().for_each(|limit| self.limit(limit));
        self.sources(plan);
        self.zones(plan);
        if let Some(refusal) = refusal {
            self.refused(refusal);
        }
    }

    /// Adds why a plan was refused, or would be.
    pub fn refused(&mut self, refusal: &Problem) {
        self.set(MetricFamily::PlanRefused, &[], 1.0);
        self.set(MetricFamily::PlanRefusalInfo, &[("code", refusal.code.as_str())], 1.0);
    }

    /// Adds what is behind the changes of a plan.
    pub fn drift(&mut self, drift: &Drift<'_>) {
        self.set(MetricFamily::DriftedRrsets, &[], 0.0);
        for StrayedCopy { change, cause, .. } in drift.strays {
            let project = &drift.plan.changes[*change].project;
            self.add(MetricFamily::StrayedRrsets, &[("class", cause.mover.as_str()), ("project", project)], 1.0);
            if cause.mover.is_drift() {
                self.add(MetricFamily::DriftedRrsets, &[], 1.0);
            }
        }
    }

    /// Adds the outcome of a plan that was applied.
    pub fn applied(&mut self, applied: &ApplyOutcome) {
        for outcome in OutcomeCode::ALL {
            self.set(MetricFamily::ApplyHosts, &[("outcome", outcome.as_str())], applied.count(*outcome) as f64);
        }
        let sums = applied.zones.iter().fold((0, 0), |sums, zone| (sums.0 + zone.updates, sums.1 + zone.changes));
        self.set(MetricFamily::ApplyUpdates, &[], sums.0 as f64);
        self.set(MetricFamily::ApplyChanges, &[], sums.1 as f64);
    }

    /// Adds what the state says: the tripped breakers, the apply that ended last, how many did not end.
    pub fn state(&mut self, breakers: &[Breaker], last: Option<&ApplySummary>, unfinished: usize) {
        self.set(MetricFamily::BreakersTripped, &[], breakers.len() as f64);
        for breaker in breakers {
            self.set(MetricFamily::BreakerTripped, &[("scope", &breaker.scope)], seconds(breaker.tripped));
        }
        self.set(MetricFamily::UnfinishedApplies, &[], unfinished as f64);
        let Some(last) = last else { return };
        if let Some(finished) = last.finished {
            self.set(MetricFamily::LastApply, &[], seconds(finished));
        }
        for outcome in OutcomeCode::ALL {
            let count = last.outcomes.get(outcome.as_str()).copied().unwrap_or(0);
            self.set(MetricFamily::LastApplyHosts, &[("outcome", outcome.as_str())], count as f64);
        }
    }

    /// Adds what a `run` says of itself.
    pub fn running(&mut self, news: &RunningNews) {
        let is_ok = !news.has_broken_settings && news.obstacle.as_ref().is_none_or(|own| !own.is_config);
        self.set(MetricFamily::ConfigOk, &[], f64::from(is_ok));
        self.set(MetricFamily::Leader, &[], f64::from(news.role == RunningRole::Leads));
        self.set(MetricFamily::Passes, &[], news.last.as_ref().map_or(0.0, |last| last.number as f64));
        self.set(MetricFamily::FailedPasses, &[], f64::from(news.failures));
        if let Some(next) = news.next {
            self.set(MetricFamily::NextPass, &[], seconds(next));
        }
    }

    /// Adds what the state says of rollouts: what waits, by each code there is, and what is in flux, by group.
    pub fn rollouts(&mut self, tally: &RolloutTally) {
        for (code, count) in &tally.waiting {
            self.set(MetricFamily::WaitingSubjects, &[("code", code.as_str())], *count as f64);
        }
        for (group, count) in &tally.flux {
            self.set(MetricFamily::FluxSubjects, &[("group", group)], *count as f64);
        }
    }

    /// Adds what the state says of approvals: how services were asked in all runs, how far tasks are, and who does not answer.
    pub fn approvals(&mut self, tally: &ApprovalTally) {
        for CmsTally { service, version, project, kind, action, outcome, count, took, .. } in &tally.calls {
            let labels = [
                ("service", tally.label(service)),
                ("project", project.as_deref().unwrap_or_default()),
                ("action", action.map_or("", CmsAction::as_str)),
                ("version", version.as_str()),
                ("request", kind.as_str()),
                ("outcome", outcome),
            ];
            self.add(MetricFamily::CmsRequests, &labels, *count as f64);
            self.add(MetricFamily::CmsRequestSeconds, &labels, took.as_secs_f64());
        }
        for ((service, standing), count) in &tally.tasks {
            let labels = [("service", tally.label(service)), ("status", standing.as_str())];
            self.add(MetricFamily::CmsTasks, &labels, *count as f64);
        }
        // Of services with the same URL the one that has not answered for the longest time comes last, and stays.
        let mut failures: Vec<&CmsFailure> = tally.failures.iter().collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.since));
        for CmsFailure { service, since, .. } in failures {
            self.set(MetricFamily::CmsFailing, &[("service", tally.label(service))], seconds(*since));
        }
    }

    /// Adds what the state says of a pool: what is served as applied, what targets lack, the zones that were made or deleted.
    pub fn pool(&mut self, tally: &PoolTally) {
        let pool = tally.pool.as_str();
        for (target, count) in &tally.lacking {
            self.set(MetricFamily::LackingChanges, &[("pool", pool), ("target", target)], *count as f64);
        }
        for row in &tally.made {
            let target = row.copy.target.name.as_str();
            let (action, status) = (row.action.as_str(), row.status().as_str());
            let labels = [("pool", pool), ("target", target), ("action", action), ("status", status)];
            self.add(MetricFamily::ZoneActions, &labels, 1.0);
        }
        let Some(served) = &tally.served else { return };
        let StatusCounts { pending, active, error, deleted } = served.rrsets;
        for (status, count) in [("PENDING", pending), ("ACTIVE", active), ("ERROR", error), ("DELETED", deleted)] {
            self.set(MetricFamily::PublishedRrsets, &[("pool", pool), ("status", status)], count as f64);
        }
        for status in ZoneStatus::ALL {
            let count = served.zones.iter().filter(|zone| *zone == status).count();
            self.set(MetricFamily::PublishedZones, &[("pool", pool), ("status", status.as_str())], count as f64);
        }
        for VoterTally { voter, at_newest, failed } in &served.voters {
            let server = voter.server.as_deref().unwrap_or_default();
            for (count, status) in [(at_newest, RowStatus::Success), (failed, RowStatus::Error)] {
                let labels =
                    [("pool", pool), ("target", &voter.target), ("server", server), ("status", status.as_str())];
                self.set(MetricFamily::VoterZones, &labels, *count as f64);
            }
        }
    }

    /// Adds how long the stage with this label took; stages with the same label are added up.
    pub fn stage(&mut self, label: &'static str, took: Duration) {
        self.add(MetricFamily::StageDuration, &[("stage", label)], took.as_secs_f64());
    }

    /// Adds how the run ended.
    pub fn ended(&mut self, ended: RunEnd) {
        if let Some(began) = ended.began {
            self.set(MetricFamily::RunTimestamp, &[], seconds(began));
        }
        self.set(MetricFamily::RunDuration, &[], ended.took.as_secs_f64());
        self.set(MetricFamily::RunExitCode, &[], ended.exit.into());
        self.set(MetricFamily::RunSuccess, &[], truth(ended.is_success));
    }

    /// All of it as text.
    pub fn render(&self) -> String {
        format::render(self.command, &self.samples)
    }

    /// Adds the changes of a plan, by project, cause and class.
    fn changes(&mut self, plan: &Plan) {
        self.set(MetricFamily::PendingChanges, &[], plan.changes.len() as f64);
        let Some(Review { causes, .. }) = review::of_plan(plan) else { return };
        for cause in &causes {
            for place in &cause.changes {
                let project = &plan.changes[*place as usize].project;
                let class = cause.class.map(|class| ("class", class.as_str()));
                let labels = [("cause", cause.kind.as_str()), ("project", project)];
                self.add(MetricFamily::PendingByCause, &class.into_iter().chain(labels).collect::<Vec<_>>(), 1.0);
            }
        }
    }

    /// Adds the hosts that get no changes, and the RRsets that wait.
    fn hosts(&mut self, plan: &Plan) {
        self.set(MetricFamily::BlockedHosts, &[], plan.blocked.len() as f64);
        for blocked in &plan.blocked {
            let labels = [("code", blocked.code.as_str()), ("project", &blocked.project)];
            self.add(MetricFamily::BlockedByCode, &labels, 1.0);
        }
        self.set(MetricFamily::SkippedHosts, &[], plan.skipped.len() as f64);
        for skipped in &plan.skipped {
            let labels = [("code", skipped.code.as_str()), ("project", &skipped.project)];
            self.add(MetricFamily::SkippedByCode, &labels, 1.0);
        }
        self.set(MetricFamily::WaitingRrsets, &[], plan.delayed.len() as f64);
        self.left_behind(plan);
    }

    /// Adds the own RRsets of names that no host has, by project, and 0 where there are none: an alert needs a value.
    fn left_behind(&mut self, plan: &Plan) {
        if plan.left_behind.is_empty() {
            self.set(MetricFamily::LeftBehindRrsets, &[("project", "")], 0.0);
        }
        for left in &plan.left_behind {
            let project = left.project.as_deref().unwrap_or_default();
            self.add(MetricFamily::LeftBehindRrsets, &[("project", project)], 1.0);
        }
    }

    /// Adds how much of a limit is used.
    fn limit(&mut self, limit: &LimitState) {
        let name = limit.name();
        let labels = [("limit", name.as_str())];
        self.set(MetricFamily::LimitMax, &labels, limit.max as f64);
        self.set(MetricFamily::LimitUsed, &labels, limit.used as f64);
        self.set(MetricFamily::LimitPlanned, &labels, limit.planned as f64);
        self.set(MetricFamily::LimitExceeded, &labels, truth(limit.exceeded));
    }

    /// Adds the sources: how old they are, and whether they are believed.
    fn sources(&mut self, plan: &Plan) {
        for seen in &plan.sources {
            let labels = [("source", seen.source.as_str())];
            self.set(MetricFamily::SourceTrusted, &labels, 1.0);
            self.set(MetricFamily::SourceRows, &labels, seen.rows as f64);
            if let Some(dated) = seen.dated {
                self.set(MetricFamily::SourceTimestamp, &labels, seconds(dated));
            }
            if let Some(max_age) = seen.max_age {
                self.set(MetricFamily::SourceMaxAge, &labels, max_age.as_secs() as f64);
            }
        }
        let doubts = [NoticeCode::SourceUnknown, NoticeCode::SourceUntrusted];
        for notice in plan.notices.iter().filter(|notice| doubts.contains(&notice.code)) {
            self.set(MetricFamily::SourceTrusted, &[("source", &notice.name)], 0.0);
        }
    }

    /// Adds the zones: whether they were read, and as of which serial; where their pool has several targets, from each.
    fn zones(&mut self, plan: &Plan) {
        let several = SeveralTargets::find(plan);
        for seen in &plan.zones {
            let zone = seen.zone.to_string();
            let target = several.target_of(seen).map(|target| ("target", target));
            let labels: Vec<(&str, &str)> = [("zone", zone.as_str())].into_iter().chain(target).collect();
            self.set(MetricFamily::ZoneRead, &labels, 1.0);
            if let Some(serial) = seen.serial {
                self.set(MetricFamily::ZoneSerial, &labels, serial.into());
            }
            self.set(MetricFamily::ZoneRrsets, &labels, seen.rrsets as f64);
        }
        for notice in &plan.notices {
            match notice.code {
                NoticeCode::ZoneUnknown => self.set(MetricFamily::ZoneRead, &[("zone", &notice.name)], 0.0),
                NoticeCode::ReadByQuery => self.set(MetricFamily::ZoneRead, &[("zone", &notice.name)], 1.0),
                _ => {}
            }
        }
    }

    /// Sets a sample.
    fn set(&mut self, family: MetricFamily, labels: &[(&'static str, &str)], value: f64) {
        *self.sample(family, labels) = value;
    }

    /// Adds to a sample.
    fn add(&mut self, family: MetricFamily, labels: &[(&'static str, &str)], value: f64) {
        *self.sample(family, labels) += value;
    }

    /// The value of a sample; 0 where it is new. Values of labels that look the same when shown are one.
    fn sample(&mut self, family: MetricFamily, labels: &[(&'static str, &str)]) -> &mut f64 {
        let labels = labels.iter().map(|(name, value)| (*name, sanitize(value))).collect();
        self.samples.entry(family).or_default().entry(labels).or_default()
    }
}

/// A point in time for metrics: seconds since 1970-01-01T00:00:00Z.
fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 / 1e9
}

/// Whether something is so.
fn truth(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}
