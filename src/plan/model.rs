//! The plan as a value.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::pods::PodSeen;
use super::review::Review;
use super::waves::{GroupSeen, GroupWaves, WaitingSubject};
use super::zone_change::ZoneChange;
use crate::change::reach::takes_value;
use crate::change::{
    AffectedHost, BlockedSubject, Change, DelayedRrset, LeftBehindRrset, Notice, NoticeCode, SkippedSubject,
};
use crate::claim::{Subject, SubjectPattern};
use crate::diff::statements::RrsetStatement;
use crate::disk::hex;
use crate::dns::{RrKey, RrsetRef, Rtype, ZoneContents, ZoneName, is_of_signer};
use crate::document::{is_false, nullable, nullable_object, objects, present, present_object, words};
use crate::inventory::value::{Duration, Inv, Time};
use crate::registry::{MarkAffix, MarkForm, Registry};
use crate::target::{PoolName, TargetId, marker_key};

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
    pub only: Option<PlanScope>,
    /// SHA-256 of every input file in hexadecimal, by name.
    pub inputs: BTreeMap<String, String>,
    /// How many hosts the inventory has, of those that the plan was narrowed to; none where an apply is undone, since
    /// no inventory is read then, and in plans of an earlier version.
    pub fleet: Option<u64>,
    /// What the inventory says of the hosts that the plan names; without those that it lacks. Reports show their names.
    pub hosts: BTreeMap<Inv, HostSeen>,
    /// The hosts whose names lose an address by changes that are not theirs, sorted by name and host; those alone whose
    /// projects ask for approvals.
    pub affected: Vec<AffectedHost>,
    /// The changes, sorted by project, subject, pool, zone, owner, type, targets; the names as text.
    pub changes: Vec<Change>,
    /// The causes of the changes; none where an apply is undone, and where there are neither changes nor a base.
    pub review: Option<Review>,
    /// The groups whose subjects it changes and that have a budget, sorted by group.
    pub groups: Vec<GroupSeen>,
    /// The pods that it changes, and those of their sets that cannot be reached; sorted by subject.
    pub pods: Vec<PodSeen>,
    /// The RRsets at names that no host has, and that wait before they are deleted; sorted as `changes`.
    pub delayed: Vec<DelayedRrset>,
    /// The subjects that would wait for a wave if it were applied now, sorted by subject.
    pub waiting: Vec<WaitingSubject>,
    /// In how many waves each group goes, sorted by group; without groups all of which goes at once.
    pub waves: Vec<GroupWaves>,
    /// The own RRsets of names that no host has and that the plan leaves, sorted by name, zone, owner, type.
    pub left_behind: Vec<LeftBehindRrset>,
    /// What an apply notes of what files state: which manifest or zone file claims which RRset from now on, and which no
    /// longer does; sorted.
    pub stated: Vec<RrsetStatement>,
    /// The subjects that get no change although they should, sorted by subject.
    pub blocked: Vec<BlockedSubject>,
    /// The subjects that zonewright leaves alone on purpose, sorted by subject.
    pub skipped: Vec<SkippedSubject>,
    /// What an operator should know, sorted by code, name and subject.
    pub notices: Vec<Notice>,
    /// The limits, with what of them is used.
    pub limits: Vec<LimitState>,
    /// The exports, sorted by source; none where an apply is undone, or in plans of an earlier version.
    pub sources: Vec<SourceSeen>,
    /// The zones that are made, listed or deleted, before and after all changes; sorted by pool, zone, target.
    pub zone_changes: Vec<ZoneChange>,
    /// The copies that were read whole, sorted by pool, name and target.
    pub zones: Vec<ZoneSeen>,
}

impl Plan {
    /// Whether it does nothing.
    pub fn is_idle(&self) -> bool {
        self.changes.is_empty() && self.zone_changes.is_empty()
    }

