//! Each thing that no plan holds, and next to it what a plan can hold.

use super::*;
use crate::diag::{Files, Origin};
use crate::plan::fixture::{change, empty, reason, zone};

/// One side of a change.
type Side<'a> = (u64, &'a [&'a str]);

/// No RRset.
const NONE: Side<'static> = (0, &[]);

/// Some RRsets.
const ONE: Side<'static> = (600, &["2a02:6b8::1"]);

const TWO: Side<'static> = (600, &["2a02:6b8::2"]);

const BOTH: Side<'static> = (600, &["2a02:6b8::1", "2a02:6b8::2"]);

const NAME: Side<'static> = (600, &["a.search.example.net"]);

const OURS: Side<'static> = (600, &["\"heritage=external-dns,external-dns/owner=us\""]);

const THEIRS: Side<'static> = (600, &["\"heritage=external-dns,external-dns/owner=other\""]);

/// A host's name, and the reverse name of its address.
const A: &str = "a.search.example.net";

const REVERSE: &str = "2a02:6b8::1";

/// Whose changes they are.
const HOST: (&str, Option<u64>) = ("search", Some(7));

/// A change of a host for the reasons of these rules.
fn by(rules: &[Rule], name: &str, rtype: Rtype, before: Side<'_>, after: Side<'_>) -> Change {
    let reasons: Vec<Reason> = rules.iter().map(|rule| reason(*rule, Some(7), &[])).collect();
    change(HOST, (name, rtype), (before, after), &reasons)
}

/// A change of AAAA.
fn aaaa(rules: &[Rule], name: &str, before: Side<'_>, after: Side<'_>) -> Change {
    by(rules, name, Rtype::AAAA, before, after)
}

/// A change of PTR.
fn ptr(rules: &[Rule], name: &str, before: Side<'_>, after: Side<'_>) -> Change {
    by(rules, name, Rtype::PTR, before, after)
}

/// A change of the registry.
fn txt(name: &str, before: Side<'_>, after: Side<'_>) -> Change {
    by(&[Rule::Registry], name, Rtype::TXT, before, after)
}

/// The projects of the tests.
fn projects() -> BTreeMap<String, ProjectAdmin> {
    let origin = Origin::line(Files::default().add("zonewright.toml"), 1);
    let admin = |domain: &str, also: &[&str]| ProjectAdmin {
        dns_domain: Name::parse(domain).unwrap(),
        also_domains: also.iter().map(|also| Name::parse(also).unwrap()).collect(),
        automation_allowed: true,
        keep_edits: false,
        approvals: None,
        origin,
    };
    let search = admin("search.example.net", &["old.example.net"]);
    BTreeMap::from([("search".to_owned(), search), ("web".to_owned(), admin("web.example.net", &[]))])
}

/// What is wrong with a plan of these changes.
fn judged(registry: Registry, max_rrset: usize, plan: &Plan) -> Option<String> {
    let zones = ["example.net", "search.example.net", "web.example.net", "0.0.8.b.6.0.2.0.a.2.ip6.arpa"].map(zone);
    let projects = projects();
    let projects = projects.iter().map(|(id, admin)| (id.as_str(), admin));
    let marking = Marking::sample("us", registry);
    stray(plan, &PlanBounds::new(zones.iter().collect(), projects, &marking, max_rrset))
}

/// The same with a registry of TXT and at most 2 records.
fn wrong(changes: Vec<Change>) -> Option<String> {
    judged(Registry::Txt, 2, &Plan { changes, ..empty() })
}

/// Checks that each of the changes can be in a plan.
fn taken(changes: impl IntoIterator<Item = Change>) {
    for change in changes {
        assert_eq!(wrong(vec![change.clone()]), None, "{change:?}");
    }
}

/// Checks that a plan of one change is refused with these words.
fn refused(change: Change, words: &str) {
    let name = change.key.owner.to_string();
    let why = wrong(vec![change]).unwrap_or_else(|| panic!("{name}: {words}"));
    assert!(why.contains(words) && why.contains(&name), "{why}");
}

#[test]
fn addresses_are_added_at_names_that_hosts_can_have() {
    let create = |name: &str| aaaa(&[Rule::Missing], name, NONE, ONE);
    taken([
        create(A),
        create("_a.search.example.net"),
        create("fb-a_1.search.example.net"),
        create("a.old.example.net"),
    ]);
    for (name, words) in [
        ("search.example.net", "of an apex a plan changes only what a file states"),
        ("*.search.example.net", "no plan changes a wildcard"),
        ("_zonewright.search.example.net", "the zone's marker"),
        ("a.b.search.example.net", "a host of project `search` has no such name"),
        ("www.example.net", "a host of project `search` has no such name"),
        ("a.web.example.net", "a host of project `search` has no such name"),
        ("a\\032b.search.example.net", "a host of project `search` has no such name"),
        ("1.0.0.8.b.6.0.2.0.a.2.ip6.arpa", "a host of project `search` has no such name"),
    ] {
        refused(create(name), words);
    }
    // A project that is gone since the plan is no matter of shape.
    taken([Change { project: "gone".to_owned(), ..create(A) }]);
}

#[test]
fn a_rule_adds_one_address_and_keeps_or_removes_others() {
    taken([
        aaaa(&[Rule::Missing, Rule::WrongAddress], A, ONE, TWO),
        aaaa(&[Rule::Missing], A, ONE, BOTH),
        aaaa(&[Rule::WrongAddress], A, BOTH, ONE),
    ]);
    refused(aaaa(&[Rule::Missing], A, NONE, BOTH), "adds 2 addresses");
    // One copy of a pool gets all that the reference copy keeps.
    let for_one = |targets: &[&str]| Change {
        targets: targets.iter().map(|&name| name.to_owned()).collect(),
        ..aaaa(&[Rule::Missing, Rule::CopyDiffers], A, NONE, BOTH)
    };
    taken([for_one(&["b"])]);
    refused(for_one(&[]), "adds 2 addresses");
}

#[test]
fn addresses_that_the_inventory_lists_come_all_at_once_and_of_both_families() {
    let v4 = |after: Side<'_>| by(&[Rule::Missing], A, Rtype::A, NONE, after);
    let several = || aaaa(&[Rule::Missing], A, NONE, BOTH);
    let of_listing = |listing: &[&'static str], change: Change| {
        let zones = ["search.example.net"].map(zone);
        let projects = projects();
        let projects = projects.iter().map(|(id, admin)| (id.as_str(), admin));
        let marking = Marking::sample("us", Registry::Journal);
        let bounds = PlanBounds::new(zones.iter().collect(), projects, &marking, 100);
        let listing = listing.iter().copied().collect();
        stray(&Plan { changes: vec![change], ..empty() }, &PlanBounds { listing, ..bounds })
    };
    let two = (600, &["192.0.2.1", "192.0.2.2"][..]);
    assert_eq!(of_listing(&["search"], v4(two)), None);
    assert_eq!(of_listing(&["search"], several()), None);
    for (listing, change) in [(&[][..], v4(two)), (&["web"], v4(two)), (&["web"], several())] {
        assert!(of_listing(listing, change).is_some(), "{listing:?}");
    }
}

#[test]
fn an_address_is_removed_wherever_it_was_found() {
    let remove = |name: &str| aaaa(&[Rule::AddressElsewhere], name, ONE, NONE);
    taken(
        ["a.b.search.example.net", "www.example.net", "_x.example.net", "a\\032b.example.net", "x.*.example.net"]
            .map(remove),
    );
    taken([remove("x.0.0.8.b.6.0.2.0.a.2.ip6.arpa")]);
    refused(remove("*.example.net"), "no plan changes a wildcard");
    refused(remove("web.example.net"), "of an apex a plan changes only what a file states");
    let released = aaaa(&[Rule::Released], "x.example.net", BOTH, NONE);
    let orphan = change(("web", None), (A, Rtype::AAAA), (ONE, NONE), &[reason(Rule::Orphan, None, &[])]);
    taken([released, orphan]);
}

#[test]
fn a_ttl_is_set_at_the_names_of_hosts_and_their_addresses() {
    taken([
        aaaa(&[Rule::Ttl], A, ONE, (60, ONE.1)),
        ptr(&[Rule::Ttl], REVERSE, NAME, (60, NAME.1)),
        aaaa(&[Rule::Missing, Rule::Ttl, Rule::WrongAddress], A, ONE, (60, TWO.1)),
    ]);
    refused(aaaa(&[Rule::Ttl], "www.example.net", ONE, (60, ONE.1)), "has no such name");
    refused(aaaa(&[Rule::WrongAddress], A, BOTH, (60, ONE.1)), "sets the TTL without the reason `ttl`");
}

#[test]
fn ptr_are_at_whole_addresses_and_name_hosts() {
    let create = |name: &str, target: &str| ptr(&[Rule::MissingPtr], name, NONE, (600, &[target]));
    taken([
        create(REVERSE, A),
        create("178.154.1.2", "a.web.example.net"),
        ptr(&[Rule::WrongPtr], REVERSE, (600, &["www.example.org"]), NONE),
        ptr(&[Rule::MissingPtr, Rule::WrongPtr], REVERSE, (600, &["www.example.org"]), NAME),
    ]);
    for name in [A, "2.0.0.8.b.6.0.2.0.a.2.ip6.arpa", "1.154.178.in-addr.arpa", "1.x.1.154.178.in-addr.arpa"] {
        refused(create(name, A), "only at the reverse name of a whole address");
    }
    for target in ["www.example.net", "*.search.example.net", "search.example.net", "a.b.search.example.net"] {
        refused(create(REVERSE, target), "which is directly below no project's domain");
    }
}

#[test]
fn a_registry_text_goes_with_its_rrset() {
    let (aaaa_name, ptr_name) = ("aaaa-a.search.example.net", "ptr-1.0.0.8.b.6.0.2.0.a.2.ip6.arpa");
    let create = aaaa(&[Rule::Missing], A, NONE, ONE);
    let delete = aaaa(&[Rule::Released], A, ONE, NONE);
    let modify = aaaa(&[Rule::Missing], A, ONE, BOTH);
    let more = (60, &["\"v=spf1 -all\"", OURS.1[0]][..]);
    let rest = (60, &["\"v=spf1 -all\""][..]);
    for (rrset, before, after) in [
        (&create, NONE, OURS),
        (&create, rest, more),
        (&delete, OURS, NONE),
        (&delete, more, rest),
        (&delete, (60, &["\"heritage=external-dns,external-dns/owner=us,external-dns/resource=x\""][..]), NONE),
    ] {
        assert_eq!(wrong(vec![rrset.clone(), txt(aaaa_name, before, after)]), None, "{before:?} {after:?}");
    }
    let not_made = "it does not create the RRset that this TXT is for, the AAAA of `a.search.example.net.`";
    let with = |rrset: &Change, txt: Change| wrong(vec![rrset.clone(), txt]).unwrap_or_default();
    assert!(with(&modify, txt(aaaa_name, NONE, OURS)).contains(not_made));
    assert!(with(&delete, txt(aaaa_name, NONE, OURS)).contains(not_made));
    refused(txt(aaaa_name, OURS, NONE), "it does not delete the RRset that this TXT is for");
    refused(txt(ptr_name, NONE, OURS), "it does not create the RRset that this TXT is for");
    for (before, after) in [(NONE, THEIRS), (NONE, rest), (OURS, THEIRS), (OURS, (60, OURS.1))] {
        assert!(with(&create, txt(aaaa_name, before, after)).contains("registry's text of owner `us`"));
    }
    assert!(with(&delete, txt(aaaa_name, THEIRS, NONE)).contains("registry's text of owner `us`"));
    for name in ["_acme-challenge.search.example.net", A, "aaaa-.search.example.net"] {
        refused(txt(name, NONE, OURS), "only at the registry's names");
    }
    let of_another_type = "it does not create the RRset that this TXT is for, the A of `a.search.example.net.`";
    assert!(with(&create, txt("a-a.search.example.net", NONE, OURS)).contains(of_another_type));
    refused(txt("_zonewright.search.example.net", NONE, OURS), "the zone's marker");
    for registry in [Registry::Journal, Registry::Noop] {
        let changes = vec![create.clone(), txt(aaaa_name, NONE, OURS)];
        let why = judged(registry, 2, &Plan { changes, ..empty() }).unwrap();
        assert!(why.contains("only with `registry = \"txt\"`"), "{why}");
    }
}

#[test]
fn an_rrset_of_too_many_records_may_only_shrink() {
    let addresses: Vec<String> = (1..=5).map(|number| format!("2a02:6b8::{number}")).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let some = |count: usize| (600, &addresses[..count]);
    let moved = (600, &addresses[1..5]);
    taken([
        aaaa(&[Rule::WrongAddress], A, some(5), some(4)),
        aaaa(&[Rule::Missing, Rule::WrongAddress], A, some(4), moved),
        aaaa(&[Rule::Missing], A, some(1), some(2)),
    ]);
    refused(aaaa(&[Rule::Missing], A, some(2), some(3)), "leaves 3 records there, and `max_rrset` of [limits] is 2");
    refused(aaaa(&[Rule::Missing], A, NONE, some(5)), "leaves 5 records there");
}

#[test]
fn the_reasons_of_a_change_fit_what_it_does() {
    refused(aaaa(&[Rule::MissingPtr], A, NONE, ONE), "`missing-ptr` is no reason to change AAAA");
    refused(ptr(&[Rule::WrongAddress], REVERSE, NAME, NONE), "`wrong-address` is no reason to change PTR");
    refused(aaaa(&[Rule::Registry], A, NONE, ONE), "`registry` is no reason to change AAAA");
    refused(aaaa(&[Rule::Undo], A, NONE, ONE), "`undo` is no reason to change AAAA");
    refused(by(&[Rule::Missing], "aaaa-a.search.example.net", Rtype::TXT, NONE, OURS), "is no reason to change TXT");
    refused(aaaa(&[Rule::WrongAddress], A, ONE, TWO), "adds a record without the reason `missing`");
    refused(ptr(&[Rule::Ttl], REVERSE, NONE, NAME), "adds a record without the reason `missing-ptr`");
    refused(aaaa(&[Rule::Missing], A, ONE, TWO), "none of its reasons is one to remove");
}

#[test]
fn only_orphans_have_no_host() {
    let hostless =
        |rule, before, after| change(("search", None), (A, Rtype::AAAA), (before, after), &[reason(rule, None, &[])]);
    taken([hostless(Rule::Orphan, ONE, NONE)]);
    refused(hostless(Rule::Missing, NONE, ONE), "the subjects of the change and of its reason `missing` do not fit");
    refused(aaaa(&[Rule::Orphan], A, ONE, NONE), "the subjects of the change and of its reason `orphan` do not fit");
    let both = [reason(Rule::Orphan, None, &[]), reason(Rule::WrongPtr, Some(7), &[])];
    taken([change(HOST, (REVERSE, Rtype::PTR), (NAME, NONE), &both)]);
}

#[test]
fn a_name_belongs_to_the_nearest_zone_of_the_settings() {
    let mut change = aaaa(&[Rule::AddressElsewhere], "x.web.example.net", ONE, NONE);
    taken([change.clone()]);
    change.zone = zone("example.net");
    refused(change.clone(), "zonewright.toml has this name in the zone `web.example.net.`, and not in `example.net.`");
    // That the settings lack the plan's zone is another refusal.
    change.zone = zone("net");
    assert_eq!(wrong(vec![change]), None);
}

#[test]
fn an_undo_puts_back_whatever_was_there_but_no_marker() {
    let undo = |change: Change| Change { reasons: vec![reason(Rule::Undo, Some(7), &["apply:12:1"])], ..change };
    let judged = |change: Change| {
        let plan = Plan { undoes: Some(12), changes: vec![change], ..empty() };
        judged(Registry::Journal, 1, &plan)
    };
    for change in [
        aaaa(&[], "*.search.example.net", ONE, NONE),
        aaaa(&[], "www.example.net", NONE, BOTH),
        txt("aaaa-a.search.example.net", THEIRS, NONE),
    ] {
        assert_eq!(judged(undo(change.clone())), None, "{change:?}");
    }
    let marker = judged(undo(txt("_zonewright.search.example.net", NONE, OURS))).unwrap();
    assert!(marker.contains("the zone's marker"), "{marker}");
    let why = judged(aaaa(&[Rule::Missing], A, NONE, ONE)).unwrap();
    assert!(why.contains("a plan that undoes an apply has no reason `missing`"), "{why}");
}
