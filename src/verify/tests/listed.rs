//! What SRV list: no SRV lists a name that is not there, whatever happens to the pod.

use super::pools::{accesses, main, run_in};
use super::*;
use crate::apply::{MadeBefore, UnitState};
use crate::claim::{EndpointSetName, Subject};

/// The domain of the set.
const DOMAIN: &str = "search.example.net";

/// No RRset.
const NONE: (u64, &[&str]) = (600, &[]);

/// A change of a pod, or of an endpoint where the id begins with `_`.
fn of(id: &str, what: (&str, Rtype), sides: (fixture::Side<'_>, fixture::Side<'_>)) -> Change {
    let subject = match id.strip_prefix('_') {
        Some(name) => Subject::Endpoints(Box::new(EndpointSetName { set: "web".into(), name: name.into() })),
        None => Subject::pod("web", id),
    };
    let reasons = [fixture::reason(Rule::Stated, None, &[])];
    let change = fixture::change(("search", Some(1)), what, sides, &reasons);
    Change { subject, also: Vec::new(), ..change }
}

/// The name of a placement.
fn placed(label: &str) -> String {
    format!("{label}.{DOMAIN}")
}

/// A change of an SRV, from some names to others.
fn srv(endpoint: &str, before: &[&str], after: &[&str]) -> Change {
    let rdata = |labels: &[&str]| labels.iter().map(|own| format!("0 0 80 {}.", placed(own))).collect::<Vec<_>>();
    let (before, after) = (rdata(before), rdata(after));
    let text = |rdata: &'_ [String]| rdata.iter().map(|own| own.clone().leak() as &str).collect::<Vec<_>>();
    let (before, after) = (text(&before), text(&after));
    of(endpoint, (&format!("{endpoint}._tcp.{DOMAIN}"), Rtype::SRV), ((60, &before), (60, &after)))
}

/// Pods that come, each with a name and a PTR; an SRV that lists two more of them, and another one with the last alone.
fn coming() -> Plan {
    let mut changes = vec![srv("_http", &["old"], &["a1", "b1", "old"]), srv("_grpc", &[], &["b1"])];
    for (pod, address) in [("a", "2a02:6b8::a"), ("b", "2a02:6b8::b")] {
        let name = placed(&format!("{pod}1"));
        changes.push(of(pod, (&name, Rtype::AAAA), (NONE, (60, &[address]))));
        changes.push(of(pod, (address, Rtype::PTR), (NONE, (60, &[&format!("{name}.")]))));
    }
    Plan { changes, ..fixture::empty() }
}

/// What undoes the coming of a pod: its SRV lists it no longer, and its name goes.
fn leaving() -> Plan {
    let name = placed("a1");
    let changes = vec![
        of("a", (&name, Rtype::AAAA), ((60, &["2a02:6b8::a"]), NONE)),
        of("a", (&placed("a"), Rtype::AAAA), ((60, &["2a02:6b8::a"]), (60, &["2a02:6b8::1"]))),
        srv("_http", &["a1", "old"], &["old"]),
    ];
    Plan { changes, ..fixture::empty() }
}

/// The outcome of each subject.
fn shown(applied: &ApplyOutcome) -> Vec<String> {
    applied.hosts.iter().map(|own| format!("{} {}", own.subject, own.outcome)).collect()
}

/// The message of a subject.
fn message<'o>(applied: &'o ApplyOutcome, subject: &str) -> &'o str {
    let own = applied.hosts.iter().find(|own| own.subject.to_string() == subject).unwrap();
    own.message.as_deref().unwrap_or_default()
}

/// The names that an SRV lists that is there and that have no address, apart from the one that no change is about.
fn dangling(plan: &Plan, primary: &MemoryPrimary) -> Vec<String> {
    let srv = plan.changes.iter().filter(|change| change.key.rtype == Rtype::SRV);
    let rdata = srv.filter_map(|change| standing(primary, &change.key)).flat_map(|own| own.rdata().to_vec());
    let names = rdata.filter_map(|rdata| Some(rdata.as_rdata(Rtype::SRV).server()?.to_name()));
    let is_lost = |name: &Name| {
        let key = plan.changes.iter().map(|change| &change.key).find(|key| key.owner.as_name() == name.as_name());
        key.is_some_and(|key| standing(primary, key).is_none())
    };
    names.filter(is_lost).map(|name| name.to_string()).collect()
}

