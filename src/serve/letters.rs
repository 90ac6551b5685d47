//! The capitals of names in the data of records that updates added.
//!
//! Zones hold names in lower case. BIND answers with the letters that a record was added with, and so do answers here.
//! Records that zones had from the start have lost theirs.
//!
//! Source: measured with BIND 9.18.49. A record that is there already keeps its letters, unless the same update deletes
//! it or its TTL is another; the serial does not move for letters alone.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use super::lookup::LookupAnswer;
use super::update::ReadableUpdate;
use super::wire::DnsRequest;
use crate::dns::{Name, Rdata, Rtype};
use crate::parallel::HELD;
use crate::provider::memory::message::UpdateInstruction;
use crate::provider::memory::zone::MemoryZone;

/// Owner name, type and canonical data of a record.
type RecordKey = (Name, Rtype, Rdata);

/// The data of records as they were written, where letters differ.
pub type WrittenRdata = HashMap<RecordKey, Rdata>;

/// The letters that are known.
#[derive(Debug, Default)]
pub struct KnownLetters(Mutex<WrittenRdata>);

impl KnownLetters {
    /// The letters, which stay as they are meanwhile.
    pub fn held(&self) -> MutexGuard<'_, WrittenRdata> {
        self.0.lock().expect(HELD)
    }

    /// Takes the letters of the records that an update added.
    pub fn take(&self, added: Vec<(RecordKey, Rdata)>) {
        let mut held = self.held();
        for (record, written) in added {
            if written == record.2 {
                held.remove(&record);
            } else {
                held.insert(record, written);
            }
        }
    }

    /// Gives the data of an answer the letters that they were written with.
    pub fn restore(&self, answer: &mut LookupAnswer) {
        let held = self.held();
        if held.is_empty() {
            return;
        }
        for rows in [&mut answer.answer, &mut answer.authority, &mut answer.additional].into_iter().flatten() {
            for rdata in &mut rows.rdata {
                let record = (rows.owner.clone(), rows.rtype, rdata.clone());
                if let Some(written) = held.get(&record) {
                    *rdata = written.clone();
                }
            }
        }
    }
}

/// The records of which an update of this zone gives the letters, with these.
pub fn of_update(request: &DnsRequest<'_>, update: &ReadableUpdate, zone: &MemoryZone) -> Vec<(RecordKey, Rdata)> {
    let instructions = &update.message.instructions;
    let is_deleted = |record: &RecordKey| {
        instructions.iter().any(|instruction| match instruction {
            UpdateInstruction::Add(..) => false,
            UpdateInstruction::DeleteName(name) => *name == record.0,
            UpdateInstruction::DeleteRrset(name, rtype) => (name, *rtype) == (&record.0, record.1),
            UpdateInstruction::DeleteRecord(name, rtype, rdata) => {
                (name, *rtype, rdata) == (&record.0, record.1, &record.2)
            }
        })
    };
    let mut added = Vec::new();
    for (instruction, row) in instructions.iter().zip(&request.authority) {
        let UpdateInstruction::Add(name, rtype, ttl, rdata) = instruction else { continue };
        let record = (name.clone(), *rtype, rdata.clone());
        let rrset = zone.rrset(name.as_name(), *rtype);
        let is_there = rrset.is_some_and(|rrset| rrset.ttl() == *ttl && rrset.rdata().contains(rdata));
        if (!is_there || is_deleted(&record))
            && let Ok(written) = request.written(row)
        {
            added.push((record, written));
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::super::service::{RequestOutcome, RequestTransport, Service, ServiceOptions};
    use super::*;
    use crate::dns::ZoneName;

    /// The class that means "any data".
    const ANY: u16 = 255;

    /// The class that means "without these data".
    const NONE: u16 = 254;

    /// The class of records that are added.
    const IN: u16 = 1;

    /// Sends a message of class IN with these records, each of class, TTL and PTR, in its third section.
    fn send(service: &Service, (opcode, name, qtype): (u8, &[u8], u8), updates: &[(u16, u32, &[u8])]) -> Vec<u8> {
        let mut octets = vec![0, 7, opcode << 3, 0, 0, 1, 0, 0, 0, updates.len() as u8, 0, 0];
        octets.extend_from_slice(name);
        octets.extend_from_slice(&[0, qtype, 0, 1]);
        for (class, ttl, rdata) in updates {
            octets.extend_from_slice(b"\x01p\x01z\0\0\x0c");
            octets.extend_from_slice(&class.to_be_bytes());
            octets.extend_from_slice(&ttl.to_be_bytes());
            octets.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
            octets.extend_from_slice(rdata);
        }
        match service.handle(&octets, RequestTransport::Tcp) {
            RequestOutcome::Answered(messages) => messages.concat(),
            RequestOutcome::Dropped => panic!("no fault is ordered"),
        }
    }

    #[test]
    fn a_record_that_is_added_again_takes_the_new_letters() {
        let zone = ZoneName::new(Name::parse("z.").unwrap());
        let text = b"$TTL 60\n@ SOA a b 1 2 3 4 5\n@ NS a\n".to_vec();
        let contents = crate::provider::parse_text(&zone, "test", text).unwrap();
        let service = Service::new(&[contents], ServiceOptions::default());
        let update = |updates: &[(u16, u32, &[u8])]| {
            let answer = send(&service, (5, b"\x01z\0", 6), updates);
            assert_eq!(answer[3] & 0x0f, 0);
        };
        // Both the answer to a question and a transfer have the letters.
        let has = |name: &[u8]| {
            let asked = send(&service, (0, b"\x01p\x01z\0", 12), &[]);
            let transferred = send(&service, (0, b"\x01z\0", 252), &[]);
            let [asked, transferred] =
                [asked, transferred].map(|octets| octets.windows(name.len()).any(|at| at == name));
            assert_eq!(asked, transferred);
            asked
        };
        let (first, second): (&[u8], &[u8]) = (b"\x01A\x01z\0", b"\x01a\x01Z\0");
        update(&[(IN, 60, first)]);
        assert!(has(first));
        // As long as it is there with this TTL, nothing changes.
        update(&[(IN, 60, second)]);
        assert!(has(first) && !has(second));
        for deleted in [(ANY, 0, &b""[..]), (NONE, 0, b"\x01a\x01z\0")] {
            update(&[(ANY, 0, b""), (IN, 60, first)]);
            assert!(has(first));
            update(&[deleted, (IN, 60, second)]);
            assert!(has(second) && !has(first));
        }
        update(&[(IN, 61, first)]);
        assert!(has(first) && !has(second));
        update(&[(ANY, 0, b""), (IN, 61, b"\x01a\x01z\0")]);
        assert!(has(b"\x01a\x01z\0") && !has(first));
    }
}
