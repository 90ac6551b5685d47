use crate::change::fixture;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::change::Rule;
use crate::dns::{RrKey, Ttl, ZoneBuilder, ZoneName};
use crate::live::asked::AskedZone;
use crate::live::{Apexes, LiveZone};
use crate::target::{Answer, Question};

/// How many records an RRset may have here.
const MAX: usize = 2;

/// A zone's apex and its records: owner, type, RDATA; a zone without records could not be read.
type Sample<'a> = (&'a str, &'a [(&'a str, Rtype, &'a str)]);

/// A change: owner, type, RDATA before, RDATA after.
type Row<'a> = (&'a str, Rtype, &'a [&'a str], &'a [&'a str]);

/// A name.
fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// RDATA of presentation format.
fn rdata(rtype: Rtype, text: &str) -> Rdata {
    match rtype {
        Rtype::NS | Rtype::CNAME | Rtype::DNAME | Rtype::PTR => Rdata::from_name(name(text).as_name()),
        Rtype::TXT => Rdata::from_text(text).unwrap(),
        _ => Rdata::parse(rtype, text).unwrap(),
    }
}

/// Zones with a SOA each.
fn live(samples: &[Sample<'_>]) -> Live {
    let apexes: Vec<ZoneName> = samples.iter().map(|(apex, _)| ZoneName::new(name(apex))).collect();
    let zones = apexes.iter().zip(samples).map(|(apex, (_, records))| {
        if records.is_empty() {
            return LiveZone::unknown(apex.clone());
        }
        let mut builder = ZoneBuilder::new(apex.clone());
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        for (owner, rtype, text) in *records {
            let rdata = rdata(*rtype, text);
            builder.push(name(owner).as_name(), *rtype, Ttl::DEFAULT, rdata.as_octets()).unwrap();
        }
        LiveZone::known(builder.finish().unwrap())
    });
    Live::new(zones.collect(), Apexes::new(apexes.iter()))
}

/// An RRset; none of no records.
fn rrset(rtype: Rtype, texts: &[&str]) -> Option<Rrset> {
    Rrset::new(Ttl::DEFAULT, texts.iter().map(|text| rdata(rtype, text)).collect())
}

/// Changes; those that change nothing are left out.
fn changes(live: &Live, rows: &[Row<'_>]) -> Vec<Change> {
    let change = |(owner, rtype, before, after): &Row<'_>| {
        let owner = name(owner);
        let zone = live.zone(live.zone_of(owner.as_name()).unwrap()).name().clone();
        Some(Change {
            key: RrKey { owner: zone.owner(owner.as_name()).unwrap(), rtype: *rtype },
            zone,
            subject: fixture::subject(Some(1)),
            pool: fixture::pool(),
            also: Vec::new(),
            registers: None,
            via: None,
            targets: Vec::new(),
            project: String::new(),
            kind: ChangeKind::between(rrset(*rtype, before), rrset(*rtype, after))?,
            reasons: vec![fixture::reason(Rule::Missing, Some(1), &[])],
        })
    };
    rows.iter().filter_map(change).collect()
}

/// Checks the zones as changes would leave them, one after the other.
fn check<'a>(live: &'a Live, changes: &'a [Change], max_rrset: usize) -> FoundFaults<'a> {
    let check = PostCheck::new(live, changes, max_rrset);
    let zones = live.zones().map(|(zone, _)| check.zone(zone));
    FoundFaults::join(std::iter::once(check.changes()).chain(zones))
}

/// What would be wrong, in words: faults with the places of their causes, then faults that were there before.
fn told(live: &Live, changes: &[Change]) -> (Vec<String>, Vec<String>) {
    let found = check(live, changes, MAX);
    let caused = found.caused.iter().map(|caused| format!("{:?} {}", caused.by, words::caused(&caused.fault, MAX).0));
    let standing = words::notices(&found.standing, live, MAX);
    (caused.collect(), standing.into_iter().map(|notice| notice.message).collect())
}

/// What is wrong in the zones of samples once they are changed by rows.
fn wrong(samples: &[Sample<'_>], rows: &[Row<'_>]) -> (Vec<String>, Vec<String>) {
    let live = live(samples);
    told(&live, &changes(&live, rows))
}

/// The reverse zone of 192.0.2.0/24 with one PTR, that of 192.0.2.1.
fn pointer(target: &str) -> Vec<(&'static str, Rtype, &str)> {
    vec![("1.2.0.192.in-addr.arpa", Rtype::PTR, target)]
}

/// The name of that zone.
const REVERSE: &str = "2.0.192.in-addr.arpa";

/// Nothing.
const NONE: (&[&str], &[&str]) = (&[], &[]);

/// Whether what was found are these words.
fn is(found: &(Vec<String>, Vec<String>), (caused, standing): (&[&str], &[&str])) -> bool {
    found.0 == caused && found.1 == standing
}

#[test]
fn a_cname_that_comes_to_stand_beside_data_is_caused_by_what_is_created() {
    let zones: &[Sample<'_>] = &[("example.net", &[("a.example.net", Rtype::CNAME, "b.example.net")])];
    let found = wrong(zones, &[("a.example.net", Rtype::AAAA, &[], &["2001:db8::1"])]);
    assert_eq!(found.0, ["[0] a CNAME would be next to AAAA at `a.example.net.`"]);
    let signed = wrong(zones, &[("b.example.net", Rtype::AAAA, &[], &["2001:db8::1"])]);
    assert!(is(&signed, NONE), "{signed:?}");
}

#[test]
fn a_cname_that_stands_beside_data_already_is_told_until_it_is_worse() {
    let records = &[("a.example.net", Rtype::CNAME, "b.example.net"), ("a.example.net", Rtype::AAAA, "2001:db8::1")];
    let zones: &[Sample<'_>] = &[("example.net", records)];
    let before = (&[][..], &["a CNAME is next to AAAA at `a.example.net.`"][..]);
    assert!(is(&wrong(zones, &[]), before));
    let other = ("a.example.net", Rtype::AAAA, &["2001:db8::1"][..], &["2001:db8::2"][..]);
    assert!(is(&wrong(zones, &[other]), before));
    assert!(is(&wrong(zones, &[("a.example.net", Rtype::AAAA, &["2001:db8::1"], &[])]), NONE));
    let worse = wrong(zones, &[("a.example.net", Rtype::TXT, &[], &["x"])]);
    assert_eq!(worse.0, ["[0] a CNAME would be next to TXT, AAAA at `a.example.net.`"]);
}

#[test]
fn an_rrset_may_not_grow_over_its_limit_and_may_shrink() {
    let three = &["1", "2", "3"].map(|text| ("a.example.net", Rtype::TXT, text));
    let zones: &[Sample<'_>] = &[("example.net", three)];
    let txt = |after: &[&str]| wrong(zones, &[("a.example.net", Rtype::TXT, &["1", "2", "3"], after)]);
    let had = ["the TXT of `a.example.net.` has 3 records, but `max_rrset` is 2"];
    assert!(is(&wrong(zones, &[]), (&[], &had)));
    assert!(is(&txt(&["1", "2", "4"]), (&[], &had)));
    assert!(is(&txt(&["1", "2"]), NONE));
    let grown = ["[0] the TXT of `a.example.net.` would have 4 records, but `max_rrset` is 2"];
    assert!(is(&txt(&["1", "2", "3", "4"]), (&grown, &[])));
}

#[test]
fn a_ptr_to_nowhere_is_caused_by_who_adds_it_or_takes_the_address_away() {
    let records = &[("a.example.net", Rtype::AAAA, "2001:db8::1")];
    let ptr = pointer("a.example.net");
    let zones: &[Sample<'_>] = &[("example.net", records), (REVERSE, &ptr)];
    assert!(is(&wrong(zones, &[]), NONE));
    let gone: Row<'_> = ("a.example.net", Rtype::AAAA, &["2001:db8::1"], &[]);
    let left = ["[0] the PTR of `192.0.2.1` names `a.example.net.`, which would have no AAAA, A or CNAME any longer"];
    assert!(is(&wrong(zones, &[gone]), (&left, &[])));
    let moved: Row<'_> = ("1.2.0.192.in-addr.arpa", Rtype::PTR, &["a.example.net"], &["b.example.net"]);
    let new = ["[0] the PTR of `192.0.2.1` would name `b.example.net.`, which would have no AAAA, A or CNAME"];
    assert!(is(&wrong(zones, &[moved]), (&new, &[])));
    assert!(is(&wrong(zones, &[moved, ("b.example.net", Rtype::A, &[], &["192.0.2.1"])]), NONE));
    assert!(is(&wrong(zones, &[gone, ("1.2.0.192.in-addr.arpa", Rtype::PTR, &["a.example.net"], &[])]), NONE));
    assert!(is(&wrong(zones, &[gone, ("a.example.net", Rtype::CNAME, &[], &["x.example.org"])]), NONE));
}

#[test]
fn a_ptr_to_nowhere_that_was_there_before_is_told_until_it_is_mended() {
    let records = &[("b.example.net", Rtype::TXT, "x")];
    let ptr = pointer("a.example.net");
    let zones: &[Sample<'_>] = &[("example.net", records), (REVERSE, &ptr)];
    let before = ["the PTR of `192.0.2.1` names `a.example.net.`, which has no AAAA, A or CNAME"];
    assert!(is(&wrong(zones, &[]), (&[], &before)));
    assert!(is(&wrong(zones, &[("a.example.net", Rtype::AAAA, &[], &["2001:db8::1"])]), NONE));
    let with_more: Row<'_> =
        ("1.2.0.192.in-addr.arpa", Rtype::PTR, &["a.example.net"], &["a.example.net", "x.example.org"]);
    assert!(is(&wrong(zones, &[with_more]), (&[], &before)));
}

#[test]
fn what_is_not_known_or_lies_elsewhere_is_no_fault() {
    let structure: &[_] = &[
        ("cut.example.net", Rtype::NS, "ns.example.org"),
        ("d.example.net", Rtype::DNAME, "e.example.net"),
        ("*.w.example.net", Rtype::A, "192.0.2.9"),
    ];
    for target in ["x.cut.example.net", "x.d.example.net", "x.y.w.example.net", "a.example.org", "a.lost.example"] {
        let ptr = pointer(target);
        let zones: &[Sample<'_>] = &[("example.net", structure), ("lost.example", &[]), (REVERSE, &ptr)];
        let found = wrong(zones, &[("2.2.0.192.in-addr.arpa", Rtype::PTR, &[], &[target])]);
        assert!(is(&found, NONE), "{target}: {found:?}");
    }
    // A PTR at a name that is not a full address has another purpose.
    let service: &[_] = &[("_http._tcp.2.0.192.in-addr.arpa", Rtype::PTR, "x.example.net")];
    assert!(is(&wrong(&[("example.net", structure), (REVERSE, service)], &[]), NONE));
}

#[test]
fn a_wildcard_stands_in_only_for_what_does_not_exist() {
    let wildcard = ("*.example.net", Rtype::AAAA, "2001:db8::1");
    for (other, is_found) in [("b.a.example.net", true), ("a.example.net", true), ("c.example.net", false)] {
        let records = &[wildcard, (other, Rtype::TXT, "x")];
        let ptr = pointer("a.example.net");
        let found = wrong(&[("example.net", records), (REVERSE, &ptr)], &[]);
        assert_eq!(!found.1.is_empty(), is_found, "{other}: {found:?}");
    }
    // The change that keeps a wildcard from answering removes nothing.
    let ptr = pointer("a.example.net");
    let zones: &[Sample<'_>] = &[("example.net", &[wildcard]), (REVERSE, &ptr)];
    let found = wrong(zones, &[("b.a.example.net", Rtype::AAAA, &[], &["2001:db8::2"])]);
    assert_eq!((found.0.len(), found.1.len()), (0, 1), "{found:?}");
}

#[test]
fn nothing_is_created_below_a_delegation_or_a_dname() {
    let structure: &[_] =
        &[("cut.example.net", Rtype::NS, "ns.example.org"), ("d.example.net", Rtype::DNAME, "e.example.net")];
    let aaaa = |owner| wrong(&[("example.net", structure)], &[(owner, Rtype::AAAA, &[], &["2001:db8::1"])]);
    let cut = "would be at or below the delegation `cut.example.net.`";
    assert_eq!(aaaa("cut.example.net").0, [format!("[0] the AAAA of `cut.example.net.` {cut}")]);
    assert_eq!(aaaa("x.cut.example.net").0, [format!("[0] the AAAA of `x.cut.example.net.` {cut}")]);
    let below = "[0] the AAAA of `x.d.example.net.` would be below the DNAME at `d.example.net.`";
    assert_eq!(aaaa("x.d.example.net").0, [below]);
    assert!(is(&aaaa("d.example.net"), NONE));
}

#[test]
fn a_zone_that_was_asked_name_by_name_is_known_for_what_it_was_asked() {
    let apexes = ["example.net", REVERSE].map(|apex| ZoneName::new(name(apex)));
    let mut asked = AskedZone::new(apexes[0].clone());
    let soa = Rrset::new(Ttl::DEFAULT, vec![crate::dns::RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata()]);
    asked.open(vec![Answer::Holds(Rtype::SOA, soa.unwrap()), Answer::Nothing, Answer::Nothing]);
    let question = |text: &str| Question { name: name(text), rtype: Rtype::AAAA };
    let there = Answer::Holds(Rtype::AAAA, rrset(Rtype::AAAA, &["2001:db8::1"]).unwrap());
    asked.take(vec![question("a.example.net"), question("b.example.net")], vec![there, Answer::Nothing]);
    let probes = asked.probes();
    let answers = vec![Answer::Nothing; probes.len()];
    asked.take(probes, answers);
    let mut reverse = ZoneBuilder::new(apexes[1].clone());
    reverse.push(apexes[1].as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
    let reverse = LiveZone::known(reverse.finish().unwrap());
    let live = Live::new(vec![asked.to_live().unwrap(), reverse], Apexes::new(apexes.iter()));
    let ptr = |target| changes(&live, &[("1.2.0.192.in-addr.arpa", Rtype::PTR, &[], &[target])]);
    assert_eq!(told(&live, &ptr("a.example.net")).0.len(), 0);
    assert_eq!(told(&live, &ptr("b.example.net")).0.len(), 1);
    assert_eq!(told(&live, &ptr("c.example.net")).0.len(), 0);
    // No query showed whether a wildcard answers once the address is gone.
    let mut both = ptr("a.example.net");
    both.extend(changes(&live, &[("a.example.net", Rtype::AAAA, &["2001:db8::1"], &[])]));
    assert_eq!(told(&live, &both).0.len(), 0);
}

#[test]
fn many_faults_of_a_zone_are_told_in_a_few_lines() {
    let owners: Vec<String> = (1..=30).map(|number| format!("{number}.2.0.192.in-addr.arpa")).collect();
    let pointers: Vec<_> = owners.iter().map(|owner| (owner.as_str(), Rtype::PTR, "a.example.net")).collect();
    let (caused, told) = wrong(&[("example.net", &[("b.example.net", Rtype::TXT, "x")]), (REVERSE, &pointers)], &[]);
    assert_eq!((caused.len(), told.len()), (0, words::TOLD + 1));
    assert_eq!(told[words::TOLD], "more PTR of this zone to names that have no AAAA, A or CNAME: 10");
}

/// The apexes of the random zones; the last could not be read.
const APEXES: [&str; 4] = ["example.net", "sub.example.net", REVERSE, "lost.example"];

/// The forward names that random zones and changes are about.
const NAMES: [&str; 16] = [
    "example.net",
    "a.example.net",
    "b.example.net",
    "b.a.example.net",
    "c.b.a.example.net",
    "*.example.net",
    "*.a.example.net",
    "*.b.a.example.net",
    "x.y.z.example.net",
    "y.z.example.net",
    "q.y.z.example.net",
    "sub.example.net",
    "a.sub.example.net",
    "*.sub.example.net",
    "d.example.net",
    "e.d.example.net",
];

/// The names that random PTR have.
const POINTERS: [&str; 3] = ["1.2.0.192.in-addr.arpa", "2.2.0.192.in-addr.arpa", "x.2.0.192.in-addr.arpa"];

/// RDATA by which zone holds them, owner and type.
type Model = BTreeMap<(usize, Name, Rtype), BTreeSet<Rdata>>;

/// Which of the zones a name belongs to.
fn zone_of(name: NameRef<'_>) -> Option<usize> {
    let is_in = |apex: &&&str| name.is_at_or_below(self::name(apex).as_name());
    let deepest = APEXES.iter().filter(is_in).max_by_key(|apex| apex.len())?;
    APEXES.iter().position(|apex| apex == deepest)
}

/// A complete copy of zones, searched from one end to the other for each question.
struct Slow<'m>(&'m Model);

impl Slow<'_> {
    /// The types at a name of a zone.
    fn types(&self, zone: usize, name: &Name) -> BTreeSet<Rtype> {
        self.0.keys().filter(|key| key.0 == zone && key.1 == *name).map(|key| key.2).collect()
    }

    /// Whether data at a name are hidden, by a delegation or a DNAME.
    fn hides(&self, zone: usize, name: &Name) -> bool {
        let apex = self::name(APEXES[zone]);
        let hides = |key: &(usize, Name, Rtype)| match key.2 {
            Rtype::NS => key.1 != apex && name.as_name().is_at_or_below(key.1.as_name()),
            Rtype::DNAME => key.1 != *name && name.as_name().is_at_or_below(key.1.as_name()),
            _ => false,
        };
        self.0.keys().any(|key| key.0 == zone && hides(key))
    }

    /// Whether a name is known to have no address or CNAME.
    fn leads_nowhere(&self, target: &Name) -> bool {
        let Some(zone) = zone_of(target.as_name()).filter(|zone| *zone != 3) else { return false };
        if self.hides(zone, target) {
            return false;
        }
        let exists = |above: &NameRef<'_>| {
            let is_at_or_below = |key: &(usize, Name, Rtype)| key.0 == zone && key.1.as_name().is_at_or_below(*above);
            above.as_wire() == name(APEXES[zone]).as_wire() || self.0.keys().any(is_at_or_below)
        };
        let closest = target.as_name().ancestors().find(exists).unwrap();
        let source = if closest == target.as_name() { target.clone() } else { Name::prepend(b"*", closest).unwrap() };
        let types = self.types(zone, &source);
        ![Rtype::AAAA, Rtype::A, Rtype::CNAME].iter().any(|rtype| types.contains(rtype))
    }
}

/// Faults as text, each with the RRsets whose changes cause it; a fault without RRsets was there before.
type Verdict = BTreeMap<String, BTreeSet<(Name, Rtype)>>;

/// Finds by plain search in the zones before and after what [`PostCheck`] finds.
fn search(before: &Model, after: &Model) -> Verdict {
    let (then, now) = (Slow(after), Slow(before));
    let differs = |key: &&(usize, Name, Rtype)| before.get(*key) != after.get(*key);
    let shown = |key: &&(usize, Name, Rtype)| zone_of(key.1.as_name()) == Some(key.0);
    let key_of = |key: &(usize, Name, Rtype)| (key.1.clone(), key.2);
    let mut found = Verdict::new();
    for key in after.keys().filter(shown).filter(|key| then.hides(key.0, &key.1)).filter(differs) {
        found.insert(format!("hidden {} {}", key.1, key.2), [key_of(key)].into());
    }
    for key in after.keys().filter(shown).filter(|key| !then.hides(key.0, &key.1)) {
        let (zone, owner, rtype) = key;
        let (has, had) = (&after[key], before.get(key).cloned().unwrap_or_default());
        if has.len() > MAX {
            let by = (has.len() > had.len()).then(|| key_of(key));
            found.insert(format!("size {owner} {rtype} {}", has.len()), by.into_iter().collect());
        }
        if *rtype == Rtype::CNAME && then.types(*zone, owner).len() > 1 {
            let was = now.types(*zone, owner);
            let was_wrong = was.contains(&Rtype::CNAME) && was.len() > 1;
            let by = then.types(*zone, owner).into_iter().filter(|rtype| !was.contains(rtype));
            let by = by.filter(|rtype| *rtype != Rtype::CNAME || !was_wrong).map(|rtype| (owner.clone(), rtype));
            found.insert(format!("cname {owner}"), by.collect());
        }
        let is_pointer = *rtype == Rtype::PTR && reverse::address_of(owner.as_name()).is_some();
        for rdata in has.iter().filter(|_| is_pointer) {
            let target = rdata.as_rdata(Rtype::PTR).target().unwrap().to_name();
            if !then.leads_nowhere(&target) {
                continue;
            }
            let mut by: BTreeSet<(Name, Rtype)> = (!had.contains(rdata)).then(|| key_of(key)).into_iter().collect();
            if !now.leads_nowhere(&target) {
                let above = target.as_name().ancestors().skip(1).filter_map(|above| Name::prepend(b"*", above).ok());
                let sources: BTreeSet<Name> = std::iter::once(target.clone()).chain(above).collect();
                let leads = |rtype| matches!(rtype, Rtype::AAAA | Rtype::A | Rtype::CNAME);
                let gone = before.keys().filter(|key| !after.contains_key(*key) && leads(key.2));
                by.extend(gone.filter(|key| sources.contains(&key.1)).map(key_of));
            }
            found.insert(format!("pointer {owner} {target}"), by);
        }
    }
    found
}

/// What [`PostCheck`] finds, in the same words.
fn verdict(found: &FoundFaults<'_>, changes: &[Change]) -> Verdict {
    let word = |fault: &ZoneFault<'_>| match &fault.kind {
        ZoneFaultKind::CnameBeside(_) => format!("cname {}", fault.owner),
        ZoneFaultKind::TooMany(rtype, records) => format!("size {} {rtype} {records}", fault.owner),
        ZoneFaultKind::Dangling { target, .. } => format!("pointer {} {target}", fault.owner),
        ZoneFaultKind::Delegated(rtype, _) | ZoneFaultKind::BelowDname(rtype, _) => {
            format!("hidden {} {rtype}", fault.owner)
        }
        ZoneFaultKind::Mixed(rtype, _) => format!("mixed {} {rtype}", fault.owner),
    };
    let key = |place: &usize| (changes[*place].key.owner.as_name().to_name(), changes[*place].key.rtype);
    let caused = found.caused.iter().map(|caused| (word(&caused.fault), caused.by.iter().map(key).collect()));
    caused.chain(found.standing.iter().map(|fault| (word(fault), BTreeSet::new()))).collect()
}

/// Random data: which name, which type, and which values.
fn any_rrset() -> impl Strategy<Value = (Name, Rtype, BTreeSet<Rdata>)> {
    let values = proptest::collection::btree_set(0..4usize, 0..4);
    let forward = proptest::sample::select(NAMES.to_vec());
    let rtypes = proptest::sample::select(vec![Rtype::AAAA, Rtype::A, Rtype::TXT, Rtype::CNAME]);
    let forward = (forward, rtypes, values).prop_map(|(owner, rtype, values)| {
        let text = |value: usize| match rtype {
            Rtype::AAAA => format!("2001:db8::{value}"),
            Rtype::A => format!("192.0.2.{value}"),
            Rtype::CNAME => NAMES[value].to_owned(),
            _ => value.to_string(),
        };
        (name(owner), rtype, values.into_iter().map(|value| rdata(rtype, &text(value))).collect())
    });
    let targets = NAMES.iter().copied().chain(["n.example.net", "n.a.example.net", "n.lost.example", "n.example.org"]);
    let target = proptest::sample::select(targets.collect::<Vec<_>>());
    let targets = proptest::collection::btree_set(target, 0..4);
    let pointers = (proptest::sample::select(POINTERS.to_vec()), targets).prop_map(|(owner, targets)| {
        (name(owner), Rtype::PTR, targets.into_iter().map(|target| rdata(Rtype::PTR, target)).collect())
    });
    prop_oneof![forward, pointers]
}

/// Random delegations and DNAMEs.
fn any_structure() -> impl Strategy<Value = Vec<(Name, Rtype)>> {
    let cuts = [
        ("a.example.net", Rtype::NS),
        ("sub.example.net", Rtype::NS),
        ("d.example.net", Rtype::DNAME),
        ("b.a.example.net", Rtype::DNAME),
    ];
    let cuts = cuts.map(|(owner, rtype)| (name(owner), rtype)).to_vec();
    prop_oneof![2 => Just(Vec::new()), 1 => proptest::sample::subsequence(cuts, 0..=4)]
}

/// Builds zones of a model.
fn live_of(model: &Model) -> Live {
    let apexes = APEXES.map(|apex| ZoneName::new(name(apex)));
    let zones = apexes.iter().enumerate().map(|(number, apex)| {
        if number == 3 {
            return LiveZone::unknown(apex.clone());
        }
        let mut builder = ZoneBuilder::new(apex.clone());
        for ((_, owner, rtype), values) in model.iter().filter(|(key, _)| key.0 == number) {
            let values = values.iter();
            values.for_each(|own| builder.push(owner.as_name(), *rtype, Ttl::DEFAULT, own.as_octets()).unwrap());
        }
        LiveZone::known(builder.finish().unwrap())
    });
    Live::new(zones.collect(), Apexes::new(apexes.iter()))
}

proptest! {
    #[test]
    fn the_verdict_is_that_of_a_look_at_the_complete_zones(
        data in proptest::collection::vec((any_rrset(), any::<bool>()), 0..25),
        structure in any_structure(),
        wanted in proptest::collection::vec(any_rrset(), 0..12),
    ) {
        let mut before = Model::new();
        let soa = crate::dns::RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata();
        for (number, apex) in APEXES.iter().enumerate().take(3) {
            before.insert((number, name(apex), Rtype::SOA), [soa.clone()].into());
        }
        for (owner, rtype) in structure {
            before.insert((0, owner, rtype), [rdata(rtype, "x.example.org")].into());
        }
        for ((owner, rtype, values), is_in_parent) in data.into_iter().filter(|((_, _, values), _)| !values.is_empty()) {
            let own = zone_of(owner.as_name()).unwrap();
            // The zone above may hold data that belong to the one below.
            let zone = if own == 1 && is_in_parent { 0 } else { own };
            before.insert((zone, owner, rtype), values);
        }
        let live = live_of(&before);
        let mut after = before.clone();
        let mut changes = Vec::new();
        let wanted: BTreeMap<(Name, Rtype), BTreeSet<Rdata>> =
            wanted.into_iter().map(|(owner, rtype, values)| ((owner, rtype), values)).collect();
        for ((owner, rtype), values) in wanted {
            let zone = zone_of(owner.as_name()).unwrap();
            let now = live.rrset(owner.as_name(), rtype).map(|found| found.rrset.to_rrset());
            // Rules do not see hidden data, and no rule creates an RRset where hidden data are.
            if Slow(&before).hides(zone, &owner) && before.contains_key(&(zone, owner.clone(), rtype)) {
                continue;
            }
            let comes = Rrset::new(Ttl::DEFAULT, values.iter().cloned().collect());
            let Some(kind) = ChangeKind::between(now, comes) else { continue };
            let zone_name = ZoneName::new(name(APEXES[zone]));
            let key = RrKey { owner: zone_name.owner(owner.as_name()).unwrap(), rtype };
            changes.push(Change {
                zone: zone_name, key, pool: fixture::pool(), subject: fixture::subject(None), also: Vec::new(), registers: None, via: None, targets: Vec::new(), project: String::new(), kind, reasons: Vec::new(),
            });
            if values.is_empty() { drop(after.remove(&(zone, owner, rtype))) } else { drop(after.insert((zone, owner, rtype), values)) }
        }
        let found = check(&live, &changes, MAX);
        prop_assert_eq!(verdict(&found, &changes), search(&before, &after));
    }
}
