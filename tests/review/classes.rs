//! Classes are what two plans say that know nothing of each other: one of the base, one of the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use zonewright::change::Change;
use zonewright::dns::{RrKey, Rrset, ZoneName};
use zonewright::inventory::value::Inv;
use zonewright::plan::{ChangeClass, Plan};

use crate::dice::Dice;
use crate::edits::{Act, Edit, edit};
use crate::fleet::Fleet;
use crate::world::{drifted, files, key, plan, with_registry, write, zones};

/// A world in which an inventory changes.
#[derive(Debug, Clone)]
struct World {
    /// The seed of what drifted.
    seed: u64,
    /// How much of live DNS drifted, in hundredths.
    drift: usize,
    /// Whether live DNS holds the registry's texts.
    registry: bool,
    /// The edits, each with whether the base has it, and whether the workspace has.
    edits: Vec<(Edit, (bool, bool))>,
}

/// Any edit.
fn any_edit() -> impl Strategy<Value = Edit> {
    let act = prop::sample::select(Act::ALL);
    (act, 0..48_u16, 0..48_u16).prop_map(|(act, place, with)| Edit { act, place, with })
}

/// Any world, with at most so many edits.
fn any_world(edits: usize) -> impl Strategy<Value = World> {
    let side = prop_oneof![
        4 => Just((false, true)),
        2 => Just((true, false)),
        2 => Just((true, true)),
    ];
    let edits = prop::collection::vec((any_edit(), side), 0..=edits);
    let drift = prop::sample::select(&[0_usize, 5, 30, 80][..]);
    (any::<u64>(), drift, any::<bool>(), edits).prop_map(|(seed, drift, registry, edits)| World {
        seed,
        drift,
        registry,
        edits,
    })
}

/// What a plan makes of each RRset that it changes.
fn outcomes(plan: &Plan) -> BTreeMap<(ZoneName, RrKey), Option<&Rrset>> {
    plan.changes.iter().map(|change| (key(change), change.kind.after())).collect()
}

/// The class that two plans give a change.
fn class_of(change: &Change, base: &BTreeMap<(ZoneName, RrKey), Option<&Rrset>>) -> ChangeClass {
    match base.get(&key(change)) {
        None => ChangeClass::Caused,
        Some(after) if *after == change.kind.after() => ChangeClass::Pending,
        Some(_) => ChangeClass::Mixed,
    }
}

/// The hosts that a plan blocks.
fn blocked(plan: &Plan) -> BTreeSet<Inv> {
    plan.blocked.iter().filter_map(|blocked| blocked.subject.host()).collect()
}

/// Whether exports differ while any has to be of some age.
fn is_another_doubted(base: &Path, here: &Path) -> bool {
    let read = |file: &str| [base, here].map(|side| fs::read_to_string(side.join(file)).expect("a file"));
    let is_tested = read("zonewright.toml").iter().any(|text| text.contains("max_age"));
    let exports = ["racktables/hosts.csv", "racktables/l3-tors.txt", "racktables/net-layout.xml"];
    is_tested && exports.map(read).iter().any(|[base, here]| base != here)
}

/// Checks a world.
fn check(World { seed, drift, registry, edits }: &World) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, here) = (folder.path().join("base"), folder.path().join("here"));
    let mut fleet = Fleet::new(24, 4, &[60, 40]);
    if *registry {
        fleet.settings.top = "registry = \"txt\"".to_owned();
    }
    let live = drifted(&zones(&fleet), *drift, &mut Dice::new(*seed));
    let live = if *registry { with_registry(&live) } else { live };
    for (side, has) in [(&base, (|of| of.0) as fn(&(bool, bool)) -> bool), (&here, |of| of.1)] {
        let mut files = files(&fleet);
        edits.iter().filter(|(_, of)| has(of)).for_each(|(one, _)| edit(&mut files, *one));
        write(side, &files);
        write(side, &live);
    }
    // Edits may come to settings that are refused.
    let (Ok(alone), Ok(of_base)) = (plan(&here, None), plan(&base, None)) else { return Ok(()) };
    // An export of the base that is another today is not tested for its age: that was done when it was new.
    if is_another_doubted(&base, &here) {
        return Ok(());
    }
    let held = plan(&here, Some(&base)).expect("both can be used");
    prop_assert_eq!(&alone.plan.changes, &held.plan.changes);
    let Some(review) = held.plan.review else {
        prop_assert!(held.plan.changes.is_empty());
        return Ok(());
    };
    prop_assert!(review.is_whole(held.plan.changes.len()));
    let (alone, of_base) = (alone.plan, of_base.plan);
    let before = outcomes(&of_base);
    let given = review.cause_of_each(alone.changes.len());
    for (change, cause) in alone.changes.iter().zip(given) {
        let cause = &review.causes[cause];
        prop_assert_eq!(
            cause.class,
            Some(class_of(change, &before)),
            "{:?}\n{:?}\n{:?}",
            change,
            cause,
            before.get(&key(change))
        );
        prop_assert!(
            cause.is_explained || cause.class != Some(ChangeClass::Caused),
            "{:?}
{:?}",
            change,
            cause
        );
    }
    let planned = outcomes(&alone);
    let is_gone = |change: &&Change| {
        let key = key(change);
        !planned.contains_key(&key) && !alone.delayed.iter().any(|own| own.zone == key.0 && own.key == key.1)
    };
    let left: BTreeSet<Inv> =
        alone.skipped.iter().filter_map(|own| own.subject.host()).chain(blocked(&alone)).collect();
    let of_open = |change: &&Change| change.subject.host().is_some_and(|inv| !left.contains(&inv));
    let gone = of_base.changes.iter().filter(is_gone);
    let (least, most) = (gone.clone().filter(of_open).count(), gone.count());
    prop_assert!((least as u64..=most as u64).contains(&review.settled), "{} {} {}", least, review.settled, most);
    let newly: BTreeSet<Inv> = blocked(&alone).difference(&blocked(&of_base)).copied().collect();
    let reported: BTreeSet<Inv> = review.newly_blocked.iter().filter_map(|own| own.host()).collect();
    // The records of a zone that is no longer configured are unknown, and so are the hosts that they would block.
    let is_unread = of_base.zones.iter().any(|own| alone.zones.iter().all(|zone| zone.zone != own.zone));
    prop_assert!(reported == newly || is_unread && reported.is_superset(&newly), "{:?} {:?}", reported, newly);
    Ok(())
}

/// How many worlds: those of `PROPTEST_CASES` in the environment, else as many as take some seconds.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(200, |cases| cases.parse().expect("a number"))
}

/// The seed of `PROPTEST_RNG_SEED`, else always the same.
fn seed() -> RngSeed {
    RngSeed::Fixed(std::env::var("PROPTEST_RNG_SEED").map_or(8, |seed| seed.parse().expect("a number")))
}

proptest! {
    // The same worlds each time, unless PROPTEST_RNG_SEED is set.
    #![proptest_config(ProptestConfig {
        cases: cases(),
        rng_seed: seed(),
        failure_persistence: None,
        max_shrink_iters: 300,
        ..ProptestConfig::default()
    })]

    #[test]
    fn classes_are_what_two_plans_say(world in any_world(6)) {
        check(&world)?;
    }
}
