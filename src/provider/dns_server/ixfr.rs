//! Incremental transfers without their input and output: the old zone and messages in, the new zone or an error out.
//!
//! Comes in: the known zone, and the messages of one connection, in order. Goes out: its new contents, once the stream
//! is proven whole as that of a whole transfer is (`stream`), and every difference fits: it begins with the SOA that
//! the one before ended with, each record that it removes is there exactly so, and no record that it adds is. A server
//! may answer with the whole zone instead, or with its SOA alone where nothing changed. Everything else is an error,
//! and the caller then transfers the whole zone. UDP is not used, since its answers may be cut.
//!
//! Source: RFC 1995 sections 2 to 4; RFC 1982 for serials.

use std::sync::Arc;

use domain::base::iana::Class;
use domain::base::name::Name as LibraryName;
use domain::base::rdata::UnknownRecordData;
use domain::rdata::tsig::Time48;
use domain::tsig::Key;

use super::axfr::ZoneTransfer;
use super::failure::{ServerFailure, TransferProgress};
use super::message::{self, HEADER, MessageHeader, RecordHead, bad, read_record};
use super::stream::{self, AnswerStream};
use crate::dns::{EditContradiction, NameBuffer, RdataRef, Rtype, Ttl, WireOctets, ZoneContents, ZoneEdits};

/// The transfer of what changed in one zone.
pub struct IncrementalTransfer<'a> {
    /// The zone as it was.
    base: &'a ZoneContents,
    /// How far it is; none only while a message is being taken.
    state: Option<IncrementState<'a>>,
    /// How much has come.
    progress: TransferProgress,
}

/// How far an incremental transfer is.
enum IncrementState<'a> {
    /// No message has arrived yet, or only one that does not show the form of the answer: the SOA alone.
    Asked(Box<AnswerStream>, Option<Vec<u8>>),
    /// The server sends the whole zone.
    Whole(Box<ZoneTransfer>),
    /// The server sends differences.
    Differences(Box<IncomingDifferences<'a>>),
}

/// The outcome of an incremental transfer.
#[derive(Debug)]
pub enum IncrementOutcome {
    /// Nothing changed.
    Unmoved,
    /// The zone as it is, by its differences; with how many records went and came.
    Changed(Box<ZoneContents>, usize),
    /// The zone as it is, sent whole.
    Whole(Box<ZoneContents>),
}

/// Which form the answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    /// It is not known yet.
    Unclear,
    /// The whole zone, or an error.
    Whole,
    /// Differences, or the SOA that is known.
    Differences,
}

impl<'a> IncrementalTransfer<'a> {
    /// Starts: gives the question to send, signed at the time `now` where there is a key.
    pub fn start(
        base: &'a ZoneContents,
        key: Option<Arc<Key>>,
        id: u16,
        now: Time48,
    ) -> (IncrementalTransfer<'a>, Vec<u8>) {
        let apex = base.apex().as_name();
        let soa = Soa::of(base);
        let rdata = UnknownRecordData::from_octets(Rtype::SOA, soa.rdata.as_slice()).expect("RDATA fit");
        let name = LibraryName::from_octets(apex.as_wire()).expect("names are wire format");
        let mut question = message::question(apex, Rtype::IXFR, id).authority();
        question.push((name, Class::IN, soa.ttl.as_secs(), rdata)).expect("a SOA fits");
        let (stream, question) = AnswerStream::start(question.additional(), Rtype::IXFR, key, now);
        let state = Some(IncrementState::Asked(Box::new(stream), None));
        (IncrementalTransfer { base, state, progress: TransferProgress::default() }, question)
    }

    /// How much has come.
    pub fn progress(&self) -> TransferProgress {
        self.progress
    }

    /// Whether the last message has come.
    pub fn ended(&self) -> bool {
        match &self.state {
            Some(IncrementState::Whole(transfer)) => transfer.ended(),
            Some(IncrementState::Differences(differences)) => differences.phase == DifferencePhase::Ended,
            Some(IncrementState::Asked(..)) | None => false,
        }
    }

    /// Whether all that came is a SOA which is not the known one, so that more must follow at once.
    pub fn is_unclear(&self) -> bool {
        matches!(self.state, Some(IncrementState::Asked(_, Some(_))))
    }

