//! Groups and units while waves are chosen. Pure.
//!
//! Units are tried in the order of batch, location, rack and subject, and each that fits is taken. A unit fits when in
//! each of its groups those that are or may be unreachable, with those of the wave and of the unit, are at most the
//! budget, and are at one location.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::members::{GroupTerms, UnitMember};
use crate::claim::Subject;
use crate::inventory::value::{Duration, Time};
use crate::plan::{GroupWaves, WaitCode};

/// How far the first wave of the open batch of a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CanaryPhase {
    /// The group has none, or it has settled.
    Free,
    /// It goes next; so many of it have gone.
    Due(usize),
    /// It has gone, and has not settled.
    Held,
}

/// A unit that may have to wait.
#[derive(Debug, Clone)]
pub struct WaveCandidate<'p> {
    /// Its place among the units of the plan.
    pub unit: usize,
    /// Its disruptive members, sorted by location, rack and subject; never empty.
    pub members: Vec<UnitMember<'p>>,
    /// Its groups by their places, each with how many members it has there; the first is the one whose batch it is of.
    pub groups: Vec<(usize, usize)>,
    /// Whether it came up while the batch was open.
    pub is_late: bool,
}

impl<'p> WaveCandidate<'p> {
    /// Where its members of a group are.
    fn locations(&self, group: &str) -> BTreeSet<&'p str> {
        self.members.iter().filter(|member| member.group == group).map(|member| member.location).collect()
    }

    /// How long it takes to settle.
    fn lasts(&self) -> Duration {
        self.members.iter().map(UnitMember::lasts).max().unwrap_or(Duration::from_secs(0))
    }
}

/// Why a unit does not go now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The code.
    pub code: WaitCode,
    /// In words: lower case, no full stop.
    pub message: String,
}

/// A group.
#[derive(Debug)]
pub struct GroupBoard<'p> {
    /// Its name.
    pub name: &'p str,
    /// What holds for it.
    pub terms: GroupTerms,
    /// Who is or may be unreachable; with the location where that counts.
    present: HashMap<&'p Subject, Option<&'p str>>,
    /// How many of them are at each location that counts.
    locations: BTreeMap<&'p str, usize>,
    /// The first wave of its batch.
    pub phase: CanaryPhase,
    /// How many units of the open batch are left.
    pub left: usize,
    /// How many units that came up since are left.
    pub late_left: usize,
    /// Whether what came up since is the open batch now.
    takes_late: bool,
    /// When this wave goes.
    clock: Time,
    /// When all that has gone will have settled.
    settled: Time,
    /// Those of them that have settled and do not answer their probe: when they will is not known.
    silent: Vec<&'p Subject>,
    /// Those that cannot be reached by the word of the export, with that word: when they will is not known either.
    down: Vec<(&'p Subject, &'static str)>,
    /// How it goes.
    waves: u64,
    /// How many subjects go.
    subjects: u64,
    /// When the last wave goes.
    last: Time,
    /// Whether something of it goes with this wave.
    goes: bool,
    /// How long old and new addresses are there together in this wave, at most.
    between: Duration,
    /// Why its gate lets nothing go with this wave; none where it does.
    shut: Option<&'p str>,
}

