//! Reading and writing namespaces of Cloud Map, as a strict double answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::settings::NamespaceChoice;
use super::target::CloudMapReader;
use super::testing::{REGION, reader};
use super::writer::CloudMapWriter;
use crate::dns::{ChangeKind, Name, NameRef, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::cloudmap::CloudMapDouble;
use crate::doubles::cloudmap::log::MapChange;
use crate::doubles::cloudmap::operations::FailurePlan;
use crate::doubles::cloudmap::resources::NamespaceKind;
use crate::doubles::cloudmap::rules::{ListingMoment, OperationSettling};
use crate::doubles::faults::{Fault, FaultKind};
use crate::http::{HttpAnswer, HttpAsker, HttpFailure, HttpQuestion};
use crate::provider::aws::doubled::{KEYS, seconds};
use crate::provider::double_asker::DoubleAsker;
use crate::provider::pace::testing::StillClock;
use crate::target::{Answer, Question, ReadTarget as _, RrsetEdit, Update, UpdateReply, WriteTarget};

mod ends;
mod marks;
mod rights;

/// An account with a namespace, and the clock of both sides.
struct Account {
    double: Arc<CloudMapDouble>,
    clock: StillClock,
    zone: ZoneName,
    id: String,
}

impl Account {
    fn new() -> Account {
        let clock = StillClock::default();
        let own = clock.clone();
        let double = Arc::new(CloudMapDouble::new(REGION, KEYS, move || seconds(&own)));
        let id = double.create_namespace("example.net", NamespaceKind::Public);
        Account { double, clock, zone: ZoneName::new(Name::parse("example.net").unwrap()), id }
    }

    fn asker(&self) -> Box<DoubleAsker<CloudMapDouble>> {
        Box::new(DoubleAsker(Arc::clone(&self.double)))
    }

    fn reader(&self) -> CloudMapReader {
        reader(self.asker(), &self.clock, NamespaceChoice::default())
    }

    fn writer(&self) -> CloudMapWriter {
        CloudMapWriter::new(self.reader())
    }

    fn key(&self, name: &str, rtype: Rtype) -> RrKey {
        let name = Name::parse(&format!("{name}.example.net")).unwrap();
        RrKey { owner: self.zone.owner(name.as_name()).unwrap(), rtype }
    }

    /// Puts a service with addresses, as another editor; gives its identifier.
    fn put(&self, name: &str, values: &[&str]) -> String {
        let service = self.double.create_service(&self.id, name, &[("A", 60)], None);
        for value in values {
            self.double.register(&service, value, &[("AWS_INSTANCE_IPV4", value)]);
        }
        service
    }

    /// What DNS has at a name.
    fn held(&self, name: &str) -> Vec<String> {
        let sets = self.double.rrsets(&self.id);
        let own = sets.iter().filter(|set| set.name == format!("{name}.example.net."));
        own.map(|set| format!("{} {} {}", set.ttl, set.rtype, set.values.join(" "))).collect()
    }

    /// Sends an update of a name.
    fn send(&self, writer: &CloudMapWriter, name: &str, edits: &[(Rtype, ChangeKind)]) -> UpdateReply {
        let keys: Vec<RrKey> = edits.iter().map(|(rtype, _)| self.key(name, *rtype)).collect();
        let edits = keys.iter().zip(edits).map(|(key, (_, kind))| RrsetEdit { key, kind }).collect();
        let mut session = writer.open(&self.zone);
        let ticket = session.send(&Update { zone: &self.zone, edits }).unwrap();
        session.reply(ticket)
    }

    /// The fewest addresses that a service had at a moment since it had this many.
    fn fewest(&self, service: &str, begun: usize) -> usize {
        let (mut there, mut fewest) = (BTreeSet::new(), None::<usize>);
        for change in self.double.requests().into_iter().flat_map(|entry| entry.changes) {
            let MapChange::Instance { service: own, before, after } = change else { continue };
            if own != service {
                continue;
            }
            if let Some(gone) = before {
                there.remove(&gone.attributes);
            }
            there.extend(after.map(|come| come.attributes));
            if fewest.is_some() || there.len() >= begun {
                fewest = Some(fewest.unwrap_or(usize::MAX).min(there.len()));
            }
        }
        fewest.unwrap_or_default()
    }
}

fn rrset(rtype: Rtype, ttl: u64, values: &[&str]) -> Rrset {
    let values = values.iter().map(|value| Rdata::read(rtype, value, NameRef::ROOT).unwrap()).collect();
    Rrset::new(Ttl::from_secs(ttl).unwrap(), values).unwrap()
}

fn a(values: &[&str]) -> Rrset {
    rrset(Rtype::A, 60, values)
}

fn create(values: &[&str]) -> [(Rtype, ChangeKind); 1] {
    [(Rtype::A, ChangeKind::Create { after: a(values) })]
}

fn modify(before: &[&str], after: &[&str]) -> [(Rtype, ChangeKind); 1] {
    [(Rtype::A, ChangeKind::Modify { before: a(before), after: a(after) })]
}

fn delete(before: &[&str]) -> [(Rtype, ChangeKind); 1] {
    [(Rtype::A, ChangeKind::Delete { before: a(before) })]
}

const ONE: &[&str] = &["192.0.2.1"];

const TWO: &[&str] = &["192.0.2.2", "192.0.2.3"];

#[track_caller]
fn assert_done(reply: UpdateReply) {
    assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
}

#[test]
fn a_namespace_is_read_service_by_service() {
    let account = Account::new();
    account.double.create_namespace("api.example.net", NamespaceKind::Http);
    for number in 0..150 {
        account.put(&format!("h{number}"), ONE);
    }
    let many: Vec<String> = (0..120).map(|number| format!("10.0.0.{number}")).collect();
    account.put("many", &many.iter().map(String::as_str).collect::<Vec<_>>());
    account.put("empty", &[]);
    let alias = account.put("alias", &[]);
    account.double.register(&alias, "x", &[("AWS_ALIAS_DNS_NAME", "lb.eu-central-1.elb.amazonaws.com")]);
    account.double.create_service(&account.id, "_sip._tcp", &[("SRV", 60)], None);
    let read = account.reader().read_zone(&account.zone).unwrap();
    assert_eq!(read.contents.rrsets().count(), 152, "the SOA is one of them");
    let opaque: Vec<String> = read.opaque.iter().map(|own| format!("{} has {}", own.owner, own.what)).collect();
    let expected = [
        "_sip._tcp.example.net. has a service of the type SRV",
        "alias.example.net. has an instance with the attribute `AWS_ALIAS_DNS_NAME`",
    ];
    assert_eq!(opaque, expected);
    let counts = ["ListNamespaces", "ListServices", "ListInstances"].map(|operation| account.double.count(operation));
    assert_eq!(counts, [1, 2 * 2, 154 + 1], "services are listed before and behind their instances");
    assert_eq!(account.clock.0.lock().unwrap().as_millis(), 159 * 100, "the pace of the account");
    let names = [Name::parse("a.example.net").unwrap(), Name::parse("a.api.example.net").unwrap()];
    let apexes = account.reader().find_apexes(&names).unwrap();
    assert_eq!(
        apexes,
        [Some(account.zone.clone()), Some(account.zone.clone())],
        "those for the API alone are no zones"
    );
}

#[test]
fn a_service_is_made_changed_and_deleted() {
    let account = Account::new();
    let writer = account.writer();
    assert_done(account.send(&writer, "a.b", &create(TWO)));
    assert_eq!(account.held("a.b"), ["60 A 192.0.2.2 192.0.2.3"]);
    let service = account.double.services(&account.id).remove(0);
    let ids: Vec<String> = account.double.instances(&service.id).into_iter().map(|own| own.id).collect();
    assert_eq!(
        (service.name.as_str(), service.routing.word(), ids),
        ("a.b", "MULTIVALUE", vec![TWO[0].into(), TWO[1].into()])
    );
    assert_done(account.send(&writer, "a.b", &modify(TWO, &["192.0.2.3", "192.0.2.4"])));
    assert_eq!(account.held("a.b"), ["60 A 192.0.2.3 192.0.2.4"]);
    let slower = ChangeKind::Modify { before: a(&["192.0.2.3", "192.0.2.4"]), after: rrset(Rtype::A, 300, ONE) };
    assert_done(account.send(&writer, "a.b", &[(Rtype::A, slower)]));
    assert_eq!(account.held("a.b"), ["300 A 192.0.2.1"]);
    assert_eq!(account.fewest(&service.id, 2), 1, "never fewer than before or after");
    let gone = [(Rtype::A, ChangeKind::Delete { before: rrset(Rtype::A, 300, ONE) })];
    assert_done(account.send(&writer, "a.b", &gone));
    assert!(account.double.services(&account.id).is_empty(), "zonewright made it");
    writer.finish(&|| false).unwrap();
    let other = account.put("other", ONE);
    assert_done(account.send(&account.writer(), "other", &delete(ONE)));
    assert_eq!((account.held("other").len(), account.double.instances(&other).len()), (0, 0));
    assert_eq!(account.double.services(&account.id).len(), 1, "what another editor made stays, without instances");
    assert_done(account.send(&writer, "other", &create(ONE)));
    assert_eq!(account.held("other"), ["60 A 192.0.2.1"]);
}

#[test]
fn what_comes_is_there_before_anything_goes() {
    let account = Account::new();
    let service = account.put("a", TWO);
    for shown in [ListingMoment::Done, ListingMoment::Submitted] {
        account.double.set_rules(|rules| rules.shown = shown);
        let (from, to) = if shown == ListingMoment::Done {
            (TWO, ["192.0.2.7", "192.0.2.8"])
        } else {
            (&["192.0.2.7", "192.0.2.8"][..], ["192.0.2.2", "192.0.2.3"])
        };
        assert_done(account.send(&account.writer(), "a", &modify(from, &to)));
    }
    assert_eq!((account.held("a"), account.fewest(&service, 2)), (vec!["60 A 192.0.2.2 192.0.2.3".into()], 2));
}

#[test]
fn both_kinds_of_addresses_share_a_service() {
    let account = Account::new();
    let writer = account.writer();
    let both = |ttl, v4: &[&str], v6: &[&str]| (rrset(Rtype::A, ttl, v4), rrset(Rtype::AAAA, ttl, v6));
    let (v4, v6) = both(60, TWO, &["2001:db8::1"]);
    let made =
        [(Rtype::A, ChangeKind::Create { after: v4.clone() }), (Rtype::AAAA, ChangeKind::Create { after: v6.clone() })];
    assert_done(account.send(&writer, "a", &made));
    assert_eq!(account.held("a"), ["60 A 192.0.2.2 192.0.2.3", "60 AAAA 2001:db8::1"]);
    let after = rrset(Rtype::AAAA, 60, &["2001:db8::2", "2001:db8::3", "2001:db8::4"]);
    assert_done(account.send(&writer, "a", &[(Rtype::AAAA, ChangeKind::Modify { before: v6, after: after.clone() })]));
    assert_eq!(account.held("a"), ["60 A 192.0.2.2 192.0.2.3", "60 AAAA 2001:db8::2 2001:db8::3 2001:db8::4"]);
    let (slow4, slow6) = both(300, TWO, &["2001:db8::2", "2001:db8::3", "2001:db8::4"]);
    let slower = [
        (Rtype::A, ChangeKind::Modify { before: v4, after: slow4.clone() }),
        (Rtype::AAAA, ChangeKind::Modify { before: after, after: slow6 }),
    ];
    assert_done(account.send(&writer, "a", &slower));
    assert!(account.held("a").iter().all(|set| set.starts_with("300 ")));
    // The types of a service stay.
    let reply = account.send(&writer, "a", &[(Rtype::A, ChangeKind::Delete { before: slow4 })]);
    let UpdateReply::Refused(problem) = reply else { panic!("{reply:?}") };
    assert!(problem.message.starts_with("`a.example.net.` has a service of A and AAAA"), "{problem}");
}

#[test]
fn a_cname_and_addresses_take_each_others_place() {
    let account = Account::new();
    let writer = account.writer();
    let cname = rrset(Rtype::CNAME, 60, &["b.example.org."]);
    assert_done(account.send(&writer, "a", &[(Rtype::CNAME, ChangeKind::Create { after: cname.clone() })]));
    assert_eq!(account.held("a"), ["60 CNAME b.example.org."]);
    let swap = [(Rtype::CNAME, ChangeKind::Delete { before: cname.clone() }), create(ONE)[0].clone()];
    assert_done(account.send(&writer, "a", &swap));
    assert_eq!(account.held("a"), ["60 A 192.0.2.1"]);
    let long = format!("{0}.{0}.example.org.", "x".repeat(40));
    let long = rrset(Rtype::CNAME, 60, &[&long]);
    let back = [delete(ONE)[0].clone(), (Rtype::CNAME, ChangeKind::Create { after: long })];
    assert_done(account.send(&writer, "a", &back));
    assert_eq!(account.double.services(&account.id).len(), 1);
    assert!(account.held("a")[0].starts_with("60 CNAME xxx"));
}

/// A lost or spoiled answer at each request of a change leads to what was to be, or to a reply that claims nothing.
#[test]
fn each_request_may_meet_each_fault() {
    let kinds = [
        FaultKind::DropBefore,
        FaultKind::DropAfter,
        FaultKind::FailBefore,
        FaultKind::FailAfter,
        FaultKind::Twice,
        FaultKind::TwiceLast,
        FaultKind::CutBody,
        FaultKind::Throttle,
        FaultKind::TooManyRequests,
        FaultKind::Unavailable,
        FaultKind::ExpiredToken,
        FaultKind::HalfPage,
    ];
    for kind in kinds {
        for at in 1.. {
            let account = Account::new();
            let service = account.put("a", TWO);
            account.double.plan_fault(Fault::nth(at, kind.clone()));
            let slower =
                ChangeKind::Modify { before: a(TWO), after: rrset(Rtype::A, 300, &["192.0.2.3", "192.0.2.4"]) };
            let reply = account.send(&account.writer(), "a", &[(Rtype::A, slower)]);
            assert!(matches!(reply, UpdateReply::Done), "{kind:?} at {at}: {reply:?}");
            assert_eq!(account.held("a"), ["300 A 192.0.2.3 192.0.2.4"], "{kind:?} at {at}");
            assert_eq!(account.fewest(&service, 2), 2, "{kind:?} at {at}");
            if account.double.requests().iter().all(|entry| entry.number < at) {
                break;
            }
        }
    }
}

/// An update that is cut off behind any of its requests goes on where it ended.
#[test]
fn an_update_that_ended_in_the_middle_goes_on() {
    for settling in [OperationSettling::AfterAsks(1), OperationSettling::AtOnce, OperationSettling::AfterRequests(3)] {
        for at in 1.. {
            let account = Account::new();
            account.double.set_rules(|rules| rules.settling = settling);
            let service = account.put("a", TWO);
            let edits = modify(TWO, &["192.0.2.3", "192.0.2.4"]);
            account.double.plan_fault(Fault::nth(at, FaultKind::DropBefore).times(1_000));
            let reply = account.send(&account.writer(), "a", &edits);
            let is_through = matches!(reply, UpdateReply::Done);
            assert!(is_through || matches!(reply, UpdateReply::Unknown(_) | UpdateReply::Failed(_)), "{at}: {reply:?}");
            account.double.clear_faults();
            assert_done(account.send(&account.writer(), "a", &edits));
            assert_eq!(account.held("a"), ["60 A 192.0.2.3 192.0.2.4"], "{at}");
            assert_eq!((account.fewest(&service, 2), account.double.services(&account.id).len()), (2, 1), "{at}");
            if is_through {
                break;
            }
        }
    }
}

#[test]
fn what_runs_for_the_same_instance_is_waited_for() {
    let account = Account::new();
    let service = account.put("a", TWO);
    // Another editor registers what is to come, and takes away what is to go.
    account.double.begin_register(&service, "192.0.2.4", &[("AWS_INSTANCE_IPV4", "192.0.2.4")]);
    account.double.begin_deregister(&service, "192.0.2.2");
    assert_done(account.send(&account.writer(), "a", &modify(TWO, &["192.0.2.3", "192.0.2.4"])));
    assert_eq!(account.held("a"), ["60 A 192.0.2.3 192.0.2.4"]);
    let duplicates =
        account.double.requests().iter().filter(|entry| entry.code.as_deref() == Some("DuplicateRequest")).count();
    assert_eq!(duplicates, 2);
}

#[test]
fn an_operation_that_fails_is_tried_again_or_refused() {
    let account = Account::new();
    account.put("a", ONE);
    account.double.plan_failure(FailurePlan::next("RegisterInstance", "THROTTLED_REQUEST"));
    assert_done(account.send(&account.writer(), "a", &modify(ONE, TWO)));
    account.double.plan_failure(FailurePlan::next("RegisterInstance", "INVALID_CHANGE_BATCH"));
    let reply = account.send(&account.writer(), "a", &modify(TWO, ONE));
    let UpdateReply::Refused(problem) = reply else { panic!("{reply:?}") };
    assert!(problem.message.contains("INVALID_CHANGE_BATCH"), "{problem}");
    assert_eq!(account.held("a"), ["60 A 192.0.2.2 192.0.2.3"], "nothing goes before all that comes is there");
    account.double.plan_failure(FailurePlan::next("DeregisterInstance", "ACCESS_DENIED"));
    let reply = account.send(&account.writer(), "a", &modify(TWO, ONE));
    let UpdateReply::RefusedInPart(problem) = reply else { panic!("{reply:?}") };
    assert_eq!((problem.code.as_str(), account.held("a").len()), ("api-denied", 1));
    account.double.set_rules(|rules| rules.settling = OperationSettling::Held);
    let reply = account.send(&account.writer(), "b", &create(ONE));
    let UpdateReply::Unknown(problem) = reply else { panic!("{reply:?}") };
    assert!(problem.message.contains("is not done after 60 s"), "{problem}");
}

/// Asks a double, and edits as another editor behind an answer of an operation.
struct MeddlingAsker {
    inner: Box<dyn HttpAsker>,
    behind: &'static str,
    edit: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl HttpAsker for MeddlingAsker {
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        let answer = self.inner.ask(question);
        let is_it = question.headers.iter().any(|(_, value)| value.ends_with(self.behind));
        if let Some(edit) = self.edit.lock().unwrap().take_if(|_| is_it) {
            edit();
        }
        answer
    }
}

#[test]
fn what_others_wrote_meanwhile_is_seen() {
    for (behind, is_raced) in [("GetService", false), ("RegisterInstance", true)] {
        let account = Account::new();
        let service = account.put("a", ONE);
        let (double, id) = (Arc::clone(&account.double), service.clone());
        let edit = move || drop(double.register(&id, "x", &[("AWS_INSTANCE_IPV4", "192.0.2.99")]));
        let asker = MeddlingAsker { inner: account.asker(), behind, edit: Mutex::new(Some(Box::new(edit))) };
        let writer = CloudMapWriter::new(reader(Box::new(asker), &account.clock, NamespaceChoice::default()));
        let reply = account.send(&writer, "a", &modify(ONE, TWO));
        assert_eq!(matches!(reply, UpdateReply::Raced(_)), is_raced, "{reply:?}");
        assert_eq!(matches!(reply, UpdateReply::Prerequisite(_)), !is_raced, "{reply:?}");
        assert!(account.held("a")[0].contains("192.0.2.99"), "what another editor wrote stays");
    }
    // A service that another editor made in the same moment is looked at, too.
    let account = Account::new();
    let writer = account.writer();
    writer.observe(&account.zone, &[Question::of(&account.key("a", Rtype::A))], None).unwrap();
    account.put("a", ONE);
    let reply = account.send(&writer, "a", &create(TWO));
    assert!(matches!(reply, UpdateReply::Prerequisite(_)), "{reply:?}");
}

#[test]
fn a_listing_that_others_wrote_between_is_read_again() {
    let account = Account::new();
    let service = account.put("a", ONE);
    let double = Arc::clone(&account.double);
    let edit = move || drop(double.register(&service, "x", &[("AWS_INSTANCE_IPV4", "192.0.2.99")]));
    let edit = Mutex::new(Some(Box::new(edit) as Box<dyn FnOnce() + Send>));
    let asker = MeddlingAsker { inner: account.asker(), behind: "ListInstances", edit };
    let read = reader(Box::new(asker), &account.clock, NamespaceChoice::default()).read_zone(&account.zone).unwrap();
    let found = read.contents.rrset(account.key("a", Rtype::A).owner.as_name(), Rtype::A).unwrap().to_rrset();
    assert_eq!(found, a(&["192.0.2.1", "192.0.2.99"]));
}

#[test]
fn the_namespace_of_a_name_is_chosen() {
    let account = Account::new();
    let private = account.double.create_namespace("example.net", NamespaceKind::Private);
    let found = |choice: NamespaceChoice| {
        let reader = reader(account.asker(), &account.clock, choice);
        reader.namespace(&account.zone).map(|own| own.id).map_err(|problem| problem.message)
    };
    let message = found(NamespaceChoice::default()).unwrap_err();
    assert!(message.starts_with("2 namespaces have this name: "), "{message}");
    let of_type = |is_private| NamespaceChoice { is_private: Some(is_private), ..NamespaceChoice::default() };
    assert_eq!((found(of_type(true)), found(of_type(false))), (Ok(private.clone()), Ok(account.id.clone())));
    let name = account.zone.as_name().to_name();
    let by_id =
        |id: &str| NamespaceChoice { ids: [(name.clone(), id.to_owned())].into(), ..NamespaceChoice::default() };
    assert_eq!(found(by_id(&private)), Ok(private.clone()));
    let both = NamespaceChoice { is_private: Some(true), ..by_id("ns-other") };
    let message = found(both).unwrap_err();
    let left_out = message.strip_prefix("settings leave out each namespace of this name: ").expect("which ones");
    assert!(left_out.contains(&format!("{private} (private) by `namespace_ids`")), "{message}");
    assert!(left_out.contains(&format!("{} (public) by `namespace_type`", account.id)), "{message}");
}

#[test]
fn questions_are_answered_by_what_services_hold() {
    let account = Account::new();
    account.put("a", ONE);
    let writer = account.writer();
    let names = [account.key("a", Rtype::A), account.key("a", Rtype::AAAA), account.key("b", Rtype::A)];
    let mut questions: Vec<Question> = names.iter().map(Question::of).collect();
    questions.push(Question::soa(&account.zone));
    let answers = writer.observe(&account.zone, &questions, Some(1_000)).unwrap();
    assert_eq!(answers[0], Answer::Holds(Rtype::A, a(ONE)));
    assert_eq!(answers[1..3], [Answer::Nothing, Answer::Nothing]);
    assert!(answers[3].soa().is_some());
}
