//! The values that describe decisions: changes with their reasons, and why hosts get none.
//!
//! Comes in: what the rules decide. Goes out: plain values that diff makes, plan keeps and report prints. Pure.

use serde::{Deserialize, Serialize};

use crate::claim::Subject;
pub use crate::dns::ChangeKind;
use crate::dns::{Name, NameRef, RrKey, Rrset, Rtype, ZoneName};
use crate::document::{nullable, words};
use crate::inventory::value::{Inv, Time};
use crate::target::{PoolName, TargetId, ZoneId};

mod document;

pub mod reach;

#[cfg(test)]
pub mod fixture;

pub use crate::claim::Rule;
pub use document::{RrsetText, WithoutReasons};

/// What is done to one RRset.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The pool of the zone.
    pub pool: PoolName,
    /// The zone.
    pub zone: ZoneName,
    /// The owner name and type.
    pub key: RrKey,
    /// What the change is for.
    pub subject: Subject,
    /// The others whose rules contributed, sorted.
    pub also: Vec<Subject>,
    /// Of a TXT of the registry the RRset that it records, where the name of the TXT does not say it; otherwise none.
    pub registers: Option<RecordedRrset>,
    /// The targets that it is for, by their names in the pool, sorted; all of the pool's where empty.
    pub targets: Vec<String>,
    /// The project of the host, or the one whose orphan is removed.
    pub project: String,
    /// Before and after.
    pub kind: ChangeKind,
    /// What is there in between, until caches no longer hold what was before; none where the change is made at once.
    pub via: Option<Rrset>,
    /// Why, sorted by rule and subject; never empty.
    pub reasons: Vec<Reason>,
}

impl Change {
    /// The zone that it is made in.
    pub fn zone_id(&self) -> ZoneId {
        ZoneId { pool: self.pool.clone(), name: self.zone.clone() }
    }

    /// Whether it is for a target of its pool.
    pub fn is_for(&self, target: &TargetId) -> bool {
        target.pool == self.pool && self.is_at(&target.name)
    }

    /// Whether it is for the target of its pool that has a name.
    pub fn is_at(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|name| name == target)
    }

    /// Whether there is a target that it and another change are for.
    pub fn shares_target(&self, other: &Change) -> bool {
        let is_common = || self.targets.iter().any(|target| other.targets.contains(target));
        self.pool == other.pool && (self.targets.is_empty() || other.targets.is_empty() || is_common())
    }

    /// What it is for, and the others that contributed.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        std::iter::once(&self.subject).chain(&self.also)
    }

    /// The hosts among its subjects, each once: that of the change first.
    pub fn hosts(&self) -> Vec<Inv> {
        let mut hosts = Vec::with_capacity(1 + self.also.len());
        for inv in self.subjects().filter_map(Subject::host) {
            if !hosts.contains(&inv) {
                hosts.push(inv);
            }
        }
        hosts
    }

    /// The hosts that share it, but for its own.
    pub fn other_hosts(&self) -> Vec<Inv> {
        let mut hosts = self.hosts();
        hosts.retain(|inv| Some(*inv) != self.subject.host());
        hosts
    }

    /// The rules that make it; without those that only say something about it.
    pub fn rules(&self) -> impl Iterator<Item = Rule> {
        self.reasons.iter().map(|reason| reason.rule).filter(|rule| !rule.is_remark())
    }

    /// The lines that its rules are based on; in an undo the updates of the apply.
    pub fn lines(&self) -> impl Iterator<Item = &String> {
        let rules = self.reasons.iter().filter(|reason| !reason.rule.is_remark());
        rules.flat_map(|reason| &reason.evidence)
    }

    /// Whether the RRset was edited after the latest apply that wrote it.
    pub fn is_edited_since(&self) -> bool {
        self.reasons.iter().any(|reason| reason.rule == Rule::EditedSince)
    }

    /// Whether the reference copy already has what it makes.
    pub fn brings_in_line(&self) -> bool {
        self.reasons.iter().any(|reason| reason.rule == Rule::CopyDiffers)
    }

    /// Whether it changes a TXT of the registry. An undo no longer knows the rule, but no rule changes any other TXT.
    pub fn is_registry(&self) -> bool {
        let of_registry = |reason: &Reason| matches!(reason.rule, Rule::Registry | Rule::Adopted | Rule::Undo);
        self.key.rtype == Rtype::TXT && !self.is_of_mark() && self.reasons.iter().any(of_registry)
    }

    /// Whether it changes the mark of an RRset alone, and none of its records.
    pub fn is_of_mark(&self) -> bool {
        self.kind.is_of_mark()
    }

    /// Whether it changes only who owns an RRset, as the registry knows it: a TXT of the registry, or the mark at the RRset.
    pub fn is_of_owner(&self) -> bool {
        self.is_registry() || self.is_of_mark()
    }

    /// Whether it is of an SRV that lists pods.
    pub fn lists_pods(&self) -> bool {
        self.key.rtype == Rtype::SRV && matches!(self.subject, Subject::Endpoints(_))
    }

    /// Whether it only takes over an RRset from another owner.
    pub fn adopts(&self) -> bool {
        self.reasons.iter().any(|reason| reason.rule == Rule::Adopted)
    }

    /// The RRset that is recorded by the TXT, where it changes a TXT of the registry.
    pub fn registered(&self) -> Option<(Rtype, Name)> {
        if !self.is_registry() {
            return None;
        }
        let own = self.registers.clone().or_else(|| RecordedRrset::said_by(self.key.owner.as_name()));
        own.map(|own| (own.rtype, own.name))
    }

    /// The RRset that it is about: of a TXT of the registry the one that it records.
    pub fn meant_rrset(&self) -> (Rtype, Name) {
        self.registered().unwrap_or_else(|| (self.key.rtype, self.key.owner.as_name().to_name()))
    }
}

