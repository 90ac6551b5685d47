//! What servers make of updates, and what is made of their answers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use zonewright::apply::{self, ApplyEvent, ApplyWatch, CopyAccess, Orders};
use zonewright::change::{Change, ChangeKind};
use zonewright::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl};
use zonewright::guard;
use zonewright::plan::{Plan, SealedPlan, document};
use zonewright::rollout::{RolloutChoice, wave};
use zonewright::target::{Answer, CopyId, Question, RrsetEdit, Update, UpdateReply, WriteTarget};

use zonewright::verify;

use crate::client::{Client, lines, transfer, zone_name};
use crate::rig::Rig;
use crate::server::{Key, Kind, Server, ServerConfig};

on_every_primary! {
    an_update_does_what_it_says_and_is_read_back
    a_cname_gives_way_or_takes_the_place_of_others_in_one_update
    a_plan_that_replaces_a_cname_and_an_address_is_applied
    an_update_whose_prerequisite_fails_does_nothing
    what_stands_there_is_compared_without_regard_to_case
    updates_are_signed_with_each_algorithm_or_not_at_all
    a_refused_update_names_its_cause_as_far_as_the_server_does
    a_closed_connection_is_replaced_and_a_lost_answer_is_unknown
    an_answer_of_a_wildcard_is_told_from_a_name
    updates_that_name_their_predecessors_take_effect_in_order
    an_update_that_names_a_refused_predecessor_does_nothing
    all_that_the_limits_allow_is_one_update
    zones_are_written_side_by_side
}

on_every_kind! { @kind nsd Nsd a_refused_update_names_its_cause_as_far_as_the_server_does }

/// The zone of all tests.
const APEX: &str = "example.net";

/// What it holds.
const ZONE: &str = "$TTL 3600
@ SOA ns1 hostmaster 1 1d 2h 4w 10m
@ NS ns1
ns1 A 192.0.2.53
old AAAA 2a02::1
gone AAAA 2a02::2
slow AAAA 2a02::3
many AAAA 2a02::4
many AAAA 2a02::5
pointer PTR Host.Example.NET.
alias CNAME old
cut NS ns.cut
ns.cut A 192.0.2.54
tree DNAME old
*.wild AAAA 2a02::e
same.wild AAAA 2a02::e
other.wild AAAA 2a02::f
";

/// An RRset: `TTL RDATA, RDATA`; nothing where it is empty.
fn rrset(rtype: Rtype, text: &str) -> Option<Rrset> {
    let (ttl, rdata) = text.split_once(' ')?;
    let rdata = rdata.split(", ").map(|rdata| match rtype {
        Rtype::CNAME => Rdata::from_name(name(rdata).as_name()),
        _ => Rdata::parse(rtype, rdata).expect("RDATA"),
    });
    Rrset::new(Ttl::from_secs(ttl.parse().expect("a number")).expect("a TTL"), rdata.collect())
}

/// A name, relative to the zone.
fn name(text: &str) -> Name {
    Name::parse_relative(text.as_bytes(), &Name::parse(APEX).expect("a name")).expect("a name")
}

/// A change of one RRset: its name and type, before, and after.
fn change(owner: &str, rtype: Rtype, before: &str, after: &str) -> (RrKey, ChangeKind) {
    let key = RrKey { owner: zone_name(APEX).owner(name(owner).as_name()).expect("in the zone"), rtype };
    let kind = match (rrset(rtype, before), rrset(rtype, after)) {
        (None, Some(after)) => ChangeKind::Create { after },
        (Some(before), Some(after)) => ChangeKind::Modify { before, after },
        (Some(before), None) => ChangeKind::Delete { before },
        (None, None) => panic!("no change"),
    };
    (key, kind)
}

/// Sends changes of a zone as one update.
fn send_to(writer: &dyn WriteTarget, zone: &str, changes: &[(RrKey, ChangeKind)]) -> UpdateReply {
    let zone = zone_name(zone);
    let edits = changes.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
    let mut session = writer.open(&zone);
    match session.send(&Update { zone: &zone, edits }) {
        Ok(ticket) => session.reply(ticket),
        Err(error) => UpdateReply::Unknown(error),
    }
}