    /// Whether the plan lists all RRsets that wait to be deleted, so that an RRset which waited and is not in the plan
    /// has the name of a host again.
    ///
    /// It does not where only some hosts were planned, where an apply is undone, where a zone could not be read, or
    /// where nothing was removed at names that no host has: a plan with RRsets that wait says so with a notice.
    pub fn tells_all_waits(&self) -> bool {
        let hides = |notice: &Notice| matches!(notice.code, NoticeCode::ZoneUnknown | NoticeCode::RemovalsRest);
        self.only.is_none() && self.undoes.is_none() && !self.notices.iter().any(hides)
    }

    /// The hosts at whose names a change takes an address, and of which no rule has a part in that.
    pub fn affected<'p>(&'p self, change: &'p Change) -> impl Iterator<Item = &'p AffectedHost> {
        let is_any = !self.affected.is_empty() && takes_value(change);
        let name = if is_any { change.key.owner.to_string() } else { String::new() };
        let start = self.affected.partition_point(|affected| affected.name < name);
        let rows = self.affected[start..].iter().take_while(move |affected| is_any && affected.name == name);
        let is_own = |affected: &AffectedHost| change.subjects().any(|own| own.host() == affected.subject.host());
        rows.filter(move |affected| !is_own(affected))
    }

    /// The backbone name of a host, with the final dot; none where the inventory has none for it.
    pub fn name_of(&self, host: Inv) -> Option<&str> {
        self.hosts.get(&host)?.name.as_deref()
    }

    /// A group that it changes; none where it changes nothing of it.
    pub fn group(&self, name: &str) -> Option<&GroupSeen> {
        let place = self.groups.binary_search_by(|seen| seen.group.as_str().cmp(name)).ok()?;
        Some(&self.groups[place])
    }

    /// What the export said of a pod; none where the plan does not know it.
    pub fn pod(&self, subject: &Subject) -> Option<&PodSeen> {
        let place = self.pods.binary_search_by(|seen| seen.subject.cmp(subject)).ok()?;
        Some(&self.pods[place])
    }

    /// Whether names of a zone were asked for one by one, so that the plan knows only the records at these names.
    pub fn was_asked(&self, zone: &ZoneName) -> bool {
        let zone = zone.to_string();
        self.notices.iter().any(|notice| notice.code == NoticeCode::ReadByQuery && notice.name == zone)
    }
}

/// What a plan is bound to: it is refused in another workspace, and where these settings have changed.
///
/// The fields of this and of what follows are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceSeen {
    /// The id that the state has; none where there was no state yet.
    #[serde(deserialize_with = "nullable")]
    pub id: Option<String>,
    /// `owner` of zonewright.toml.
    pub owner: String,
    /// The pools that have another owner, registry or form of TXT, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "objects")]
    pub pools: Vec<PoolMarkSeen>,
    /// `registry` of zonewright.toml: a plan says what is own by it.
    pub registry: Registry,
    /// Where the TXT of the registry are, by zonewright.toml; none where it says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present_object")]
    pub txt: Option<TxtFormSeen>,
}

/// Who a pool of its own owner, registry or form of TXT says we are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolMarkSeen {
    /// `owner` of the pool.
    pub owner: String,
    /// The pool.
    pub pool: PoolName,
    /// `registry` of the pool.
    pub registry: Registry,
    /// Where the TXT of the registry are in its zones; none where neither it nor zonewright.toml says anything of it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present_object")]
    pub txt: Option<TxtFormSeen>,
}

/// How the names of the registry's TXT are formed, in the words of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TxtFormSeen {
    /// `txt_prefix`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub prefix: Option<String>,
    /// `txt_suffix`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub suffix: Option<String>,
    /// `txt_wildcard_replacement`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub wildcard_replacement: Option<String>,
}

impl TxtFormSeen {
    /// What is set of a form; none where nothing is.
    pub fn of(form: &MarkForm) -> Option<TxtFormSeen> {
        let (prefix, suffix) = match form.affix.clone() {
            Some(MarkAffix::Prefix(prefix)) => (Some(prefix), None),
            Some(MarkAffix::Suffix(suffix)) => (None, Some(suffix)),
            None => (None, None),
        };
        (*form != MarkForm::default()).then(|| TxtFormSeen {
            prefix,
            suffix,
            wildcard_replacement: form.wildcard.clone(),
        })
    }
}

