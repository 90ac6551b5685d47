//! Single questions without their input and output: what an answer says about one name and type.
//!
//! Comes in: a message that proved to be the server's, if there is a key. Goes out: what it shows of the zone. Only an
//! authoritative answer counts, and only for this zone: what a server answers about a child zone that it also has
//! counts as a delegation, since a transfer of this zone would show that.
//!
//! Source: RFC 1034 section 4.3.2; RFC 2308 section 2; RFC 6672 section 3.

use domain::base::iana::{Class, Rcode};

use super::failure::ServerFailure;
use super::message::{self, HEADER, MessageHeader, bad, bad_wire, read_record};
use crate::dns::{Name, NameBuffer, NameRef, Rdata, RdataRef, Rrset, Rtype, Ttl, WireOctets, ZoneName, is_zone_data};
use crate::target::{Answer, NameExistence, Question};

/// Reads an answer, its signature already taken off.
pub fn read_answer(octets: &[u8], zone: &ZoneName, question: &Question) -> Result<Answer, ServerFailure> {
    let header = MessageHeader::read(octets).ok_or_else(|| bad("a message shorter than its header"))?;
    if !header.is_whole_answer() {
        return Err(bad("a message that is not a whole answer"));
    }
    if !matches!(header.rcode(), Rcode::NOERROR | Rcode::NXDOMAIN) {
        return Err(ServerFailure::QueryRefused { rcode: header.rcode(), unproven: false });
    }
    if header.counts[0] != 1 {
        return Err(bad("a number of questions other than one"));
    }
    let mut owner = NameBuffer::default();
    let start = message::check_question(octets, question.name.as_name(), question.rtype, &mut owner)?;
    let (answers, end) = read_section(octets, start, header.counts[1], &mut owner)?;
    let (authority, end) = read_section(octets, end, header.counts[2], &mut owner)?;
    let additional = read_additional(octets, end, header.counts[3], &mut owner)?;
    AnswerSections { zone, question, is_authoritative: header.is_authoritative(), answers, authority, additional }
        .answer()
}

/// Reads what the additional section, which begins at `at`, has of zones: not EDNS or signatures.
fn read_additional(
    octets: &[u8],
    mut at: usize,
    count: u16,
    owner: &mut NameBuffer,
) -> Result<Vec<AnswerRecord>, ServerFailure> {
    let mut records = Vec::new();
    for _ in 0..count {
        let message::RecordHead { rtype, class, ttl, start, end } = read_record(octets, at, owner)?;
        if class == Class::IN.to_int() && matches!(rtype, Rtype::A | Rtype::AAAA) {
            let mut rdata = Vec::new();
            WireOctets::message(octets).append_rdata(rtype, start..end, &mut rdata).map_err(bad_wire)?;
            let rdata = RdataRef { rtype, octets: &rdata }.to_rdata();
            records.push(AnswerRecord { owner: owner.as_name().to_name(), rtype, ttl, rdata });
        }
        at = end;
    }
    Ok(records)
}

/// Reads an answer for whether the name exists. That a name does not exist says the message as a whole, and where a
/// CNAME leads nowhere it says so of another name.
pub fn read_existence(octets: &[u8], zone: &ZoneName, question: &Question) -> Result<NameExistence, ServerFailure> {
    let answer = read_answer(octets, zone, question)?;
    let is_denied = MessageHeader::read(octets).is_some_and(|header| header.rcode() == Rcode::NXDOMAIN);
    Ok(NameExistence::of(answer, is_denied))
}