#[test]
fn an_srv_that_is_to_list_a_stale_pod_is_left_and_others_go() {
    let plan = coming();
    for is_meanwhile in [false, true] {
        let (primary, key) = (primary(&plan, 1), &plan.changes[2].key);
        if is_meanwhile {
            primary.expect(vec![edited(&plan, key, &foreign(1))]);
        } else {
            put(&primary, key, Some(&foreign(1)));
        }
        let applied = run(&plan, &primary, true, &Journal::default(), None);
        let expected =
            ["endpoints:web/http stale", "endpoints:web/grpc applied", "pod:web/a stale", "pod:web/b applied"];
        assert_eq!((shown(&applied), applied.ending()), (expected.map(str::to_owned).to_vec(), ApplyEnding::InPart));
        let said = message(&applied, "endpoints:web/http");
        let begin = "its SRV is to list `a1.search.example.net.`, which is not there: pod:web/a: AAAA of `a1.search.";
        assert!(said.starts_with(begin), "{said}");
        assert_eq!(standing(&primary, &plan.changes[0].key).as_ref(), plan.changes[0].kind.before());
    }
}

#[test]
fn an_srv_lists_a_pod_whose_name_was_made_although_its_ptr_was_not() {
    let plan = coming();
    let primary = primary(&plan, 1);
    let ptr = &plan.changes[3].key;
    let other = fixture::rrset(Rtype::PTR, 60, &["other.example.net."]).unwrap();
    primary.expect(vec![UpdateFault::None, edited(&plan, ptr, &other)]);
    let applied = run(&plan, &primary, true, &Journal::default(), None);
    let expected =
        ["endpoints:web/http applied", "endpoints:web/grpc applied", "pod:web/a partial", "pod:web/b applied"];
    assert_eq!(shown(&applied), expected);
}

#[test]
fn what_an_earlier_part_of_the_apply_made_may_be_listed_and_what_it_did_not_may_not() {
    let plan = coming();
    for is_there in [true, false] {
        let primary = primary(&plan, 1);
        put(
            &primary,
            &plan.changes[2].key,
            if is_there { plan.changes[2].kind.after().cloned() } else { None }.as_ref(),
        );
        let pool = [main(100, &[("a", Some(&primary))])];
        let is_it = |change: &Change| change.key == plan.changes[2].key;
        let made = |_: &CopyId, change: &Change| if is_it(change) { MadeBefore::Yes } else { MadeBefore::No };
        let survey = survey(&plan, accesses(&plan, &pool), SIDE_BY_SIDE).with_made(&made);
        let written = write(survey, &orders(&plan, None), &Journal::default());
        let applied = judge(&written, &read_back(&written), Vec::new());
        let http = if is_there { "endpoints:web/http applied" } else { "endpoints:web/http stale" };
        assert_eq!(shown(&applied)[0], http);
        assert!(written.lanes[0].iter().any(|UnitState { done, .. }| !done.is_empty()));
    }
}

#[test]
fn a_target_that_lacks_a_name_does_not_list_it() {
    let plan = coming();
    for (threshold, outcome, count) in [(66, "applied", 1), (100, "stale", 0)] {
        let [a, b, c] = [1, 2, 4].map(|window| primary(&plan, window));
        put(&c, &plan.changes[2].key, Some(&foreign(1)));
        let pool = main(threshold, &[("a", Some(&a)), ("b", Some(&b)), ("c", Some(&c))]);
        let (applied, lacks) = run_in(&plan, &[pool]);
        assert_eq!(shown(&applied)[0], format!("endpoints:web/http {outcome}"));
        let of_srv = lacks.iter().filter(|(target, owner, _)| target == "c" && owner.starts_with("_http"));
        assert_eq!(of_srv.count(), count);
        assert_eq!(standing(&c, &plan.changes[0].key).as_ref(), plan.changes[0].kind.before());
    }
}

