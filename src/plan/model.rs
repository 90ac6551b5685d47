//! The plan as a value.

use std::collections::BTreeMap;

use super::marker::marker_key;
use super::review::Review;
use crate::change::{Blocked, Change, LeftBehind, Notice, NoticeCode, Skipped, Waiting, words};
use crate::dns::{RrKey, RrsetRef, Rtype, ZoneContents, ZoneName};
use crate::inventory::model::Registry;
use crate::inventory::value::{Duration, Inv, Time};

/// All that a run would change, and all that it would not and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The program that made it, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it was made.
    pub created: Time,
    /// When it may no longer be applied.
    pub expires: Time,
    /// The workspace that it is for.
    pub workspace: WorkspaceSeen,
    /// The number of the apply that it undoes, in the state of the workspace; none where it undoes none.
    pub undoes: Option<u64>,
    /// What the command line narrowed it to; none where it is about the whole fleet.
    pub only: Option<Only>,
    /// SHA-256 of every input file in hexadecimal, by name.
    pub inputs: BTreeMap<String, String>,
    /// How many hosts the inventory has, of those that the plan was narrowed to; none where an apply is undone, since
    /// no inventory is read then, and in plans of an earlier version.
    pub fleet: Option<u64>,
    /// What the inventory says of the hosts that the plan names; without those that it lacks. Reports show their names.
    pub hosts: BTreeMap<Inv, HostSeen>,
    /// The changes, sorted by project, host (none last), zone, owner, type; the names as text.
    pub changes: Vec<Change>,
    /// The causes of the changes; none where an apply is undone, and where there are neither changes nor a base.
    pub review: Option<Review>,
    /// The RRsets at names that no host has, and that wait before they are deleted; sorted as `changes`.
    pub waiting: Vec<Waiting>,
    /// The own RRsets of names that no host has and that the plan leaves, sorted by name, zone, owner, type.
    pub left_behind: Vec<LeftBehind>,
    /// The hosts that get no change although they should, sorted by host.
    pub blocked: Vec<Blocked>,
    /// The hosts that zonewright leaves alone on purpose, sorted by host.
    pub skipped: Vec<Skipped>,
    /// What an operator should know, sorted by code, name and host.
    pub notices: Vec<Notice>,
    /// The limits, with what of them is used.
    pub limits: Vec<LimitState>,
    /// The exports, sorted by source; none where an apply is undone, or in plans of an earlier version.
    pub sources: Vec<SourceSeen>,
    /// The zones that were read whole, sorted by name.
    pub zones: Vec<ZoneSeen>,
}

impl Plan {
    /// Whether the plan lists all RRsets that wait to be deleted, so that an RRset which waited and is not in the plan
    /// has the name of a host again.
    ///
    /// It does not where only some hosts were planned, where an apply is undone, where a zone could not be read, or
    /// where nothing was removed at names that no host has: a plan with RRsets that wait says so with a notice.
    pub fn tells_all_waits(&self) -> bool {
        let hides = |notice: &Notice| matches!(notice.code, NoticeCode::ZoneUnknown | NoticeCode::RemovalsRest);
        self.only.is_none() && self.undoes.is_none() && !self.notices.iter().any(hides)
    }

    /// The backbone name of a host, with the final dot; none where the inventory has none for it.
    pub fn name_of(&self, host: Inv) -> Option<&str> {
        self.hosts.get(&host)?.name.as_deref()
    }

    /// Whether names of a zone were asked for one by one, so that the plan knows only the records at these names.
    pub fn was_asked(&self, zone: &ZoneName) -> bool {
        let zone = zone.to_string();
        self.notices.iter().any(|notice| notice.code == NoticeCode::ReadByQuery && notice.name == zone)
    }
}

/// What a plan is bound to: it is refused in another workspace, and where these settings have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSeen {
    /// `owner` of zonewright.toml.
    pub owner: String,
    /// `registry` of zonewright.toml: a plan says what is own by it.
    pub registry: Registry,
    /// The id that the state has; none where there was no state yet.
    pub id: Option<String>,
}

/// A host as the inventory has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSeen {
    /// Its backbone name, in presentation format with the final dot; none where it has no name.
    pub name: Option<String>,
    /// The datacenter in which hosts.csv has it.
    pub location: String,
    /// The switch that hosts.csv names; none where it names none.
    pub switch: Option<String>,
    /// The rack that hosts.csv names; none where it names none.
    pub rack: Option<String>,
}

