//! Updates: what a request says must hold, and is to be done. Pure.
//!
//! Source: RFC 2136 sections 3.1 to 3.4.1.

use domain::base::iana::{Class, Rcode};

use super::wire::{DnsRequest, RequestRecord};
use crate::dns::{Rtype, Ttl, ZoneName, is_zone_data};
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage, UpdatePrerequisite};

/// The readable part of an update.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadableUpdate {
    /// What comes before the first fault in it.
    pub message: UpdateMessage,
    /// What the fault is to be answered with, where there is one: unless a prerequisite before it fails.
    pub fault: Option<Rcode>,
}

/// The zone that a request is to change.
///
/// Errors: FORMERR where it does not name one, NOTAUTH where it is of a class that nothing here is of (section 3.1).
pub fn zone(request: &DnsRequest<'_>) -> Result<ZoneName, Rcode> {
    match &request.questions[..] {
        [zone] if zone.qtype != Rtype::SOA => Err(Rcode::FORMERR),
        [zone] if zone.qclass != Class::IN => Err(Rcode::NOTAUTH),
        [zone] => Ok(ZoneName::new(zone.name.clone())),
        _ => Err(Rcode::FORMERR),
    }
}

/// Reads prerequisites and updates of a zone.
pub fn read(request: &DnsRequest<'_>, zone: ZoneName) -> ReadableUpdate {
    let mut message = UpdateMessage { zone, prerequisites: Vec::new(), instructions: Vec::new() };
    for record in &request.answer {
        match prerequisite(request, record) {
            Ok(prerequisite) => message.prerequisites.push(prerequisite),
            Err(rcode) => {
                // Values are compared when all of the section is read (section 3.2.3).
                message.prerequisites.retain(|known| !matches!(known, UpdatePrerequisite::Holds(..)));
                return ReadableUpdate { message, fault: Some(rcode) };
            }
        }
    }
    for record in &request.authority {
        // The records are judged one by one, each by its owner name first (section 3.4.1.3).
        let judged = if record.owner.as_name().is_at_or_below(message.zone.as_name()) {
            instruction(request, record)
        } else {
            Err(Rcode::NOTZONE)
        };
        match judged {
            Ok(instruction) => message.instructions.push(instruction),
            Err(rcode) => {
                message.instructions.clear();
                return ReadableUpdate { message, fault: Some(rcode) };
            }
        }
    }
    ReadableUpdate { message, fault: None }
}

/// Reads a prerequisite (section 3.2).
fn prerequisite(request: &DnsRequest<'_>, record: &RequestRecord) -> Result<UpdatePrerequisite, Rcode> {
    let RequestRecord { owner, rtype, class, ttl, .. } = record;
    if *ttl != 0 {
        return Err(Rcode::FORMERR);
    }
    let (name, rtype) = (owner.clone(), *rtype);
    match *class {
        Class::IN => Ok(UpdatePrerequisite::Holds(name, rtype, request.rdata(record).map_err(|_| Rcode::FORMERR)?)),
        _ if !record.is_empty() => Err(Rcode::FORMERR),
        Class::ANY if rtype == Rtype::ANY => Ok(UpdatePrerequisite::InUse(name)),
        Class::ANY => Ok(UpdatePrerequisite::Exists(name, rtype)),
        Class::NONE if rtype == Rtype::ANY => Ok(UpdatePrerequisite::NotInUse(name)),
        Class::NONE => Ok(UpdatePrerequisite::Absent(name, rtype)),
        _ => Err(Rcode::FORMERR),
    }
}