    /// Takes the next message, which came at the time `now`; leaves `message` as room for another.
    pub fn accept(&mut self, message: &mut Vec<u8>, now: Time48) -> Result<(), ServerFailure> {
        let state = self.state.take().ok_or_else(|| bad("a message after one that is wrong"))?;
        let state = match state {
            IncrementState::Asked(stream, held) => match form(message, self.base, held.is_some()) {
                AnswerForm::Unclear => IncrementState::Asked(stream, Some(std::mem::take(message))),
                form => {
                    let mut begun = match form {
                        AnswerForm::Differences => {
                            IncrementState::Differences(Box::new(IncomingDifferences::new(self.base, *stream)))
                        }
                        _ => IncrementState::Whole(Box::new(ZoneTransfer::of(self.base.apex(), *stream))),
                    };
                    if let Some(mut held) = held {
                        begun.accept(&mut held, now)?;
                    }
                    begun.accept(message, now)?;
                    begun
                }
            },
            mut begun => {
                begun.accept(message, now)?;
                begun
            }
        };
        self.progress = state.progress();
        self.state = Some(state);
        Ok(())
    }

    /// The zone, if all of it came.
    pub fn finish(self) -> Result<IncrementOutcome, ServerFailure> {
        match self.state {
            Some(IncrementState::Whole(transfer)) => Ok(IncrementOutcome::Whole(Box::new(transfer.finish()?))),
            Some(IncrementState::Differences(differences)) => differences.finish(),
            Some(IncrementState::Asked(..)) | None => Err(ServerFailure::Cut { progress: self.progress }),
        }
    }
}

impl IncrementState<'_> {
    /// Takes a message once the form is known.
    fn accept(&mut self, message: &mut Vec<u8>, now: Time48) -> Result<(), ServerFailure> {
        match self {
            IncrementState::Asked(..) => Err(bad("a message of no form")),
            IncrementState::Whole(transfer) => transfer.accept(message, now),
            IncrementState::Differences(differences) => differences.accept(message, now),
        }
    }

    /// How much has come.
    fn progress(&self) -> TransferProgress {
        match self {
            IncrementState::Asked(_, held) => TransferProgress { messages: usize::from(held.is_some()), records: 0 },
            IncrementState::Whole(transfer) => transfer.progress(),
            IncrementState::Differences(differences) => differences.progress,
        }
    }
}

/// Which form an answer has, by its first message or, where `is_second`, by the one after a SOA alone.
///
/// Nothing is proven yet: the reader of the form proves it. Differences have a second SOA where a zone has another
/// record (RFC 1995 section 4). PowerDNS sends the first SOA in a message by itself, which looks as if nothing had
/// changed, except for its serial.
fn form(octets: &[u8], base: &ZoneContents, is_second: bool) -> AnswerForm {
    let Some(header) = MessageHeader::read(octets) else { return AnswerForm::Whole };
    let name = &mut NameBuffer::default();
    let mut at = HEADER;
    if header.counts[0] == 1 {
        match WireOctets::message(octets).read_name(at, name) {
            Ok(end) => at = end + 4,
            Err(_) => return AnswerForm::Whole,
        }
    }
    let mut next = || {
        let record = read_record(octets, at, name).ok()?;
        at = record.end;
        Some(record)
    };
    let (first, second) = match header.counts[1] {
        0 => (None, None),
        1 => (next(), None),
        _ => (next(), next()),
    };
    let is_soa = |record: Option<RecordHead>| record.is_some_and(|record| record.rtype == Rtype::SOA);
    match (is_second, first, second) {
        (true, first, _) if is_soa(first) => AnswerForm::Differences,
        (false, Some(soa), None) if is_soa(first) => {
            let serial = RdataRef { rtype: Rtype::SOA, octets: &octets[soa.start..soa.end] }.serial();
            // A serial that is not newer is what the differences will say no to.
            if serial.is_some_and(|serial| serial > base.serial()) {
                AnswerForm::Unclear
            } else {
                AnswerForm::Differences
            }
        }
        (false, _, second) if is_soa(second) => AnswerForm::Differences,
        _ => AnswerForm::Whole,
    }
}

/// A SOA as it is in a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Soa {
    /// Its TTL.
    ttl: Ttl,
    /// Its RDATA.
    rdata: Vec<u8>,
}

impl Soa {
    /// That of a zone.
    fn of(zone: &ZoneContents) -> Soa {
        let rrset = zone.rrset(zone.apex().as_name(), Rtype::SOA).expect("a zone has a SOA");
        let (ttl, rdata) = rrset.records().next().expect("an RRset has a record");
        Soa { ttl, rdata: rdata.octets.to_vec() }
    }

