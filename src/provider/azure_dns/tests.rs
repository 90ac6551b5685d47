//! Reading and writing zones of both services, as a strict double answers them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;

use super::service::AzureKind;
use super::testing::{APP, AzureFake};
use super::writer::AzureWriter;
use crate::dns::{ChangeKind, Name, NameRef, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::azure::AzureZoneId;
use crate::doubles::azure::rules::{GoneAnswer, ThrottleAnswer};
use crate::doubles::azure::set::AzureRecordSet;
use crate::doubles::faults::{Fault, FaultKind};
use crate::provider::each_right::check_each_right;
use crate::provider::examine::try_update;
use crate::target::{Answer, Question, ReadTarget as _, RrsetEdit, Update, UpdateReply, WriteTarget as _, marker_key};

mod making;
mod marks;

/// Both services.
const KINDS: [AzureKind; 2] = [AzureKind::Public, AzureKind::Private];

/// A subscription with a zone.
struct Account {
    fake: AzureFake,
    zone: ZoneName,
    id: AzureZoneId,
}

impl Account {
    fn new(kind: AzureKind) -> Account {
        let fake = AzureFake::new(kind);
        let id = fake.double.create_zone("example.net");
        Account { fake, zone: ZoneName::new(Name::parse("example.net").unwrap()), id }
    }

    fn key(&self, name: &str, rtype: Rtype) -> RrKey {
        let name = Name::parse(&format!("{name}.example.net")).unwrap();
        RrKey { owner: self.zone.owner(name.as_name()).unwrap(), rtype }
    }

    /// Puts an address, as another editor.
    fn put(&self, name: &str, value: &str) {
        self.fake.double.put(&self.id, AzureRecordSet::new(name, "A", 60, &[value]));
    }

    /// What the zone has at a name.
    fn held(&self, name: &str) -> Vec<String> {
        let sets = self.fake.double.record_sets(&self.id);
        let of_name = sets.iter().filter(|set| set.name == name);
        of_name.map(|set| format!("{} {}", set.rtype, set.values().join(","))).collect()
    }

    /// Sends an update of one RRset.
    fn send_of(&self, writer: &AzureWriter, (name, rtype): (&str, Rtype), kind: &ChangeKind) -> UpdateReply {
        let key = self.key(name, rtype);
        let mut session = writer.open(&self.zone);
        let update = Update { zone: &self.zone, edits: vec![RrsetEdit { key: &key, kind }] };
        let ticket = session.send(&update).unwrap();
        session.reply(ticket)
    }

    /// Sends an update of one address.
    fn send(&self, writer: &AzureWriter, name: &str, kind: &ChangeKind) -> UpdateReply {
        self.send_of(writer, (name, Rtype::A), kind)
    }

    /// How many requests of an operation of record sets there were.
    fn count(&self, operation: &str) -> usize {
        self.fake.double.count(&format!("RecordSets_{operation}"))
    }
}

fn address(value: &str) -> Rrset {
    Rrset::new(Ttl::from_secs(60).unwrap(), vec![Rdata::read(Rtype::A, value, NameRef::ROOT).unwrap()]).unwrap()
}

fn create(value: &str) -> ChangeKind {
    ChangeKind::Create { after: address(value) }
}

fn modify(before: &str, after: &str) -> ChangeKind {
    ChangeKind::Modify { before: address(before), after: address(after) }
}

fn delete(before: &str) -> ChangeKind {
    ChangeKind::Delete { before: address(before) }
}

/// The words of a prerequisite that does not hold.
fn stale(reply: UpdateReply) -> String {
    match reply {
        UpdateReply::Prerequisite(words) => words,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_zone_is_read_page_by_page() {
    for kind in KINDS {
        let account = Account::new(kind);
        for number in 0..250 {
            account.put(&format!("h{number}"), "192.0.2.1");
        }
        let alias = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/ip";
        match kind {
            AzureKind::Public => drop(account.fake.double.alias(&account.id, "special", "A", alias)),
            AzureKind::Private => drop(account.fake.double.register(&account.id, "special", "192.0.2.7")),
        }
        // Behind the token and the list of zones.
        account.fake.double.plan_fault(Fault::nth(3, FaultKind::HalfPage));
        let reader = account.fake.reader(None);
        let read = reader.read_zone(&account.zone).unwrap();
        // The SOA, and in a public zone the NS.
        let own = if kind == AzureKind::Public { 2 } else { 1 };
        assert_eq!(read.contents.rrsets().count(), 250 + own);
        let opaque: Vec<String> = read.opaque.iter().map(|own| format!("{} has {}", own.owner, own.what)).collect();
        let what = match kind {
            AzureKind::Public => "an alias",
            AzureKind::Private => "a set of a virtual machine, which Azure itself registers,",
        };
        assert_eq!(opaque, [format!("special.example.net. has {what} of type A")]);
        let asked = account.fake.double.requests();
        let listed = asked.iter().filter(|request| request.operation.starts_with("RecordSets_List")).count();
        assert_eq!(listed, 4, "one of the pages is a half");
        assert_eq!(account.fake.double.count("Token"), 1);
        let apexes = reader.find_apexes(&[Name::parse("a.b.example.net").unwrap(), Name::parse("x").unwrap()]);
        assert_eq!(apexes.unwrap(), [Some(account.zone.clone()), None]);
    }
}

#[test]
fn a_record_set_is_written_under_the_condition_that_it_was_seen() {
    for kind in KINDS {
        for quotes in [false, true] {
            let account = Account::new(kind);
            account.fake.double.set_rules(|rules| rules.quotes_etags = quotes);
            let set = AzureRecordSet::new("a", "A", 60, &["192.0.2.1"]).with_metadata("team", "web");
            account.fake.double.put(&account.id, set);
            let writer = account.fake.writer();
            let questions = ["a", "b"].map(|name| Question::of(&account.key(name, Rtype::A)));
            let answers = writer.observe(&account.zone, &questions, None).unwrap();
            assert_eq!(answers, [Answer::Holds(Rtype::A, address("192.0.2.1")), Answer::Nothing]);
            let before = account.fake.double.requests().len();
            assert!(matches!(account.send(&writer, "a", &modify("192.0.2.1", "192.0.2.2")), UpdateReply::Done));
            assert!(matches!(account.send(&writer, "b", &create("192.0.2.3")), UpdateReply::Done));
            assert!(matches!(account.send(&writer, "b", &delete("192.0.2.3")), UpdateReply::Done));
            assert_eq!(account.fake.double.requests().len() - before, 3, "nothing is read again");
            assert_eq!((account.held("a"), account.held("b")), (vec!["A 192.0.2.2".into()], vec![]));
            let sets = account.fake.double.record_sets(&account.id);
            let set = sets.iter().find(|set| set.name == "a").unwrap();
            assert_eq!(set.metadata, BTreeMap::from([("team".to_owned(), "web".to_owned())]));
            writer.finish(&|| false).unwrap();
        }
    }
}

#[test]
fn nothing_is_written_over() {
    for kind in KINDS {
        let account = Account::new(kind);
        account.put("a", "192.0.2.1");
        account.put("b", "192.0.2.1");
        account.put("d", "192.0.2.1");
        let writer = account.fake.writer();
        let questions = ["a", "b", "c", "d"].map(|name| Question::of(&account.key(name, Rtype::A)));
        writer.observe(&account.zone, &questions, None).unwrap();
        // Others are faster; one of them writes what was there.
        account.put("a", "192.0.2.9");
        account.put("b", "192.0.2.1");
        account.put("c", "192.0.2.9");
        account.fake.double.remove(&account.id, "d", "A");
        for (name, kind) in [
            ("a", modify("192.0.2.1", "192.0.2.2")),
            ("b", delete("192.0.2.1")),
            ("c", create("192.0.2.2")),
            ("d", delete("192.0.2.1")),
        ] {
            let words = stale(account.send(&writer, name, &kind));
            assert!(words.starts_with("Azure answers with `PreconditionFailed`"), "{words}");
        }
        assert_eq!(account.held("a"), ["A 192.0.2.9"]);
        assert_eq!(account.held("b"), ["A 192.0.2.1"]);
        assert_eq!(account.held("c"), ["A 192.0.2.9"]);
        // What was seen is forgotten, so that the next update depends on what is there now.
        assert!(matches!(account.send(&writer, "b", &delete("192.0.2.1")), UpdateReply::Done));
        let words = stale(account.send(&writer, "c", &create("192.0.2.2")));
        assert_eq!(words, "A of `c.example.net.` is not what the plan says");
        // The TTL counts.
        account.fake.double.put(&account.id, AzureRecordSet::new("e", "A", 61, &["192.0.2.1"]));
        let words = stale(account.send(&writer, "e", &delete("192.0.2.1")));
        assert_eq!(words, "A of `e.example.net.` is not what the plan says");
    }
}

#[test]
fn a_record_set_that_is_gone_was_not_deleted_by_us() {
    let account = Account::new(AzureKind::Public);
    account.fake.double.set_rules(|rules| rules.delete_of_gone = GoneAnswer::NoContent);
    account.put("a", "192.0.2.1");
    let writer = account.fake.writer();
    writer.observe(&account.zone, &[Question::of(&account.key("a", Rtype::A))], None).unwrap();
    account.fake.double.remove(&account.id, "a", "A");
    let words = stale(account.send(&writer, "a", &delete("192.0.2.1")));
    assert_eq!(words, "Azure answers that the record set is not there");
}

#[test]
fn a_cname_beside_others_is_a_prerequisite() {
    for kind in KINDS {
        let account = Account::new(kind);
        account.put("a", "192.0.2.1");
        let target = Rdata::read(Rtype::CNAME, "b.example.net.", NameRef::ROOT).unwrap();
        let cname = ChangeKind::Create { after: Rrset::new(Ttl::DEFAULT, vec![target]).unwrap() };
        let writer = account.fake.writer();
        let words = stale(account.send_of(&writer, ("a", Rtype::CNAME), &cname));
        assert!(words.contains("`Conflict`") && words.contains("CNAME"), "{words}");
        assert!(matches!(account.send_of(&writer, ("c", Rtype::CNAME), &cname), UpdateReply::Done));
        stale(account.send(&writer, "c", &create("192.0.2.1")));
        let question = Question::of(&account.key("c", Rtype::A));
        let answers = account.fake.writer().observe(&account.zone, &[question], None).unwrap();
        assert!(matches!(answers[0], Answer::Holds(Rtype::CNAME, _)), "{answers:?}");
    }
}

#[test]
fn what_is_no_plain_set_is_never_touched() {
    let account = Account::new(AzureKind::Private);
    account.fake.double.register(&account.id, "vm", "192.0.2.7");
    let words = stale(account.send(&account.fake.writer(), "vm", &modify("192.0.2.7", "192.0.2.8")));
    assert!(words.ends_with("which Azure itself registers, of type A, which zonewright never touches"), "{words}");
    assert_eq!(account.count("CreateOrUpdate"), 0);
}

#[test]
fn names_below_a_delegation_are_answered_by_it() {
    let account = Account::new(AzureKind::Public);
    account.fake.double.put(&account.id, AzureRecordSet::new("sub", "NS", 60, &["ns1.example.org."]));
    let questions = [Question::of(&account.key("a.sub", Rtype::A)), Question::of(&account.key("x", Rtype::A))];
    for rrsets in [None, Some(3)] {
        let answers = account.fake.writer().observe(&account.zone, &questions, rrsets).unwrap();
        assert!(matches!(&answers[0], Answer::Delegated(cut, Some(_)) if cut.to_string() == "sub.example.net."));
        assert_eq!(answers[1], Answer::Nothing);
    }
}

#[test]
fn what_was_too_much_is_asked_again() {
    for kind in KINDS {
        let account = Account::new(kind);
        account.fake.double.set_rules(|rules| rules.throttle_answer = ThrottleAnswer::JsonInString);
        let writer = account.fake.writer();
        for (n, fault) in [(1, FaultKind::Throttle), (2, FaultKind::TooManyRequests), (3, FaultKind::ExpiredToken)] {
            account.fake.double.plan_fault(Fault::nth_of("RecordSets_CreateOrUpdate", n, fault));
        }
        assert!(matches!(account.send(&writer, "a", &create("192.0.2.1")), UpdateReply::Done));
        assert_eq!(account.fake.double.count("Token"), 2, "the token was renewed");
        let fault = Fault::nth_of("RecordSets_CreateOrUpdate", 1, FaultKind::Throttle).times(6);
        account.fake.double.plan_fault(fault);
        let begin = *account.fake.clock.0.lock().unwrap();
        let reply = account.send(&writer, "b", &create("192.0.2.1"));
        let said = matches!(&reply, UpdateReply::Failed(problem) if problem.message.contains("`Throttled`"));
        assert!(said, "{reply:?}");
        let waited = (*account.fake.clock.0.lock().unwrap() - begin).as_secs();
        assert!((50..60).contains(&waited), "ten seconds each, as the service says: {waited}");
    }
}

/// The limits of the double are those of the service: each write goes when there is room for it.
#[test]
fn writes_of_a_zone_keep_the_pace_of_the_service() {
    for kind in KINDS {
        let account = Account::new(kind);
        let (writer, count) = (account.fake.writer(), 3 * kind.writes_per_minute() as usize);
        let names: Vec<String> = (0..count).map(|number| format!("h{number}")).collect();
        let questions: Vec<Question> = names.iter().map(|name| Question::of(&account.key(name, Rtype::A))).collect();
        writer.observe(&account.zone, &questions, Some(2)).unwrap();
        for name in &names {
            assert!(matches!(account.send(&writer, name, &create("192.0.2.1")), UpdateReply::Done));
        }
        let waited = account.fake.clock.0.lock().unwrap().as_secs();
        assert!((170..=181).contains(&waited), "three minutes: {waited}");
        let busy = account.fake.double.requests().iter().filter(|request| request.status == Some(429)).count();
        assert_eq!(busy, 0);
    }
}

#[test]
fn a_token_that_has_ended_is_renewed_once() {
    let account = Account::new(AzureKind::Public);
    let writer = account.fake.writer();
    assert!(matches!(account.send(&writer, "a", &create("192.0.2.1")), UpdateReply::Done));
    account.fake.double.expire_tokens();
    assert!(matches!(account.send(&writer, "b", &create("192.0.2.1")), UpdateReply::Done));
    assert_eq!(account.fake.double.count("Token"), 2);
    account.fake.double.plan_fault(Fault::nth_of("RecordSets_Get", 1, FaultKind::ExpiredToken).times(2));
    let reply = account.send(&writer, "c", &create("192.0.2.1"));
    let UpdateReply::Failed(problem) = reply else { panic!("{reply:?}") };
    assert_eq!(problem.code.as_str(), "api-denied");
    assert!(!problem.to_string().contains(APP.2));
}

#[test]
fn a_lost_answer_is_unknown_whatever_became_of_it() {
    for kind in KINDS {
        let account = Account::new(kind);
        let writer = account.fake.writer();
        for (name, fault) in [
            ("a", FaultKind::DropBefore),
            ("b", FaultKind::DropAfter),
            ("c", FaultKind::FailAfter),
            ("d", FaultKind::CutBody),
            ("e", FaultKind::Unavailable),
        ] {
            account.fake.double.plan_fault(Fault::nth_of("RecordSets_CreateOrUpdate", 1, fault));
            let reply = account.send(&writer, name, &create("192.0.2.1"));
            assert!(matches!(reply, UpdateReply::Unknown(_)), "{name}: {reply:?}");
        }
        let counts = ["a", "b", "c", "d", "e"].map(|name| account.held(name).len());
        assert_eq!(counts, [0, 1, 1, 1, 0]);
        // The copy of one that took effect is refused; that of another one is made.
        stale(account.send(&writer, "b", &create("192.0.2.1")));
        assert!(matches!(account.send(&writer, "a", &create("192.0.2.1")), UpdateReply::Done));
        // Of a request that arrives twice, the second one is refused.
        account.fake.double.plan_fault(Fault::nth_of("RecordSets_CreateOrUpdate", 1, FaultKind::TwiceLast));
        stale(account.send(&writer, "f", &create("192.0.2.1")));
        assert_eq!(account.held("f"), ["A 192.0.2.1"]);
    }
}

#[test]
fn what_is_put_back_over_a_lost_answer_is_not_written_again() {
    for kind in KINDS {
        let account = Account::new(kind);
        let writer = account.fake.writer();
        let (set, gone) = (modify("192.0.2.1", "192.0.2.2"), delete("192.0.2.1"));
        for (name, change, operation) in [("a", &set, "CreateOrUpdate"), ("b", &gone, "Delete")] {
            account.put(name, "192.0.2.1");
            let fault = Fault::nth_of(&format!("RecordSets_{operation}"), 1, FaultKind::DropAfter);
            account.fake.double.plan_fault(fault);
            assert!(matches!(account.send(&writer, name, change), UpdateReply::Unknown(_)));
            account.put(name, "192.0.2.1");
            let question = Question::of(&account.key(name, Rtype::A));
            let answers = writer.observe(&account.zone, &[question], None).unwrap();
            assert_eq!(answers, [Answer::Holds(Rtype::A, address("192.0.2.1"))]);
            stale(account.send(&writer, name, change));
            assert_eq!(account.held(name), ["A 192.0.2.1"]);
        }
        // Another update is compared with what is there now.
        assert!(matches!(account.send(&writer, "a", &gone), UpdateReply::Done));
    }
}

#[test]
fn the_resource_group_of_a_zone_is_found() {
    let account = Account::new(AzureKind::Public);
    account.fake.double.add_group("other");
    let other = account.fake.double.create_zone_in("other", "example.net");
    account.fake.double.put(&other, AzureRecordSet::new("a", "A", 60, &["192.0.2.2"]));
    let read = |group: Option<&str>| account.fake.reader(group).read_zone(&account.zone);
    let message = read(None).unwrap_err().message;
    assert_eq!(message, "2 resource groups have a zone of this name: `dns-group`, `other`");
    assert_eq!(read(Some("dns-group")).unwrap().contents.rrsets().count(), 2);
    assert_eq!(read(Some("OTHER")).unwrap().contents.rrsets().count(), 3);
    let problem = read(Some("none")).unwrap_err();
    assert!(problem.message.contains("`ResourceGroupNotFound`"), "{problem}");
    let missing = ZoneName::new(Name::parse("new.example.org").unwrap());
    let reader = account.fake.reader(None);
    assert!(reader.lacks_zone(&missing) && !reader.lacks_zone(&account.zone));
    assert_eq!(reader.read_zone(&missing).unwrap_err().code.as_str(), "zone-not-served");
}

/// The actions that reading and writing addresses need, without what is in front of them, as docs/targets.md has them.
fn rights(kind: AzureKind) -> Vec<String> {
    let (zones, all) = match kind {
        AzureKind::Public => ("dnsZones", "recordsets/read"),
        AzureKind::Private => ("privateDnsZones", "ALL/read"),
    };
    let own = ["read", all, "SOA/read", "A/read", "A/write", "A/delete", "CNAME/read"];
    let of_public = (kind == AzureKind::Public).then_some("NS/read");
    own.into_iter().chain(of_public).map(|right| format!("Microsoft.Network/{zones}/{right}")).collect()
}

#[test]
fn each_right_of_the_least_role_is_needed_and_no_other() {
    for kind in KINDS {
        check_each_right(&rights(kind), |allowed| {
            let account = Account::new(kind);
            account.put("a", "192.0.2.1");
            account.fake.double.set_rules(|rules| rules.allowed_actions = Some(allowed));
            account.fake.reader(None).read_zone(&account.zone)?;
            let writer = account.fake.writer();
            let questions = [Question::soa(&account.zone), Question::of(&account.key("a", Rtype::A))];
            writer.observe(&account.zone, &questions, None)?;
            for kind in [modify("192.0.2.1", "192.0.2.2"), delete("192.0.2.2")] {
                match account.send(&writer, "a", &kind) {
                    UpdateReply::Done => {}
                    UpdateReply::Refused(problem) | UpdateReply::Failed(problem) => return Err(problem),
                    other => panic!("{other:?}"),
                }
            }
            writer.finish(&|| false)
        });
    }
}

#[test]
fn doctor_asks_for_the_right_to_write_and_writes_nothing() {
    for kind in KINDS {
        let account = Account::new(kind);
        assert_eq!(try_update(&account.fake.writer(), &account.zone).fault, None);
        let zones = if kind == AzureKind::Public { "dnsZones" } else { "privateDnsZones" };
        let allowed = ["read", "recordsets/read", "ALL/read", "SOA/read", "CNAME/read", "NS/read", "TXT/read"];
        let allowed = allowed.map(|right| format!("Microsoft.Network/{zones}/{right}")).into();
        account.fake.double.set_rules(|rules| rules.allowed_actions = Some(allowed));
        let fault = try_update(&account.fake.writer(), &account.zone).fault.unwrap();
        assert_eq!(fault.code.as_str(), "api-denied");
        let key = marker_key(&account.zone).unwrap();
        assert!(fault.message.contains("TXT/delete"), "{} {fault}", key.owner);
        let changed = account.fake.double.requests().iter().any(|request| !request.changes.is_empty());
        assert!(!changed);
    }
}

#[test]
fn of_twelve_writers_at_once_one_wins() {
    for kind in KINDS {
        let account = Account::new(kind);
        account.fake.double.set_rules(|rules| rules.rates = None);
        account.put("a", "192.0.2.1");
        let writers: Vec<AzureWriter> = (0..12).map(|_| account.fake.writer()).collect();
        let mut standing = "192.0.2.1".to_owned();
        for round in 0..10 {
            for writer in &writers {
                let question = Question::of(&account.key("a", Rtype::A));
                writer.observe(&account.zone, &[question], None).unwrap();
            }
            let winners = Mutex::new(Vec::new());
            let (account, standing_now) = (&account, standing.clone());
            thread::scope(|scope| {
                for (number, writer) in writers.iter().enumerate() {
                    let (winners, standing) = (&winners, &standing_now);
                    scope.spawn(move || {
                        let value = format!("192.0.2.{}", 10 + round * 12 + number);
                        match account.send(writer, "a", &modify(standing, &value)) {
                            UpdateReply::Done => winners.lock().unwrap().push(value),
                            UpdateReply::Prerequisite(_) => {}
                            other => panic!("{other:?}"),
                        }
                    });
                }
            });
            let winners = winners.into_inner().unwrap();
            assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
            assert_eq!(account.held("a"), [format!("A {}", winners[0])]);
            standing = winners[0].clone();
        }
    }
}
