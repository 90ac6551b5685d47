//! From inventory and live DNS to decisions: by the reference copies, and by those of each other target.

use super::context::{CopyBlocks, ServerNames};
use super::held::HeldEdits;
use super::judge::{FleetDecisions, judge_all};
use super::pod_claims::PodClaims;
use super::pod_survey::{self, PodSurvey, SurveyGround};
use super::recent::RecentPods;
use super::stated::{self, RivalGround, StatedClaims};
use super::statements::KeptStatements;
use super::waits::RrsetWaits;
use super::{RuleContext, RuleGround, Selection, SubjectStandings, TrippedHosts, affected, copies, derive};
use crate::desired::pod_subjects::PodSubjects;
use crate::desired::{Collisions, DesiredHosts};
use crate::inventory::Inventory;
use crate::inventory::value::Time;
use crate::live::{Live, PoolCopies, ZoneIndex};
use crate::names::{ForeseenNames, NameIndex};
use crate::target::PoolBounds;

/// What decisions depend on, in addition to the inventory and live DNS.
#[derive(Debug, Clone, Copy)]
pub struct DecisionInput<'a> {
    /// The clock.
    pub now: Time,
    /// The servers that zones are written to.
    pub servers: &'a ServerNames,
    /// Which records the targets of pools hold.
    pub bounds: &'a PoolBounds,
    /// The hosts whose rules run.
    pub selection: &'a Selection,
    /// The hosts whose rules do not run because of a breaker.
    pub tripped: &'a TrippedHosts,
    /// The RRsets that wait to be deleted.
    pub waits: &'a RrsetWaits,
    /// What claims which RRset, as applies noted it.
    pub statements: &'a KeptStatements,
    /// The hosts and RRsets that stay as they are, because a person edited them after an apply.
    pub held: &'a HeldEdits,
    /// What earlier applies left of pods.
    pub recent: &'a RecentPods,
    /// The copies of the pools that have several targets.
    pub copies: &'a [PoolCopies],
}

/// Derives all hosts, decides the standing of each, runs the rules, and joins what they do.
pub fn decide(inventory: &Inventory, live: &Live, given: DecisionInput<'_>) -> FleetDecisions {
    decide_and(inventory, live, given, |_, _, decided| decided)
}

/// Decides, and shows `look` what the decision is based on; of DNS update records only what was decided.
///
/// Each record is decided by itself: it sees its own zones, and neither hosts, pods and files nor other records see them.
pub fn decide_and<T>(
    inventory: &Inventory,
    live: &Live,
    given: DecisionInput<'_>,
    look: impl FnOnce(&RuleContext<'_>, &SubjectStandings, FleetDecisions) -> T,
) -> T {
    let records = &inventory.published.sources;
    if records.is_empty() {
        return decide_alone(inventory, live, given, look);
    }
    let is_record = |name: &str| records.iter().any(|record| *record.name == *name);
    let pool_of = |zone: ZoneIndex| inventory.config.pool(&inventory.config.zones[zone.0 as usize]).name.as_str();
    let published: Vec<FleetDecisions> = (0..records.len())
        .map(|place| {
            let name = &*records[place].name;
            let live = live.only(|zone| pool_of(zone) == name);
            let statements = given.statements.only(|source| source == name);
            let (statements, copies, recent) = (&statements, &[][..], &RecentPods::default());
            let given = DecisionInput { statements, copies, recent, ..given };
            decide_alone(&inventory.of_record(place), &live, given, |_, _, decided| decided)
        })
        .collect();
    let is_seen = |zone: ZoneIndex| !is_record(pool_of(zone));
    let statements = given.statements.only(|source| !is_record(source));
    let live = live.only(is_seen);
    let copies: Vec<PoolCopies> = given.copies.iter().map(|copies| copies.only(is_seen)).collect();
    let given = DecisionInput { statements: &statements, copies: &copies, ..given };
    decide_alone(inventory, &live, given, |context, standings, mut decided| {
        published.into_iter().for_each(|own| decided.append(own));
        look(context, standings, decided)
    })
}

/// Decides about all that sees the same zones.
fn decide_alone<T>(
    inventory: &Inventory,
    live: &Live,
    given: DecisionInput<'_>,
    look: impl FnOnce(&RuleContext<'_>, &SubjectStandings, FleetDecisions) -> T,
) -> T {
    let DecisionInput { now, servers, bounds, selection, tripped, waits, statements, held, recent, copies: pools } =
        given;
    let desired = DesiredHosts::new(inventory, live, now);
    let ground = RuleGround { inventory, live, servers };
    let index = || rayon::join(|| NameIndex::new(inventory), || ForeseenNames::find(inventory, live, now));
    let ((names, foreseen), derived) = rayon::join(index, || derive::all(ground, &desired));
    let is_any = stated::is_any(inventory, statements);
    let of_pods = if is_any { PodSubjects::of(inventory, live) } else { PodSubjects::none(inventory, live) };
    let survey = pod_survey::all(SurveyGround { ground, bounds, subjects: &of_pods }, derived.paired());
    let (used, mut settled) = derived.finish(ground, &names);
    let rivals = RivalGround { inventory, live, names: &names, used: &used };
    let PodSurvey { names: of_names, settled: settled_pods, faulty } = survey;
    let stated = StatedClaims::find(rivals, statements, (PodClaims::new(of_pods, of_names), &faulty));
    stated.contradicted_hosts().for_each(|place| settled[place] = false);
    let collisions = Collisions::find(inventory, &names, &used);
    let context = RuleContext {
        inventory,
        live,
        names: &names,
        desired: &desired,
        settled: &settled,
        settled_pods: &settled_pods,
        pods: stated.pods().projects(),
        used: &used,
        collisions: &collisions,
        foreseen: &foreseen,
        now,
        selection,
        tripped,
        servers,
        bounds,
        waits,
        held,
        recent,
        stated: &stated,
        statements,
        by_copies: &CopyBlocks::new(),
        view: None,
    };
    let mut by_copies = CopyBlocks::new();
    loop {
        let context = RuleContext { by_copies: &by_copies, ..context };
        let (standings, mut decided) = judge_all(&context);
        let others = copies::decide_others(&context, &standings, &decided, pools);
        let more = copies::blocks(&context, &decided, &others);
        if more.is_empty() {
            copies::join(&context, &mut decided, others);
            decided.affected = affected::find(&context, &decided.changes);
            return look(&context, &standings, decided);
        }
        // What other hosts may do depends on which are blocked.
        by_copies.extend(more);
    }
}
