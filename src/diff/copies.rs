//! What is done at each target of a pool that has several. Pure.
//!
//! Comes in: what was decided by the reference copies, and DNS as each other target sees it. Goes out: the changes, each with
//! the targets that it is for; which hosts get nothing at some target, and which get nothing anywhere because of that.
//!
//! The rules act on each copy by itself. What a claim leaves open is chosen by the reference (`choice`), so that all copies
//! come to hold the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use super::block::SubjectBlock;
use super::context::{CopyBlocks, RuleContext, RuleGround, TargetView};
use super::judge::{FleetDecisions, judge_all};
use super::pod_survey::{self, SurveyGround};
use super::subject_standing::{SubjectStanding, SubjectStandings};
use super::{carry, words};
use crate::change::{BlockedSubject, Change, Notice, NoticeCode, Reason, Rule};
use crate::claim::Subject;
use crate::desired::DesiredHosts;
use crate::dns::{NameRef, RrKey, Rtype, ZoneName};
use crate::inventory::Inventory;
use crate::inventory::pool::Pool;
use crate::inventory::value::Inv;
use crate::live::{
    ComparedViews, ComparedZone, Live, NamePlace, PoolCopies, TargetCopies, ZoneIndex, differing_rrsets,
};
use crate::target::TargetId;

/// How many RRsets are named that differ between two copies.
const EXAMPLES: usize = 3;

/// What was decided for the targets of a pool, without those whose copies are like the reference.
pub struct PoolDecisions<'a> {
    /// The copies.
    copies: &'a PoolCopies,
    /// What was decided by each of its other targets, in their order.
    others: Vec<TargetDecisions<'a>>,
}

/// What was decided by what one target sees.
struct TargetDecisions<'a> {
    /// The target, and what it sees.
    seen: &'a TargetCopies,
    /// What was decided; with what the reference blocks, too.
    decided: FleetDecisions,
    /// The hosts whose A records differ from the reference.
    disagreeing: BTreeMap<Inv, SubjectBlock>,
    /// The RRsets that differ from the reference.
    differing: Vec<DifferingZone>,
}

/// The RRsets of one zone that a copy does not have as the reference has them.
struct DifferingZone {
    /// The zone.
    zone: ZoneIndex,
    /// The RRsets, sorted; never empty.
    rrsets: Vec<RrKey>,
}

/// Decides for all targets whose copies are not like the reference; `standings` and `decided` are what the reference gave.
pub fn decide_others<'a>(
    context: &RuleContext<'_>,
    standings: &SubjectStandings,
    decided: &FleetDecisions,
    pools: &'a [PoolCopies],
) -> Vec<PoolDecisions<'a>> {
    if pools.iter().all(|copies| copies.others.is_empty()) {
        return pools.iter().map(|copies| PoolDecisions { copies, others: Vec::new() }).collect();
    }
    let standings = with_blocks(context, standings, &decided.blocked);
    let of_pool = |copies: &'a PoolCopies| {
        let view = TargetView { copies, reference: context.live, standings: &standings };
        PoolDecisions { copies, others: copies.others.iter().map(|seen| decide_one(context, view, seen)).collect() }
    };
    pools.iter().map(of_pool).collect()
}

/// The standings with all that blocks hosts, also what their rules found.
fn with_blocks(
    context: &RuleContext<'_>,
    standings: &SubjectStandings,
    blocked: &[BlockedSubject],
) -> SubjectStandings {
    let mut standings = standings.clone();
    for BlockedSubject { code, message, hint, subject, .. } in blocked {
        let block = SubjectBlock { code: *code, message: message.clone(), hint: hint.clone() };
        let set = |standing: &mut SubjectStanding| {
            if matches!(standing, SubjectStanding::Open(_)) {
                *standing = SubjectStanding::Blocked(block.clone());
            }
        };
        match subject.host() {
            Some(inv) => context.inventory.places_of(inv).for_each(|place| set(&mut standings.hosts[place])),
            None => {
                context.stated.place_of(subject).into_iter().for_each(|place| set(&mut standings.stated[place]));
            }
        }
    }
    standings
}

