//! Own names of sets of pods that no pod has: which go, and which stay for a while. Pure.
//!
//! The name of an earlier placement stays while clients may still be led there: while the name that stays with its pod has
//! its addresses, and while an SRV lists it. Names of a pod that is down, or is being taken away, stay as they are.

use std::cell::OnceCell;
use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::context::RuleContext;
use crate::claim::Subject;
use crate::dns::reverse::ReverseName;
use crate::dns::{NameRef, Rtype};
use crate::inventory::model::{Policy, ProjectIndex};
use crate::inventory::pods::{Pod, PodMigration, PodSetIndex, PodSetTerms};
use crate::inventory::value::Time;
use crate::live::LiveRrset;
use crate::names::by_hash::ByHash;

/// What happens to a name that no pod has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodNameFate {
    /// It is of no set.
    OfNoSet,
    /// Its set keeps it for now.
    Stays,
    /// This set keeps it until caches have forgotten what led to it: until a time, where that is known.
    Settles(PodSetIndex, Option<Time>),
    /// Its records go, as those of a name of this set that no pod has.
    Goes(PodSetIndex),
    /// Its records go, as those of a pod of this set that another replaces.
    Replaced(PodSetIndex, Subject),
}

impl PodNameFate {
    /// The set for which its records go.
    pub fn set(&self) -> Option<PodSetIndex> {
        match self {
            PodNameFate::OfNoSet | PodNameFate::Stays | PodNameFate::Settles(..) => None,
            PodNameFate::Goes(set) | PodNameFate::Replaced(set, _) => Some(*set),
        }
    }
}

/// The domains of sets of pods, and what is live there.
pub struct PodNames<'a, 'c> {
    /// What may be read.
    context: &'a RuleContext<'c>,
    /// The sets of each domain, by its wire format.
    by_domain: HashMap<&'c [u8], Vec<PodSetIndex>>,
    /// The names that live SRV list; found when first asked for.
    listed: OnceCell<ListedServers<'c>>,
}

/// The servers that live SRV list, by hash: there are as many as pods. One that a run made which died may not be known to be own
/// yet.
struct ListedServers<'c> {
    /// The SRV.
    rrsets: Vec<LiveRrset<'c>>,
    /// The hash of each server that one of them lists, with its place.
    servers: ByHash<(u64, u32)>,
}

impl<'c> ListedServers<'c> {
    /// Finds them.
    fn of(context: &RuleContext<'c>) -> ListedServers<'c> {
        let rrsets: Vec<LiveRrset<'c>> = context.live.rrsets_of(Rtype::SRV).collect();
        let of_rrset = |(place, found): (u32, &LiveRrset<'c>)| {
            let servers = found.rrset.rdata().filter_map(|rdata| rdata.server());
            servers.map(move |server| (xxh3_64(server.as_wire()), place))
        };
        let servers = (0..).zip(&rrsets).flat_map(of_rrset).collect();
        ListedServers { servers: ByHash::new(servers, |own| own.0), rrsets }
    }

    /// Whether one of them lists a name.
    fn contain(&self, name: NameRef<'_>) -> bool {
        let hash = xxh3_64(name.as_wire());
        let near = self.servers.near(hash).iter().filter(|own| own.0 == hash);
        let mut rdata = near.flat_map(|own| self.rrsets[own.1 as usize].rrset.rdata());
        rdata.any(|rdata| rdata.server() == Some(name))
    }
}

impl<'a, 'c> PodNames<'a, 'c> {
    /// Collects the domains.
    pub fn of(context: &'a RuleContext<'c>) -> PodNames<'a, 'c> {
        let mut by_domain: HashMap<&[u8], Vec<PodSetIndex>> = HashMap::new();
        for (place, set) in context.inventory.pods.sets.iter().enumerate() {
            if let Some(terms) = set.terms() {
                by_domain.entry(terms.domain.as_name().as_wire()).or_default().push(PodSetIndex(place as u32));
            }
        }
        PodNames { context, by_domain, listed: OnceCell::new() }
    }

    /// Whether a name is directly below the domain of a set.
    pub fn may_be_of_pods(&self, name: NameRef<'_>) -> bool {
        !self.sets_at(name).is_empty()
    }

    /// What happens to a name that nothing has.
    pub fn fate(&self, name: NameRef<'_>) -> PodNameFate {
        let sets = self.sets_at(name);
        let Some(label) = name.first_label().filter(|_| !sets.is_empty()) else { return PodNameFate::OfNoSet };
        let pods = &self.context.inventory.pods;
        let of_set = |set: &PodSetIndex| Some((*set, pods.sets[set.0 as usize].terms()?));
        for (set, terms) in sets.iter().filter_map(of_set) {
            let ids = terms.transient.pods_of(label).into_iter();
            // The template may give several pods one label: `a-b-c` is of `a` and of `a-b`.
            let places: Vec<usize> = ids.filter_map(|id| pods.place_of(set, id)).collect();
            if !places.is_empty() {
                let is_kept = places.iter().any(|place| self.keeps(terms, &pods.rows[*place], name));
                let stays = is_kept || self.is_listed(name);
                return match self.context.recent.listed.get(name.as_wire()) {
                    _ if stays => PodNameFate::Stays,
                    Some(until) => PodNameFate::Settles(set, *until),
                    None => PodNameFate::Goes(set),
                };
            }
        }
        if self.is_listed(name) {
            return PodNameFate::Stays;
        }
        if let Some(until) = self.context.recent.listed.get(name.as_wire()) {
            return PodNameFate::Settles(sets[0], *until);
        }
        if let Some((set, old)) = sets.iter().filter_map(of_set).find_map(|own| self.replaced(own, label, name)) {
            return PodNameFate::Replaced(set, old);
        }
        let former = |(set, terms): (PodSetIndex, &PodSetTerms)| {
            let mut places = terms.constant.pods_of(label).into_iter().filter_map(|id| pods.place_of(set, id));
            places.find_map(|place| self.as_former_name((set, terms), &pods.rows[place]))
        };
        if let Some(fate) = sets.iter().filter_map(of_set).find_map(former) {
            return fate;
        }
        // A name that hosts of a project may have, too, is left to the rules of hosts.
        if self.is_of_hosts(name) {
            return PodNameFate::OfNoSet;
        }
        let is_like = |(_, terms): &(PodSetIndex, &PodSetTerms)| {
            terms.constant.may_give(label) || terms.transient.may_give(label)
        };
        match sets.iter().filter_map(of_set).find(is_like) {
            // A file that cannot be read may state it, whatever the state says of that.
            Some((_, terms)) if self.context.files_rest_at(terms.project, name) => PodNameFate::Stays,
            Some((set, _)) => PodNameFate::Goes(set),
            None => PodNameFate::OfNoSet,
        }
    }

