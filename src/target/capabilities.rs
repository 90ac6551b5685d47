//! What targets of a type can do, as a value.

use std::time::Duration;

use super::bounds::RecordBounds;
use super::write::UpdateLimits;
use crate::document::words;

/// What a target can do by its type and its settings.
#[derive(Debug, Clone, Copy)]
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
    /// Which records it holds.
    pub bounds: RecordBounds,
    /// What proves that it serves what was written.
    pub proof: PublicationProof,
    /// How fast it may be written to; none where its service bounds nothing.
    pub pace: Option<WritePace>,
    /// Where it keeps the mark of an RRset with the RRset; none where it keeps none.
    pub marks: Option<MarkPlace>,
}

impl AtomicUnit {
    /// Whether one spans several RRsets, so that a marker can be a part of it.
    pub fn spans_rrsets(self) -> bool {
        !matches!(self, AtomicUnit::Rrset | AtomicUnit::Record)
    }
}

/// How fast a target may be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WritePace {
    /// How many requests it takes in a minute.
    pub requests: usize,
    /// Whether it takes so many of each zone, and not of all together.
    pub is_of_zone: bool,
    /// How many RRsets one request changes at most.
    pub rrsets: usize,
}

impl WritePace {
    /// How long it takes at least to change so many RRsets.
    pub fn time_for(self, rrsets: usize) -> Duration {
        let requests = rrsets.div_ceil(self.rrsets.max(1));
        Duration::from_secs_f64(60.0 * requests as f64 / self.requests.max(1) as f64)
    }
}

/// Whether a target can make and delete zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneMaking {
    /// Whether it can make them.
    pub creates: bool,
    /// Whether it can delete them.
    pub deletes: bool,
    /// Why it makes none with these settings, whatever else is set, as a sentence; none where one may be made.
    pub never: Option<&'static str>,
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
        /// A request about one zone.
        Request = "request",
        /// A transaction about one zone.
        Transaction = "transaction",
        /// One RRset. Nothing spans several, so that no marker can be a part of what is written.
        Rrset = "rrset",
        /// One record. An update of an RRset may end in the middle.
        Record = "record",
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
        /// Nothing: what others write at the same time may be lost.
        Nothing = "nothing",
    }
}

words! {
    /// What keeps two writers of a zone apart.
    ZoneFence {
        /// A marker, since others may write at the same time.
        Marker = "marker",
        /// Nothing: there is one writer alone, or each RRset is compared by itself.
        None = "none",
    }
}

words! {
    /// Where a target keeps the mark of an RRset, so that one request writes both. The words are those of `registry`.
    ///
    /// What a provider does that has such a place, where the settings say that marks of its target tell who owns an RRset (`has_marks`
    /// of what it gets in addition to its settings):
    ///
    /// - what it reads gives each RRset its mark: by `ZoneBuilder::mark` for a whole zone, by `Rrset::marked` in answers. An RRset
    ///   without a mark is unowned; one with a note that could not stay as it is comes as opaque;
    /// - a write makes the mark what the RRset after it has, in the request that writes the records: the plan says it. The mark
    ///   before is compared as the records are, so that an edit may change the mark alone (`ChangeKind::is_of_mark`). What else is
    ///   noted at the RRset stays.
    ///
    /// Without `has_marks` it reads and writes no mark.
    ///
    /// All else sees marks as it sees TXT of the registry: an RRset is own where its mark names our owner, one that is created gets
    /// our mark, one that is modified keeps its own, `adopt` changes marks alone.
    MarkPlace {
        /// The metadata of a record set.
        Metadata = "metadata",
        /// The description of what has the records.
        Description = "description",
        /// The owner of each key: of an RRset all keys have the same. It has no room for more than the owner.
        Owner = "owner",
    }
}

words! {
    /// What proves that a target serves what was written to it.
    PublicationProof {
        /// It holds so when it is read again.
        ReadBack = "read-back",
        /// The service says that all its name servers have it.
        InSync = "in-sync",
        /// The service says that the operation succeeded.
        Operation = "operation",
        /// The command that loads its files succeeds.
        Reload = "reload",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_says_how_long_changes_take() {
        let pace = WritePace { requests: 60, is_of_zone: true, rrsets: 1 };
        assert_eq!(pace.time_for(1_200), Duration::from_secs(1_200));
        let pace = WritePace { requests: 300, is_of_zone: false, rrsets: 499 };
        assert_eq!(pace.time_for(0), Duration::ZERO);
        assert_eq!(pace.time_for(10_000).as_millis(), 4_200, "21 requests");
    }
}
