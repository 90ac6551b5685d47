//! What waits at a target although its RRset is as the change expects.
//!
//! Comes in: what would be made at targets, and what is left there. Goes out: what waits, and why. A host of which something
//! is left at a target gets nothing more there, as in an apply. A PTR follows the address that the copy itself has: where a host may have any of
//! several, a copy that was unknown may have another one than the copies that the plan was made from.

use std::collections::{BTreeMap, BTreeSet};

use super::open_lack::{LackToLeave, held};
use super::pointers::{AddressSite, NamedZones, PointerChange, PointerTakers};
use super::targets::Targets;
use crate::apply::SIDE_BY_SIDE;
use crate::change::Change;
use crate::claim::Subject;
use crate::dns::{RrKey, Rrset};
use crate::inventory::model::Config;
use crate::parallel::side_by_side;
use crate::state::lacks::LeftLack;
use crate::target::{CopyId, TargetId, ZoneId};

/// Takes out what waits at its target, and says why; `left` is what is left there.
pub(super) fn hold_back(changes: &mut Vec<Change>, left: &[LackToLeave], sight: &AddressSight<'_>) -> Vec<LeftLack> {
    let mut stopped: BTreeSet<(TargetId, Subject)> = left
        .iter()
        .flat_map(|own| own.subjects.iter().map(|subject| (own.told.target.clone(), together(subject))))
        .collect();
    let mut waiting = Vec::new();
    // What waits may be what a PTR of another host follows.
    loop {
        let waits = |change: &Change| {
            let target = target_of(change);
            change.subjects().any(|subject| stopped.contains(&(target.clone(), together(subject))))
        };
        let (wait, go): (Vec<Change>, Vec<Change>) = changes.drain(..).partition(waits);
        *changes = go;
        waiting.extend(wait.into_iter().map(|change| left_lack(&change, OF_HOST.to_owned())));
        let misfits = sight.misfits(changes);
        if misfits.is_empty() {
            return waiting;
        }
        let mut place = 0;
        changes.retain(|change| {
            let why = misfits.get(&place);
            place += 1;
            let Some(why) = why else { return true };
            waiting.push(left_lack(change, why.clone()));
            stopped.extend(change.subjects().map(|subject| (target_of(change), together(subject))));
            false
        });
    }
}

/// Why the rest of a host waits.
const OF_HOST: &str = "it waits: something else of its host is left there";

/// The report of a change that waits.
fn left_lack(change: &Change, why: String) -> LeftLack {
    LeftLack { target: target_of(change), key: change.key.clone(), why }
}

/// A host and the names that it had are applied together.
fn together(subject: &Subject) -> Subject {
    subject.counted().unwrap_or_else(|| subject.clone())
}

/// The one target that a change is for.
pub(super) fn target_of(change: &Change) -> TargetId {
    TargetId { pool: change.pool.clone(), name: change.targets[0].clone() }
}

/// What copies hold of some RRsets.
type HeldOfCopies = BTreeMap<CopyId, BTreeMap<RrKey, Option<Rrset>>>;

/// PTR RRsets, and the address RRsets at the names that they point to, in all copies of a pool.
pub(super) struct AddressSight<'a> {
    /// In which zone a name is.
    zones: NamedZones<'a>,
    /// What copies hold, by zone, of those that can be read.
    held: BTreeMap<ZoneId, HeldOfCopies>,
    /// Which copies took a change, and which plans left out.
    takers: PointerTakers,
}

