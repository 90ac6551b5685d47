//! The hosts at whose names changes of others take addresses: no rule of theirs has a part in that.

use super::RuleContext;
use crate::change::reach::takes_value;
use crate::change::{AffectedHost, Change};
use crate::claim::Subject;
use crate::inventory::model::{Host, HostStatus, Project};

/// Finds those whose projects ask for approvals: of others nothing depends on it.
pub fn find(context: &RuleContext<'_>, changes: &[Change]) -> Vec<AffectedHost> {
    let inventory = context.inventory;
    let asks = |project: &Project| project.admin.as_ref().is_some_and(|admin| admin.approvals.is_some());
    if !inventory.projects.iter().any(asks) {
        return Vec::new();
    }
    let mut affected = Vec::new();
    for change in changes.iter().filter(|change| takes_value(change)) {
        let (name, own) = (change.key.owner.as_name(), change.hosts());
        let holders = context.names.hosts_now(inventory, name).map(|place| &inventory.hosts[place]);
        let is_affected = |host: &&Host| host.status == HostStatus::Assigned && !own.contains(&host.inv);
        for host in holders.filter(is_affected) {
            let project = &inventory.projects[host.project.0 as usize];
            if asks(project) {
                let subject = Subject::Host(host.inv);
                affected.push(AffectedHost {
                    name: change.key.owner.to_string(),
                    subject,
                    project: project.id.clone(),
                });
            }
        }
    }
    affected.sort_unstable();
    affected.dedup();
    affected
}