/// Decides by what one target sees.
fn decide_one<'a>(reference: &RuleContext<'_>, view: TargetView<'_>, seen: &'a TargetCopies) -> TargetDecisions<'a> {
    let compared = ComparedViews::of(reference.live, &seen.live);
    let desired = DesiredHosts::new(reference.inventory, &seen.live, reference.now);
    let settled = carry::settled_there(reference, &compared, &desired);
    let differing = all_differing(&compared);
    let ground = RuleGround { live: &seen.live, ..reference.ground() };
    let (bounds, subjects) = (reference.bounds, reference.stated.pods());
    let settled_pods = pod_survey::settled_there(SurveyGround { ground, bounds, subjects });
    let context = RuleContext {
        live: &seen.live,
        desired: &desired,
        settled: &settled,
        settled_pods: &settled_pods,
        view: Some(view),
        ..*reference
    };
    let (_, decided) = judge_all(&context);
    let disagreeing = disagreeing(reference, &context, view.standings, &seen.target);
    TargetDecisions { seen, decided, disagreeing, differing }
}

/// The open hosts at whose names a copy has other A records than the reference: their addresses follow from these.
fn disagreeing(
    reference: &RuleContext<'_>,
    context: &RuleContext<'_>,
    standings: &SubjectStandings,
    target: &TargetId,
) -> BTreeMap<Inv, SubjectBlock> {
    let hosts = &context.inventory.hosts;
    let is_open = |place: &usize| matches!(standings.hosts[*place], SubjectStanding::Open(_));
    let may_differ = |place: &usize| !(context.settled[*place] && reference.settled[*place]);
    let places = (0..hosts.len()).into_par_iter().filter(is_open).filter(may_differ);
    let found = places.filter_map(|place| {
        // What the inventory lists does not follow from A records: these are brought in line.
        let derived = reference.desired[place].interfaces.iter().filter(|interface| !interface.is_listed());
        let names = derived.map(|interface| interface.owner.as_name());
        let name = names.into_iter().find(|name| !have_same_a(reference.live, context.live, *name))?;
        Some((hosts[place].inv, words::copies_disagree(name, target)))
    });
    found.collect()
}

/// Whether two views have the same A records at a name, as far as both are known.
fn have_same_a(one: &Live, other: &Live, name: NameRef<'_>) -> bool {
    let is_plain =
        |live: &Live| matches!(live.place(name), NamePlace::Open(_) | NamePlace::Cname(_) | NamePlace::Opaque(_));
    if !is_plain(one) || !is_plain(other) {
        return true;
    }
    let values = |live: &Live| {
        let found = live.rrset(name, Rtype::A);
        found.into_iter().flat_map(|found| found.rrset.to_rrset().rdata().to_vec()).collect::<Vec<_>>()
    };
    values(one) == values(other)
}

/// The subjects that get nothing anywhere: the targets at which nothing blocks them do not reach the threshold, or copies
/// disagree about them.
pub fn blocks(context: &RuleContext<'_>, decided: &FleetDecisions, pools: &[PoolDecisions<'_>]) -> CopyBlocks {
    let known: BTreeSet<&Subject> = decided.blocked.iter().map(|blocked| &blocked.subject).collect();
    let mut blocks = CopyBlocks::new();
    for PoolDecisions { copies, others } in pools {
        for other in others {
            for (inv, block) in &other.disagreeing {
                blocks.entry(Subject::Host(*inv)).or_insert_with(|| block.clone());
            }
        }
        let pool = &context.inventory.config.pools[copies.pool];
        for (subject, blocked) in blocked_at(others, &known) {
            let left = pool.targets.iter().filter(|target| !blocked.iter().any(|(at, _)| **at == target.id));
            if !pool.is_reached(left.map(|target| &target.id)) {
                blocks.entry(subject).or_insert_with(|| first_block(&blocked));
            }
        }
    }
    blocks
}

/// What blocks a subject at a target.
type BlockAt<'a> = (&'a TargetId, &'a BlockedSubject);

