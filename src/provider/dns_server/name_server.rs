//! A name server that gets NOTIFY and is asked for serials, over UDP, and over TCP where an answer is cut short; and for
//! RRsets, over TCP.
//!
//! Comes in: the settings of `[[pool.X.nameserver]]`. Goes out: what it answers for each of many zones. All questions
//! are in flight at once, so that a server that is down costs one deadline, and not one for each zone.

use std::collections::HashMap;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::base::Message;
use domain::base::iana::{Opcode, Rcode};
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::ask::{Asker, DEFAULT_WINDOW};
use super::failure::ServerFailure;
use super::message::{self, MessageHeader};
use super::query;
use super::settings::{self, ServerAddress};
use super::udp::{self, UdpReceipt};
use super::{random_id, tsig_key};
use crate::diag::{Diagnostics, Problem};
use crate::dns::{Rtype, ZoneName};
use crate::inventory::node::{SettingsNode, SourceText};
use crate::provider::ProviderContext;
use crate::provider::limits::ReadLimits;
use crate::target::{Answer, NameServer, Patience, Question, SerialAnswer};

/// How many questions are in flight at most: half of all IDs, so that a late answer seldom meets a new question.
const AT_ONCE: usize = 1 << 15;

/// After so many questions there is a short pause, in which answers are read: the buffers of sockets are small.
const BURST: usize = 64;

/// That pause.
const PAUSE: Duration = Duration::from_millis(1);

/// After so long without an answer is looked whether one is still wanted.
const LOOK_UP: Duration = Duration::from_millis(50);

/// The longest answer over UDP that is read.
const LONGEST: usize = 65_535;

/// Checks the settings of a name server without using them.
pub fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse_name_server(settings, source).1
}

/// The address in settings that [`check`] passed.
pub fn address(settings: &SettingsNode, source: &SourceText) -> String {
    let (settings, _) = settings::parse_name_server(settings, source);
    settings.expect("`check` passed the settings").server.to_string()
}

/// Opens a name server whose settings [`check`] passed; fetches the secret of its key.
///
/// Errors: the secret cannot be had.
pub fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> Result<Box<dyn NameServer>, Problem> {
    let (settings, _) = settings::parse_name_server(settings, context.source);
    let settings = settings.expect("`check` passed the settings");
    let place = settings.server.to_string();
    let fetch = |key| tsig_key::fetch(key, context.workspace, super::super::exchange::DEFAULT_TIMEOUT);
    let key = settings.key.as_ref().map(fetch).transpose().map_err(|error| error.at(place))?;
    Ok(Box::new(PolledServer { address: settings.server, key }))
}

/// A name server.
struct PolledServer {
    /// Its address.
    address: ServerAddress,
    /// The key that messages are signed with, where they are.
    key: Option<Arc<Key>>,
}

/// A question that waits for its answer.
struct OpenQuestion {
    /// The place of its zone.
    place: usize,
    /// What its answer's signature is checked with.
    transaction: Option<ClientTransaction<Arc<Key>>>,
}

impl NameServer for PolledServer {
    fn place(&self) -> String {
        self.address.to_string()
    }

