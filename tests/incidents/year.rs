//! A year of a fleet: ordinary days, on which nothing may be stopped, and faults, which must be.
//!
//! Hosts are cabled anew, racks come, a VLAN a month gets new networks, hosts are released and replaced, people edit
//! zones, and every day the exports are made and applied. Two workspaces live through the same days: one with the
//! settings that hold where nothing is said, one with those that are recommended. Fifty times something goes wrong in a
//! copy of a day, in ten ways and five sizes each, which is applied under both settings and under none.
//!
//! `cargo test --test incidents year` runs a short form. `YEAR_HOSTS=10000 YEAR_DAYS=365 cargo test --release --test
//! incidents year -- --nocapture` runs the whole and prints a table; `YEAR_SEED` lets other things happen.

mod faults;
mod life;
mod run;
mod table;

use self::faults::KINDS;
use self::life::Life;
use self::run::{Outcome, World};
use self::table::Row;
use crate::fleet::{Fleet, Settings};

/// A number from the environment.
fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// The shares of the projects: hundredths of the fleet.
const SHARES: [usize; 5] = [40, 25, 20, 10, 5];

/// From how many hosts on a day changes a small share of them.
const LARGE: usize = 5_000;

/// How many sizes each kind of fault comes in.
const SIZES: usize = 5;

/// What is recommended to a fleet of so many hosts.
fn recommended(hosts: usize) -> Settings {
    // Of a large fleet a day changes a small share; of a small one each rack is a large one.
    let (of_hosts, of_rows) = if hosts < LARGE { ("5%", "5%") } else { ("0.5%", "4%") };
    let whole = |churn: &str| format!("max_age = \"6h\", max_shrink = \"5%\", max_churn = \"{churn}\"");
    // More than the largest VLAN of one datacenter, with room for a fleet that grows over the year.
    let (hour, day) = (hosts / 5, hosts / 4);
    Settings {
        top: "delete_after = \"2d\"\n".to_owned(),
        limits: format!(
            "hosts = [{{ period = \"1h\", max = {hour} }}, {{ period = \"1d\", max = {day} }}]\n\
             max_delete = \"10%\"\nmax_modify = \"30%\"\n"
        ),
        hosts: format!("{}, min_rows = {}", whole(of_hosts), hosts / 2),
        l3_tors: format!("{}, min_rows = 10", whole(of_rows)),
        net_layout: whole(of_rows),
        agent: format!("max_shrink = \"5%\"\nmax_churn = \"{of_hosts}\"\nmin_rows = {}\n", hosts / 2),
        ..Settings::default()
    }
}

/// The outcome of a year.
struct Year {
    /// The days on which ordinary life was stopped, by settings, each with what stopped it.
    false_stops: [Vec<String>; 2],
    /// The outcomes of the faults.
    rows: Vec<Row>,
    /// The most that an ordinary day came to, in tenths of a percent.
    most: Vec<(&'static str, u64)>,
}

/// Lives through so many days; every `stride`th fault is left out but for the first.
fn live(hosts: usize, days: usize, seed: usize, stride: usize) -> Year {
    let mut fleet = Fleet::new(hosts, (hosts / 10).min(40), &SHARES);
    fleet.projects[1].more = "policy: sync\n".to_owned();
    let mut life = Life::new(fleet, seed as u64);
    let mut worlds = [Settings::default(), recommended(hosts)].map(|settings| World::new(&life, settings));
    let faults: Vec<usize> = (0..KINDS.len() * SIZES).step_by(stride).collect();
    let mut year = Year { false_stops: [Vec::new(), Vec::new()], rows: Vec::new(), most: Vec::new() };
    for day in 1..=days {
        life.next_day(&worlds.each_ref().map(|world| world.path()));
        // The first month has no past that could come back.
        let due = |place: usize| days / 12 + place * (days - days / 12) / faults.len() + 1 == day;
        for (place, fault) in faults.iter().enumerate() {
            if due(place) {
                let (kind, size) = (&KINDS[fault / SIZES], fault % SIZES);
                let faulty = (kind.make)(&mut life, size);
                let outcome = |world: &World, settings| world.suffer(&life, &faulty, settings);
                year.rows.push(Row {
                    kind: kind.name,
                    size: faulty.size.clone(),
                    off: outcome(&worlds[0], None),
                    defaults: outcome(&worlds[0], Some(Settings::default())),
                    recommended: outcome(&worlds[1], Some(recommended(hosts))),
                });
            }
        }
        for (world, stops) in worlds.iter_mut().zip(&mut year.false_stops) {
            if let Outcome { stopped_by: Some(by), .. } = world.live(&life) {
                stops.push(format!("day {day}: {by}"));
            }
        }
    }
    for world in &worlds {
        assert_eq!(life.fleet.wrong(&world.records()).len(), 0, "after a year all is as it should be");
    }
    year.most = life.most.into_iter().chain(worlds[0].most.clone()).collect();
    year
}

#[test]
fn ordinary_days_are_not_stopped_and_faults_are() {
    let is_whole = number("YEAR_HOSTS").is_some() || number("YEAR_DAYS").is_some();
    let (hosts, days) = (number("YEAR_HOSTS").unwrap_or(400), number("YEAR_DAYS").unwrap_or(60));
    let seed = number("YEAR_SEED").unwrap_or(6);
    let year = live(hosts, days, seed, if is_whole { 1 } else { 3 });
    println!("{hosts} hosts, {days} days, seed {seed}\n\n{}", table::text(&year));
    assert_eq!(year.false_stops, [const { Vec::<String>::new() }; 2], "an ordinary day was stopped");
    // In a small fleet many faults concern fewer hosts than an ordinary day does.
    if !is_whole || hosts >= LARGE {
        let through = |of: fn(&Row) -> &Outcome| year.rows.iter().filter(|row| of(row).harmed > 0).count();
        let found = [through(|row| &row.defaults), through(|row| &row.recommended)];
        let most = [year.rows.len().div_ceil(5), year.rows.len().div_ceil(10)];
        assert!(found[0] <= most[0] && found[1] <= most[1], "{found:?} faults did harm, and at most {most:?} may");
    }
    let mut large = 0;
    for Row { kind, size, off, recommended, .. } in &year.rows {
        // What would harm a tenth of the fleet is stopped whole.
        let is_large = off.harmed * 10 > hosts;
        large += usize::from(is_large);
        let harmed = recommended.harmed;
        assert!(!is_large || harmed == 0, "{kind}, {size}: {harmed} hosts harmed with what is recommended");
    }
    assert!(large > year.rows.len() / 4, "only {large} of {} faults would do much harm", year.rows.len());
}
