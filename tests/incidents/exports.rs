//! Exports that are cut, empty, old, or changed while they are read.

use std::collections::BTreeSet;

use zonewright::change::BlockCode;

use crate::fleet::{Fleet, Settings, unguarded};
use crate::yard::{LATER, LATER_EXPORTS, Yard, blocked};

/// A fleet of one host behind each switch, of which 200 have two lines each in l3-tors.txt.
fn of_400_lines() -> Fleet {
    let fleet = Fleet::new(300, 1, &[100]);
    assert_eq!(fleet.tors.len(), 400);
    fleet
}

/// The fleet with the first lines of l3-tors.txt alone.
fn cut(fleet: &Fleet, lines: usize) -> Fleet {
    let mut cut = fleet.clone();
    cut.tors = fleet.tors.iter().take(lines).map(|(key, network)| (*key, *network)).collect();
    cut
}

/// The hosts of which a line is not there.
fn of_lost_lines(fleet: &Fleet, cut: &Fleet) -> BTreeSet<u64> {
    let lost: BTreeSet<usize> =
        fleet.tors.keys().filter(|key| !cut.tors.contains_key(key)).map(|(switch, _)| *switch).collect();
    fleet.hosts_with(|host| lost.contains(&host.switch))
}

#[test]
fn l3_tors_cut_after_any_line_moves_no_host() {
    let mut fleet = of_400_lines();
    fleet.settings = unguarded();
    let yard = Yard::good(&fleet);
    let good = yard.records();

    // Without a memory of what was accepted, a host that lost both lines counts as a host of an L2 segment.
    let off = yard.copy();
    off.forget_exports();
    let half = cut(&fleet, 200);
    off.export(&half, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()), of_lost_lines(&fleet, &half));

    // With it, each cut blocks the hosts of its lines, and changes nothing at all.
    for lines in 1..400 {
        let cut = cut(&fleet, lines);
        yard.write("racktables/l3-tors.txt", &cut.l3_tors(LATER_EXPORTS));
        let plan = yard.plan(LATER);
        let lost = of_lost_lines(&fleet, &cut);
        assert!(plan.changes.is_empty(), "{lines} lines: {:?}", plan.changes);
        assert_eq!(blocked(&plan), [(BlockCode::NoNetwork, lost)].into(), "{lines} lines");
    }
    yard.write("racktables/l3-tors.txt", &cut(&fleet, 200).l3_tors(LATER_EXPORTS));
    yard.apply(LATER, &[]).tells(0, &["no-network", "100"]);
    assert_eq!(yard.records(), good);

    // A file that ends before its first line says nothing about any host.
    yard.write("racktables/l3-tors.txt", &cut(&fleet, 0).l3_tors(LATER_EXPORTS));
    let plan = yard.plan(LATER);
    assert!(plan.changes.is_empty());
    let all = fleet.hosts_with(|_| true);
    assert_eq!(blocked(&plan), [(BlockCode::SourceUntrusted, all)].into());
}

#[test]
fn l3_tors_that_lost_a_tenth_is_not_believed() {
    let mut fleet = of_400_lines();
    fleet.settings.l3_tors = "max_shrink = \"10%\"".to_owned();
    let yard = Yard::good(&fleet);
    let good = yard.records();
    let all = fleet.hosts_with(|_| true);
    for lines in [1, 100, 358, 359] {
        yard.write("racktables/l3-tors.txt", &cut(&fleet, lines).l3_tors(LATER_EXPORTS));
        let plan = yard.plan(LATER);
        assert!(plan.changes.is_empty(), "{lines} lines");
        assert_eq!(blocked(&plan), [(BlockCode::SourceUntrusted, all.clone())].into(), "{lines} lines");
    }
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `l3_tors`: 41 of 400 rows of the export accepted 2026-11-20T02:00:00Z are missing; `max_shrink` \
         allows 10%",
            "export it again; or, if it is correct, `zonewright accept l3_tors --reason TEXT`",
        ],
    );
    assert_eq!(yard.records(), good);

    // One line fewer is missing than would be too many: only the hosts concerned are blocked.
    let few = cut(&fleet, 360);
    yard.write("racktables/l3-tors.txt", &few.l3_tors(LATER_EXPORTS));
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::NoNetwork, of_lost_lines(&fleet, &few))].into());
    yard.apply(LATER, &[]).tells(0, &["no-network"]);
    assert_eq!(yard.records(), good);
}

