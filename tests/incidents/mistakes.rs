//! Mistakes that would move much of a fleet in one unattended run, with nothing set against them.
//!
//! A fleet of 600 hosts is applied; then something goes wrong, and `apply --auto` runs. Nothing is written in the
//! settings. Each test shows the harm first, with all of it switched off.

use std::collections::BTreeSet;

use zonewright::change::BlockCode;

use crate::fleet::{Fleet, Records, Settings, Switch, mac_text, unguarded};
use crate::yard::{GOOD, GOOD_EXPORTS, LATER, LATER_EXPORTS, Yard, blocked};

/// A fleet of 600 hosts in racks of 40, in projects of 258, 189, 106, 27 and 20; the second and third have a fastbone.
fn fleet() -> Fleet {
    let mut fleet = Fleet::new(600, 40, &[258, 189, 106, 27, 20]);
    for place in [0, 3, 4] {
        fleet.projects[place].fastbone = None;
    }
    let count = |place: usize| fleet.hosts_with(|host| host.project == place).len();
    assert_eq!([0, 1, 2, 3, 4].map(count), [258, 189, 106, 27, 20]);
    fleet
}

/// The hosts of a project.
fn of_project(fleet: &Fleet, place: usize) -> BTreeSet<u64> {
    fleet.hosts_with(|host| host.project == place)
}

/// Applies what a mistake leaves, in a copy with nothing set against it, where it does harm, and as it is: then an
/// unattended run says this and changes nothing.
fn is_stopped(yard: &Yard, wrong: &Fleet, mistake: impl Fn(&Yard), harmed: &dyn Fn(&Records) -> usize, says: &[&str]) {
    let good = yard.records();
    let copy = yard.copy();
    copy.forget_exports();
    let mut free = wrong.clone();
    free.settings = Settings { agent: agent(wrong), ..unguarded() };
    copy.export(&free, LATER_EXPORTS);
    mistake(&copy);
    copy.run(&["apply", "--auto", "--now", LATER]).tells(0, &[]);
    assert!(harmed(&copy.records()) > 0, "it does no harm");

    yard.export(wrong, LATER_EXPORTS);
    mistake(yard);
    yard.run(&["apply", "--auto", "--now", LATER]).tells(3, says);
    assert_eq!(yard.records(), good);
}

/// The settings of the sources of MACs with nothing set against a mistake.
fn agent(fleet: &Fleet) -> String {
    format!("{}\n{}", unguarded().agent, fleet.settings.agent)
}

/// The same where the export of a fleet is all that is wrong.
fn fleet_is_stopped(good: &Fleet, wrong: &Fleet, harmed: usize, says: &[&str]) {
    let count = |records: &Records| {
        let found = good.wrong(records).len();
        assert_eq!(found, harmed);
        found
    };
    is_stopped(&Yard::own(good), wrong, |_| {}, &count, says);
}

#[test]
fn every_mac_off_by_one() {
    let fleet = fleet();
    let mut wrong = fleet.clone();
    let mut macs: Vec<u64> = fleet.hosts.values().map(|host| host.mac).collect();
    macs.rotate_left(1);
    wrong.hosts.values_mut().zip(macs).for_each(|(host, mac)| host.mac = mac);
    fleet_is_stopped(
        &fleet,
        &wrong,
        600,
        &["source `agent`: 600 of 600 hosts have other reports", "`max_churn` allows 5%, or 50 (the default)"],
    );
}

#[test]
fn every_mac_off_by_one_right_after_the_export_was_accepted() {
    // What an operator accepts is no longer compared with the accepted export, but against what is live.
    let fleet = fleet();
    let mut wrong = fleet.clone();
    let mut macs: Vec<u64> = fleet.hosts.values().map(|host| host.mac).collect();
    macs.rotate_left(1);
    wrong.hosts.values_mut().zip(macs).for_each(|(host, mac)| host.mac = mac);
    let yard = Yard::own(&fleet);
    let good = yard.records();
    yard.export(&wrong, LATER_EXPORTS);
    yard.run(&["accept", "agent", "--reason", "it looked right", "--now", LATER]).tells(0, &[]);
    yard.run(&["apply", "--auto", "--now", LATER]).tells(
        3,
        &[
            "global/max_loss: 600 of 600 hosts would lose AAAA or PTR records that are live, but at most 90 may (the \
             default of max_loss: 15%, or 50 hosts; `[limits]` in zonewright.toml sets another)",
            "the breaker `global` is tripped now",
        ],
    );
    assert_eq!(yard.records(), good);
    // A person who asks for it says how many, and what was done can be undone, as many hosts as it was.
    yard.run(&["status", "--reset", "global", "--reason", "all hosts got new cards", "--now", LATER]).tells(0, &[]);
    yard.apply(LATER, &["--allow", "global/max_loss=600"]).tells(0, &["600 hosts"]);
    assert_eq!(wrong.wrong(&yard.records()).len(), 0);
    yard.run(&["undo", "2", "--yes", "--now", LATER]).tells(0, &["600 hosts"]);
    assert_eq!(yard.records(), good);
}

