//! What reports say of copies: at which targets a change is made, and which pools have several.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::sanitize;
use crate::dns::ZoneName;
use crate::plan::{NoticeCode, Plan, ZoneSeen};
use crate::target::PoolName;

/// The targets of a change by their names, where it is not for all of its pool: `bind-a, pdns-b`.
pub fn listed(targets: &[String]) -> Option<String> {
    (!targets.is_empty()).then(|| sanitize(&targets.join(", ")))
}

/// The same as a mark behind the change: ` (at bind-a, pdns-b)`; empty where it is for all targets.
pub fn mark(targets: &[String]) -> String {
    listed(targets).map(|targets| format!(" (at {targets})")).unwrap_or_default()
}

/// The pools of a plan that have several targets, as far as a plan shows that; and those that have a zone whose name another pool
/// has, too.
#[derive(Debug)]
pub struct SeveralTargets<'p>(BTreeSet<&'p PoolName>);

impl<'p> SeveralTargets<'p> {
    /// Finds them: zones of theirs were read from several targets, or from one while the plan says that another one did not
    /// give them.
    pub fn find(plan: &'p Plan) -> SeveralTargets<'p> {
        let mut seen: BTreeMap<&PoolName, BTreeSet<&str>> = BTreeMap::new();
        for zone in &plan.zones {
            seen.entry(&zone.pool).or_default().insert(&zone.target);
        }
        let is_down = |notice: &&crate::plan::Notice| notice.code == NoticeCode::TargetUnknown;
        let down: BTreeSet<&str> = plan.notices.iter().filter(is_down).map(|notice| notice.name.as_str()).collect();
        // A single target without a name has that of its pool.
        let has_several = |(pool, targets): &(&PoolName, BTreeSet<&str>)| {
            let is_named = !targets.contains(pool.as_str());
            targets.len() > 1 || is_named && down.iter().any(|target| !targets.contains(target))
        };
        let mut pools: BTreeMap<&ZoneName, BTreeSet<&PoolName>> = BTreeMap::new();
        for zone in &plan.zones {
            pools.entry(&zone.zone).or_default().insert(&zone.pool);
        }
        let sharing = pools.into_values().filter(|pools| pools.len() > 1).flatten();
        SeveralTargets(seen.into_iter().filter(has_several).map(|(pool, _)| pool).chain(sharing).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The target from which a zone was read, where its pool has several or its name is that of another zone.
    pub fn target_of<'z>(&self, zone: &'z ZoneSeen) -> Option<&'z str> {
        self.0.contains(&zone.pool).then_some(zone.target.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Notice, fixture};

    /// The first zone of the fixture as it was read from targets.
    fn read_from(targets: &[&str]) -> Plan {
        let plan = fixture::fleet();
        let zone = |target: &&str| ZoneSeen { target: (*target).to_owned(), ..plan.zones[0].clone() };
        Plan { zones: targets.iter().map(zone).collect(), ..fixture::fleet() }
    }

    #[test]
    fn pools_of_one_target_have_no_other() {
        assert!(SeveralTargets::find(&fixture::fleet()).is_empty());
        assert!(SeveralTargets::find(&read_from(&["ns1"])).is_empty());
    }

    #[test]
    fn pools_of_several_stay_so_while_a_target_is_down() {
        let both = read_from(&["a", "b"]);
        assert_eq!(SeveralTargets::find(&both).target_of(&both.zones[1]), Some("b"));
        let notice =
            Notice { code: NoticeCode::TargetUnknown, name: "b".to_owned(), subject: None, message: String::new() };
        let one = Plan { notices: vec![notice], ..read_from(&["a"]) };
        assert_eq!(SeveralTargets::find(&one).target_of(&one.zones[0]), Some("a"));
    }
}
