//! Facts about a target, for a user who asks whether it works; they are judged elsewhere.
//!
//! Looking at a target changes nothing there, and only the measures of a zone are kept.

use std::time::Duration;

use crate::diag::Problem;
use crate::dns::{ChangeKind, Name, Rdata, Rrset, Rtype, Ttl, ZoneContents, ZoneName};
use crate::target::{OpaqueRecords, Question, RrsetEdit, Update, UpdateReply, WriteTarget, marker_key};

/// A target as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetExamined {
    /// The key that messages are signed with, where they are.
    pub key: Option<KeyExamined>,
    /// Whether there are messages that a key could sign.
    pub signs: bool,
    /// Whether its one place is a folder.
    pub is_folder: bool,
    /// Whether zones are read by transfer, so that it must be allowed.
    pub transfers: bool,
    /// The servers, or the one folder, in the order of the settings.
    pub places: Vec<PlaceExamined>,
    /// What the target can do for a writer.
    pub capabilities: Capabilities,
}

impl TargetExamined {
    /// One that is asked by an API alone, at this place: it gives whole zones, and nothing is signed with a TSIG key.
    pub(super) fn by_api(place: PlaceExamined) -> TargetExamined {
        TargetExamined {
            key: None,
            signs: false,
            transfers: true,
            is_folder: false,
            places: vec![place],
            capabilities: Capabilities::NotAsked,
        }
    }

    /// How many updates of a zone are in flight at once, where the target was asked.
    pub fn pace(&self) -> Option<usize> {
        match self.capabilities {
            Capabilities::NotAsked => None,
            Capabilities::Asked { pace, .. } => pace,
        }
    }
}

/// A TSIG key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyExamined {
    /// Its name.
    pub name: Name,
    /// Its algorithm, such as `hmac-sha256`.
    pub algorithm: String,
    /// Why its secret cannot be read, if it cannot.
    pub fault: Option<Problem>,
}

/// What a target can do for a writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capabilities {
    /// It was not asked, since it cannot be reached or its key cannot be read.
    NotAsked,
    /// It was.
    Asked {
        /// Whether it takes updates of each zone, in the order of the zones.
        updates: Vec<UpdatesExamined>,
        /// How many updates of a zone are in flight at once; none without a zone.
        pace: Option<usize>,
    },
}

/// Whether updates of a zone are taken where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdatesExamined {
    /// The zone.
    pub zone: ZoneName,
    /// Where it is written.
    pub place: String,
    /// Why they are not taken; `None` where they are.
    pub fault: Option<Problem>,
}

/// A server or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceExamined {
    /// Its address or path.
    pub place: String,
    /// Why it cannot be reached, where it cannot; then no zone was asked for, or no further one.
    pub fault: Option<Problem>,
    /// Its clock.
    pub clock: ServerClock,
    /// The zones that were asked for.
    pub zones: Vec<ZoneExamined>,
}

/// The clock of a server, as its signatures show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerClock {
    /// No signed answer came.
    NotTold,
    /// Signed answers only repeat the time of the question, as PowerDNS does (4.7.3).
    Repeats,
    /// How many seconds it is ahead of ours; behind where negative.
    Ahead(i64),
}

/// A zone at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneExamined {
    /// Its name.
    pub zone: ZoneName,
    /// Whether the server answers for it with authority, or why that is not known; `None` where no server was asked.
    pub authority: Option<Result<bool, Problem>>,
    /// The serial that it has, if it answered with one.
    pub serial: Option<u32>,
    /// What was read, or why it could not be.
    pub read: Result<ZoneMeasures, Problem>,
    /// What a client without the key gets; `None` where that was not tried.
    pub without_key: Option<KeylessAccess>,
    /// Whether it can be written to, where that is a matter of files.
    pub writable: Option<bool>,
}

/// How much was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneMeasures {
    /// RRsets.
    pub rrsets: usize,
    /// Records.
    pub records: usize,
    /// Octets of messages, without their lengths, or of files.
    pub octets: u64,
    /// How long a transfer took.
    pub took: Option<Duration>,
    /// Whether there are signatures in it.
    pub signed: bool,
    /// How many things in its files are questionable.
    pub warnings: usize,
    /// What no RRset says.
    pub opaque: Vec<OpaqueRecords>,
}