impl<'a> AddressSight<'a> {
    /// Reads what changes of PTR RRsets are to be compared with, at copies that a plan left out; `takers` says with which
    /// copies.
    pub fn of(
        config: &'a Config,
        changes: &[Change],
        targets: &Targets<'_>,
        takers: PointerTakers,
    ) -> AddressSight<'a> {
        let zones = NamedZones::of(config);
        let mut keys: BTreeMap<ZoneId, BTreeSet<RrKey>> = BTreeMap::new();
        for change in changes.iter().filter(|change| takers.is_left_out(&copy_of(change), &change.key)) {
            for site in PointerChange::of_change(change).into_iter().flat_map(|own| own.sites(&zones)) {
                keys.entry(config.zone_id(site.zone)).or_default().insert(site.key);
                keys.entry(change.zone_id()).or_default().insert(change.key.clone());
            }
        }
        let asked = targets.copies.iter().filter_map(|access| Some((&access.copy, keys.get(&access.copy.zone_id())?)));
        let read = side_by_side(asked.collect(), SIDE_BY_SIDE, |(copy, keys): (&CopyId, &BTreeSet<RrKey>)| {
            let keys: Vec<RrKey> = keys.iter().cloned().collect();
            Some((copy.clone(), held(targets, copy, &keys).ok()?))
        });
        let mut held: BTreeMap<ZoneId, HeldOfCopies> = BTreeMap::new();
        for (copy, of_copy) in read.into_iter().flatten() {
            held.entry(copy.zone_id()).or_default().insert(copy, of_copy);
        }
        AddressSight { held, zones, takers }
    }

    /// The places of the changes of PTR RRsets that do not fit the addresses at their targets once all of the changes are
    /// made, and why.
    fn misfits(&self, changes: &[Change]) -> BTreeMap<usize, String> {
        let made: BTreeMap<(CopyId, &RrKey), &Change> =
            changes.iter().map(|change| ((copy_of(change), &change.key), change)).collect();
        let is_left_out = |(_, change): &(usize, &Change)| self.takers.is_left_out(&copy_of(change), &change.key);
        let misfit = |(place, change)| Some((place, self.misfit(change, &made)?));
        changes.iter().enumerate().filter(is_left_out).filter_map(misfit).collect()
    }

    /// Why a change does not fit; none where it does: where a name that it adds or removes has the addresses that it has at
    /// a target that took the change. A PTR is deleted only where the same apply changed those addresses: else another name of
    /// the host may be the reason, and have another address at this target.
    fn misfit(&self, change: &Change, made: &BTreeMap<(CopyId, &RrKey), &Change>) -> Option<String> {
        let own = copy_of(change);
        let is_delete = change.kind.after().is_none();
        let holds_it = |(_, held): &(&CopyId, &BTreeMap<RrKey, Option<Rrset>>)| {
            held.get(&change.key).is_some_and(|held| held.as_ref() == change.kind.after())
        };
        let holding = self.held.get(&change.zone_id()).into_iter().flatten().filter(holds_it).map(|(copy, _)| copy);
        let others = self.takers.among(holding, &own, &change.key);
        for AddressSite { name, zone, key } in PointerChange::of_change(change)?.sites(&self.zones) {
            let copy = |target: &TargetId| CopyId { target: target.clone(), zone: zone.name.clone() };
            let of_zone = self.held.get(&copy(&own.target).zone_id());
            let now = |target: &TargetId| of_zone?.get(&copy(target))?.get(&key);
            if is_delete && !self.takers.is_moved(name, &change.subject) {
                return Some(format!(
                    "it waits: the addresses of {name} were not changed with it; the next plan decides"
                ));
            }
            let changed = made.get(&(copy(&own.target), &key)).map(|made| made.kind.after());
            let then = changed.or_else(|| now(&own.target).map(Option::as_ref));
            let fits = |other: &&CopyId| {
                then.zip(now(&other.target)).is_some_and(|(here, there)| has_same(here, there.as_ref()))
            };
            if !others.iter().any(fits) {
                return Some(format!(
                    "it waits: {name} has other addresses there than where the change was made; the next plan decides"
                ));
            }
        }
        None
    }
}

/// Whether two RRsets have the same data, whatever their TTL.
fn has_same(one: Option<&Rrset>, other: Option<&Rrset>) -> bool {
    one.map(Rrset::rdata) == other.map(Rrset::rdata)
}

