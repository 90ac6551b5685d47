//! What was found of all hosts a moment before, brought forward: decisions by it are those of a look at all hosts.

use std::ops::Range;
use std::sync::OnceLock;

use zonewright::diff::RuleGround;
use zonewright::diff::decide::{self, DecisionInput};
use zonewright::diff::judge::FleetDecisions;
use zonewright::diff::survey::{EarlierSurvey, FleetSurvey};
use zonewright::dns::Rtype;
use zonewright::inventory::Inventory;
use zonewright::inventory::model::HostStatus;
use zonewright::inventory::moves::{HostMoves, MovedHost};
use zonewright::inventory::value::Inv;
use zonewright::live::Live;
use zonewright::pipeline::targets::server_names;

use super::carried::{RandomDamage, view};
use super::copies::Dice;
use super::on_fleets;
use super::shortcuts::{compare_look_ups, decision_input, now, read};

/// How many moments follow each other for each fleet.
const MOMENTS: u64 = 5;

/// Moves the rows of a few hosts, of which each has one row; gives which.
fn move_rows(inventory: &mut Inventory, dice: &mut Dice) -> HostMoves {
    let count = inventory.hosts.len() as u64;
    let mut moved: Vec<(Inv, Range<usize>)> = Vec::new();
    for _ in 0..dice.below(4) {
        let place = dice.below(count) as usize;
        let inv = inventory.hosts[place].inv;
        let places = inventory.places_of(inv);
        if places.len() == 1 && !moved.iter().any(|(own, _)| *own == inv) {
            moved.push((inv, places));
        }
    }
    // A new host with a number between those of others, or behind them.
    let new = Inv(inventory.hosts[dice.below(count) as usize].inv.0 + 1);
    let is_new = dice.below(2) == 0 && inventory.places_of(new).is_empty();
    if is_new {
        moved.push((new, inventory.places_of(new)));
    }
    moved.sort_by_key(|(inv, _)| *inv);
    let (mut moves, mut ahead) = (Vec::new(), 0_isize);
    for (inv, was) in moved {
        let like = inventory.hosts[dice.below(inventory.hosts.len() as u64) as usize].clone();
        let start = was.start.checked_add_signed(ahead).expect("a place");
        let is_there = was.len() == 1;
        let what = dice.below(5);
        if !is_there {
            let mut host = like;
            host.inv = inv;
            inventory.hosts.insert(start, host);
        } else if what == 0 {
            inventory.hosts.remove(start);
        } else {
            let host = &mut inventory.hosts[start];
            match what {
                1 => host.name = like.name,
                2 => host.project = like.project,
                3 => (host.location, host.switch) = (like.location, like.switch),
                _ => {
                    host.status = match host.status {
                        HostStatus::Free => HostStatus::Assigned,
                        HostStatus::Assigned => HostStatus::Free,
                    };
                }
            }
        }
        let count = usize::from(!is_there || what > 0);
        ahead += count as isize - was.len() as isize;
        moves.push(MovedHost { inv, was, is: start..start + count });
    }
    HostMoves(moves)
}

/// Decides for all hosts by a survey, or by one that is made.
fn decide_by(inventory: &Inventory, live: &Live, survey: &OnceLock<FleetSurvey>) -> FleetDecisions {
    let servers = server_names(inventory);
    let mut decided = None;
    decision_input(inventory, |given| {
        let given = DecisionInput { servers: &servers, survey: Some(survey), ..given };
        decided = Some(decide::decide(inventory, live, given));
    });
    decided.expect("it was decided")
}

/// Compares decisions.
fn assert_same(carried: &FleetDecisions, whole: &FleetDecisions, when: &str) {
    assert_eq!(carried.changes, whole.changes, "{when}");
    assert_eq!(carried.affected, whole.affected, "{when}");
    assert_eq!(carried.blocked, whole.blocked, "{when}");
    assert_eq!(carried.skipped, whole.skipped, "{when}");
    assert_eq!(carried.notices, whole.notices, "{when}");
    assert_eq!(carried.waiting, whole.waiting, "{when}");
    assert_eq!(format!("{:?}", carried.left_behind), format!("{:?}", whole.left_behind), "{when}");
    assert_eq!(format!("{:?}", carried.statements), format!("{:?}", whole.statements), "{when}");
}

#[test]
fn what_has_moved_decides_as_a_look_at_all_hosts() {
    let (mut carried, mut moments) = (0, 0);
    on_fleets(|seed, fleet| {
        let Some((mut inventory, mut live)) = read(fleet, now()) else { return };
        if inventory.hosts.is_empty() {
            return;
        }
        let found = [Rtype::AAAA, Rtype::PTR].into_iter().flat_map(|rtype| live.rrsets_of(rtype));
        let values: Vec<_> = found
            .flat_map(|found| found.rrset.rdata().map(|rdata| (rdata.rtype, rdata.to_rdata())).collect::<Vec<_>>())
            .collect();
        let mut survey = OnceLock::new();
        decide_by(&inventory, &live, &survey);
        for moment in 0..MOMENTS {
            let seed = seed * MOMENTS + moment;
            let damage = RandomDamage { one_of: 5 + 20 * moment, values: &values, is_structural: moment == 2 };
            let (next, whole) = (view(&live, &damage, seed), view(&live, &damage, seed));
            let moves = move_rows(&mut inventory, &mut Dice(seed));
            let when = format!("moment {seed}: {moves:?}");
            let servers = server_names(&inventory);
            let ground = RuleGround { inventory: &inventory, live: &next, servers: &servers };
            let former = inventory.tors.former.clone();
            let earlier = survey.into_inner().map(|survey| EarlierSurvey { live, survey, moves, former });
            let brought = earlier.and_then(|earlier| earlier.carry(ground, now()));
            moments += 1;
            carried += usize::from(brought.is_some());
            survey = brought.map_or_else(OnceLock::new, OnceLock::from);
            let by_carried = decide_by(&inventory, &next, &survey);
            assert_same(&by_carried, &decide_by(&inventory, &whole, &OnceLock::new()), &when);
            compare_look_ups(&next, seed);
            live = next;
        }
    });
    // Without Python there are no fleets, which is reported.
    assert!(crate::support::python().is_none() || carried * 2 > moments, "{carried} of {moments} were carried");
    eprintln!("{carried} of {moments} surveys were brought forward");
}