/// Sends changes as one update.
fn send(writer: &dyn WriteTarget, changes: &[(RrKey, ChangeKind)]) -> UpdateReply {
    send_to(writer, APEX, changes)
}

/// The records at names, one line each: asked name by name, and read out of a transfer, which must be the same.
fn observe(writer: &dyn WriteTarget, names: &[(&str, Rtype)]) -> Vec<String> {
    let question = |(owner, rtype): &(&str, Rtype)| Question { name: name(owner), rtype: *rtype };
    let questions: Vec<_> = names.iter().map(question).collect();
    let seen = |rrsets| {
        let answers = writer.observe(&zone_name(APEX), &questions, rrsets).expect("the zone is there");
        names.iter().zip(answers).map(|((owner, _), answer)| format!("{owner} {}", shown(&answer))).collect::<Vec<_>>()
    };
    let asked = seen(None);
    assert_eq!(asked, seen(Some(1)));
    asked
}

/// An answer in words.
fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Holds(rtype, rrset) => format!("{} {rtype} {}", rrset.ttl(), rrset.rdata_texts(*rtype).join(", ")),
        Answer::Nothing => "nothing".to_owned(),
        Answer::Delegated(cut, servers) => format!("delegated {cut} {}", servers.is_some()),
        Answer::BelowDname(owner, _) => format!("below {owner}"),
    }
}

/// A server of the zone with a key, and a writer with it.
fn server_and_writer(kind: Kind) -> Option<(Server, Key, Box<dyn WriteTarget>)> {
    let key = Key::new("zonewright");
    let server = start(kind, &[&key])?;
    let writer = Client::new(Some(&key)).writer(&server.address(), "");
    Some((server, key, writer))
}

/// A server of the zone with these keys.
fn start(kind: Kind, keys: &[&Key]) -> Option<Server> {
    let keys = keys.iter().map(|key| (*key).clone()).collect();
    Server::start(
        kind,
        &ServerConfig { keys, zones: vec![(APEX.to_owned(), ZONE.to_owned())], ..ServerConfig::default() },
    )
}

/// One update of all kinds of edits.
fn an_update_does_what_it_says_and_is_read_back(kind: Kind) {
    let Some((server, key, writer)) = server_and_writer(kind) else { return };
    let marker = "\"e=1 p=x b=1\"";
    let changes = [
        change("_zonewright", Rtype::TXT, "", &format!("0 {marker}")),
        change("new", Rtype::AAAA, "", "300 2a02::10, 2a02::11"),
        change("new", Rtype::TXT, "", "300 \"of the registry\""),
        change("old", Rtype::AAAA, "3600 2a02::1", "300 2a02::12"),
        change("gone", Rtype::AAAA, "3600 2a02::2", ""),
        change("slow", Rtype::AAAA, "3600 2a02::3", "60 2a02::3"),
        change("many", Rtype::AAAA, "3600 2a02::4, 2a02::5", "3600 2a02::5, 2a02::6"),
    ];
    let reply = send(&*writer, &changes);
    assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
    let seen = observe(
        &*writer,
        &[
            ("_zonewright", Rtype::TXT),
            ("new", Rtype::AAAA),
            ("new", Rtype::TXT),
            ("old", Rtype::AAAA),
            ("gone", Rtype::AAAA),
            ("slow", Rtype::AAAA),
            ("many", Rtype::AAAA),
            ("alias", Rtype::AAAA),
            ("x.cut", Rtype::AAAA),
            ("x.tree", Rtype::AAAA),
        ],
    );
    let expected = [
        &format!("_zonewright 0 TXT {marker}"),
        "new 300 AAAA 2a02::10, 2a02::11",
        "new 300 TXT \"of the registry\"",
        "old 300 AAAA 2a02::12",
        "gone nothing",
        "slow 60 AAAA 2a02::3",
        "many 3600 AAAA 2a02::5, 2a02::6",
        "alias 3600 CNAME old.example.net.",
        "x.cut delegated cut.example.net. true",
        "x.tree below tree.example.net.",
    ];
    assert_eq!(seen, expected);
    let read = transfer(&server.address(), Some(&key), APEX).expect("the zone is there");
    let slow: Vec<_> = lines(&read).into_iter().filter(|line| line.starts_with("slow.")).collect();
    assert_eq!(slow, ["slow.example.net. 60 AAAA 2a02::3"]);
}

