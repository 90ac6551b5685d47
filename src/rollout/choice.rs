//! Which units of a plan go with the next wave, and what is remembered of the others. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::board::{CanaryPhase, GroupBoard, HeldBack, WaveBoard, WaveCandidate, WaveSchedule};
use super::flux::{FluxRow, FluxStage, GroupBatch, WaitRecord};
use super::listed::NameNeeds;
use super::members::{GroupTerms, RolloutView, UnitMember};
use super::present::{groups, place_of};
use super::released::release;
use super::replaced::Replacements;
use super::steps::UnitStep;
use super::units::{ChangeUnit, hosts_of};
use crate::claim::Subject;
use crate::inventory::value::Time;
use crate::plan::{GroupWaves, WaitCode, WaitingSubject};

/// What was decided of the open units of a plan.
#[derive(Debug, Default)]
pub struct RolloutChoice {
    /// The units that go now, by their places, ascending.
    pub goes: Vec<usize>,
    /// Why each of the others waits, by its place.
    pub held: BTreeMap<usize, HeldBack>,
    /// The subjects of the others.
    pub waits: BTreeMap<Subject, WaitRecord>,
    /// The subjects that go a first step, and then wait.
    pub between: BTreeMap<Subject, WaitRecord>,
    /// The units that go, and all of them at once although the plan has two steps: they repair.
    pub at_once: BTreeSet<usize>,
    /// How each group goes.
    pub waves: Vec<GroupWaves>,
    /// What is to be on disk before the first message, sorted by subject; without the number of the apply.
    pub flux: Vec<FluxRow>,
    /// Rows of the same subjects that have settled, by apply: they need not be kept.
    pub outdated: Vec<(Subject, u64)>,
    /// The batches as they are from now on.
    pub batches: BTreeMap<String, GroupBatch>,
    /// The subjects that waited and no longer do, sorted.
    pub ended: Vec<Subject>,
    /// The units of which a service rejected a host in this run, by their places.
    pub rejected: BTreeSet<usize>,
    /// The hosts that go and needed an approval.
    pub approved: BTreeSet<Subject>,
    /// The hosts that go and needed an approval, and for which an operator said to go on without one.
    pub ignored: BTreeSet<Subject>,
    /// The hosts that a service rejected in this run.
    pub refused: BTreeSet<Subject>,
}

impl RolloutChoice {
    /// The groups of which something goes that is no repair: their gates are asked before it does.
    pub fn asking_groups(&self) -> BTreeSet<&str> {
        let asks = self.flux.iter().filter(|row| row.is_disruptive && !row.is_repair);
        asks.map(|row| row.group.as_str()).collect()
    }

    /// What waits, sorted by subject.
    pub fn waiting(&self) -> Vec<WaitingSubject> {
        self.waits.values().map(|record| record.wait.clone()).collect()
    }

    /// What waits when the wave has gone, sorted by subject.
    pub fn waiting_after(&self) -> Vec<WaitingSubject> {
        let mut waiting = self.waiting();
        waiting.extend(self.between.values().map(|record| record.wait.clone()));
        waiting.sort_by(|one, other| one.subject.cmp(&other.subject));
        waiting
    }
}

/// A unit that waits whatever room there is.
struct ShutUnit<'p> {
    /// Its place.
    unit: usize,
    /// The group that holds it back.
    group: &'p str,
    /// Why.
    why: HeldBack,
    /// When it goes at the earliest; none where that is not known.
    until: Option<Time>,
}