#[test]
fn the_fastbone_templates_of_two_projects_changed() {
    let fleet = fleet();
    let mut wrong = fleet.clone();
    for place in [1, 2] {
        wrong.projects[place].more = "fastbone_name: \"{shortname}-fb\"\n".to_owned();
    }
    fleet_is_stopped(&fleet, &wrong, 295, &["global/max_loss: 295 of 600 hosts would lose", "but at most 90 may"]);
}

#[test]
fn the_fastbone_template_of_a_project_renamed_its_hosts() {
    let fleet = fleet();
    let mut wrong = fleet.clone();
    wrong.projects[1].more = "fastbone_name: \"{shortname}-fb\"\n".to_owned();
    fleet_is_stopped(
        &fleet,
        &wrong,
        189,
        &[
            "global/max_loss: 189 of 600 hosts would lose",
            "global/max_by_cause: 189 of 600 hosts would lose AAAA or PTR records that are live because of projects/p1.yaml",
        ],
    );
}

#[test]
fn a_project_id_was_lost() {
    let fleet = fleet();
    let lose = |yard: &Yard| {
        let file = "projects/p0.yaml";
        let text = yard.read(file);
        let kept = text.lines().filter(|line| !line.starts_with("hbf_project_id"));
        yard.write(file, &kept.map(|line| format!("{line}\n")).collect::<String>());
    };
    let harmed = |records: &Records| {
        let found = fleet.wrong(records);
        assert_eq!(found, of_project(&fleet, 0));
        found.len()
    };
    is_stopped(&Yard::own(&fleet), &fleet, lose, &harmed, &["global/max_loss: 258 of 600 hosts would lose"]);
}

#[test]
fn a_project_has_a_wrong_vlan() {
    let fleet = fleet();
    let mut wrong = fleet.clone();
    wrong.projects[2].main = fleet.projects[1].main;
    fleet_is_stopped(
        &fleet,
        &wrong,
        106,
        &["global/max_loss: 106 of 600 hosts would lose", "--reset global --reason TEXT"],
    );
}

#[test]
fn the_exports_of_last_week_came_back() {
    let mut before = fleet();
    let old = before.clone();
    // In the meantime two racks moved, and the networks of a VLAN.
    let concerned = before.hosts_with(|host| host.switch == 0 || host.switch == 3);
    for inv in &concerned {
        before.hosts.get_mut(inv).expect("it is there").switch += 4;
    }
    let yard = Yard::own(&before);
    let week_ago = |yard: &Yard| {
        for (name, text) in old.exports("2026-11-15T01:30:00Z") {
            yard.write(&name, &text);
        }
    };
    let harmed = |records: &Records| before.wrong(records).len();
    let says = [
        "source `hosts`: it is 7d30m old (generated 2026-11-15T01:30:00Z); `max_age` allows 3d (the default)",
        "source `l3_tors`: it is 7d30m old",
        "if it is made so seldom, set `max_age` of the source in zonewright.toml (`none`: any age)",
    ];
    is_stopped(&yard, &before, week_ago, &harmed, &says);
    // An export without a date is believed, as ever; then its content is what counts.
    let undated =
        |text: String| text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let undated: Vec<(String, String)> =
        before.exports(LATER_EXPORTS).into_iter().map(|(name, text)| (name, undated(text))).collect();
    let good = yard.records();
    undated.iter().for_each(|(name, text)| yard.write(name, text));
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &[]);
    assert_eq!(yard.records(), good);
}

#[test]
fn all_interfaces_are_inactive_in_the_source_of_macs() {
    // 54 hosts are in a list that people kept once, with cards that these hosts no longer have.
    let mut fleet = fleet();
    fleet.settings.agent = "[[sources.mac]]\nname = \"typed\"\npath = \"typed.jsonl\"\n".to_owned();
    let listed = fleet.hosts.iter().take(54).map(|(inv, host)| {
        let mac = mac_text(host.mac + 0x4000_0000);
        format!("{{\"time\":\"2026-01-01T00:00:00Z\",\"inv\":{inv},\"mac\":\"{mac}\"}}\n")
    });
    let listed: String = listed.collect();
    let yard = Yard::empty(&fleet);
    yard.write("typed.jsonl", &listed);
    yard.start(&fleet);
    let inactive = |yard: &Yard| {
        let text = fleet.agents(LATER_EXPORTS).replace(",\"port\"", ",\"active\":false,\"port\"");
        yard.write("agents/agent-1.jsonl", &text);
    };
    let harmed = |records: &Records| {
        assert_eq!(fleet.wrong(records).len(), 54);
        54
    };
    let says =
        ["source `agent`: 600 of 600 hosts of the export accepted", "are missing; `max_shrink` allows 5%, or 50"];
    is_stopped(&yard, &fleet, inactive, &harmed, &says);
}

