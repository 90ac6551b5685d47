//! Changes that may not have reached all clients yet, and what else is remembered between waves. Pure.
//!
//! A row is written before the first message of a change, and counts until the change has settled.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::change::reach::is_of_address;
use crate::claim::Subject;
use crate::dns::{Name, Rrset, Rtype};
use crate::inventory::value::{Duration, Time};

/// What an RRset was before a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FormerRrset {
    /// The owner name.
    pub name: Name,
    /// The type.
    #[serde(rename = "type", with = "crate::dns::rtype_text")]
    pub rtype: Rtype,
    /// Its values in presentation format, sorted as text; empty where there was none.
    pub values: Vec<String>,
}

impl FormerRrset {
    /// An RRset of a change, as it is on one side.
    fn of(change: &Change, side: Option<&Rrset>) -> FormerRrset {
        let rtype = change.key.rtype;
        let values = side.map(|rrset| rrset.rdata_texts(rtype)).unwrap_or_default();
        FormerRrset { name: change.key.owner.as_name().to_name(), rtype, values }
    }

    /// What a change found.
    pub fn before(change: &Change) -> FormerRrset {
        FormerRrset::of(change, change.kind.before())
    }

    /// What a change leaves.
    pub fn after(change: &Change) -> FormerRrset {
        FormerRrset::of(change, change.kind.after())
    }
}

/// Whether a change is one that caches are watched for: of such an RRset, or of an SRV that lists pods.
pub fn is_watched(change: &Change) -> bool {
    let lists_pods = || change.subjects().any(|subject| matches!(subject, Subject::Endpoints(_)));
    is_of_address(change) || (change.key.rtype == Rtype::SRV && lists_pods())
}

/// How far a change is on its way to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FluxStage {
    /// Provably nothing of it was made.
    NotMade,
    /// It may have been made, and not all name servers are known to serve it.
    NotServed,
    /// All name servers serve it since then.
    ServedSince(Time),
}

/// A subject of a group that an apply changed, or was about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FluxRow {
    /// The subject.
    pub subject: Subject,
    /// The apply, by its number in the journal.
    pub apply: u64,
    /// Its group.
    pub group: String,
    /// Its location; empty where the export names none.
    pub location: String,
    /// How long the change takes to reach all clients, once it is served.
    pub settle: Duration,
    /// Whether it takes live values: only then budget, location and canary count it.
    pub is_disruptive: bool,
    /// Whether it repairs: then locations do not count it.
    pub is_repair: bool,
    /// Whether it repairs because the subject was down: then it has no place in the budget, which others may have.
    pub is_down: bool,
    /// The batch of its group in whose first wave it went; none where it went otherwise.
    pub canary_of: Option<u64>,
    /// What its addresses were before.
    pub before: Vec<FormerRrset>,
    /// The hosts at whose names the change takes addresses, and of which no rule has a part in that; sorted. They are busy as
    /// long as it is in flux.
    pub affected: Vec<Subject>,
    /// The addresses that it has by the change, sorted; none where the change only takes some.
    pub gave: Vec<IpAddr>,
    /// What its addresses are to be in the end, where the change stopped in between: what goes is still there. None where
    /// all of the change was made, or a later one took its place.
    pub wanted: Option<Vec<FormerRrset>>,
    /// How far it is.
    pub stage: FluxStage,
    /// Whether an address of it answered after the change had settled; none where no probe asked.
    pub answer: Option<bool>,
}

impl FluxRow {
    /// When it has settled; none while that is not known, and where nothing was made.
    pub fn settles(&self) -> Option<Time> {
        match self.stage {
            FluxStage::ServedSince(served) => Some(served.plus(self.settle)),
            FluxStage::NotMade | FluxStage::NotServed => None,
        }
    }

    /// The first whole second at which it has ended; none while that is not known: name servers do not serve it yet, the
    /// subject does not answer, or it stopped in between.
    pub fn ends(&self) -> Option<Time> {
        self.settles().filter(|_| !self.is_silent() && !self.is_between()).map(Time::from_second)
    }

    /// Whether it stopped in between: the new addresses are there or come, and the old ones have not gone.
    pub fn is_between(&self) -> bool {
        self.wanted.is_some() && self.stage != FluxStage::NotMade
    }

    /// From when on the old addresses may go; none while name servers do not serve the new ones.
    pub fn passes(&self, overlap: Duration) -> Option<Time> {
        match self.stage {
            FluxStage::ServedSince(served) => Some(served.plus(self.settle.max(overlap))),
            FluxStage::NotMade | FluxStage::NotServed => None,
        }
    }

