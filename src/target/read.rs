//! How zones are read from a target: whole, or name by name.

use super::answers;
use super::marker::marker_key;
use super::opaque::OpaqueRecords;
use super::question::{Answer, NameExistence, Question};
use crate::diag::{FileFindings, Problem};
use crate::dns::{Name, NameRef, Rrset, Rtype, ZoneContents, ZoneName};

/// How the zones of a target are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingManner {
    /// Each zone is read whole.
    Whole,
    /// Names are asked for one by one: the target may not be read whole.
    ByName,
    /// Each zone is read whole; where few names of it are needed, these are asked for.
    Either,
}

/// Reads the zones of one target. Zones may be read side by side. Nothing here can write.
///
/// A target that is read whole need not know how to answer questions: its contents answer them.
pub trait ReadTarget: Send + Sync {
    /// How its zones are read.
    fn manner(&self) -> ReadingManner {
        ReadingManner::Whole
    }

    /// Where a zone is read, as errors name it.
    fn place(&self, zone: &ZoneName) -> String;

    /// Reads one zone whole.
    ///
    /// Errors: any reason why the zone is not fully known; nothing is left out in silence.
    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem>;

    /// Reads a zone whole, unless it is provably as it is `known` from an earlier reading of this target: none then.
    ///
    /// Errors: as for [`ReadTarget::read_zone`].
    fn read_if_moved(&self, known: &ZoneContents) -> Result<Option<ZoneRead>, Problem> {
        self.read_zone(known.apex()).map(Some)
    }

    /// Whether names below a name are answered with it, so that no name of its zones may be below another.
    fn is_flat(&self) -> bool {
        false
    }

    /// Whether the target provably has no zone of this name. It does not say so of a zone that it could not read for any
    /// other reason.
    fn lacks_zone(&self, _zone: &ZoneName) -> bool {
        false
    }

    /// Gets the zones that are about to be read, so that it can ask about all of them at once.
    fn prepare(&self, _zones: &[&ZoneName]) {}

    /// Whether zones are provably as they were when these stamps were taken, so that each would be read as it was then. What a
    /// target finds out only by reading is not proven.
    fn still_has(&self, _stamps: &[&ZoneStamp]) -> bool {
        false
    }

    /// Asks for names of one zone; gives the answers in the order of the questions.
    ///
    /// Errors: any reason why the authority for the zone did not answer a question.
    fn ask(&self, zone: &ZoneName, questions: &[Question]) -> Result<Vec<Answer>, Problem> {
        let contents = self.read_zone(zone)?.contents;
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    /// Asks whether names of one zone exist; gives the answers in the order of the names.
    ///
    /// Errors: as for [`ReadTarget::ask`].
    fn find(&self, zone: &ZoneName, names: &[Name]) -> Result<Vec<NameExistence>, Problem> {
        Ok(answers::existence(&self.read_zone(zone)?.contents, names))
    }

    /// Finds for each name the zone that holds it; none where the target has no such zone, or cannot tell.
    ///
    /// Errors: the target cannot be asked.
    fn find_apexes(&self, names: &[Name]) -> Result<Vec<Option<ZoneName>>, Problem> {
        Ok(vec![None; names.len()])
    }

    /// Lists the zones that it has, of those that its settings choose; none where it cannot tell.
    ///
    /// Errors: the target cannot be asked.
    fn list_zones(&self) -> Result<Vec<ZoneName>, Problem> {
        Ok(Vec::new())
    }
}

/// The zone that holds each name: the lowest at or above it of those that there are; none where there is none.
pub fn apexes_of(names: &[Name], is_zone: impl Fn(&Name) -> bool) -> Vec<Option<ZoneName>> {
    let holder = |name: &Name| {
        let mut above = name.as_name().ancestors().map(NameRef::to_name);
        above.find(|above| is_zone(above)).map(ZoneName::new)
    };
    names.iter().map(holder).collect()
}

/// By what a zone is known not to have moved, where its target numbers what is done to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneStamp {
    /// The zone.
    pub zone: ZoneName,
    /// Its SOA.
    pub soa: Option<Rrset>,
    /// Its marker, where it has one.
    pub marker: Option<Rrset>,
}

impl ZoneStamp {
    /// The stamp of a zone that holds this.
    pub fn of(contents: &ZoneContents) -> ZoneStamp {
        let zone = contents.apex().clone();
        let rrset = |owner: NameRef<'_>, rtype| contents.rrset(owner, rtype).map(|found| found.to_rrset());
        let soa = rrset(zone.as_name(), Rtype::SOA);
        let marker = marker_key(&zone).and_then(|key| rrset(key.owner.as_name(), key.rtype));
        ZoneStamp { zone, soa, marker }
    }
}

/// A zone, read whole.
#[derive(Debug)]
pub struct ZoneRead {
    /// What it holds.
    pub contents: ZoneContents,
    /// What it holds besides, which no RRset says; in any order.
    pub opaque: Vec<OpaqueRecords>,
    /// Whether names below a name are answered with it, so that no name may be below another.
    pub is_flat: bool,
    /// The files that it was read from, by their names in messages, with their SHA-256 in hexadecimal; empty for
    /// servers.
    pub inputs: Vec<(String, String)>,
    /// Warnings about those files, with the files; `None` where there are no files.
    pub findings: Option<Box<FileFindings>>,
}

/// What a question costs a server, and what a record of a transfer does, in microseconds (BIND 9.18, measured).
const COSTS: (u64, u64) = (11, 2);

/// Whether a transfer of so many records costs a server less than so many questions.
pub fn transfer_is_cheaper(questions: u64, records: u64) -> bool {
    let (question, record) = COSTS;
    record.saturating_mul(records) < question.saturating_mul(questions)
}