/// What a client without the key gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeylessAccess {
    /// The zone.
    Allowed,
    /// A refusal.
    Refused,
    /// Something else.
    Unclear(String),
}

/// A zone as an API gave it: what it holds, what of that no RRset says, and in how many octets it came.
pub(super) type ZoneByApi = (ZoneContents, Vec<OpaqueRecords>, u64);

/// Looks at zones by what reads them whole from an API at this place; one that is not answered is the last.
pub(super) fn look_by_api(
    place: String,
    zones: &[&ZoneName],
    read: impl Fn(&ZoneName) -> Result<ZoneByApi, Problem>,
) -> PlaceExamined {
    let mut examined = PlaceExamined { place, fault: None, clock: ServerClock::NotTold, zones: Vec::new() };
    for zone in zones {
        let read = read(zone);
        if let Err(fault) = &read
            && matches!(fault.code.as_str(), "connect-failed" | "timeout" | "api-denied" | "no-credentials")
        {
            examined.fault = Some(Problem { place: examined.place.clone(), ..fault.clone() });
            break;
        }
        examined.zones.push(ZoneExamined {
            zone: (*zone).clone(),
            authority: None,
            serial: read.as_ref().ok().map(|(contents, ..)| contents.serial().into_int()),
            read: read
                .map(|(contents, opaque, octets)| ZoneMeasures { opaque, ..ZoneMeasures::of(&contents, octets, None) }),
            without_key: None,
            writable: None,
        });
    }
    examined
}

/// The place of an API that cannot be opened.
pub(super) fn not_opened(place: String, fault: Problem) -> PlaceExamined {
    PlaceExamined { place, fault: Some(fault), clock: ServerClock::NotTold, zones: Vec::new() }
}

/// The text of a record that is never at a marker's place, so that an update that requires it never takes effect.
const NEVER: &str = "what zonewright doctor asks for, and no run writes";

/// Asks the primary of a zone whether it accepts updates, by an update whose prerequisite never holds.
///
/// Servers check the permission for the zone first. They check that for single names and types only when all
/// prerequisites hold, so this does not show it (RFC 2136 section 3.3).
pub(super) fn try_update(writer: &dyn WriteTarget, zone: &ZoneName) -> UpdatesExamined {
    let examined = |fault| UpdatesExamined { zone: zone.clone(), place: writer.place(zone), fault };
    let soa = Question::soa(zone);
    if let Err(error) = writer.observe(zone, &[soa], None) {
        return examined(Some(error));
    }
    let Some(key) = marker_key(zone) else { return examined(None) };
    let never = Rdata::from_text(NEVER).expect("a short text");
    let before = Rrset::new(Ttl::DEFAULT, vec![never]).expect("one record");
    let kind = ChangeKind::Delete { before };
    let mut session = writer.open(zone);
    let update = Update { zone, edits: vec![RrsetEdit { key: &key, kind: &kind }] };
    let reply = session.send(&update).map(|ticket| session.reply(ticket));
    examined(match reply {
        Ok(UpdateReply::Done | UpdateReply::Prerequisite(_)) => None,
        Ok(
            UpdateReply::Refused(error)
            | UpdateReply::Failed(error)
            | UpdateReply::Unknown(error)
            | UpdateReply::Raced(error)
            | UpdateReply::RefusedInPart(error),
        )
        | Err(error) => Some(error),
    })
}

impl ZoneMeasures {
    /// Measures contents that came in so many octets.
    pub(super) fn of(contents: &ZoneContents, octets: u64, took: Option<Duration>) -> ZoneMeasures {
        ZoneMeasures {
            rrsets: contents.rrsets().count(),
            records: contents.record_count(),
            octets,
            took,
            signed: contents.rrsets().any(|rrset| rrset.rtype() == Rtype::RRSIG),
            warnings: 0,
            opaque: Vec::new(),
        }
    }
}
