//! Networks that are another place's, and a VLAN that is another project's.

use zonewright::change::BlockCode;

use crate::fleet::{Fleet, SHARES, Settings, unguarded};
use crate::yard::{LATER, LATER_EXPORTS, Yard, blocked};

#[test]
fn two_datacenters_that_are_swapped_in_net_layout_keep_their_hosts() {
    let mut fleet = Fleet::new(960, 40, &[60, 40]);
    let yard = Yard::good(&fleet);
    let good = yard.records();
    let mut wrong = fleet.clone();
    wrong.layout = fleet
        .layout
        .iter()
        .map(|((datacenter, vlan), network)| {
            let swapped = match datacenter {
                0 => 1,
                1 => 0,
                other => *other,
            };
            ((swapped, *vlan), *network)
        })
        .collect();
    let concerned = fleet.hosts_with(|host| host.datacenter < 2 && !fleet.switches[host.switch].is_l3);
    assert!(concerned.len() > 100);

    let off = yard.copy();
    wrong.settings = unguarded();
    off.export(&wrong, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()), concerned);

    // By shares of the zones.
    wrong.settings = Settings { limits: SHARES.to_owned(), ..unguarded() };
    yard.export(&wrong, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "zone:8.b.d.0.1.0.0.2.ip6.arpa./max_delete: 320 of 1920 RRsets would be deleted, but at most 192 may be (",
            "--allow zone:8.b.d.0.1.0.0.2.ip6.arpa./max_delete=320",
        ],
    );
    assert_eq!(yard.records(), good);

    // By what is asked of the export, which only the hosts of L2 segments need.
    fleet.settings.net_layout = "max_churn = \"5%\"".to_owned();
    wrong.settings = fleet.settings.clone();
    yard.export(&wrong, LATER_EXPORTS);
    let in_l2 = fleet.hosts_with(|host| !fleet.switches[host.switch].is_l3);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::SourceUntrusted, in_l2)].into());
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `net_layout`: 8 of 16 VLANs have another meaning than in the export accepted",
            "`max_churn` allows 5%",
            "`zonewright accept net_layout --reason TEXT`",
        ],
    );
    assert_eq!(yard.records(), good);
}

#[test]
fn a_mistyped_vlan_renumbers_no_project() {
    let fleet = Fleet::new(400, 40, &[60, 40]);
    let yard = Yard::good(&fleet);
    let good = yard.records();
    let mut wrong = fleet.clone();
    // The other project's, so that every switch and every datacenter has a network for it.
    wrong.projects[0].main = fleet.projects[1].main;
    let concerned = fleet.hosts_with(|host| host.project == 0);

    let off = yard.copy();
    wrong.settings = unguarded();
    off.export(&wrong, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()), concerned);

    // By shares of the zones.
    wrong.settings = Settings { limits: SHARES.to_owned(), ..unguarded() };
    yard.export(&wrong, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "zone:p0.example.net./max_modify: 240 of 480 RRsets would be modified, but at most 144 may be (",
            "zone:8.b.d.0.1.0.0.2.ip6.arpa./max_delete: 240 of 800 RRsets would be deleted, but at most 80 may be (",
            "--allow zone:p0.example.net./max_modify=240",
        ],
    );
    assert_eq!(yard.records(), good);

    // By the share that one setting may cause.
    wrong.settings = Settings { limits: by_cause(), ..unguarded() };
    yard.export(&wrong, LATER_EXPORTS);
    yard.apply(LATER, &[])
        .tells(3, &["global/max_by_cause:", "changes have the cause projects/p0.yaml:3, projects/p0.yaml:4,"]);
    assert_eq!(yard.records(), good);

    // By the hosts that may change in a day, of this project.
    wrong.settings = unguarded();
    wrong.projects[0].more = "limits:\n  hosts: [{period: 1d, max: 40}]\n".to_owned();
    yard.export(&wrong, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &["project:p0/1d: 0 used + 240 planned = 240 hosts, but at most 40 may change", "--allow project:p0/1d=240"],
    );
    assert_eq!(yard.records(), good);
}

#[test]
fn a_mistyped_project_id_is_found_as_the_one_cause_of_all_changes() {
    let fleet = Fleet::new(400, 40, &[60, 40]);
    let yard = Yard::good(&fleet);
    let good = yard.records();
    let mut wrong = fleet.clone();
    wrong.projects[0].hbf += 0x10;

    let off = yard.copy();
    wrong.settings = unguarded();
    off.export(&wrong, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()), fleet.hosts_with(|host| host.project == 0));

    wrong.settings.limits = by_cause();
    yard.export(&wrong, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &["global/max_by_cause: 960 of 1440 changes have the cause projects/p0.yaml:3, projects/p0.yaml:4, but at most 720 may have it"],
    );
    assert_eq!(yard.records(), good);
}

/// Limits that hold nothing but the share of changes that one line may cause.
fn by_cause() -> String {
    unguarded().limits.replace("max_by_cause = \"100%\"", "max_by_cause = \"50%\"")
}
