//! How zones are written: updates of which each takes effect as a whole or not at all.
//!
//! Comes in: changes of single RRsets. Goes out: what the primary says of each update. A provider makes no choices: it sends
//! what it is given, with what was seen before as its prerequisite, and tells what is proven to have become of it.

use super::TargetError;
use crate::change::ChangeKind;
use crate::dns::{RrKey, ZoneName};
use crate::live::asked::{Answer, Question};

/// One RRset of an update: what must stand there before, and what is to stand there after.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// The RRset.
    pub key: &'a RrKey,
    /// Before and after. What is before is a prerequisite, its absence too; where something is added, so is that no CNAME
    /// stands there.
    pub kind: &'a ChangeKind,
}

/// One update of one zone: all of it takes effect, or nothing.
#[derive(Debug, Clone)]
pub struct Update<'a> {
    /// The zone.
    pub zone: &'a ZoneName,
    /// The edits, each of another RRset; never empty.
    pub edits: Vec<Edit<'a>>,
}

/// What one update may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateLimits {
    /// The most edits.
    pub edits: usize,
    /// The most octets that [`WriteZone::octets`] gives for all edits.
    pub octets: usize,
}

/// What became of an update.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The server says, provably where there is a key, that it took effect.
    Done,
    /// A prerequisite did not hold, which the words tell, so that provably nothing took effect.
    Prerequisite(String),
    /// The server will not do this update however often it is sent; provably nothing took effect.
    Refused(TargetError),
    /// The server could not do it just then; provably nothing took effect.
    Failed(TargetError),
    /// There is no answer, or none that proves anything: it may have taken effect, or may yet.
    Unknown(TargetError),
}

/// Which of the updates that a session sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// Writes zones of one target, and reads single RRsets from where they are written. Zones may be written side by side.
pub trait WriteZone: Send + Sync {
    /// Where a zone is written, as errors name it.
    fn place(&self, zone: &ZoneName) -> String;

    /// What one update may hold.
    fn limits(&self) -> UpdateLimits;

    /// The most octets that an edit takes in an update of this zone.
    fn octets(&self, zone: &ZoneName, edit: Edit<'_>) -> usize;

    /// Reads RRsets from the primary, by whatever costs least; gives the answers in the order of the questions. An answer
    /// that a wildcard gives counts as nothing. `rrsets` is about how many the zone has, where that is known.
    ///
    /// Errors: whatever keeps any question from being answered, or the zone from being written at all.
    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>)
    -> Result<Vec<Answer>, TargetError>;

    /// Starts to write a zone. Nothing is sent and no connection made yet.
    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_>;

    /// Takes it for possible that an earlier run made updates, and ended before [`WriteZone::finish`].
    fn doubt(&self) {}

    /// Does what is to be done once, after the last update of all zones.
    ///
    /// Errors: it could not be done; the updates stand all the same.
    fn finish(&self) -> Result<(), TargetError>;
}

/// Writes one zone.
pub trait UpdateZone: Send {
    /// How many updates it pays to have in flight at once, at least 1. Each that is sent while others are names its
    /// predecessor's marker as its prerequisite.
    fn window(&mut self) -> usize;

    /// Sends an update.
    ///
    /// Errors: it could not be sent, or perhaps not whole; nothing is known of it, as with [`Reply::Unknown`].
    fn send(&mut self, update: &Update<'_>) -> Result<Ticket, TargetError>;

    /// Waits for what became of an update. After [`Reply::Unknown`] nothing more comes for any other update in flight
    /// than that, and the next one sent goes over another connection.
    fn reply(&mut self, ticket: Ticket) -> Reply;
}
