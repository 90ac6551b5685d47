//! PTR RRsets of hosts: the names that they point to, and which copies took changes of them that others lack.

use std::collections::{BTreeMap, BTreeSet};

use super::open_lack::OpenLack;
use crate::change::{Change, ChangeKind};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::reverse::address_of;
use crate::dns::{Name, NameRef, Rdata, RrKey, Rtype};
use crate::inventory::model::{Config, ZoneSpec};
use crate::state::{ApplyId, ApplyJournal, SentFate, SentUpdate};
use crate::target::{CopyId, PoolName, ZoneId};

/// What a host's PTR RRset points to, in the copy of one target.
#[derive(Clone, Copy)]
pub(super) struct PointerChange<'a> {
    /// Its pool.
    pool: &'a PoolName,
    /// The RRset.
    key: &'a RrKey,
    /// What happens to it.
    kind: &'a ChangeKind,
}

impl<'a> PointerChange<'a> {
    /// That of a change; none if it is another RRset, or not of a host.
    pub fn of_change(change: &'a Change) -> Option<PointerChange<'a>> {
        let is_pointer = change.key.rtype == Rtype::PTR && matches!(change.subject, Subject::Host(_));
        is_pointer.then_some(PointerChange { pool: &change.pool, key: &change.key, kind: &change.kind })
    }

    /// The same of what a target lacks.
    pub fn of_lack(lack: &'a OpenLack) -> Option<PointerChange<'a>> {
        let is_pointer = lack.key.rtype == Rtype::PTR && matches!(lack.lack.change.subject, Subject::Host(_));
        is_pointer.then_some(PointerChange { pool: &lack.lack.copy.target.pool, key: &lack.key, kind: &lack.kind })
    }

    /// The names that it adds; those that it removes where it deletes the RRset.
    fn names(self) -> impl Iterator<Item = NameRef<'a>> {
        let (before, after) = (self.kind.before(), self.kind.after());
        let (of, without) = if after.is_some() { (after, before) } else { (before, after) };
        let is_new = move |rdata: &&Rdata| !without.is_some_and(|without| without.rdata().contains(rdata));
        let rdata = of.into_iter().flat_map(|rrset| rrset.rdata()).filter(is_new);
        rdata.filter_map(|rdata| rdata.as_rdata(Rtype::PTR).target())
    }

    /// Where the addresses of these names are; none of a name in no zone, or in one of another pool: there, the rules look at
    /// the reference copy alone.
    pub fn sites<'z>(self, zones: &'z NamedZones<'a>) -> impl Iterator<Item = AddressSite<'a>> + use<'a, 'z> {
        let address = address_of(self.key.owner.as_name());
        let rtype = if address.is_some_and(|address| address.is_ipv4()) { Rtype::A } else { Rtype::AAAA };
        let site = move |name: NameRef<'a>| {
            let zone = zones.of_name(name).filter(|zone| zones.config.pool(zone).name == *self.pool)?;
            Some(AddressSite { name, zone, key: RrKey { owner: zone.name.owner(name)?, rtype } })
        };
        self.names().filter(move |_| address.is_some()).filter_map(site)
    }
}

/// The zones of the settings, by name.
pub(super) struct NamedZones<'a> {
    /// The settings.
    config: &'a Config,
    /// The zones.
    by_name: BTreeMap<NameRef<'a>, &'a ZoneSpec>,
}

