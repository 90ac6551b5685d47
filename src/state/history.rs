//! What the journal says of past applies: what was sent, its outcome, what it left, who resumed it, which limits were
//! lifted. Pure.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;

use super::approvals::ApprovalGiven;
use super::gates::GateAsked;
use super::publication::RrsetStanding;
use super::{ApplyId, ApplySummary};
use crate::change::{RecordedRrset, RrsetText};
use crate::claim::{Subject, subject_and_host};
use crate::dns::{Name, Rrset, Rtype, ZoneName};
use crate::guard::Allowance;
use crate::inventory::value::{Inv, Time};
use crate::target::{PoolName, TargetId};

/// One update of an apply.
#[derive(Debug, Clone, PartialEq)]
pub struct SentUpdate {
    /// Its number within the apply.
    pub number: u64,
    /// The zone.
    pub zone: ZoneName,
    /// The target that it was sent to; unknown in updates of older versions.
    pub target: TargetId,
    /// Whether the pool has several targets, so that the target says something.
    pub is_of_several: bool,
    /// The word of its phase.
    pub phase: String,
    /// When it was sent.
    pub at: Time,
    /// Its outcome.
    pub fate: SentFate,
    /// That others may have written the zone at the same time, where it took effect.
    pub race: Option<String>,
    /// What it changes.
    pub changes: Vec<SentChange>,
}

impl SentUpdate {
    /// Whether a DNS update record published what it changes: such a record has a pool of its own name.
    pub fn is_of_record(&self) -> bool {
        self.changes.iter().any(|change| change.subject.source() == Some(self.target.pool.as_str()))
    }
}

/// The outcome of an update that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentFate {
    /// It took effect.
    Done,
    /// Provably nothing of it took effect, and why.
    Undone(String),
    /// It is unknown, and why; without a reason where the apply ended before it could know.
    Unknown(Option<String>),
}

impl SentUpdate {
    /// The target, where its pool has several.
    pub fn told_target(&self) -> Option<&str> {
        self.is_of_several.then_some(self.target.name.as_str())
    }
}

impl SentFate {
    /// Greater where it says more about the current records.
    fn rank(&self) -> u8 {
        match self {
            SentFate::Undone(_) => 0,
            SentFate::Unknown(_) => 1,
            SentFate::Done => 2,
        }
    }
}

/// One change of an update.
#[derive(Debug, Clone, PartialEq)]
pub struct SentChange {
    /// What it was for.
    pub subject: Subject,
    /// The others whose rules contributed, sorted.
    pub also: Vec<Subject>,
    /// The project.
    pub project: String,
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// What was there before.
    pub before: Option<RrsetText>,
    /// What is there after.
    pub after: Option<RrsetText>,
    /// What a TXT of the registry records, where its name does not say it.
    pub registers: Option<RecordedRrset>,
}

/// That an apply was taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resumption {
    /// When.
    pub at: Time,
    /// Who did it, as the system knows them; empty where it does not.
    pub who: String,
    /// Why, if a reason was given.
    pub reason: Option<String>,
}

/// A host that an apply did not leave as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftSubject {
    /// Which.
    #[serde(flatten, serialize_with = "subject_and_host")]
    pub subject: Subject,
    /// Its project.
    pub project: String,
    /// A name of it that the plan changes.
    pub name: String,
    /// The word of its outcome.
    pub outcome: String,
    /// Why, in words.
    pub message: Option<String>,
}

/// What an update left at an RRset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenRrset {
    /// The apply whose update it was.
    pub apply: ApplyId,
    /// The number of the update within that.
    #[serde(skip)]
    pub number: u64,
    /// When the update was sent: what it left was there at some time after that.
    pub at: Time,
    /// Whether it created the RRset.
    #[serde(skip)]
    pub is_new: bool,
    /// What it left there; none where it deleted the RRset.
    pub after: Option<RrsetText>,
}

impl WrittenRrset {
    /// Whether this is what it left there.
    pub fn left(&self, rtype: Rtype, rrset: Option<&Rrset>) -> bool {
        match (&self.after, rrset) {
            (Some(left), Some(rrset)) => left.is(rtype, rrset),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// A limit that an operator lifted for an apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiftedLimit {
    /// Which, and how far.
    #[serde(flatten)]
    pub allowance: Allowance,
    /// The effect of the plan that it was lifted for.
    pub effect: String,
    /// When.
    pub at: Time,
    /// Who did it, as the system knows them; empty where it does not.
    pub who: String,
}

/// What a journal says about the past.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The program that looked, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it looked.
    pub created: Time,
    /// Where the state is kept.
    pub place: String,
    /// The apply that is running.
    pub running: Option<ApplyId>,
    /// The applies that can be taken up again, the latest first.
    pub resumable: Vec<ApplyId>,
    /// Only the changes of these projects are reported, in the order of the command line; all where empty.
    pub projects: Vec<String>,
    /// Only the changes in these zones are reported, the same.
    pub zones: Vec<ZoneName>,
    /// What was asked for.
    pub told: HistoryAnswer,
}

impl History {
    /// Marks the updates of pools that have several targets.
    pub fn mark_targets(&mut self, has_several: impl Fn(&PoolName) -> bool) {
        let past = match &mut self.told {
            HistoryAnswer::Applies(..) => return,
            HistoryAnswer::Apply(past) => std::slice::from_mut(&mut **past),
            HistoryAnswer::Hosts(_, past) | HistoryAnswer::Name(_, past) => past,
        };
        for sent in past.iter_mut().flat_map(|past| &mut past.sent) {
            sent.is_of_several = has_several(&sent.target.pool);
        }
    }
}

/// What is reported.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryAnswer {
    /// The latest applies, the latest first, and whether there are earlier ones.
    Applies(Vec<ApplySummary>, bool),
    /// One apply in full.
    Apply(Box<PastApply>),
    /// What was done for these hosts, the latest apply first; of each apply only what concerns them.
    Hosts(Vec<Inv>, Vec<PastApply>),
    /// What was done at this name, the same.
    Name(Name, Vec<PastApply>),
}