/// Reads the answer to a question for a SOA: the apex of the zone that contains the name, if this server has authority
/// for it. The SOA is the answer, or is in the authority section where there is none at the name (RFC 2308 section 3).
///
/// A server that does not know the name, refuses the question or refers to other servers has no such zone; nor has one
/// that answers from a zone that it made up itself.
pub fn read_apex(octets: &[u8], _: &ZoneName, question: &Question) -> Result<Option<ZoneName>, ServerFailure> {
    let header = MessageHeader::read(octets).ok_or_else(|| bad("a message shorter than its header"))?;
    if !header.is_whole_answer() || header.counts[0] != 1 {
        return Err(bad("a message that is not a whole answer"));
    }
    if !matches!(header.rcode(), Rcode::NOERROR | Rcode::NXDOMAIN) || !header.is_authoritative() {
        return Ok(None);
    }
    let mut owner = NameBuffer::default();
    let name = question.name.as_name();
    let start = message::check_question(octets, name, question.rtype, &mut owner)?;
    let (answers, end) = read_section(octets, start, header.counts[1], &mut owner)?;
    let (authority, _) = read_section(octets, end, header.counts[2], &mut owner)?;
    let mut soas = answers.iter().chain(&authority).filter(|record| record.rtype == Rtype::SOA);
    let above = soas.find(|record| name.is_at_or_below(record.owner.as_name()));
    Ok(above.filter(|record| !is_made_up(record)).map(|record| ZoneName::new(record.owner.clone())))
}

/// Whether a server has a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZonePresence {
    /// It answers as the authority for it.
    Present,
    /// It says that it has no such zone.
    Absent,
    /// It does not say.
    Unproven,
}

/// Reads the answer to a question for the SOA of a zone: whether the server has the zone, where that is proven.
pub fn read_presence(octets: &[u8], _: &ZoneName, question: &Question) -> Result<ZonePresence, ServerFailure> {
    let header = MessageHeader::read(octets).ok_or_else(|| bad("a message shorter than its header"))?;
    if !header.is_whole_answer() || header.counts[0] != 1 {
        return Err(bad("a message that is not a whole answer"));
    }
    if matches!(header.rcode(), Rcode::REFUSED | Rcode::NOTAUTH) {
        return Ok(ZonePresence::Absent);
    }
    if !matches!(header.rcode(), Rcode::NOERROR | Rcode::NXDOMAIN) {
        return Ok(ZonePresence::Unproven);
    }
    let mut owner = NameBuffer::default();
    let name = question.name.as_name();
    let start = message::check_question(octets, name, question.rtype, &mut owner)?;
    let (answers, end) = read_section(octets, start, header.counts[1], &mut owner)?;
    let (authority, _) = read_section(octets, end, header.counts[2], &mut owner)?;
    if header.is_authoritative() && answers.iter().any(|record| record.rtype == Rtype::SOA && !is_made_up(record)) {
        return Ok(ZonePresence::Present);
    }
    // The authority for a zone above says that there is nothing, or refers to others.
    let is_of_zone_above = |record: &AnswerRecord| {
        let is_above = name != record.owner.as_name() && name.is_at_or_below(record.owner.as_name());
        let is_referral = record.rtype == Rtype::NS && name.is_at_or_below(record.owner.as_name());
        record.rtype == Rtype::SOA && is_above && header.is_authoritative() || is_referral && !header.is_authoritative()
    };
    let is_absent = answers.is_empty() && authority.iter().any(is_of_zone_above);
    Ok(if is_absent { ZonePresence::Absent } else { ZonePresence::Unproven })
}

/// Reads the RRset at a name from an authoritative answer; `None` for any other answer.
pub fn read_own(octets: &[u8], _: &ZoneName, question: &Question) -> Result<Option<Rrset>, ServerFailure> {
    let header = MessageHeader::read(octets).ok_or_else(|| bad("a message shorter than its header"))?;
    if !header.is_whole_answer() || header.counts[0] != 1 {
        return Err(bad("a message that is not a whole answer"));
    }
    let mut owner = NameBuffer::default();
    let name = question.name.as_name();
    let start = message::check_question(octets, name, question.rtype, &mut owner)?;
    if header.rcode() != Rcode::NOERROR || !header.is_authoritative() {
        return Ok(None);
    }
    let (answers, _) = read_section(octets, start, header.counts[1], &mut owner)?;
    Ok(rrset(&answers, name, question.rtype))
}

