//! Of which names it is not known whether a pod has them, or an SRV lists them: nothing may be concluded from their absence. Pure.
//!
//! That is so where the export or the file of a set cannot be read or is not believed, and where a zone could not be read.

use std::collections::HashMap;

use super::context::RuleContext;
use super::srv_name::SrvName;
use crate::dns::{NameRef, ZoneName};
use crate::inventory::model::ProjectIndex;
use crate::inventory::pods::{PodSet, PodSetFile};
use crate::live::{LiveZone, NamePlace, ZoneIndex};

/// The domains of sets, with what is not known of them.
pub struct PodDoubts<'a, 'c> {
    /// What may be read.
    context: &'a RuleContext<'c>,
    /// The domains of sets, each with the projects of which sets are or may be in it, and a zone that could not be read and may
    /// hold a name or an SRV there.
    domains: HashMap<&'c [u8], DoubtedDomain<'c>>,
}

/// What may be unknown of the domain of a set.
#[derive(Default)]
struct DoubtedDomain<'c> {
    /// The projects of its sets, and those with a set that may be in it.
    projects: Vec<ProjectIndex>,
    /// A zone that holds the domain or is below it, and could not be read.
    unread: Option<&'c ZoneName>,
}

impl<'a, 'c> PodDoubts<'a, 'c> {
    /// Looks at the domains.
    pub fn of(context: &'a RuleContext<'c>) -> PodDoubts<'a, 'c> {
        let mut domains: HashMap<&[u8], DoubtedDomain<'_>> = HashMap::new();
        for terms in context.inventory.pods.sets.iter().filter_map(PodSet::terms) {
            let own = domains.entry(terms.domain.as_name().as_wire()).or_default();
            if !own.projects.contains(&terms.project) {
                own.projects.push(terms.project);
            }
        }
        // A set whose file cannot be read may be in a domain of any set that is in one of its project's.
        let hiding: Vec<ProjectIndex> =
            context.pods.with_sets().filter(|project| context.pods.may_hide(*project)).collect();
        if !hiding.is_empty() {
            for terms in context.inventory.pods.sets.iter().filter_map(PodSet::terms) {
                let domain = terms.domain.as_name();
                let is_over =
                    |project: &&ProjectIndex| context.admin(**project).is_some_and(|admin| admin.contains(domain));
                let own = &mut domains.entry(domain.as_wire()).or_default().projects;
                for project in hiding.iter().filter(is_over) {
                    own.extend((!own.contains(project)).then_some(*project));
                }
            }
        }
        let unread: Vec<_> = context.live.zones().filter(|(_, zone)| zone.contents().is_none()).collect();
        if !unread.is_empty() {
            for terms in context.inventory.pods.sets.iter().filter_map(PodSet::terms) {
                let domain = terms.domain.as_name();
                let above = context.live.zone_of(domain);
                let is_near = |(place, zone): &&(ZoneIndex, &LiveZone)| {
                    above == Some(*place) || zone.name().as_name().is_at_or_below(domain)
                };
                let found = unread.iter().find(is_near).map(|(_, zone)| zone.name());
                domains.entry(domain.as_wire()).or_default().unread = found;
            }
        }
        PodDoubts { context, domains }
    }

    /// Whether nothing may be concluded of a name, since a set may have it.
    pub fn cover(&self, name: NameRef<'_>) -> bool {
        let Some(domain) = self.domain_of(name) else { return false };
        domain.unread.is_some()
            || domain.projects.iter().any(|project| self.context.pods.may_hide(*project))
            || matches!(self.context.live.place(name), NamePlace::Unknown(_))
    }

    /// Why it is not known whether a pod has a name that nothing has, in words; none where it is known. A set whose file cannot be read
    /// may have any name of its project.
    pub fn words(&self, name: NameRef<'_>, project: Option<ProjectIndex>) -> Option<String> {
        let own = self.domain_of(name);
        let mut projects = own.into_iter().flat_map(|own| own.projects.iter().copied()).chain(project);
        if let Some(project) = projects.find(|project| self.context.pods.may_hide(*project)) {
            return Some(hidden_words(self.context, project));
        }
        let zone = match self.context.live.place(name) {
            NamePlace::Unknown(zone) if own.is_some() => Some(self.context.live.zone(zone).name()),
            _ => own?.unread,
        };
        zone.map(|zone| format!("`{zone}` is not known there"))
    }

    /// The domain of sets that a name is directly below, or whose SRV it is.
    fn domain_of(&self, name: NameRef<'_>) -> Option<&DoubtedDomain<'c>> {
        let of = |domain: NameRef<'_>| self.domains.get(domain.as_wire());
        name.parent().and_then(of).or_else(|| SrvName::of(name).and_then(|srv| of(srv.domain)))
    }
}

/// Why pods of a project may be hidden, in words.
fn hidden_words(context: &RuleContext<'_>, project: ProjectIndex) -> String {
    let pods = &context.inventory.pods;
    if let Some(reason) = pods.doubted().doubt() {
        return reason.to_owned();
    }
    if pods.has_strays {
        return "a row of pods is so bad that it may be about any pod; `zonewright check` shows it".to_owned();
    }
    let is_near = |set: &&PodSet| set.project().is_none_or(|own| own == project);
    let bad = pods.sets.iter().filter(is_near).find_map(|set| match set.file {
        PodSetFile::Missing => Some(format!("no file has the set `{}`", set.id)),
        PodSetFile::Bad { .. } => {
            Some(format!("the file of the set `{}` has errors; `zonewright check` shows them", set.id))
        }
        PodSetFile::Good(_) => None,
    });
    bad.unwrap_or_else(|| "there is no export of pods".to_owned())
}
