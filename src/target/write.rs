//! How zones are written: updates; each takes effect as a whole or not at all.
//!
//! Comes in: changes of single RRsets. Goes out: what the primary answers to each update. A provider makes no choices:
//! it sends what it is given, with what was seen before as prerequisites, and reports the proven outcome.

use std::ops::Add;

use super::apex::ZoneApex;
use super::question::{Answer, Question};
use crate::diag::Problem;
use crate::dns::{ChangeKind, OwnerName, RrKey, Rtype, ZoneName};

/// One RRset of an update: what must be there before, and what is to be there after.
#[derive(Debug, Clone, Copy)]
pub struct RrsetEdit<'a> {
    /// The RRset.
    pub key: &'a RrKey,
    /// Before and after. The state before is a prerequisite, also where there was no RRset; where something is added,
    /// the absence of a CNAME is one, too, unless an edit of the same update deletes the CNAME.
    pub kind: &'a ChangeKind,
}

impl RrsetEdit<'_> {
    /// Whether it deletes the CNAME at a name.
    pub fn deletes_cname_at(&self, owner: &OwnerName) -> bool {
        self.key.rtype == Rtype::CNAME && self.key.owner == *owner && self.kind.after().is_none()
    }
}

/// One update of one zone: all of it takes effect, or nothing.
#[derive(Debug, Clone)]
pub struct Update<'a> {
    /// The zone.
    pub zone: &'a ZoneName,
    /// The edits, each of another RRset; never empty.
    pub edits: Vec<RrsetEdit<'a>>,
}

/// What one update may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateLimits {
    /// The most edits.
    pub edits: usize,
    /// The most octets of all edits, as [`WriteTarget::size`] counts them.
    pub octets: usize,
    /// The most parts of all edits, as [`WriteTarget::size`] counts them.
    pub parts: usize,
    /// The most owner names: any number, or one.
    pub names: usize,
}

impl UpdateLimits {
    /// An update may hold any number of edits.
    pub const NONE: UpdateLimits =
        UpdateLimits { edits: usize::MAX, octets: usize::MAX, parts: usize::MAX, names: usize::MAX };

    /// Whether so many edits of this size fit.
    pub fn hold(&self, edits: usize, size: EditSize) -> bool {
        edits <= self.edits && size.octets <= self.octets && size.parts <= self.parts
    }
}

/// What edits take of an update.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EditSize {
    /// Octets, of what has a limit: of a message, or of texts.
    pub octets: usize,
    /// What the target counts besides, such as the keys of a transaction; 0 where it counts nothing.
    pub parts: usize,
}

impl EditSize {
    /// The size of so many octets, where nothing else is counted.
    pub fn of_octets(octets: usize) -> EditSize {
        EditSize { octets, parts: 0 }
    }
}

impl Add for EditSize {
    type Output = EditSize;

    fn add(self, other: EditSize) -> EditSize {
        let octets = self.octets.saturating_add(other.octets);
        EditSize { octets, parts: self.parts.saturating_add(other.parts) }
    }
}

/// The outcome of an update.
#[derive(Debug, Clone)]
pub enum UpdateReply {
    /// The server says, provably where there is a key, that it took effect.
    Done,
    /// It took effect, and others wrote the zone at the same time: what they wrote to its RRsets may be lost.
    Raced(Problem),
    /// A prerequisite, described in words, did not hold, so provably nothing took effect.
    Prerequisite(String),
    /// The server will not do this update however often it is sent; provably nothing took effect.
    Refused(Problem),
    /// The server could not do it just then; provably nothing took effect.
    Failed(Problem),
    /// There is no answer, or one that proves nothing: it may have taken effect, or may still do so.
    Unknown(Problem),
    /// A part of it took effect, and the server will not do the rest however often it is sent.
    RefusedInPart(Problem),
}

/// An RRset that a server names as the reason why it did not do an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrsetBlame {
    /// The RRset.
    pub key: RrKey,
    /// What the server says of it.
    pub words: String,
}

/// Which of the updates that a session sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UpdateTicket(pub u64);

/// Writes zones of one target, and reads single RRsets from where they are written. Zones may be written side by side.
pub trait WriteTarget: Send + Sync {
    /// Where a zone is written, as errors name it.
    fn place(&self, zone: &ZoneName) -> String;

    /// What one update may hold.
    fn limits(&self) -> UpdateLimits;

    /// The most that an edit takes in an update of this zone.
    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize;

    /// Reads RRsets from the primary, in the cheapest way; returns the answers in the order of the questions. An answer
    /// that a wildcard gives counts as nothing. `rrsets` is about how many the zone has, where that is known.
    ///
    /// Errors: any reason why a question is not answered, or the zone cannot be written at all.
    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem>;

    /// Whether what was seen before is compared as a part of each write, so that no edit of others can be lost.
    fn compares(&self) -> bool {
        true
    }

    /// Whether an update that ends in the middle may leave an RRset between what it was and what it was to be: the same update
    /// goes on from there.
    fn is_divisible(&self) -> bool {
        false
    }

    /// Starts to write a zone. Nothing is sent and no connection made yet.
    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_>;

    /// Makes a zone that the target does not have, with this apex and nothing else, and waits until it can be written.
    ///
    /// Errors: it could not be made, or is there already; the target makes no zones.
    fn create_zone(&self, zone: &ZoneName, _apex: &ZoneApex) -> Result<(), Problem> {
        Err(Problem::new(self.place(zone), "zone-not-made", "this target makes no zones"))
    }

    /// Deletes a zone with all that is in it.
    ///
    /// Errors: it could not be deleted; the target deletes no zones.
    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        Err(Problem::new(self.place(zone), "zone-not-deleted", "this target deletes no zones"))
    }

    /// Assumes that an earlier run may have made updates, and ended before [`WriteTarget::finish`].
    fn doubt(&self) {}

    /// Does the final work once, after the last update of all zones. What waits meanwhile until something is done waits no longer
    /// once `is_over` says that the apply is to end.
    ///
    /// Errors: it could not be done, or was not waited for; the updates stay in effect.
    fn finish(&self, is_over: &dyn Fn() -> bool) -> Result<(), Problem>;
}

/// Writes one zone.
pub trait UpdateZone: Send {
    /// How many updates it pays to have in flight at once, at least 1. Each that is sent while others are names its
    /// predecessor's marker as its prerequisite.
    fn window(&mut self) -> usize;

    /// Sends an update.
    ///
    /// Errors: it could not be sent, or perhaps not whole; nothing is known of it, as with [`UpdateReply::Unknown`].
    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem>;

    /// Sends an update as [`UpdateZone::send`] does. What waits meanwhile until something is done waits no longer once `is_over`
    /// says that the apply is to end; it is not known then whether the update took effect.
    ///
    /// Errors: as there.
    fn send_until(&mut self, update: &Update<'_>, _is_over: &dyn Fn() -> bool) -> Result<UpdateTicket, Problem> {
        self.send(update)
    }

    /// Waits for the outcome of an update. After [`UpdateReply::Unknown`], all other updates in flight get that reply,
    /// too, and the next update is sent over another connection.
    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply;

    /// Which RRsets of an update the server named as the reason why it was not done; empty where it named none, or not all.
    fn blamed(&mut self, _ticket: UpdateTicket) -> Vec<RrsetBlame> {
        Vec::new()
    }
}