/// One name each way.
fn a_cname_gives_way_or_takes_the_place_of_others_in_one_update(kind: Kind) {
    let Some((_server, _, writer)) = server_and_writer(kind) else { return };
    let changes = [
        change("alias", Rtype::AAAA, "", "300 2a02::10"),
        change("alias", Rtype::CNAME, "3600 old", ""),
        change("alias", Rtype::TXT, "", "300 \"a note\""),
        change("gone", Rtype::AAAA, "3600 2a02::2", ""),
        change("gone", Rtype::CNAME, "", "300 old"),
    ];
    let seen = || observe(&*writer, &[("alias", Rtype::AAAA), ("alias", Rtype::TXT), ("gone", Rtype::AAAA)]);
    let mut other = changes.clone();
    other[1] = change("alias", Rtype::CNAME, "3600 new", "");
    let reply = send(&*writer, &other);
    assert!(matches!(reply, UpdateReply::Prerequisite(_)), "{reply:?}");
    let old = "3600 CNAME old.example.net.";
    assert_eq!(seen(), [&format!("alias {old}"), &format!("alias {old}"), "gone 3600 AAAA 2a02::2"]);
    let reply = send(&*writer, &changes);
    assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
    assert_eq!(seen(), ["alias 300 AAAA 2a02::10", "alias 300 TXT \"a note\"", "gone 300 CNAME old.example.net."]);
}

/// A plan as an undo makes it: it puts back a CNAME and an address that took each other's place.
fn a_plan_that_replaces_a_cname_and_an_address_is_applied(kind: Kind) {
    let Some(rig) = Rig::unsigned_demo(kind) else { return };
    let text = fs::read_to_string(rig.plan().file).expect("the plan");
    let planned = document::parse(&text).expect("it is one").plan().clone();
    let like = planned.changes.first().expect("the demo has changes");
    let of = |owner: &str, rtype, before: &str, after: &str| {
        let (key, kind) = change(owner, rtype, before, after);
        let owner = Name::parse(&format!("{owner}.{}", like.zone)).expect("a name");
        let key = RrKey { owner: like.zone.owner(owner.as_name()).expect("in the zone"), ..key };
        Change { key, kind, ..like.clone() }
    };
    let changes = vec![
        of("replaced-a", Rtype::AAAA, "", "300 2a02::10"),
        of("replaced-a", Rtype::CNAME, "300 old", ""),
        of("replaced-b", Rtype::AAAA, "300 2a02::2", ""),
        of("replaced-b", Rtype::CNAME, "", "300 old"),
    ];
    let zone = like.zone.to_string();
    let there =
        format!("update add replaced-a.{zone} 300 CNAME old.{APEX}.\nupdate add replaced-b.{zone} 300 AAAA 2a02::2\n");
    rig.nsupdate(&zone, &there);
    let plan = Plan { changes, ..planned.clone() };
    let writer = Client::new(None).writer(&rig.server.address(), "");
    let applied = || {
        let access =
            CopyAccess { copy: CopyId::only(&like.zone_id()), writer: Ok(&*writer), is_fenced: true, share: None };
        let clearance = guard::clear(&SealedPlan::new(plan.clone()), &[], &[]).expect("no limit is exceeded");
        let survey = apply::survey(&plan, vec![access], 1);
        let wave = wave::next(&RolloutChoice::default(), clearance);
        let orders = Orders { wave, run: 7, sent: 0, epochs: BTreeMap::new(), max_failures: None };
        let written = apply::write(survey, &orders, &Unwatched);
        let outcome = verify::judge(&written, &apply::read_back(&written), Vec::new());
        outcome.hosts.iter().map(|host| (host.outcome.as_str(), host.message.clone())).collect::<Vec<_>>()
    };
    assert_eq!(applied(), [("applied", None)]);
    let records = rig.zone(&zone).records;
    let replaced: Vec<&String> = records.iter().filter(|line| line.starts_with("replaced-")).collect();
    let alias = format!("replaced-b.{zone} 300 CNAME old.{APEX}.");
    assert_eq!(replaced, [&format!("replaced-a.{zone} 300 AAAA 2a02::10"), &alias]);
    assert_eq!(applied(), [("already-applied", None)]);
}