impl<'p> GroupBoard<'p> {
    /// A group of which nothing is known to be unreachable.
    pub fn new(name: &'p str, terms: GroupTerms, shut: Option<&'p str>, now: Time) -> GroupBoard<'p> {
        GroupBoard {
            name,
            terms,
            present: HashMap::new(),
            locations: BTreeMap::new(),
            phase: CanaryPhase::Free,
            left: 0,
            late_left: 0,
            takes_late: false,
            clock: now,
            settled: now,
            silent: Vec::new(),
            down: Vec::new(),
            waves: 0,
            subjects: 0,
            last: now,
            goes: false,
            between: Duration::from_secs(0),
            shut,
        }
    }

    /// Notes that a subject may be unreachable until then; at a location where that counts.
    pub fn add(&mut self, subject: &'p Subject, location: Option<&'p str>, until: Time) {
        let known = self.present.entry(subject).or_insert(None);
        if let (None, Some(location)) = (*known, location) {
            *known = Some(location);
            *self.locations.entry(location).or_default() += 1;
        }
        self.settled = self.settled.max(until);
    }

    /// Notes that one of those that may be unreachable has not answered its probe.
    pub fn note_silent(&mut self, subject: &'p Subject) {
        self.silent.push(subject);
    }

    /// Notes that one of those that cannot be reached is so by the word of the export.
    pub fn note_down(&mut self, subject: &'p Subject, word: &'static str) {
        self.down.push((subject, word));
    }

    /// Who does not answer, and who is down, each in a clause; empty where nothing is.
    fn silent_clause(&self) -> String {
        let silent = match self.silent.as_slice() {
            [] => String::new(),
            [one] => format!("; {one} has settled, and does not answer its probe"),
            [one, more @ ..] => format!("; {one} and {} more have settled, and do not answer their probe", more.len()),
        };
        let down = match self.down.as_slice() {
            [] => String::new(),
            [(one, word)] => {
                format!("; {one} is {word} by the export, and counts until it is back or its row is gone")
            }
            [(one, word), more @ ..] => {
                let is_one = more.iter().all(|(_, other)| other == word);
                let word = if is_one { word } else { "`dead` or `waiting`" };
                let more = more.len();
                format!(
                    "; {one} and {more} more are {word} by the export, and count until they are back or their rows are gone"
                )
            }
        };
        silent + &down
    }

    /// Whether it is known when all that cannot be reached now can be.
    fn has_known_end(&self) -> bool {
        self.silent.is_empty() && self.down.is_empty()
    }

    /// Notes that a subject goes although nothing of the budget is asked.
    pub fn pass(&mut self, member: &UnitMember<'p>, location: Option<&'p str>) {
        let until = self.clock.plus(member.lasts());
        self.add(member.subject, location, until);
        self.note_going(member);
    }

    /// Counts a subject that goes with this wave.
    fn note_going(&mut self, member: &UnitMember<'p>) {
        self.subjects += 1;
        self.goes = true;
        self.between = self.between.max(member.between_for());
    }

    /// Whether more may be unreachable than its budget allows.
    pub fn is_overdrawn(&self) -> bool {
        self.present.len() > self.terms.budget
    }

    /// Whether those that may be unreachable are more than its budget allows, or at several locations where all must be at one.
    pub fn is_crowded(&self) -> bool {
        self.is_overdrawn() || (self.terms.one_location && self.locations.len() > 1)
    }

    /// How many more may become unreachable now.
    pub fn free_places(&self) -> usize {
        self.terms.budget.saturating_sub(self.present.len())
    }

    /// Whether nothing more can go now.
    fn is_full(&self) -> bool {
        self.shut.is_some() || self.free_places() == 0 || self.left + self.late_left == 0
    }

    /// Ends a wave: all of it settles, and the next one can go. How its gate will be then is not known.
    fn settle(&mut self) {
        self.end_wave();
        self.shut = None;
        self.present.clear();
        self.locations.clear();
        self.clock = self.clock.max(self.settled);
        match self.phase {
            CanaryPhase::Held => self.phase = CanaryPhase::Free,
            CanaryPhase::Due(gone) if gone > 0 => self.phase = CanaryPhase::Free,
            CanaryPhase::Free | CanaryPhase::Due(_) => {}
        }
        if self.left == 0 && self.late_left > 0 && !self.takes_late {
            self.takes_late = true;
            self.phase = if self.terms.canary.is_some() { CanaryPhase::Due(0) } else { CanaryPhase::Free };
        }
    }

    /// Counts the wave.
    fn end_wave(&mut self) {
        if self.goes {
            self.waves += 1;
            self.last = self.clock.plus(self.between);
            self.goes = false;
            self.between = Duration::from_secs(0);
        }
    }

    /// How it goes.
    fn summary(&self, now: Time) -> GroupWaves {
        let seconds = self.last.since(now).map_or(0, Duration::as_secs);
        GroupWaves { group: self.name.to_owned(), seconds, subjects: self.subjects, waves: self.waves }
    }
}

/// The candidates that are left, in their order; taking one out costs nothing.
struct WaveQueue {
    /// The first; the number of all where none is left.
    head: usize,
    /// What comes after each.
    next: Vec<usize>,
}

impl WaveQueue {
    /// All of so many.
    fn new(count: usize) -> WaveQueue {
        WaveQueue { head: 0, next: (1..=count).collect() }
    }

    /// Those that are left.
    fn left(&self) -> impl Iterator<Item = usize> {
        let first = (self.head < self.next.len()).then_some(self.head);
        std::iter::successors(first, |own| Some(self.next[*own]).filter(|next| *next < self.next.len()))
    }

    /// Takes out one, behind the one that was looked at before.
    fn remove(&mut self, before: Option<usize>, own: usize) {
        match before {
            Some(before) => self.next[before] = self.next[own],
            None => self.head = self.next[own],
        }
    }
}

