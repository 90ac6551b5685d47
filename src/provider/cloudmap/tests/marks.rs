//! Marks in the descriptions of services.

use super::*;
use crate::dns::RrsetMark;

impl Account {
    /// What writes where descriptions tell who owns a service.
    fn marking_writer(&self) -> CloudMapWriter {
        CloudMapWriter::new(CloudMapReader { has_marks: true, ..self.reader() })
    }
}

#[test]
fn a_description_says_who_owns_a_service() {
    let account = Account::new();
    let writer = account.marking_writer();
    let of = |owner: &str, values: &[&str]| a(values).marked(Some(RrsetMark::of(owner)));
    assert_done(account.send(&writer, "a", &[(Rtype::A, ChangeKind::Create { after: of("us", ONE) })]));
    let note = |place: usize| account.double.services(&account.id)[place].description.clone().unwrap_or_default();
    assert_eq!(note(0), "heritage=external-dns,external-dns/owner=us");
    let changed = ChangeKind::Modify {
        before: of("us", ONE),
        after: rrset(Rtype::A, 300, TWO).marked(Some(RrsetMark::of("us"))),
    };
    assert_done(account.send(&writer, "a", &[(Rtype::A, changed)]));
    assert_eq!(
        (note(0).as_str(), account.held("a")),
        ("heritage=external-dns,external-dns/owner=us", vec!["300 A 192.0.2.2 192.0.2.3".into()])
    );
    // A service of another owner is not as a plan says that has it as ours, and `adopt` changes the owner alone.
    let theirs = "heritage=external-dns,external-dns/owner=them,external-dns/resource=crd/shop/web";
    let service = account.double.create_service(&account.id, "b", &[("A", 60)], Some(theirs));
    account.double.register(&service, "x", &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    let ours = ChangeKind::Modify { before: of("us", ONE), after: of("us", TWO) };
    let reply = account.send(&writer, "b", &[(Rtype::A, ours)]);
    assert!(matches!(reply, UpdateReply::Prerequisite(_)), "{reply:?}");
    let mark = RrsetMark { resource: Some("crd/shop/web".to_owned()), ..RrsetMark::of("them") };
    let taken = ChangeKind::Modify {
        before: a(ONE).marked(Some(mark.clone())),
        after: a(ONE).marked(Some(mark.of_owner("us"))),
    };
    assert_done(account.send(&writer, "b", &[(Rtype::A, taken)]));
    assert_eq!(note(1), theirs.replace("them", "us"));
    // Other descriptions are those of people.
    let shop = account.double.create_service(&account.id, "c", &[("A", 60)], Some("the shop"));
    account.double.register(&shop, "x", &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    let read = CloudMapReader { has_marks: true, ..account.reader() }.read_zone(&account.zone).unwrap();
    assert_eq!(read.opaque[0].what, "a service with a description that names no owner");
    assert_eq!(read.contents.marked_rrsets().count(), 2);
    // Without marks, descriptions stay as they are.
    assert!(account.reader().read_zone(&account.zone).unwrap().opaque.is_empty());
    let slower = ChangeKind::Modify { before: a(ONE), after: rrset(Rtype::A, 300, ONE) };
    assert_done(account.send(&account.writer(), "c", &[(Rtype::A, slower)]));
    assert_eq!(note(2), "the shop");
}