/// Keeps nothing.
struct Unwatched;

impl ApplyWatch for Unwatched {
    fn event(&self, _: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn wait(&self, _: Duration) {}
}

/// Updates of which one edit is not as it was seen.
fn an_update_whose_prerequisite_fails_does_nothing(kind: Kind) {
    let Some((_server, _, writer)) = server_and_writer(kind) else { return };
    let good = change("good", Rtype::AAAA, "", "300 2a02::10");
    for (bad, rcode) in [
        (change("old", Rtype::AAAA, "3600 2a02::99", "300 2a02::12"), "NXRRSET"),
        (change("many", Rtype::AAAA, "3600 2a02::4", ""), "NXRRSET"),
        (change("nowhere", Rtype::AAAA, "300 2a02::1", ""), "NXRRSET"),
        (change("old", Rtype::AAAA, "", "300 2a02::12"), "YXRRSET"),
        (change("alias", Rtype::AAAA, "", "300 2a02::12"), "YXRRSET"),
    ] {
        let reply = send(&*writer, &[good.clone(), bad]);
        let UpdateReply::Prerequisite(words) = reply else { panic!("{reply:?}") };
        assert!(words.starts_with(&format!("the server answers {rcode}: ")), "{words}");
    }
    let seen = observe(&*writer, &[("good", Rtype::AAAA), ("old", Rtype::AAAA), ("alias", Rtype::AAAA)]);
    assert_eq!(seen, ["good nothing", "old 3600 AAAA 2a02::1", "alias 3600 CNAME old.example.net."]);
}

/// A PTR that the server keeps as it was written, and we in lower case.
fn what_stands_there_is_compared_without_regard_to_case(kind: Kind) {
    let Some((_server, _, writer)) = server_and_writer(kind) else { return };
    let reply = send(&*writer, &[change("pointer", Rtype::PTR, "3600 host.example.net.", "60 other.example.net.")]);
    assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
    assert_eq!(observe(&*writer, &[("pointer", Rtype::PTR)]), ["pointer 60 PTR other.example.net."]);
}

/// A key of each algorithm, of which one is named within the zone; then none at all.
fn updates_are_signed_with_each_algorithm_or_not_at_all(kind: Kind) {
    let algorithms = ["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"];
    let mut keys: Vec<Key> =
        algorithms.iter().map(|algorithm| Key::with_algorithm(&format!("key-{algorithm}"), algorithm)).collect();
    keys.push(Key::new("old.example.net"));
    if kind == Kind::Serve {
        // It has one key, of the algorithm that all must have.
        keys.truncate(2);
        keys.remove(0);
    }
    let Some(server) = start(kind, &keys.iter().collect::<Vec<_>>()) else { return };
    for (number, key) in keys.iter().enumerate() {
        let writer = Client::new(Some(key)).writer(&server.address(), "");
        let reply = send(&*writer, &[change(&format!("h{number}"), Rtype::AAAA, "", "300 2a02::10")]);
        assert!(matches!(reply, UpdateReply::Done), "{}: {reply:?}", key.algorithm);
    }
    let Some(server) = start(kind, &[]) else { return };
    let writer = Client::new(None).writer(&server.address(), "");
    let edit = change("new", Rtype::AAAA, "", "300 2a02::10");
    assert!(matches!(send(&*writer, std::slice::from_ref(&edit)), UpdateReply::Done));
    // Without a key every answer counts.
    assert!(matches!(send(&*writer, &[edit]), UpdateReply::Prerequisite(_)));
    assert_eq!(observe(&*writer, &[("new", Rtype::AAAA)]), ["new 300 AAAA 2a02::10"]);
}

/// What keeps an update from being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The key has another secret on the server.
    WrongSecret,
    /// The server has no key of this name.
    UnknownKey,
    /// The key has another algorithm on the server.
    WrongAlgorithm,
    /// The server knows the key, and lets it do nothing.
    PowerlessKey,
    /// The update is not signed, and must be.
    NoKey,
    /// The server does not have the zone.
    MissingZone,
    /// The same, not signed.
    MissingZoneAndNoKey,
}