/// What the command line narrowed a plan to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    /// The hosts, sorted; all of the projects where empty.
    pub hosts: Vec<Inv>,
    /// The projects, sorted; all where empty.
    pub projects: Vec<String>,
}

/// How much of a limit is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitState {
    /// What it is about: `global`, `project:` and the id, or `zone:` and the name with the final dot.
    pub scope: String,
    /// The period, such as `1h`; `plan` where it is about this plan alone.
    pub period: String,
    /// What it counts.
    pub counts: LimitKind,
    /// How many may change.
    pub max: u64,
    /// How many did within the period; 0 where it is about this plan alone.
    pub used: u64,
    /// How many this plan would add.
    pub planned: u64,
    /// Whether that is too many.
    pub exceeded: bool,
    /// Of a share: what `max` is a share of; where hosts lose records, the hosts of the plan's `fleet`.
    pub of: Option<u64>,
    /// Of `max_by_cause`: the row or setting that causes most, as `file:line`; a few lines that cause as many, with
    /// commas.
    pub cause: Option<String>,
    /// From when on the plan would fit, if nothing else changes; none where it fits now, or never will.
    pub frees: Option<Time>,
    /// What sets it; none in plans of an earlier version.
    pub setting: Option<LimitSetting>,
}

/// What sets a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitSetting {
    /// Nothing does: it is the default.
    Default,
    /// A setting.
    Written {
        /// What it says, such as `max_delete = "10%"`.
        says: String,
        /// Where, as `file:line`.
        place: String,
    },
}

impl LimitState {
    /// What people call the limit, and `--allow` names: `project:search/1h`, `zone:example.net./max_delete`.
    pub fn name(&self) -> String {
        match self.counts {
            LimitKind::Hosts => format!("{}/{}", self.scope, self.period),
            counts => format!("{}/{counts}", self.scope),
        }
    }
}

words! {
    /// What a limit counts.
    LimitKind {
        /// Distinct hosts that change within the period.
        Hosts = "hosts",
        /// RRsets of a zone that one plan deletes.
        MaxDelete = "max_delete",
        /// RRsets of a zone that one plan modifies.
        MaxModify = "max_modify",
        /// Changes of one plan that have one cause, where `max_by_cause` is set; else hosts that lose live records
        /// because of one line.
        MaxByCause = "max_by_cause",
        /// Hosts from which one plan takes live AAAA or PTR records.
        MaxLoss = "max_loss",
    }
}

/// An export as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSeen {
    /// The source, by the name that people know it by.
    pub source: String,
    /// How many rows it has, bad ones included.
    pub rows: u64,
    /// When it was made, by its own date; none where it has none.
    pub dated: Option<Time>,
    /// How old it may be; none where nothing is said.
    pub max_age: Option<Duration>,
}

/// A zone as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneSeen {
    /// The zone.
    pub zone: ZoneName,
    /// The SOA's serial.
    pub serial: u32,
    /// How many RRsets it has.
    pub rrsets: u64,
    /// How many of them are of the types that the rules manage: AAAA and PTR.
    pub managed: u64,
    /// SHA-256 over its content without SOA, DNSSEC types and the marker, in hexadecimal.
    pub digest: String,
}

impl ZoneSeen {
    /// How a zone's contents are seen.
    pub fn of(contents: &ZoneContents) -> ZoneSeen {
        ZoneSeen::with_each(contents, |_| {})
    }

    /// How a zone's contents are seen; `look` gets every RRset meanwhile, because going through a million of them again
    /// takes long.
    pub fn with_each(contents: &ZoneContents, mut look: impl FnMut(RrsetRef<'_>)) -> ZoneSeen {
        let marker = marker_key(contents.apex());
        let (mut rrsets, mut managed) = (0, 0);
        let digest = contents.digest(|rrset| {
            rrsets += 1;
            look(rrset);
            managed += u64::from(matches!(rrset.rtype(), Rtype::AAAA | Rtype::PTR));
            let is_marker = |key: &RrKey| key.rtype == rrset.rtype() && rrset.is_at(key.owner.as_name());
            let marks = marker.as_ref().is_some_and(is_marker);
            !marks && rrset.rtype() != Rtype::SOA && !is_dnssec(rrset.rtype())
        });
        let digest: String = digest.iter().map(|octet| format!("{octet:02x}")).collect();
        ZoneSeen { zone: contents.apex().clone(), serial: contents.serial().into_int(), rrsets, managed, digest }
    }
}

/// The types that a signer makes, which change when no editor changes anything (RFC 4034, RFC 5155, RFC 7344).
fn is_dnssec(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM | Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY
    )
}
