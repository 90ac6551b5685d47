//! Waves against what an exhaustive search finds.

use proptest::prelude::*;

use super::*;
use crate::inventory::rollout::SettleTime;
use crate::inventory::value::Inv;

/// The names of groups.
const GROUPS: [&str; 2] = ["cold", "warm"];

/// The names of locations.
const LOCATIONS: [&str; 3] = ["iva", "sas", "vla"];

/// How long each change settles.
const SETTLE: Duration = Duration::from_secs(300);

/// The clock.
fn now() -> Time {
    "2026-11-20T02:00:00Z".parse().unwrap()
}

/// A unit: its members, each with the places of its group and location.
type UnitShape = Vec<(usize, usize)>;

/// Some units with the budgets of the groups and whether these take one location at a time.
#[derive(Debug, Clone)]
struct WaveCase {
    /// The units.
    units: Vec<UnitShape>,
    /// The budget of each group.
    budgets: [usize; 2],
    /// Whether each group touches one location at a time.
    one_location: [bool; 2],
}

impl WaveCase {
    /// The subjects, in the order of the units.
    fn subjects(&self) -> Vec<Subject> {
        (0..self.units.iter().map(Vec::len).sum::<usize>() as u64).map(|inv| Subject::Host(Inv(inv))).collect()
    }

    /// The board of it.
    fn board<'p>(&self, subjects: &'p [Subject]) -> WaveBoard<'p> {
        let terms = |place: usize| GroupTerms {
            budget: self.budgets[place],
            one_location: self.one_location[place],
            canary: None,
            settle: SettleTime::Ttl,
            overlap: None,
        };
        let groups = (0..2).map(|place| GroupBoard::new(GROUPS[place], terms(place), None, now())).collect();
        let mut board = WaveBoard { groups, candidates: Vec::new() };
        let mut subjects = subjects.iter();
        for (unit, shape) in self.units.iter().enumerate() {
            let member = |(group, location): &(usize, usize)| UnitMember {
                subject: subjects.next().unwrap(),
                group: GROUPS[*group],
                location: LOCATIONS[*location],
                rack: "",
                is_disruptive: true,
                settle: SETTLE,
                overlap: None,
                before: Vec::new(),
                affected: Vec::new(),
                wanted: None,
                between: None,
                gave: Vec::new(),
                repairs: false,
                is_down: false,
            };
            let members: Vec<UnitMember<'p>> = shape.iter().map(member).collect();
            let count = |group: usize| shape.iter().filter(|(own, _)| *own == group).count();
            let groups = (0..2).map(|group| (group, count(group))).filter(|(_, count)| *count > 0).collect();
            board.candidates.push(WaveCandidate { unit, members, groups, is_late: false });
        }
        board
    }

    /// Whether these units may go together where no other subject is unreachable; written apart from the board.
    fn may_go(&self, units: u32) -> bool {
        let of_wave = || (0..self.units.len()).filter(move |unit| units & (1 << unit) != 0);
        (0..2).all(|group| {
            let members = || of_wave().flat_map(|unit| &self.units[unit]).filter(move |(own, _)| *own == group);
            let locations: BTreeSet<usize> = members().map(|(_, location)| *location).collect();
            members().count() <= self.budgets[group] && (!self.one_location[group] || locations.len() <= 1)
        })
    }

    /// In how many waves all of these units can go at least, by trying all ways.
    fn fewest(&self) -> u64 {
        let all = (1_u32 << self.units.len()) - 1;
        let mut fewest = vec![u64::MAX; all as usize + 1];
        fewest[0] = 0;
        for left in 1..=all {
            let mut wave = left;
            while wave > 0 {
                let rest = fewest[(left & !wave) as usize];
                if rest < u64::MAX && self.may_go(wave) {
                    fewest[left as usize] = fewest[left as usize].min(rest + 1);
                }
                wave = (wave - 1) & left;
            }
        }
        fewest[all as usize]
    }

    /// The same case with only the units that fit a wave.
    fn fitting(self) -> WaveCase {
        let fits = |unit: &usize| self.may_go(1 << unit);
        let units = (0..self.units.len()).filter(fits).map(|unit| self.units[unit].clone()).collect();
        WaveCase { units, ..self }
    }
}

/// The waves of a case: the units of each.
fn waves(case: &WaveCase) -> Vec<Vec<usize>> {
    let subjects = case.subjects();
    let mut board = case.board(&subjects);
    for candidate in &board.candidates {
        board.groups[candidate.groups[0].0].left += 1;
    }
    let WaveSchedule { first, later, .. } = board.schedule(now());
    let mut waves: BTreeMap<Time, Vec<usize>> = BTreeMap::new();
    first.into_iter().for_each(|unit| waves.entry(now()).or_default().push(unit));
    later.into_iter().for_each(|(unit, (_, start))| waves.entry(start.unwrap()).or_default().push(unit));
    waves.into_values().collect()
}

/// Units of so many members at most.
fn cases(members: usize) -> impl Strategy<Value = WaveCase> {
    let unit = prop::collection::vec((0..2_usize, 0..3_usize), 1..=members);
    (prop::collection::vec(unit, 1..=8), prop::array::uniform2(1..4_usize), prop::array::uniform2(any::<bool>()))
        .prop_map(|(units, budgets, one_location)| WaveCase { units, budgets, one_location }.fitting())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn single_subjects_go_in_as_few_waves_as_any_search_finds(case in cases(1)) {
        let waves = waves(&case);
        prop_assert_eq!(waves.len() as u64, case.fewest());
        prop_assert_eq!(waves.iter().map(Vec::len).sum::<usize>(), case.units.len());
    }

    #[test]
    fn units_of_several_subjects_take_at_most_one_wave_more(case in cases(3)) {
        let waves = waves(&case);
        prop_assert!(waves.len() as u64 <= case.fewest() + 1, "{:?} instead of {}", waves, case.fewest());
        prop_assert_eq!(waves.iter().map(Vec::len).sum::<usize>(), case.units.len());
    }

    #[test]
    fn no_wave_takes_more_than_its_budget_or_a_second_location(case in cases(3)) {
        for wave in waves(&case) {
            prop_assert!(case.may_go(wave.iter().map(|unit| 1 << unit).sum()), "{:?}", wave);
        }
    }
}

#[test]
fn large_groups_take_at_most_a_fifth_more_waves_than_the_least_possible() {
    // Of each location as many waves as the budget makes of it.
    for (budget, of_location) in [(7, [100, 230, 31]), (20, [1000, 19, 20]), (1, [50, 50, 50])] {
        let units: Vec<UnitShape> = (0..3).flat_map(|place| vec![vec![(0, place)]; of_location[place]]).collect();
        let case = WaveCase { units, budgets: [budget, 1], one_location: [true, true] };
        let least: usize = of_location.iter().map(|count| count.div_ceil(budget)).sum();
        let found = waves(&case).len();
        assert!(found * 10 <= least * 12, "{found} waves, and {least} are the least");
    }
}