/// An RRset that a TXT of the registry records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRrset {
    /// Its owner name.
    pub name: Name,
    /// Its type.
    #[serde(rename = "type", with = "crate::dns::rtype_text")]
    pub rtype: Rtype,
}

impl RecordedRrset {
    /// What the name of a TXT without a prefix or suffix says: `t-LABEL.REST` belongs to type T at LABEL.REST.
    pub fn said_by(txt: NameRef<'_>) -> Option<RecordedRrset> {
        let label = txt.first_label()?;
        let dash = label.iter().position(|octet| *octet == b'-')?;
        let rtype = std::str::from_utf8(&label[..dash]).ok()?.parse().ok()?;
        Some(RecordedRrset { name: Name::prepend(&label[dash + 1..], txt.parent()?).ok()?, rtype })
    }

    /// What a change of the TXT at a name must say of the RRset that it records: nothing where the name says it.
    pub fn unless_said_by(self, txt: NameRef<'_>) -> Option<RecordedRrset> {
        Some(self).filter(|own| RecordedRrset::said_by(txt).as_ref() != Some(own))
    }
}

/// One reason for a change.
///
/// Fields of what documents hold are in the order of their names there (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The lines that it is based on, as `file:line`; in an undo the updates of the apply, as `apply:number:update`. Of
    /// `edited-since` the update that wrote the RRset last, in the same way, and when it was sent, as `sent:TIME`.
    pub evidence: Vec<String>,
    /// The reconcile rule.
    pub rule: Rule,
    /// What the rule ran for.
    pub subject: Subject,
}

/// What comes before the time at which an update was sent, in evidence.
const SENT: &str = "sent:";

impl Reason {
    /// That an RRset was edited after this update of an apply, which was sent at this time.
    pub fn edited_since(apply: u64, update: u64, sent: Time, subject: Subject) -> Reason {
        let evidence = vec![format!("apply:{apply}:{update}"), format!("{SENT}{sent}")];
        Reason { evidence, rule: Rule::EditedSince, subject }
    }
}

/// The apply that evidence of `edited-since` names, and when it wrote the RRset; none where it is no such evidence.
pub fn edited_after(evidence: &[String]) -> Option<(u64, Time)> {
    let [update, sent] = evidence else { return None };
    let (apply, _) = update.strip_prefix("apply:")?.split_once(':')?;
    Some((apply.parse().ok()?, sent.strip_prefix(SENT)?.parse().ok()?))
}

