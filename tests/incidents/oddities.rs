//! Rows that say nothing usable, and zones that are not what they were, in one unattended run with nothing set.

use std::collections::BTreeSet;

use zonewright::change::{BlockCode, ChangeKind};
use zonewright::dns::Rtype;

use crate::fleet::{Fleet, NETWORK, mac_text, reverse, unguarded};
use crate::yard::{GOOD, GOOD_EXPORTS, LATER, LATER_EXPORTS, Yard, blocked};

/// The export of the agents, with other words for the MACs of the first hosts: each word for so many hosts.
fn with_macs(fleet: &Fleet, words: &[&str], each: usize) -> String {
    let mut text = fleet.agents(LATER_EXPORTS);
    let mut hosts = fleet.hosts.values();
    for word in words {
        for host in hosts.by_ref().take(each) {
            text = text.replace(&format!("\"{}\"", mac_text(host.mac)), word);
        }
    }
    text
}

#[test]
fn null_zero_and_group_macs_give_no_host_another_address() {
    let mut fleet = Fleet::new(600, 40, &[60, 40]);
    // One percent of bad rows would make the whole source unknown; here each row is judged alone.
    fleet.settings.top = "max_bad_rows = \"100%\"\n".to_owned();
    let yard = Yard::own(&fleet);
    let good = yard.records();
    let words = ["null", "\"00:00:00:00:00:00\"", "\"ff:ff:ff:ff:ff:ff\"", "\"01:00:5e:00:00:01\"", "\"\""];
    yard.export(&fleet, LATER_EXPORTS);
    yard.write("agents/agent-1.jsonl", &with_macs(&fleet, &words, 3));
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &["15 blocked"]);
    let found: BTreeSet<u64> = blocked(&yard.plan(LATER)).into_values().flatten().collect();
    assert_eq!(found, fleet.hosts.keys().take(15).copied().collect());
    assert_eq!(yard.records(), good);

    // Of all hosts: then so many reports are missing that the source is not believed.
    yard.write("agents/agent-1.jsonl", &with_macs(&fleet, &words, 120));
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &["600 blocked"]);
    assert_eq!(yard.records(), good);
}

#[test]
fn reports_that_were_bad_before_hide_no_loss() {
    // Eighty hosts are in a list that people kept once, with cards that these hosts no longer have.
    let mut fleet = Fleet::new(600, 40, &[60, 40]);
    let typed = "[[sources.mac]]\nname = \"typed\"\npath = \"typed.jsonl\"\n";
    fleet.settings.agent = typed.to_owned();
    fleet.settings.top = "max_bad_rows = \"20%\"\n".to_owned();
    let listed = fleet.hosts.iter().take(80).map(|(inv, host)| {
        let mac = mac_text(host.mac + 0x4000_0000);
        format!("{{\"time\":\"2026-01-01T00:00:00Z\",\"inv\":{inv},\"mac\":\"{mac}\"}}\n")
    });
    let listed: String = listed.collect();
    // Sixty reports about machines that are not in hosts.csv have been bad for years.
    let bad = |text: String| text + &(1..=60).map(|inv| format!("{{\"inv\":{inv}}}\n")).collect::<String>();
    let yard = Yard::empty(&fleet);
    yard.export(&fleet, GOOD_EXPORTS);
    yard.write("typed.jsonl", &listed);
    yard.write("agents/agent-1.jsonl", &bad(fleet.agents(GOOD_EXPORTS)));
    yard.apply(GOOD, &[]).tells(0, &["600 hosts"]);
    let good = yard.records();
    // And the good reports of eighty hosts are lost, which is more than the default lets go.
    let text: String = fleet.agents(LATER_EXPORTS).lines().skip(80).map(|line| format!("{line}\n")).collect();
    let lost = bad(text);

    let off = yard.copy();
    let mut free = fleet.clone();
    free.settings = unguarded();
    free.settings.agent += &format!("\n{typed}");
    free.settings.top.clone_from(&fleet.settings.top);
    off.export(&free, LATER_EXPORTS);
    off.write("agents/agent-1.jsonl", &lost);
    off.run(&["apply", "--auto", "--now", LATER]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()).len(), 80);

    // Without limits: the test of the export is what stops it.
    fleet.settings.limits = unguarded().limits;
    yard.export(&fleet, LATER_EXPORTS);
    yard.write("agents/agent-1.jsonl", &lost);
    let says = ["source `agent`: 80 of 600 hosts of the export accepted", "are missing; `max_shrink` allows 5%, or 50"];
    yard.run(&["apply", "--auto", "--now", LATER]).tells(3, &says);
    assert_eq!(yard.records(), good);
}

#[test]
fn a_zone_cut_that_appears_blocks_the_hosts_below_it() {
    let fleet = Fleet::new(600, 40, &[60, 40]);
    let yard = Yard::own(&fleet);
    let good = yard.records();
    // Another team delegates the reverse names of a rack, and its hosts get other cards at the same time.
    let mut changed = fleet.clone();
    let concerned = fleet.hosts_with(|host| host.switch == 0 && host.project == 0);
    for inv in &concerned {
        changed.hosts.get_mut(inv).expect("it is there").mac += 0x1000_0000;
    }
    let host = &fleet.hosts[concerned.first().expect("the rack has hosts")];
    let name = reverse(fleet.addresses(host)[0].1);
    let labels: Vec<&str> = name.split('.').skip(16).collect();
    let file = format!("zones/{}.zone", NETWORK.1);
    yard.write(&file, &(yard.read(&file) + &format!("{} NS ns.elsewhere.example.\n", labels.join("."))));
    yard.export(&changed, LATER_EXPORTS);
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &["blocked"]);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::Delegated, concerned)].into());
    assert_eq!(yard.records(), good);
}

#[test]
fn a_zone_that_is_whole_and_empty_loses_nothing_elsewhere() {
    let mut fleet = Fleet::new(600, 40, &[60, 40]);
    fleet.projects[0].more = "policy: sync\n".to_owned();
    let yard = Yard::own(&fleet);
    let good = yard.records();
    let file = "zones/p0.example.net.zone";
    let empty: String = yard.read(file).lines().take(3).map(|line| format!("{line}\n")).collect();
    assert!(empty.contains("SOA") && empty.contains("NS"), "{empty}");
    yard.write(file, &empty);
    // The PTR records point to names that have gone: they are right, and stay, and the names come back.
    let plan = yard.plan(LATER);
    let is_in_it = |change: &zonewright::change::Change| {
        change.key.rtype == Rtype::AAAA && matches!(change.kind, ChangeKind::Create { .. })
    };
    assert!(plan.changes.iter().filter(|change| change.key.rtype != Rtype::TXT).all(is_in_it));
    yard.export(&fleet, LATER_EXPORTS);
    yard.run(&["apply", "--auto", "--now", LATER]).tells(0, &["360 hosts"]);
    assert_eq!(yard.records(), good);
}
