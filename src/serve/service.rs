//! One request to its outcome: permission, zone, answer.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::base::Message;
use domain::base::iana::{Class, Opcode, Rcode};
use domain::rdata::tsig::Time48;

use super::answer::{self, Manner, Signature};
use super::fault::{self, Fault};
use super::letters::{self, Letters};
use super::lookup::{self, Answer, Rows};
use super::tsig::{self, ServerKey};
use super::wire::{self, Question, Request};
use super::{axfr, update};
use crate::dns::{Name, Rdata, Rtype, Ttl, ZoneContents, ZoneName};
use crate::provider::memory::message::Message as Changes;
use crate::provider::memory::primary::Primary;
use crate::provider::memory::rules::Quirks;
use crate::provider::memory::zone::Zone;

/// The names at which servers say what they are, of class CH (RFC 4892 section 3.1).
const VERSION_NAMES: [&[u8]; 2] = [b"\x07version\x04bind\0", b"\x07version\x06server\0"];

/// What this one says.
const VERSION: &str = concat!("zonewright ", env!("CARGO_PKG_VERSION"));

/// How a server is to behave.
#[derive(Debug, Default)]
pub struct Options {
    /// The key that transfers and updates must be signed with; without a key they need no signature.
    pub key: Option<ServerKey>,
    /// What it does otherwise than the RFC says.
    pub quirks: Quirks,
    /// The faults of updates.
    pub faults: Vec<Fault>,
}

/// Zones, and the handling of requests about them.
#[derive(Debug)]
pub struct Service {
    /// The zones.
    primary: Primary,
    /// The key.
    key: Option<ServerKey>,
    /// The letters of records that updates added.
    letters: Letters,
    /// How many updates came that could be read and were signed as they must be.
    updates: AtomicU64,
    /// How many of them were answered with NOERROR.
    done: AtomicU64,
    /// How many zones were transferred.
    transfers: AtomicU64,
}

/// What a server did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Updates that came, could be read, and were signed as they must be.
    pub updates: u64,
    /// Those of them that were answered with NOERROR.
    pub done: u64,
    /// Zones that were transferred.
    pub transfers: u64,
}

/// How a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// In a datagram.
    Udp,
    /// Over a connection.
    Tcp,
}

/// The outcome of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is answered by these messages; by none if it was not a request.
    Answered(Vec<Vec<u8>>),
    /// It is not answered, and its connection ends.
    Dropped,
}

/// A request as its shape is, and as the library has it, to begin the answer with.
struct Exchange<'m> {
    /// Its shape.
    request: &'m Request<'m>,
    /// The message without its signature.
    message: &'m Message<Vec<u8>>,
    /// How it is to be answered.
    manner: Manner,
}

impl Exchange<'_> {
    /// Answers.
    fn answer(self, answer: &Answer) -> Outcome {
        Outcome::Answered(vec![answer::compose(self.message, answer, self.manner)])
    }
}

impl Service {
    /// Serves these zones.
    pub fn new(zones: &[ZoneContents], options: Options) -> Service {
        let Options { key, quirks, faults } = options;
        let primary = Primary::new(zones.iter().map(Zone::of)).with_quirks(quirks);
        primary.decide(fault::script(&faults));
        let count = || AtomicU64::new(0);
        Service { primary, key, letters: Letters::default(), updates: count(), done: count(), transfers: count() }
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts { updates: read(&self.updates), done: read(&self.done), transfers: read(&self.transfers) }
    }

    /// Deals with one request.
    pub fn handle(&self, octets: &[u8], transport: Transport) -> Outcome {
        let nothing = Outcome::Answered(Vec::new());
        let Ok(mut message) = Message::from_octets(octets.to_vec()) else { return nothing };
        let request = match Request::parse(octets) {
            Ok(request) => request,
            Err(wire::Fault::NoRequest) => return nothing,
            Err(wire::Fault::Malformed) => return Outcome::Answered(vec![answer::malformed(&message)]),
        };
        let signature =
            if request.is_signed { tsig::check(self.key.as_ref(), &mut message, Time48::now()) } else { Ok(None) };
        let signature = match signature {
            Ok(signature) => signature,
            Err(refusal) => return Outcome::Answered(vec![refusal]),
        };
        let manner = Manner { signature, edns: request.edns, is_udp: transport == Transport::Udp };
        self.act(Exchange { request: &request, message: &message, manner })
    }