impl<'a> NamedZones<'a> {
    /// Those of the settings.
    pub fn of(config: &'a Config) -> NamedZones<'a> {
        let by_name = config.zones.iter().map(|zone| (zone.name.as_name(), zone)).collect();
        NamedZones { config, by_name }
    }

    /// The zone that a name is in.
    pub fn of_name(&self, name: NameRef<'_>) -> Option<&'a ZoneSpec> {
        name.ancestors().find_map(|above| self.by_name.get(&above)).copied()
    }
}

/// Where the address of a name is.
pub(super) struct AddressSite<'a> {
    /// The name.
    pub name: NameRef<'a>,
    /// Its zone.
    pub zone: &'a ZoneSpec,
    /// The RRset.
    pub key: RrKey,
}

/// Which copies took changes of hosts' PTR RRsets that others lack, which lack them, and which a plan left out: it did not know
/// which address of a host they hold. One that holds what it lacks, or what it did not take, does so for another reason than
/// those that the change had.
#[derive(Debug, Default)]
pub(super) struct PointerTakers {
    /// Those that took one, by the journal.
    taken: BTreeSet<(CopyId, RrKey)>,
    /// Those that lack one.
    lacking: BTreeSet<(CopyId, RrKey)>,
    /// Those of them that a plan left out.
    left_out: BTreeSet<(CopyId, RrKey)>,
    /// The names whose addresses the same applies changed, for which host.
    moved: BTreeSet<(Name, Subject)>,
}

impl PointerTakers {
    /// Finds them: `lacks` are all of the lacks that may be made.
    ///
    /// Errors: the journal cannot be read.
    pub fn find(
        journal: &(impl ApplyJournal + ?Sized),
        lacks: &BTreeMap<CopyId, Vec<OpenLack>>,
    ) -> Result<PointerTakers, Problem> {
        let mut takers = PointerTakers::default();
        let mut asked: BTreeMap<ApplyId, BTreeSet<(ZoneId, RrKey)>> = BTreeMap::new();
        for (copy, of_copy) in lacks {
            // What a plan asked for that knew the copy.
            let known = of_copy.iter().filter(|own| !own.lack.is_left_out);
            let known: BTreeSet<(&RrKey, Option<&[Rdata]>)> = known.map(OpenLack::wish).collect();
            for own in of_copy.iter().filter(|own| PointerChange::of_lack(own).is_some()) {
                takers.lacking.insert((copy.clone(), own.key.clone()));
                if own.lack.is_left_out && !known.contains(&own.wish()) {
                    takers.left_out.insert((copy.clone(), own.key.clone()));
                    asked.entry(own.lack.apply).or_default().insert((copy.zone_id(), own.key.clone()));
                }
            }
        }
        for (apply, keys) in asked {
            let sent = journal.sent(apply)?;
            for SentUpdate { target, zone, changes, .. } in
                sent.into_iter().filter(|sent| !matches!(sent.fate, SentFate::Undone(_)))
            {
                let copy = CopyId { target, zone };
                let addresses = changes.iter().filter(|change| matches!(change.rtype, Rtype::A | Rtype::AAAA));
                takers.moved.extend(addresses.map(|change| (change.name.clone(), change.subject.clone())));
                let pointers = changes.iter().filter(|change| change.rtype == Rtype::PTR);
                let owners = pointers.filter_map(|change| copy.zone.owner(change.name.as_name()));
                let keys = owners
                    .map(|owner| RrKey { owner, rtype: Rtype::PTR })
                    .filter(|key| keys.contains(&(copy.zone_id(), key.clone())));
                takers.taken.extend(keys.map(|key| (copy.clone(), key)));
            }
        }
        Ok(takers)
    }

    /// Whether a plan left a copy out of a change of this RRset.
    pub fn is_left_out(&self, copy: &CopyId, key: &RrKey) -> bool {
        self.left_out.contains(&(copy.clone(), key.clone()))
    }

    /// Whether the addresses of a name were changed with a PTR RRset, for the same host.
    pub fn is_moved(&self, name: NameRef<'_>, host: &Subject) -> bool {
        self.moved.contains(&(name.to_name(), host.clone()))
    }

    /// Of copies that hold a change, those with which another copy is compared before it gets it: those that took it; of a
    /// change that only brought copies in line, those that do not lack it.
    pub fn among<'c>(&self, holding: impl Iterator<Item = &'c CopyId>, own: &CopyId, key: &RrKey) -> Vec<&'c CopyId> {
        let of_key = |copy: &CopyId| (copy.clone(), key.clone());
        let others = holding.filter(|copy| *copy != own && !self.lacking.contains(&of_key(copy)));
        let (taken, others): (Vec<&CopyId>, Vec<&CopyId>) = others.partition(|copy| self.taken.contains(&of_key(copy)));
        if taken.is_empty() { others } else { taken }
    }
}

#[cfg(test)]
impl PointerTakers {
    /// The same, where the addresses of a name were changed for a host.
    pub fn with_moved(mut self, name: NameRef<'_>, host: &Subject) -> PointerTakers {
        self.moved.insert((name.to_name(), host.clone()));
        self
    }

    /// Copies that took changes, and copies that lack some, which a plan left out.
    pub fn new(taken: &[(CopyId, RrKey)], lacking: &[(CopyId, RrKey)]) -> PointerTakers {
        let set = |own: &[(CopyId, RrKey)]| own.iter().cloned().collect::<BTreeSet<(CopyId, RrKey)>>();
        let moved = BTreeSet::new();
        PointerTakers { taken: set(taken), lacking: set(lacking), left_out: set(lacking), moved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::fixture;
    use crate::target::TargetId;

    #[test]
    fn a_copy_is_compared_with_those_that_took_the_change_or_do_not_lack_it() {
        let copy = |name: &str| {
            let copy = fixture::copy("0.0.8.b.6.0.2.0.a.2.ip6.arpa");
            CopyId { target: TargetId { name: name.to_owned(), ..copy.target }, ..copy }
        };
        let sides = ((60, &[][..]), (60, &["one.example.net."][..]));
        let key = fixture::change(("p", Some(1)), ("2a02:6b8::1", Rtype::PTR), sides, &[]).key;
        let (a, b, c) = (copy("a"), copy("b"), copy("c"));
        let all = [&a, &b, &c];
        let of = |copy: &CopyId| (copy.clone(), key.clone());
        let among = |takers: PointerTakers| takers.among(all.into_iter(), &a, &key);
        assert_eq!(among(PointerTakers::new(&[of(&b)], &[of(&a)])), [&b], "another holds it by chance");
        assert_eq!(among(PointerTakers::new(&[], &[of(&a)])), [&b, &c], "it only brought copies in line");
        assert_eq!(among(PointerTakers::new(&[], &[of(&a), of(&c)])), [&b]);
        assert_eq!(among(PointerTakers::new(&[of(&a), of(&b)], &[of(&a), of(&b)])), [&c]);
    }
}
