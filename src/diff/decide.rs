//! From inventory and live DNS to decisions: by the reference copies, and by those of each other target.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::context::{CopyBlocks, ServerNames};
use super::filtered::PublishedNames;
use super::held::HeldEdits;
use super::judge::{FleetDecisions, judge_all};
use super::pod_claims::PodClaims;
use super::pod_survey::{self, PodSurvey, SurveyGround};
use super::recent::RecentPods;
use super::stated::{self, RivalGround, StatedClaims};
use super::statements::KeptStatements;
use super::survey::FleetSurvey;
use super::waits::RrsetWaits;
use super::{RuleContext, RuleGround, Selection, SubjectStandings, TrippedHosts, affected, copies, filtered};
use crate::desired::pod_subjects::PodSubjects;
use crate::desired::{Collisions, DesiredHosts};
use crate::inventory::Inventory;
use crate::inventory::value::Time;
use crate::live::{Live, OwnRrsets, PairedRecords, PoolCopies, ZoneIndex};
use crate::target::{PoolBounds, PoolName};

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
    /// What the state says of who created what in the zones of DNS update records, by record.
    pub own_of_records: &'a BTreeMap<PoolName, OwnRrsets>,
    /// Where the survey of all hosts is put, or already is: of just this inventory and live DNS. None where it is of no further use.
    pub survey: Option<&'a OnceLock<FleetSurvey>>,
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
    let as_decided: RecordLook<'_> = &|_, _, decided, _| decided;
    let records = 0..inventory.published.sources.len();
    let published: Vec<FleetDecisions> =
        records.map(|place| decide_record(inventory, live, given, (place, as_decided))).collect();
    decide_listed(inventory, live, given, |context, standings, mut decided, _| {
        published.into_iter().for_each(|own| decided.append(own));
        look(context, standings, decided)
    })
}