    /// Whether its serial is newer than that of another (RFC 1982 section 3.2).
    fn is_newer_than(&self, other: &Soa) -> bool {
        let serial = |soa: &Soa| RdataRef { rtype: Rtype::SOA, octets: &soa.rdata }.serial();
        serial(self).zip(serial(other)).is_some_and(|(mine, others)| mine > others)
    }
}

/// The place of the next record in an answer of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DifferencePhase {
    /// At its beginning: the SOA of the zone as it is.
    Opening,
    /// At the SOA that the first difference begins with.
    First,
    /// Among the records that go.
    Going,
    /// Among the records that come.
    Coming,
    /// Behind the last.
    Ended,
}

/// Differences, as they come.
struct IncomingDifferences<'a> {
    /// The answers to our question.
    stream: AnswerStream,
    /// The zone with the differences so far.
    edits: ZoneEdits<'a>,
    /// The SOA of the zone after the differences so far.
    current: Soa,
    /// The SOA that they lead to.
    newest: Option<Soa>,
    /// The place of the next record.
    phase: DifferencePhase,
    /// How much has come.
    progress: TransferProgress,
    /// Room for an owner name.
    owner: NameBuffer,
    /// Room for RDATA.
    rdata: Vec<u8>,
}

/// How many records of differences are taken at least: beyond these, and as many as the zone has, to transfer it whole
/// costs less.
const MANY: usize = 10_000;

