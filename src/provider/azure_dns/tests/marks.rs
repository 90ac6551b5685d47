//! Marks in the metadata of record sets.

use super::*;
use crate::dns::RrsetMark;

/// An address of an owner.
fn of(owner: &str, value: &str) -> Rrset {
    address(value).marked(Some(RrsetMark::of(owner)))
}

impl Account {
    /// The metadata of the addresses at a name.
    fn metadata(&self, name: &str) -> Vec<String> {
        let sets = self.fake.double.record_sets(&self.id);
        let set = sets.iter().find(|set| set.name == name).expect("it is there");
        set.metadata.iter().map(|(name, text)| format!("{name}={text}")).collect()
    }

    /// Puts an address with a pair of metadata, as another editor.
    fn note(&self, name: &str, value: &str, (key, text): (&str, &str)) {
        let set = AzureRecordSet::new(name, "A", 60, &[value]);
        self.fake.double.put(&self.id, set.with_metadata(key, text));
    }
}

#[test]
fn a_mark_is_written_with_its_records_in_one_request() {
    for kind in KINDS {
        let account = Account::new(kind);
        let writer = account.fake.marking_writer();
        let after = of("us", "192.0.2.1");
        let of_manifest = RrsetMark { resource: Some("crd/shop/web".to_owned()), ..RrsetMark::of("us") };
        let made = address("192.0.2.1").marked(Some(of_manifest));
        assert!(matches!(account.send(&writer, "a", &ChangeKind::Create { after: after.clone() }), UpdateReply::Done));
        assert!(matches!(account.send(&writer, "b", &ChangeKind::Create { after: made }), UpdateReply::Done));
        assert_eq!((account.count("CreateOrUpdate"), account.metadata("a")), (2, vec!["zonewright-owner=us".into()]));
        assert_eq!(account.metadata("b"), ["zonewright-owner=us", "zonewright-resource=crd/shop/web"]);
        let changed = ChangeKind::Modify { before: after, after: of("us", "192.0.2.2") };
        assert!(matches!(account.send(&writer, "a", &changed), UpdateReply::Done));
        assert_eq!(
            (account.held("a"), account.metadata("a")),
            (vec!["A 192.0.2.2".into()], vec!["zonewright-owner=us".into()])
        );
        let read = account.fake.marking_reader().read_zone(&account.zone).unwrap();
        let marked =
            read.contents.marked_rrsets().map(|rrset| (rrset.owner().to_string(), rrset.mark().unwrap().owner.clone()));
        let mut marked: Vec<(String, String)> = marked.collect();
        marked.sort();
        assert_eq!(marked, [("a.example.net.".into(), "us".into()), ("b.example.net.".into(), "us".into())]);
    }
}

#[test]
fn an_owner_is_replaced_while_all_else_stays() {
    for kind in KINDS {
        let account = Account::new(kind);
        let set = AzureRecordSet::new("a", "A", 60, &["192.0.2.1"]).with_metadata("Zonewright-Owner", "them");
        account.fake.double.put(&account.id, set.with_metadata("team", "web"));
        let writer = account.fake.marking_writer();
        let taken = ChangeKind::Modify { before: of("them", "192.0.2.1"), after: of("us", "192.0.2.1") };
        let other = ChangeKind::Modify { before: of("others", "192.0.2.1"), after: of("us", "192.0.2.1") };
        let words = stale(account.send(&writer, "a", &other));
        assert_eq!(words, "A of `a.example.net.` is not what the plan says");
        assert!(matches!(account.send(&writer, "a", &taken), UpdateReply::Done));
        assert_eq!(account.held("a"), ["A 192.0.2.1"]);
        assert_eq!(account.metadata("a"), ["team=web", "zonewright-owner=us"]);
        // Another editor takes it back behind our look.
        let back = ChangeKind::Modify { before: of("us", "192.0.2.1"), after: of("them", "192.0.2.1") };
        account.note("a", "192.0.2.1", ("zonewright-owner", "others"));
        let words = stale(account.send(&writer, "a", &back));
        assert!(words.starts_with("Azure answers with `PreconditionFailed`"), "{words}");
        assert_eq!(account.metadata("a"), ["zonewright-owner=others"]);
    }
}

#[test]
fn metadata_of_others_are_left_where_marks_tell_who_owns_a_record_set() {
    let account = Account::new(AzureKind::Public);
    account.note("a", "192.0.2.1", ("team", "web"));
    account.put("b", "192.0.2.1");
    let read = account.fake.marking_reader().read_zone(&account.zone).unwrap();
    let opaque: Vec<String> = read.opaque.iter().map(|own| format!("{} has {}", own.owner, own.what)).collect();
    assert_eq!(opaque, ["a.example.net. has a set with metadata (`team`) and without `zonewright-owner`, of type A"]);
    assert_eq!(read.contents.marked_rrsets().count(), 0);
    let writer = account.fake.marking_writer();
    for kind in [ChangeKind::Create { after: of("us", "192.0.2.2") }, delete("192.0.2.1")] {
        let words = stale(account.send(&writer, "a", &kind));
        assert!(words.ends_with("of type A, which zonewright never touches"), "{words}");
    }
    // What has no mark stays without one.
    assert!(matches!(account.send(&writer, "b", &modify("192.0.2.1", "192.0.2.2")), UpdateReply::Done));
    assert_eq!((account.held("b"), account.metadata("b")), (vec!["A 192.0.2.2".into()], vec![]));
    let plain = account.fake.reader(None).read_zone(&account.zone).unwrap();
    assert!(plain.opaque.is_empty(), "another registry lets metadata be");
}

#[test]
fn a_lost_answer_leaves_no_record_without_its_mark() {
    for (fault, is_there) in [(FaultKind::DropBefore, false), (FaultKind::DropAfter, true)] {
        let account = Account::new(AzureKind::Public);
        let writer = account.fake.marking_writer();
        account.fake.double.plan_fault(Fault::nth_of("RecordSets_CreateOrUpdate", 1, fault));
        let after = of("us", "192.0.2.1");
        let reply = account.send(&writer, "a", &ChangeKind::Create { after: after.clone() });
        assert!(matches!(reply, UpdateReply::Unknown(_)), "{reply:?}");
        let answers = writer.observe(&account.zone, &[Question::of(&account.key("a", Rtype::A))], None).unwrap();
        let expected = if is_there { Answer::Holds(Rtype::A, after) } else { Answer::Nothing };
        assert_eq!(answers, [expected]);
    }
}