/// All groups and units.
#[derive(Debug)]
pub struct WaveBoard<'p> {
    /// The groups, sorted by name.
    pub groups: Vec<GroupBoard<'p>>,
    /// The units that may have to wait.
    pub candidates: Vec<WaveCandidate<'p>>,
}

/// The waves of all candidates.
#[derive(Debug, Default)]
pub struct WaveSchedule {
    /// The candidates that go now.
    pub first: Vec<usize>,
    /// Why each of the others does not, and when it does at the earliest; none where that is not known.
    pub later: BTreeMap<usize, (HeldBack, Option<Time>)>,
    /// How each group goes.
    pub waves: Vec<GroupWaves>,
}

impl<'p> WaveBoard<'p> {
    /// Why a unit could not go even if all others were reachable; none where it could.
    pub fn misfit(&self, candidate: &WaveCandidate<'p>) -> Option<HeldBack> {
        candidate.groups.iter().find_map(|(place, count)| {
            let GroupBoard { name, terms, .. } = &self.groups[*place];
            let locations = candidate.locations(name);
            let message = if *count > terms.budget {
                format!("{count} of `{name}` share a change, and the budget is {}", terms.budget)
            } else if terms.one_location && locations.len() > 1 {
                let locations: Vec<&str> = locations.into_iter().collect();
                format!("some of `{name}` at several locations share a change: {}", locations.join(", "))
            } else {
                return None;
            };
            Some(HeldBack { code: WaitCode::DoesNotFit, message })
        })
    }

    /// Chooses this wave, and goes through those that follow: each begins when all of the one before has settled, so no
    /// rollout takes fewer or is done earlier.
    pub fn schedule(mut self, now: Time) -> WaveSchedule {
        self.sort();
        let mut queue = WaveQueue::new(self.candidates.len());
        let first = self.take_wave(&mut queue);
        let held: Vec<(usize, HeldBack)> = queue.left().map(|own| (own, self.held(own))).collect();
        let mut starts: HashMap<usize, Time> = HashMap::new();
        while queue.left().next().is_some() {
            self.groups.iter_mut().for_each(GroupBoard::settle);
            for own in self.take_wave(&mut queue) {
                starts.insert(own, self.start(own));
            }
        }
        self.groups.iter_mut().for_each(GroupBoard::end_wave);
        let waves = self
            .groups
            .iter()
            .filter(|group| group.waves > 0 && !group.terms.is_unlimited())
            .map(|group| group.summary(now))
            .collect();
        let unit = |own: usize| self.candidates[own].unit;
        let start = |own: usize, why: &HeldBack| {
            let mut groups = self.candidates[own].groups.iter().map(|(place, _)| &self.groups[*place]);
            // When a gate will pass, or a host or pod can be reached again, is not known.
            let is_known = why.code != WaitCode::Gate && groups.all(|group| group.has_known_end());
            is_known.then(|| starts[&own])
        };
        let later = held.into_iter().map(|(own, why)| {
            let start = start(own, &why);
            (unit(own), (why, start))
        });
        let later = later.collect();
        WaveSchedule { first: first.into_iter().map(unit).collect(), later, waves }
    }

    /// Puts the units in the order in which they are tried.
    fn sort(&mut self) {
        for candidate in &mut self.candidates {
            candidate.members.sort_by(|a, b| (a.location, a.rack, a.subject).cmp(&(b.location, b.rack, b.subject)));
        }
        self.candidates.sort_by(|a, b| {
            let key = |own: &WaveCandidate<'p>| (own.is_late, own.members[0].location, own.members[0].rack);
            key(a).cmp(&key(b)).then_with(|| a.members[0].subject.cmp(b.members[0].subject))
        });
    }

    /// Takes all that fits now.
    fn take_wave(&mut self, queue: &mut WaveQueue) -> Vec<usize> {
        let (mut went, mut before) = (Vec::new(), None);
        let mut at = queue.left().next();
        while let Some(own) = at {
            // Where nothing has room, the rest need not be looked at.
            if self.groups.iter().all(GroupBoard::is_full) {
                break;
            }
            at = Some(queue.next[own]).filter(|next| *next < queue.next.len());
            if self.fits(own) {
                self.take(own);
                queue.remove(before, own);
                went.push(own);
            } else {
                before = Some(own);
            }
        }
        went
    }

    /// When a unit goes that is taken now.
    fn start(&self, own: usize) -> Time {
        let groups = self.candidates[own].groups.iter();
        groups.map(|(group, _)| self.groups[*group].clock).max().expect("a candidate has a group")
    }

