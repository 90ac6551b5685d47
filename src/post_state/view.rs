//! Live DNS with changes as a layer above it.

use std::collections::HashSet;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::change::{Change, ChangeKind};
use crate::dns::directory::HashDirectory;
use crate::dns::{Name, NameRef, Rtype};
use crate::live::{Live, ZoneIndex};

/// The zones as changes would leave them; without changes, as they are.
pub struct LayeredView<'a> {
    /// Live DNS.
    live: &'a Live,
    /// The changes.
    changes: &'a [Change],
    /// The hash of each change's owner name with the change's place, sorted.
    index: Vec<(u64, u32)>,
    /// Where in `index` a hash is.
    directory: HashDirectory,
    /// The names of each zone that have others below them, found when first asked for.
    enclosers: Vec<OnceLock<HashSet<Name>>>,
}

/// Whether a PTR may point to a name with records of this type.
fn leads_on(rtype: Rtype) -> bool {
    matches!(rtype, Rtype::AAAA | Rtype::A | Rtype::CNAME)
}

/// Whether a type may have records where a CNAME is: RFC 4034 section 2.5 (RRSIG, NSEC) and RFC 2181 section 10.1 (their
/// forerunners).
pub fn is_dnssec(rtype: Rtype) -> bool {
    matches!(rtype, Rtype::RRSIG | Rtype::NSEC | Rtype::KEY | Rtype::SIG | Rtype::NXT)
}