impl<'a> IncomingDifferences<'a> {
    /// None yet.
    fn new(base: &'a ZoneContents, stream: AnswerStream) -> IncomingDifferences<'a> {
        IncomingDifferences {
            stream,
            edits: ZoneEdits::new(base),
            current: Soa::of(base),
            newest: None,
            phase: DifferencePhase::Opening,
            progress: TransferProgress::default(),
            owner: NameBuffer::default(),
            rdata: Vec::new(),
        }
    }

    /// Takes the next message.
    fn accept(&mut self, message: &mut Vec<u8>, now: Time48) -> Result<(), ServerFailure> {
        if self.phase == DifferencePhase::Ended {
            return Err(bad("a message after the last"));
        }
        let apex = self.edits.base().apex().as_name();
        let (header, mut at) = self.stream.open(message, apex, &mut self.owner, now)?;
        self.progress.messages += 1;
        for _ in 0..header.counts[1] {
            let record = read_record(message, at, &mut self.owner)?;
            self.take_record(message, &record)?;
            at = record.end;
            self.progress.records += 1;
        }
        if self.progress.records > MANY.max(self.edits.base().record_count()) {
            return Err(bad("more differences than the zone has records"));
        }
        stream::check_end(&header, message, at, &mut self.owner)
    }

    /// Takes one record of the answer section.
    fn take_record(&mut self, octets: &[u8], record: &RecordHead) -> Result<(), ServerFailure> {
        let RecordHead { rtype, ttl, .. } = *record;
        stream::read_rdata(octets, record, &mut self.rdata)?;
        if rtype == Rtype::SOA && self.owner.as_name() == self.edits.base().apex().as_name() {
            return self.take_soa(Soa { ttl, rdata: self.rdata.clone() });
        }
        let owner = self.owner.as_name();
        let outcome = match self.phase {
            DifferencePhase::Going => self.edits.remove(owner, rtype, ttl, &self.rdata),
            DifferencePhase::Coming => self.edits.add(owner, rtype, ttl, &self.rdata),
            DifferencePhase::Opening | DifferencePhase::First => {
                return Err(bad("differences that do not begin with a SOA"));
            }
            DifferencePhase::Ended => return Err(bad("a record after the closing SOA")),
        };
        let way = if self.phase == DifferencePhase::Going { "removes" } else { "adds" };
        outcome.map_err(|EditContradiction| {
            bad(format!("a difference {way} `{owner}` {rtype}, which does not fit the zone"))
        })
    }

    /// Takes a SOA, which ends one part and begins another.
    fn take_soa(&mut self, soa: Soa) -> Result<(), ServerFailure> {
        match (self.phase, &self.newest) {
            (DifferencePhase::Opening, _) => {
                self.phase = if soa == self.current { DifferencePhase::Ended } else { DifferencePhase::First };
                if self.phase == DifferencePhase::First && !soa.is_newer_than(&self.current) {
                    return Err(bad("a serial that is not newer than the known one"));
                }
                self.newest = Some(soa);
            }
            (DifferencePhase::Coming, Some(newest)) if self.current == *newest => {
                if soa == *newest {
                    self.phase = DifferencePhase::Ended
                } else {
                    return Err(ServerFailure::SoaChanged);
                }
            }
            (DifferencePhase::First | DifferencePhase::Coming, _) => {
                if soa != self.current {
                    return Err(bad("a difference from another serial than the one before led to"));
                }
                self.phase = DifferencePhase::Going;
            }
            (DifferencePhase::Going, Some(newest)) => {
                if !soa.is_newer_than(&self.current) || (soa != *newest && !newest.is_newer_than(&soa)) {
                    return Err(bad("a difference that leads to a serial out of order"));
                }
                let apex = self.edits.base().apex().as_name();
                let swapped = self.edits.remove(apex, Rtype::SOA, self.current.ttl, &self.current.rdata);
                let swapped = swapped.and_then(|()| self.edits.add(apex, Rtype::SOA, soa.ttl, &soa.rdata));
                swapped.map_err(|EditContradiction| bad("a SOA that does not fit the zone"))?;
                self.current = soa;
                self.phase = DifferencePhase::Coming;
            }
            (DifferencePhase::Going, None) => return Err(bad("differences that do not begin with a SOA")),
            (DifferencePhase::Ended, _) => return Err(bad("a record after the closing SOA")),
        }
        Ok(())
    }

    /// The zone, if all of it came.
    fn finish(self) -> Result<IncrementOutcome, ServerFailure> {
        if self.phase != DifferencePhase::Ended {
            return Err(ServerFailure::Cut { progress: self.progress });
        }
        self.stream.finish()?;
        if self.current == Soa::of(self.edits.base()) {
            return Ok(IncrementOutcome::Unmoved);
        }
        let contents = self.edits.finish().map_err(|error| bad(error.to_string()))?;
        Ok(IncrementOutcome::Changed(Box::new(contents), self.progress.records))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Rr, Signer, a, answer, apex, reader, soa};
    use super::*;
    use crate::dns::{Name, ZoneBuilder};

    /// A zone of these records.
    fn zone(records: &[Rr]) -> ZoneContents {
        let mut builder = ZoneBuilder::new(apex());
        for (name, rtype, rdata) in records {
            builder.push(Name::parse(name).unwrap().as_name(), *rtype, Ttl::DEFAULT, rdata).unwrap();
        }
        builder.finish().unwrap()
    }

    /// The zone as it was.
    fn base() -> ZoneContents {
        zone(&[soa(5), a("a.example.net", 1), a("b.example.net", 2), a("b.example.net", 3)])
    }

    /// The differences that lead from it, by way of serial 6, to serial 8.
    fn differences() -> Vec<Rr> {
        vec![
            soa(8),
            soa(5),
            a("a.example.net", 1),
            soa(6),
            a("c.example.net", 4),
            a("a.example.net", 7),
            soa(6),
            a("a.example.net", 7),
            a("b.example.net", 2),
            soa(8),
            a("b.example.net", 9),
            soa(8),
        ]
    }

    /// What they lead to.
    fn led_to() -> ZoneContents {
        zone(&[soa(8), a("b.example.net", 3), a("b.example.net", 9), a("c.example.net", 4)])
    }

    /// The messages of an answer, cut where `ends` says; signed where there is a key.
    fn messages(question: &[u8], records: &[Rr], ends: &[usize]) -> Vec<Vec<u8>> {
        let id = u16::from_be_bytes([question[0], question[1]]);
        let mut signer = (question[11] > 0).then(|| Signer::new(question));
        let mut from = 0;
        let cut = ends.iter().copied().chain([records.len()]).map(|end| {
            let mut message = answer(id, 0, &records[std::mem::replace(&mut from, end)..end]);
            // The question is for IXFR.
            message[26] = 251;
            signer.as_mut().map_or(message.clone(), |signer| signer.sign(message))
        });
        cut.collect()
    }

    /// The outcome of an answer without a key.
    fn outcome(records: &[Rr], ends: &[usize]) -> Result<IncrementOutcome, ServerFailure> {
        let base = base();
        let (mut increment, question) = IncrementalTransfer::start(&base, None, 7, Time48::now());
        for mut message in messages(&question, records, ends) {
            increment.accept(&mut message, Time48::now())?;
        }
        assert!(increment.ended() || increment.is_unclear() || increment.progress().records > 0);
        increment.finish()
    }

    /// The zone that results from an answer by differences.
    fn changed(records: &[Rr], ends: &[usize]) -> ZoneContents {
        match outcome(records, ends).unwrap() {
            IncrementOutcome::Changed(contents, _) => *contents,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_question_tells_the_known_soa() {
        let base = base();
        let (_, question) = IncrementalTransfer::start(&base, None, 7, Time48::now());
        assert_eq!(question[4..12], [0, 1, 0, 0, 0, 1, 0, 0]);
        assert_eq!(question[25..27], [0, 251]);
        assert!(question.ends_with(&soa(5).2));
    }

    #[test]
    fn differences_lead_to_the_zone_however_they_are_cut_into_messages() {
        for first in 1..12 {
            for second in first + 1..12 {
                let found = changed(&differences(), &[first, second]);
                assert_eq!(found.octets(), led_to().octets(), "{first} {second}");
            }
        }
        assert_eq!(changed(&differences(), &[]).octets(), led_to().octets());
    }

    #[test]
    fn a_server_may_send_the_whole_zone_or_say_that_nothing_changed() {
        let records = [soa(8), a("b.example.net", 3), a("b.example.net", 9), a("c.example.net", 4), soa(8)];
        for ends in [&[][..], &[1], &[2], &[1, 3]] {
            match outcome(&records, ends).unwrap() {
                IncrementOutcome::Whole(contents) => assert_eq!(contents.octets(), led_to().octets()),
                other => panic!("{other:?}"),
            }
        }
        assert!(matches!(outcome(&[soa(5)], &[]), Ok(IncrementOutcome::Unmoved)));
    }

    #[test]
    fn whatever_is_odd_is_an_error() {
        let without = |place: usize| -> Vec<Rr> {
            let mut records = differences();
            records.remove(place);
            records
        };
        for place in 0..differences().len() {
            // Without a record that a later difference removes, or without a SOA between, it fits nothing; if anything
            // else is left out, another zone results, which only a signature could show.
            let outcome = outcome(&without(place), &[]);
            assert!(outcome.is_err() || [2, 4, 7, 8, 10].contains(&place), "{place}: {outcome:?}");
            let mut twice = differences();
            twice.insert(place, twice[place].clone());
            assert!(self::outcome(&twice, &[]).is_err(), "{place} twice");
        }
        let with = |place: usize, record: Rr| {
            let mut records = differences();
            records[place] = record;
            outcome(&records, &[]).map_err(|failure| failure.to_string()).unwrap_err()
        };
        let says = |text: String, part: &str| assert!(text.contains(part), "{text}");
        says(with(2, a("a.example.net", 2)), "removes `a.example.net.` A, which does not fit");
        says(with(4, a("b.example.net", 2)), "adds `b.example.net.` A, which does not fit");
        says(with(1, soa(4)), "another serial than the one before");
        says(with(3, soa(5)), "out of order");
        says(with(3, soa(9)), "out of order");
        says(with(6, soa(5)), "another serial than the one before");
        says(with(11, soa(9)), "differs from the SOA at its start");
        says(with(0, soa(4)), "not newer");
        says(with(10, a("b.example.org", 9)), "outside the zone");
        let after: Vec<Rr> = differences().into_iter().chain([a("d.example.net", 1)]).collect();
        assert!(outcome(&after, &[]).is_err());
        assert!(outcome(&after, &[12]).is_err());
        assert!(outcome(&differences()[..11], &[]).is_err(), "no end");
        assert!(outcome(&[soa(4)], &[]).is_err(), "an older serial");
        assert!(outcome(&[soa(8)], &[]).is_err(), "a newer serial, and nothing else");
        assert!(outcome(&[a("a.example.net", 1)], &[]).is_err());
        assert!(outcome(&[], &[]).is_err());
    }

    #[test]
    fn a_flipped_bit_of_signed_differences_is_an_error() {
        let (base, key) = (base(), reader(vec![], true).key().unwrap());
        for number in 0..3 {
            for octet in 0.. {
                let (mut increment, question) = IncrementalTransfer::start(&base, key.clone(), 7, Time48::now());
                let mut messages = messages(&question, &differences(), &[1, 6]);
                let Some(flipped) = messages[number].get_mut(octet) else { break };
                *flipped ^= 1 << (octet % 8);
                let taken = messages.iter_mut().try_for_each(|message| increment.accept(message, Time48::now()));
                match taken.and_then(|()| increment.finish()) {
                    Ok(IncrementOutcome::Changed(contents, _)) => assert_eq!(contents.octets(), led_to().octets()),
                    Ok(other) => panic!("{number} {octet}: {other:?}"),
                    Err(_) => {}
                }
            }
        }
    }
}