/// Decides of the open units of a plan which go now.
pub fn choose(view: &RolloutView<'_>, units: &[ChangeUnit], open: impl IntoIterator<Item = usize>) -> RolloutChoice {
    let memory = view.memory_of_what_is_left();
    let view = &RolloutView { memory: &memory, ..*view };
    let open: Vec<usize> = open.into_iter().collect();
    let replacements = Replacements::of(view);
    let memory = release(view, units, (&open, &replacements));
    let view = &RolloutView { memory: &memory, ..*view };
    let mut board = WaveBoard { groups: groups(view), candidates: Vec::new() };
    let mut choice = RolloutChoice::default();
    let mut shut: Vec<ShutUnit<'_>> = Vec::new();
    let mut members_of: HashMap<usize, Vec<UnitMember<'_>>> = HashMap::new();
    for unit in open {
        if let Some((group, why)) = replacements.held(view, &units[unit]) {
            shut.push(ShutUnit { unit, group, why, until: None });
            continue;
        }
        if let Some((group, own)) = view.unapproved(&units[unit]) {
            let why = HeldBack { code: WaitCode::Approval, message: own.message.clone() };
            shut.push(ShutUnit { unit, group, why, until: own.until });
            choice.rejected.extend(own.is_rejected.then_some(unit));
            continue;
        }
        let mut members = view.members(&units[unit]);
        // What takes no live value from a subject in service is as free as a repair.
        let is_repair = members.iter().filter(|member| member.is_disruptive).all(|member| member.repairs);
        let is_free = !is_repair && (view.is_named(&members) || have_places(&board, &members));
        if !is_repair && let Some((group, why, until)) = held_whatever_room(view, &members, is_free) {
            shut.push(ShutUnit { unit, group, why, until });
            continue;
        }
        if is_repair && (view.step)(&units[unit]) == UnitStep::ToVia {
            choice.at_once.insert(unit);
            members.iter_mut().for_each(UnitMember::go_at_once);
        }
        if is_repair || is_free {
            pass(&mut board, &members, is_repair);
            choice.goes.push(unit);
            choice.flux.extend(members.iter().map(|member| row(member, is_repair, None)));
            continue;
        }
        board.candidates.push(candidate(&board.groups, unit, &members));
        members_of.insert(unit, members);
    }
    let batch_of = open_batches(view, &mut board, &mut choice);
    let misfits = take_misfits(&mut board);
    let phases: Vec<CanaryPhase> = board.groups.iter().map(|group| group.phase).collect();
    let groups_of: HashMap<usize, (usize, bool)> =
        board.candidates.iter().map(|own| (own.unit, (own.groups[0].0, own.is_late))).collect();
    let names: Vec<&str> = board.groups.iter().map(|group| group.name).collect();
    let WaveSchedule { first, later, waves } = board.schedule(view.now);
    for unit in first {
        let (group, is_late) = groups_of[&unit];
        let is_canary = matches!(phases[group], CanaryPhase::Due(_)) && !is_late;
        let canary_of = is_canary.then(|| choice.batches[names[group]].number);
        choice.flux.extend(members_of[&unit].iter().map(|member| row(member, false, canary_of)));
        choice.goes.push(unit);
    }
    for (unit, (why, start)) in later {
        remember(view, &units[unit], batch_of[&unit], (&why, start), &mut choice);
        choice.held.insert(unit, why);
    }
    for (unit, why) in misfits {
        let why = HeldBack { message: format!("{}{}", why.message, named(view, &units[unit])), ..why };
        remember(view, &units[unit], batch_of[&unit], (&why, None), &mut choice);
        choice.held.insert(unit, why);
    }
    for ShutUnit { unit, group, why, until } in shut {
        // It keeps its batch; where it has none, it came up apart from the open one, and is of the next.
        let next = choice.batches.get(group).map_or(0, |batch| batch.number) + 1;
        let batch = known_batch(view, &units[unit], group).unwrap_or(next);
        remember(view, &units[unit], (group, batch), (&why, until), &mut choice);
        choice.held.insert(unit, why);
    }
    hold_back_needing(view, units, &mut choice);
    note_between(view, units, &mut choice);
    choice.waves = waves;
    choice.goes.sort_unstable();
    choice.flux.sort_by(|a, b| a.subject.cmp(&b.subject));
    choice.outdated = outdated(view, &choice);
    choice.ended = ended(view, units, &choice);
    choice
}

/// Why a unit waits that is no repair, whatever room there is, with the group, and when it goes at the earliest. `is_free`
/// says that no room is asked: then its gate is asked here.
fn held_whatever_room<'p>(
    view: &RolloutView<'p>,
    members: &[UnitMember<'p>],
    is_free: bool,
) -> Option<(&'p str, HeldBack, Option<Time>)> {
    if let Some((group, why)) = view.unmet(members) {
        return Some((group, HeldBack { code: WaitCode::Availability, message: why.to_owned() }, None));
    }
    if let Some(own) = members.iter().find(|member| overlaps_still(member, view.now)) {
        let between = own.between.as_ref()?;
        let message = if between.row.is_silent() {
            "its old addresses stay, because no new one answers its probe"
        } else {
            "its old and its new addresses are there together for `overlap`, and until caches have the new ones"
        };
        let why = HeldBack { code: WaitCode::Overlap, message: message.to_owned() };
        return Some((own.group, why, between.passes.filter(|_| !between.row.is_silent())));
    }
    let (group, why) = view.shut_by(members).filter(|_| is_free)?;
    Some((group, HeldBack { code: WaitCode::Gate, message: why.to_owned() }, None))
}

