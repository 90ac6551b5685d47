//! One request to its outcome: permission, zone, answer.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::base::Message;
use domain::base::iana::{Class, Opcode, Rcode};
use domain::rdata::tsig::Time48;

use super::answer::{self, AnswerManner, AnswerSignature};
use super::fault::{self, TrialFault};
use super::letters::{self, KnownLetters};
use super::lookup::{self, AnswerRrset, LookupAnswer};
use super::tsig::{self, ServerKey};
use super::wire::{self, DnsRequest, RequestQuestion};
use super::{axfr, update};
use crate::dns::{Name, Rdata, Rtype, Ttl, ZoneContents, ZoneName};
use crate::provider::memory::message::UpdateMessage;
use crate::provider::memory::primary::MemoryPrimary;
use crate::provider::memory::rules::PrimaryQuirks;
use crate::provider::memory::zone::MemoryZone;

/// The names at which servers say what they are, of class CH (RFC 4892 section 3.1).
const VERSION_NAMES: [&[u8]; 2] = [b"\x07version\x04bind\0", b"\x07version\x06server\0"];

/// What this one says.
const VERSION: &str = concat!("zonewright ", env!("CARGO_PKG_VERSION"));

/// How a server is to behave.
#[derive(Debug, Default)]
pub struct ServiceOptions {
    /// The key that transfers and updates must be signed with; without a key they need no signature.
    pub key: Option<ServerKey>,
    /// What it does otherwise than the RFC says.
    pub quirks: PrimaryQuirks,
    /// The faults of updates.
    pub faults: Vec<TrialFault>,
}

/// Zones, and the handling of requests about them.
#[derive(Debug)]
pub struct Service {
    /// The zones.
    primary: MemoryPrimary,
    /// The key.
    key: Option<ServerKey>,
    /// The letters of records that updates added.
    letters: KnownLetters,
    /// How many updates came that could be read and were signed as they must be.
    updates: AtomicU64,
    /// How many of them were answered with NOERROR.
    done: AtomicU64,
    /// How many zones were transferred.
    transfers: AtomicU64,
}

/// What a server did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceCounts {
    /// Updates that came, could be read, and were signed as they must be.
    pub updates: u64,
    /// Those of them that were answered with NOERROR.
    pub done: u64,
    /// Zones that were transferred.
    pub transfers: u64,
}

/// How a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestTransport {
    /// In a datagram.
    Udp,
    /// Over a connection.
    Tcp,
}

/// The outcome of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It is answered by these messages; by none if it was not a request.
    Answered(Vec<Vec<u8>>),
    /// It is not answered, and its connection ends.
    Dropped,
}

/// A request as its shape is, and as the library has it, to begin the answer with.
struct RequestExchange<'m> {
    /// Its shape.
    request: &'m DnsRequest<'m>,
    /// The message without its signature.
    message: &'m Message<Vec<u8>>,
    /// How it is to be answered.
    manner: AnswerManner,
}

impl RequestExchange<'_> {
    /// Answers.
    fn answer(self, answer: &LookupAnswer) -> RequestOutcome {
        RequestOutcome::Answered(vec![answer::compose(self.message, answer, self.manner)])
    }
}

impl Service {
    /// Serves these zones.
    pub fn new(zones: &[ZoneContents], options: ServiceOptions) -> Service {
        let ServiceOptions { key, quirks, faults } = options;
        let primary = MemoryPrimary::new(zones.iter().map(MemoryZone::of)).with_quirks(quirks);
        primary.decide(fault::script(&faults));
        let count = || AtomicU64::new(0);
        Service { primary, key, letters: KnownLetters::default(), updates: count(), done: count(), transfers: count() }
    }