impl<'a> LayeredView<'a> {
    /// Puts changes over live DNS.
    pub fn new(live: &'a Live, changes: &'a [Change]) -> LayeredView<'a> {
        let hash = |change: &Change| xxh3_64(change.key.owner.as_name().as_wire());
        let numbered = changes.iter().enumerate();
        let mut index: Vec<(u64, u32)> = numbered.map(|(place, change)| (hash(change), place as u32)).collect();
        index.sort_unstable();
        let directory = HashDirectory::new(index.iter().map(|(hash, _)| *hash));
        let enclosers = live.zones().map(|_| OnceLock::new()).collect();
        LayeredView { live, changes, index, directory, enclosers }
    }

    /// Live DNS.
    pub fn live(&self) -> &'a Live {
        self.live
    }

    /// The changes at a name, with their places, in order.
    pub fn changes_at(&self, name: NameRef<'_>) -> impl Iterator<Item = (usize, &'a Change)> {
        let hash = xxh3_64(name.as_wire());
        let range = self.directory.range(hash);
        let entries = &self.index[range.start as usize..range.end as usize];
        let same_hash = entries.iter().filter(move |(own, _)| *own == hash);
        let changes = same_hash.map(|(_, place)| (*place as usize, &self.changes[*place as usize]));
        changes.filter(move |(_, change)| change.key.owner.as_name() == name)
    }

    /// The change of an RRset.
    pub fn change_of(&self, name: NameRef<'_>, rtype: Rtype) -> Option<&'a Change> {
        self.changes_at(name).map(|(_, change)| change).find(|change| change.key.rtype == rtype)
    }

    /// The types of the RRsets at a name of a zone.
    fn types_at(&self, zone: ZoneIndex, name: NameRef<'_>) -> impl Iterator<Item = Rtype> {
        let goes = move |rtype: &Rtype| self.change_of(name, *rtype).is_some_and(|own| own.kind.after().is_none());
        let contents = self.live.zone(zone).contents().into_iter();
        let live = contents.flat_map(move |contents| contents.at_owner(name)).map(|rrset| rrset.rtype());
        let created = self.changes_at(name).filter(|(_, own)| matches!(own.kind, ChangeKind::Create { .. }));
        live.filter(move |rtype| !goes(rtype)).chain(created.map(|(_, own)| own.key.rtype))
    }

    /// Whether there is data at a name of a zone.
    pub fn has_data(&self, zone: ZoneIndex, name: NameRef<'_>) -> bool {
        self.types_at(zone, name).next().is_some()
    }

    /// The types next to a CNAME at a name of a zone, sorted; none where there is no CNAME, or no type that it
    /// excludes.
    pub fn beside_cname(&self, zone: ZoneIndex, name: NameRef<'_>) -> Option<Vec<Rtype>> {
        if !self.types_at(zone, name).any(|rtype| rtype == Rtype::CNAME) {
            return None;
        }
        let others = self.types_at(zone, name).filter(|rtype| *rtype != Rtype::CNAME && !is_dnssec(*rtype));
        let mut others: Vec<Rtype> = others.collect();
        others.sort_unstable();
        (!others.is_empty()).then_some(others)
    }

    /// Whether data at a name belong to this zone: they are not hidden, and not another configured zone's.
    pub fn shows(&self, zone: ZoneIndex, name: NameRef<'_>) -> bool {
        self.live.zone_of(name) == Some(zone) && !self.live.zone(zone).hides(name)
    }

    /// Whether a name is known to hold no AAAA, A or CNAME, and no wildcard answers for it.
    pub fn leads_nowhere(&self, name: NameRef<'_>) -> bool {
        let Some(number) = self.live.zone_of(name) else { return false };
        let zone = self.live.zone(number);
        // An ALIAS leads on, and what is switched off may be switched on.
        let leads = self.types_at(number, name).any(leads_on) || zone.opaque_at(name).is_some();
        if leads || zone.contents().is_none() || zone.hides(name) {
            return false;
        }
        match zone.knowledge() {
            // The server's answers include wildcards. But no query showed whether a wildcard answers once the records
            // are gone.
            Some(knowledge) => knowledge.covers(name) && self.taken_from(name).is_empty(),
            None => !self.has_wildcard(number, name),
        }
    }

    /// Whether a wildcard with an address or CNAME answers for a name that has none itself.
    ///
    /// Source: RFC 4592 section 3.3.1.
    fn has_wildcard(&self, zone: ZoneIndex, name: NameRef<'_>) -> bool {
        let leads = |name: NameRef<'_>| self.types_at(zone, name).any(leads_on);
        // Finding the names that exist only because of names below them reads the whole zone, so it is done last.
        if !self.wildcards(zone, name).any(|wildcard| leads(wildcard.as_name())) {
            return false;
        }
        let closest = self.above(zone, name).find(|above| self.exists(zone, *above));
        closest.is_some_and(|closest| {
            let wildcard = Name::prepend(b"*", closest);
            closest != name && wildcard.is_ok_and(|wildcard| leads(wildcard.as_name()))
        })
    }

    /// A name and those above it in its zone.
    fn above<'n>(&self, zone: ZoneIndex, name: NameRef<'n>) -> impl Iterator<Item = NameRef<'n>> {
        let apex = self.live.zone(zone).name().as_name();
        name.ancestors().take_while(move |above| above.as_wire().len() >= apex.as_wire().len())
    }

    /// The wildcards that could answer for a name.
    fn wildcards(&self, zone: ZoneIndex, name: NameRef<'_>) -> impl Iterator<Item = Name> {
        self.above(zone, name).skip(1).filter_map(|above| Name::prepend(b"*", above).ok())
    }

    /// Whether a name of a zone exists: there are records at it or below it.
    fn exists(&self, zone: ZoneIndex, name: NameRef<'_>) -> bool {
        let enclosers = self.enclosers[zone.0 as usize].get_or_init(|| self.enclosers_of(zone));
        self.types_at(zone, name).next().is_some() || enclosers.contains(name.as_wire())
    }

    /// The names of a zone that have others below them.
    fn enclosers_of(&self, zone: ZoneIndex) -> HashSet<Name> {
        let is_left = |name: NameRef<'_>| self.types_at(zone, name).next().is_some();
        let contents = self.live.zone(zone).contents().into_iter();
        let live = contents.flat_map(|contents| contents.rrsets()).map(|rrset| rrset.owner());
        let changed = self.changes.iter().map(|change| change.key.owner.as_name().to_name());
        let changed = changed.filter(|owner| self.live.zone_of(owner.as_name()) == Some(zone));
        let mut enclosers = HashSet::new();
        for owner in live.chain(changed).filter(|owner| is_left(owner.as_name())) {
            for above in self.above(zone, owner.as_name()).skip(1) {
                if enclosers.contains(above.as_wire()) {
                    break;
                }
                enclosers.insert(above.to_name());
            }
        }
        enclosers
    }

    /// The places of the changes that remove the addresses or CNAME of a name: at it, or at a wildcard above it.
    pub fn taken_from(&self, name: NameRef<'_>) -> Vec<usize> {
        let Some(zone) = self.live.zone_of(name) else { return Vec::new() };
        let takes = |(_, change): &(usize, &Change)| {
            matches!(change.kind, ChangeKind::Delete { .. }) && leads_on(change.key.rtype)
        };
        let mut places: Vec<usize> = self.changes_at(name).filter(takes).map(|(place, _)| place).collect();
        for wildcard in self.wildcards(zone, name) {
            places.extend(self.changes_at(wildcard.as_name()).filter(takes).map(|(place, _)| place));
        }
        places
    }
}