/// An apply with its updates, or some of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PastApply {
    /// The apply.
    pub summary: ApplySummary,
    /// Its updates, in the order of sending. None is without changes.
    pub sent: Vec<SentUpdate>,
    /// The hosts that it did not leave as planned, in the order of the plan.
    pub left: Vec<LeftSubject>,
    /// The limits that were lifted for it, sorted by name.
    pub allowed: Vec<LiftedLimit>,
    /// The gates that were asked before its waves, in this order.
    pub gates: Vec<GateAsked>,
    /// What services said of its hosts before its waves, sorted by host.
    pub approvals: Vec<ApprovalGiven>,
    /// Its RRsets in pools that have name servers, with whether they are served; without those that a later apply changed.
    pub published: Vec<RrsetStanding>,
}

impl PastApply {
    /// Keeps those changes and left hosts that are asked for.
    pub fn retain(&mut self, change: impl Fn(&SentUpdate, &SentChange) -> bool, host: impl Fn(&LeftSubject) -> bool) {
        for sent in &mut self.sent {
            let mut changes = std::mem::take(&mut sent.changes);
            changes.retain(|found| change(sent, found));
            sent.changes = changes;
        }
        self.sent.retain(|sent| !sent.changes.is_empty());
        self.left.retain(host);
        let changes = self.sent.iter().flat_map(|sent| &sent.changes);
        let kept: HashSet<(&Name, Rtype)> = changes.map(|change| (&change.name, change.rtype)).collect();
        self.published.retain(|rrset| kept.contains(&(&rrset.name, rrset.rtype)));
    }

    /// Keeps the approvals of hosts that a change is made for, or that it left: of others nothing is asked.
    pub fn retain_approvals(&mut self) {
        let changes = self.sent.iter().flat_map(|sent| &sent.changes);
        let changed = changes.flat_map(|change| std::iter::once(&change.subject).chain(&change.also));
        let told: BTreeSet<Option<Subject>> =
            changed.chain(self.left.iter().map(|left| &left.subject)).map(Subject::counted).collect();
        self.approvals.retain(|given| told.contains(&Some(given.subject.clone())));
    }

    /// Each RRset of a copy that it changed or tried to change once, in the order of sending: with the last update that took
    /// effect, else of which it is not known, else that did not.
    pub fn changes(&self) -> Vec<(&SentUpdate, &SentChange)> {
        let mut places: HashMap<(Option<&str>, &Name, Rtype), usize> = HashMap::new();
        let mut changes: Vec<(&SentUpdate, &SentChange)> = Vec::new();
        for (sent, change) in self.sent.iter().flat_map(|sent| sent.changes.iter().map(move |change| (sent, change))) {
            let site = (sent.told_target(), &change.name, change.rtype);
            let place = *places.entry(site).or_insert(changes.len());
            match changes.get_mut(place) {
                None => changes.push((sent, change)),
                Some(known) if known.0.fate.rank() <= sent.fate.rank() => *known = (sent, change),
                Some(_) => {}
            }
        }
        changes
    }

    /// Whether there is nothing to report except that there was an apply.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.left.is_empty()
    }
}

impl SentChange {
    /// The hosts that shared it, but for its own.
    pub fn other_hosts(&self) -> Vec<Inv> {
        let others: BTreeSet<Inv> = self.also.iter().filter_map(Subject::host).collect();
        others.into_iter().filter(|inv| Some(*inv) != self.subject.host()).collect()
    }

    /// Whether it was made for a host, be it together with others.
    pub fn is_for(&self, host: Inv) -> bool {
        std::iter::once(&self.subject).chain(&self.also).any(|subject| subject.host() == Some(host))
    }

    /// Whether it is at a name, or makes or removes a PTR to it.
    pub fn is_at(&self, name: &Name) -> bool {
        let text = name.to_string();
        let mut targets = self.before.iter().chain(&self.after).flat_map(|rrset| &rrset.rdata);
        self.name == *name || self.rtype == Rtype::PTR && targets.any(|target| *target == text)
    }
}