    /// Lets a unit go with this wave.
    fn take(&mut self, own: usize) {
        let until = self.start(own).plus(self.candidates[own].lasts());
        let candidate = &self.candidates[own];
        for member in &candidate.members {
            let place = candidate.groups.iter().find(|(place, _)| self.groups[*place].name == member.group);
            let group = &mut self.groups[place.expect("each member is in a group of its unit").0];
            group.add(member.subject, Some(member.location), until);
            group.note_going(member);
        }
        let (first, count) = candidate.groups[0];
        let group = &mut self.groups[first];
        if candidate.is_late {
            group.late_left -= 1;
        } else {
            group.left -= 1;
        }
        if let CanaryPhase::Due(gone) = &mut group.phase {
            *gone += count;
        }
    }

    /// Whether a unit fits now.
    fn fits(&self, own: usize) -> bool {
        let candidate = &self.candidates[own];
        let has_room = |(place, _): &(usize, usize)| {
            let GroupBoard { name, terms, present, locations, shut, .. } = &self.groups[*place];
            let members = || candidate.members.iter().filter(|member| member.group == *name);
            let added = members().filter(|member| !present.contains_key(member.subject)).count();
            let is_near = |member: &UnitMember<'p>| locations.keys().all(|other| *other == member.location);
            shut.is_none() && present.len() + added <= terms.budget && (!terms.one_location || members().all(is_near))
        };
        candidate.groups.iter().all(has_room) && self.is_its_turn(candidate)
    }

    /// Whether the batch of a unit lets it go now.
    fn is_its_turn(&self, candidate: &WaveCandidate<'p>) -> bool {
        let (first, count) = candidate.groups[0];
        let GroupBoard { terms, phase, takes_late, .. } = &self.groups[first];
        let is_next = candidate.is_late && !takes_late && terms.canary.is_some();
        match *phase {
            _ if is_next => false,
            CanaryPhase::Free => true,
            CanaryPhase::Held => false,
            CanaryPhase::Due(gone) => gone == 0 || gone + count <= terms.canary.unwrap_or(usize::MAX),
        }
    }

    /// Why a unit does not fit now.
    fn held(&self, own: usize) -> HeldBack {
        let candidate = &self.candidates[own];
        let held = |code, message| HeldBack { code, message };
        if let Some(why) = candidate.groups.iter().find_map(|(place, _)| self.groups[*place].shut) {
            return held(WaitCode::Gate, why.to_owned());
        }
        for (place, _) in &candidate.groups {
            let GroupBoard { name, terms, present, .. } = &self.groups[*place];
            let own = candidate.members.iter().filter(|member| member.group == *name);
            let added = own.filter(|member| !present.contains_key(member.subject)).count();
            if present.len() + added > terms.budget {
                let (budget, count) = (terms.budget, present.len());
                let is_down = if self.groups[*place].down.is_empty() { "" } else { "down, " };
                let taken = if count == 1 {
                    format!("1 is {is_down}in flux or goes")
                } else {
                    format!("{count} are {is_down}in flux or go")
                };
                let silent = self.groups[*place].silent_clause();
                let message = format!("the budget of `{name}` is {budget}, and {taken} now{silent}");
                return held(WaitCode::Budget, message);
            }
        }
        for (place, _) in &candidate.groups {
            let GroupBoard { name, terms, locations, .. } = &self.groups[*place];
            let own = candidate.locations(name);
            let mut others = locations.keys().filter(|other| own.iter().any(|own| own != *other));
            if let Some(other) = others.next().filter(|_| terms.one_location) {
                let silent = self.groups[*place].silent_clause();
                let message = format!(
                    "some of `{name}` at location `{other}` are in flux or go now: one location at a time{silent}"
                );
                return held(WaitCode::Location, message);
            }
        }
        let group = &self.groups[candidate.groups[0].0];
        let (GroupBoard { name, phase, takes_late, .. }, silent) = (group, group.silent_clause());
        let message = match phase {
            _ if candidate.is_late && !takes_late => {
                format!("it goes with the next batch of `{name}`: one is under way")
            }
            CanaryPhase::Held => format!("the first wave of this batch of `{name}` has not settled{silent}"),
            CanaryPhase::Due(_) | CanaryPhase::Free => format!("the first wave of this batch of `{name}` goes alone"),
        };
        held(WaitCode::Canary, message)
    }
}

#[cfg(test)]
mod tests;
