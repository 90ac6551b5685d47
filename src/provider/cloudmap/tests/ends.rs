//! How updates end that cannot be made, or not now.

use super::*;
use crate::dns::RrsetMark;
use crate::provider::pace::PaceClock as _;

/// What external-dns notes of its services.
const THEIRS: &str = "heritage=external-dns,external-dns/owner=them";

#[test]
fn a_service_that_another_tool_made_anew_is_not_told_as_gone() {
    for (values, is_other) in [(TWO, true), (ONE, false)] {
        let account = Account::new();
        let old = account.put("a", ONE);
        let writer = account.writer();
        writer.observe(&account.zone, &[Question::of(&account.key("a", Rtype::A))], None).unwrap();
        account.double.delete_service(&old);
        account.put("a", values);
        let reply = account.send(&writer, "a", &delete(ONE));
        assert_eq!(matches!(reply, UpdateReply::Prerequisite(_)), is_other, "{reply:?}");
        assert_eq!(matches!(reply, UpdateReply::Done), !is_other, "{reply:?}");
        assert_eq!(account.held("a").is_empty(), !is_other);
    }
}

/// The answers are lost behind which our service was to go, and meanwhile another tool makes one in its place, which it has not
/// filled yet.
#[test]
fn an_empty_service_of_another_owner_stays() {
    let account = Account::new();
    let marking = || CloudMapWriter::new(CloudMapReader { has_marks: true, ..account.reader() });
    let ours = a(ONE).marked(Some(RrsetMark::of("us")));
    assert_done(account.send(&marking(), "a", &[(Rtype::A, ChangeKind::Create { after: ours.clone() })]));
    let (own, namespace) = (account.double.services(&account.id).remove(0).id, account.id.clone());
    account.double.set_rules(|rules| rules.settling = OperationSettling::AtOnce);
    account.double.plan_fault(Fault::nth_of("GetOperation", 1, FaultKind::DropBefore).times(3));
    account.double.edit_before("GetService", 2, move |double| {
        double.delete_service(&own);
        double.create_service(&namespace, "a", &[("A", 60)], Some(THEIRS));
    });
    assert_done(account.send(&marking(), "a", &[(Rtype::A, ChangeKind::Delete { before: ours })]));
    let left = account.double.services(&account.id);
    assert_eq!(left.iter().map(|own| own.description.as_deref()).collect::<Vec<_>>(), [Some(THEIRS)]);
}

#[test]
fn the_mark_of_both_types_is_taken_together_or_not_at_all() {
    let account = Account::new();
    let service = account.double.create_service(&account.id, "a", &[("A", 60), ("AAAA", 60)], Some(THEIRS));
    let both = [("AWS_INSTANCE_IPV4", "192.0.2.1"), ("AWS_INSTANCE_IPV6", "2001:db8::1")];
    account.double.register(&service, "x", &both);
    let writer = CloudMapWriter::new(CloudMapReader { has_marks: true, ..account.reader() });
    let taken = |rtype, value: &str| {
        let of = |owner| rrset(rtype, 60, &[value]).marked(Some(RrsetMark::of(owner)));
        (rtype, ChangeKind::Modify { before: of("them"), after: of("us") })
    };
    let (v4, v6) = (taken(Rtype::A, "192.0.2.1"), taken(Rtype::AAAA, "2001:db8::1"));
    let reply = account.send(&writer, "a", std::slice::from_ref(&v4));
    let UpdateReply::Refused(problem) = reply else { panic!("{reply:?}") };
    assert!(problem.message.contains("a service of Cloud Map with A and AAAA has one"), "{problem}");
    assert!(problem.hint.as_deref().is_some_and(|hint| hint.contains("`--all`")), "{problem:?}");
    assert_eq!(account.double.services(&account.id)[0].description.as_deref(), Some(THEIRS));
    assert_done(account.send(&writer, "a", &[v4, v6]));
    assert_eq!(account.double.services(&account.id)[0].description, Some(THEIRS.replace("them", "us")));
}

/// A signal ends the wait for an operation; the same update goes on from there later.
#[test]
fn an_operation_is_not_waited_for_once_the_apply_is_to_end() {
    for edits in [create(ONE), modify(ONE, TWO), delete(ONE)] {
        let account = Account::new();
        if !matches!(edits[0].1, ChangeKind::Create { .. }) {
            account.put("a", ONE);
        }
        account.double.set_rules(|rules| rules.settling = OperationSettling::Held);
        let (key, writer, clock) = (account.key("a", Rtype::A), account.writer(), account.clock.clone());
        let edit = RrsetEdit { key: &key, kind: &edits[0].1 };
        let mut session = writer.open(&account.zone);
        let second = std::time::Duration::from_secs(1);
        let is_over = || clock.now() > 5 * second;
        let update = Update { zone: &account.zone, edits: vec![edit] };
        let ticket = session.send_until(&update, &is_over).unwrap();
        let reply = session.reply(ticket);
        let UpdateReply::Unknown(problem) = reply else { panic!("{reply:?}") };
        assert!(problem.message.starts_with("the apply was interrupted while the operation `"), "{problem}");
        assert!(clock.now() < 7 * second, "{:?}", clock.now());
        account.double.finish_all();
        account.double.set_rules(|rules| rules.settling = OperationSettling::AfterAsks(1));
        assert_done(account.send(&account.writer(), "a", &edits));
        let count = edits[0].1.after().map_or(0, |rrset| rrset.rdata().len());
        assert_eq!(account.held("a").iter().map(|set| set.split(' ').count() - 2).sum::<usize>(), count);
    }
}

/// Our own registration of before runs, and fails: nothing goes until what comes is there.
#[test]
fn what_runs_for_the_same_instance_and_fails_is_asked_for_once_more() {
    let account = Account::new();
    let service = account.put("a", ONE);
    account.double.plan_failure(FailurePlan::next("RegisterInstance", "INTERNAL_FAILURE"));
    account.double.begin_register(&service, TWO[0], &[("AWS_INSTANCE_IPV4", TWO[0])]);
    assert_done(account.send(&account.writer(), "a", &modify(ONE, &TWO[..1])));
    assert_eq!((account.held("a"), account.fewest(&service, 1)), (vec!["60 A 192.0.2.2".into()], 1));
}

/// A late copy of a registration runs while the instance is to go: when it is done, the instance is there.
#[test]
fn what_runs_for_the_same_instance_is_not_taken_for_what_was_asked() {
    let account = Account::new();
    let service = account.put("a", TWO);
    account.double.begin_register(&service, TWO[1], &[("AWS_INSTANCE_IPV4", TWO[1])]);
    assert_done(account.send(&account.writer(), "a", &modify(TWO, &TWO[..1])));
    assert_eq!(account.held("a"), ["60 A 192.0.2.2"]);
}
