//! Too much in too short a time, by people and by unattended runs.

use crate::fleet::Fleet;
use crate::yard::{LATER, LATER_EXPORTS, Yard};

/// At most 20 hosts a day.
const TWENTY_A_DAY: &str = "hosts = [{ period = \"1d\", max = 20 }]\n";

/// A fleet, and itself with so many hosts of each project moved from the first rack to another.
fn moved(limits: &str, of_each: usize) -> (Fleet, Fleet) {
    let mut fleet = Fleet::new(800, 80, &[50, 50]);
    fleet.settings.limits = limits.to_owned();
    let mut moved = fleet.clone();
    for project in 0..2 {
        let concerned = moved.hosts.values_mut().filter(|host| host.project == project && host.switch == 0);
        concerned.take(of_each).for_each(|host| host.switch = 4);
    }
    (fleet, moved)
}

#[test]
fn two_plans_within_a_limit_are_not_applied_one_after_the_other() {
    let play = |limits: &str| {
        let (fleet, moved) = moved(limits, 15);
        let yard = Yard::good(&fleet);
        yard.export(&moved, LATER_EXPORTS);
        // Both are made, and reviewed, before either is applied.
        for project in ["p0", "p1"] {
            let file = yard.path().join(format!("{project}.plan"));
            let args = ["plan", "--project", project, "--now", LATER, "--out", file.to_str().expect("UTF-8")];
            yard.run(&args).tells(0, &["15"]);
        }
        let [first, second] = ["p0", "p1"].map(|project| yard.path().join(format!("{project}.plan")));
        yard.apply(LATER, &[first.to_str().expect("UTF-8")]).tells(0, &["15 hosts"]);
        (yard, fleet, second.to_str().expect("UTF-8").to_owned())
    };

    let (off, fleet, second) = play("");
    off.apply(LATER, &[&second]).tells(0, &["15 hosts"]);
    assert_eq!(fleet.wrong(&off.records()).len(), 30);

    let (yard, fleet, second) = play(TWENTY_A_DAY);
    let after_one = yard.records();
    assert_eq!(fleet.wrong(&after_one).len(), 15);
    let lines = ["global/1d: 15 used + 15 planned = 30 hosts, but at most 20 may change", "--allow global/1d=30"];
    yard.apply(LATER, &[&second]).tells(3, &lines);
    assert_eq!(yard.records(), after_one);
    // Anew it says so before it is applied.
    yard.run(&["plan", "--detailed-exitcode", "--now", LATER]).tells(3, &lines[..1]);
    // Not for fewer than it is, and for no other limit.
    for (limit, code) in [("global/1d=29", 3), ("global/1h=100", 1)] {
        assert_eq!(yard.apply(LATER, &[&second, "--allow", limit]).code, code, "{limit}");
        assert_eq!(yard.records(), after_one);
    }
    yard.apply(LATER, &[&second, "--allow", "global/1d=30", "--reason", "racks move"]).tells(0, &["15 hosts"]);
    assert_eq!(fleet.wrong(&yard.records()).len(), 30);
    yard.run(&["history", "3"]).tells(0, &["allowed global/1d=30", "racks move"]);
}

#[test]
fn an_unattended_run_trips_a_breaker_that_stays_until_it_is_reset() {
    let auto = |yard: &Yard, now: &str| yard.run(&["apply", "--auto", "--now", now]);

    let (fleet, wrong) = moved("", 15);
    let off = Yard::good(&fleet);
    off.export(&wrong, LATER_EXPORTS);
    auto(&off, LATER).tells(0, &["30 hosts"]);
    assert_eq!(fleet.wrong(&off.records()).len(), 30);

    let (fleet, wrong) = moved(TWENTY_A_DAY, 15);
    let yard = Yard::good(&fleet);
    let good = yard.records();
    yard.export(&wrong, LATER_EXPORTS);
    auto(&yard, LATER).tells(3, &["global/1d: 0 used + 30 planned = 30 hosts, but at most 20 may change", "breaker"]);
    assert_eq!(yard.records(), good);
    // Neither the next run goes on, nor that of the next day, although so few hosts would change by then.
    let (_, few) = moved(TWENTY_A_DAY, 1);
    yard.export(&few, LATER_EXPORTS);
    for now in ["2026-11-22T03:00:00Z", "2026-11-23T03:00:00Z"] {
        auto(&yard, now).tells(
            3,
            &[
                "the breaker `global` has been tripped since 2026-11-22T02:00:00Z",
                "find out why, then run `zonewright status --reset global --reason TEXT`",
            ],
        );
        assert_eq!(yard.records(), good);
    }
    let status = ["status", "--now", "2026-11-23T03:00:00Z"];
    yard.run(&status).tells(0, &["global", LATER]);
    yard.run(&["status", "--reset", "global", "--reason", "the export was wrong", "--now", "2026-11-23T03:10:00Z"])
        .tells(0, &[]);
    auto(&yard, "2026-11-23T03:20:00Z").tells(0, &["2 hosts"]);
    assert_eq!(few.wrong(&yard.records()).len(), 0);
}