/// The one copy that a change is for.
fn copy_of(change: &Change) -> CopyId {
    CopyId { target: target_of(change), zone: change.zone.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::fixture;
    use crate::dns::{Name, Rtype, ZoneName};
    use crate::inventory::value::Inv;
    use crate::pipeline::settings::load_settings;

    /// Settings with a zone and its reverse zone in a pool with the targets `a` and `b`, and a zone of another pool.
    fn config() -> Config {
        let workspace = tempfile::tempdir().unwrap();
        let target = |name| format!("[[pool.main.target]]\nname = \"{name}\"\ntype = \"zonefile\"\ndir = \"{name}\"\n");
        let other = "[[pool.other.target]]\ntype = \"zonefile\"\ndir = \"c\"\n";
        let zone = |what, pool| format!("[[zone]]\n{what}\npool = \"{pool}\"\npermission = \"full\"\n");
        let exports =
            ["projects", "hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n"));
        let text = [
            format!("owner = \"us\"\n[sources]\n{}[[sources.mac]]\nname = \"a\"\npath = \"a\"\n", exports.concat()),
            [target("a"), target("b"), other.to_owned()].concat(),
            zone("name = \"example.net\"", "main") + &zone("network = \"2a02:6b8::/40\"", "main"),
            zone("name = \"example.org\"", "other"),
        ];
        std::fs::write(workspace.path().join("zonewright.toml"), text.concat()).unwrap();
        std::fs::write(workspace.path().join("projects"), "id: p\nvlan_scheme: static\nvlans: {main: 1}\n").unwrap();
        load_settings(workspace.path()).unwrap().config
    }

    /// A change of an RRset with a TTL of 60 seconds, at one target.
    fn change(target: &str, hosts: &[u64], key: (&str, Rtype), rdata: [&[&str]; 2]) -> Change {
        let own = fixture::change(("p", Some(hosts[0])), key, ((60, rdata[0]), (60, rdata[1])), &[]);
        let also = hosts[1..].iter().map(|host| Subject::Host(Inv(*host))).collect();
        Change { targets: vec![target.to_owned()], also, ..own }
    }

    /// An AAAA RRset of `one.example.net` or another name; without data it is not there.
    fn aaaa(name: &str, data: &[&str]) -> (RrKey, Option<Rrset>) {
        let key = change("a", &[1], (name, Rtype::AAAA), [&[], &["::1"]]).key;
        (key, fixture::rrset(Rtype::AAAA, 60, data))
    }

    /// What is held back at the target `a`, where this host has something left there: the owners with the reasons, and the
    /// owners of what goes on. The target `b` took all of the changes of PTR RRsets. Of the names with addresses both targets
    /// hold the AAAA RRsets that `live` gives: `a` and `b`.
    fn outcome(left: Option<u64>, live: &[(&str, [&[&str]; 2])], changes: Vec<Change>) -> [Vec<String>; 2] {
        let lacking: Vec<_> = changes.iter().map(|change| (copy_of(change), change.key.clone())).collect();
        outcome_where(PointerTakers::new(&[], &lacking), left, live, changes)
    }

    /// The same where it is known which copies took or lack something.
    fn outcome_where(
        takers: PointerTakers,
        left: Option<u64>,
        live: &[(&str, [&[&str]; 2])],
        mut changes: Vec<Change>,
    ) -> [Vec<String>; 2] {
        let config = config();
        let target = |name: &str| TargetId { pool: fixture::pool(), name: name.to_owned() };
        let copy = |name: &str, zone: &ZoneName| CopyId { target: target(name), zone: zone.clone() };
        let mut read: HeldOfCopies = BTreeMap::new();
        for (name, data) in live {
            for (target, data) in ["a", "b"].iter().zip(data) {
                read.entry(copy(target, &fixture::zone("example.net"))).or_default().extend([aaaa(name, data)]);
            }
        }
        for change in changes.iter().filter(|change| change.key.rtype == Rtype::PTR) {
            let after = change.kind.after().cloned();
            read.entry(copy("b", &change.zone)).or_default().insert(change.key.clone(), after);
        }
        let mut held: BTreeMap<ZoneId, HeldOfCopies> = BTreeMap::new();
        for (copy, of_copy) in read {
            held.entry(copy.zone_id()).or_default().insert(copy, of_copy);
        }
        let sight = AddressSight { zones: NamedZones::of(&config), held, takers };
        let left = left.map(|host| LackToLeave {
            told: LeftLack {
                target: target("a"),
                key: aaaa("left.example.net", &[]).0,
                why: "it was changed".to_owned(),
            },
            subjects: vec![Subject::Host(Inv(host))],
        });
        let waiting = hold_back(&mut changes, left.as_slice(), &sight);
        let waiting = waiting.iter().map(|own| format!("{}: {}", own.key.owner, own.why)).collect();
        [waiting, changes.iter().map(|own| own.key.owner.to_string()).collect()]
    }

    #[test]
    fn of_a_host_of_which_something_is_left_at_a_target_nothing_is_made_there() {
        let of = |target, hosts: &[u64], name, rdata: [&[&str]; 2]| change(target, hosts, (name, Rtype::AAAA), rdata);
        let (create, delete): ([&[&str]; 2], [&[&str]; 2]) = ([&[], &["2a02::1"]], [&["2a02::1"], &[]]);
        let changes = vec![
            of("a", &[1], "gone-1.example.net", delete),
            of("a", &[2, 1], "gone-2-1.example.net", delete),
            of("a", &[1], "new-1.example.net", create),
            Change { subject: Subject::Released(Inv(1)), ..of("a", &[1], "former-1.example.net", delete) },
            of("a", &[2], "gone-2.example.net", delete),
            of("b", &[1], "gone-1.example.net", delete),
        ];
        let names = ["gone-1", "gone-2-1", "new-1", "former-1"];
        let waiting =
            names.map(|name| format!("{name}.example.net.: it waits: something else of its host is left there"));
        let made = ["gone-2.example.net.".to_owned(), "gone-1.example.net.".to_owned()];
        assert_eq!(outcome(Some(1), &[], changes.clone()), [waiting.to_vec(), made.to_vec()]);
        assert_eq!(outcome(None, &[], changes)[0], Vec::<String>::new());
    }

    /// The change of the PTR RRset of an address at the target `a`.
    fn ptr(host: u64, rdata: [&[&str]; 2]) -> Change {
        change("a", &[host], ("2a02:6b8::1", Rtype::PTR), rdata)
    }

    #[test]
    fn a_ptr_is_made_where_its_name_has_the_addresses_that_it_has_where_the_change_was_made() {
        let waits = |data: [&[&str]; 2], changes: Vec<Change>| {
            let live = [("one.example.net", data)];
            !outcome(None, &live, changes)[0].is_empty()
        };
        let address = |rdata: [&[&str]; 2]| change("a", &[1], ("one.example.net", Rtype::AAAA), rdata);
        let (first, second): (&[&str], &[&str]) = (&["2a02:6b8::1"], &["2a02:6b8::2"]);
        let one: &[&str] = &["one.example.net."];
        let old: &[&str] = &["old.example.net."];
        assert!(!waits([first, first], vec![ptr(1, [&[], one])]));
        assert!(waits([second, first], vec![ptr(1, [&[], one])]));
        assert!(waits([&[], first], vec![ptr(1, [old, one])]));
        assert!(!waits([first, first], vec![ptr(1, [old, one])]), "only the name that it adds counts");
        // It is deleted only where the addresses of its name were changed with it.
        assert!(waits([second, second], vec![ptr(1, [one, &[]])]));
        let moves = |data: [&[&str]; 2], host: u64| {
            let change = ptr(1, [one, &[]]);
            let name = Name::parse("one.example.net").unwrap();
            let takers = PointerTakers::new(&[], &[(copy_of(&change), change.key.clone())]);
            let takers = takers.with_moved(name.as_name(), &Subject::Host(Inv(host)));
            outcome_where(takers, None, &[("one.example.net", data)], vec![change])[0].is_empty()
        };
        assert!(moves([second, second], 1));
        assert!(!moves([second, second], 2), "for another host");
        assert!(!moves([first, second], 1));
        // What is made with it counts.
        assert!(!waits([&[], first], vec![address([&[], first]), ptr(1, [&[], one])]));
        assert!(!waits([second, first], vec![address([second, first]), ptr(1, [&[], one])]));
        // The other target holds it, but did not take the change.
        let change = ptr(1, [&[], one]);
        let other = TargetId { name: "b".to_owned(), ..target_of(&change) };
        let key = |target: &TargetId| (CopyId { target: target.clone(), ..copy_of(&change) }, change.key.clone());
        let live = [("one.example.net", [first, first])];
        let takers = PointerTakers::new(&[], &[key(&target_of(&change)), key(&other)]);
        assert_eq!(outcome_where(takers, None, &live, vec![change.clone()])[0].len(), 1);
        // The plan knew the copy.
        let live = [("one.example.net", [second, first])];
        assert_eq!(outcome_where(PointerTakers::default(), None, &live, vec![change])[0].len(), 0);
        // A name in no zone, one in a zone of another pool, and a PTR that no host asked for.
        for foreign in ["one.example.com.", "one.example.org."] {
            assert!(!waits([second, first], vec![ptr(1, [&[], &[foreign]])]), "{foreign}");
        }
        let orphan = "orphan:main/one.example.net.".parse().unwrap();
        assert!(!waits([second, first], vec![Change { subject: orphan, ..ptr(1, [&[], one]) }]));
    }

    #[test]
    fn what_waits_is_not_counted_as_made() {
        let of = |host, name, rdata: [&[&str]; 2]| change("a", &[host], (name, Rtype::AAAA), rdata);
        // Host 2 has something left; its old name keeps the address, so that the PTR of host 3 cannot be deleted yet.
        let changes = || {
            vec![
                of(2, "old.example.net", [&["2a02:6b8::1"], &[]]),
                ptr(3, [&[], &["old.example.net."]]),
                of(3, "three.example.net", [&[], &["2a02:6b8::3"]]),
                of(4, "four.example.net", [&[], &["2a02:6b8::4"]]),
            ]
        };
        let live: [(&str, [&[&str]; 2]); 1] = [("old.example.net", [&["2a02:6b8::1"], &[]])];
        let [waiting, made] = outcome(Some(2), &live, changes());
        assert_eq!(waiting.len(), 3, "{waiting:#?}");
        assert_eq!(made, ["four.example.net."]);
        assert_eq!(outcome(None, &live, changes())[0], Vec::<String>::new());
    }
}