/// Whether a reply proves that nothing took effect, its code, its message, and words of its hint by which it is known.
type Said = (bool, &'static str, &'static str, &'static str);

/// The server says BADSIG.
const BAD_SIG: Said =
    (false, "tsig-bad-sig", "the server finds our signature wrong (BADSIG)", "the secret here is not the secret");

/// The server says BADKEY.
const BAD_KEY: Said =
    (false, "tsig-bad-key", "the server does not know the TSIG key (BADKEY)", "no `acl` grants the key this zone");

/// The server says no.
const REFUSED: Said = (
    true,
    "update-refused",
    "the server answers REFUSED to an update",
    "including those of `_zonewright.ZONE` (BIND: `update-policy` or `allow-update`; Knot: an `acl` with",
);

/// The server says no, and does not sign it.
const REFUSED_UNSIGNED: Said = (
    false,
    "update-refused",
    "the server answers REFUSED to an update, unsigned, so another machine may have sent it",
    "compare the key's name, algorithm and secret and both clocks",
);

/// The server says that it is not the authority.
const NOT_SERVED: Said =
    (true, "zone-not-served", "the server answers NOTAUTH to an update", "this server is its primary");

/// The same, unsigned: nothing says that it is about the zone.
const NO_REASON: Said = (
    false,
    "update-refused",
    "the server answers NOTAUTH to an update, unsigned, so another machine may have sent it",
    REFUSED_UNSIGNED.3,
);

/// The server takes no updates.
const NOT_IMPLEMENTED: Said = (
    false,
    "update-not-implemented",
    "the server answers NOTIMP to an update, unsigned, so",
    "put a primary first that accepts",
);

/// The same, where nothing could be signed.
const NOT_IMPLEMENTED_WITHOUT_KEY: Said = (true, NOT_IMPLEMENTED.1, "the server answers NOTIMP", NOT_IMPLEMENTED.3);

/// What may be made of what this kind of server says; versions differ.
fn said(kind: Kind, cause: Cause) -> Vec<Said> {
    use Cause::*;
    match (kind, cause) {
        // It looks at nothing but that it is an update.
        (Kind::Nsd, NoKey | MissingZoneAndNoKey) => vec![NOT_IMPLEMENTED_WITHOUT_KEY],
        (Kind::Nsd, _) => vec![NOT_IMPLEMENTED],
        (Kind::Knot, WrongSecret) => vec![BAD_SIG],
        (Kind::Knot, UnknownKey | WrongAlgorithm | PowerlessKey) => vec![BAD_KEY, NO_REASON],
        (Kind::Knot, MissingZone) => vec![NO_REASON],
        (Kind::Knot, NoKey | MissingZoneAndNoKey) => vec![NOT_SERVED],
        (Kind::PowerDns | Kind::PowerDnsApi, WrongSecret | UnknownKey | WrongAlgorithm) => vec![REFUSED_UNSIGNED],
        (Kind::PowerDns | Kind::PowerDnsApi, PowerlessKey | NoKey | MissingZone | MissingZoneAndNoKey) => vec![REFUSED],
        (Kind::Bind | Kind::Serve, WrongSecret) => vec![BAD_SIG],
        // It has one key.
        (Kind::Serve, PowerlessKey) => vec![BAD_KEY],
        (Kind::Bind | Kind::Serve, UnknownKey | WrongAlgorithm) => vec![BAD_KEY],
        (Kind::Bind | Kind::Serve, PowerlessKey | NoKey) => vec![REFUSED],
        (Kind::Bind | Kind::Serve, MissingZone | MissingZoneAndNoKey) => vec![NOT_SERVED],
    }
}

/// Attempts that must fail.
fn a_refused_update_names_its_cause_as_far_as_the_server_does(kind: Kind) {
    let Some((server, key, writer)) = server_and_writer(kind) else { return };
    for (cause, key, apex) in [
        (Cause::WrongSecret, Some(Key { secret: "d3Jvbmcgc2VjcmV0".to_owned(), ..key.clone() }), APEX),
        (Cause::UnknownKey, Some(Key::new("other")), APEX),
        (Cause::WrongAlgorithm, Some(Key::with_algorithm(&key.name, "hmac-sha512")), APEX),
        (Cause::PowerlessKey, Some(Key::powerless()), APEX),
        (Cause::NoKey, None, APEX),
        (Cause::MissingZone, Some(key), "example.org"),
        (Cause::MissingZoneAndNoKey, None, "example.org"),
    ] {
        let (_, create) = change("new", Rtype::AAAA, "", "300 2a02::10");
        let name = Name::parse(&format!("new.{apex}")).expect("a name");
        let key_of_rrset = RrKey { owner: zone_name(apex).owner(name.as_name()).expect("in it"), rtype: Rtype::AAAA };
        let refused = Client::new(key.as_ref()).writer(&server.address(), "");
        let (proven, error) = match send_to(&*refused, apex, &[(key_of_rrset, create)]) {
            UpdateReply::Refused(error) => (true, error),
            UpdateReply::Unknown(error) => (false, error),
            other => panic!("{cause:?}: {other:?}"),
        };
        let said = said(kind, cause);
        let is_said = |(is_proven, code, message, hint): &Said| {
            (*is_proven, *code) == (proven, error.code.as_str())
                && error.message.starts_with(message)
                && error.hint.as_ref().is_some_and(|all| all.contains(hint))
        };
        assert!(said.iter().any(is_said), "{cause:?}: {said:?}: proven {proven}, {error:?}");
        assert_eq!(error.place, format!("{} zone {apex}.", server.address()));
    }
    assert_eq!(observe(&*writer, &[("new", Rtype::AAAA)]), ["new nothing"]);
}

/// How a proxy treats a connection, after it gave a message to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Treats {
    /// It passes the answer on, then closes the connection.
    Answers,
    /// It closes the connection instead of passing the answer on.
    Swallows,
}