/// The subjects that are blocked at targets of a pool, but for those that the reference blocks; each with its blocks in the
/// order of the targets.
fn blocked_at<'a>(
    others: &'a [TargetDecisions<'_>],
    known: &BTreeSet<&Subject>,
) -> BTreeMap<Subject, Vec<BlockAt<'a>>> {
    let mut subjects: BTreeMap<Subject, Vec<BlockAt<'a>>> = BTreeMap::new();
    for TargetDecisions { seen, decided, .. } in others {
        for blocked in decided.blocked.iter().filter(|blocked| !known.contains(&blocked.subject)) {
            let Some(subject) = blocked.subject.counted() else { continue };
            subjects.entry(subject).or_default().push((&seen.target, blocked));
        }
    }
    subjects
}

/// The block that counts of several: what is wrong in a copy comes before that a copy is not known.
fn first_block(blocked: &[BlockAt<'_>]) -> SubjectBlock {
    let is_of_data = |(_, block): &&BlockAt<'_>| !block.code.is_of_zone();
    let (target, block) = blocked.iter().find(is_of_data).unwrap_or(&blocked[0]);
    SubjectBlock { code: block.code, message: words::at_target(target, &block.message), hint: block.hint.clone() }
}

/// Joins what was decided for all targets: each change once, with the targets that it is for.
pub fn join(context: &RuleContext<'_>, decided: &mut FleetDecisions, pools: Vec<PoolDecisions<'_>>) {
    let known: BTreeSet<Subject> = decided.blocked.iter().map(|blocked| blocked.subject.clone()).collect();
    for PoolDecisions { copies, others } in pools {
        if others.is_empty() {
            continue;
        }
        let pool = &context.inventory.config.pools[copies.pool];
        let changes = std::mem::take(&mut decided.changes).into_iter();
        let (own, rest): (Vec<Change>, Vec<Change>) = changes.partition(|change| change.pool == pool.name);
        let mut joined = TargetChanges::default();
        copies.alike.iter().for_each(|target| joined.add(target, &own));
        for TargetDecisions { seen, decided: other, differing, .. } in others {
            let changes = other.changes.into_iter().filter(|change| change.pool == pool.name);
            let changes: Vec<Change> = changes.map(|change| in_line(context.live, change)).collect();
            decided.notices.extend(differences(context, &seen.target, differing, &changes));
            joined.add(&seen.target, &changes);
            let blocked = other.blocked.iter().filter(|blocked| !known.contains(&blocked.subject));
            decided.notices.extend(blocked.map(|blocked| left_at(&seen.target, blocked)));
            let (notices, waiting) = (other.notices, other.waiting);
            add_notices(&mut decided.notices, &seen.target, notices);
            let is_new = |rrset: &&_| !decided.waiting.contains(rrset);
            let waiting: Vec<_> = waiting.iter().filter(is_new).cloned().collect();
            decided.waiting.extend(waiting);
        }
        decided.changes = rest;
        decided.changes.extend(joined.finish(pool));
    }
}

/// Adds the notices of a target: what is found in all copies is one notice, what is found at this target alone has its name.
pub fn add_notices(known: &mut Vec<Notice>, target: &TargetId, notices: Vec<Notice>) {
    let new: Vec<Notice> = notices.into_iter().filter(|notice| !known.contains(notice)).collect();
    let told = |notice: Notice| Notice { message: words::at_target(target, &notice.message), ..notice };
    known.extend(new.into_iter().map(told));
}

/// Joins changes by the reference with those by each other target of pools that have several.
pub fn at_all_targets(
    inventory: &Inventory,
    mut changes: Vec<Change>,
    pools: &[PoolCopies],
    mut by_target: impl FnMut(&TargetCopies) -> Vec<Change>,
) -> Vec<Change> {
    for copies in pools.iter().filter(|copies| !copies.others.is_empty()) {
        let pool = &inventory.config.pools[copies.pool];
        let (own, rest): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(|change| change.pool == pool.name);
        let mut joined = TargetChanges::default();
        copies.alike.iter().for_each(|target| joined.add(target, &own));
        for seen in &copies.others {
            let of_pool = by_target(seen).into_iter().filter(|change| change.pool == pool.name);
            joined.add(&seen.target, &of_pool.collect::<Vec<_>>());
        }
        changes = rest;
        changes.extend(joined.finish(pool));
    }
    changes
}

/// The notice that a host gets nothing at a target.
fn left_at(target: &TargetId, blocked: &BlockedSubject) -> Notice {
    let code = match blocked.code {
        code if code.is_of_zone() => NoticeCode::TargetUnknown,
        _ => NoticeCode::CopyBlocked,
    };
    Notice {
        code,
        message: words::nothing_at_target(target, blocked),
        name: target.name.clone(),
        subject: Some(blocked.subject.clone()),
    }
}

/// A change at a target; where the reference already has what it makes, it only brings the copy in line.
fn in_line(reference: &Live, change: Change) -> Change {
    let RrKey { owner, rtype } = &change.key;
    let found = reference.stated_rrset(owner.as_name(), *rtype).map(|found| found.rrset.to_rrset());
    if found.as_ref() != change.kind.after() {
        return change;
    }
    let reason = Reason { evidence: Vec::new(), rule: Rule::CopyDiffers, subject: change.subject.clone() };
    let mut change = change;
    change.reasons.push(reason);
    change
}

/// Changes of a pool, each once, with the names of the targets that it is for.
#[derive(Default)]
struct TargetChanges {
    /// The changes, in the order in which they came.
    changes: Vec<Change>,
    /// Where the changes of an RRset are among them.
    places: HashMap<(ZoneName, RrKey), Vec<usize>>,
}

impl TargetChanges {
    /// Adds the changes of a target.
    fn add(&mut self, target: &TargetId, changes: &[Change]) {
        for change in changes {
            let places = self.places.entry((change.zone.clone(), change.key.clone())).or_default();
            let is_same = |place: &&usize| {
                let other = &self.changes[**place];
                *change == Change { targets: Vec::new(), ..other.clone() }
            };
            match places.iter().find(is_same) {
                Some(place) => self.changes[*place].targets.push(target.name.clone()),
                None => {
                    places.push(self.changes.len());
                    self.changes.push(Change { targets: vec![target.name.clone()], ..change.clone() });
                }
            }
        }
    }

    /// The changes; those for all targets of the pool name none.
    fn finish(self, pool: &Pool) -> Vec<Change> {
        let mut changes = self.changes;
        for change in &mut changes {
            if change.targets.len() == pool.targets.len() {
                change.targets.clear();
            }
            change.targets.sort_unstable();
        }
        changes
    }
}

/// The notices about RRsets that differ between a copy and the reference, and that no change brings in line.
fn differences(
    context: &RuleContext<'_>,
    target: &TargetId,
    differing: Vec<DifferingZone>,
    changes: &[Change],
) -> Vec<Notice> {
    let changed: BTreeSet<(&ZoneName, &RrKey)> = changes.iter().map(|change| (&change.zone, &change.key)).collect();
    let notice = |DifferingZone { zone, mut rrsets }: DifferingZone| {
        let name = &context.zone_spec(zone).name;
        rrsets.retain(|key| !changed.contains(&(name, key)));
        let examples = &rrsets[..rrsets.len().min(EXAMPLES)];
        (!rrsets.is_empty()).then(|| Notice {
            code: NoticeCode::CopiesDiffer,
            message: words::copies_differ(target, rrsets.len(), examples),
            name: name.to_string(),
            subject: None,
        })
    };
    differing.into_iter().filter_map(notice).collect()
}

/// The RRsets that the copies of a target do not have as the reference has them.
fn all_differing(views: &ComparedViews<'_>) -> Vec<DifferingZone> {
    let of_zone = |ComparedZone { zone, compared }: &ComparedZone<'_>| {
        let rrsets = differing_rrsets(views.view.zone(*zone).name(), compared);
        (!rrsets.is_empty()).then_some(DifferingZone { zone: *zone, rrsets })
    };
    views.zones.iter().filter_map(of_zone).collect()
}
