//! Name servers, looked at one by one: who answers, for what, with which clock, and to whom.
//!
//! Each server is asked for each zone: its SOA, a whole transfer, and the beginning of a transfer without the key. A
//! server that does not answer is not asked for further zones, so that it costs only one deadline. Permissions for
//! UPDATE are not examined here.

use std::sync::Arc;
use std::time::Instant;

use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::axfr::ZoneTransfer;
use super::failure::{ServerFailure, TransferProgress};
use super::message::{self, MessageHeader, bad, bad_wire, read_record};
use super::meter::ReadMeter;
use super::settings::{self, KeySettings, ServerAddress, ServerSettings};
use super::wire::Connection;
use super::{NameServers, explain_wire, random_id, read_error};
use crate::diag::Problem;
use crate::dns::{NameBuffer, RdataRef, Rtype, Serial, WireOctets, ZoneName};
use crate::inventory::node::SettingsNode;
use crate::parallel::side_by_side;
use crate::provider::ProviderContext;
use crate::provider::examine::{
    Capabilities, KeyExamined, KeylessAccess, PlaceExamined, ServerClock, TargetExamined, ZoneExamined, ZoneMeasures,
};
use crate::target::ReadingManner;

/// How many servers of a target are looked at side by side (targets rarely have more).
const SIDE_BY_SIDE: usize = 4;

/// By how many seconds the time of a question is shifted, so that a server that repeats it is recognized. A server
/// whose clock is wrong by exactly this looks the same, and such a clock is not worth a report.
const EARLIER: u64 = 10;

/// Looks at all servers of a target, and at these zones on each.
pub fn examine(settings: &SettingsNode, context: &ProviderContext<'_>, zones: &[&ZoneName]) -> TargetExamined {
    let settings = settings::parse(settings, context.source).0.expect("`check` passed the settings");
    NameServers::of(settings, context).examine(zones)
}

/// Looks at the key of a server; none where messages to it are not signed.
pub fn examine_key(settings: ServerSettings, context: &ProviderContext<'_>) -> Option<KeyExamined> {
    let servers = NameServers::of(settings, context);
    let fault = servers.key().err();
    servers.key_examined(fault)
}

impl NameServers {
    /// What is known of the key, where there is one; `fault` says why it cannot be read.
    fn key_examined(&self, fault: Option<Problem>) -> Option<KeyExamined> {
        let of_settings =
            |key: &KeySettings| KeyExamined { name: key.name.clone(), algorithm: key.algorithm.to_string(), fault };
        self.settings.key.as_ref().map(of_settings)
    }

    /// Looks at all servers.
    pub(super) fn examine(&self, zones: &[&ZoneName]) -> TargetExamined {
        let key = self.key();
        let fault = key.as_ref().err().cloned();
        // Without the secret it is unknown what a server does for the key; whether it answers at all is still reported.
        let zones = if fault.is_none() { zones } else { &[] };
        let key = key.ok().flatten();
        let ServerSettings { servers, exchange, .. } = &self.settings;
        TargetExamined {
            key: self.key_examined(fault),
            signs: true,
            is_folder: false,
            transfers: exchange.read != ReadingManner::ByName,
            places: side_by_side(servers.iter().collect(), SIDE_BY_SIDE, |server: &ServerAddress| {
                self.examine_server(server, zones, key.as_ref())
            }),
            capabilities: Capabilities::NotAsked,
        }
    }

    /// Looks at one server.
    fn examine_server(&self, server: &ServerAddress, zones: &[&ZoneName], key: Option<&Arc<Key>>) -> PlaceExamined {
        let mut place =
            PlaceExamined { place: server.to_string(), fault: None, clock: ServerClock::NotTold, zones: Vec::new() };
        if let Err(failure) = self.connect(server) {
            place.fault = Some(read_error(place.place.clone(), &failure, ""));
            return place;
        }
        let mut without_key = key.is_some();
        for zone in zones {
            // The first question shows the clock; the answer may also be refused because of the shifted time.
            let earlier = if place.zones.is_empty() { EARLIER } else { 0 };
            let asked = self.ask_soa(server, zone, key, earlier);
            if place.zones.is_empty() {
                place.clock = clock_of(&asked);
            }
            let read = if is_silence(&asked) { None } else { Some(self.measure(server, zone, key)) };
            let Some(read) = read.filter(|read| !is_silence(read)) else {
                place.fault = Some(silence(&place.place, zone));
                break;
            };
            let access = without_key.then(|| self.ask_without_key(server, zone));
            // Who is not answered once is not answered for the next zone either, and waits as long each time.
            without_key &= !access.as_ref().is_some_and(is_silence);
            place.zones.push(ZoneFindings { place: &place.place, zone, asked, read, access }.joined());
        }
        place
    }