    /// What it did so far.
    pub fn counts(&self) -> ServiceCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ServiceCounts { updates: read(&self.updates), done: read(&self.done), transfers: read(&self.transfers) }
    }

    /// Deals with one request.
    pub fn handle(&self, octets: &[u8], transport: RequestTransport) -> RequestOutcome {
        let nothing = RequestOutcome::Answered(Vec::new());
        let Ok(mut message) = Message::from_octets(octets.to_vec()) else { return nothing };
        let request = match DnsRequest::parse(octets) {
            Ok(request) => request,
            Err(wire::MessageFault::NoRequest) => return nothing,
            Err(wire::MessageFault::Malformed) => return RequestOutcome::Answered(vec![answer::malformed(&message)]),
        };
        let signature =
            if request.is_signed { tsig::check(self.key.as_ref(), &mut message, Time48::now()) } else { Ok(None) };
        let signature = match signature {
            Ok(signature) => signature,
            Err(refusal) => return RequestOutcome::Answered(vec![refusal]),
        };
        let manner = AnswerManner { signature, edns: request.edns, is_udp: transport == RequestTransport::Udp };
        self.act(RequestExchange { request: &request, message: &message, manner })
    }

    /// Handles a request, which has a good signature or none.
    fn act(&self, exchange: RequestExchange<'_>) -> RequestOutcome {
        let request = exchange.request;
        match (request.opcode, &request.questions[..]) {
            // The answer to another version of EDNS says so by itself (RFC 6891 section 6.1.3).
            _ if request.edns.is_some_and(|edns| edns.version > 0) => {
                exchange.answer(&LookupAnswer::bare(Rcode::NOERROR))
            }
            (Opcode::QUERY, [question]) if question.qtype == Rtype::AXFR => self.transfer(question, exchange),
            (Opcode::QUERY, [question]) => exchange.answer(&self.query(question)),
            (Opcode::QUERY, _) => exchange.answer(&LookupAnswer::bare(Rcode::FORMERR)),
            (Opcode::UPDATE, _) => match self.update(request, exchange.manner.signature.as_ref()) {
                Some(rcode) => exchange.answer(&LookupAnswer::bare(rcode)),
                None => RequestOutcome::Dropped,
            },
            _ => exchange.answer(&LookupAnswer::bare(Rcode::NOTIMP)),
        }
    }

    /// Whether the sender may transfer and update.
    fn may(&self, signature: Option<&AnswerSignature>) -> bool {
        self.key.is_none() || signature.is_some()
    }

    /// Answers a question.
    fn query(&self, question: &RequestQuestion) -> LookupAnswer {
        let RequestQuestion { name, qtype, qclass } = question;
        match *qclass {
            Class::CH => version(name, *qtype),
            Class::IN if *qtype == Rtype::IXFR => LookupAnswer::bare(Rcode::NOTIMP),
            Class::IN => self.look(name, *qtype).unwrap_or(LookupAnswer::bare(Rcode::REFUSED)),
            _ => LookupAnswer::bare(Rcode::REFUSED),
        }
    }

    /// Answers a question from the zone nearest above its name; `None` where there is none.
    fn look(&self, name: &Name, qtype: Rtype) -> Option<LookupAnswer> {
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
    fn transfer(&self, question: &RequestQuestion, exchange: RequestExchange<'_>) -> RequestOutcome {
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
                    self.primary.with_zone(&zone, |zone| axfr::messages(exchange.message, zone, &letters, signature));
                if let Some(messages) = made {
                    self.transfers.fetch_add(1, Ordering::Relaxed);
                    return RequestOutcome::Answered(messages);
                }
                Rcode::NOTAUTH
            }
        };
        exchange.answer(&LookupAnswer::bare(refusal))
    }

    /// Does an update; returns the answer, if its sender gets one.
    fn update(&self, request: &DnsRequest<'_>, signature: Option<&AnswerSignature>) -> Option<Rcode> {
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
        let of_zone = |zone: &MemoryZone| letters::of_update(request, &update, zone);
        let added = self.primary.with_zone(&update.message.zone, of_zone).unwrap_or_default();
        let rcode = self.primary.deliver(&update.message);
        if rcode == Some(Rcode::NOERROR) {
            self.letters.take(added);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        rcode
    }

    /// The answer to an update that is malformed after its prerequisites: which of these failed, if one did.
    fn check(&self, message: &UpdateMessage) -> Option<Rcode> {
        Some(self.primary.update(message)).filter(|rcode| *rcode != Rcode::NOERROR)
    }
}

/// Says what this server is.
fn version(name: &Name, qtype: Rtype) -> LookupAnswer {
    if !VERSION_NAMES.contains(&name.as_wire()) || qtype != Rtype::TXT {
        return LookupAnswer::bare(Rcode::REFUSED);
    }
    let rdata = Rdata::from_text(VERSION).expect("it is short");
    let ttl = Ttl::from_wire(0);
    let rows = AnswerRrset { owner: name.clone(), rtype: Rtype::TXT, class: Class::CH, ttl, rdata: vec![rdata] };
    LookupAnswer { is_authoritative: true, answer: vec![rows], ..LookupAnswer::bare(Rcode::NOERROR) }
}