/// Whether the old addresses of a member may not go yet.
fn overlaps_still(member: &UnitMember<'_>, now: Time) -> bool {
    let is_early = |passes: Option<Time>| passes.is_none_or(|passes| passes > now);
    let between = member.between.as_ref().filter(|between| between.is_second_step);
    between.is_some_and(|between| is_early(between.passes) || between.row.is_silent())
}

/// Whether all disruptive members have their places in the budget since their new addresses came.
fn have_places(board: &WaveBoard<'_>, members: &[UnitMember<'_>]) -> bool {
    members.iter().filter(|member| member.is_disruptive).all(|member| {
        // One of which a plan knew nothing for a while may have lost its place to others.
        let group = place_of(&board.groups, member.group).map(|place| &board.groups[place]);
        member.between.is_some() && group.is_some_and(|group| !group.is_overdrawn())
    })
}

/// The batch of a group in which a unit waits already.
fn known_batch(view: &RolloutView<'_>, unit: &ChangeUnit, group: &str) -> Option<u64> {
    let subjects = hosts_of(&view.plan.changes, unit).into_iter();
    let mut known = subjects.filter_map(|(_, subject)| view.memory.waits.get(subject));
    known.find(|own| own.group == group).map(|own| own.batch)
}

/// Keeps that what goes a first step now waits after it.
fn note_between(view: &RolloutView<'_>, units: &[ChangeUnit], choice: &mut RolloutChoice) {
    let between = choice.flux.iter().filter(|row| row.wanted.is_some());
    let rows: HashMap<&Subject, &FluxRow> = between.map(|row| (&row.subject, row)).collect();
    let mut waits = BTreeMap::new();
    for unit in choice.goes.iter().map(|unit| &units[*unit]).filter(|_| !rows.is_empty()) {
        let subjects = hosts_of(&view.plan.changes, unit);
        let Some(row) = subjects.iter().find_map(|(_, subject)| rows.get(*subject)) else { continue };
        let number = choice.batches.get(&row.group).map_or(0, |batch| batch.number);
        let batch = known_batch(view, unit, &row.group).unwrap_or(number);
        let overlap = view.groups.get(&row.group).map_or(row.settle, GroupTerms::least_overlap);
        for (project, subject) in subjects {
            let wait = WaitingSubject {
                code: WaitCode::Overlap,
                message: "its new addresses go first, and the old ones after `overlap`".to_owned(),
                project: project.to_owned(),
                since: view.memory.waits.get(subject).map_or(view.now.to_second(), |known| known.wait.since),
                subject: subject.clone(),
                until: Some(Time::from_second(view.now.plus(row.settle.max(overlap)))),
            };
            waits.insert(subject.clone(), WaitRecord { wait, group: row.group.clone(), batch });
        }
    }
    choice.between = waits;
}

/// Holds back the units that need another one which waits: an SRV lists no name that is not there, and no name goes that an
/// SRV lists.
fn hold_back_needing(view: &RolloutView<'_>, units: &[ChangeUnit], choice: &mut RolloutChoice) {
    let needs = NameNeeds::of(&view.plan.changes, units);
    let is_held = |choice: &RolloutChoice| {
        let mut all = choice.goes.iter().flat_map(|unit| needs.of_unit(*unit).iter().map(move |need| (*unit, need)));
        all.find_map(|(unit, need)| Some((unit, need, choice.held.get(&need.unit)?.clone())))
    };
    while let Some((unit, need, held)) = is_held(choice) {
        let why = HeldBack { message: need.unmet(&held.message), ..held };
        let subjects: HashSet<&Subject> =
            units[unit].changes.iter().flat_map(|place| view.plan.changes[*place].subjects()).collect();
        choice.goes.retain(|own| *own != unit);
        choice.flux.retain(|row| !subjects.contains(&row.subject));
        let first = hosts_of(&view.plan.changes, &units[need.unit]).into_iter().next();
        if let Some(WaitRecord { wait, group, batch }) = first.and_then(|(_, first)| choice.waits.get(first)).cloned() {
            remember(view, &units[unit], (&group, batch), (&why, wait.until), choice);
        }
        choice.held.insert(unit, why);
    }
}

/// Counts the members of a unit that nothing holds back.
fn pass<'p>(board: &mut WaveBoard<'p>, members: &[UnitMember<'p>], is_repair: bool) {
    for member in members.iter().filter(|member| member.is_disruptive) {
        let place = place_of(&board.groups, member.group).expect("members are in known groups");
        board.groups[place].pass(member, (!is_repair).then_some(member.location));
    }
}