#[test]
fn an_srv_in_another_pool_waits_for_the_names() {
    let name = "srv".parse::<crate::target::PoolName>().unwrap();
    for is_there in [true, false] {
        let mut plan = coming();
        let of_srv = plan.changes.iter_mut().filter(|change| change.key.rtype == Rtype::SRV);
        of_srv.for_each(|change| {
            change.pool = name.clone();
            change.zone = fixture::zone("tcp.example.net");
        });
        for change in plan.changes.iter_mut().filter(|change| change.key.rtype == Rtype::SRV) {
            let owner = Name::parse(&format!("{}._tcp.tcp.example.net", change.subject).replace(['/', ':'], "-"));
            change.key.owner = change.zone.owner(owner.unwrap().as_name()).unwrap();
        }
        let [main_a, main_b, own] = [1, 1, 1].map(|window| primary(&plan, window));
        if !is_there {
            main_a.expect(vec![edited(&plan, &plan.changes[2].key, &foreign(1)); 2]);
        }
        let other = super::pools::TestPool { name: name.clone(), threshold: 100, targets: vec![("srv", Some(&own))] };
        let (applied, _) = run_in(&plan, &[main(100, &[("a", Some(&main_a)), ("b", Some(&main_b))]), other]);
        let outcomes = shown(&applied);
        let http = if is_there { "endpoints:web/http applied" } else { "endpoints:web/http stale" };
        assert!(outcomes.contains(&http.to_owned()), "{outcomes:?}");
        assert!(outcomes.contains(&"endpoints:web/grpc applied".to_owned()), "{outcomes:?}");
    }
}

#[test]
fn a_name_goes_after_the_srv_that_lists_it_or_stays() {
    let plan = leaving();
    let primary = primary(&plan, 1);
    assert_eq!(counts(&run(&plan, &primary, true, &Journal::default(), None)), "2 applied");
    let done: Vec<Vec<Rtype>> =
        made(&primary).iter().map(|own| own.iter().map(|difference| difference.rtype).collect()).collect();
    let is_of = |rtype: Rtype| move |own: &Vec<Rtype>| own.contains(&rtype);
    let (srv, name) = (done.iter().position(is_of(Rtype::SRV)), done.iter().rposition(is_of(Rtype::AAAA)));
    assert!(srv.unwrap() < name.unwrap(), "{done:?}");
    // An SRV that another editor changed keeps its names, and their pod is left whole.
    let primary = self::primary(&plan, 1);
    put(&primary, &plan.changes[2].key, fixture::rrset(Rtype::SRV, 61, &["0 0 80 a1.search.example.net."]).as_ref());
    let applied = run(&plan, &primary, true, &Journal::default(), None);
    assert_eq!(counts(&applied), "2 stale");
    assert_eq!(applied.ending(), ApplyEnding::AllLeft);
    assert!(
        message(&applied, "pod:web/a").starts_with("an SRV still lists `a1.search.example.net.`: endpoints:web/http:")
    );
    assert!(made(&primary).is_empty());
}

#[test]
fn whatever_happens_at_three_targets_no_srv_lists_what_is_not_there() {
    for (seed, plan) in (0..200).flat_map(|seed| [(seed, coming()), (seed, leaving())]) {
        let mut numbers = Numbers(seed);
        let primaries = [0; 3].map(|_| primary(&plan, [1, 2, 4][numbers.below(3)]));
        for primary in &primaries {
            if numbers.below(2) == 0 {
                primary.expect(faults(&plan, &mut numbers));
            }
        }
        let [a, b, c] = &primaries;
        let threshold = [50, 66, 100][numbers.below(3)];
        run_in(&plan, &[main(threshold, &[("a", Some(a)), ("b", Some(b)), ("c", Some(c))])]);
        let by_others: HashSet<Name> =
            primaries.iter().flat_map(truth::foreign).flatten().map(|difference| difference.name).collect();
        for (place, primary) in primaries.iter().enumerate().filter(|_| by_others.is_empty()) {
            primary.arrive();
            assert_eq!(dangling(&plan, primary), [""; 0], "seed {seed}, target {place}");
        }
    }
}
