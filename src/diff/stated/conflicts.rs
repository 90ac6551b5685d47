//! What contradicts what, among the claims of files and pods and the names and addresses of hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};

use foldhash::HashMap;
use rayon::prelude::*;

use super::{
    ClaimPlace, ConflictSide, HeldStatement, NAMED, RivalGround, StatedClaims, cuts_around, say_the_same, values,
};
use crate::claim::host_rtypes::{self, HostSite};
use crate::claim::{RrsetClaim, TtlHold, Want};
use crate::dns::{NameRef, Rdata, Rtype, address_type, reverse};

/// With how many claims that differ from each other a claim at the same name is compared.
const COMPARED: usize = 16;

/// Finds what contradicts what.
pub(super) struct ConflictSearch<'a> {
    /// What claims are compared by.
    pub(super) ground: RivalGround<'a>,
    /// The claims.
    pub(super) stated: &'a StatedClaims<'a>,
    /// The pods and endpoints that something else may contradict, in their order.
    pub(super) contested: &'a [usize],
    /// What contradicts each side.
    pub(super) found: BTreeMap<ConflictSide, BTreeSet<ConflictSide>>,
}

impl ConflictSearch<'_> {
    /// Searches all names.
    pub(super) fn search(mut self) -> BTreeMap<ConflictSide, BTreeSet<ConflictSide>> {
        let stated = self.stated;
        for places in stated.at.values() {
            self.at_one_name(places);
        }
        self.below_cuts();
        self.with_hosts();
        self.with_unreadable();
        self.found
    }

    /// Notes that two sides contradict each other.
    fn note(&mut self, one: ConflictSide, other: ConflictSide) {
        self.found.entry(one).or_default().insert(other);
        self.found.entry(other).or_default().insert(one);
    }

    /// Compares the claims of files at one name. Each is compared with a few that differ: more would name no other cause.
    fn at_one_name(&mut self, places: &[ClaimPlace]) {
        // What only asks for nothing gives way to values.
        let has_values = |place: &&ClaimPlace| !matches!(self.stated.claim(**place).claim.want, Want::Absent(_));
        let places: Vec<ClaimPlace> = places.iter().filter(has_values).copied().collect();
        if places.len() < 2 {
            return;
        }
        let mut differing: Vec<ClaimPlace> = Vec::new();
        for place in &places {
            let one = &self.stated.claim(*place).claim;
            let (mut is_new, known) = (true, differing.clone());
            for other in known {
                let second = &self.stated.claim(other).claim;
                let is_conflict = if one.rtype == second.rtype {
                    is_new &= !say_the_same(one, second);
                    !say_the_same(one, second)
                } else {
                    [one.rtype, second.rtype].contains(&Rtype::CNAME)
                };
                if is_conflict {
                    self.note(ConflictSide::Stated(*place), ConflictSide::Stated(other));
                }
            }
            if is_new && differing.len() < COMPARED {
                differing.push(*place);
            }
        }
        // Of those that say the same as one that is contradicted, only the first was compared with what came later.
        for place in &places {
            let one = &self.stated.claim(*place).claim;
            let same = differing.iter().find(|other| {
                let second = &self.stated.claim(**other).claim;
                one.rtype == second.rtype && say_the_same(one, second)
            });
            let Some(others) = same.and_then(|same| self.found.get(&ConflictSide::Stated(*same)).cloned()) else {
                continue;
            };
            for other in others.into_iter().filter(|other| *other != ConflictSide::Stated(*place)).take(NAMED) {
                self.note(ConflictSide::Stated(*place), other);
            }
        }
    }

    /// Compares the claims of files with what others claim that cannot be read: bad entries, and what applies noted.
    fn with_unreadable(&mut self) {
        let stated = self.stated;
        let contested = self.contested.iter().map(|place| (*place, stated.subject(*place)));
        for (number, subject) in contested.chain(stated.of_files()) {
            if !subject.faults.is_empty() {
                let places = subject.names().chain(&subject.kept).flat_map(|name| stated.at.get(name));
                for place in places.flatten() {
                    if place.subject as usize != number {
                        self.note(ConflictSide::Stated(*place), ConflictSide::Bad(number as u32));
                    }
                }
            }
        }
        for (number, (name, HeldStatement { rtype, by })) in stated.all_held().into_iter().enumerate() {
            for place in stated.at.get(name).into_iter().flatten() {
                let own = stated.claim(*place).claim.rtype;
                let subject = stated.subject(place.subject as usize);
                let noted = subject.stated_in(self.ground.inventory).map(|(source, by)| source.noted(by));
                let is_barred = own == *rtype || [own, *rtype].contains(&Rtype::CNAME);
                if is_barred && noted.as_ref() != Some(by) {
                    self.note(ConflictSide::Stated(*place), ConflictSide::Held(number));
                }
            }
        }
    }

    /// Compares the claims of files with the cuts at and above their names.
    fn below_cuts(&mut self) {
        let stated = self.stated;
        if !stated.has_cuts() {
            return;
        }
        for (name, places) in &stated.at {
            for cut in cuts_around(self.ground.live, stated, name.as_name()) {
                let cutting = &stated.claim(cut).claim;
                for place in places.iter().filter(|place| **place != cut) {
                    let claim = &stated.claim(*place).claim;
                    if is_cut_off(cutting, claim.owner.as_name(), claim.rtype) {
                        self.note(ConflictSide::Stated(cut), ConflictSide::Stated(*place));
                    }
                }
            }
        }
    }

    /// Compares the claims of files with the names and addresses of hosts.
    fn with_hosts(&mut self) {
        let stated = self.stated;
        let mut pointers: Vec<(Ipv6Addr, ClaimPlace)> = Vec::new();
        for (name, places) in &stated.at {
            for place in places {
                let rtype = stated.claim(*place).claim.rtype;
                match host_rtypes::of(rtype).map(|own| own.site) {
                    None if rtype != Rtype::CNAME => {}
                    // A CNAME leaves no room for what hosts claim.
                    Some(HostSite::Name) | None => {
                        let claim = &stated.claim(*place).claim;
                        let interfaces = self.ground.names.interfaces_now(self.ground.inventory, name.as_name());
                        for (host, is_fastbone) in interfaces.collect::<Vec<_>>() {
                            let listed = self.listed(host, is_fastbone);
                            if may_claim(listed.as_ref(), rtype) && !self.says_the_same(host, listed.as_ref(), claim) {
                                self.note(ConflictSide::Stated(*place), ConflictSide::Host(host));
                            }
                        }
                    }
                    Some(HostSite::ReverseName) => {
                        let address = match reverse::address_of(name.as_name()) {
                            Some(IpAddr::V6(address)) => address,
                            Some(IpAddr::V4(address)) => address.to_ipv6_mapped(),
                            None => continue,
                        };
                        pointers.push((address, *place));
                    }
                }
            }
        }
        self.pointers_of_hosts(pointers);
        if stated.has_cuts() {
            for name in self.ground.names.names(self.ground.inventory) {
                let cuts = cuts_around(self.ground.live, stated, name.as_name());
                let cuts =
                    cuts.iter().filter(|cut| is_cut_off(&stated.claim(**cut).claim, name.as_name(), Rtype::AAAA));
                for cut in cuts {
                    for host in self.holders(name.as_name()) {
                        self.note(ConflictSide::Stated(*cut), ConflictSide::Host(host));
                    }
                }
            }
        }
    }

    /// Compares claims of PTR with the hosts that have their addresses: they say the same where the PTR has the host's name.
    fn pointers_of_hosts(&mut self, pointers: Vec<(Ipv6Addr, ClaimPlace)>) {
        if pointers.is_empty() {
            return;
        }
        let mut by_address: HashMap<Ipv6Addr, Vec<ClaimPlace>> = HashMap::default();
        pointers.into_iter().for_each(|(address, place)| by_address.entry(address).or_default().push(place));
        let by_address = &by_address;
        let of_file = |(address, _): &(Ipv6Addr, usize)| by_address.contains_key(address);
        for (address, host) in self.ground.firm_addresses().filter(of_file).collect::<Vec<_>>() {
            for place in by_address.get(&address).into_iter().flatten().copied() {
                let claim = &self.stated.claim(place).claim;
                let target = |rdata: &Rdata| rdata.as_rdata(Rtype::PTR).target().map(NameRef::to_name);
                let is_own = values(claim)
                    .all(|rdata| target(rdata).is_some_and(|name| self.holders(name.as_name()).contains(&host)));
                if !is_own {
                    self.note(ConflictSide::Stated(place), ConflictSide::Host(host));
                }
            }
        }
    }

    /// What the inventory lists for an interface of a host; none where its addresses are derived.
    fn listed(&self, place: usize, is_fastbone: bool) -> Option<ListedValues> {
        let host = &self.ground.inventory.hosts[place];
        let settings = self.ground.inventory.projects[host.project.0 as usize].file.settings();
        let (name, is_main) = settings?.listed()?.names().find(|(_, is_main)| *is_main != is_fastbone)?;
        let rows = self.ground.inventory.addresses_of(host.inv).iter();
        let own = rows.filter(|row| row.interface.may_be(name, is_main, &self.ground.inventory.symbols));
        let addresses = own.map(|row| row.address).collect::<Option<Vec<IpAddr>>>();
        Some(ListedValues(addresses.filter(|_| self.ground.inventory.trust.addresses.doubt().is_none())))
    }

    /// Whether a host whose addresses the inventory lists says the same of an RRset as a file does, with the same TTL.
    fn says_the_same(&self, place: usize, listed: Option<&ListedValues>, claim: &RrsetClaim) -> bool {
        let Some(ListedValues(Some(addresses))) = listed else { return false };
        let of_type = addresses.iter().filter(|address| address_type(**address) == claim.rtype);
        let own: BTreeSet<Rdata> = of_type.map(|address| Rdata::from_address(*address)).collect();
        let Some(zone) = self.ground.live.zone_of(claim.owner.as_name()) else { return false };
        let spec = &self.ground.inventory.config.zones[zone.0 as usize];
        let ttl = self.ground.inventory.wanted_ttl(self.ground.inventory.hosts[place].project, spec);
        let has_ttl = claim.ttl.as_ref().is_some_and(|own| own.hold == TtlHold::Always && own.ttl == ttl);
        has_ttl && values(claim).eq(&own)
    }

    /// The hosts that have a name now.
    fn holders(&self, name: NameRef<'_>) -> Vec<usize> {
        self.ground.names.hosts_now(self.ground.inventory, name).collect()
    }
}