    /// Connects to a server.
    fn connect(&self, server: &ServerAddress) -> Result<Connection, ServerFailure> {
        Connection::open(server, self.settings.exchange.timeout)
            .map_err(|fault| explain_wire(fault, TransferProgress::default()))
    }

    /// Asks for the SOA of a zone, in a question that is signed as if it were so many seconds `earlier`.
    fn ask_soa(
        &self,
        server: &ServerAddress,
        zone: &ZoneName,
        key: Option<&Arc<Key>>,
        earlier: u64,
    ) -> Result<SoaAnswer, ServerFailure> {
        let mut connection = self.connect(server)?;
        let id = random_id();
        let mut question = message::question(zone.as_name(), Rtype::SOA, id);
        let asked_at = Time48::from_u64(u64::from(Time48::now()).saturating_sub(earlier));
        let sign = |key: &Arc<Key>| ClientTransaction::request(key.clone(), &mut question, asked_at);
        let signed = key.map(sign).transpose().expect("a TSIG record fits");
        connection.send(&question.finish()).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let mut octets = Vec::new();
        connection.receive(&mut octets).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let now = Time48::now();
        let mut clock = ServerClock::NotTold;
        if let Some(transaction) = signed {
            let signed_at = message::time_signed(&octets);
            let mut message = Message::from_octets(octets).map_err(|_| bad("no message"))?;
            let checked = transaction.answer(&mut message, now);
            octets = message.into_octets();
            checked.map_err(|error| message::explain_signature(error, &octets, now))?;
            clock = match signed_at {
                Some(signed_at) if signed_at == asked_at => ServerClock::Repeats,
                Some(signed_at) => ServerClock::Ahead(u64::from(signed_at) as i64 - u64::from(now) as i64),
                None => ServerClock::NotTold,
            };
        }
        Ok(SoaAnswer { clock, ..read_soa(&octets, zone, id)? })
    }

    /// Transfers a zone for its measures and serial.
    fn measure(
        &self,
        server: &ServerAddress,
        zone: &ZoneName,
        key: Option<&Arc<Key>>,
    ) -> Result<(ZoneMeasures, u32), ServerFailure> {
        let since = Instant::now();
        let mut connection = self.connect(server)?;
        let (mut transfer, question) = ZoneTransfer::start(zone, key.cloned(), random_id(), Time48::now());
        connection.send(&question).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let mut meter = ReadMeter::start(self.settings.limits, self.kept_size(zone));
        let mut message = Vec::new();
        while !transfer.ended() {
            meter.receive(&mut connection, self.settings.exchange.timeout, &mut message, transfer.progress())?;
            transfer.accept(&mut message, Time48::now())?;
            meter.check(transfer.progress())?;
        }
        let took = since.elapsed();
        let contents = transfer.finish()?;
        Ok((ZoneMeasures::of(&contents, meter.octets(), Some(took)), contents.serial().into_int()))
    }

    /// Asks for a transfer without the key, and looks at no more than the first message.
    fn ask_without_key(&self, server: &ServerAddress, zone: &ZoneName) -> Result<KeylessAccess, ServerFailure> {
        let mut connection = self.connect(server)?;
        let id = random_id();
        let question = message::question(zone.as_name(), Rtype::AXFR, id).finish();
        connection.send(&question).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let mut octets = Vec::new();
        connection.receive(&mut octets).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let header = MessageHeader::read(&octets).filter(|header| header.id == id);
        let header = header.ok_or_else(|| bad("the answer to another question"))?;
        Ok(match header.rcode() {
            Rcode::NOERROR if header.counts[1] > 0 => KeylessAccess::Allowed,
            Rcode::REFUSED | Rcode::NOTAUTH => KeylessAccess::Refused,
            other => KeylessAccess::Unclear(format!("the server answers {other}")),
        })
    }
}