/// Starts a proxy that passes one message of each connection, the connections treated in turn; says when it closed one.
fn closing_proxy(server: &str, treats: Vec<Treats>) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let server = server.to_owned();
    let (closed, is_closed) = mpsc::channel();
    thread::spawn(move || {
        for treats in treats {
            let (mut client, _) = listener.accept().expect("a client");
            let mut upstream = TcpStream::connect(&server).expect("a server");
            upstream.write_all(&framed(&mut client)).expect("it reads");
            let answer = framed(&mut upstream);
            if treats == Treats::Answers {
                client.write_all(&answer).expect("it reads");
            }
            drop(client);
            closed.send(()).expect("the test waits");
        }
    });
    (address, is_closed)
}

/// Reads a message with its length before it.
fn framed(stream: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).expect("a length");
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message).expect("a message");
    [&length[..], &message].concat()
}

/// A connection that is closed between two updates, and one that is closed after an update and before its answer.
fn a_closed_connection_is_replaced_and_a_lost_answer_is_unknown(kind: Kind) {
    let Some((server, key, direct)) = server_and_writer(kind) else { return };
    let (address, is_closed) =
        closing_proxy(&server.address(), vec![Treats::Answers, Treats::Answers, Treats::Swallows, Treats::Answers]);
    let writer = Client::new(Some(&key)).writer(&address, "");
    let zone = zone_name(APEX);
    let mut session = writer.open(&zone);
    let mut send = |owner: &str| {
        let (key, kind) = change(owner, Rtype::AAAA, "", "300 2a02::10");
        let ticket = session.send(&Update { zone: &zone, edits: vec![RrsetEdit { key: &key, kind: &kind }] });
        session.reply(ticket.expect("the proxy is there"))
    };
    let mut send_again = |owner: &str| match send(owner) {
        // That it was closed may not have come through yet, so that nothing was there to be noticed.
        UpdateReply::Unknown(error) if error.code.as_str() == "update-cut" => send(owner),
        reply => reply,
    };
    for owner in ["a", "b"] {
        let reply = send_again(owner);
        assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
        is_closed.recv().expect("the proxy says so");
    }
    // Over a connection of its own, that is.
    let mut session = writer.open(&zone);
    let (key, kind) = change("c", Rtype::AAAA, "", "300 2a02::10");
    let update = Update { zone: &zone, edits: vec![RrsetEdit { key: &key, kind: &kind }] };
    let ticket = session.send(&update).expect("the proxy is there");
    let lost = session.reply(ticket);
    assert!(matches!(&lost, UpdateReply::Unknown(error) if error.code.as_str() == "update-cut"), "{lost:?}");
    is_closed.recv().expect("the proxy says so");
    // It took effect all the same, so that it does not twice.
    let ticket = session.send(&update).expect("the proxy is there");
    let again = session.reply(ticket);
    assert!(matches!(&again, UpdateReply::Prerequisite(_)), "{again:?}");
    assert_eq!(observe(&*direct, &[("c", Rtype::AAAA)]), ["c 300 AAAA 2a02::10"]);
}

