//! What clients get: each resolver keeps what it heard, and asks any name server for the rest.

use std::net::IpAddr;

use super::world::{Heard, Place, TruePod, World, addresses, targets};
use crate::dns::{Name, Rrset, Rtype, Ttl};
use crate::inventory::pods::PodState;
use crate::inventory::value::Duration;

impl World {
    /// What a resolver keeps.
    pub fn kept(&self, resolver: usize, name: &Name, rtype: Rtype) -> Option<&Heard> {
        self.resolvers[resolver].get(&(name.clone(), rtype)).filter(|heard| self.now < heard.until)
    }

    /// A resolver is asked for a name, and asks a name server where it keeps nothing; gives the targets.
    pub fn resolve(&mut self, (resolver, name_server): (usize, usize), name: &Name, rtype: Rtype) -> Vec<Name> {
        if let Some(heard) = self.kept(resolver, name, rtype) {
            return heard.targets.clone();
        }
        let zone = &self.name_servers[name_server][0];
        let ttl = zone.rrset(name.as_name(), rtype).map_or(Ttl::from_secs(300).unwrap(), Rrset::ttl);
        let (addresses, targets) = (addresses(zone, name), targets(zone, name));
        let until = self.now.plus(Duration::from(ttl));
        let heard = Heard { addresses, targets: targets.clone(), until };
        self.resolvers[resolver].insert((name.clone(), rtype), heard);
        targets
    }

    /// All that clients may get as the addresses of a name: from each resolver that keeps something, and from each name
    /// server.
    pub fn views<'w>(&'w self, name: &'w Name) -> impl Iterator<Item = Vec<IpAddr>> + 'w {
        let kept = (0..self.resolvers.len()).filter_map(|own| self.kept(own, name, Rtype::AAAA));
        let kept = kept.map(|heard| heard.addresses.clone());
        kept.chain(self.name_servers.iter().map(|zones| addresses(&zones[0], name)))
    }

    /// Whether a pod is alive at one of some addresses: where clients are led by its constant name, and where its owner has
    /// it active already.
    pub fn is_at(&self, pod: &TruePod, addresses: &[IpAddr]) -> bool {
        let has = |place: &Place| place.addresses.iter().any(|own| addresses.contains(own));
        let active = pod.row.as_ref().filter(|row| row.state == PodState::Active).and_then(|row| row.place.as_ref());
        !pod.homes.is_empty() && (pod.homes.iter().any(has) || active.is_some_and(has))
    }

    /// Whether some client may not reach a pod by its constant name.
    pub fn is_unreachable(&self, pod: usize) -> bool {
        let own = &self.pods[pod];
        self.views(&own.constant).any(|view| !self.is_at(own, &view))
    }

    /// Whether a pod has a place in the budget because of what clients hear: where old and new addresses overlap, even a client
    /// that hears a wrong one next to a right one counts.
    pub fn is_counted(&self, pod: usize) -> bool {
        self.is_missed(pod, |addresses| self.is_at(&self.pods[pod], addresses))
    }

    /// Whether all clients are led to where a pod is, wherever its owner is to have it.
    pub fn reach_home(&self, pod: usize) -> bool {
        let homes = &self.pods[pod].homes;
        let is_home = |own: &IpAddr| homes.iter().any(|home| home.addresses.contains(own));
        !self.is_missed(pod, |addresses| addresses.iter().any(is_home))
    }

    /// Whether some client hears what is not right of a pod: nothing right, or anything wrong where old and new addresses
    /// overlap.
    fn is_missed(&self, pod: usize, is_right: impl Fn(&[IpAddr]) -> bool) -> bool {
        let own = &self.pods[pod];
        let has_overlap = self.sets[own.set].overlap.is_some();
        let is_wrong = |view: Vec<IpAddr>| {
            !is_right(&view) || (has_overlap && view.iter().any(|address| !is_right(std::slice::from_ref(address))))
        };
        self.views(&own.constant).any(is_wrong)
    }

    /// Whether some client may still hear of a pod.
    pub fn is_heard(&self, pod: usize) -> bool {
        self.views(&self.pods[pod].constant).any(|view| !view.is_empty())
    }

    /// Whether a resolver always reaches a pod, whichever name server it asks for what it does not keep.
    pub fn reaches(&self, resolver: usize, pod: usize) -> bool {
        let own = &self.pods[pod];
        match self.kept(resolver, &own.constant, Rtype::AAAA) {
            Some(heard) => self.is_at(own, &heard.addresses),
            None => self.name_servers.iter().all(|zones| self.is_at(own, &addresses(&zones[0], &own.constant))),
        }
    }

    /// All that the targets of an SRV are for clients: what each resolver keeps, with its number, and what each name server
    /// serves, for each resolver that keeps nothing.
    pub fn srv_views(&self, name: &Name) -> Vec<(usize, Vec<Name>)> {
        let of_resolver = |resolver: usize| match self.kept(resolver, name, Rtype::SRV) {
            Some(heard) => vec![(resolver, heard.targets.clone())],
            None => self.name_servers.iter().map(|zones| (resolver, targets(&zones[0], name))).collect(),
        };
        (0..self.resolvers.len()).flat_map(of_resolver).collect()
    }

    /// Whether a resolver gets an address at which a pod of a set is alive by one of some targets, from a name server for
    /// what it does not keep.
    pub fn leads_to(&self, (resolver, name_server): (usize, usize), set: usize, targets: &[Name]) -> bool {
        let mut pods = self.pods.iter().filter(|pod| pod.set == set);
        pods.any(|pod| {
            targets.iter().any(|target| match self.kept(resolver, target, Rtype::AAAA) {
                Some(heard) => self.is_at(pod, &heard.addresses),
                None => self.is_at(pod, &addresses(&self.name_servers[name_server][0], target)),
            })
        })
    }
}