/// What was found about a zone at one server.
struct ZoneFindings<'a> {
    /// The server, for messages.
    place: &'a str,
    /// The zone.
    zone: &'a ZoneName,
    /// The answer to the question for the SOA.
    asked: Result<SoaAnswer, ServerFailure>,
    /// The measures and the serial of the transferred zone.
    read: Result<(ZoneMeasures, u32), ServerFailure>,
    /// What a question for a transfer without the key led to, where there was one.
    access: Option<Result<KeylessAccess, ServerFailure>>,
}

impl ZoneFindings<'_> {
    /// Joins what was found.
    fn joined(self) -> ZoneExamined {
        let ZoneFindings { place, zone, asked, read, access } = self;
        let transferred = read.as_ref().ok().map(|(_, serial)| *serial);
        let serial = transferred.or(asked.as_ref().ok().and_then(|soa| soa.serial));
        let without_key = access.map(|access| {
            access.unwrap_or_else(|failure| match failure {
                // Closing the connection is how some servers refuse.
                ServerFailure::Cut { .. } => KeylessAccess::Refused,
                other => KeylessAccess::Unclear(other.to_string()),
            })
        });
        let failed = |failure: ServerFailure| read_error(place.to_owned(), &failure, "");
        ZoneExamined {
            zone: zone.clone(),
            authority: Some(asked.map(|soa| soa.authoritative).map_err(failed)),
            serial,
            read: read.map(|(measures, _)| measures).map_err(failed),
            without_key,
            writable: None,
        }
    }
}

/// What the answer to a question for a SOA says.
struct SoaAnswer {
    /// Whether the server answers with authority, and with the SOA of the zone itself.
    authoritative: bool,
    /// The serial.
    serial: Option<u32>,
    /// What the signature shows about the server's clock.
    clock: ServerClock,
}

/// Reads the answer to the question for a SOA.
fn read_soa(octets: &[u8], zone: &ZoneName, id: u16) -> Result<SoaAnswer, ServerFailure> {
    /// The bit AA of the header (RFC 1035 section 4.1.1).
    const AUTHORITATIVE: u16 = 0x0400;
    let header = MessageHeader::read(octets).filter(|header| header.id == id && header.is_whole_answer());
    let header = header.ok_or_else(|| bad("no whole answer to the question"))?;
    if header.rcode() != Rcode::NOERROR || header.counts[0] != 1 || header.counts[1] == 0 {
        return Ok(SoaAnswer { authoritative: false, serial: None, clock: ServerClock::NotTold });
    }
    let mut name = NameBuffer::default();
    let at = message::check_question(octets, zone.as_name(), Rtype::SOA, &mut name)?;
    let record = read_record(octets, at, &mut name)?;
    let mut rdata = Vec::new();
    WireOctets::message(octets).append_rdata(record.rtype, record.start..record.end, &mut rdata).map_err(bad_wire)?;
    let is_soa = record.rtype == Rtype::SOA && name.as_name() == zone.as_name();
    let serial = RdataRef { rtype: record.rtype, octets: &rdata }.serial();
    Ok(SoaAnswer {
        authoritative: is_soa && header.flags & AUTHORITATIVE != 0,
        serial: serial.filter(|_| is_soa).map(Serial::into_int),
        clock: ServerClock::NotTold,
    })
}

/// What the answer to the first question shows about a server's clock.
fn clock_of(asked: &Result<SoaAnswer, ServerFailure>) -> ServerClock {
    match asked {
        Ok(answer) => answer.clock,
        Err(ServerFailure::BadTime { ahead: Some(ahead) }) => ServerClock::Ahead(*ahead),
        Err(_) => ServerClock::NotTold,
    }
}