#[test]
fn hosts_csv_has_no_switches() {
    // The reports of 39 hosts do not say where these are: for them the switch of hosts.csv counts.
    let fleet = fleet();
    let silent: BTreeSet<u64> = fleet.in_l3().into_iter().take(39).collect();
    let agents = |time: &str| {
        let row = |line: &str| {
            let is_silent = silent.iter().any(|inv| line.contains(&format!("\"inv\":{inv},")));
            match line.split_once(",\"switch\"").filter(|_| is_silent) {
                Some((head, _)) => format!("{head}}}\n"),
                None => format!("{line}\n"),
            }
        };
        fleet.agents(time).lines().map(row).collect::<String>()
    };
    let yard = Yard::own(&fleet);
    yard.write("agents/agent-1.jsonl", &agents(GOOD_EXPORTS));
    yard.apply(GOOD, &[]).tells(0, &[]);
    let blank = |yard: &Yard| {
        let row = |line: &str| {
            let mut fields: Vec<&str> = line.split(',').collect();
            if fields.len() == 10 && fields[0] != "inv" {
                fields[7] = "";
            }
            fields.join(",") + "\n"
        };
        yard.write("racktables/hosts.csv", &fleet.hosts_csv(LATER_EXPORTS).lines().map(row).collect::<String>());
        yard.write("agents/agent-1.jsonl", &agents(LATER_EXPORTS));
    };
    let harmed = |records: &Records| {
        assert_eq!(fleet.wrong(records), silent);
        silent.len()
    };
    let says = ["source `hosts`: 600 of 600 rows have another meaning", "`max_churn` allows 5%, or 50 (the default)"];
    is_stopped(&yard, &fleet, blank, &harmed, &says);
}

#[test]
fn one_mac_for_all_hosts_of_a_project_blocks_these() {
    let fleet = fleet();
    let mut wrong = fleet.clone();
    for host in wrong.hosts.values_mut().filter(|host| host.project == 4) {
        host.mac = 0x0200_dead_beef;
    }
    let yard = Yard::own(&fleet);
    let good = yard.records();
    yard.export(&wrong, LATER_EXPORTS);
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &["20 blocked"]);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::DuplicateMac, of_project(&fleet, 4))].into());
    assert_eq!(yard.records(), good);
}

#[test]
fn one_row_of_l3_tors_is_wrong() {
    let fleet = fleet();
    let is_in = |switch: usize| fleet.hosts_with(|host| host.project == 0 && host.switch == switch);
    let full = |(place, switch): (usize, &Switch)| (switch.is_l3 && is_in(place).len() == 18).then_some(place);
    let rack = fleet.switches.iter().enumerate().find_map(full).expect("a rack has 18 hosts of the project");
    let mut wrong = fleet.clone();
    let network = wrong.new_network();
    wrong.tors.insert((rack, fleet.projects[0].main), network);
    fleet_is_stopped(
        &fleet,
        &wrong,
        18,
        &[
            "global/max_by_cause: 18 of 600 hosts would lose AAAA or PTR records that are live because of \
             racktables/l3-tors.txt:",
            "but at most 10 may because of one new line",
        ],
    );
}

#[test]
fn ordinary_moves_of_a_rack_and_of_a_vlan_go_on() {
    let fleet = fleet();
    let yard = Yard::own(&fleet);
    // A rack gets another switch, with networks of its own.
    let mut moved = fleet.clone();
    let switch = moved.add_switch(0, true);
    moved.hosts.values_mut().filter(|host| host.switch == 0).for_each(|host| host.switch = switch);
    yard.export(&moved, LATER_EXPORTS);
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &["40 hosts"]);
    assert_eq!(moved.wrong(&yard.records()).len(), 0);
    // And the largest project's VLAN gets new networks in a datacenter.
    let main = moved.projects[0].main;
    let is_there = |(place, vlan): &&(usize, u16)| *vlan == main && moved.switches[*place].datacenter == 1;
    for key in moved.tors.keys().filter(is_there).copied().collect::<Vec<_>>() {
        let network = moved.new_network();
        moved.tors.insert(key, network);
    }
    let network = moved.new_network();
    moved.layout.insert((1, main), network);
    yard.export(&moved, "2026-11-23T01:30:00Z");
    yard.run(&["apply", "--auto", "--now", "2026-11-23T02:00:00Z"]).tells(0, &["hosts"]);
    assert_eq!(moved.wrong(&yard.records()).len(), 0);
}
