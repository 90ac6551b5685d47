//! Updates as the protocol has them: what must hold, and what is to be done, in the order given.
//!
//! Source: RFC 2136 sections 2.4 and 2.5.

use crate::dns::{Name, Rdata, Rtype, Ttl, ZoneName};

/// One update of one zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateMessage {
    /// The zone.
    pub zone: ZoneName,
    /// What must hold.
    pub prerequisites: Vec<UpdatePrerequisite>,
    /// What is to be done.
    pub instructions: Vec<UpdateInstruction>,
}

/// Something that must hold before an update. Names may be outside the zone, which is an error of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdatePrerequisite {
    /// There is an RRset at a name (section 2.4.4).
    InUse(Name),
    /// There is no RRset at a name (section 2.4.5).
    NotInUse(Name),
    /// An RRset exists, with any data (section 2.4.1).
    Exists(Name, Rtype),
    /// An RRset does not exist (section 2.4.3).
    Absent(Name, Rtype),
    /// One record that an RRset must hold. All of one name and type are compared together, and the RRset must have no
    /// other record (section 2.4.2).
    Holds(Name, Rtype, Rdata),
}

/// Something that is to be done. Names may be outside the zone, which is an error of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateInstruction {
    /// A record is added to an RRset (section 2.5.1).
    Add(Name, Rtype, Ttl, Rdata),
    /// An RRset is deleted (section 2.5.2).
    DeleteRrset(Name, Rtype),
    /// All RRsets at a name are deleted (section 2.5.3).
    DeleteName(Name),
    /// A record is deleted from an RRset (section 2.5.4).
    DeleteRecord(Name, Rtype, Rdata),
}
