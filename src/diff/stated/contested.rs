//! Which pods and endpoints something else may contradict. The others are never derived here.

use std::net::Ipv6Addr;

use foldhash::HashSet;
use rayon::prelude::*;

use super::{RivalGround, StatedClaims, cuts_around};
use crate::desired::records::StatedSubject;
use crate::dns::reverse::ReverseName;

/// Finds the pods and endpoints that something else may contradict. Of all others it is known that nothing does, by the
/// hashes of their names alone.
pub(super) struct ContestedPods<'a> {
    /// What claims are compared by.
    pub(super) ground: RivalGround<'a>,
    /// The claims of files.
    pub(super) stated: &'a StatedClaims<'a>,
    /// The places that were found.
    pub(super) places: HashSet<usize>,
}

impl ContestedPods<'_> {
    /// Finds them.
    pub(super) fn find(mut self) -> Vec<usize> {
        let (stated, pods) = (self.stated, &self.stated.pods);
        if pods.is_empty() {
            return self.places.into_iter().collect();
        }
        self.places.extend(pods.sharing());
        let faulty = stated.of_files.iter().filter(|subject| !subject.faults.is_empty());
        let names = stated.at.keys().chain(stated.held.keys()).chain(faulty.flat_map(StatedSubject::names));
        names.for_each(|name| self.places.extend(pods.near(name.as_name())));
        self.with_hosts();
        self.below_cuts();
        self.places.into_iter().collect()
    }

    /// Adds those that have a name or an address of a host.
    fn with_hosts(&mut self) {
        let pods = &self.stated.pods;
        let of_name = |hash| pods.near_hash(hash).collect::<Vec<_>>();
        let found: Vec<usize> = self.ground.names.hashes().flat_map_iter(of_name).collect();
        self.places.extend(found);
        let of_address = |(address, _): (Ipv6Addr, usize)| {
            let reverse = ReverseName::of(address.to_canonical());
            pods.near(reverse.as_name()).collect::<Vec<_>>()
        };
        let found: Vec<usize> = self.ground.firm_addresses().flat_map_iter(of_address).collect();
        self.places.extend(found);
    }

    /// Adds those that are below a cut.
    fn below_cuts(&mut self) {
        let (live, stated) = (self.ground.live, self.stated);
        if !stated.has_cuts() {
            return;
        }
        let is_below = |place: &usize| {
            let subject = stated.pods().derive(*place);
            subject.names().any(|name| !cuts_around(live, stated, name.as_name()).is_empty())
        };
        let found: Vec<usize> = (0..stated.pods().count()).into_par_iter().filter(is_below).collect();
        self.places.extend(found);
    }
}