/// How own RRsets were known in the zones of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkSeen<'p> {
    /// The owner.
    pub owner: &'p str,
    /// The registry.
    pub registry: Registry,
    /// Where its TXT are.
    pub txt: Option<&'p TxtFormSeen>,
}

impl WorkspaceSeen {
    /// What zonewright.toml said for all pools.
    pub fn marking(&self) -> MarkSeen<'_> {
        MarkSeen { owner: &self.owner, registry: self.registry, txt: self.txt.as_ref() }
    }

    /// What held in the zones of a pool.
    pub fn marking_in(&self, pool: &PoolName) -> MarkSeen<'_> {
        let own = self.pools.iter().find(|own| own.pool == *pool);
        own.map_or_else(
            || self.marking(),
            |own| MarkSeen { owner: &own.owner, registry: own.registry, txt: own.txt.as_ref() },
        )
    }
}

/// A host as the inventory has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSeen {
    /// Whether hosts.csv has it no longer in service.
    #[serde(default, skip_serializing_if = "is_false")]
    pub left: bool,
    /// The datacenter in which hosts.csv has it.
    pub location: String,
    /// Its backbone name, in presentation format with the final dot; none where it has no name.
    #[serde(deserialize_with = "nullable")]
    pub name: Option<String>,
    /// Whether none of its names has an address yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub new: bool,
    /// The rack that hosts.csv names; none where it names none.
    #[serde(deserialize_with = "nullable")]
    pub rack: Option<String>,
    /// The switch that hosts.csv names; none where it names none.
    #[serde(deserialize_with = "nullable")]
    pub switch: Option<String>,
}

/// What the command line narrowed a plan to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanScope {
    /// What subjects may also be like, with `*` and `?`, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<SubjectPattern>,
    /// The projects, sorted; all where empty.
    pub projects: Vec<String>,
    /// The subjects, sorted; all of the projects where this and the patterns are empty.
    pub subjects: Vec<Subject>,
}

impl PlanScope {
    /// What the command line narrowed a plan to, by hosts and projects; none where it names neither.
    pub fn new(hosts: impl IntoIterator<Item = Inv>, projects: &[String]) -> Option<PlanScope> {
        let of_host = |inv: Inv| [Subject::Host(inv), Subject::Released(inv)];
        let subjects: BTreeSet<Subject> = hosts.into_iter().flat_map(of_host).collect();
        PlanScope { patterns: Vec::new(), projects: projects.to_vec(), subjects: subjects.into_iter().collect() }
            .if_any()
    }

    /// The same, where it narrows anything.
    pub fn if_any(self) -> Option<PlanScope> {
        (self.picks_subjects() || !self.projects.is_empty()).then_some(self)
    }

    /// Whether it narrows to subjects, by their texts or by patterns.
    pub fn picks_subjects(&self) -> bool {
        !self.subjects.is_empty() || !self.patterns.is_empty()
    }

    /// Whether a subject is among those that it narrows to; all are where it names none.
    pub fn includes(&self, subject: &Subject) -> bool {
        let is_like = || self.patterns.iter().any(|pattern| pattern.matches(subject));
        !self.picks_subjects() || self.subjects.contains(subject) || is_like()
    }

    /// The texts of the subjects that are no hosts, and the patterns.
    pub fn others(&self) -> impl Iterator<Item = String> {
        let others = self.subjects.iter().filter(|subject| subject.host().is_none()).map(Subject::to_string);
        others.chain(self.patterns.iter().map(SubjectPattern::to_string))
    }

    /// The hosts among the subjects, each once.
    pub fn hosts(&self) -> Vec<Inv> {
        let hosts: BTreeSet<Inv> = self.subjects.iter().filter_map(Subject::host).collect();
        hosts.into_iter().collect()
    }
}

