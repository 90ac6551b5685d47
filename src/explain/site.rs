//! What is live at a name, and whose it is.

use std::collections::HashMap;
use std::net::IpAddr;

use super::ExplainCase;
use super::model::{CopyFacts, CopySite, HoldingName, LiveFacts, LiveSite};
use crate::claim::Subject;
use crate::claim::host_rtypes;
use crate::desired::InterfaceKind;
use crate::desired::records::StatedSubject;
use crate::diff::own::{self, Registration};
use crate::dns::{NameRef, Rtype, reverse};
use crate::inventory::model::{Permission, ProjectIndex};
use crate::live::{Live, LiveRrset, NamePlace, ZoneIndex, is_of_one_copy};
use crate::names::HolderRow;

impl ExplainCase<'_> {
    /// What is live at a name of the given types, with the desired TTL of a project.
    pub(super) fn site(&self, name: NameRef<'_>, rtypes: &[Rtype], project: Option<ProjectIndex>) -> LiveSite {
        self.site_of(name, project, |rtype| rtypes.contains(&rtype))
    }

    /// What is live at a name.
    pub(super) fn whole_site(&self, name: NameRef<'_>, project: Option<ProjectIndex>) -> LiveSite {
        self.site_of(name, project, |_| true)
    }

    /// What is live at a name, of the types that `is_wanted` takes.
    fn site_of(&self, name: NameRef<'_>, project: Option<ProjectIndex>, is_wanted: impl Fn(Rtype) -> bool) -> LiveSite {
        let live = self.context.live;
        let place = live.place(name);
        let zone = live.zone_of(name);
        let rrsets = live.rrsets_at(name).filter(|found| is_wanted(found.rrset.rtype()));
        let rrsets = rrsets.map(|found| self.live_facts(found, project));
        let (code, said) = self.place_words(name, &place);
        LiveSite {
            name: name.to_string(),
            zone: zone.map(|zone| live.zone(zone).name().to_string()),
            permission: zone.map(|zone| self.permission(zone)),
            place: code,
            said,
            rrsets: rrsets.collect(),
            copies: zone.map(|zone| self.other_copies(zone, name, &is_wanted)).unwrap_or_default(),
            records: self.at_records(name, &is_wanted),
        }
    }

    /// What the zones of DNS update records hold at a name.
    fn at_records(&self, name: NameRef<'_>, is_wanted: impl Fn(Rtype) -> bool) -> Vec<CopySite> {
        let holding = self.records.iter().filter(|(_, live)| live.zone_of(name).is_some());
        let site = |(record, live): &(String, Live)| {
            let found = live.rrsets_at(name).filter(|found| is_wanted(found.rrset.rtype()));
            CopySite { target: record.clone(), rrsets: found.map(copy_facts).collect() }
        };
        holding.map(site).collect()
    }

    /// What the copies of a zone hold at a name that do not hold what the reference does.
    fn other_copies(&self, zone: ZoneIndex, name: NameRef<'_>, is_wanted: impl Fn(Rtype) -> bool) -> Vec<CopySite> {
        let pool = self.context.zone_spec(zone).pool;
        let targets = self.copies.iter().filter(|copies| copies.pool == pool).flat_map(|copies| &copies.others);
        let known = targets.filter(|seen| seen.live.zone(zone).contents().is_some());
        let held = |live: &Live| {
            let apex = live.zone(zone).name();
            let is_shown = |rtype: Rtype| is_wanted(rtype) && !is_of_one_copy(apex, name, rtype);
            let found = live.rrsets_at(name).filter(|found| is_shown(found.rrset.rtype()));
            found.map(|found| copy_facts(found)).collect::<Vec<CopyFacts>>()
        };
        let of_reference = held(self.context.live);
        let copies = known.map(|seen| CopySite { target: seen.target.name.clone(), rrsets: held(&seen.live) });
        copies.filter(|copy| copy.rrsets != of_reference).collect()
    }

    /// A zone's permission.
    fn permission(&self, zone: ZoneIndex) -> &'static str {
        match self.context.zone_spec(zone).permission {
            Permission::Full => "full",
            Permission::Own => "own",
        }
    }

    /// What prevents writing to a name: a code, and words.
    fn place_words(&self, name: NameRef<'_>, place: &NamePlace) -> (&'static str, String) {
        match place {
            NamePlace::Open(_) => ("open", String::new()),
            NamePlace::NoZone => ("no-zone", "no configured zone holds it".to_owned()),
            NamePlace::Unknown(zone) if self.context.live.zone(*zone).contents().is_some() => {
                ("zone-unknown", "zonewright asked its server name by name, and does not know what is here".to_owned())
            }
            NamePlace::Unknown(_) => {
                ("zone-unknown", "its zone could not be read, so what is here is not known".to_owned())
            }
            NamePlace::Delegated(_, cut) => ("delegated", format!("served elsewhere: there are NS records at `{cut}`")),
            NamePlace::BelowDname(_, dname) => ("below-dname", format!("redirected: there is a DNAME at `{dname}`")),
            NamePlace::Opaque(zone) => {
                let site = self.context.live.zone(*zone).opaque_at(name).expect("its place is opaque");
                ("opaque", format!("it has {site}, which zonewright never touches"))
            }
            NamePlace::Cname(_) => ("cname", "there is a CNAME here, so no other record may be here".to_owned()),
        }
    }

    /// One live RRset.
    fn live_facts(&self, found: LiveRrset<'_>, project: Option<ProjectIndex>) -> LiveFacts {
        let (owner, rtype, ttl) = (found.rrset.owner(), found.rrset.rtype(), found.rrset.ttl());
        let wanted =
            project.map(|project| self.context.inventory.wanted_ttl(project, self.context.zone_spec(found.zone)));
        let is_managed = host_rtypes::are_claimed(rtype, project.is_some_and(|project| self.is_listed(project)));
        LiveFacts {
            rtype: rtype.to_string(),
            ttl: ttl.as_secs(),
            wanted_ttl: wanted.filter(|wanted| is_managed && *wanted != ttl).map(|wanted| wanted.as_secs()),
            rdata: found.rrset.to_rrset().rdata_texts(rtype),
            own: own::is_own(self.context, found),
            registered_to: match own::registration(self.context, found.zone, owner.as_name(), rtype) {
                Registration::Foreign { owner, .. } => Some(owner),
                Registration::None | Registration::Ours(_) => None,
            },
            writable: is_managed && own::is_writable(self.context, found),
        }
    }

    /// Whether the inventory lists the addresses of a project's hosts.
    pub(super) fn is_listed(&self, project: ProjectIndex) -> bool {
        self.context.inventory.lists_addresses(project)
    }

    /// The names that hold an address, but for one of them.
    pub(super) fn names_holding(&self, address: IpAddr, but: Option<NameRef<'_>>) -> Vec<HoldingName> {
        let is_other = |found: &LiveRrset<'_>| but.is_none_or(|but| !found.rrset.is_at(but));
        let found = self.context.live.holding(address).filter(is_other);
        let mut names: Vec<HoldingName> = found.map(|found| self.name_holding(found)).collect();
        names.sort_by(|a, b| a.at.cmp(&b.at));
        names
    }

    /// A name that holds an address.
    pub(super) fn name_holding(&self, found: LiveRrset<'_>) -> HoldingName {
        let name = found.rrset.owner();
        let whose = self.whose_name(name.as_name());
        HoldingName { at: name.to_string(), ttl: found.rrset.ttl().as_secs(), whose }
    }

    /// The addresses whose PTR name a name, but for those that are `right`.
    pub(super) fn addresses_pointing(&self, name: NameRef<'_>, right: impl Fn(IpAddr) -> bool) -> Vec<HoldingName> {
        let pointers = self.context.live.pointing_to(name).filter_map(|found| {
            let address = reverse::address_of(found.rrset.owner().as_name())?;
            Some((address, found)).filter(|(address, _)| !right(*address))
        });
        let mut pointers: Vec<_> = pointers.collect();
        pointers.sort_by_key(|(address, _)| *address);
        let claimants = self.claimants(pointers.iter().map(|(address, _)| *address));
        let holding = |(address, found): (IpAddr, LiveRrset<'_>)| HoldingName {
            at: address.to_string(),
            ttl: found.rrset.ttl().as_secs(),
            whose: whose_address(&claimants[&address]),
        };
        pointers.into_iter().map(holding).collect()
    }

    /// How many reverse zones could not be read: their PTR are not known.
    pub(super) fn unread_reverse(&self) -> usize {
        let zones = self.context.live.zones().filter(|(_, zone)| zone.contents().is_none());
        zones.filter(|(_, zone)| reverse::is_reverse(zone.name().as_name())).count()
    }

    /// Whose a name is, in words.
    pub(super) fn whose_name(&self, name: NameRef<'_>) -> String {
        let (inventory, names) = (self.context.inventory, self.context.names);
        let word = |row: HolderRow| match row {
            HolderRow::Host(place) => inventory.hosts[place as usize].inv,
            HolderRow::Lock(row) => inventory.lock[row as usize].inv,
        };
        let mut said: Vec<String> = names
            .holders(inventory, name)
            .map(|holder| {
                if holder.now {
                    format!("the name of host {}", word(holder.by))
                } else {
                    format!("once the name of host {}", word(holder.by))
                }
            })
            .collect();
        said.dedup();
        let of_pod =
            |subject: &StatedSubject| matches!(subject.subject, Subject::Pod(_)).then(|| subject.subject.to_string());
        if said.is_empty() {
            said.extend(self.context.stated.about(name).filter_map(of_pod));
        }
        if said.is_empty() { "no host's name".to_owned() } else { said.join(", ") }
    }

    /// The hosts that may have each of some addresses, in the order of hosts. All are looked for in one pass through
    /// the fleet: one name may have as many PTR as the fleet has hosts.
    fn claimants(&self, addresses: impl Iterator<Item = IpAddr>) -> HashMap<IpAddr, Vec<u64>> {
        let mut claimants: HashMap<IpAddr, Vec<u64>> = addresses.map(|address| (address, Vec::new())).collect();
        let hosts = self.context.inventory.hosts.iter().zip(self.context.desired.iter());
        for (host, interface) in hosts.flat_map(|(host, own)| own.interfaces.iter().map(move |own| (host, own))) {
            let acceptable = interface.acceptable.iter().map(|(address, _)| IpAddr::V6(*address));
            for address in acceptable.chain(interface.own_a.iter().map(|address| IpAddr::V4(*address))) {
                if let Some(found) = claimants.get_mut(&address) {
                    found.push(host.inv.0);
                }
            }
        }
        claimants
    }
}

/// One RRset of a copy.
fn copy_facts(found: LiveRrset<'_>) -> CopyFacts {
    let (rtype, rrset) = (found.rrset.rtype(), found.rrset.to_rrset());
    CopyFacts { rtype: rtype.to_string(), ttl: rrset.ttl().as_secs(), rdata: rrset.rdata_texts(rtype) }
}

/// Whose an address is that these hosts may have, in words.
fn whose_address(hosts: &[u64]) -> String {
    match hosts {
        [] => "no host's address".to_owned(),
        hosts => hosts.iter().map(|inv| format!("an address of host {inv}")).collect::<Vec<_>>().join(", "),
    }
}

/// The word for an interface.
pub fn kind_word(kind: InterfaceKind) -> &'static str {
    match kind {
        InterfaceKind::Backbone => "backbone",
        InterfaceKind::Fastbone => "fastbone",
    }
}