/// A unit that may have to wait.
fn candidate<'p>(groups: &[GroupBoard<'p>], unit: usize, members: &[UnitMember<'p>]) -> WaveCandidate<'p> {
    let members: Vec<UnitMember<'p>> = members.iter().filter(|member| member.is_disruptive).cloned().collect();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for member in &members {
        *counts.entry(place_of(groups, member.group).expect("members are in known groups")).or_default() += 1;
    }
    WaveCandidate { unit, members, groups: counts.into_iter().collect(), is_late: false }
}

/// The row of a member that goes.
fn row(member: &UnitMember<'_>, is_repair: bool, canary_of: Option<u64>) -> FluxRow {
    FluxRow {
        subject: member.subject.clone(),
        apply: 0,
        group: member.group.to_owned(),
        location: member.location.to_owned(),
        settle: member.settle,
        is_disruptive: member.is_disruptive,
        is_repair: is_repair && member.is_disruptive,
        is_down: is_repair && member.is_disruptive && member.is_down,
        // The first wave of a batch has settled when its old addresses have gone, too.
        canary_of: canary_of.or(member.between.as_ref().and_then(|between| between.row.canary_of)),
        before: member.before.clone(),
        affected: member.affected.clone(),
        gave: member.gave.clone(),
        wanted: member.wanted.clone(),
        stage: FluxStage::NotServed,
        answer: None,
    }
}

/// A batch of a group.
type BatchOfGroup<'p> = (&'p str, u64);

/// Finds the open batch of each group, which units are of it, and how far its first wave is; gives the batch of each unit
/// that may have to wait.
fn open_batches<'p>(
    view: &RolloutView<'p>,
    board: &mut WaveBoard<'p>,
    choice: &mut RolloutChoice,
) -> HashMap<usize, BatchOfGroup<'p>> {
    let mut of_group: Vec<Vec<usize>> = vec![Vec::new(); board.groups.len()];
    for (place, candidate) in board.candidates.iter().enumerate() {
        of_group[candidate.groups[0].0].push(place);
    }
    let mut batch_of = HashMap::new();
    for (place, own) in of_group.into_iter().enumerate() {
        let name = board.groups[place].name;
        let remembered = view.memory.batches.get(name).copied().unwrap_or_default();
        let is_of_batch = |record: &WaitRecord| record.group == name && record.batch == remembered.number;
        let is_known = |own: &usize| {
            let mut members = board.candidates[*own].members.iter();
            members.any(|member| view.memory.waits.get(member.subject).is_some_and(is_of_batch))
        };
        let known: HashSet<usize> = own.iter().copied().filter(is_known).collect();
        let fits = |own: &usize| board.misfit(&board.candidates[*own]).is_none();
        let is_open = known.iter().any(fits) || waits_elsewhere(view, board, is_of_batch);
        let batch = if is_open || own.is_empty() {
            remembered
        } else {
            GroupBatch { number: remembered.number + 1, is_canary_settled: false, ..remembered }
        };
        let (phase, batch) = phase(view, (name, board.groups[place].terms), batch);
        for own in &own {
            let is_late = is_open && !known.contains(own);
            board.candidates[*own].is_late = is_late;
            batch_of.insert(board.candidates[*own].unit, (name, batch.number + u64::from(is_late)));
        }
        board.groups[place].phase = phase;
        let seen = view.plan.group(name);
        let in_service = seen.map_or(batch.in_service, |seen| seen.in_service);
        choice.batches.insert(name.to_owned(), GroupBatch { in_service, ..batch });
    }
    batch_of
}

/// Whether what waits for this reason holds no batch open, and joins the next one.
pub(super) fn joins_next(code: WaitCode) -> bool {
    matches!(code, WaitCode::DoesNotFit | WaitCode::Replaces | WaitCode::Availability | WaitCode::Approval)
}

/// Whether something of a batch waits that the plan is not about.
fn waits_elsewhere(view: &RolloutView<'_>, board: &WaveBoard<'_>, is_of_batch: impl Fn(&WaitRecord) -> bool) -> bool {
    let mut planned: Option<HashSet<&Subject>> = None;
    view.memory.waits.iter().any(|(subject, record)| {
        let is_left = is_of_batch(record) && !joins_next(record.wait.code) && !view.is_over(subject, &record.group);
        let members = || board.candidates.iter().flat_map(|own| &own.members).map(|member| member.subject).collect();
        is_left && !planned.get_or_insert_with(members).contains(subject)
    })
}

