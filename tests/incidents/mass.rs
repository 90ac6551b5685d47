//! A rule that starts to match ten thousand names.

use crate::fleet::{Fleet, Settings, unguarded};
use crate::yard::{LATER, LATER_EXPORTS, Yard};

#[test]
fn sync_that_is_switched_on_over_ten_thousand_old_names_deletes_none() {
    let mut fleet = Fleet::new(5_100, 100, &[99, 1]);
    // The limits are those that hold where nothing is said; exports are believed, whatever they lose.
    fleet.settings = Settings { limits: String::new(), ..unguarded() };
    let yard = Yard::own(&fleet);
    // Over the years the hosts of a project went, and their records stayed.
    let gone: Vec<u64> = fleet.hosts_with(|host| host.project == 0).into_iter().skip(40).take(5_000).collect();
    assert_eq!(gone.len(), 5_000);
    gone.iter().for_each(|inv| drop(fleet.hosts.remove(inv)));
    yard.export(&fleet, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(0, &[]);
    let good = yard.records();
    assert!(good.len() > 20_000);
    // Then an operator writes one word.
    fleet.projects[0].more = "policy: sync\n".to_owned();

    let off = yard.copy();
    let mut unlimited = fleet.clone();
    unlimited.settings = unguarded();
    off.export(&unlimited, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(off.records(), fleet.truth());

    // By the limits that hold where nothing is said.
    yard.export(&fleet, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "zone:p0.example.net./max_delete: 10000 of ",
            " RRsets would be deleted, but at most ",
            "--allow zone:p0.example.net./max_delete=10000",
        ],
    );
    assert_eq!(yard.records(), good);
}
