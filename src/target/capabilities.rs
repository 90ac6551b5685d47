//! What targets of a type can do, as a value.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::pool_name::PoolName;
use super::set::TargetId;
use super::write::UpdateLimits;
use crate::dns::{Rtype, Ttl};
use crate::document::words;

/// What a target can do by its type and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetCapabilities {
    /// Where its zones are.
    pub home: ZoneHome,
    /// Whether it can make and delete zones.
    pub making: ZoneMaking,
    /// What takes effect as a whole or not at all.
    pub unit: AtomicUnit,
    /// What one unit may hold.
    pub limits: UpdateLimits,
    /// What of an RRset is compared, as a part of the write, with what was seen before.
    pub comparison: RrsetComparison,
    /// What fences a zone where its settings do not say.
    pub fence: ZoneFence,
    /// Which types of records it holds.
    pub types: RecordTypes,
    /// The largest TTL that it holds; the least is 0.
    pub most_ttl: Ttl,
    /// What proves that it serves what was written.
    pub proof: PublicationProof,
}

/// Whether a target can make and delete zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneMaking {
    /// Whether it can make them.
    pub creates: bool,
    /// Whether it can delete them.
    pub deletes: bool,
}

/// Where the zones of a target are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneHome {
    /// In files of the workspace, so that reading them asks no server.
    Workspace,
    /// On servers.
    Servers,
}

words! {
    /// What takes effect as a whole or not at all.
    AtomicUnit {
        /// A message about one zone.
        Message = "message",
        /// A transaction about one zone.
        Transaction = "transaction",
        /// The file of a zone.
        ZoneFile = "zone-file",
    }
}

words! {
    /// What of an RRset is compared before it is replaced.
    RrsetComparison {
        /// Its records. A TTL that another editor changed since is not noticed.
        Records = "records",
        /// Its records and its TTL.
        RecordsAndTtl = "records-and-ttl",
    }
}

words! {
    /// What keeps two writers of a zone apart.
    ZoneFence {
        /// A marker, since others may write at the same time.
        Marker = "marker",
        /// Nothing: there is one writer alone.
        None = "none",
    }
}

/// Types of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordTypes {
    /// All that a zone can hold.
    All,
    /// These alone.
    These(&'static [Rtype]),
}

impl RecordTypes {
    /// Those that every target takes.
    pub const COMMON: RecordTypes = RecordTypes::These(&[
        Rtype::A,
        Rtype::AAAA,
        Rtype::CAA,
        Rtype::CNAME,
        Rtype::DNAME,
        Rtype::DS,
        Rtype::HTTPS,
        Rtype::LOC,
        Rtype::MX,
        Rtype::NAPTR,
        Rtype::NS,
        Rtype::PTR,
        Rtype::SRV,
        Rtype::SSHFP,
        Rtype::SVCB,
        Rtype::TLSA,
        Rtype::TXT,
    ]);

    /// Whether a type is among them.
    pub fn holds(self, rtype: Rtype) -> bool {
        match self {
            RecordTypes::All => true,
            RecordTypes::These(types) => types.contains(&rtype),
        }
    }
}

impl Serialize for RecordTypes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            RecordTypes::All => "all",
            RecordTypes::These(_) => "some",
        })
    }
}

/// Which types the targets of each pool hold, in the pool's order of targets.
pub type PoolTypes = BTreeMap<PoolName, Vec<(TargetId, RecordTypes)>>;

words! {
    /// What proves that a target serves what was written to it.
    PublicationProof {
        /// It holds so when it is read again.
        ReadBack = "read-back",
        /// The command that loads its files succeeds.
        Reload = "reload",
    }
}