words! {
    /// Why a subject is blocked; in the order in which they are tried.
    BlockCode {
        /// A line about it is wrong.
        BadInput = "bad-input",
        /// A source that it needs is not believed.
        SourceUntrusted = "source-untrusted",
        /// No file has the DNS update record that is to publish it.
        UnknownRecord = "unknown-record",
        /// It has no name.
        NoName = "no-name",
        /// Its name is outside the project's domains.
        ForeignDomain = "foreign-domain",
        /// Another interface has its name.
        DuplicateName = "duplicate-name",
        /// No report gives its MAC.
        NoMac = "no-mac",
        /// Another host has its MAC.
        DuplicateMac = "duplicate-mac",
        /// No network for its switch or datacenter and VLAN.
        NoNetwork = "no-network",
        /// None of its IPv4 addresses is in the map.
        NoIpv4Network = "no-ipv4-network",
        /// A DNS update record is to publish it with addresses of two scopes.
        ScopeConflict = "scope-conflict",
        /// The inventory lists no address for it.
        NoAddress = "no-address",
        /// Another interface has one of its addresses.
        AddressCollision = "address-collision",
        /// What another subject claims contradicts it.
        ClaimConflict = "claim-conflict",
        /// No configured zone holds its name or a reverse name.
        NoZone = "no-zone",
        /// Such a zone does not exist, and its target cannot make it.
        ZoneMissing = "zone-missing",
        /// Such a zone could not be read completely.
        ZoneUnknown = "zone-unknown",
        /// The copies hold different A records at its name.
        CopiesDisagree = "copies-disagree",
        /// Such a name is at or below a delegation.
        Delegated = "delegated",
        /// There is a CNAME at such a name, or a DNAME above it.
        Cname = "cname",
        /// What no RRset says is at such a name.
        Opaque = "opaque",
        /// Its rules would remove a protected host's record.
        Conflict = "conflict",
        /// A wrong record that is not ours is where its own belongs.
        NotOwner = "not-owner",
        /// It demands what no target of its pool can hold.
        TargetLimit = "target-limit",
        /// Its name is protected.
        Protected = "protected",
        /// With its changes a zone would break a rule of DNS.
        PostState = "post-state",
    }
}

impl BlockCode {
    /// Whether what a zone holds is not known, or there is no such zone.
    pub fn is_of_zone(self) -> bool {
        matches!(self, BlockCode::ZoneUnknown | BlockCode::ZoneMissing)
    }
}

words! {
    /// Why a subject is skipped.
    SkipCode {
        /// Automation is not allowed or not switched on for its project.
        AutomationOff = "automation-off",
        /// It has the restriction `automated-dns`.
        Restricted = "restricted",
        /// A breaker has tripped.
        Breaker = "breaker",
    }
}

words! {
    /// What an operator should know.
    NoticeCode {
        /// A host's address is at a name that no host has.
        ForeignName = "foreign-name",
        /// A source could not be read completely.
        SourceUnknown = "source-unknown",
        /// A zone could not be read completely.
        ZoneUnknown = "zone-unknown",
        /// A settings file has errors, so that hosts are not planned.
        BadSettings = "bad-settings",
        /// Pods are of a set that no file has, so that they are not planned.
        UnknownSet = "unknown-set",
        /// A part of a file of records could not be read, so that it is not known which names it states.
        RecordsUnread = "records-unread",
        /// A zone was queried name by name, so that not all of it was read.
        ReadByQuery = "read-by-query",
        /// A source fails a test, and is not believed.
        SourceUntrusted = "source-untrusted",
        /// A rule would remove records at a protected name.
        Protected = "protected",
        /// Live DNS already breaks a rule of DNS.
        PostState = "post-state",
        /// An RRset was changed after the apply that is undone, or after the latest apply that wrote it, so that its host
        /// is left.
        EditedSince = "edited-since",
        /// Removals are paused, so that RRsets that wait to be deleted continue to wait.
        RemovalsRest = "removals-rest",
        /// Own RRsets are at a name that no host has.
        LeftBehind = "left-behind",
        /// A zone that a subject needs is not known at a target, so that it gets no change there.
        TargetUnknown = "target-unknown",
        /// What is at a target would block a subject, so that it gets no change there.
        CopyBlocked = "copy-blocked",
        /// Copies differ in RRsets that no change brings in line.
        CopiesDiffer = "copies-differ",
        /// A target compares nothing before it writes.
        CannotCompare = "cannot-compare",
        /// A target may be written to only so fast, so that an apply takes a while.
        SlowTarget = "slow-target",
        /// Names that pods of a set had stay until caches have forgotten what led to them.
        FormerNames = "former-names",
        /// The clock is behind what an earlier run noted, and subjects wait for a wave.
        ClockBack = "clock-back",
        /// Pods of a set move again sooner than the set says that they do.
        MigratesOften = "migrates-often",
        /// A zone does not exist at a target, and the target cannot make it.
        ZoneMissing = "zone-missing",
        /// A zone is made, listed in the catalog, or deleted.
        ZoneChange = "zone-change",
        /// A zone that should be deleted stays.
        ZoneKept = "zone-kept",
        /// A host's address, or a PTR to its name, is where a file states it.
        AddressShared = "address-shared",
        /// A part of what a file states has no effect.
        WithoutEffect = "without-effect",
        /// A DNS update record is never applied, and would change an RRset.
        DryRun = "dry-run",
        /// The filter of a DNS update record hides a name.
        Filtered = "filtered",
        /// An entry of a file counts for nothing, because another one of its source is preferred.
        EntryLost = "entry-lost",
        /// RRsets of another owner keep it, although others of that owner are taken over.
        OwnerKept = "owner-kept",
        /// What a cluster-management service says of the hosts of a plan, asked by dry runs.
        CmsAnswers = "cms-answers",
        /// A cluster-management service would reject the change of a host.
        CmsRejects = "cms-rejects",
        /// A cluster-management service gives no answer, so that hosts wait.
        CmsSilent = "cms-silent",
    }
}

