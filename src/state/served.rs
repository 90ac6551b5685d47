//! Whether what an apply changed is served, for reports. Pure.

use serde::Serialize;

use super::publication::RrsetStanding;
use crate::consensus::{
    RrsetStatus, ServerFault, ServerRow, StepNumber, UnshownStep, VoterId, VoterLag, VoterRoll, ZoneRecord, ZoneStatus,
};
use crate::dns::{Name, Rtype};
use crate::target::ZoneId;

crate::document::words! {
    /// How the wait for name servers ended.
    WaitEnding {
        /// No name server was asked.
        Skipped = "skipped",
        /// It is known of each RRset, or each name server was asked as often as the settings say.
        Over = "over",
        /// A signal ended it.
        Interrupted = "interrupted",
    }
}

/// How many RRsets have each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct StatusCounts {
    /// It is not known yet.
    pub pending: usize,
    /// They are served as applied.
    pub active: usize,
    /// They are not.
    pub error: usize,
    /// They are gone as applied.
    pub deleted: usize,
}

impl StatusCounts {
    /// Counts.
    pub fn of(statuses: impl IntoIterator<Item = RrsetStatus>) -> StatusCounts {
        let mut counts = StatusCounts::default();
        for status in statuses {
            *match status {
                RrsetStatus::Pending => &mut counts.pending,
                RrsetStatus::Active => &mut counts.active,
                RrsetStatus::Error => &mut counts.error,
                RrsetStatus::Deleted => &mut counts.deleted,
            } += 1;
        }
        counts
    }

    /// Those that are served, or gone, as applied.
    pub fn done(&self) -> usize {
        self.active + self.deleted
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.done() + self.pending + self.error
    }

    /// Both together.
    pub fn and(self, other: StatusCounts) -> StatusCounts {
        StatusCounts {
            pending: self.pending + other.pending,
            active: self.active + other.active,
            error: self.error + other.error,
            deleted: self.deleted + other.deleted,
        }
    }
}

/// A voter of a zone, and what it showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoterShown {
    /// Which.
    pub voter: VoterId,
    /// Its row; none where it has none.
    pub row: Option<ServerRow>,
    /// Why it does not show the newest step; none where it does.
    pub lag: Option<VoterLag>,
}

/// A zone whose RRsets are published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneServed {
    /// The zone.
    pub zone: ZoneId,
    /// Its status.
    pub status: ZoneStatus,
    /// The newest step.
    pub newest: StepNumber,
    /// The consensus step.
    pub consensus: StepNumber,
    /// Its voters, in the order of the settings.
    pub voters: Vec<VoterShown>,
    /// How many of the RRsets in question have each status.
    pub rrsets: StatusCounts,
}

impl ZoneServed {
    /// What a record says of a zone, and how many of `rrsets` have each status.
    pub fn of(zone: ZoneId, record: &ZoneRecord, roll: &VoterRoll, rrsets: StatusCounts) -> ZoneServed {
        let shown = |voter: &VoterId| VoterShown {
            voter: voter.clone(),
            row: record.servers.get(voter).map(|kept| kept.row),
            lag: record.fault(voter),
        };
        ZoneServed {
            zone,
            status: record.status(),
            newest: record.newest,
            consensus: record.consensus,
            voters: roll.voters.iter().map(shown).collect(),
            rrsets,
        }
    }

    /// Whether it has a name server.
    pub fn has_name_servers(&self) -> bool {
        self.voters.iter().any(|shown| shown.voter.server.is_some())
    }
}

/// An RRset that a name server does not hold as it was changed, although it serves the serial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingRrset {
    /// The zone.
    pub zone: ZoneId,
    /// The name server.
    pub voter: VoterId,
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// The step that changed it last.
    pub step: StepNumber,
    /// What that left, in words.
    pub written: String,
    /// What the name server has, in words; none where it does not answer.
    pub found: Option<String>,
}

impl DifferingRrset {
    /// Why the name server does not count.
    pub fn fault(&self) -> ServerFault {
        if self.found.is_some() { ServerFault::RecordsDiffer } else { ServerFault::NoAnswer }
    }

    /// The step that the name server does not show.
    pub fn unshown(&self) -> UnshownStep {
        UnshownStep { voter: self.voter.clone(), step: self.step, fault: self.fault() }
    }
}

/// Whether what was applied is served, in the pools that have name servers; and of pools without any, what too few targets
/// have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedOutcome {
    /// How the wait ended.
    pub ending: WaitEnding,
    /// The zones, sorted by pool and name.
    pub zones: Vec<ZoneServed>,
    /// The RRsets that name servers do not hold as they were changed; of pools that ask for it.
    pub differing: Vec<DifferingRrset>,
}

impl ServedOutcome {
    /// That of no zone.
    pub fn none() -> ServedOutcome {
        ServedOutcome { ending: WaitEnding::Over, zones: Vec::new(), differing: Vec::new() }
    }

    /// How many RRsets have each status.
    pub fn rrsets(&self) -> StatusCounts {
        self.zones.iter().fold(StatusCounts::default(), |sum, zone| sum.and(zone.rrsets))
    }

    /// Whether every voter shows the newest step of its zones.
    pub fn is_everywhere(&self) -> bool {
        self.zones.iter().flat_map(|zone| &zone.voters).all(|shown| shown.lag.is_none())
    }

    /// Whether all RRsets are served, or gone, as applied.
    pub fn is_done(&self) -> bool {
        let rrsets = self.rrsets();
        rrsets.done() == rrsets.all()
    }

    /// Whether any of its zones has a name server.
    pub fn has_name_servers(&self) -> bool {
        self.zones.iter().any(ZoneServed::has_name_servers)
    }

    /// Whether RRsets are not served: of those that are pending, only once their name servers were asked.
    pub fn is_short(&self) -> bool {
        let StatusCounts { error, pending, .. } = self.rrsets();
        error > 0 || pending > 0 && self.ending != WaitEnding::Skipped
    }
}

/// How many rows of a zone have each status.
pub fn counts_in(rows: &[RrsetStanding], zone: &ZoneId) -> StatusCounts {
    StatusCounts::of(rows.iter().filter(|rrset| rrset.zone == *zone).map(|rrset| rrset.row.status))
}
