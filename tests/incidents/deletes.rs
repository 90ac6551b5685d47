//! Names that are deleted too early, and names that must not be changed.

use zonewright::change::BlockCode;
use zonewright::dns::Rtype;

use crate::fleet::{Fleet, NETWORK, Released, reverse};
use crate::yard::{LATER, LATER_EXPORTS, Yard, blocked};

#[test]
fn what_a_short_export_lost_waits_to_be_deleted_until_it_is_back() {
    let mut fleet = Fleet::new(400, 40, &[100]);
    fleet.projects[0].more = "policy: sync\n".to_owned();
    fleet.settings.hosts = "max_shrink = \"10%\"".to_owned();
    let yard = Yard::own(&fleet);
    let good = yard.records();
    // A twentieth is less than `max_shrink`, and less than the deletes of a plan are held to.
    let mut short = fleet.clone();
    short.hosts = fleet.hosts.iter().take(380).map(|(inv, host)| (*inv, host.clone())).collect();

    let off = yard.copy();
    off.export(&short, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &["20"]);
    assert_eq!((fleet.wrong(&off.records()).len(), off.records()), (20, short.truth()));

    for fleet in [&mut fleet, &mut short] {
        fleet.settings.top = "delete_after = \"2d\"\n".to_owned();
    }
    let next_day = "2026-11-23T02:00:00Z";
    yard.export(&short, LATER_EXPORTS);
    yard.apply(LATER, &[]).tells(0, &["Waits to be deleted: no host and no file has the name"]);
    yard.apply(next_day, &[]).tells(0, &["2026-11-24T02:00:00Z"]);
    assert_eq!(yard.records(), good);

    // The export is whole again: nothing was lost, and nothing is remembered against the names.
    let fixed = yard.copy();
    fixed.export(&fleet, LATER_EXPORTS);
    fixed.apply("2026-11-23T03:00:00Z", &[]).tells(0, &[]);
    fixed.export(&short, LATER_EXPORTS);
    fixed.apply("2026-11-24T02:00:00Z", &[]).tells(0, &[]);
    assert_eq!(fixed.records(), good);

    // It stays as it is, because the hosts are gone: two days after they were first missed their names go.
    yard.apply("2026-11-24T02:00:00Z", &[]).tells(0, &["20"]);
    assert_eq!(yard.records(), short.truth());
}

#[test]
fn a_host_that_is_given_a_name_of_a_service_does_not_get_it() {
    let fleet = Fleet::new(80, 40, &[100]);
    let yard = Yard::good(&fleet);
    append(&yard, "p0.example.net", "www AAAA 2001:db8:ffff::80\n");
    let good = yard.records();
    let mut wrong = fleet.clone();
    let (inv, host) = wrong.hosts.iter_mut().nth(1).expect("there are two");
    host.name = "www".to_owned();
    let inv = *inv;
    let service = ("www.p0.example.net.".to_owned(), Rtype::AAAA);

    let off = yard.copy();
    off.export(&wrong, LATER_EXPORTS);
    off.apply(LATER, &[]).tells(0, &[]);
    let found = off.records();
    assert!(found[&service] != good[&service] && found[&service].len() == 1, "{:?}", found[&service]);

    wrong.settings.zone = "protect = [\"www*\"]\n".to_owned();
    yard.export(&wrong, LATER_EXPORTS);
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::Protected, [inv].into())].into());
    let host = format!("{inv}");
    yard.apply(LATER, &[]).tells(0, &["protected", "www.p0.example.net.", "www*", &host]);
    assert_eq!(yard.records(), good);
}

#[test]
fn a_name_that_a_pointer_names_does_not_lose_its_last_address() {
    let mut fleet = Fleet::new(80, 40, &[100]);
    // A name that was given up long ago, and that still has the address which a host gets today.
    let at = "2026-06-01T00:00:00Z".to_owned();
    fleet.released.push(Released { inv: 5, name: "gone".to_owned(), project: 0, at });
    let yard = Yard::good(&fleet);
    let mut changed = fleet.clone();
    let (inv, host) = changed.hosts.iter_mut().nth(1).expect("there are two");
    host.mac = 0x0200_8000_0001;
    let (inv, host) = (*inv, host.clone());
    let address = changed.addresses(&host)[0].1;
    append(&yard, "p0.example.net", &format!("gone AAAA {address}\n"));
    yard.export(&changed, LATER_EXPORTS);

    // No setting switches this off. Where no other record points to the name, it is deleted, as it should be.
    let off = yard.copy();
    off.apply(LATER, &[]).tells(0, &[]);
    assert!(!off.records().contains_key(&("gone.p0.example.net.".to_owned(), Rtype::AAAA)));

    let elsewhere = "2001:db8:ffff::1".parse().expect("an address");
    append(&yard, NETWORK.1, &format!("{} PTR gone.p0.example.net.\n", reverse(elsewhere)));
    let before = yard.records();
    assert_eq!(blocked(&yard.plan(LATER)), [(BlockCode::PostState, [inv].into())].into());
    yard.apply(LATER, &[]).tells(
        0,
        &[
            "post-state",
            "the PTR of `2001:db8:ffff::1` names `gone.p0.example.net.`, which would have no AAAA, A or CNAME any \
             longer",
            "correct or remove that PTR by hand",
        ],
    );
    assert_eq!(yard.records(), before);
}

/// Adds a line to a zone.
fn append(yard: &Yard, apex: &str, line: &str) {
    let file = format!("zones/{apex}.zone");
    yard.write(&file, &(yard.read(&file) + line));
}