impl NoticeCode {
    /// Whether something could not be read, or not be used, so that the plan is incomplete.
    pub fn tells_of_failure(self) -> bool {
        match self {
            NoticeCode::SourceUnknown
            | NoticeCode::ZoneUnknown
            | NoticeCode::BadSettings
            | NoticeCode::UnknownSet
            | NoticeCode::RecordsUnread => true,
            NoticeCode::ForeignName
            | NoticeCode::ReadByQuery
            | NoticeCode::SourceUntrusted
            | NoticeCode::Protected
            | NoticeCode::PostState
            | NoticeCode::EditedSince
            | NoticeCode::RemovalsRest
            | NoticeCode::LeftBehind
            | NoticeCode::TargetUnknown
            | NoticeCode::CopyBlocked
            | NoticeCode::CopiesDiffer
            | NoticeCode::CannotCompare
            | NoticeCode::SlowTarget
            | NoticeCode::FormerNames
            | NoticeCode::ClockBack
            | NoticeCode::MigratesOften
            | NoticeCode::ZoneMissing
            | NoticeCode::ZoneChange
            | NoticeCode::ZoneKept
            | NoticeCode::AddressShared
            | NoticeCode::WithoutEffect
            | NoticeCode::EntryLost
            | NoticeCode::DryRun
            | NoticeCode::Filtered
            | NoticeCode::OwnerKept
            | NoticeCode::CmsAnswers
            | NoticeCode::CmsRejects
            | NoticeCode::CmsSilent => false,
        }
    }

    /// Whether a plan is incomplete, because something could not be read or is not believed.
    pub fn tells_of_less(self) -> bool {
        self.tells_of_failure() || self == NoticeCode::SourceUntrusted
    }
}

/// An RRset that waits: a rule will remove records of it, because no host has the name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "document::DelayedText", try_from = "document::DelayedText")]
pub struct DelayedRrset {
    /// The pool of the zone.
    pub pool: PoolName,
    /// The zone.
    pub zone: ZoneName,
    /// The owner name and type.
    pub key: RrKey,
    /// The host that had the name, or the orphan.
    pub subject: Subject,
    /// The project.
    pub project: String,
    /// `released` or `orphan`.
    pub rule: Rule,
    /// When an apply first noted it; none where no apply has yet.
    pub since: Option<Time>,
    /// From when on it may be deleted; none where no apply has noted it yet.
    pub due: Option<Time>,
}

/// An own RRset that a plan leaves, of a name that no host has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "document::LeftBehindText", try_from = "document::LeftBehindText")]
pub struct LeftBehindRrset {
    /// The pool of the zone.
    pub pool: PoolName,
    /// The zone.
    pub zone: ZoneName,
    /// The owner name and type.
    pub key: RrKey,
    /// The name that no host has: the owner of an AAAA, and what a PTR points to.
    pub name: Name,
    /// The host that had the name, where the inventory or the journal knows one; else the orphan.
    pub subject: Subject,
    /// The project whose domain the name is in; none where it is in no project's.
    pub project: Option<String>,
    /// The apply that created the RRset; none where the journal does not have it.
    pub apply: Option<u64>,
}

/// A host at whose name a change takes an address, and of which no rule has a part in that: the command line did not name it, or
/// it gets no change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AffectedHost {
    /// The name, in presentation format with the final dot.
    pub name: String,
    /// The project of the host.
    pub project: String,
    /// The host.
    pub subject: Subject,
}

/// A subject that is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockedSubject {
    /// Why.
    pub code: BlockCode,
    /// What to do.
    pub hint: String,
    /// Why, in words, with the values at fault.
    pub message: String,
    /// Its project.
    pub project: String,
    /// What is blocked.
    pub subject: Subject,
}

/// A subject that is skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedSubject {
    /// Why.
    pub code: SkipCode,
    /// Its project.
    pub project: String,
    /// What is skipped.
    pub subject: Subject,
}

/// What an operator should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// What kind.
    pub code: NoticeCode,
    /// In words.
    pub message: String,
    /// The name, zone or source it is about.
    pub name: String,
    /// The subject it is about.
    #[serde(deserialize_with = "nullable")]
    pub subject: Option<Subject>,
}

impl Notice {
    /// The host it is about.
    pub fn host(&self) -> Option<Inv> {
        self.subject.as_ref()?.host()
    }
}