/// Shows `look` what each decision is based on: that of each DNS update record, and that of all else, with the copies of its pools;
/// joins what it makes of them.
pub fn look_at_each(
    inventory: &Inventory,
    live: &Live,
    given: DecisionInput<'_>,
    look: &dyn Fn(&RuleContext<'_>, &SubjectStandings, &[PoolCopies]) -> FleetDecisions,
) -> FleetDecisions {
    let mut all =
        decide_listed(inventory, live, given, |context, standings, _, copies| look(context, standings, copies));
    // A note names no record, and so would count for a zone of the same name elsewhere, too.
    let at_record: RecordLook<'_> =
        &|context, standings, _, copies| FleetDecisions { statements: Vec::new(), ..look(context, standings, copies) };
    for place in 0..inventory.published.sources.len() {
        all.append(decide_record(inventory, live, given, (place, at_record)));
    }
    all
}

/// What is made of a decision about a record.
type RecordLook<'l> = &'l dyn Fn(&RuleContext<'_>, &SubjectStandings, FleetDecisions, &[PoolCopies]) -> FleetDecisions;

/// Decides about all but DNS update records, and shows `look` what that is based on, with the copies of its pools.
fn decide_listed<T>(
    inventory: &Inventory,
    live: &Live,
    given: DecisionInput<'_>,
    look: impl FnOnce(&RuleContext<'_>, &SubjectStandings, FleetDecisions, &[PoolCopies]) -> T,
) -> T {
    let records = &inventory.published.sources;
    if records.is_empty() {
        return decide_alone(inventory, live, given, look);
    }
    let config = &inventory.config;
    let pool_of = |zone: ZoneIndex| config.pool(&config.zones[zone.0 as usize]);
    let is_record = |name: &str| records.iter().any(|record| *record.name == *name);
    let is_listed = |zone: ZoneIndex| !pool_of(zone).is_of_record;
    let statements = given.statements.only(|source| !is_record(source));
    let held = given.held.only(|pool| !config.pools.iter().any(|own| own.is_of_record && own.name == *pool));
    let live = live.only(is_listed);
    let copies: Vec<PoolCopies> = given.copies.iter().map(|copies| copies.only(is_listed)).collect();
    let given = DecisionInput { statements: &statements, held: &held, copies: &copies, survey: None, ..given };
    decide_alone(inventory, &live, given, look)
}

/// Decides what a DNS update record publishes, in its zones alone, and lets `look` make something else of it; `place` is that of
/// its source.
fn decide_record(
    inventory: &Inventory,
    live: &Live,
    given: DecisionInput<'_>,
    (place, look): (usize, RecordLook<'_>),
) -> FleetDecisions {
    let config = &inventory.config;
    let name = &*inventory.published.sources[place].name;
    let is_own = |zone: ZoneIndex| {
        let pool = config.pool(&config.zones[zone.0 as usize]);
        pool.is_of_record && pool.name.as_str() == name
    };
    let own = given.own_of_records.iter().find(|(record, _)| record.as_str() == name).map(|(_, own)| own.clone());
    let live = live.only(is_own).with_own(own.unwrap_or_default());
    let (statements, held) =
        (given.statements.only(|source| source == name), given.held.only(|pool| pool.as_str() == name));
    let (copies, recent, waits) = (&[][..], &RecentPods::default(), &RrsetWaits::default());
    let given = DecisionInput { statements: &statements, held: &held, copies, recent, waits, survey: None, ..given };
    let of_record = inventory.of_record(place);
    let decided = decide_alone(&of_record, &live, given, look);
    match config.update_records.find(name) {
        Some(record) => {
            let published = PublishedNames { stated: &of_record.stated, noted: &statements, live: &live };
            filtered::without_dry_run(record, filtered::without_hidden(record, published, decided))
        }
        None => decided,
    }
}

/// Decides about all that sees the same zones, and shows `look` what that is based on, with the copies of pools.
fn decide_alone<T>(
    inventory: &Inventory,
    live: &Live,
    given: DecisionInput<'_>,
    look: impl FnOnce(&RuleContext<'_>, &SubjectStandings, FleetDecisions, &[PoolCopies]) -> T,
) -> T {
    let DecisionInput {
        now,
        servers,
        bounds,
        selection,
        tripped,
        waits,
        statements,
        held,
        recent,
        copies: pools,
        survey,
        ..
    } = given;
    let desired = DesiredHosts::new(inventory, live, now);
    let ground = RuleGround { inventory, live, servers };
    let is_any = stated::is_any(inventory, statements);
    let of_pods = if is_any { PodSubjects::of(inventory, live) } else { PodSubjects::none(inventory, live) };
    let pods_in = |paired: &PairedRecords| pod_survey::all(SurveyGround { ground, bounds, subjects: &of_pods }, paired);
    let (mut of_all_pods, not_kept) = (None, OnceLock::new());
    let survey = survey
        .unwrap_or(&not_kept)
        .get_or_init(|| FleetSurvey::of(ground, &desired, now, |paired| of_all_pods = Some(pods_in(paired))));
    let FleetSurvey { names, foreseen, used, settled, .. } = survey;
    let mut settled = settled.clone();
    let rivals = RivalGround { inventory, live, names, used };
    let PodSurvey { names: of_names, settled: settled_pods, faulty } =
        of_all_pods.unwrap_or_else(|| pods_in(&PairedRecords::none(live)));
    let stated = StatedClaims::find(rivals, statements, (PodClaims::new(of_pods, of_names), &faulty));
    stated.contradicted_hosts().for_each(|place| settled[place] = false);
    let collisions = Collisions::find(inventory, names, used);
    let context = RuleContext {
        inventory,
        live,
        names,
        desired: &desired,
        settled: &settled,
        settled_pods: &settled_pods,
        pods: stated.pods().projects(),
        used,
        collisions: &collisions,
        foreseen,
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
    decide_with_copies(&context, pools, look)
}

/// Decides by the reference copies and by the others, until no host is blocked that was not before.
fn decide_with_copies<T>(
    context: &RuleContext<'_>,
    pools: &[PoolCopies],
    look: impl FnOnce(&RuleContext<'_>, &SubjectStandings, FleetDecisions, &[PoolCopies]) -> T,
) -> T {
    let mut by_copies = CopyBlocks::new();
    loop {
        let context = RuleContext { by_copies: &by_copies, ..*context };
        let (standings, mut decided) = judge_all(&context);
        let others = copies::decide_others(&context, &standings, &decided, pools);
        let more = copies::blocks(&context, &decided, &others);
        if more.is_empty() {
            copies::join(&context, &mut decided, others);
            decided.affected = affected::find(&context, &decided.changes);
            return look(&context, &standings, decided, pools);
        }
        // What other hosts may do depends on which are blocked.
        by_copies.extend(more);
    }
}