/// Whether an SOA is that of a zone which a server answers from without having been given it.
///
/// BIND has such zones for private and documentation addresses, and transfers none: the apex is its own primary, and
/// the mailbox is the root (BIND 9 Administrator Reference Manual, `empty-zones-enable`).
fn is_made_up(soa: &AnswerRecord) -> bool {
    let names = soa.rdata.as_octets().strip_prefix(soa.owner.as_wire());
    // The mailbox, and the serial number, are zero.
    names.is_some_and(|rest| rest.starts_with(&[0; 5]))
}

/// A record of an answer.
struct AnswerRecord {
    /// The owner name.
    owner: Name,
    /// The type.
    rtype: Rtype,
    /// The TTL.
    ttl: Ttl,
    /// The RDATA, uncompressed, its names in lower case.
    rdata: Rdata,
}

/// Reads a section of records, of which the first begins at `at`; gives where the next section begins.
fn read_section(
    octets: &[u8],
    mut at: usize,
    count: u16,
    owner: &mut NameBuffer,
) -> Result<(Vec<AnswerRecord>, usize), ServerFailure> {
    let mut records = Vec::new();
    for _ in 0..count {
        let message::RecordHead { rtype, class, ttl, start, end } = read_record(octets, at.max(HEADER), owner)?;
        if class != Class::IN.to_int() {
            return Err(bad("a record of a class other than IN"));
        }
        if !is_zone_data(rtype) {
            return Err(bad(format!("a record of type {rtype}, which no zone has")));
        }
        let mut rdata = Vec::new();
        WireOctets::message(octets).append_rdata(rtype, start..end, &mut rdata).map_err(bad_wire)?;
        let rdata = RdataRef { rtype, octets: &rdata }.to_rdata();
        records.push(AnswerRecord { owner: owner.as_name().to_name(), rtype, ttl, rdata });
        at = end;
    }
    Ok((records, at))
}

/// The sections of an answer.
struct AnswerSections<'a> {
    /// The zone that was asked.
    zone: &'a ZoneName,
    /// The question.
    question: &'a Question,
    /// Whether the server says that it is the authority.
    is_authoritative: bool,
    /// The answer section.
    answers: Vec<AnswerRecord>,
    /// The authority section.
    authority: Vec<AnswerRecord>,
    /// What the additional section has of zones.
    additional: Vec<AnswerRecord>,
}

