//! Reading and writing an account of Route 53, as a strict double answers it.

use std::sync::{Arc, Mutex};

use super::settings::ZoneChoice;
use super::testing::{KEYS, reader, seconds};
use super::writer::Route53Writer;
use crate::dns::{ChangeKind, Name, NameRef, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::faults::{Fault, FaultKind};
use crate::doubles::route53::Route53Double;
use crate::doubles::route53::rrset::{DoubleRrset, RoutingPolicy};
use crate::doubles::route53::rules::{ChangeSettling, PriorRequest};
use crate::http::{HttpAnswer, HttpAsker, HttpFailure, HttpFailureKind, HttpQuestion};
use crate::provider::double_asker::DoubleAsker;
use crate::provider::each_right::check_each_right;
use crate::provider::pace::testing::StillClock;
use crate::target::{
    Answer, EditSize, Question, ReadTarget as _, RrsetBlame, RrsetEdit, Update, UpdateReply, WriteTarget, ZoneApex,
    marker_key,
};

/// An account with a zone, and the clock of both sides.
struct Account {
    double: Arc<Route53Double>,
    clock: StillClock,
    zone: ZoneName,
    id: String,
}

impl Account {
    fn new() -> Account {
        let clock = StillClock::default();
        let own = clock.clone();
        let double = Arc::new(Route53Double::new(KEYS, move || seconds(&own)));
        let id = double.create_zone("example.net", false);
        Account { double, clock, zone: ZoneName::new(Name::parse("example.net").unwrap()), id }
    }

    fn asker(&self) -> Box<DoubleAsker<Route53Double>> {
        Box::new(DoubleAsker(Arc::clone(&self.double)))
    }

    fn writer(&self) -> Route53Writer {
        Route53Writer::new(reader(self.asker(), &self.clock, ZoneChoice::default()))
    }

    fn key(&self, name: &str, rtype: Rtype) -> RrKey {
        let name = Name::parse(&format!("{name}.example.net")).unwrap();
        RrKey { owner: self.zone.owner(name.as_name()).unwrap(), rtype }
    }

    /// Puts an address, as another editor.
    fn put(&self, name: &str, value: &str) {
        self.double.put(&self.id, DoubleRrset::new(&format!("{name}.example.net"), "A", 60, &[value]));
    }

    /// What the zone has at a name.
    fn held(&self, name: &str) -> Vec<String> {
        let sets = self.double.rrsets(&self.id);
        let of_name = sets.iter().filter(|set| set.name == format!("{name}.example.net."));
        of_name.map(|set| format!("{} {}", set.rtype, set.values.join(","))).collect()
    }

    /// Looks at names, then sends an update of these edits; gives the reply and what is blamed.
    fn send(&self, writer: &Route53Writer, edits: &[(&str, ChangeKind)]) -> (UpdateReply, Vec<RrsetBlame>) {
        let keys: Vec<RrKey> = edits.iter().map(|(name, _)| self.key(name, Rtype::A)).collect();
        let edits = keys.iter().zip(edits).map(|(key, (_, kind))| RrsetEdit { key, kind }).collect();
        let mut session = writer.open(&self.zone);
        let ticket = session.send(&Update { zone: &self.zone, edits }).unwrap();
        (session.reply(ticket), session.blamed(ticket))
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

#[test]
fn a_zone_is_read_in_as_few_pages_as_there_are() {
    let account = Account::new();
    for number in 0..1_000 {
        account.put(&format!("h{number}"), "192.0.2.1");
    }
    let alias = DoubleRrset::alias("alias.example.net", "A", &account.id, "h1.example.net");
    account.double.put(&account.id, alias);
    let weighted = DoubleRrset::new("w.example.net", "A", 60, &["192.0.2.1"]).routed("one", RoutingPolicy::Weight(1));
    account.double.put(&account.id, weighted);
    for (name, rtype) in [("example.net", "NS"), ("h7.example.net", "A"), ("h7.example.net", "TXT")] {
        account.double.protect(&account.id, name, rtype, None);
    }
    let read = reader(account.asker(), &account.clock, ZoneChoice::default()).read_zone(&account.zone).unwrap();
    assert_eq!(read.contents.rrsets().count(), 1_001, "the SOA and the NS are among them");
    let opaque: Vec<String> = read.opaque.iter().map(|own| format!("{} has {}", own.owner, own.what)).collect();
    let expected = [
        "w.example.net. has a weighted set of type A",
        "h7.example.net. has a protected set of type A",
        "h7.example.net. has a protection against sets of type TXT",
        "alias.example.net. has an alias of type A",
    ];
    assert_eq!(opaque, expected);
    // Four pages, the first of them twice, and the marker before and behind them.
    assert_eq!(account.double.count("ListResourceRecordSets"), 4 + 1 + 2);
    assert_eq!(account.double.count("ListHostedZones"), 1);
    assert_eq!(account.double.count("ListResourceRecordSetProtections"), 1);
    assert_eq!(account.clock.0.lock().unwrap().as_millis(), 8 * 200, "the pace of the account");
}

#[test]
fn a_page_that_another_run_wrote_between_is_read_again() {
    let account = Account::new();
    for number in 0..400 {
        account.put(&format!("h{number}"), "192.0.2.1");
    }
    let marker = |text: &str| {
        let name = "_zonewright.example.net";
        account.double.put(&account.id, DoubleRrset::new(name, "TXT", 0, &[&format!("\"{text}\"")]));
    };
    marker("one");
    let read = reader(account.asker(), &account.clock, ZoneChoice::default()).read_zone(&account.zone).unwrap();
    assert_eq!(read.contents.rrsets().count(), 403);
    assert_eq!(account.double.count("ListResourceRecordSets"), 2 + 1, "the first page has the marker");
    account.double.plan_fault(Fault::nth_of("ListResourceRecordSets", 2, FaultKind::Throttle));
    marker("two");
    reader(account.asker(), &account.clock, ZoneChoice::default()).read_zone(&account.zone).unwrap();
}

#[test]
fn nothing_is_written_over_and_the_service_says_what_differs() {
    let account = Account::new();
    account.put("a", "192.0.2.1");
    account.put("b", "192.0.2.1");
    let writer = account.writer();
    let questions = ["a", "b", "c"].map(|name| Question::of(&account.key(name, Rtype::A)));
    let answers = writer.observe(&account.zone, &questions, None).unwrap();
    assert_eq!(answers[0], Answer::Holds(Rtype::A, address("192.0.2.1")));
    assert_eq!(answers[2], Answer::Nothing);
    // Two others are faster.
    account.put("b", "192.0.2.9");
    account.put("c", "192.0.2.9");
    let edits =
        [("a", modify("192.0.2.1", "192.0.2.2")), ("b", modify("192.0.2.1", "192.0.2.2")), ("c", create("192.0.2.2"))];
    let (reply, blamed) = account.send(&writer, &edits);
    assert!(matches!(reply, UpdateReply::Prerequisite(_)), "{reply:?}");
    let names: Vec<String> = blamed.iter().map(|blame| blame.key.owner.to_string()).collect();
    assert_eq!(names, ["b.example.net.", "c.example.net."]);
    assert_eq!((account.held("a"), account.held("b")), (vec!["A 192.0.2.1".into()], vec!["A 192.0.2.9".into()]));
    // What was seen is forgotten, so that the rest uses what is there now.
    assert!(matches!(account.send(&writer, &edits[..1]).0, UpdateReply::Done));
    assert_eq!(account.held("a"), ["A 192.0.2.2"]);
    let (reply, _) = account.send(&writer, &edits[2..]);
    let UpdateReply::Prerequisite(words) = reply else { panic!("{reply:?}") };
    assert_eq!(words, "A of `c.example.net.` is not what the plan says");
}

#[test]
fn what_was_too_much_is_asked_again() {
    let account = Account::new();
    account.double.set_rules(|rules| rules.prior_request = PriorRequest::Seconds(4));
    let writer = account.writer();
    for kind in [FaultKind::Throttle, FaultKind::ExpiredToken] {
        account.double.plan_fault(Fault::nth_of("ChangeResourceRecordSets", 1, kind));
    }
    assert!(matches!(account.send(&writer, &[("a", create("192.0.2.1"))]).0, UpdateReply::Done));
    // The change before keeps the zone busy.
    assert!(matches!(account.send(&writer, &[("b", create("192.0.2.1"))]).0, UpdateReply::Done));
    assert_eq!((account.held("a"), account.held("b")), (vec!["A 192.0.2.1".into()], vec!["A 192.0.2.1".into()]));
    account.double.plan_fault(Fault::nth_of("ChangeResourceRecordSets", 1, FaultKind::Throttle).times(6));
    let (reply, _) = account.send(&writer, &[("c", create("192.0.2.1"))]);
    assert!(matches!(&reply, UpdateReply::Failed(problem) if problem.message.contains("Throttling")), "{reply:?}");
}

#[test]
fn a_lost_answer_is_unknown_whatever_became_of_it() {
    let account = Account::new();
    let writer = account.writer();
    for (name, kind) in [("a", FaultKind::DropBefore), ("b", FaultKind::DropAfter), ("c", FaultKind::FailAfter)] {
        account.double.plan_fault(Fault::nth_of("ChangeResourceRecordSets", 1, kind));
        let (reply, _) = account.send(&writer, &[(name, create("192.0.2.1"))]);
        assert!(matches!(reply, UpdateReply::Unknown(_)), "{reply:?}");
    }
    assert_eq!(account.held("a"), [""; 0]);
    assert_eq!((account.held("b").len(), account.held("c").len()), (1, 1));
    // The copy of one that took effect is refused.
    let (reply, _) = account.send(&writer, &[("b", create("192.0.2.1"))]);
    assert!(matches!(reply, UpdateReply::Prerequisite(_)), "{reply:?}");
}

#[test]
fn what_was_written_is_published_when_the_service_says_so() {
    let account = Account::new();
    let writer = account.writer();
    account.double.set_rules(|rules| rules.settling = ChangeSettling::AfterSeconds(20));
    assert!(matches!(account.send(&writer, &[("a", create("192.0.2.1"))]).0, UpdateReply::Done));
    writer.finish(&|| false).unwrap();
    let waited = account.clock.0.lock().unwrap().as_secs();
    assert!((20..25).contains(&waited), "{waited}");
    account.double.set_rules(|rules| rules.settling = ChangeSettling::AfterSeconds(600));
    assert!(matches!(account.send(&writer, &[("b", create("192.0.2.1"))]).0, UpdateReply::Done));
    let problem = writer.finish(&|| false).unwrap_err();
    assert!(problem.message.starts_with("not all name servers have the change"), "{problem}");
    writer.finish(&|| false).expect("nothing more is waited for");
}

/// A signal ends the wait at once, also in the middle of a pause; what was taken stays.
#[test]
fn publication_is_not_waited_for_once_the_apply_is_to_end() {
    let account = Account::new();
    account.double.set_rules(|rules| rules.settling = ChangeSettling::AfterSeconds(600));
    for (name, end, asked) in [("a", 5_500, 3), ("b", 0, 0)] {
        let (writer, clock) = (account.writer(), account.clock.clone());
        assert!(matches!(account.send(&writer, &[(name, create("192.0.2.1"))]).0, UpdateReply::Done));
        let millis = || clock.0.lock().unwrap().as_millis();
        let (begin, asked_before) = (millis(), account.double.count("GetChange"));
        let problem = writer.finish(&|| millis() - begin >= end).unwrap_err();
        assert!(problem.message.starts_with("the apply was interrupted before all name servers"), "{problem}");
        assert!(millis() - begin <= end + 200, "{}", millis() - begin);
        assert_eq!(account.double.count("GetChange") - asked_before, asked);
        assert_eq!(account.held(name), ["A 192.0.2.1"]);
    }
}

#[test]
fn ten_thousand_rrsets_are_written_in_as_few_batches_as_fit() {
    let account = Account::new();
    let writer = account.writer();
    let names: Vec<String> = (0..9_990).map(|number| format!("h{number}")).collect();
    let keys: Vec<RrKey> = names.iter().map(|name| account.key(name, Rtype::A)).collect();
    let questions: Vec<Question> = keys.iter().map(Question::of).collect();
    writer.observe(&account.zone, &questions, Some(2)).unwrap();
    let kind = create("192.0.2.1");
    let limits = writer.limits();
    let size = |key: &RrKey| writer.size(&account.zone, RrsetEdit { key, kind: &kind });
    let mut batches: Vec<(EditSize, Vec<&RrKey>)> = Vec::new();
    for key in &keys {
        match batches.last_mut().filter(|(taken, batch)| limits.hold(batch.len() + 1, *taken + size(key))) {
            Some((taken, batch)) => {
                *taken = *taken + size(key);
                batch.push(key);
            }
            None => batches.push((size(key), vec![key])),
        }
    }
    // 998 records a batch: two of a thousand are those of the marker.
    assert_eq!(batches.len(), 9_990usize.div_ceil(998));
    let marker = marker_key(&account.zone).unwrap();
    let text = |number: usize| Rrset::new(Ttl::ZERO, vec![Rdata::from_text(&format!("m{number}")).unwrap()]).unwrap();
    for (number, (_, batch)) in batches.iter().enumerate() {
        let swap = match number {
            0 => ChangeKind::Create { after: text(0) },
            _ => ChangeKind::Modify { before: text(number - 1), after: text(number) },
        };
        let own = batch.iter().map(|key| RrsetEdit { key, kind: &kind });
        let edits = [RrsetEdit { key: &marker, kind: &swap }].into_iter().chain(own).collect();
        let mut session = writer.open(&account.zone);
        let ticket = session.send(&Update { zone: &account.zone, edits }).unwrap();
        let reply = session.reply(ticket);
        assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
    }
    writer.finish(&|| false).unwrap();
    let counts = ["ListHostedZones", "ListResourceRecordSets", "ChangeResourceRecordSets", "GetChange"];
    // The zone is read in one page, and the marker by name, which was not among the questions.
    assert_eq!(counts.map(|operation| account.double.count(operation)), [1, 2, batches.len(), 2]);
}

#[test]
fn the_hosted_zone_of_a_name_is_chosen() {
    let account = Account::new();
    let private = account.double.create_zone("example.net", true);
    account.double.tag(&private, "team", "dns");
    let found = |choice: ZoneChoice| {
        let reader = reader(account.asker(), &account.clock, choice);
        reader.hosted(&account.zone).map(|hosted| hosted.id).map_err(|problem| problem.message)
    };
    let message = found(ZoneChoice::default()).unwrap_err();
    assert!(message.starts_with("2 hosted zones have this name: "), "{message}");
    let of_type = |is_private| ZoneChoice { is_private: Some(is_private), ..ZoneChoice::default() };
    assert_eq!(found(of_type(true)), Ok(private.clone()));
    assert_eq!(found(of_type(false)), Ok(account.id.clone()));
    let tagged = |key: &str, value: Option<&str>| ZoneChoice {
        tags: vec![(key.to_owned(), value.map(str::to_owned))],
        ..ZoneChoice::default()
    };
    assert_eq!(found(tagged("team", None)), Ok(private.clone()));
    assert_eq!(found(tagged("team", Some("dns"))), Ok(private.clone()));
    let left_out = "settings leave out each hosted zone of this name: ";
    let (public_id, private_id) = (&account.id, &private);
    assert_eq!(
        found(tagged("team", Some("web"))).unwrap_err(),
        format!("{left_out}{public_id} (public) by `zone_tags`, {private_id} (private) by `zone_tags`")
    );
    let name = account.zone.as_name().to_name();
    let by_id = |id: &str| ZoneChoice { ids: [(name.clone(), id.to_owned())].into(), ..ZoneChoice::default() };
    assert_eq!(found(by_id(&account.id)), Ok(account.id.clone()));
    let both = ZoneChoice { is_private: Some(true), ..by_id("ZOTHER") };
    assert_eq!(
        found(both).unwrap_err(),
        format!("{left_out}{private_id} (private) by `zone_ids`, {public_id} (public) by `zone_type`")
    );
    let other = ZoneName::new(Name::parse("example.org").unwrap());
    let reader = reader(account.asker(), &account.clock, by_id("ZOTHER"));
    assert_eq!(reader.hosted(&other).unwrap_err().message, "the account has no such hosted zone");
}

#[test]
fn zones_are_made_and_deleted_and_those_of_other_services_are_left() {
    let account = Account::new();
    let writer = account.writer();
    let zone = ZoneName::new(Name::parse("new.example.org").unwrap());
    let name = |text: &str| Name::parse(text).unwrap();
    let (mname, rname) = (name("ns1.example.org"), name("hostmaster.example.org"));
    let apex = ZoneApex { ns: vec![mname.clone()], mname, rname };
    writer.create_zone(&zone, &apex).unwrap();
    let read = reader(account.asker(), &account.clock, ZoneChoice::default());
    assert_eq!(read.read_zone(&zone).unwrap().contents.rrsets().count(), 2);
    let id = read.hosted(&zone).unwrap().id;
    account.double.put(&id, DoubleRrset::new("_zonewright.new.example.org", "TXT", 0, &["\"m\""]));
    account.double.put(&id, DoubleRrset::new("a.new.example.org", "A", 60, &["192.0.2.1"]));
    assert_eq!(writer.delete_zone(&zone).unwrap_err().code.as_str(), "zone-not-deleted");
    account.double.remove(&id, "a.new.example.org", "A", None);
    writer.delete_zone(&zone).unwrap();
    assert!(reader(account.asker(), &account.clock, ZoneChoice::default()).lacks_zone(&zone));
    account.double.link_service(&account.id, "servicediscovery.amazonaws.com", "Cloud Map");
    let (reply, _) = account.send(&account.writer(), &[("a", create("192.0.2.1"))]);
    assert!(
        matches!(&reply, UpdateReply::Refused(problem) if problem.message.contains("servicediscovery")),
        "{reply:?}"
    );
}

/// What is logged meanwhile.
#[derive(Clone, Default)]
struct LogSink(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for LogSink {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A service that takes each request, and never answers.
struct SilentService;

impl HttpAsker for SilentService {
    fn ask(&self, _: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        Err(HttpFailure { kind: HttpFailureKind::Late, message: "it did not answer within 2 s".to_owned() })
    }
}

#[test]
fn a_service_that_does_not_answer_is_asked_again_and_not_in_silence() {
    let account = Account::new();
    let sink = LogSink::default();
    let own = sink.clone();
    let log = tracing_subscriber::fmt().without_time().with_ansi(false).with_target(false);
    let log = log.with_max_level(tracing::Level::WARN).with_writer(move || own.clone()).finish();
    let reader = reader(Box::new(SilentService), &account.clock, ZoneChoice::default());
    tracing::subscriber::with_default(log, || reader.hosted(&account.zone)).unwrap_err();
    let said = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let line = |number: u32| format!("WARN it did not answer within 2 s; it is asked again, try {number} of 3");
    assert_eq!(lines, [line(2), line(3)]);
}

/// The rights that reading, writing and publication need, as docs/targets.md has them.
const RIGHTS: [&str; 5] = [
    "route53:ListHostedZones",
    "route53:ListResourceRecordSets",
    "route53:ListResourceRecordSetProtections",
    "route53:ChangeResourceRecordSets",
    "route53:GetChange",
];

#[test]
fn each_right_of_the_least_policy_is_needed_and_no_other() {
    check_each_right(&RIGHTS.map(str::to_owned), |allowed| {
        let account = Account::new();
        account.put("a", "192.0.2.1");
        account.double.set_rules(|rules| rules.allowed_actions = Some(allowed));
        reader(account.asker(), &account.clock, ZoneChoice::default()).read_zone(&account.zone)?;
        let writer = account.writer();
        match account.send(&writer, &[("a", modify("192.0.2.1", "192.0.2.2"))]).0 {
            UpdateReply::Done => writer.finish(&|| false),
            UpdateReply::Refused(problem) | UpdateReply::Failed(problem) => Err(problem),
            other => panic!("{other:?}"),
        }
    });
}