    /// Whether clients may still see what was there before, the probe of its group reached none of its addresses, or it
    /// stopped in between. A clock that is set back does not end it.
    pub fn is_in_flux(&self, now: Time) -> bool {
        self.stage != FluxStage::NotMade && (!self.has_settled(now) || self.is_silent() || self.is_between())
    }

    /// Whether clients no longer see what was there before.
    pub fn has_settled(&self, now: Time) -> bool {
        self.settles().is_some_and(|settles| settles <= now)
    }

    /// Whether a probe asked, and nothing answered.
    pub fn is_silent(&self) -> bool {
        self.answer == Some(false)
    }

    /// Whether a probe is to be asked: the change has settled, gave addresses, and none has answered yet.
    pub fn is_to_be_asked(&self, now: Time) -> bool {
        self.is_disruptive && self.answer != Some(true) && !self.gave.is_empty() && self.has_settled(now)
    }
}

/// Whether a subject answered its probe after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResult {
    /// The subject.
    pub subject: Subject,
    /// The apply that changed it, by its number in the journal.
    pub apply: u64,
    /// Whether an address answered.
    pub answered: bool,
}

/// The batch of a group that is open, or was last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupBatch {
    /// Its number, from 1; 0 where there was none.
    pub number: u64,
    /// Whether its first wave has settled.
    pub is_canary_settled: bool,
    /// How many of the group were in service when a plan last said so.
    pub in_service: u64,
}

/// That a subject waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitRecord {
    /// What an apply said of it last.
    pub wait: crate::plan::WaitingSubject,
    /// The group whose batch it is in.
    pub group: String,
    /// The batch.
    pub batch: u64,
}

/// What is remembered between waves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolloutMemory {
    /// The latest changes of subjects, sorted by subject and apply.
    pub flux: Vec<FluxRow>,
    /// The batches, by group.
    pub batches: BTreeMap<String, GroupBatch>,
    /// The subjects that wait.
    pub waits: BTreeMap<Subject, WaitRecord>,
    /// The latest time that a run noted; none where none did.
    pub latest: Option<Time>,
}

impl RolloutMemory {
    /// The time that holds for waves. A clock that was set back would bring back what has settled, and let it pass as a repair:
    /// the latest time that a run noted holds until the clock has passed it.
    pub fn now(&self, clock: Time) -> Time {
        self.latest.map_or(clock, |latest| latest.max(clock))
    }

    /// Forgets what probes found for groups that ask none any longer.
    pub fn forget_answers(&mut self, has_probe: impl Fn(&str) -> bool) {
        self.flux.iter_mut().filter(|row| !has_probe(&row.group)).for_each(|row| row.answer = None);
    }

    /// Ends what stopped in between where a later change of the same subject was made. `flux` is sorted.
    pub fn end_replaced(&mut self) {
        for place in 1..self.flux.len() {
            let (earlier, later) = self.flux.split_at_mut(place);
            let is_made = later[0].stage != FluxStage::NotMade;
            let same = earlier.iter_mut().rev().take_while(|row| row.subject == later[0].subject);
            same.filter(|_| is_made).for_each(|row| row.wanted = None);
        }
    }

    /// The change of a subject in a group that stopped in between.
    pub fn between<'m>(&'m self, subject: &'m Subject, group: &str) -> Option<&'m FluxRow> {
        self.rows_of(subject).find(|row| row.group == group && row.is_between())
    }

    /// Adds what probes found.
    pub fn note_answers(&mut self, answers: &[ProbeResult]) {
        for ProbeResult { subject, apply, answered } in answers {
            let start = self.flux.partition_point(|row| (&row.subject, row.apply) < (subject, *apply));
            if let Some(row) = self.flux.get_mut(start).filter(|row| (&row.subject, row.apply) == (subject, *apply)) {
                row.answer = Some(*answered);
            }
        }
    }

    /// The rows of a subject.
    pub fn rows_of<'m>(&'m self, subject: &'m Subject) -> impl Iterator<Item = &'m FluxRow> {
        let start = self.flux.partition_point(|row| row.subject < *subject);
        self.flux[start..].iter().take_while(move |row| row.subject == *subject)
    }

    /// Where a subject was when it last changed; none where nothing is known of it.
    pub fn location_of<'m>(&'m self, subject: &'m Subject) -> Option<&'m str> {
        self.rows_of(subject).last().map(|row| row.location.as_str())
    }
}