impl AnswerSections<'_> {
    /// What it says about the name and type.
    fn answer(self) -> Result<Answer, ServerFailure> {
        let name = self.question.name.as_name();
        let is_apex = name == self.zone.as_name();
        if !self.is_authoritative {
            return self.referral().ok_or(ServerFailure::NoAuthority);
        }
        // Below a DNAME the server makes up a CNAME at the very name.
        if let Some(dname) = self.answers.iter().find(|record| self.is_dname_above(record)) {
            let rrset = Rrset::new(dname.ttl, vec![dname.rdata.clone()]).expect("one record");
            return Ok(Answer::BelowDname(dname.owner.clone(), rrset));
        }
        for rtype in [self.question.rtype, Rtype::CNAME] {
            let Some(rrset) = rrset(&self.answers, name, rtype) else { continue };
            if rtype == Rtype::SOA && !is_apex {
                return Ok(Answer::Delegated(name.to_name(), None));
            }
            return Ok(Answer::Holds(rtype, rrset));
        }
        if !self.answers.is_empty() {
            return Err(bad("an answer about another name"));
        }
        self.nothing()
    }

    /// Whether a record is a DNAME of the zone above the name that was asked for.
    fn is_dname_above(&self, record: &AnswerRecord) -> bool {
        let (owner, name) = (record.owner.as_name(), self.question.name.as_name());
        record.rtype == Rtype::DNAME
            && owner != name
            && name.is_at_or_below(owner)
            && owner.is_at_or_below(self.zone.as_name())
    }

    /// Whether a name is that of a child zone that contains the name that was asked for.
    fn is_cut(&self, owner: NameRef<'_>) -> bool {
        let apex = self.zone.as_name();
        owner != apex && owner.is_at_or_below(apex) && self.question.name.as_name().is_at_or_below(owner)
    }

    /// A referral to a child zone; or what the zone itself has at the delegation, where that was asked for. Its server sends
    /// the addresses of name servers below the delegation with it (RFC 1034 section 4.3.2, step 3b).
    fn referral(&self) -> Option<Answer> {
        let is_cut = |record: &&AnswerRecord| record.rtype == Rtype::NS && self.is_cut(record.owner.as_name());
        let cut = &self.authority.iter().find(is_cut)?.owner;
        let servers = rrset(&self.authority, cut.as_name(), Rtype::NS)?;
        if !self.question.is_of_parent(cut.as_name(), &servers) {
            return Some(Answer::Delegated(cut.clone(), Some(servers)));
        }
        let (name, rtype) = (self.question.name.as_name(), self.question.rtype);
        let found = rrset(if rtype == Rtype::NS { &self.authority } else { &self.additional }, name, rtype);
        Some(found.map_or(Answer::Nothing, |rrset| Answer::Holds(rtype, rrset)))
    }

    /// What an answer without records says: its SOA names the zone (RFC 2308 section 3).
    fn nothing(&self) -> Result<Answer, ServerFailure> {
        let soa = self.authority.iter().find(|record| record.rtype == Rtype::SOA);
        match soa.map(|soa| soa.owner.as_name()) {
            Some(owner) if owner == self.zone.as_name() => Ok(Answer::Nothing),
            Some(owner) if self.is_cut(owner) => Ok(Answer::Delegated(owner.to_name(), None)),
            _ => Err(ServerFailure::NoAuthority),
        }
    }
}

/// The RRset of a name and type among records; its TTL is the lowest.
fn rrset(records: &[AnswerRecord], name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
    let of_rrset = || records.iter().filter(|record| record.rtype == rtype && record.owner.as_name() == name);
    let ttl = of_rrset().map(|record| record.ttl).min()?;
    Rrset::new(ttl, of_rrset().map(|record| record.rdata.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The authority's answer that there is nothing at a name below an apex, with its SOA.
    fn denial(name: &Name, apex: &Name, [primary, mailbox]: [&str; 2], serial: u32) -> Vec<u8> {
        let names = [primary, mailbox].map(|text| Name::parse(text).unwrap().as_wire().to_vec()).concat();
        let numbers = [serial, 28_800, 7_200, 604_800, 86_400].map(u32::to_be_bytes).concat();
        let length = u16::try_from(names.len() + numbers.len()).unwrap();
        let (soa, class) = ([0, 6], [0, 1]);
        let head = [0, 1, 0x84, 0x03, 0, 1, 0, 0, 0, 1, 0, 0];
        let question = [name.as_wire(), &soa, &class].concat();
        let record = [apex.as_wire(), &soa, &class, &[0, 0, 0, 9], &length.to_be_bytes(), &names, &numbers].concat();
        [&head[..], &question, &record].concat()
    }

    #[test]
    fn a_zone_that_a_server_made_up_is_none() {
        let (name, apex) = ("1.0.d.f.ip6.arpa", "d.f.ip6.arpa");
        let [name, zone] = [name, apex].map(|text| Name::parse(text).unwrap());
        let question = Question { name: name.clone(), rtype: Rtype::SOA };
        let found = |names: [&str; 2], serial| {
            let octets = denial(&name, &zone, names, serial);
            read_apex(&octets, &ZoneName::new(Name::root()), &question).unwrap()
        };
        let given = Some(ZoneName::new(zone.clone()));
        assert_eq!(found(["ns1.example.net", "hostmaster.example.net"], 0), given);
        // As BIND has it for private networks, in upper case.
        assert_eq!(found(["D.F.IP6.ARPA", "."], 0), None);
        // Such as people write, whose zone is given away.
        assert_eq!(found([apex, "."], 7), given);
        assert_eq!(found([apex, "hostmaster"], 0), given);
    }
}