    /// The pod that is gone, that another replaces, and whose name this is. As soon as another pod has an address of it, it is
    /// as any other name that no pod has.
    fn replaced(
        &self,
        (set, terms): (PodSetIndex, &PodSetTerms),
        label: &[u8],
        name: NameRef<'_>,
    ) -> Option<(PodSetIndex, Subject)> {
        let pods = &self.context.inventory.pods;
        if terms.migration != PodMigration::CopyAndRemove {
            return None;
        }
        let constant = pods.rows[pods.places_of(set)].iter().filter_map(|pod| pod.replaced(terms));
        let mut old = constant.filter(|old| pods.place_of(set, old).is_none());
        let old = old.find(|old| {
            terms.transient.may_give_for(old, label)
                || Pod::constant_name_of(old, terms).is_some_and(|constant| constant.as_name() == name)
        })?;
        let is_had = self
            .context
            .live
            .addresses_at(name)
            .any(|address| self.context.stated.on(ReverseName::of(address).as_name(), Rtype::PTR).next().is_some());
        (!is_had).then(|| (set, Subject::pod(&*pods.sets[set.0 as usize].id, old)))
    }

    /// The sets of the domain that a name is directly below.
    fn sets_at(&self, name: NameRef<'_>) -> &[PodSetIndex] {
        name.parent().map_or(&[], |domain| self.sets_in(domain))
    }

    /// The sets of a domain.
    pub fn sets_in(&self, domain: NameRef<'_>) -> &[PodSetIndex] {
        self.by_domain.get(domain.as_wire()).map_or(&[], Vec::as_slice)
    }

    /// Why a former constant name of a pod stays; none where it does not.
    ///
    /// A pod whose row does not say all that its name is made of keeps what it has. Where the name is made of the pod's place,
    /// the former one stays until clients can know the new one.
    fn as_former_name(&self, (set, terms): (PodSetIndex, &PodSetTerms), pod: &Pod) -> Option<PodNameFate> {
        if pod.fault.is_some() || !pod.state.is_placed() {
            return Some(PodNameFate::Stays);
        }
        let Ok(name) = pod.constant_name(terms, &self.context.inventory.symbols) else {
            return Some(PodNameFate::Stays);
        };
        if self.context.live.addresses_at(name.as_name()).next().is_none() {
            return Some(PodNameFate::Stays);
        }
        self.context.recent.made.get(&name).map(|until| PodNameFate::Settles(set, *until))
    }

    /// Whether a name of an earlier placement of a pod stays because of the pod.
    fn keeps(&self, terms: &PodSetTerms, pod: &Pod, name: NameRef<'_>) -> bool {
        if pod.fault.is_some() || !pod.state.is_placed() {
            return true;
        }
        let Ok(constant) = pod.constant_name(terms, &self.context.inventory.symbols) else { return true };
        let live = self.context.live;
        [Rtype::AAAA, Rtype::A].into_iter().any(|rtype| {
            let Some(stays) = live.rrset(constant.as_name(), rtype) else { return false };
            let own = live.rrset(name, rtype).into_iter().flat_map(|found| found.rrset.rdata());
            // An address that the pod has kept is at the name of its new placement, too.
            let mut left = own.filter(|rdata| rdata.address().is_none_or(|address| !pod.addresses.contains(&address)));
            left.any(|rdata| stays.rrset.rdata().any(|other| other.octets == rdata.octets))
        })
    }

    /// Whether a live SRV lists a name.
    fn is_listed(&self, name: NameRef<'_>) -> bool {
        self.listed.get_or_init(|| ListedServers::of(self.context)).contain(name)
    }

    /// Whether hosts of a project may have a name.
    fn is_of_hosts(&self, name: NameRef<'_>) -> bool {
        let mut admins = self.context.inventory.projects.iter().filter_map(|project| project.admin.as_ref());
        admins.any(|admin| admin.has_name(name))
    }
}

/// Whether own names of pods go under the policy of a project.
pub fn removes(context: &RuleContext<'_>, project: ProjectIndex) -> bool {
    let deletes = |policy: Policy| matches!(policy, Policy::Repair | Policy::Sync);
    context.settings(project).is_some_and(|own| own.automation && deletes(own.policy))
        && context.admin(project).is_some_and(|admin| admin.automation_allowed)
        && !context.pods.may_hide(project)
        && !context.is_tripped(project)
        && context.selection.includes_project(project)
}