/// Whether a server did not answer at all, so that another question would wait as long again.
fn is_silence<T>(outcome: &Result<T, ServerFailure>) -> bool {
    match outcome {
        Err(ServerFailure::TimedOut { progress }) => progress.messages == 0,
        Err(ServerFailure::Unresolved(_) | ServerFailure::Connect(_)) => true,
        _ => false,
    }
}

/// The fault of a server that stopped answering when it was asked for a zone.
fn silence(place: &str, zone: &ZoneName) -> Problem {
    let message = format!("no answer to a question about `{zone}`; zonewright asked this server for no further zone");
    Problem::new(place, "timeout", message)
        .hint(ServerFailure::TimedOut { progress: TransferProgress::default() }.hint())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::super::settings::ZoneCommands;
    use super::super::tests::{Signer, answer, apex, framed, read, reader, soa, zone};
    use super::*;
    use crate::provider::exchange::ExchangeSettings;
    use crate::provider::limits::ReadLimits;

    /// What a server does with a question.
    type Act = dyn Fn(&mut TcpStream, &[u8]) + Send + Sync;

    /// Starts a server that hands each question to `act`, and counts them.
    fn serve(act: Box<Act>) -> (ServerAddress, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // A connection without a question only checks whether a server is there.
                if let Some(question) = read(&mut stream) {
                    counter.fetch_add(1, Ordering::Relaxed);
                    act(&mut stream, &question);
                }
            }
        });
        (ServerAddress { host: "127.0.0.1".into(), port }, asked)
    }

    /// How a server of [`honest`] differs from a good one.
    #[derive(Clone, Copy)]
    struct Kind {
        /// The serial.
        serial: u8,
        /// How far its clock is off.
        skew: i64,
        /// Whether it answers with authority.
        authority: bool,
        /// Whether it needs no key for a transfer.
        open: bool,
    }

    /// One that is as it should be.
    const GOOD: Kind = Kind { serial: 1, skew: 0, authority: true, open: false };

    /// A server that answers all that is asked for here.
    fn honest(kind: Kind) -> ServerAddress {
        let act = move |stream: &mut TcpStream, question: &[u8]| {
            // The client may have seen enough.
            let _ = stream.write_all(&framed(&answers(kind, question)));
        };
        serve(Box::new(act)).0
    }

    /// The answers to a question.
    fn answers(kind: Kind, question: &[u8]) -> Vec<Vec<u8>> {
        let Kind { serial, skew, authority, open } = kind;
        let id = u16::from_be_bytes([question[0], question[1]]);
        let signed = question[11] == 1;
        if question[26] == 6 {
            let mut soa = answer(id, 0, &[soa(serial)]);
            soa[26] = 6;
            soa[2] = if authority { 0x84 } else { 0x80 };
            if !signed {
                return vec![soa];
            }
            let mut signer = Signer::new(question);
            signer.skew = skew;
            return vec![signer.sign(soa)];
        }
        let records: Vec<_> = zone()
            .concat()
            .into_iter()
            .map(|record| if record.1 == Rtype::SOA { soa(serial) } else { record })
            .collect();
        match (signed, open) {
            (true, _) => {
                let mut signer = Signer::new(question);
                signer.skew = skew;
                vec![signer.sign(answer(id, 0, &records))]
            }
            (false, true) => vec![answer(id, 0, &records)],
            (false, false) => vec![answer(id, 5, &[])],
        }
    }

    /// Looks at servers with a key, with a deadline that no test waits for.
    fn examine(servers: Vec<ServerAddress>, zones: &[&ZoneName]) -> TargetExamined {
        reader(servers, true).examine(zones)
    }

    #[test]
    fn each_server_is_looked_at_and_not_only_the_first() {
        let kinds = [GOOD, Kind { serial: 2, skew: 60, ..GOOD }, Kind { authority: false, open: true, ..GOOD }];
        let examined = examine(kinds.map(honest).to_vec(), &[&apex()]);
        let seen = |place: &PlaceExamined| {
            let zone = &place.zones[0];
            // A second may pass between both looks at the clock.
            let clock = matches!(place.clock, ServerClock::Ahead(ahead) if ahead.abs() < 5);
            (zone.serial, clock, zone.authority.clone(), zone.without_key.clone())
        };
        let seen: Vec<_> = examined.places.iter().map(seen).collect();
        let (refused, allowed) = (Some(KeylessAccess::Refused), Some(KeylessAccess::Allowed));
        assert_eq!(
            seen,
            [
                (Some(1), true, Some(Ok(true)), refused.clone()),
                (Some(2), false, Some(Ok(true)), refused),
                (Some(1), true, Some(Ok(false)), allowed),
            ]
        );
        let measures = examined.places[0].zones[0].read.as_ref().unwrap();
        assert_eq!((measures.rrsets, measures.records, measures.signed), (3, 4, false));
        assert!(measures.octets > 100);
    }

    #[test]
    fn a_clock_that_is_too_far_off_is_told_with_the_difference() {
        let examined = examine(vec![honest(Kind { skew: 1_000, ..GOOD })], &[&apex()]);
        let place = &examined.places[0];
        let far = matches!(place.clock, ServerClock::Ahead(ahead) if (990..1_010).contains(&ahead));
        assert!(far, "{:?}", place.clock);
        assert_eq!(place.zones[0].read.as_ref().map_err(|fault| fault.code.as_str()), Err("tsig-bad-time"));
    }

    #[test]
    fn a_server_that_is_silent_is_asked_once() {
        let (silent, asked) = serve(Box::new(|stream, _| {
            // Until the other side gives up.
            let _ = stream.read(&mut [0]);
        }));
        let mut servers = reader(vec![silent], true);
        servers.settings.exchange.timeout = Duration::from_millis(300);
        let examined = servers.examine(&[&apex(), &apex()]);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(examined.places[0].zones.len(), 0);
        assert_eq!(
            examined.places[0].fault.as_ref().map(|fault| fault.message.as_str()),
            Some("no answer to a question about `example.net.`; zonewright asked this server for no further zone")
        );
    }

    #[test]
    fn a_server_that_is_not_there_is_told_and_the_others_are_looked_at() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let examined = examine(vec![ServerAddress { host: "127.0.0.1".into(), port: gone }, honest(GOOD)], &[&apex()]);
        assert_eq!(examined.places[0].fault.as_ref().map(|fault| fault.code.as_str()), Some("connect-failed"));
        assert_eq!(examined.places[1].fault, None);
    }

    #[test]
    fn without_the_secret_servers_are_only_connected_to() {
        let (server, asked) = serve(Box::new(|_, _| {}));
        let exchange = ExchangeSettings { timeout: Duration::from_secs(20), read: ReadingManner::Whole, window: None };
        let error = Problem::new("key", "secret-exposed", "others can read it").hint("run `chmod`");
        let servers = NameServers::new(
            ServerSettings {
                servers: vec![server],
                key: None,
                exchange,
                cache: false,
                cache_max_age: Duration::ZERO,
                limits: ReadLimits::default(),
                making: ZoneCommands::default(),
            },
            PathBuf::new(),
            OnceLock::from(Err(error)),
        );
        let examined = servers.examine(&[&apex()]);
        assert_eq!((asked.load(Ordering::Relaxed), examined.places[0].fault.clone()), (0, None));
    }

    #[test]
    fn whatever_else_comes_without_the_key_is_unclear() {
        let odd = |question: &[u8]| {
            let id = u16::from_be_bytes([question[0], question[1]]);
            match question[11] {
                0 => vec![answer(id, 2, &[])],
                _ => answers(GOOD, question),
            }
        };
        let (server, _) = serve(Box::new(move |stream, question| drop(stream.write_all(&framed(&odd(question))))));
        let examined = examine(vec![server], &[&apex()]);
        assert_eq!(
            examined.places[0].zones[0].without_key,
            Some(KeylessAccess::Unclear("the server answers SERVFAIL".to_owned()))
        );
        let (closing, _) = serve(Box::new(move |stream, question| {
            if question[11] == 1 {
                let _ = stream.write_all(&framed(&answers(GOOD, question)));
            }
        }));
        assert_eq!(examine(vec![closing], &[&apex()]).places[0].zones[0].without_key, Some(KeylessAccess::Refused));
    }
}