/// Names below a wildcard: one that is not there, one that holds what the wildcard does, and one with other data.
fn an_answer_of_a_wildcard_is_told_from_a_name(kind: Kind) {
    let Some((_server, _, writer)) = server_and_writer(kind) else { return };
    let asked = ["any.wild", "x.any.wild", "same.wild", "x.same.wild", "other.wild", "*.wild", "wild"];
    assert_eq!(
        observe(&*writer, &asked.map(|owner| (owner, Rtype::AAAA))),
        [
            "any.wild nothing",
            "x.any.wild nothing",
            "same.wild 3600 AAAA 2a02::e",
            "x.same.wild nothing",
            "other.wild 3600 AAAA 2a02::f",
            "*.wild 3600 AAAA 2a02::e",
            "wild nothing",
        ]
    );
}

/// Many updates in flight, each of which names what the one before it wrote.
fn updates_that_name_their_predecessors_take_effect_in_order(kind: Kind) {
    let Some((_server, _, writer)) = server_and_writer(kind) else { return };
    let zone = zone_name(APEX);
    let mut session = writer.open(&zone);
    // Software that gains by more than one is recognized by its version.
    let window = match kind {
        Kind::Knot => 8,
        Kind::Bind => 4,
        Kind::PowerDns | Kind::PowerDnsApi | Kind::Nsd | Kind::Serve => 1,
    };
    assert_eq!(session.window(), window);
    let text = |number: usize| if number == 0 { String::new() } else { format!("0 \"e=1 p=x b={number}\"") };
    let tickets: Vec<_> = (0..16)
        .map(|number| {
            let changes = [
                change("_zonewright", Rtype::TXT, &text(number), &text(number + 1)),
                change(&format!("h{number}"), Rtype::AAAA, "", "300 2a02::10"),
            ];
            let edits = changes.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
            session.send(&Update { zone: &zone, edits }).expect("the server is there")
        })
        .collect();
    for ticket in tickets {
        let reply = session.reply(ticket);
        assert!(matches!(reply, UpdateReply::Done), "{ticket:?}: {reply:?}");
    }
    assert_eq!(observe(&*writer, &[("_zonewright", Rtype::TXT)]), ["_zonewright 0 TXT \"e=1 p=x b=16\""]);
}

