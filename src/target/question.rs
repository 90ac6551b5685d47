//! Questions about single names of a zone, and what a target answers. Pure.

use crate::dns::{Name, NameRef, Rdata, RdataRef, RrKey, Rrset, Rtype, Ttl, ZoneName};

/// The first label of names that no host has.
pub const PROBE: &[u8] = b"_zonewright-probe";

/// A question to a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Question {
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
}

impl Question {
    /// The question for an RRset.
    pub fn of(key: &RrKey) -> Question {
        Question { name: key.owner.as_name().to_name(), rtype: key.rtype }
    }

    /// The question for the SOA of a zone.
    pub fn soa(zone: &ZoneName) -> Question {
        Question { name: zone.as_name().to_name(), rtype: Rtype::SOA }
    }

    /// The question whether anything is at a name: only a child zone on the same server has a SOA there, which
    /// distinguishes it from this zone.
    pub fn whether(name: Name) -> Question {
        Question { name, rtype: Rtype::SOA }
    }

    /// Whether the zone above a delegation has the answer, by the delegation's NS: they themselves, DS (RFC 4035 section
    /// 3.1.4.1), and the addresses of the name servers (RFC 1034 section 4.2.1).
    pub fn is_of_parent(&self, cut: NameRef<'_>, servers: &Rrset) -> bool {
        let name = self.name.as_name();
        let is_server = |rdata: &Rdata| rdata.as_rdata(Rtype::NS).target() == Some(name);
        match self.rtype {
            Rtype::NS | Rtype::DS => name == cut,
            Rtype::A | Rtype::AAAA => servers.rdata().iter().any(is_server),
            _ => false,
        }
    }

    /// The question for a neighbour that no host has; `None` where its name would be too long.
    pub fn neighbour(&self) -> Option<Question> {
        let name = Name::prepend(PROBE, self.name.as_name().parent()?).ok()?;
        Some(Question { name, rtype: self.rtype })
    }

    /// The question for a name below this one that no host has; `None` where it would be too long.
    pub fn below(&self) -> Option<Question> {
        let name = Name::prepend(PROBE, self.name.as_name()).ok()?;
        Some(Question { name, rtype: self.rtype })
    }
}

/// What a server says of one name and type.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// This RRset is there: of the type that was asked for, or the CNAME in its place.
    Holds(Rtype, Rrset),
    /// There is no RRset of that type; there may be others.
    Nothing,
    /// The name is at or below this delegation; with its NS, where the server sends them.
    Delegated(Name, Option<Rrset>),
    /// The name is below this DNAME.
    BelowDname(Name, Rrset),
}

impl Answer {
    /// The SOA that is there, with its TTL.
    pub fn soa(&self) -> Option<(RdataRef<'_>, Ttl)> {
        let Answer::Holds(Rtype::SOA, rrset) = self else { return None };
        Some((rrset.rdata().first()?.as_rdata(Rtype::SOA), rrset.ttl()))
    }
}

/// What a server says about a name, regardless of the type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameExistence {
    /// The server says that there is no such name: there is nothing at it or below it, and no wildcard covers it.
    Absent,
    /// The name exists: something is at it or below it, or a wildcard covers it.
    Present,
    /// The name is at or below this delegation.
    Delegated(Name),
    /// The name is below this DNAME.
    BelowDname(Name),
}

impl NameExistence {
    /// What an answer says about the name that was asked for; `is_denied`: the answer is that there is no such name.
    pub fn of(answer: Answer, is_denied: bool) -> NameExistence {
        match answer {
            Answer::Nothing if is_denied => NameExistence::Absent,
            Answer::Nothing | Answer::Holds(..) => NameExistence::Present,
            Answer::Delegated(cut, _) => NameExistence::Delegated(cut),
            Answer::BelowDname(owner, _) => NameExistence::BelowDname(owner),
        }
    }
}
