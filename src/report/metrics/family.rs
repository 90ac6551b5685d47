//! The metrics that there are, in the order in which they are written. Base units, and no `_total`: all are gauges, but
//! for sums of seconds, which have no type.

/// Declares the families: a variant, its name, and what it says.
macro_rules! families {
    ($($variant:ident = $name:literal: $help:literal;)*) => {
        /// A metric.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum MetricFamily {
            $(#[doc = $help] $variant,)*
        }

        impl MetricFamily {
            /// All of them.
            #[cfg(test)]
            pub const ALL: &[MetricFamily] = &[$(MetricFamily::$variant,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(MetricFamily::$variant => $name,)* }
            }

            /// Its type. Prometheus keeps the ending `_sum` for summaries, and a gauge must not have it.
            pub fn kind(self) -> &'static str {
                if self.name().ends_with("_sum") { "untyped" } else { "gauge" }
            }

            /// What it says.
            pub fn help(self) -> &'static str {
                match self { $(MetricFamily::$variant => $help,)* }
            }
        }
    };
}

families! {
    BuildInfo = "zonewright_build_info": "The version of zonewright that ran; always 1.";
    RunTimestamp = "zonewright_run_timestamp_seconds": "When the run began.";
    RunDuration = "zonewright_run_duration_seconds": "How long the run took.";
    StageDuration = "zonewright_run_stage_duration_seconds": "How long each stage of the run took.";
    RunExitCode = "zonewright_run_exit_code": "The exit code of the run.";
    RunSuccess = "zonewright_run_success": "Whether the run succeeded: exit code 0 or 2.";
    PlanMade = "zonewright_plan_made": "Whether there was a plan at all.";
    PlanRefused = "zonewright_plan_refused": "Whether a guard refuses the plan.";
    PlanRefusalInfo = "zonewright_plan_refusal_info": "The code of the refusal of the plan; always 1.";
    PendingChanges = "zonewright_pending_changes": "RRsets that the plan changes.";
    PendingByCause = "zonewright_pending_changes_by_cause":
        "RRsets that the plan changes, by project and kind of cause; with a base by class too.";
    BlockedHosts = "zonewright_blocked_hosts": "Hosts that get no change although they should.";
    BlockedByCode = "zonewright_blocked_hosts_by_code":
        "Hosts that get no change although they should, by project and code.";
    SkippedHosts = "zonewright_skipped_hosts": "Hosts that zonewright leaves alone on purpose.";
    SkippedByCode = "zonewright_skipped_hosts_by_code":
        "Hosts that zonewright leaves alone on purpose, by project and code.";
    WaitingRrsets = "zonewright_waiting_rrsets": "RRsets that no host or pod has and that wait to be deleted.";
    LeftBehindRrsets = "zonewright_left_behind_rrsets":
        "RRsets that zonewright created at names that no host or pod has now, and that stay, by project.";
    WaitingSubjects = "zonewright_waiting_subjects": "Hosts and pods that wait for a later wave of a rollout, by code.";
    FluxSubjects = "zonewright_flux_subjects":
        "Hosts and pods in flux: they count in the budget of their project or set, which is the label `group`.";
    CmsRequests = "zonewright_cms_requests":
        "Requests to cluster-management services in all runs of this state, by their outcome.";
    CmsRequestSeconds = "zonewright_cms_request_seconds_sum":
        "How long requests to cluster-management services took together, in all runs of this state.";
    CmsTasks = "zonewright_cms_tasks": "Tasks at cluster-management services, by how far they are.";
    CmsFailing = "zonewright_cms_failing_since_seconds":
        "Since when a cluster-management service answers no request; only while it does not.";
    LimitMax = "zonewright_limit_max": "How many hosts, RRsets or changes a limit allows.";
    LimitUsed = "zonewright_limit_used": "How many of a limit were changed within its period.";
    LimitPlanned = "zonewright_limit_planned": "How many of a limit the plan would add.";
    LimitExceeded = "zonewright_limit_exceeded": "Whether the plan exceeds a limit.";
    BreakersTripped = "zonewright_breakers_tripped": "Breakers that are tripped.";
    BreakerTripped = "zonewright_breaker_tripped_timestamp_seconds": "When the breaker tripped.";
    SourceTrusted = "zonewright_source_trusted": "Whether a source could be read and is believed.";
    SourceTimestamp = "zonewright_source_timestamp_seconds": "When a source was made, by its own date.";
    SourceMaxAge = "zonewright_source_max_age_seconds": "How old a source may be.";
    SourceRows = "zonewright_source_rows": "Rows of a source, bad ones included.";
    ZoneRead = "zonewright_zone_read": "Whether a zone could be read.";
    ZoneSerial = "zonewright_zone_serial": "The serial of a zone as it was read.";
    ZoneRrsets = "zonewright_zone_rrsets": "RRsets of a zone as it was read.";
    DriftedRrsets = "zonewright_drifted_rrsets": "RRsets that another editor changed since the apply that wrote them.";
    StrayedRrsets = "zonewright_strayed_rrsets":
        "RRsets that are not as desired, by project and by what changed since: live DNS or the inventory.";
    ApplyHosts = "zonewright_apply_hosts": "Hosts of the plan by their outcome in this run.";
    ApplyUpdates = "zonewright_apply_updates": "Updates of this run that took effect.";
    ApplyChanges = "zonewright_apply_changes": "Changes in the updates of this run that took effect.";
    LastApply = "zonewright_last_apply_timestamp_seconds": "When the last finished apply ended.";
    LastApplyHosts = "zonewright_last_apply_hosts": "Hosts of the last finished apply, by outcome.";
    UnfinishedApplies = "zonewright_unfinished_applies":
        "Applies that began after the last finished one, and never ended.";
    PublishedRrsets = "zonewright_published_rrsets":
        "RRsets that applies changed, by pool and by whether they are served; of pools that have name servers.";
    PublishedZones = "zonewright_published_zones": "Zones that applies changed, by pool and status; of pools that have name servers.";
    VoterZones = "zonewright_voter_zones":
        "Zones by whether a voter serves them as of the newest step, as far as it was asked; of pools that have name servers.";
    LackingChanges = "zonewright_lacking_changes": "Changes that a target lacks; of pools that have several.";
    ZoneActions = "zonewright_zone_actions": "Zones that were made or deleted, or were to be, by target.";
    ConfigOk = "zonewright_config_ok": "Whether the configuration can be used; of `run`.";
    Leader = "zonewright_leader": "Whether this process makes the passes, and not another one; of `run`.";
    Passes = "zonewright_passes": "Passes that ended since this process began; of `run`.";
    FailedPasses = "zonewright_failed_passes": "Passes that failed since one did not; of `run`.";
    NextPass = "zonewright_next_pass_timestamp_seconds": "When the next pass begins; of `run`, between two passes.";
}