/// Three updates in flight, of which the second is not to be done.
fn an_update_that_names_a_refused_predecessor_does_nothing(kind: Kind) {
    let Some((_server, _, writer)) = server_and_writer(kind) else { return };
    let zone = zone_name(APEX);
    let mut session = writer.open(&zone);
    let swap = |before: &str, after: &str| change("_zonewright", Rtype::TXT, before, after);
    let updates = [
        [swap("", "0 \"e=1 p=x b=1\""), change("a", Rtype::AAAA, "", "300 2a02::10")],
        [swap("0 \"e=1 p=x b=1\"", "0 \"e=1 p=x b=2\""), change("old", Rtype::AAAA, "", "300 2a02::10")],
        [swap("0 \"e=1 p=x b=2\"", "0 \"e=1 p=x b=3\""), change("c", Rtype::AAAA, "", "300 2a02::10")],
    ];
    let tickets = updates.each_ref().map(|changes| {
        let edits = changes.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
        session.send(&Update { zone: &zone, edits }).expect("the server is there")
    });
    let [first, second, third] = tickets.map(|ticket| session.reply(ticket));
    assert!(matches!(first, UpdateReply::Done), "{first:?}");
    assert!(matches!(second, UpdateReply::Prerequisite(_)), "{second:?}");
    assert!(matches!(third, UpdateReply::Prerequisite(_)), "{third:?}");
    let seen = observe(&*writer, &[("_zonewright", Rtype::TXT), ("a", Rtype::AAAA), ("c", Rtype::AAAA)]);
    assert_eq!(seen, ["_zonewright 0 TXT \"e=1 p=x b=1\"", "a 300 AAAA 2a02::10", "c nothing"]);
}

/// As many edits as may be, then as many octets.
fn all_that_the_limits_allow_is_one_update(kind: Kind) {
    let Some((server, key, writer)) = server_and_writer(kind) else { return };
    let limits = writer.limits();
    let mut count = 0;
    for text in ["x", &"x".repeat(200)] {
        let mut octets = 0;
        let create = |number| change(&format!("h{number}-{}", text.len()), Rtype::TXT, "", &format!("300 \"{text}\""));
        let changes: Vec<_> = (0..limits.edits)
            .map(create)
            .take_while(|(key, kind)| {
                octets += writer.size(&zone_name(APEX), RrsetEdit { key, kind }).octets;
                octets <= limits.octets
            })
            .collect();
        let reply = send(&*writer, &changes);
        assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
        count += changes.len();
    }
    let read = transfer(&server.address(), Some(&key), APEX).expect("the zone is there");
    let created = lines(&read).into_iter().filter(|line| line.starts_with('h')).count();
    assert!(created == count && count > limits.edits, "{created} of {count}");
}

/// Zones of one target, each from a thread of its own.
fn zones_are_written_side_by_side(kind: Kind) {
    let key = Key::new("zonewright");
    let zones = ["a.example", "b.example", "c.example", "d.example"];
    let config = ServerConfig {
        keys: vec![key.clone()],
        zones: zones.map(|zone| (zone.to_owned(), ZONE.to_owned())).to_vec(),
        ..ServerConfig::default()
    };
    let Some(server) = Server::start(kind, &config) else { return };
    let writer = Client::new(Some(&key)).writer(&server.address(), "");
    let write = |zone: &str| {
        for number in 0..10 {
            let (_, kind) = change("x", Rtype::AAAA, "", "300 2a02::10");
            let name = Name::parse(&format!("h{number}.{zone}")).expect("a name");
            let key = RrKey { owner: zone_name(zone).owner(name.as_name()).expect("in it"), rtype: Rtype::AAAA };
            let reply = send_to(&*writer, zone, &[(key, kind)]);
            assert!(matches!(reply, UpdateReply::Done), "{zone} {number}: {reply:?}");
        }
    };
    thread::scope(|scope| {
        for zone in &zones {
            scope.spawn(|| write(zone));
        }
    });
}