/// The addresses that the inventory lists for an interface; none where they are not known.
struct ListedValues(Option<Vec<IpAddr>>);

/// Whether a host may claim records of a type at the name of an interface: where the inventory lists its addresses, those of
/// the families of which it lists some.
fn may_claim(listed: Option<&ListedValues>, rtype: Rtype) -> bool {
    match listed {
        None => host_rtypes::of(rtype).is_none_or(|own| !own.needs_list),
        Some(ListedValues(None)) => true,
        Some(ListedValues(Some(addresses))) if matches!(rtype, Rtype::A | Rtype::AAAA) => {
            addresses.iter().any(|address| address_type(*address) == rtype)
        }
        Some(ListedValues(Some(addresses))) => !addresses.is_empty(),
    }
}

/// Whether a cut keeps an RRset of a type from being at a name: a DNAME what is below it; NS what is at and below them,
/// but for DS and the addresses of the name servers themselves.
fn is_cut_off(cut: &RrsetClaim, name: NameRef<'_>, rtype: Rtype) -> bool {
    let is_at = cut.owner.as_name() == name;
    match cut.rtype {
        Rtype::DNAME => !is_at,
        _ if is_at && matches!(rtype, Rtype::NS | Rtype::DS) => false,
        _ => {
            let is_server = || values(cut).any(|rdata| rdata.as_rdata(Rtype::NS).target() == Some(name));
            !(matches!(rtype, Rtype::A | Rtype::AAAA) && is_server())
        }
    }
}
