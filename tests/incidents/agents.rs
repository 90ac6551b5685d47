//! Reports of MACs that are wrong all at once.

use zonewright::change::BlockCode;

use crate::fleet::{Fleet, SHARES, Settings, unguarded};
use crate::yard::{LATER, LATER_EXPORTS, Yard, blocked};

#[test]
fn one_mac_in_a_whole_datacenter_blocks_its_hosts() {
    let mut fleet = Fleet::new(400, 40, &[100]);
    let yard = Yard::good(&fleet);
    let good = yard.records();
    let mut wrong = fleet.clone();
    let concerned = fleet.hosts_with(|host| host.datacenter == 0);
    for inv in &concerned {
        wrong.hosts.get_mut(inv).expect("it is there").mac = 0x0200_dead_beef;
    }

    // Nothing has to be switched on: one MAC is one host's.
    wrong.settings = unguarded();
    let always = yard.copy();
    always.export(&wrong, LATER_EXPORTS);
    let plan = always.plan(LATER);
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    assert_eq!(blocked(&plan), [(BlockCode::DuplicateMac, concerned.clone())].into());
    always.apply(LATER, &[]).tells(0, &["duplicate-mac", "02:00:de:ad:be:ef"]);
    assert_eq!(always.records(), good);

    // Of one host it is believed: the first one that has it alone.
    let one = concerned.first().expect("the datacenter has hosts");
    let mut first = fleet.clone();
    first.hosts.get_mut(one).expect("it is there").mac = 0x0200_dead_beef;
    let off = yard.copy();
    off.export(&first, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()), [*one].into());

    // A dump that changes so many hosts is not believed for any host.
    fleet.settings.agent = "max_churn = \"5%\"".to_owned();
    wrong.settings = fleet.settings.clone();
    yard.export(&wrong, LATER_EXPORTS);
    let all = fleet.hosts_with(|_| true);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::SourceUntrusted, all)].into());
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `agent`: 120 of 400 hosts have other reports than in the export accepted",
            "`max_churn` allows 5%",
            "for example `100001`: 02:00:de:ad:be:ef, sas-s0, was 02:00:00:00:00:01, sas-s0",
            "`zonewright accept agent --reason TEXT`",
        ],
    );
    assert_eq!(yard.records(), good);
}

#[test]
fn macs_shifted_by_one_host_renumber_no_host() {
    let mut fleet = Fleet::new(400, 40, &[100]);
    let yard = Yard::good(&fleet);
    let good = yard.records();
    let mut wrong = fleet.clone();
    let mut macs: Vec<u64> = fleet.hosts.values().map(|host| host.mac).collect();
    macs.rotate_left(1);
    wrong.hosts.values_mut().zip(macs).for_each(|(host, mac)| host.mac = mac);

    let off = yard.copy();
    wrong.settings = unguarded();
    off.export(&wrong, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()).len(), 400);

    // By shares of the zones.
    wrong.settings = Settings { limits: SHARES.to_owned(), ..unguarded() };
    yard.export(&wrong, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "zone:p0.example.net./max_modify: 800 of 800 RRsets would be modified, but at most 240 may be (",
            "--allow zone:p0.example.net./max_modify=800",
        ],
    );
    assert_eq!(yard.records(), good);

    // By what is asked of the dump.
    fleet.settings.agent = "max_churn = \"5%\"".to_owned();
    wrong.settings = fleet.settings.clone();
    yard.export(&wrong, LATER_EXPORTS);
    let all = fleet.hosts_with(|_| true);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::SourceUntrusted, all)].into());
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `agent`: 400 of 400 hosts have other reports than in the export accepted",
            "`max_churn` allows 5%",
            "`zonewright accept agent --reason TEXT`",
        ],
    );
    assert_eq!(yard.records(), good);
}