/// How far the first wave of a batch is, and the batch with that.
fn phase(view: &RolloutView<'_>, (name, terms): (&str, GroupTerms), batch: GroupBatch) -> (CanaryPhase, GroupBatch) {
    // A first wave that was put back or repaired shows nothing of the change: the next one goes alone again.
    let is_repaired = |row: &FluxRow| {
        let mut later = view.memory.rows_of(&row.subject).filter(|own| own.apply > row.apply);
        later.any(|own| own.is_repair && own.stage != FluxStage::NotMade)
    };
    let is_canary = |row: &&FluxRow| {
        let is_of_batch = row.group == name && row.canary_of == Some(batch.number);
        is_of_batch && row.stage != FluxStage::NotMade && !is_repaired(row)
    };
    let mut canaries = view.memory.flux.iter().filter(is_canary).peekable();
    let has_gone = canaries.peek().is_some();
    let is_canary_settled = batch.is_canary_settled || has_gone && canaries.all(|row| !row.is_in_flux(view.now));
    let phase = match terms.canary {
        Some(_) if !is_canary_settled && has_gone => CanaryPhase::Held,
        Some(_) if !is_canary_settled => CanaryPhase::Due(0),
        Some(_) | None => CanaryPhase::Free,
    };
    (phase, GroupBatch { is_canary_settled, ..batch })
}

/// Takes out the units that fit no wave, and counts those that do.
fn take_misfits(board: &mut WaveBoard<'_>) -> Vec<(usize, HeldBack)> {
    let mut misfits = Vec::new();
    for candidate in std::mem::take(&mut board.candidates) {
        if let Some(why) = board.misfit(&candidate) {
            misfits.push((candidate.unit, why));
            continue;
        }
        let group = &mut board.groups[candidate.groups[0].0];
        let count = if candidate.is_late { &mut group.late_left } else { &mut group.left };
        *count += 1;
        board.candidates.push(candidate);
    }
    misfits
}

/// Keeps that all subjects of a unit wait.
fn remember(
    view: &RolloutView<'_>,
    unit: &ChangeUnit,
    (group, batch): BatchOfGroup<'_>,
    (why, until): (&HeldBack, Option<Time>),
    choice: &mut RolloutChoice,
) {
    for (project, subject) in hosts_of(&view.plan.changes, unit) {
        let since = view.memory.waits.get(subject).map_or(view.now.to_second(), |known| known.wait.since);
        let wait = WaitingSubject {
            code: why.code,
            message: why.message.clone(),
            project: project.to_owned(),
            since,
            subject: subject.clone(),
            until: until.map(Time::from_second),
        };
        choice.waits.insert(subject.clone(), WaitRecord { wait, group: group.to_owned(), batch });
    }
}

/// The command that names all subjects of a unit, so that they go.
fn named(view: &RolloutView<'_>, unit: &ChangeUnit) -> String {
    let subjects = unit.changes.iter().flat_map(|place| view.plan.changes[*place].subjects());
    let subjects: BTreeSet<Subject> = subjects.map(|own| own.counted().unwrap_or_else(|| own.clone())).collect();
    let options = subjects.iter().map(|subject| match subject {
        Subject::Host(inv) => format!(" --host {inv}"),
        other => format!(" --subject '{other}'"),
    });
    format!("; `zonewright apply --auto{}` lets them go together", options.collect::<String>())
}

/// The rows of subjects that go which have settled.
fn outdated(view: &RolloutView<'_>, choice: &RolloutChoice) -> Vec<(Subject, u64)> {
    let known = choice.flux.iter().flat_map(|row| view.memory.rows_of(&row.subject));
    known.filter(|row| !row.is_in_flux(view.now)).map(|row| (row.subject.clone(), row.apply)).collect()
}

/// The subjects that waited, and that no longer do: they go, or the plan is about all of their group and does not change
/// them.
fn ended(view: &RolloutView<'_>, units: &[ChangeUnit], choice: &RolloutChoice) -> Vec<Subject> {
    let going = choice.goes.iter().flat_map(|unit| hosts_of(&view.plan.changes, &units[*unit]));
    let goes: HashSet<&Subject> = going.map(|(_, subject)| subject).collect();
    let is_over = |(subject, record): &(&Subject, &WaitRecord)| {
        let waits = choice.waits.contains_key(subject) || choice.between.contains_key(subject);
        !waits && (goes.contains(subject) || view.is_over(subject, &record.group))
    };
    view.memory.waits.iter().filter(is_over).map(|(subject, _)| subject.clone()).collect()
}

#[cfg(test)]
mod tests;