/// How much of a limit is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitState {
    /// Of `max_by_cause`: the row or setting that causes most, as `file:line`; a few lines that cause as many, with
    /// commas.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What it counts.
    pub counts: LimitKind,
    /// Whether that is too many.
    pub exceeded: bool,
    /// From when on the plan would fit, if nothing else changes; none where it fits now, or never will.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub frees: Option<Time>,
    /// How many may change.
    pub max: u64,
    /// Of a share: what `max` is a share of; where hosts lose records, the hosts of the plan's `fleet`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// The period, such as `1h`; `plan` where it is about this plan alone.
    pub period: String,
    /// How many this plan would add.
    pub planned: u64,
    /// What it is about: `global`, `project:` and the id, or `zone:` and the name with the final dot.
    pub scope: String,
    /// What sets it; none where that is the default.
    #[serde(deserialize_with = "nullable_object")]
    pub setting: Option<LimitSetting>,
    /// How many did within the period; 0 where it is about this plan alone.
    pub used: u64,
}

/// The setting that sets a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSetting {
    /// Where, as `file:line`.
    pub place: String,
    /// What it says, such as `max_delete = "10%"`.
    pub says: String,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSeen {
    /// When it was made, by its own date; none where it has none.
    #[serde(deserialize_with = "nullable")]
    pub dated: Option<Time>,
    /// How old it may be; none where nothing is said.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Duration>,
    /// How many rows it has, bad ones included.
    pub rows: u64,
    /// The source, by the name that people know it by.
    pub source: String,
}

/// A zone as it was read from a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneSeen {
    /// SHA-256 over its content without SOA, DNSSEC types and the marker, in hexadecimal.
    #[serde(with = "super::document::digest")]
    pub digest: String,
    /// How many of its RRsets are of the types that the rules manage: AAAA and PTR.
    pub managed: u64,
    /// Its pool.
    pub pool: PoolName,
    /// How many RRsets it has.
    pub rrsets: u64,
    /// The SOA's serial; none where the zone does not exist yet.
    #[serde(deserialize_with = "nullable")]
    pub serial: Option<u32>,
    /// The target, by its name; a single one without a name has that of its pool.
    pub target: String,
    /// The zone.
    pub zone: ZoneName,
}

impl ZoneSeen {
    /// The copy of a zone at a target.
    pub fn new(target: &TargetId, zone: ZoneName, seen: ContentsSeen) -> ZoneSeen {
        let ContentsSeen { digest, managed, rrsets, serial } = seen;
        let (pool, target) = (target.pool.clone(), target.name.clone());
        ZoneSeen { digest, managed, pool, rrsets, serial: Some(serial), target, zone }
    }
}

/// What is kept of a zone's contents in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsSeen {
    /// SHA-256 over the contents without SOA, DNSSEC types and the marker, in hexadecimal.
    pub digest: String,
    /// How many RRsets are of the types that the rules manage: AAAA and PTR.
    pub managed: u64,
    /// How many RRsets there are.
    pub rrsets: u64,
    /// The SOA's serial.
    pub serial: u32,
}

impl ContentsSeen {
    /// How a zone's contents are seen.
    pub fn of(contents: &ZoneContents) -> ContentsSeen {
        ContentsSeen::with_each(contents, |_| {})
    }

    /// How a zone's contents are seen; `look` gets every RRset meanwhile, because going through a million of them again
    /// takes long.
    pub fn with_each(contents: &ZoneContents, mut look: impl FnMut(RrsetRef<'_>)) -> ContentsSeen {
        let marker = marker_key(contents.apex());
        let (mut rrsets, mut managed) = (0, 0);
        let digest = contents.digest(|rrset| {
            rrsets += 1;
            look(rrset);
            managed += u64::from(matches!(rrset.rtype(), Rtype::AAAA | Rtype::PTR));
            let is_marker = |key: &RrKey| key.rtype == rrset.rtype() && rrset.is_at(key.owner.as_name());
            let marks = marker.as_ref().is_some_and(is_marker);
            !marks && rrset.rtype() != Rtype::SOA && !is_of_signer(rrset.rtype())
        });
        ContentsSeen { digest: hex(&digest), managed, rrsets, serial: contents.serial().into_int() }
    }
}