    /// Handles a request, which has a good signature or none.
    fn act(&self, exchange: Exchange<'_>) -> Outcome {
        let request = exchange.request;
        match (request.opcode, &request.questions[..]) {
            // The answer to another version of EDNS says so by itself (RFC 6891 section 6.1.3).
            _ if request.edns.is_some_and(|edns| edns.version > 0) => exchange.answer(&Answer::bare(Rcode::NOERROR)),
            (Opcode::QUERY, [question]) if question.qtype == Rtype::AXFR => self.transfer(question, exchange),
            (Opcode::QUERY, [question]) => exchange.answer(&self.query(question)),
            (Opcode::QUERY, _) => exchange.answer(&Answer::bare(Rcode::FORMERR)),
            (Opcode::UPDATE, _) => match self.update(request, exchange.manner.signature.as_ref()) {
                Some(rcode) => exchange.answer(&Answer::bare(rcode)),
                None => Outcome::Dropped,
            },
            _ => exchange.answer(&Answer::bare(Rcode::NOTIMP)),
        }
    }

    /// Whether the sender may transfer and update.
    fn may(&self, signature: Option<&Signature>) -> bool {
        self.key.is_none() || signature.is_some()
    }

    /// Answers a question.
    fn query(&self, question: &Question) -> Answer {
        let Question { name, qtype, qclass } = question;
        match *qclass {
            Class::CH => version(name, *qtype),
            Class::IN if *qtype == Rtype::IXFR => Answer::bare(Rcode::NOTIMP),
            Class::IN => self.look(name, *qtype).unwrap_or(Answer::bare(Rcode::REFUSED)),
            _ => Answer::bare(Rcode::REFUSED),
        }
    }

    /// Answers a question from the zone nearest above its name; `None` where there is none.
    fn look(&self, name: &Name, qtype: Rtype) -> Option<Answer> {
        let above = |skipped| {
            let mut names = name.as_name().ancestors().skip(skipped);
            names.find_map(|apex| {
                let zone = ZoneName::new(apex.to_name());
                self.primary.with_zone(&zone, |zone| lookup::find(zone, name.as_name(), qtype))
            })
        };
        // The DS of a zone is in the zone above it, if that is here as well (RFC 4035 section 3.1.4.1).
        let from_above = if qtype == Rtype::DS { above(1) } else { None };
        let mut answer = from_above.or_else(|| above(0))?;
        self.letters.restore(&mut answer);
        Some(answer)
    }

    /// Transfers a zone.
    fn transfer(&self, question: &Question, exchange: Exchange<'_>) -> Outcome {
        let zone = ZoneName::new(question.name.clone());
        let refusal = match () {
            // A transfer has no place in datagrams (RFC 5936 section 4.2).
            () if exchange.manner.is_udp => Rcode::FORMERR,
            () if !self.may(exchange.manner.signature.as_ref()) => Rcode::REFUSED,
            () if question.qclass != Class::IN => Rcode::NOTAUTH,
            () => {
                let signature = exchange.manner.signature.clone();
                let letters = self.letters.held();
                let made =
                    self.primary.with_zone(&zone, |zone| axfr::messages(exchange.message, (zone, &letters), signature));
                if let Some(messages) = made {
                    self.transfers.fetch_add(1, Ordering::Relaxed);
                    return Outcome::Answered(messages);
                }
                Rcode::NOTAUTH
            }
        };
        exchange.answer(&Answer::bare(refusal))
    }

    /// Does an update; returns the answer, if its sender gets one.
    fn update(&self, request: &Request<'_>, signature: Option<&Signature>) -> Option<Rcode> {
        let zone = match update::zone(request) {
            Ok(zone) if self.primary.with_zone(&zone, |_| ()).is_some() => zone,
            Ok(_) => return Some(Rcode::NOTAUTH),
            Err(rcode) => return Some(rcode),
        };
        if !self.may(signature) {
            return Some(Rcode::REFUSED);
        }
        let update = update::read(request, zone);
        if let Some(fault) = update.fault {
            return Some(self.check(&update.message).unwrap_or(fault));
        }
        self.updates.fetch_add(1, Ordering::Relaxed);
        let of_zone = |zone: &Zone| letters::of_update(request, &update, zone);
        let added = self.primary.with_zone(&update.message.zone, of_zone).unwrap_or_default();
        let rcode = self.primary.deliver(&update.message);
        if rcode == Some(Rcode::NOERROR) {
            self.letters.take(added);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        rcode
    }

    /// The answer to an update that is malformed after its prerequisites: which of these failed, if one did.
    fn check(&self, message: &Changes) -> Option<Rcode> {
        Some(self.primary.update(message)).filter(|rcode| *rcode != Rcode::NOERROR)
    }
}

/// Says what this server is.
fn version(name: &Name, qtype: Rtype) -> Answer {
    if !VERSION_NAMES.contains(&name.as_wire()) || qtype != Rtype::TXT {
        return Answer::bare(Rcode::REFUSED);
    }
    let rdata = Rdata::from_text(VERSION).expect("it is short");
    let ttl = Ttl::from_wire(0);
    let rows = Rows { owner: name.clone(), rtype: Rtype::TXT, class: Class::CH, ttl, rdata: vec![rdata] };
    Answer { is_authoritative: true, answer: vec![rows], ..Answer::bare(Rcode::NOERROR) }
}