#[test]
fn an_empty_hosts_csv_deletes_no_host() {
    let mut fleet = Fleet::new(400, 40, &[100]);
    fleet.projects[0].more = "policy: sync\n".to_owned();
    let yard = Yard::own(&fleet);
    let good = yard.records();
    let mut one = fleet.clone();
    one.hosts = fleet.hosts.iter().take(1).map(|(inv, host)| (*inv, host.clone())).collect();

    // An export of one row only, and nothing that stops it: all other names of the project are orphans.
    let mut off = one.clone();
    off.settings = unguarded();
    let harmed = yard.copy();
    harmed.export(&off, LATER_EXPORTS);
    harmed.apply(LATER, &[]).tells(0, &[]);
    assert_eq!((fleet.wrong(&harmed.records()).len(), harmed.records().len()), (399, 4));

    // By what an export needs where nothing is said.
    yard.export(&one, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `hosts`: 399 of 400 rows of the export accepted",
            "are missing; `max_shrink` allows 5%, or 50 (the default)",
        ],
    );
    assert_eq!(yard.records(), good);

    // By the limits that hold where nothing is said.
    one.settings = Settings { limits: String::new(), ..unguarded() };
    yard.export(&one, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "zone:p0.example.net./max_delete: 798 of 800 RRsets would be deleted, but at most 80 may be (",
            "--allow zone:p0.example.net./max_delete=798",
        ],
    );
    assert_eq!(yard.records(), good);

    // By what is asked of the export.
    one.settings = Settings { hosts: "min_rows = 300".to_owned(), ..unguarded() };
    yard.export(&one, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(3, &["source `hosts`: it has 1 row, and `min_rows` is 300", "export again"]);
    assert_eq!(yard.records(), good);

    // Nothing at all, and a header alone, are unknown whatever the settings.
    yard.export(&off, LATER_EXPORTS);
    let header = fleet.hosts_csv(LATER_EXPORTS).lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    for text in ["", &header] {
        yard.write("racktables/hosts.csv", text);
        yard.apply(LATER, &[]).tells(1, &["racktables/hosts.csv", "source-empty", "export again"]);
        assert_eq!(yard.records(), good);
    }
}

#[test]
fn an_export_of_seven_hours_ago_takes_nothing_back() {
    let mut fleet = Fleet::new(400, 40, &[60, 40]);
    fleet.settings = unguarded();
    let yard = Yard::good(&fleet);
    let old = fleet.l3_tors("2026-11-21T19:00:00Z");
    // The VLAN of a project gets new networks in one datacenter.
    let main = fleet.projects[0].main;
    let moved: Vec<(usize, u16)> = fleet
        .tors
        .keys()
        .filter(|(switch, vlan)| *vlan == main && fleet.switches[*switch].datacenter == 0)
        .copied()
        .collect();
    for key in moved {
        let network = fleet.new_network();
        fleet.tors.insert(key, network);
    }
    yard.export(&fleet, LATER_EXPORTS);
    yard.apply("2026-11-22T01:40:00Z", &[]).tells(0, &[]);
    let good = yard.records();
    assert_eq!(fleet.wrong(&good).len(), 0);
    // And the export of seven hours before comes back.
    yard.write("racktables/l3-tors.txt", &old);

    let off = yard.copy();
    off.apply(LATER, &[]).tells(0, &[]);
    let of_it = |host: &crate::fleet::Host| host.project == 0 && host.datacenter == 0;
    let expected: BTreeSet<u64> = fleet.hosts_with(of_it).intersection(&fleet.in_l3()).copied().collect();
    assert_eq!(fleet.wrong(&off.records()), expected);

    fleet.settings.l3_tors = "max_age = \"6h\"".to_owned();
    yard.export(&fleet, LATER_EXPORTS);
    yard.write("racktables/l3-tors.txt", &old);
    let all = fleet.hosts_with(|_| true);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::SourceUntrusted, all)].into());
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `l3_tors`: it is 7h old (generated 2026-11-21T19:00:00Z); `max_age` allows 6h",
            "export again, or find out why the export job stopped",
        ],
    );
    assert_eq!(yard.records(), good);
}