    fn notify(&self, zones: &[&ZoneName]) {
        let Ok(socket) = udp::connect(&self.address) else { return };
        for (number, zone) in zones.iter().enumerate() {
            let mut message = message::question(zone.as_name(), Rtype::SOA, random_id());
            message.header_mut().set_opcode(Opcode::NOTIFY);
            // RFC 1996 section 3.8.
            message.header_mut().set_aa(true);
            self.sign(&mut message);
            // It is sent once: a message that is lost costs the server its refresh time, and nothing else.
            let _ = socket.send(&message.finish());
            if number % BURST == BURST - 1 {
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn ask(&self, zones: &[&ZoneName], patience: Patience<'_>) -> Vec<SerialAnswer> {
        let mut answers = vec![SerialAnswer::Silent; zones.len()];
        for (zones, answers) in zones.chunks(AT_ONCE).zip(answers.chunks_mut(AT_ONCE)) {
            if let Ok(socket) = udp::connect(&self.address) {
                let cut = self.ask_over_udp(&socket, zones, patience, answers);
                self.ask_over_tcp(zones, &cut, patience, answers);
            }
        }
        answers
    }

    fn read(&self, zone: &ZoneName, questions: &[Question], patience: Patience<'_>) -> Option<Vec<Answer>> {
        self.asker(zone, patience).observe(questions).ok()
    }
}

impl PolledServer {
    /// What asks about a zone over TCP.
    fn asker<'a>(&'a self, zone: &'a ZoneName, patience: Patience<'_>) -> Asker<'a> {
        let (window, limits) = (DEFAULT_WINDOW, ReadLimits::default());
        Asker { server: &self.address, zone, key: self.key.clone(), timeout: patience.most, window, limits }
    }

    /// Signs a message, where there is a key.
    fn sign(
        &self,
        message: &mut domain::base::message_builder::AdditionalBuilder<Vec<u8>>,
    ) -> Option<ClientTransaction<Arc<Key>>> {
        let key = self.key.clone()?;
        Some(ClientTransaction::request(key, message, Time48::now()).expect("a TSIG record fits"))
    }

    /// Asks for all zones over UDP; gives the places of those whose answers were cut short.
    fn ask_over_udp(
        &self,
        socket: &UdpSocket,
        zones: &[&ZoneName],
        patience: Patience<'_>,
        answers: &mut [SerialAnswer],
    ) -> Vec<usize> {
        let mut open: HashMap<u16, OpenQuestion> = HashMap::with_capacity(zones.len());
        let mut cut = Vec::new();
        let mut id = random_id();
        for (place, zone) in zones.iter().enumerate() {
            id = id.wrapping_add(1);
            let mut message = message::question(zone.as_name(), Rtype::SOA, id);
            let transaction = self.sign(&mut message);
            if socket.send(&message.finish()).is_err() {
                // The system knows from an earlier question that nothing listens there.
                return cut;
            }
            open.insert(id, OpenQuestion { place, transaction });
            if place % BURST == BURST - 1 {
                self.receive(socket, Patience { most: PAUSE, ..patience }, (zones, &mut open), (answers, &mut cut));
            }
        }
        self.receive(socket, patience, (zones, &mut open), (answers, &mut cut));
        cut
    }

    /// Takes answers until none is awaited or wanted, or the time is over.
    fn receive(
        &self,
        socket: &UdpSocket,
        patience: Patience<'_>,
        (zones, open): (&[&ZoneName], &mut HashMap<u16, OpenQuestion>),
        (answers, cut): (&mut [SerialAnswer], &mut Vec<usize>),
    ) {
        let mut buffer = vec![0; LONGEST];
        let deadline = Instant::now() + patience.most;
        while !open.is_empty() {
            let slice = deadline.min(Instant::now() + LOOK_UP);
            let length = match udp::receive(socket, slice, &mut buffer) {
                UdpReceipt::Message(length) => length,
                UdpReceipt::Nothing if Instant::now() < deadline && !(patience.is_over)() => continue,
                UdpReceipt::Nothing | UdpReceipt::Closed => return,
            };
            let mut octets = buffer[..length].to_vec();
            let Some(header) = MessageHeader::read(&octets) else { continue };
            let Some(sent) = open.get(&header.id) else { continue };
            // What is not signed by the server may be from another sender: the server's own answer may still come.
            if !is_signed(sent, &mut octets) {
                continue;
            }
            let place = sent.place;
            let answer = if header.is_cut() { None } else { read_soa(&octets, zones[place]) };
            match answer {
                Some(answer) => answers[place] = answer,
                None if header.is_cut() => cut.push(place),
                None => continue,
            }
            open.remove(&header.id);
        }
    }

    /// Asks for the zones at these places over TCP, all over one connection; a server that does not answer there either
    /// stays silent, and all of it costs one deadline.
    fn ask_over_tcp(
        &self,
        zones: &[&ZoneName],
        places: &[usize],
        patience: Patience<'_>,
        answers: &mut [SerialAnswer],
    ) {
        let deadline = Instant::now() + patience.most;
        let mut waiting = places.to_vec();
        while !waiting.is_empty() && Instant::now() < deadline && !(patience.is_over)() {
            let timeout = deadline.saturating_duration_since(Instant::now());
            let limits = ReadLimits { time: timeout, ..ReadLimits::default() };
            let asker = Asker { limits, timeout, ..self.asker(zones[waiting[0]], patience) };
            let questions: Vec<Question> = waiting.iter().map(|place| Question::soa(zones[*place])).collect();
            let failure = match asker.ask_to(&questions, read_question) {
                Ok(found) => {
                    waiting.iter().zip(found).for_each(|(place, answer)| answers[*place] = answer);
                    return;
                }
                Err(failure) => failure,
            };
            // What concerns one zone leaves the others to be asked for.
            let (number, failure) = match failure {
                ServerFailure::AtQuestion(question, failure) => {
                    (questions.iter().position(|own| own.name == question.name), *failure)
                }
                failure => (Some(0), failure),
            };
            let (Some(number), ServerFailure::QueryRefused { rcode, .. }) = (number, failure) else { return };
            let place = waiting.remove(number);
            if matches!(rcode, Rcode::NOTAUTH | Rcode::REFUSED) {
                answers[place] = SerialAnswer::NoZone;
            }
        }
    }
}

/// Reads the answer to a question for the SOA of a zone.
///
/// Errors: it is no such answer.
fn read_question(octets: &[u8], _: &ZoneName, question: &Question) -> Result<SerialAnswer, ServerFailure> {
    let zone = ZoneName::new(question.name.clone());
    read_soa(octets, &zone).ok_or_else(|| message::bad("no answer to the question for the SOA"))
}

/// Whether an answer has the signature that its question asks for; takes it off.
fn is_signed(sent: &OpenQuestion, octets: &mut Vec<u8>) -> bool {
    let Some(transaction) = &sent.transaction else { return true };
    let Ok(mut message) = Message::from_octets(std::mem::take(octets)) else { return false };
    let checked = transaction.answer(&mut message, Time48::now());
    *octets = message.into_octets();
    checked.is_ok()
}

/// Reads the answer to the question for the SOA of a zone; `None` for what is no such answer.
///
/// A server that refuses, or refers elsewhere, does not have the zone. One that has trouble (SERVFAIL) may have it: a
/// secondary answers so while the zone has expired.
fn read_soa(octets: &[u8], zone: &ZoneName) -> Option<SerialAnswer> {
    let header = MessageHeader::read(octets)?;
    if !header.is_whole_answer() {
        return None;
    }
    match header.rcode() {
        Rcode::NOTAUTH | Rcode::REFUSED => return Some(SerialAnswer::NoZone),
        Rcode::NOERROR | Rcode::NXDOMAIN => {}
        _ => return Some(SerialAnswer::Silent),
    }
    let own = query::read_own(octets, zone, &Question::soa(zone)).ok()?;
    let serial = own.and_then(|rrset| rrset.rdata().first()?.as_rdata(Rtype::SOA).serial());
    Some(serial.map_or(SerialAnswer::NoZone, SerialAnswer::Serves))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::super::tests::{framed, read};
    use super::*;
    use crate::dns::Name;

    /// The zones `z0.example.net.` and so on.
    fn zones(count: usize) -> Vec<ZoneName> {
        (0..count).map(|number| ZoneName::new(Name::parse(&format!("z{number}.example.net")).unwrap())).collect()
    }

    /// The header of an answer that is cut short.
    const CUT: [u8; 10] = [0x86, 0, 0, 1, 0, 0, 0, 0, 0, 0];

    /// The answer to a question: the SOA with serial 7.
    fn answer(question: &[u8]) -> Vec<u8> {
        let end = 12 + question[12..].iter().position(|octet| *octet == 0).unwrap() + 5;
        let soa = [&[0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 60, 0, 22, 0, 0][..], &[0, 0, 0, 7], &[0; 16]].concat();
        let counts = [0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0];
        [&question[..2], &counts, &question[12..end], &soa].concat()
    }

    /// A server that cuts each answer over UDP short, and serves connections as `act` says; with the count of these.
    fn cutting(act: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> (PolledServer, Arc<AtomicUsize>) {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let udp = UdpSocket::bind(address).unwrap();
        thread::spawn(move || {
            let mut room = [0; 512];
            while let Ok((length, sender)) = udp.recv_from(&mut room) {
                udp.send_to(&[&room[..2], &CUT, &room[12..length]].concat(), sender).unwrap();
            }
        });
        let (connections, act) = (Arc::new(AtomicUsize::new(0)), Arc::new(act));
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in tcp.incoming() {
                counted.fetch_add(1, Ordering::SeqCst);
                let (act, mut stream) = (Arc::clone(&act), stream.unwrap());
                thread::spawn(move || act(&mut stream));
            }
        });
        let address = ServerAddress { host: "127.0.0.1".into(), port: address.port() };
        (PolledServer { address, key: None }, connections)
    }

    #[test]
    fn all_answers_that_are_cut_short_are_asked_for_over_one_connection() {
        let (server, connections) = cutting(|stream| {
            while let Some(question) = read(stream) {
                std::io::Write::write_all(stream, &framed(&[answer(&question)])).unwrap();
            }
        });
        let zones = zones(300);
        let answers = server.ask(&zones.iter().collect::<Vec<_>>(), Patience::of(Duration::from_secs(30)));
        assert_eq!(answers, vec![SerialAnswer::Serves(crate::dns::Serial(7)); 300]);
        assert_eq!(connections.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn where_tcp_is_silent_all_zones_cost_one_connection() {
        let (server, connections) = cutting(|stream| while read(stream).is_some() {});
        let zones = zones(50);
        let answers = server.ask(&zones.iter().collect::<Vec<_>>(), Patience::of(Duration::from_millis(300)));
        assert_eq!(answers, vec![SerialAnswer::Silent; 50]);
        assert_eq!(connections.load(Ordering::SeqCst), 1);
    }
}
