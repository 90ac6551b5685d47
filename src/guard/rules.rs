//! The limits in force, and where each is set.

use std::collections::BTreeMap;

use super::breakers::GLOBAL;
use crate::diag::{Files, Origin};
use crate::inventory::model::{HostLimit, Limits};
use crate::inventory::value::{Duration, Percent};
use crate::plan::{LimitKind, LimitSetting};

/// The limits in force.
#[derive(Debug, Clone, Default)]
pub struct LimitRules {
    /// How many hosts may change within a period, the global ones first.
    pub hosts: Vec<HostRule>,
    /// The share of a zone's managed RRsets that one plan may delete.
    pub max_delete: Option<Percent>,
    /// The share of them that it may modify.
    pub max_modify: Option<Percent>,
    /// The share of its changes that one row or setting may cause.
    pub max_by_cause: Option<Percent>,
    /// The share of the hosts from which one plan may take live records.
    pub max_loss: Option<Percent>,
    /// Where each share is set, as `file:line`; those that are not set have none.
    pub places: BTreeMap<LimitKind, String>,
}

/// How many hosts of a scope may change within a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    /// `global`, or `project:` and the id.
    pub scope: String,
    /// The period.
    pub period: Duration,
    /// How many.
    pub max: u64,
    /// Where it is set; none where only an earlier plan says it.
    pub place: Option<String>,
}

impl LimitRules {
    /// The limits that zonewright.toml and project files set.
    pub fn new<'a>(
        global: &Limits,
        projects: impl IntoIterator<Item = (&'a str, &'a [HostLimit])>,
        files: &Files,
    ) -> LimitRules {
        let place = |origin: Origin| files.place(origin).to_string();
        let rule = |scope: &str, limit: &HostLimit| {
            let HostLimit { period, max, origin } = *limit;
            HostRule { scope: scope.to_owned(), period, max, place: Some(place(origin)) }
        };
        let mut hosts: Vec<HostRule> = global.hosts.iter().map(|limit| rule(GLOBAL, limit)).collect();
        for (project, limits) in projects {
            let scope = format!("project:{project}");
            hosts.extend(limits.iter().map(|limit| rule(&scope, limit)));
        }
        let Limits { max_delete, max_modify, max_by_cause, max_loss, .. } = *global;
        let shares = [
            (LimitKind::MaxDelete, max_delete),
            (LimitKind::MaxModify, max_modify),
            (LimitKind::MaxByCause, max_by_cause),
            (LimitKind::MaxLoss, max_loss),
        ];
        let places = shares.into_iter().filter_map(|(kind, set)| Some((kind, place(set?.origin)))).collect();
        let [max_delete, max_modify, max_by_cause, max_loss] = shares.map(|(_, set)| set.map(|set| set.share));
        LimitRules { hosts, max_delete, max_modify, max_by_cause, max_loss, places }
    }

    /// What sets a limit that is a share: `share` where it is set; none where that is the default.
    pub(super) fn setting(&self, kind: LimitKind, share: Option<Percent>) -> Option<LimitSetting> {
        let says = format!("{kind} = \"{}\"", share?);
        Some(LimitSetting { place: self.places.get(&kind).cloned().unwrap_or_default(), says })
    }

    /// The longest period of any limit: older changes do not count.
    pub fn longest(&self) -> Duration {
        self.hosts.iter().map(|rule| rule.period).max().unwrap_or(Duration::from_secs(0))
    }
}