/// Reads what is to be done with a record or RRset (section 3.4.1).
fn instruction(request: &DnsRequest<'_>, record: &RequestRecord) -> Result<UpdateInstruction, Rcode> {
    let RequestRecord { owner, rtype, class, ttl, .. } = record;
    let (name, rtype) = (owner.clone(), *rtype);
    let is_data = is_zone_data(rtype);
    let rdata = || request.rdata(record).map_err(|_| Rcode::FORMERR);
    match *class {
        Class::IN if is_data => Ok(UpdateInstruction::Add(name, rtype, Ttl::from_wire(*ttl), rdata()?)),
        Class::ANY if *ttl != 0 || !record.is_empty() => Err(Rcode::FORMERR),
        Class::ANY if rtype == Rtype::ANY => Ok(UpdateInstruction::DeleteName(name)),
        Class::ANY if is_data => Ok(UpdateInstruction::DeleteRrset(name, rtype)),
        Class::NONE if *ttl == 0 && is_data => Ok(UpdateInstruction::DeleteRecord(name, rtype, rdata()?)),
        _ => Err(Rcode::FORMERR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Rdata};

    /// The class that means "any data", and the one that means "none".
    const ANY: u16 = 255;
    /// See [`ANY`].
    const NONE: u16 = 254;

    /// A record: owner, type, class, TTL, RDATA.
    type Rr<'a> = (&'a str, u16, u16, u32, &'a [u8]);

    /// An update of `z.` with these prerequisites and updates.
    fn message(prerequisites: &[Rr<'_>], updates: &[Rr<'_>]) -> Vec<u8> {
        let mut octets = vec![0, 7, 5 << 3, 0, 0, 1, 0, prerequisites.len() as u8, 0, updates.len() as u8, 0, 0];
        octets.extend_from_slice(b"\x01Z\0\0\x06\0\x01");
        for (owner, rtype, class, ttl, rdata) in prerequisites.iter().chain(updates) {
            octets.extend_from_slice(Name::parse(owner).unwrap().as_wire());
            octets.extend_from_slice(&rtype.to_be_bytes());
            octets.extend_from_slice(&class.to_be_bytes());
            octets.extend_from_slice(&ttl.to_be_bytes());
            octets.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
            octets.extend_from_slice(rdata);
        }
        octets
    }

    /// The result of an update of `z.`.
    fn update(prerequisites: &[Rr<'_>], updates: &[Rr<'_>]) -> ReadableUpdate {
        let octets = message(prerequisites, updates);
        let request = DnsRequest::parse(&octets).unwrap();
        let zone = zone(&request).unwrap();
        assert_eq!(zone.to_string(), "z.");
        read(&request, zone)
    }

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn the_five_prerequisites_and_the_four_instructions() {
        let unknown = Rtype::from_int(65_280);
        let update = update(
            &[
                ("a.z", 255, ANY, 0, b""),
                ("b.z", 255, NONE, 0, b""),
                ("A.Z", 1, ANY, 0, b""),
                ("b.z", 65_280, NONE, 0, b""),
                ("a.z", 1, 1, 0, b"\xc0\0\x02\x01"),
            ],
            &[
                ("b.z", 65_280, 1, 60, b"\0\xff"),
                ("a.z", 1, ANY, 0, b""),
                ("c.z", 255, ANY, 0, b""),
                ("d.z", 12, NONE, 0, b"\x01X\0"),
            ],
        );
        let address = Rdata::parse(Rtype::A, "192.0.2.1").unwrap();
        let pointer = Rdata::parse(Rtype::PTR, "x.").unwrap();
        let octets = crate::dns::RdataRef { rtype: unknown, octets: b"\0\xff" }.to_rdata();
        assert_eq!(update.fault, None);
        assert_eq!(
            update.message.prerequisites,
            [
                UpdatePrerequisite::InUse(name("a.z")),
                UpdatePrerequisite::NotInUse(name("b.z")),
                UpdatePrerequisite::Exists(name("a.z"), Rtype::A),
                UpdatePrerequisite::Absent(name("b.z"), unknown),
                UpdatePrerequisite::Holds(name("a.z"), Rtype::A, address),
            ]
        );
        assert_eq!(
            update.message.instructions,
            [
                UpdateInstruction::Add(name("b.z"), unknown, Ttl::from_secs(60).unwrap(), octets),
                UpdateInstruction::DeleteRrset(name("a.z"), Rtype::A),
                UpdateInstruction::DeleteName(name("c.z")),
                UpdateInstruction::DeleteRecord(name("d.z"), Rtype::PTR, pointer),
            ]
        );
    }

    #[test]
    fn a_zone_is_one_soa_of_class_in() {
        let whole = message(&[], &[]);
        let zone_of = |octets: &[u8]| zone(&DnsRequest::parse(octets).unwrap());
        let changed = |at: usize, to: u8| {
            let mut octets = whole.clone();
            octets[at] = to;
            octets
        };
        assert_eq!(zone_of(&changed(16, 1)), Err(Rcode::FORMERR));
        assert_eq!(zone_of(&changed(18, 3)), Err(Rcode::NOTAUTH));
        assert_eq!(zone_of(&[0, 7, 5 << 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Err(Rcode::FORMERR));
    }

    #[test]
    fn fields_that_must_be_zero_are_looked_at() {
        for prerequisite in [
            ("a.z", 1, ANY, 1, &b""[..]),
            ("a.z", 1, ANY, 0, b"\xc0\0\x02\x01"),
            ("a.z", 1, NONE, 0, b"\xc0\0\x02\x01"),
            ("a.z", 1, 1, 1, b"\xc0\0\x02\x01"),
            ("a.z", 1, 1, 0, b"\xc0\0\x02"),
            ("a.z", 1, 3, 0, b""),
        ] {
            assert_eq!(update(&[prerequisite], &[]).fault, Some(Rcode::FORMERR), "{prerequisite:?}");
        }
        for instruction in [
            ("a.z", 1, ANY, 1, &b""[..]),
            ("a.z", 1, ANY, 0, b"\xc0\0\x02\x01"),
            ("a.z", 252, ANY, 0, b""),
            ("a.z", 255, NONE, 0, b""),
            ("a.z", 1, NONE, 1, b"\xc0\0\x02\x01"),
            ("a.z", 255, 1, 60, b""),
            ("a.z", 1, 1, 60, b""),
            ("a.z", 1, 3, 0, b""),
        ] {
            assert_eq!(update(&[], &[instruction]).fault, Some(Rcode::FORMERR), "{instruction:?}");
        }
    }

    #[test]
    fn what_comes_before_a_fault_is_judged_before_it() {
        let bad = ("a.z", 1, ANY, 1, &b""[..]);
        let address = b"\xc0\0\x02\x01";
        let found = update(&[("a.z", 1, 1, 0, address), ("b.z", 255, ANY, 0, b""), bad], &[]);
        assert_eq!(found.message.prerequisites, [UpdatePrerequisite::InUse(name("b.z"))]);
        let found = update(&[("a.z", 1, 1, 0, address)], &[("a.z", 1, 1, 60, address), ("q.", 1, 1, 60, address), bad]);
        assert_eq!(found.fault, Some(Rcode::NOTZONE));
        assert_eq!(found.message.prerequisites.len(), 1);
        assert!(found.message.instructions.is_empty());
    }
}
