//! Zones that are made and deleted.

use super::*;
use crate::doubles::azure::GROUP;
use crate::target::ZoneApex;

/// A zone that is made, and what is to be at its apex, which the service does not ask for.
fn new_zone() -> (ZoneName, ZoneApex) {
    let name = |text: &str| Name::parse(text).unwrap();
    let apex = ZoneApex { mname: name("ns1.x"), ns: vec![name("ns1.x")], rname: name("hostmaster.x") };
    (ZoneName::new(name("new.example.org")), apex)
}

/// A subscription of which what takes a while is asked for twice.
fn slow(kind: AzureKind) -> Account {
    let account = Account::new(kind);
    account.fake.double.set_rules(|rules| rules.zone_asks = 2);
    account
}

/// The code and the words of what was not done.
fn refused(done: Result<(), crate::diag::Problem>) -> String {
    let problem = done.unwrap_err();
    format!("{}: {}", problem.code.as_str(), problem.message)
}

#[test]
fn a_zone_is_made_with_what_the_service_gives_it_and_deleted_when_it_has_nothing_else() {
    for kind in KINDS {
        let (account, (zone, apex)) = (slow(kind), new_zone());
        let writer = account.fake.writer_of(GROUP);
        writer.create_zone(&zone, &apex).unwrap();
        // A public one is made at once, and it is asked twice whether a private one is.
        let asked = account.fake.double.count("OperationStatuses_Get");
        assert_eq!(asked, if kind == AzureKind::Public { 0 } else { 2 });
        let own = if kind == AzureKind::Public { 2 } else { 1 };
        assert_eq!(account.fake.reader(None).read_zone(&zone).unwrap().contents.rrsets().count(), own);
        let lines: Vec<String> = account.fake.double.requests().into_iter().map(|entry| entry.line).collect();
        assert_eq!(refused(writer.create_zone(&zone, &apex)), "zone-not-made: the zone is there by now");
        writer.delete_zone(&zone).unwrap();
        assert_eq!(account.fake.double.count("OperationStatuses_Get"), asked + 2, "{lines:?}");
        assert!(account.fake.reader(None).lacks_zone(&zone));
        assert_eq!(account.fake.double.requests().iter().filter(|entry| entry.line.starts_with("PUT")).count(), 1);
    }
}

#[test]
fn nothing_is_made_or_deleted_over_others() {
    for kind in KINDS {
        let (account, (_, apex)) = (slow(kind), new_zone());
        let writer = account.fake.writer();
        let said = refused(writer.create_zone(&account.zone, &apex));
        assert_eq!(said, "zone-not-made: a zone is made in a resource group, and the target names none");
        // The list lacks the zone, which another editor makes at the same time.
        let writer = account.fake.writer_of(GROUP);
        account.fake.double.plan_fault(Fault::nth(2, FaultKind::LostItems));
        let said = refused(writer.create_zone(&account.zone, &apex));
        assert!(said.starts_with("zone-not-made: Azure answers with `PreconditionFailed`"), "{said}");
        account.put("a", "192.0.2.1");
        assert_eq!(refused(writer.delete_zone(&account.zone)), "zone-not-deleted: it has 1 record sets");
        account.fake.double.remove(&account.id, "a", "A");
        match kind {
            AzureKind::Public => drop(account.fake.double.alias(&account.id, "special", "A", "/subscriptions/s")),
            AzureKind::Private => drop(account.fake.double.register(&account.id, "special", "192.0.2.7")),
        }
        assert_eq!(refused(writer.delete_zone(&account.zone)), "zone-not-deleted: it has 1 record sets");
        assert!(!account.fake.reader(None).lacks_zone(&account.zone));
    }
}

#[test]
fn a_lost_answer_says_nothing_of_a_zone() {
    for kind in KINDS {
        for (fault, is_there) in [(FaultKind::DropBefore, false), (FaultKind::DropAfter, true)] {
            let (account, (zone, apex)) = (slow(kind), new_zone());
            let writer = account.fake.writer_of(GROUP);
            account.fake.double.plan_fault(Fault::nth(3, fault.clone()));
            assert!(refused(writer.create_zone(&zone, &apex)).starts_with("zone-not-made"));
            assert_eq!(account.fake.reader(None).lacks_zone(&zone), !is_there);
        }
    }
}

#[test]
fn each_right_to_make_and_delete_zones_is_needed() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/targets.md")).unwrap();
    for kind in KINDS {
        let (zones, all, statuses) = match kind {
            AzureKind::Public => ("dnsZones", "recordsets/read", "dnsOperationStatuses"),
            AzureKind::Private => ("privateDnsZones", "ALL/read", "privateDnsOperationStatuses"),
        };
        let of_zones = ["read", all, "write", "delete"].map(|right| format!("Microsoft.Network/{zones}/{right}"));
        let rights: Vec<String> = of_zones.into_iter().chain([format!("Microsoft.Network/{statuses}/read")]).collect();
        for missing in std::iter::once(None).chain(rights.iter().map(Some)) {
            let (account, (zone, apex)) = (slow(kind), new_zone());
            let allowed: BTreeSet<String> = rights.iter().filter(|right| Some(*right) != missing).cloned().collect();
            account.fake.double.set_rules(|rules| rules.allowed_actions = Some(allowed));
            let writer = account.fake.writer_of(GROUP);
            let done = writer.create_zone(&zone, &apex).and_then(|()| writer.delete_zone(&zone));
            match missing {
                None => done.unwrap(),
                Some(missing) => {
                    let said = refused(done);
                    assert!(said.contains("AuthorizationFailed"), "{missing}: {said}");
                    assert!(docs.contains(missing.as_str()), "docs/targets.md lacks {missing}");
                }
            }
        }
    }
}
